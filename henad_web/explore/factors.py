"""Factors: what varies, and its levels made canonical for the thing they are levels of.

Owns the check of a factor against a model's parameters and a spec's actions. Every problem is recorded with
the place of the factor; how levels combine is `designs`' business.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from henad_web.errors import ParamError, ProblemList, near_miss
from henad_web.explore.columns import ACTION
from henad_web.explore.levels import (
    MAX_LEVELS,
    ContinuousDomain,
    Domain,
    WholeDomain,
    decimal_levels,
    single,
    stepped_levels,
)
from henad_web.explore.spec import AllLevels, FactorSpec, RangeLevels, SpecValue, ValueLevels
from henad_web.model.decimals import MAX_U64, grouped, parse_whole, shown_number
from henad_web.model.params import Param, ParamKind, ParamValue
from henad_web.model.schema import param_hint

__all__ = ["Target", "Targets", "TablePath", "resolve_domain"]

TablePath = tuple[str | int, ...]

_LARGEST_SINGLE = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True)
class Target:
    """One slot of a config that a factor writes.

    Attributes:
        name: Parameter id, or name of an action.
        slot: Position among the parameters, or among the action entries.
        param: The parameter; None for the tick of an action.
    """

    name: str
    slot: int
    param: Param | None

    @property
    def words(self) -> str:
        """The target in words, for messages."""
        return f"action '{self.name}'" if self.param is None else f"parameter '{self.name}'"

    @property
    def column(self) -> str:
        """Name of its column in files."""
        return f"{ACTION}{self.name}" if self.param is None else self.name

    def is_tick_of(self, slot: int) -> bool:
        """Return whether it is the tick of the action entry at `slot`."""
        return self.param is None and self.slot == slot

    @property
    def is_whole(self) -> bool:
        """Whether its values are whole numbers."""
        return self.param is None or self.param.kind.is_whole

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return self.param is None or self.param.kind.is_number

    @property
    def is_real(self) -> bool:
        """Whether its values are numbers of single or double precision."""
        return self.param is not None and self.param.kind.is_real

    @property
    def is_double(self) -> bool:
        """Whether its values are of double precision."""
        return self.param is not None and self.param.kind is ParamKind.F64

    @property
    def is_text(self) -> bool:
        """Whether its values are texts of any wording."""
        return self.param is not None and self.param.kind is ParamKind.TEXT

    @property
    def is_worded(self) -> bool:
        """Whether its values are texts or options, which an expression writes in quotes."""
        return self.is_text or (self.param is not None and bool(self.param.options))

    @property
    def allowed(self) -> str:
        """What its values may be, in words."""
        return "a whole tick, 0 to 2^64 - 1" if self.param is None else self.param.allowed

    def coerce(self, value: SpecValue) -> ParamValue:
        """Return `value` in canonical form.

        Raises:
            ParamError: It is of the wrong kind or out of range.
        """
        if self.param is not None:
            return self.param.coerce(value)
        tick = parse_whole(value)
        if tick is None or not 0 <= tick <= MAX_U64:
            raise ParamError(self.column, "not a tick", came=repr(value), allowed=self.allowed)
        return tick

    def text(self, value: ParamValue) -> str:
        """Return the canonical `value` as tables hold it."""
        return str(value) if self.param is None else self.param.text(value)

    def add_problem(self, problems: ProblemList, table: TablePath, key: str, error: ParamError) -> None:
        """Record that `error` stands at `key` of `table`."""
        problems.add(
            table,
            key,
            f"{self.words}: {error.wrong}",
            came=error.came,
            allowed=error.allowed,
            hint=error.hint,
        )


@dataclass(frozen=True, slots=True)
class Targets:
    """Everything a factor may name: parameters by id, action entries by name; and what has the name but is neither."""

    params: Mapping[str, Target]
    actions: Mapping[str, Target]
    unscheduled: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()

    def find(self, factor: FactorSpec, table: TablePath, problems: ProblemList) -> Target | None:
        """Return what `factor` varies; None, with a problem recorded, when there is no such thing."""
        if (factor.param is None) == (factor.action is None):
            problems.add(table, None, "a factor names exactly one of `param` and `action`")
            return None
        if factor.param is not None:
            name, known, key, kind = factor.param, self.params, "param", "parameter"
        else:
            name, known, key, kind = factor.action or "", self.actions, "action", "action name"
        target = known.get(name)
        if target is None:
            names = ", ".join(known) or f"none, the spec has no {kind}s"
            hint = near_miss(name, known) if key == "action" else param_hint(name, known, self.constants)
            if key == "action" and name in self.unscheduled:
                hint = f'add [[action]] with id = "{name}" and a tick, such as tick = 100'
            problems.add(table, key, f"unknown {kind}", came=f"'{name}'", allowed=names, hint=hint)
        return target


def resolve_domain(
    target: Target, factor: FactorSpec, table: TablePath, problems: ProblemList, *, sampled: bool
) -> Domain | None:
    """Return what `factor` takes, in canonical values of `target`; None with the problems recorded.

    Args:
        target: What varies.
        factor: Its levels as the spec gives them.
        table: Place of the factor.
        problems: Where problems go.
        sampled: Whether the design draws, so that a range without a step means its whole domain.
    """
    levels = factor.levels
    if isinstance(levels, ValueLevels):
        return _listed(target, levels, table, problems)
    if isinstance(levels, AllLevels):
        return _all_levels(target, table, problems)
    place = (*table, "range")
    if target.is_text:
        problems.add(table, "range", f"{target.words} is a text, which has no range", hint=_LIST_TEXTS)
        return None
    if not target.is_number:
        problems.add(table, "range", f"{target.words} has options, not a range", hint='write levels = "all"')
        return None
    if not _check_bounds(target, levels, place, problems):
        return None
    return _range(target, levels, place, problems, sampled=sampled)


_LIST_TEXTS = 'list its levels, such as values = ["one", "two"]'
"""What to write for a range, or all, of a text."""


def _listed(target: Target, levels: ValueLevels, table: TablePath, problems: ProblemList) -> Domain | None:
    if not levels.values:
        problems.add(table, "values", f"{target.words} has no levels", came="[]", allowed="at least one value")
        return None
    found: list[ParamValue] = []
    for value in levels.values:
        try:
            found.append(target.coerce(value))
        except ParamError as error:
            target.add_problem(problems, table, "values", error)
    return tuple(found) if len(found) == len(levels.values) else None


def _all_levels(target: Target, table: TablePath, problems: ProblemList) -> Domain | None:
    if target.is_text:
        wrong = f"{target.words} is a text of any wording"
        problems.add(table, "levels", wrong, came="'all'", hint=_LIST_TEXTS)
        return None
    if target.param is None or target.is_number:
        allowed = "a list of values, or a range"
        problems.add(table, "levels", f"{target.words} is a number", came="'all'", allowed=allowed)
        return None
    return (False, True) if target.param.kind is ParamKind.BOOL else target.param.options


def _check_bounds(target: Target, levels: RangeLevels, place: TablePath, problems: ProblemList) -> bool:
    found = ProblemList()
    bounds = {"min": levels.min, "max": levels.max, "step": levels.step}
    for key, number in bounds.items():
        if number is None:
            continue
        if abs(number) > sys.float_info.max or number != number:
            found.add(place, key, f"{target.words}: not finite", came=repr(number), allowed="a finite number")
        elif target.is_whole and number != int(number):
            found.add(place, key, f"{target.words}: not a whole number", came=repr(number), allowed=target.allowed)
        elif key == "step" and number <= 0:
            allowed = "a step above 0"
            found.add(place, key, f"{target.words}: the range never ends", came=repr(number), allowed=allowed)
    if all(problem.place.key == "step" for problem in found.problems) and levels.min > levels.max:
        wrong = f"{target.words}: reversed range, min is above max"
        came = f"min {levels.min!r} and max {levels.max!r}"
        found.add(place, "max", wrong, came=came, allowed="min not above max", hint="swap them")
    problems.problems += found.problems
    return not found.problems


def _range(
    target: Target, levels: RangeLevels, place: TablePath, problems: ProblemList, *, sampled: bool
) -> Domain | None:
    domain: Domain | None
    if target.is_whole:
        domain, ends = _whole_range(levels, sampled=sampled)
    elif levels.step is None and not sampled:
        tenth = levels.max / 10 - levels.min / 10
        hint = f"add one, such as step = {tenth:g}" if tenth > 0 else None
        problems.add(place, "step", f"{target.words}: this design needs the step of a range", hint=hint)
        return None
    elif target.is_double:
        domain, ends = _double_range(levels)
    elif levels.step is None:
        domain = ContinuousDomain(float(levels.min), float(levels.max))
        ends = {"min": _shown(domain.low), "max": _shown(domain.high)}
    else:
        domain = stepped_levels(float(levels.min), float(levels.max), float(levels.step))
        ends = {} if domain is None else {"min": _shown(domain.low), "max": _shown(domain.last)}
    if domain is None:
        limit = f"at most {grouped(MAX_LEVELS)} levels"
        problems.add(place, "step", f"{target.words}: too many levels", allowed=limit, hint="use a larger step")
        return None
    return domain if _check_ends(target, ends, place, problems) else None


def _shown(level: float) -> float:
    """Return the number that the text of `level` shows in single precision; one too large for it as it is."""
    return shown_number(single(level)) if abs(level) <= _LARGEST_SINGLE else level


def _double_range(levels: RangeLevels) -> tuple[Domain | None, dict[str, ParamValue]]:
    low, high = float(levels.min), float(levels.max)
    if levels.step is None:
        return ContinuousDomain(low, high, is_double=True), {"min": low, "max": high}
    found = decimal_levels(low, high, float(levels.step))
    return found, {} if found is None else {"min": low, "max": found.last}


def _whole_range(levels: RangeLevels, *, sampled: bool) -> tuple[Domain | None, dict[str, ParamValue]]:
    low, high = int(levels.min), int(levels.max)
    if levels.step is None and sampled:
        return WholeDomain(low, high), {"min": low, "max": high}
    step = 1 if levels.step is None else int(levels.step)
    if (high - low) // step >= MAX_LEVELS:
        return None, {}
    whole = range(low, high + 1, step)
    return whole, {"min": low, "max": whole[-1]}


def _check_ends(target: Target, ends: Mapping[str, ParamValue], place: TablePath, problems: ProblemList) -> bool:
    fits = True
    for key, value in ends.items():
        try:
            target.coerce(value)
        except ParamError as error:
            target.add_problem(problems, place, key, error)
            fits = False
    return fits
