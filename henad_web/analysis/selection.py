"""Which runs a question is about, and their numbers: what is measured (y), and the factors it is set against.

Owns the names that a question may give for both, which rows count, and what is said of the others. Failed runs and runs
without a finite value never count; a run that met a value which is not finite does, as in summary.csv, and is told of.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.ordered import distinct
from henad_web.analysis.pieces import PIECE_ROWS, Pieces, stretches
from henad_web.analysis.samples import AfterStop, values_at
from henad_web.analysis.tables import Axis, Column, LeftOut, level_text
from henad_web.errors import UsageError, near_miss
from henad_web.explore.columns import ACTION, MEASURED, main_reducers, resolve_column
from henad_web.explore.outcomes import RunStatus
from henad_web.model.decimals import whole_text
from henad_web.results.frames import UNITS
from henad_web.results.recorded import RecordedResults

__all__ = [
    "NUMBERS",
    "Factor",
    "Held",
    "Selection",
    "check_bins",
    "check_different",
    "check_held",
    "chosen",
    "factor_names",
    "failed_rows",
    "find_factor",
    "held_levels",
    "held_rows",
    "held_text",
    "levels_text",
    "is_whole",
    "main_measures",
    "measured_axis",
    "no_runs_left",
    "not_done",
    "selected",
    "several",
    "stat_column",
    "unknown",
    "varied_factors",
]

Held: TypeAlias = Mapping[str, "float | int | bool | str | Sequence[float | int | bool | str]"]
"""Factors to hold, by name: at a value, or at any of several."""

MOST_BINS = 10_000
"""Parts that a factor can be cut into; the tables of more would fill the memory before anything was said."""

_PIECE_LEVELS = PIECE_ROWS // 4
"""Levels that a piece looks up one by one: each takes 0.1 us natively."""

Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64]

NUMBERS = tuple(name for name in MEASURED if name not in ("status", "stop_reason"))
"""Columns that every table of runs has and that can be asked about."""

_FAILURES = tuple(status.value for status in RunStatus if status.is_failure)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Factor:
    """A parameter, or the tick of an action, of some runs.

    Attributes:
        axis: Its name and label.
        values: Value of each run, ``(runs,)``: float64, int64, uint64, bool or text, the decimals of the tables.
        options: Of a choice: its options in the model's order.
    """

    axis: Axis
    values: Column
    options: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, rather than names or yes and no."""
        return self.values.dtype.kind in "iuf"

    def taken(self, rows: Rows | NDArray[np.bool_]) -> Factor:
        """Return that of some of the runs."""
        return replace(self, values=self.values[rows])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selection:
    """The runs that count for a question; every array is ``(runs,)``, in the order of runs.csv.

    Attributes:
        axis: What is measured.
        y: Its value of each run, finite, float64.
        rows: Where each run stands in ``results.runs``.
        factors: Each factor asked for, by its name.
        left_out: The runs that do not count.
    """

    axis: Axis
    y: Floats
    rows: Rows
    factors: Mapping[str, Factor]
    left_out: LeftOut


def selected(
    results: RecordedResults,
    y: str,
    *,
    factors: Iterable[str] = (),
    held: Held | None = None,
    block: int | None = None,
    at: int | None = None,
    after_stop: str = AfterStop.DROP,
    may_be_empty: bool = False,
) -> Pieces[Selection]:
    """Return the runs of `results` that have a value of `y`, with their `factors`.

    Args:
        results: The results.
        y: A reducer such as ``Infected:max``, or a column of every run: ``ticks``, ``population``, a timing; with `at`
            a statistic such as ``Infected``.
        factors: Parameters by id, ticks of actions as ``action.NAME``.
        held: Only runs whose factors have these values.
        block: Only runs of this block; then nobody is told of runs that are not done.
        at: Tick of the series that `y` is taken at.
        after_stop: With `at`, of a run that had stopped before: ``"drop"`` leaves it out, ``"hold"`` takes its last
            value.
        may_be_empty: Whether no run at all is an answer, too.

    Raises:
        UsageError: There is no such reducer, statistic, factor, level or sampled tick, or no run is left.
        MissingFileError: `at` is given, and there is no series.csv.
    """
    stop = AfterStop(chosen("after_stop", after_stop, list(AfterStop)))
    axis = measured_axis(results, y, at)
    found = {name: find_factor(results, name) for name in factors}
    is_asked = yield from held_rows(results, held)
    if block is not None:
        is_asked &= results.runs["block"] == block
    if at is None:
        values = results.runs.reducer(y) if y in results.reducer_columns else results.runs[y]
    else:
        values = yield from values_at(results, stat_column(results, y), at, stop)
    has_failed = yield from failed_rows(results)
    rows = np.flatnonzero(is_asked & ~has_failed & np.isfinite(values))
    yield
    left_out = LeftOut(
        held=held_text(held or {}),
        not_done=not_done(results) if block is None else 0,
        failed=int(np.count_nonzero(is_asked & has_failed)),
        without_value=int(np.count_nonzero(is_asked & ~has_failed)) - len(rows),
        non_finite=int(np.count_nonzero(results.runs.is_non_finite[rows])),
    )
    if not len(rows) and not may_be_empty:
        raise no_runs_left(axis, left_out)
    return Selection(
        axis=axis,
        y=np.asarray(values[rows], np.float64),
        rows=rows,
        factors={name: factor.taken(rows) for name, factor in found.items()},
        left_out=left_out,
    )


def failed_rows(results: RecordedResults) -> Pieces[NDArray[np.bool_]]:
    """Return whether the run of each row failed, ``(rows,)``."""
    status = results.runs["status"]
    has_failed = np.zeros(len(status), np.bool_)
    for part in stretches(len(status)):
        has_failed[part] = np.isin(status[part], _FAILURES)
        yield
    return has_failed


def chosen(option: str, value: object, allowed: Sequence[str]) -> str:
    """Return `value`, one of the `allowed` words of an `option`.

    Raises:
        UsageError: It is none of them.
    """
    if isinstance(value, str) and value in allowed:
        return value
    hint = near_miss(str(value), allowed)
    words = ", ".join(f"'{word}'" for word in allowed)
    raise UsageError(f"{option} is {value!r}; allowed: {words}" + (f"; {hint}" if hint else ""))


def is_whole(value: object, least: float = -math.inf) -> bool:
    """Return whether `value` is a whole number, not below `least`; yes and no are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= least)


def several(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names that an option holds which takes one or several.

    Raises:
        UsageError: It holds something else.
    """
    listed = (names,) if isinstance(names, str) else names
    if not isinstance(listed, Iterable) or not all(isinstance(name, str) for name in listed):
        raise UsageError(f"{whole_text(names)} is no name of a column; allowed: one, or several in a list")
    return tuple(listed)


def check_different(*, y: str, x: str | None = None, by: Sequence[str] = (), second: str | None = None) -> None:
    """Make sure that no name is given for two things, and that each is one.

    Raises:
        UsageError: One is given twice, or is something else.
    """
    factors = [("x", x), *(("by", name) for name in by), ("y", second)]
    seen: dict[str, str] = {}
    for place, name in factors:
        if name is None:
            continue
        _check_name(place, name)
        if name in seen:
            raise UsageError(f"factor '{name}' is given twice, as {seen[name]} and as {place}; name it once")
        seen[name] = place
    _check_name("what is measured", y)
    if y in seen:
        raise UsageError(f"'{y}' is given as what is measured and as {seen[y]}; a measure is a reducer or a statistic")


def _check_name(place: str, name: object) -> None:
    if not isinstance(name, str):
        raise UsageError(f"{place} is {whole_text(name)}; allowed: the name of one column")


def check_bins(results: RecordedResults, name: str, bins: int) -> None:
    """Make sure that the factor `name` can be cut into `bins` parts.

    Raises:
        UsageError: There is no such factor, it is no number, or `bins` is no count.
    """
    if not is_whole(bins, 1) or bins > MOST_BINS:
        raise UsageError(f"bins is {bins!r}; allowed: a whole number from 1 to {MOST_BINS:,}")
    if not find_factor(results, name).is_number:
        raise UsageError(
            f"bins cut numbers into parts, and '{name}' is none; leave bins out to have each of its levels"
        )


def factor_names(results: RecordedResults) -> tuple[str, ...]:
    """Return the names of all parameters and of the ticks of all actions, as questions give them."""
    return (*results.runs.param_ids, *(f"{ACTION}{name}" for name in results.runs.actions))


def find_factor(results: RecordedResults, name: str) -> Factor:
    """Return the parameter or the tick of an action that is called `name`, of every row.

    Raises:
        UsageError: There is none.
    """
    known = factor_names(results)
    if not isinstance(name, str) or name not in known:
        raise unknown("factor", name, known)
    if name in results.runs.param_ids:
        param = next((param for param in _params_of(results) if param.get("id") == name), {})
        axis = Axis(name=name, label=str(param.get("label", name)))
        options = param.get("options", ())
        listed = tuple(map(str, options)) if isinstance(options, (list, tuple)) else ()
        return Factor(axis=axis, values=results.runs.param(name), options=listed)
    action = name.removeprefix(ACTION)
    return Factor(axis=Axis(name=name, label=action, unit="tick"), values=results.runs.action(action))


def varied_factors(results: RecordedResults) -> tuple[str, ...]:
    """Return the names of the factors that are not the same in every row, in the order of the table."""
    values = {name: find_factor(results, name).values for name in factor_names(results)}
    return tuple(name for name, column in values.items() if len(column) and bool((column != column[0]).any()))


def main_measures(results: RecordedResults, most: int) -> tuple[str, ...]:
    """Return at most `most` reducers that stand for all where none is named.

    Of each statistic that is its final value, or where no run differs in that the first reducer in which one does.
    Where none differs in anything it is what `main_reducers` says.
    """
    names = results.reducer_columns
    finals = [name for name in names if name.endswith(":final")]
    main: dict[str, str] = {}
    for name in (*finals, *names):
        statistic = name.rpartition(":")[0]
        if statistic not in main and _differs(results.runs.reducer(name)):
            main[statistic] = name
    in_order = sorted(main, key=results.stat_columns.index)
    return tuple(main[statistic] for statistic in in_order[:most]) or main_reducers(names, most)


def _differs(values: Column) -> bool:
    finite = values[np.isfinite(values)]
    return bool((finite != finite[:1]).any())


def measured_axis(results: RecordedResults, name: str, at: int | None = None) -> Axis:
    """Return what `name` measures: a column of every run, or with `at` a statistic at that tick.

    Raises:
        UsageError: There is none, or `at` is no tick.
    """
    _check_name("what is measured", name)
    if at is not None:
        stat_column(results, name)
        if not is_whole(at, 0):
            raise UsageError(f"at is {at!r}; allowed: a tick, a whole number from 0 on")
        return Axis(name=name, label=f"{name} at tick {at}")
    reducers = results.reducer_columns
    if name in reducers:
        return Axis(name=name, label=name)
    if name in NUMBERS:
        unit = UNITS[name] if UNITS[name] != "1" else ""
        return Axis(name=name, label=name.removesuffix("_ms").replace("_", " "), unit=unit)
    column = resolve_column(str(name), results.stat_columns)
    if column is not None:
        kinds = ", ".join(repr(known) for known in reducers if known.startswith(f"{column}:")) or "none were kept"
        raise UsageError(
            f"'{name}' is a series, not one value a run; give one of its reducers: {kinds}; or a tick of it (at)"
        )
    raise unknown("measured column", name, (*reducers, *NUMBERS))


def stat_column(results: RecordedResults, name: str) -> str:
    """Return the stat column that `name` means.

    Raises:
        UsageError: There is none.
    """
    column = resolve_column(str(name), results.stat_columns)
    if column is None:
        raise unknown("statistic", name, results.stat_columns)
    return column


def no_runs_left(axis: Axis, left_out: LeftOut) -> UsageError:
    """Return what is wrong where no run has a value."""
    why = "; ".join(left_out.lines()) if left_out.runs else "no run is asked for: none has all that is held"
    return UsageError(f"no run has a value of '{axis.label}': {why}")


def check_held(results: RecordedResults, held: Held | None, option: str = "held") -> None:
    """Make sure that what an `option` holds are levels of factors; whether runs have them is for `held_rows` to see.

    Raises:
        UsageError: `held` is no mapping, there is no such factor, or a level is neither a number nor text.
    """
    if held is None:
        return
    if not isinstance(held, Mapping):
        raise UsageError(
            f"{option} is {whole_text(held)}; allowed: factors with what to hold them at, {{'name': value}}"
        )
    for name, levels in held.items():
        find_factor(results, name)
        if not all(isinstance(level, float | int | str) for level in held_levels(levels)):
            raise UsageError(f"'{name}' of {option} is {whole_text(levels)}; allowed: a value, or several in a list")


def held_rows(results: RecordedResults, held: Held | None) -> Pieces[NDArray[np.bool_]]:
    """Return whether each row has the levels that are `held`, ``(rows,)``.

    Raises:
        UsageError: As of `check_held`, or no run has such a level.
    """
    check_held(results, held)
    is_asked = np.ones(len(results.runs), np.bool_)
    for name, levels in (held or {}).items():
        values, wanted = find_factor(results, name).values, held_levels(levels)
        # Python tells 2^53 + 1 from 2.0^53, which numpy takes for one number.
        among, found = set(wanted), set()
        for part in stretches(len(values), _PIECE_LEVELS):
            cells = values[part].tolist()
            is_asked[part] &= np.fromiter(map(among.__contains__, cells), np.bool_, len(cells))
            found |= among.intersection(cells)
            yield
        lacking = [level for level in wanted if level not in found]
        if lacking and len(values):
            known = yield from distinct(values)
            shown = ", ".join(map(repr, known[:20].tolist())) + (", ..." if len(known) > 20 else "")
            raise UsageError(f"no run has {name} = {whole_text(lacking[0])}; its values here: {shown}")
    return is_asked


def held_levels(levels: object) -> list[float | int | bool | str]:
    """Return the levels, one or several, as Python's own values."""
    listed: Any = levels.tolist() if isinstance(levels, np.ndarray) else levels
    each = listed if isinstance(listed, Collection) and not isinstance(listed, str) else [listed]
    return [level.item() if isinstance(level, np.generic) else level for level in each]


def held_text(held: Held) -> str:
    """Return what runs have in common, such as ``recovery_rate 0.1, size 8 or 16``; nothing where nothing is held."""
    return ", ".join(f"{name} {levels_text(levels)}" for name, levels in held.items())


def levels_text(levels: object) -> str:
    """Return the levels that a factor is held at, such as ``8 or 16``."""
    return " or ".join(map(level_text, held_levels(levels)))


def not_done(results: RecordedResults) -> int:
    """Return how many runs of the plan have no row."""
    # Of a search, and with adaptive replicates, nobody knows how many there will be.
    if results.is_search or results.manifest.is_adaptive:
        return 0
    return max(0, results.expected_runs - len(results.runs))


def _params_of(results: RecordedResults) -> list[Mapping[str, object]]:
    params = results.manifest.model.schema.get("params", ())
    return list(params) if isinstance(params, (list, tuple)) else []


def unknown(noun: str, name: str, known: Sequence[str]) -> UsageError:
    """Return what is wrong with the `name` of a `noun` that is none of the `known`."""
    hint = near_miss(str(name), known)
    allowed = ", ".join(known) or "none"
    return UsageError(f"no {noun} {whole_text(name)}; allowed: {allowed}" + (f"; {hint}" if hint else ""))
