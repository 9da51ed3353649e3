"""Runs that a sweep keeps instead of doing them again: those of its own folder on a resume, another's on a reuse.

Owns the rule of keeping: a row needs its whole series and all rows of its model's own tables, runs that timed out are
always done again, and of adaptive replicates those behind a round that lacks a run are not decided on and go. Writes
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.hashes import run_keys
from henad_web.explore.outcomes import RunStatus
from henad_web.explore.replication import Replication
from henad_web.explore.spec_file import parse_spec_document
from henad_web.output.manifest import layout_of
from henad_web.output.names import RUNS, SERIES
from henad_web.output.own_tables import NO_OWN_TABLES
from henad_web.output.table_index import IS_FAILURE, STATUSES, SeriesCadence, recorded_indexes
from henad_web.output.table_rows import KeptTables, TableEnds, rows_at, run_groups, whole_tables
from henad_web.resume.checks import (
    check_mode,
    check_plan,
    check_run_keys,
    check_superfluous,
    checked_indexes,
    checked_own_tables,
    planned_ids,
    planned_tables,
    read_manifest,
    recorded_tables,
)
from henad_web.resume.errors import ResumeError, ResumeReason
from henad_web.resume.told_rows import ToldRows, tell_rows

if TYPE_CHECKING:
    from henad_web.explore.plan import Plan
    from henad_web.explore.shards import Shard
    from henad_web.output.manifest import Manifest
    from henad_web.output.own_tables import OwnIndex, OwnTables
    from henad_web.output.store import ResultsReader
    from henad_web.output.table_index import Ints, RunsIndex, SeriesIndex
    from henad_web.run.search_source import SearchSource

__all__ = ["KeptRuns", "resumed_runs", "reused_runs", "rows_to_keep", "table_ends", "whole_series"]

_TIMED_OUT = STATUSES.index(RunStatus.TIMED_OUT)
_SHAPE_ERROR = STATUSES.index(RunStatus.SHAPE_ERROR)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KeptRuns:
    """Runs of results that are there, which a sweep keeps instead of doing them again.

    Attributes:
        manifest: What is recorded with them.
        tables: Their rows.
        source: Where the runs of a search come from that was told of these; None for a sweep.
        told: What the rule of adaptive replicates knows by them; None where replicates are not adaptive.
    """

    manifest: Manifest
    tables: KeptTables
    source: SearchSource | None = None
    told: Replication | None = None

    @property
    def count(self) -> int:
        """How many there are."""
        return self.tables.rows.counts.rows

    def check_columns(self, stats: tuple[str, ...], reducers: tuple[str, ...]) -> None:
        """Make sure that the rows have the columns `stats` and `reducers` of the sweep.

        Raises:
            ResumeError: They have others.
        """
        columns, path = self.manifest.columns, str(self.tables.reader.path)
        for table, recorded, current in ((SERIES, columns.stats, stats), (RUNS, columns.reducers, reducers)):
            if recorded != current:
                reason = ResumeReason.COLUMNS_CHANGED
                raise ResumeError(reason, path, recorded=recorded, current=current, table=table)


def resumed_runs(
    reader: ResultsReader, manifest: Manifest, plan: Plan, shard: Shard, *, retry_failed: bool
) -> KeptRuns:
    """Return what a resume of `plan` keeps of the results that `reader` reads, after every check.

    Raises:
        ResumeError: A check failed; its reason says which.
        TableDamagedError: A table is damaged before its end.
    """
    path, stamp = str(reader.path), reader.stamp()
    check_plan(manifest, plan, shard, path)
    runs, series = checked_indexes(reader, manifest, plan)
    run_ids = planned_ids(runs, plan, shard, path)
    check_run_keys(runs, run_ids, plan, path)
    own = checked_own_tables(reader, manifest)
    whole = whole_series(runs, series, SeriesCadence.of(plan.spec), is_ended=manifest.has_ended)
    whole &= whole_tables(runs, own)
    positions = np.flatnonzero(rows_to_keep(runs, whole, retry_failed=retry_failed)).astype(np.int64)
    told, rows_told = _told(plan, reader, manifest, runs, positions, run_ids[positions])
    if rows_told is not None:
        check_superfluous(rows_told, plan, path)
        positions = positions[rows_told.asked]
    rows = rows_at(runs, series, own, positions, run_ids[positions])
    ends = table_ends(runs, series, own, positions, run_ids[positions])
    return KeptRuns(manifest=manifest, tables=KeptTables(reader=reader, rows=rows, ends=ends, stamp=stamp), told=told)


def _told(
    plan: Plan, reader: ResultsReader, manifest: Manifest, runs: RunsIndex, positions: Ints, run_ids: Ints
) -> tuple[Replication | None, ToldRows | None]:
    """Return what the rule of adaptive replicates of `plan` knows by the rows at `positions`, and makes of each."""
    adaptive = plan.spec.run.adaptive
    if adaptive is None:
        return None, None
    told = Replication(adaptive, plan.config_count)
    return told, tell_rows(told, reader, layout_of(manifest), runs, positions, run_ids, plan.replicates)


def reused_runs(reader: ResultsReader, plan: Plan, shard: Shard, *, retry_failed: bool) -> KeptRuns:
    """Return the runs of other results whose run keys are those of runs of `plan` in `shard`.

    Raises:
        ResumeError: The results are not of a sweep.
        TableDamagedError: A table has other columns than its manifest tells, or is damaged before its end.
        ManifestError: The manifest cannot be read.
    """
    manifest = read_manifest(reader)
    check_mode(manifest, plan.spec, str(reader.path))
    cadence = SeriesCadence.of(parse_spec_document(manifest.spec))
    runs, series = recorded_indexes(reader, manifest, cadence)
    own = checked_own_tables(reader, manifest) if plan.tables else NO_OWN_TABLES
    whole = whole_series(runs, series, cadence, is_ended=manifest.has_ended) & whole_tables(runs, own)
    if plan.tables and recorded_tables(manifest) != planned_tables(plan):
        whole[:] = False  # a run key says nothing of them
    usable = np.flatnonzero(rows_to_keep(runs, whole, retry_failed=retry_failed))
    position_of = dict(zip(runs.keys[usable].tolist(), usable.tolist(), strict=True))
    run_ids = np.arange(plan.run_count if position_of else 0, dtype=np.int64)
    run_ids = run_ids[shard.held(run_ids, plan.spec.run.runs_together)]
    keyed = zip(run_keys(plan, run_ids).tolist(), run_ids.tolist(), strict=True)
    found = [(position_of[key], run_id) for key, run_id in keyed if key in position_of]
    pairs = np.array(found, np.int64).reshape(len(found), 2)
    told, rows_told = _told(plan, reader, manifest, runs, pairs[:, 0], pairs[:, 1])
    if rows_told is not None:
        pairs = pairs[rows_told.asked]
    rows = rows_at(runs, series, own, pairs[:, 0], pairs[:, 1])
    return KeptRuns(manifest=manifest, tables=KeptTables(reader=reader, rows=rows, ends=None, stamp=None), told=told)


def whole_series(
    runs: RunsIndex, series: SeriesIndex, cadence: SeriesCadence, *, is_ended: bool = False
) -> NDArray[np.bool_]:
    """Return for each row of `runs` whether its whole series is there.

    A run that did not fail tells its ticks exactly. One that failed may have done so while the sample of its last tick
    was taken, which then is not there. In tables of a sweep that has ended both are whole; in others only the end of
    the file, which alone can be lost, is held against a failed run.

    Args:
        runs: Index of runs.csv.
        series: Index of series.csv.
        cadence: Which ticks have rows.
        is_ended: Whether the manifest says that the sweep ended, which it does once nothing can be lost any more.
    """
    group, is_single = run_groups(runs, series)
    # An appended zero stands for the rows of a run without a group.
    rows, last_ticks = (np.append(column, 0)[group] for column in (series.rows, series.last_ticks))
    regular = np.append(series.regular, True)[group]

    def holds_samples_to(ticks: Ints) -> NDArray[np.bool_]:
        last = np.where(runs.unbuilt, -1, cadence.last_samples(ticks))
        expected = cadence.rows(last)
        holds: NDArray[np.bool_] = (rows == expected) & regular & ((expected == 0) | (last_ticks == last))
        return holds

    with_last, without_last = holds_samples_to(runs.ticks), holds_samples_to(runs.ticks - 1)
    exact = np.where(runs.status == _SHAPE_ERROR, without_last, with_last)
    either = with_last | without_last if is_ended else np.zeros_like(exact)
    failed = IS_FAILURE[runs.status]
    whole: NDArray[np.bool_] = is_single & (exact | (failed & (either | _before_the_end(runs, series))))
    return whole


def _before_the_end(runs: RunsIndex, series: SeriesIndex) -> NDArray[np.bool_]:
    """Return which rows come before the row of the run whose series is the last one of its file."""
    positions = np.arange(len(runs.run_ids))
    if not len(series.run_ids):
        return np.zeros(len(positions), np.bool_)
    owner = np.flatnonzero(runs.run_ids == series.run_ids[-1])
    # A series whose run has no row was being written last of all.
    return positions < (owner[-1] if len(owner) else len(positions))


def rows_to_keep(runs: RunsIndex, whole: NDArray[np.bool_], *, retry_failed: bool) -> NDArray[np.bool_]:
    """Return which rows of `runs` stay: `whole` ones that did not time out and, to retry, did not fail."""
    again = IS_FAILURE[runs.status] if retry_failed else np.equal(runs.status, _TIMED_OUT)
    keep: NDArray[np.bool_] = whole & ~again
    return keep


def table_ends(
    runs: RunsIndex, series: SeriesIndex, own: OwnTables, positions: Ints, run_ids: Ints
) -> TableEnds | None:
    """Return where the tables can be cut so that they hold the rows at `positions` of `runs` and nothing else.

    None when they have to be written anew: rows in the middle go, ids become `run_ids`, a header is missing, or another
    program left quotes, line ends or a mark that no sweep writes.
    """
    if not np.array_equal(runs.run_ids[positions], run_ids):
        return None
    ends = {RUNS: _end(runs, positions)}
    tables: dict[str, SeriesIndex | OwnIndex] = {SERIES: series, **own.indexes}
    for name, index in tables.items():
        groups = run_groups(runs, index)[0][positions]
        ends[name] = _end(index, groups[groups >= 0])
    found = {name: end for name, end in ends.items() if end is not None}
    if len(found) < len(ends):
        return None
    return TableEnds(runs=found.pop(RUNS), series=found.pop(SERIES), own=found)


def _end(table: RunsIndex | SeriesIndex | OwnIndex, kept: Ints) -> int | None:
    """Return where `table` can be cut behind its rows or groups at `kept`, None when that leaves others."""
    count, is_whole = len(kept), table.header is not None and table.is_canonical
    if not (is_whole and np.array_equal(np.sort(kept), np.arange(count))):
        return None
    return int(table.ends[count - 1]) if count else table.header_end
