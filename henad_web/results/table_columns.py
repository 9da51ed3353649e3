"""The tables of results as numpy columns, whole or a few megabytes at a time, each column under a name of its own.

Owns which tables there are, and what a column is called where two have one name. Knows no other library.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import UsageError, near_miss
from henad_web.explore.columns import LEADING, MEASURED, SUMMARY_COUNTS, SUMMARY_LEADING
from henad_web.model.decimals import whole_text
from henad_web.results.series import SeriesBlock

if TYPE_CHECKING:
    from henad_web.results.recorded import RecordedResults

__all__ = ["Columns", "ResultTable", "blocks_of", "checked_table", "columns_of", "free_name", "joined", "run_keys"]

Columns: TypeAlias = dict[str, NDArray[Any]]
"""Columns of equal length by name, in order."""


class ResultTable(StrEnum):
    """The tables that every result set has."""

    RUNS = "runs"
    SUMMARY = "summary"
    SERIES = "series"


def checked_table(results: RecordedResults, table: object) -> ResultTable:
    """Return which table of `results` the word `table` means.

    Raises:
        UsageError: There is no such table; the message names those there are, and where others are found.
    """
    names = [name.value for name in ResultTable]
    if table in names:
        return ResultTable(str(table))
    hint = near_miss(table, [*names, *results.table_ids]) if isinstance(table, str) else None
    lines = [] if hint is None else [hint]
    if table in results.table_ids:
        lines = [f"one of the model's own is results.table({table!r})"]
    elif results.is_search:
        lines.append("those of a search are results.search.table(NAME)")
    allowed = f"no table {whole_text(table)}; allowed: {', '.join(map(repr, names))}"
    raise UsageError("; ".join([allowed, *lines]))


def free_name(name: str, taken: set[str], group: str = "run") -> str:
    """Return `name`, or ``GROUP.name`` where that is taken, and take it."""
    while name in taken:
        name = f"{group}.{name}"
    taken.add(name)
    return name


def columns_of(results: RecordedResults, table: ResultTable, *, params: bool = False) -> Columns:
    """Return `table` whole; of the series, one copy is made.

    Args:
        results: Whose table.
        table: Which.
        params: Whether each sample has the parameters and action ticks of its run beside it; other tables have them.

    Raises:
        TableDamagedError: A record of the table is none.
        MissingFileError: The series are asked for, and there is no series.csv.
    """
    if table is not ResultTable.SERIES:
        return next(blocks_of(results, table))
    return joined(blocks_of(results, table, params=params), results.series_row_count)


def blocks_of(results: RecordedResults, table: ResultTable, *, params: bool = False) -> Iterator[Columns]:
    """Yield the same in blocks of rows, at least one: the series a few megabytes at a time, the others at once.

    The first block of the series is empty, and tells its columns.
    """
    configs = results.runs.layout.configs
    if table is ResultTable.SERIES:
        none = np.zeros(0, np.int64)
        yield _sampled(results, SeriesBlock(none, none, np.zeros((0, len(results.stat_columns)))), params=params)
        for block in results.series_blocks():
            yield _sampled(results, block, params=params)
    elif table is ResultTable.RUNS:
        runs = results.runs
        names = _names(runs.columns, configs, len(LEADING), len(MEASURED), runs.reducers)
        yield {name: runs.at(position) for position, name in enumerate(names)}
    else:
        summary, counts = results.summary, len(SUMMARY_COUNTS) + 1
        reduced = summary.columns[len(SUMMARY_LEADING) + len(configs) + counts :]
        names = _names(summary.columns, configs, len(SUMMARY_LEADING), counts, reduced)
        yield {name: summary.at(position) for position, name in enumerate(names)}


def _names(
    columns: Sequence[str], configs: Sequence[str], leading: int, measured: int, reduced: Sequence[str]
) -> list[str]:
    """Return a name for each of `columns`; where two have one, that of every table keeps it.

    Before the `configs` are `leading` columns that every table has, behind them `measured`, and then the `reduced`.
    """
    first, behind = leading + len(configs), leading + len(configs) + measured
    taken = {*columns[:leading], *columns[first:behind], *columns[behind + len(reduced) :]}
    names = list(columns)
    names[leading:first] = [free_name(name, taken, "param") for name in configs]
    names[behind : behind + len(reduced)] = [free_name(name, taken, "reducer") for name in reduced]
    return names


def run_keys(
    results: RecordedResults, run_ids: NDArray[np.int64], ticks: NDArray[np.int64], *, params: bool = False
) -> Columns:
    """Return what stands before the columns of each row of a long table: run, config, replicate and tick of it.

    With `params`, also the parameters and action ticks of the run. Each of `run_ids` has a row.
    """
    runs = results.runs
    rows = runs.places(run_ids)
    keys = {"run_id": run_ids, "config_id": runs["config_id"][rows], "rep": runs["rep"][rows], "tick": ticks}
    if params:
        taken = set(keys)
        for position, name in enumerate(runs.layout.configs, start=len(LEADING)):
            column = runs.at(position)
            # Of texts that repeat, one is kept, and not as many letters in every row as the longest has.
            values = column.astype(object) if column.dtype.kind == "U" else column
            keys[free_name(name, taken, "param")] = values[rows]
    return keys


def _sampled(results: RecordedResults, block: SeriesBlock, *, params: bool) -> Columns:
    columns = run_keys(results, block.run_ids, block.ticks, params=params)
    taken = set(columns)
    for name, values in zip(results.stat_columns, block.values.T, strict=True):
        columns[free_name(name, taken, "stat")] = values
    return columns


def joined(blocks: Iterable[Columns], rows: int) -> Columns:
    """Return `blocks`, at least one, of `rows` rows in all, as one; each block may go once it is copied."""
    remaining = iter(blocks)
    first = next(remaining)
    whole = {
        # Texts of one column differ in length from block to block.
        name: np.empty(rows, object if column.dtype.kind == "U" else column.dtype)
        for name, column in first.items()
    }
    start = 0
    for block in chain([first], remaining):
        end = start + len(next(iter(block.values())))
        for name, column in block.items():
            whole[name][start:end] = column
        start = end
    return whole
