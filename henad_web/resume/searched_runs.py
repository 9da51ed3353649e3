"""Recorded runs that a search goes on with: it is told of them again, from its start (reference engine, 10.11).

Owns the checks of that. Each run has to be the one that the search would ask for next, so that what is kept is the
beginning of the search and whatever follows is as if nobody had interrupted it. Writes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from henad_web.errors import counted
from henad_web.explore.columns import MEASURED
from henad_web.output.names import RUNS
from henad_web.output.table_index import IS_FAILURE, SeriesCadence, opened_or_empty
from henad_web.output.table_reading import RunsReader
from henad_web.output.table_rows import KeptTables, rows_at, whole_tables
from henad_web.output.tables import RunsLayout
from henad_web.resume.checks import check_search, checked_indexes, checked_own_tables
from henad_web.resume.errors import ResumeError, ResumeReason
from henad_web.resume.kept_runs import KeptRuns, table_ends, whole_series
from henad_web.run.search_source import SearchSource
from henad_web.search.plan import SearchPlan

if TYPE_CHECKING:
    from henad_web.output.manifest import Manifest
    from henad_web.output.store import ResultsReader
    from henad_web.output.table_index import RunsIndex, SeriesIndex
    from henad_web.search.searcher import Watched

__all__ = ["searched_runs"]


def searched_runs(reader: ResultsReader, manifest: Manifest, search: SearchPlan) -> KeptRuns:
    """Return what a resume of `search` keeps of the results that `reader` reads, after every check.

    The runs that are kept are those before the first whose series or tables are torn; none is done again, whatever it
    came to.

    Raises:
        ResumeError: A check failed; its reason says which.
        TableDamagedError: A table is damaged before its end.
        UsageError: A custom searcher asks for what it must not.
    """
    path, stamp, plan = str(reader.path), reader.stamp(), search.base
    check_search(manifest, search, path)
    runs, series = checked_indexes(reader, manifest, plan)
    own = checked_own_tables(reader, manifest)
    whole = whole_series(runs, series, SeriesCadence.of(plan.spec), is_ended=manifest.has_ended)
    whole &= whole_tables(runs, own)
    if runs.header is None or series.header is None:  # they are written anew, with every run
        whole[:] = False
    count = len(whole) if whole.all() else int(np.argmin(whole))
    _check_series_order(series, path)
    source, watched = SearchSource(search), search.search.watched_columns
    layout = RunsLayout.of_plan(plan, manifest.columns.reducers)
    if not set(watched) <= set(layout.reducers):
        reason = ResumeReason.COLUMNS_CHANGED
        raise ResumeError(reason, path, recorded=layout.reducers, current=watched, table=RUNS)
    _replay(source, runs, islice(_watched(reader, runs, layout, watched), count), path)
    positions = np.arange(count, dtype=np.int64)
    rows = rows_at(runs, series, own, positions, positions)
    ends = table_ends(runs, series, own, positions, positions)
    tables = KeptTables(reader=reader, rows=rows, ends=ends, stamp=stamp)
    return KeptRuns(manifest=manifest, tables=tables, source=source)


def _check_series_order(series: SeriesIndex, path: str) -> None:
    early = np.flatnonzero(np.diff(series.run_ids) <= 0)
    if len(early):
        run_id = int(series.run_ids[early[0] + 1])
        raise ResumeError(ResumeReason.SERIES_OUT_OF_ORDER, path, run_id=run_id)


def _replay(source: SearchSource, runs: RunsIndex, watched: Iterator[Watched], path: str) -> None:
    """Tell `source` what its first runs came to, each made sure to be the one of its row."""
    for position, values in enumerate(watched):
        request = source.recorded()
        recorded = tuple(int(ids[position]) for ids in (runs.run_ids, runs.config_ids, runs.reps, runs.keys))
        if request is None:
            run_id, config_id, rep, _ = recorded
            budget = counted(source.searcher.max_evaluations, "evaluation")
            reason = ResumeReason.UNPLANNED_RUN
            raise ResumeError(reason, path, current=budget, run_id=run_id, config_id=config_id, rep=rep)
        run = request.run
        if recorded != (run.run_id, run.config_id, run.rep, int(request.run_key, 16)):
            reason, texts = ResumeReason.SEARCH_RUN_CHANGED, "run {}, config {}, rep {}, run key {:016x}"
            current = texts.format(run.run_id, run.config_id, run.rep, int(request.run_key, 16))
            raise ResumeError(reason, path, recorded=texts.format(*recorded), current=current, run_id=position)
        source.hear(values)


def _watched(reader: ResultsReader, runs: RunsIndex, layout: RunsLayout, columns: Sequence[str]) -> Iterator[Watched]:
    """Yield what each row of runs.csv has of `columns`, as the search has heard it: of a failed run nothing."""
    first = layout.measured + len(MEASURED)
    places, done = [first + layout.reducers.index(column) for column in columns], 0
    with opened_or_empty(reader, RUNS) as stream:
        for batch in RunsReader(stream, layout).batches():
            values = np.stack([batch.columns[place] for place in places], axis=1)
            values[IS_FAILURE[runs.status[done : done + len(values)]]] = math.nan
            done += len(values)
            for row in values.tolist():
                yield tuple(None if math.isnan(value) else value for value in row)
