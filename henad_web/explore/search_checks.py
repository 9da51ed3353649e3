"""Checks of a search: its settings, which need no model, and its columns and space against one.

Owns the sentences of the reference engine's sections 4.14 and 10.9. Every problem is recorded with its place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from henad_web.errors import ProblemList, counted
from henad_web.explore.blocks import resolve_factors
from henad_web.explore.checks import check_reducer
from henad_web.explore.factors import TablePath, Target, Targets
from henad_web.explore.levels import Domain
from henad_web.explore.libraries import lacking_text
from henad_web.explore.search_spec import (
    DISTRIBUTION_INDICES,
    LEAST_SAMPLES,
    MOST_AT_ONCE,
    MOST_MEMBERS,
    MOST_SAMPLED_FACTORS,
    MOST_SAMPLES,
    SETTINGS,
    AxisSpec,
    CmaEsSettings,
    GeneticSettings,
    HillClimbSettings,
    Nsga2Settings,
    PseSettings,
    SearchAlgorithm,
    SearchSpec,
)
from henad_web.explore.spec import AllLevels, LevelSpec, RangeLevels, RunOrder, SweepSpec
from henad_web.model.decimals import MAX_U64, grouped, whole_text

__all__ = ["ResolvedSpace", "check_search", "check_settings", "resolve_space"]

_TABLE: TablePath = ("search",)


@dataclass(frozen=True, slots=True)
class ResolvedSpace:
    """The space of a search over a model.

    Attributes:
        targets: What varies, in order.
        domains: What each of them takes.
    """

    targets: tuple[Target, ...]
    domains: tuple[Domain, ...]


def check_settings(search: SearchSpec, problems: ProblemList) -> None:
    """Record what is wrong with `search` whatever its model."""
    name = _named(search.algorithm)
    _check_number(_TABLE, "max_evaluations", search.max_evaluations, (1, MAX_U64), problems)
    _check_number(_TABLE, "batch_size", search.batch_size, (1, MOST_AT_ONCE), problems)
    if not search.space:
        hint = 'add what may vary, such as { param = "ID", range = { min = 0.0, max = 1.0 } }'
        problems.add(_TABLE, "space", f"{name} needs at least one factor", hint=hint)
    _check_purpose(search, name, problems)
    _check_name(search, problems)
    for algorithm in SETTINGS:
        if algorithm is not search.algorithm and getattr(search, algorithm.value) is not None:
            hint = f'remove it, or write algorithm = "{algorithm}"'
            wrong = f"[search.{algorithm}] applies to {_named(algorithm)}"
            problems.add(_TABLE, algorithm.value, wrong, came=f'algorithm = "{search.algorithm}"', hint=hint)
    if search.algorithm is SearchAlgorithm.PSE and search.pse is None:
        wrong = "a pse search needs a [search.pse] table with x_axis and y_axis"
        problems.add(_TABLE, "pse", wrong)
    if search.algorithm is SearchAlgorithm.CMA_ES:
        _check_sampled_space(search, problems)
    for settings in (search.hill_climb, search.genetic, search.pse, search.cma_es, search.nsga2):
        if isinstance(settings, HillClimbSettings):
            _check_climb(settings, problems)
        elif isinstance(settings, GeneticSettings):
            _check_genetic(settings, problems)
        elif isinstance(settings, PseSettings):
            _check_pse(settings, problems)
        elif isinstance(settings, CmaEsSettings):
            _check_cma_es(settings, problems)
        elif isinstance(settings, Nsga2Settings):
            _check_nsga2(settings, problems)


def _named(algorithm: SearchAlgorithm) -> str:
    return f"{'an' if algorithm is SearchAlgorithm.NSGA2 else 'a'} {algorithm} search"


_ONE = 'objective = { column = "LABEL:KIND", goal = "maximize" }'
_SEVERAL = f"{_ONE.replace('objective', 'objectives').replace('{', '[{')}, {{ .. }}]"


def _check_purpose(search: SearchSpec, name: str, problems: ProblemList) -> None:
    """Check that `search`, called `name`, has what its algorithm is for: an objective, several or none."""
    count = len(search.objectives)
    if search.algorithm is SearchAlgorithm.PSE:
        hint = "remove it: the axes in [search.pse] say what it looks for"
        for key, is_given in (("objective", search.objective is not None), ("objectives", count > 0)):
            if is_given:
                problems.add(_TABLE, key, f"{name} takes no {key}", hint=hint)
        return
    takes_several = search.algorithm is SearchAlgorithm.NSGA2
    if search.objective is not None and count:
        hint = f"remove {'objective' if takes_several else 'objectives'}"
        problems.add(_TABLE, "objectives", "[search] takes objective or objectives, not both", hint=hint)
    elif takes_several:
        if count < 2:
            _add_too_few(search, name, problems)
    elif count:
        hint = 'write one as objective = { .. }, or algorithm = "nsga2"'
        problems.add(_TABLE, "objectives", f"{name} has one objective", came=f"{count} objectives", hint=hint)
    elif search.objective is None:
        problems.add(_TABLE, "objective", f"{name} needs an objective", hint=f"add {_ONE} to [search]")
    _check_distinct(search, problems)


def _add_too_few(search: SearchSpec, name: str, problems: ProblemList) -> None:
    key, came, hint = "objectives", None, f"add {_SEVERAL} to [search]"
    if search.all_objectives:
        key, came = "objectives" if search.objectives else "objective", "one"
        hint = 'write objectives = [{ .. }, { .. }], or algorithm = "genetic" for one objective'
    problems.add(_TABLE, key, f"{name} needs two objectives or more", came=came, hint=hint)


def _check_distinct(search: SearchSpec, problems: ProblemList) -> None:
    first: dict[str, int] = {}
    for position, objective in enumerate(search.objectives):
        earlier = first.setdefault(objective.column, position)
        if earlier != position and objective.column:
            hint = f"objective #{earlier + 1} has it already; remove one of them"
            wrong = f"two objectives of column '{objective.column}'"
            problems.add((*_TABLE, "objectives", position), "column", wrong, hint=hint)


def _check_name(search: SearchSpec, problems: ProblemList) -> None:
    if search.algorithm is SearchAlgorithm.CUSTOM:
        if search.name is None or not search.name.strip():
            hint = 'add what your program calls its searcher, such as name = "my_search"'
            problems.add(_TABLE, "name", "a custom search needs the name of its searcher", hint=hint)
    elif search.name is not None:
        hint = 'remove it, or write algorithm = "custom"'
        problems.add(_TABLE, "name", "name applies to a custom search", came=repr(search.name), hint=hint)


def _check_climb(settings: HillClimbSettings, problems: ProblemList) -> None:
    _check_scale(settings.path, settings.mutation_scale, problems)
    _check_number(settings.path, "patience", settings.patience, (1, MAX_U64), problems)


def _check_genetic(settings: GeneticSettings, problems: ProblemList) -> None:
    table = settings.path
    _check_number(table, "population", settings.population, (1, MOST_MEMBERS), problems)
    if settings.population >= 1 and not 0 <= settings.elite_count < settings.population:
        expected = f"below the population, which is {whole_text(settings.population)}"
        _wrong(table, "elite_count", settings.elite_count, expected, problems)
    _check_number(table, "tournament_size", settings.tournament_size, (1, MOST_MEMBERS), problems)
    for key in ("crossover_rate", "mutation_rate", "reevaluate_fraction"):
        _check_share(table, key, getattr(settings, key), problems)
    _check_scale(table, settings.mutation_scale, problems)


def _check_nsga2(settings: Nsga2Settings, problems: ProblemList) -> None:
    table = settings.path
    _check_number(table, "population", settings.population, (2, MOST_MEMBERS), problems)
    _check_share(table, "crossover_rate", settings.crossover_rate, problems)
    if settings.mutation_rate is not None:
        _check_share(table, "mutation_rate", settings.mutation_rate, problems)
    for key in ("crossover_index", "mutation_index"):
        index: int = getattr(settings, key)
        if index not in DISTRIBUTION_INDICES:
            nearest = min(DISTRIBUTION_INDICES, key=lambda each: abs(each - index))
            expected = f"one of {', '.join(map(str, DISTRIBUTION_INDICES))}"
            _wrong(table, key, index, expected, problems, hint=f"write {key} = {nearest}, the nearest of them")


def _check_share(table: TablePath, key: str, share: float, problems: ProblemList) -> None:
    if not 0 <= share <= 1:
        _wrong(table, key, share, "from 0 to 1", problems)


def _check_pse(settings: PseSettings, problems: ProblemList) -> None:
    table = settings.path
    for key, axis in (("x_axis", settings.x_axis), ("y_axis", settings.y_axis)):
        _check_axis((*table, key), axis, problems)
    is_automatic = any(axis.is_automatic for axis in settings.axes)
    least = 1 if is_automatic else 0
    if not least <= settings.initial_samples <= MAX_U64:
        expected = "at least 1 where an axis has no range" if is_automatic else "0 or more"
        _wrong(table, "initial_samples", settings.initial_samples, expected, problems)
    _check_scale(table, settings.mutation_scale, problems)


def _check_cma_es(settings: CmaEsSettings, problems: ProblemList) -> None:
    table = settings.path
    if settings.population is not None:
        _check_number(table, "population", settings.population, (LEAST_SAMPLES, MOST_SAMPLES), problems)
    if not 0 < settings.sigma <= 1:
        _wrong(table, "sigma", settings.sigma, "above 0 and at most 1", problems)


def _check_sampled_space(search: SearchSpec, problems: ProblemList) -> None:
    """Record what a normal distribution cannot be drawn over: levels without an order, and more than are quick."""
    for position, factor in enumerate(search.space):
        key = _key_of_listed(factor.levels)
        if key is not None:
            wrong = f"a {search.algorithm} search takes no listed levels: it draws from ranges, which have an order"
            hint = 'write range = { min = .., max = .. } without a step, or algorithm = "genetic"'
            problems.add((*_TABLE, "space", position), key, wrong, hint=hint)
    if len(search.space) > MOST_SAMPLED_FACTORS:
        wrong = f"too many factors of a {search.algorithm} search, whose work grows with their cube"
        allowed, hint = f"at most {MOST_SAMPLED_FACTORS}", 'write algorithm = "genetic", or fix some of them in [set]'
        problems.add(_TABLE, "space", wrong, came=str(len(search.space)), allowed=allowed, hint=hint)


def _key_of_listed(levels: LevelSpec) -> str | None:
    """Return the key that lists levels, a range with a step among them; None for a range, and for nothing at all."""
    if isinstance(levels, RangeLevels):
        return None if levels.step is None else "range"
    return "levels" if isinstance(levels, AllLevels) else "values" if levels.values else None


def _check_axis(table: TablePath, axis: AxisSpec, problems: ProblemList) -> None:
    _check_number(table, "cells", axis.cells, (1, MAX_U64), problems)
    if (axis.min is None) != (axis.max is None):
        given, lacking = ("max", "min") if axis.min is None else ("min", "max")
        hint = f"add {lacking}, or remove {given} for a range from the first samples"
        problems.add(table, given, f"{table[-1]} needs both min and max, or neither", hint=hint)
        return
    if axis.min is None or axis.max is None:
        return
    infinite = [key for key in ("min", "max") if not math.isfinite(getattr(axis, key))]
    for key in infinite:
        _wrong(table, key, getattr(axis, key), "a finite number", problems)
    if not infinite and not axis.min < axis.max:
        _wrong(table, "max", axis.max, f"above min, which is {whole_text(axis.min)}", problems)


def _check_scale(table: TablePath, scale: float, problems: ProblemList) -> None:
    if not 0 < scale < math.inf:
        _wrong(table, "mutation_scale", scale, "above 0 and finite", problems)


def _check_number(table: TablePath, key: str, number: int, limits: tuple[int, int], problems: ProblemList) -> None:
    least, most = limits
    if not least <= number <= most:
        expected = f"from {least} to {grouped(most)}" if most < MAX_U64 else f"from {least} to 2^64 - 1"
        _wrong(table, key, number, expected, problems)


def _wrong(
    table: TablePath, key: str, value: float, expected: str, problems: ProblemList, *, hint: str | None = None
) -> None:
    name = ".".join(str(step) for step in (*table[1:], key))
    problems.add(table, key, f"{name} must be {expected}, got {whole_text(value)}", hint=hint)


def check_search(spec: SweepSpec, search: SearchSpec, labels: tuple[str, ...], problems: ProblemList) -> None:
    """Record what is wrong with `search` beside the rest of `spec`, over a model whose statistics have `labels`."""
    check_settings(search, problems)
    lacking = lacking_text(search.algorithm)
    if lacking is not None:
        hint = 'install it, `python -m pip install "henad-web[search]"`, or write algorithm = "genetic"'
        problems.add(_TABLE, "algorithm", lacking, hint=hint)
    if spec.blocks:
        hint = "remove the blocks; what may vary stands in the space of [search]"
        came = counted(len(spec.blocks), "block")
        problems.add(("block", 0), None, "a search takes no blocks: it chooses configs itself", came=came, hint=hint)
    _check_counts(spec, search, problems)
    if spec.run.order is not RunOrder.DEPTH:
        wrong = "a search has its runs in the order of its candidates"
        problems.add(("run",), "order", wrong, came=f"'{spec.run.order}'", hint="remove it")
    if spec.seeds.list is not None:
        wrong = "a search needs a scheme of seeds: a candidate that is evaluated again takes replicates past any list"
        problems.add(("seeds",), "list", wrong, hint="remove it, and write root and scheme")
    for table, column in _watched(search):
        check_reducer(table, column, spec, labels, problems)


def _check_counts(spec: SweepSpec, search: SearchSpec, problems: ProblemList) -> None:
    batch, evaluations, replicates = search.batch_size, search.max_evaluations, spec.run.most_replicates
    came = f"{whole_text(batch)} x {grouped(replicates)} replicates"
    if 1 <= batch <= MOST_AT_ONCE < batch * replicates:
        wrong = f"{grouped(batch * replicates)} runs in a batch, the limit is {grouped(MOST_AT_ONCE)}"
        problems.add(_TABLE, "batch_size", wrong, came=came, hint="use a smaller batch or fewer replicates")
    if 1 <= evaluations <= MAX_U64 < evaluations * replicates:
        came = f"{whole_text(evaluations)} x {grouped(replicates)} replicates"
        problems.add(_TABLE, "max_evaluations", "more than 2^64 - 1 runs", came=came, hint="use a smaller budget")


def _watched(search: SearchSpec) -> Iterator[tuple[TablePath, str]]:
    if search.algorithm is SearchAlgorithm.PSE:
        if search.pse is not None:
            yield (*search.pse.path, "x_axis"), search.pse.x_axis.column
            yield (*search.pse.path, "y_axis"), search.pse.y_axis.column
        return
    if search.objective is not None:
        yield search.objective.path, search.objective.column
    for position, objective in enumerate(search.objectives):
        yield (*_TABLE, "objectives", position), objective.column


def resolve_space(
    search: SearchSpec, fixed: frozenset[str], targets: Targets, problems: ProblemList
) -> ResolvedSpace | None:
    """Return the space of `search`, checked against `targets`; None with the problems recorded.

    Args:
        search: The search.
        fixed: Ids of the parameters that the spec fixes.
        targets: Everything its factors may name.
        problems: Where problems go.
    """
    before = len(problems.problems)
    varied, domains = resolve_factors(search.space, targets, (*_TABLE, "space"), problems, sampled=True)
    for position, target in enumerate(varied):
        if target.param is not None and target.name in fixed:
            hint = f"remove '{target.name}' from [set], or this factor"
            wrong = f"{target.words} is fixed in [set] and varied here"
            problems.add((*_TABLE, "space", position), "param", wrong, hint=hint)
    return ResolvedSpace(varied, tuple(domains)) if len(problems.problems) == before else None
