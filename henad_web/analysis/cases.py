"""The runs that a question about conditions is of, and which of them have what is asked for.

Owns how a condition over the columns of runs is read: in the grammar of stop conditions, where a column that is no
plain word stands in quotes, unless it is the only one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.pieces import Pieces, stretches
from henad_web.analysis.samples import AfterStop
from henad_web.analysis.selection import (
    NUMBERS,
    Held,
    chosen,
    failed_rows,
    held_rows,
    held_text,
    no_runs_left,
    not_done,
    selected,
    unknown,
)
from henad_web.analysis.tables import Axis, LeftOut
from henad_web.errors import UsageError, counted
from henad_web.explore.conditions import Comparison, CompoundStop, parse_condition, understood_stop
from henad_web.explore.where import WhereError
from henad_web.model.decimals import whole_text
from henad_web.results.recorded import RecordedResults

__all__ = ["Cases", "cases_of"]

Rows = NDArray[np.int64]

_PIECE_CASES = 1 << 10
"""Runs whose condition is looked at together: as many take 1 to 3 ms in a page."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cases:
    """Runs, and how much each is of what is looked for; every array is ``(runs,)``.

    Attributes:
        axis: What is looked for.
        y: 1 where the condition holds and 0 where not; or the numbers that are to be high.
        is_interesting: Whether the condition holds, or the number reaches the threshold.
        rows: Where each run stands in ``results.runs``.
        left_out: The runs that do not count.
        notes: What to know of them.
    """

    axis: Axis
    y: NDArray[np.float64]
    is_interesting: NDArray[np.bool_]
    rows: Rows
    left_out: LeftOut
    notes: tuple[str, ...] = ()


def cases_of(
    results: RecordedResults,
    asked: str,
    *,
    held: Held | None,
    threshold: float | None,
    at: int | None,
    after_stop: str,
) -> Pieces[Cases]:
    """Return the runs that did not fail, and which of them have what is `asked` for.

    Args:
        results: The results.
        asked: A condition such as ``Infected:max > 0.5``, or the name of a measured column.
        held: Only runs whose factors have these values.
        threshold: Of a column: the number from which on a run is of interest.
        at: Tick of the series that a statistic is taken at.
        after_stop: With `at`, of a run that had stopped before: ``"drop"`` leaves it out, ``"hold"`` takes its last
            value.

    Raises:
        UsageError: `asked` is neither, a column comes without threshold, the threshold is no number, or no run is left.
        MissingFileError: `at` is given, and there is no series.csv.
    """
    stop = chosen("after_stop", after_stop, list(AfterStop))
    is_column = at is not None or asked in results.reducer_columns or asked in NUMBERS
    _check_threshold(threshold, is_column)
    if is_column:
        if threshold is None:
            raise UsageError(
                f"'{asked}' is a column; say from where on it is of interest, threshold=, or give a condition"
            )
        selection = yield from selected(results, asked, held=held, at=at, after_stop=stop)
        y, wanted = selection.y, selection.y >= threshold
        return Cases(axis=selection.axis, y=y, is_interesting=wanted, rows=selection.rows, left_out=selection.left_out)
    return (yield from _cases_of_condition(results, asked, held or {}))


def _cases_of_condition(results: RecordedResults, asked: str, held: Held) -> Pieces[Cases]:
    """Return the runs that did not fail, and in which of them the condition `asked` holds."""
    names, holds = _condition(asked, (*results.reducer_columns, *NUMBERS))
    counts = yield from held_rows(results, held)
    has_failed = yield from failed_rows(results)
    rows = np.flatnonzero(counts & ~has_failed)
    left_out = LeftOut(
        held=held_text(held),
        not_done=not_done(results),
        failed=int(np.count_nonzero(counts & has_failed)),
        non_finite=int(np.count_nonzero(results.runs.is_non_finite[rows])),
    )
    axis = Axis(name=asked, label=asked)
    if not len(rows):
        raise no_runs_left(axis, left_out)
    columns = [_column(results, name)[rows] for name in names]
    wanted = np.empty(len(rows), np.bool_)
    for part in stretches(len(rows), _PIECE_CASES):
        cells = zip(*(column[part].tolist() for column in columns), strict=True)
        wanted[part] = np.fromiter(map(holds, cells), np.bool_, part.stop - part.start)
        yield
    lacking = int(np.count_nonzero(np.logical_or.reduce([np.isnan(column) for column in columns])))
    notes = (f"{counted(lacking, 'run', grouped=True)} without such a value: counted, without what is asked for",)
    return Cases(
        axis=axis,
        y=wanted.astype(np.float64),
        is_interesting=wanted,
        rows=rows,
        left_out=left_out,
        notes=notes if lacking else (),
    )


def _check_threshold(threshold: float | None, is_column: bool) -> None:
    if threshold is None:
        return
    is_number = isinstance(threshold, float | int | np.number) and not isinstance(threshold, bool)
    low, high = (-sys.float_info.max, sys.float_info.max) if is_column else (0.0, 1.0)
    if not is_number or not low <= threshold <= high:
        allowed = "a finite number, from which on a run is of interest" if is_column else "a density, 0 to 1"
        raise UsageError(f"threshold is {whole_text(threshold)}; allowed: {allowed}")


def _column(results: RecordedResults, name: str) -> NDArray[np.float64]:
    values = results.runs.reducer(name) if name in results.reducer_columns else results.runs[name]
    return np.asarray(values, np.float64)


def _condition(text: str, columns: Sequence[str]) -> tuple[tuple[str, ...], Callable[[Sequence[float]], bool]]:
    """Return the columns that a condition names, and the condition over a row of their values."""
    if not isinstance(text, str):
        raise UsageError(f"the condition is {whole_text(text)}; allowed: a text, such as 'Infected:max > 0.5'")
    try:
        found = understood_stop(parse_condition(text), columns)
    except WhereError as error:
        hint = error.hint or 'a column such as Infected:max stands in quotes, "Infected:max" > 0.5 and ticks < 100'
        raise UsageError(f"character {error.at + 1} of the condition {text!r}: {error.wrong}; {hint}") from error
    except ValueError as error:
        raise UsageError(
            f"{whole_text(text)} is neither a condition nor a measured column: {error}; allowed: a condition such as "
            f"'Infected:max > 0.5', or one of {', '.join(columns)}"
        ) from error
    names = tuple(name.name for name in found.names) if isinstance(found, CompoundStop) else (found.column,)
    for name in names:
        if name not in columns:
            raise unknown("measured column", name, columns)
    if isinstance(found, CompoundStop):
        return names, found.over({name: place for place, name in enumerate(names)})
    compare, limit = Comparison(found.comparison).holds, float(found.threshold)
    return names, lambda row: compare(row[0], limit)
