"""The `[search]` table of a spec document, and factors, which blocks have as well.

Owns the meaning of their keys and the defaults; which keys a table has is `spec_form`'s business, what the settings may
be that of `search_checks`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TypeVar

from msgspec import structs

from henad_web.errors import ProblemList
from henad_web.explore.factors import TablePath
from henad_web.explore.search_checks import check_settings
from henad_web.explore.search_spec import (
    SETTINGS,
    Aggregate,
    AxisSpec,
    CmaEsSettings,
    GeneticSettings,
    Goal,
    HillClimbSettings,
    Nsga2Settings,
    ObjectiveSpec,
    PseSettings,
    SearchAlgorithm,
    SearchSpec,
)
from henad_web.explore.spec import AllLevels, FactorSpec, LevelSpec, RangeLevels, ValueLevels
from henad_web.explore.spec_form import (
    AxisForm,
    CmaEsForm,
    FactorForm,
    GeneticForm,
    HillClimbForm,
    Nsga2Form,
    ObjectiveForm,
    PseForm,
    RangeForm,
    SearchForm,
    keys_of,
)
from henad_web.explore.spec_kinds import kind_of
from henad_web.explore.table_reader import TableReader

__all__ = ["read_factor", "read_search"]


def read_search(top: TableReader) -> SearchSpec | None:
    """Return the search of the document `top`, with every problem recorded; None for a sweep."""
    if "search" not in top:
        return None
    value, before = top.raw("search"), len(top.problems.problems)
    table = TableReader(value, ("search",), keys_of(SearchForm), top.problems)
    if not isinstance(value, Mapping):
        return None
    for key, hint in _REQUIRED.items():
        if key not in table:
            table.missing(key, hint)
    evaluations, batch = (table.optional_whole(key, least=1) for key in ("max_evaluations", "batch_size"))
    algorithm = table.choice("algorithm", SearchAlgorithm.RANDOM) if "algorithm" in table else SearchAlgorithm.RANDOM
    search = SearchSpec(
        algorithm=algorithm,
        max_evaluations=1 if evaluations is None else evaluations,
        batch_size=1 if batch is None else batch,
        space=tuple(read_factor(entry, place, table.problems) for place, entry in table.items("space")),
        objective=_part(table, "objective", _objective),
        objectives=tuple(
            _read_objective(entry, place, table.problems)
            for place, entry in table.items("objectives", hint="write objectives = [{ .. }, { .. }]")
        ),
        hill_climb=_part(table, "hill_climb", _hill_climb),
        genetic=_part(table, "genetic", _genetic),
        pse=_part(table, "pse", _pse),
        cma_es=_part(table, "cma_es", _cma_es),
        nsga2=_part(table, "nsga2", _nsga2),
        name=table.text("name"),
    )
    _check(search, table, before)
    return search


def _check(search: SearchSpec, table: TableReader, before: int) -> None:
    """Record what is wrong with `search`, but for places of which a problem since the first `before` tells already."""
    found = ProblemList()
    check_settings(search, found)
    told = {(each.place.table, each.place.key) for each in table.problems.problems[before:]}
    told |= {(table.path, key) for key in table.misspelt}
    # Without its algorithm nobody knows what a search may hold.
    is_known = table.raw("algorithm") == search.algorithm.value
    for problem in found.problems:
        place = problem.place
        is_about_algorithm = place.table == table.path and place.key in _ALGORITHM_PARTS
        if (place.table, place.key) not in told and (is_known or not is_about_algorithm):
            table.problems.problems.append(problem)


_REQUIRED = {
    "algorithm": 'add one, such as algorithm = "genetic"',
    "max_evaluations": "add the number of candidates in all, such as max_evaluations = 500",
    "batch_size": "add the number of candidates chosen at once, such as batch_size = 32",
}
_ALGORITHM_PARTS = ("objective", "objectives", "name", *(algorithm.value for algorithm in SETTINGS))

_Part = TypeVar("_Part")


def _part(table: TableReader, key: str, read: Callable[[TableReader, str], _Part | None]) -> _Part | None:
    return read(table, key) if key in table else None


def _section(table: TableReader, key: str, keys: tuple[str, ...]) -> TableReader | None:
    """Return the table at `key`; None, with a problem recorded, where there is something else."""
    value = table.raw(key)
    reader = TableReader(value, (*table.path, key), keys, table.problems)
    return reader if isinstance(value, Mapping) else None


def _required_text(table: TableReader, key: str, hint: str) -> str:
    if key not in table:
        table.missing(key, hint)
    return table.text(key) or ""


_COLUMN = 'add a column of reducers, such as column = "Infected:max"'


def _objective(search: TableReader, key: str) -> ObjectiveSpec | None:
    entry = search.raw(key)
    objective = _read_objective(entry, (*search.path, key), search.problems)
    return objective if isinstance(entry, Mapping) else None


def _read_objective(entry: object, path: TablePath, problems: ProblemList) -> ObjectiveSpec:
    table = TableReader(entry, path, keys_of(ObjectiveForm), problems)
    if not isinstance(entry, Mapping):
        return ObjectiveSpec(column="", goal=Goal.MAXIMIZE)
    if "goal" not in table:
        table.missing("goal", 'add goal = "maximize" or goal = "minimize"')
    return ObjectiveSpec(
        column=_required_text(table, "column", _COLUMN),
        goal=table.choice("goal", Goal.MAXIMIZE) if "goal" in table else Goal.MAXIMIZE,
        aggregate=table.choice("aggregate", Aggregate.MEDIAN),
    )


def _number(table: TableReader, key: str, default: float) -> float:
    number = table.number(key)
    return default if number is None else float(number)


def _hill_climb(search: TableReader, key: str) -> HillClimbSettings | None:
    table, default = _section(search, key, keys_of(HillClimbForm)), HillClimbSettings()
    if table is None:
        return None
    return HillClimbSettings(
        mutation_scale=_number(table, "mutation_scale", default.mutation_scale),
        patience=table.whole("patience", default.patience, least=1),
        reevaluate=table.flag("reevaluate", default=default.reevaluate),
    )


def _genetic(search: TableReader, key: str) -> GeneticSettings | None:
    table, default = _section(search, key, keys_of(GeneticForm)), GeneticSettings()
    if table is None:
        return None
    shares = ("crossover_rate", "mutation_rate", "mutation_scale", "reevaluate_fraction")
    return structs.replace(
        default,
        population=table.whole("population", default.population, least=1),
        elite_count=table.whole("elite_count", default.elite_count),
        tournament_size=table.whole("tournament_size", default.tournament_size, least=1),
        **{name: _number(table, name, getattr(default, name)) for name in shares},
    )


def _nsga2(search: TableReader, key: str) -> Nsga2Settings | None:
    table, default = _section(search, key, keys_of(Nsga2Form)), Nsga2Settings()
    if table is None:
        return None
    rate = table.number("mutation_rate")
    return Nsga2Settings(
        population=table.whole("population", default.population, least=2),
        crossover_rate=_number(table, "crossover_rate", default.crossover_rate),
        crossover_index=table.whole("crossover_index", default.crossover_index),
        mutation_rate=None if rate is None else float(rate),
        mutation_index=table.whole("mutation_index", default.mutation_index),
    )


def _pse(search: TableReader, key: str) -> PseSettings | None:
    table = _section(search, key, keys_of(PseForm))
    if table is None:
        return None
    if "x_axis" not in table or "y_axis" not in table:
        missing = [name for name in ("x_axis", "y_axis") if name not in table and name not in table.misspelt]
        if missing:
            wrong = "a pse search needs a [search.pse] table with x_axis and y_axis"
            hint = f'add {missing[0]} = {{ column = "LABEL:KIND", min = 0, max = 100, cells = 20 }}'
            table.problems.add(table.path, missing[0], wrong, hint=hint)
    return PseSettings(
        x_axis=_axis(table, "x_axis"),
        y_axis=_axis(table, "y_axis"),
        initial_samples=table.whole("initial_samples", 64),
        mutation_scale=_number(table, "mutation_scale", 0.1),
        aggregate=table.choice("aggregate", Aggregate.MEDIAN),
    )


def _cma_es(search: TableReader, key: str) -> CmaEsSettings | None:
    table, default = _section(search, key, keys_of(CmaEsForm)), CmaEsSettings()
    if table is None:
        return None
    return CmaEsSettings(population=table.optional_whole("population"), sigma=_number(table, "sigma", default.sigma))


def _axis(pse: TableReader, key: str) -> AxisSpec:
    table = _section(pse, key, keys_of(AxisForm)) if key in pse else None
    if table is None:
        return AxisSpec(column="", cells=1, min=0.0, max=1.0)
    if "cells" not in table:
        table.missing("cells", "add the number of its parts, such as cells = 20")
    ends = {}
    for end in ("min", "max"):
        number = table.number(end)
        ends[end] = None if number is None else float(number)
        if number is None and end in table:
            ends[end] = float(end == "max")  # it is told already, and there
    return AxisSpec(column=_required_text(table, "column", _COLUMN), cells=table.whole("cells", 1, least=1), **ends)


def read_factor(entry: object, path: TablePath, problems: ProblemList) -> FactorSpec:
    """Return the factor that `entry`, the table at `path`, says, with every problem recorded."""
    table = TableReader(entry, path, keys_of(FactorForm), problems)
    param, action = table.text("param"), table.text("action")
    if isinstance(entry, Mapping) and ("param" in table) == ("action" in table) and not table.misspelt:
        wrong = "a factor names exactly one of `param` and `action`"
        problems.add(path, "action" if "action" in table else None, wrong)
    given = [key for key in ("values", "range", "levels") if key in table]
    is_told = not given and table.misspelt
    if isinstance(entry, Mapping) and len(given) != 1 and not is_told:
        wrong = "a factor has exactly one of `values`, `range` and `levels`"
        came = " and ".join(given) or "none of them"
        problems.add(path, given[-1] if given else None, wrong, came=came)
    return FactorSpec(levels=_levels(table, given), param=param, action=action)


def _levels(table: TableReader, given: list[str]) -> LevelSpec:
    if "range" in given:
        return _range(table)
    if "levels" in given:
        if table.raw("levels") != "all":
            hint = "for single levels write values = [..]"
            table.wrong("levels", "no such word", allowed='"all"', hint=hint)
        return AllLevels()
    if "values" not in given:
        return ValueLevels(values=())
    # One value is one level: a text is never taken apart into its letters.
    raw = table.raw("values")
    entries = raw if isinstance(raw, list | tuple) else [raw]
    values = [value for value in entries if isinstance(value, bool | int | float | str)]
    for value in entries:
        if not isinstance(value, bool | int | float | str):
            allowed = "numbers, true or false, or texts"
            table.problems.add(table.path, "values", "not a value", came=kind_of(value), allowed=allowed)
    return ValueLevels(values=tuple(values))


def _range(table: TableReader) -> RangeLevels:
    raw = table.raw("range")
    if not isinstance(raw, Mapping):
        table.wrong("range", "not a table", allowed="a table", hint=_range_hint(raw))
        return RangeLevels(min=0, max=0)
    reader = TableReader(raw, (*table.path, "range"), keys_of(RangeForm), table.problems)
    for key in ("min", "max"):
        if key not in reader:
            reader.missing(key, "a range is { min = .., max = .., step = .. }")
    low, high = (reader.number(key, takes_long_texts=True) for key in ("min", "max"))
    step = reader.number("step", least=sys.float_info.min, takes_long_texts=True)
    return RangeLevels(min=0 if low is None else low, max=0 if high is None else high, step=step)


def _range_hint(raw: object) -> str:
    pieces = raw.split(":") if isinstance(raw, str) else raw
    if isinstance(pieces, list) and 2 <= len(pieces) <= 3:
        pairs = zip(("min", "max", "step"), pieces, strict=False)
        return f"write range = {{ {', '.join(f'{key} = {piece}' for key, piece in pairs)} }}"
    return "write range = { min = .., max = .., step = .. }"
