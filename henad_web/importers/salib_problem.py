"""SALib's problems: names and bounds of uniform factors as a sampled block.

Owns their meaning. Distributions other than the uniform one cannot be said by a range and are refused.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from henad_web.errors import ProblemList
from henad_web.explore.spec import BlockSpec, DesignKind, FactorSpec, RangeLevels, RunSettings, SweepSpec
from henad_web.importers.imported import Notes
from henad_web.importers.variables import NameMap, whole_if_exact

__all__ = ["is_problem", "spec_of_problem"]

_UNIFORM = "unif"
_KNOWN = ("names", "bounds", "num_vars", "dists", "groups")


def is_problem(given: Mapping[str, object]) -> bool:
    """Return whether `given` looks like a problem: it has names and bounds."""
    return "names" in given and "bounds" in given


def spec_of_problem(
    given: Mapping[str, object],
    model: str,
    names: NameMap,
    problems: ProblemList,
    notes: Notes,
    *,
    design: DesignKind,
    samples: int,
) -> SweepSpec:
    """Return the spec of a problem for `model`, to be used only when no problem was recorded.

    Args:
        given: The dict of the problem.
        model: Id of the model.
        names: What the factors are called there.
        problems: Where problems go.
        notes: Where is told what could not be carried over.
        design: A sampled design.
        samples: Its size.
    """
    variables, bounds = _list(given, "names", problems), _list(given, "bounds", problems)
    if len(variables) != len(bounds) or given.get("num_vars", len(variables)) != len(variables):
        came = f"{len(variables)} names, {len(bounds)} bounds, num_vars {given.get('num_vars', 'left out')}"
        problems.add((), "names", "names, bounds and num_vars differ", came=came, allowed="as many of each")
    _check_distributions(given, variables, problems)
    factors = []
    for name, pair in zip(variables, bounds, strict=False):
        found = names.find(str(name), ("bounds",))
        levels = _range(str(name), pair, problems)
        if found is not None and levels is not None:
            factors.append(FactorSpec(param=found, levels=levels))
    _note_rest(given, notes)
    notes.add(f"A problem has no length: steps = {RunSettings().steps} and samples = {samples} are guesses.")
    return SweepSpec(model=model, blocks=(BlockSpec(design=design, samples=samples, factors=tuple(factors)),))


def _list(given: Mapping[str, object], key: str, problems: ProblemList) -> Sequence[object]:
    value = given.get(key)
    if isinstance(value, list | tuple):
        return value
    problems.add((), key, "not a list", came=f"a {type(value).__name__}", allowed="a list")
    return ()


def _check_distributions(given: Mapping[str, object], variables: Sequence[object], problems: ProblemList) -> None:
    kinds = given.get("dists") or [_UNIFORM] * len(variables)
    for name, kind in zip(variables, kinds if isinstance(kinds, list | tuple) else [], strict=False):
        if kind != _UNIFORM:
            hint = 'sample the problem with SALib and give the rows as a design = "table"'
            problems.add(
                ("dists",), str(name), "not a uniform distribution", came=repr(kind), allowed="unif", hint=hint
            )


def _range(name: str, pair: object, problems: ProblemList) -> RangeLevels | None:
    ends = pair if isinstance(pair, list | tuple) else ()
    is_pair = len(ends) == 2 and all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends)
    # Not a number is not below the largest one; an integer too large for a float must not become one.
    if is_pair and all(abs(end) <= sys.float_info.max for end in ends) and ends[0] < ends[1]:
        low, high = map(whole_if_exact, ends)
        return RangeLevels(min=low, max=high)
    problems.add(("bounds",), name, "not a lower and a higher number", came=repr(pair), allowed="[low, high]")
    return None


def _note_rest(given: Mapping[str, object], notes: Notes) -> None:
    groups = given.get("groups")
    if groups:
        notes.add(f"Groups were not carried over: {groups}. Every factor is sampled on its own.")
    for key, value in given.items():
        if key not in _KNOWN:
            notes.add(f"'{key}' was not carried over: {value}.")
