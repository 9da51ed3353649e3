"""Reruns some recorded runs and compares every result with what was written.

Owns which runs are taken, how one is rerun and what counts as a result: all of a row but its timings and the words of a
fault, all of its series and of its model's own tables. A run of a search is done from its row, and the search is
followed besides (`search_check`). Writes nothing and never touches the files.
"""

from __future__ import annotations

import io
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from henad_web.errors import TableDamagedError, UsageError, counted
from henad_web.explore.cell_texts import number_text
from henad_web.explore.columns import LEADING
from henad_web.explore.hashes import run_key
from henad_web.explore.measure import MeasurePlan
from henad_web.explore.outcomes import RunStatus
from henad_web.explore.search_spec import SearchAlgorithm
from henad_web.model.decimals import whole_text
from henad_web.model.params import ParamKind
from henad_web.model.tables import ColumnKind
from henad_web.output.build import files_of_source, model_source
from henad_web.output.names import RUNS, SERIES
from henad_web.output.records import RecordReader
from henad_web.output.tables import RunsColumns, RunsTable
from henad_web.randomness.design import DesignRng
from henad_web.results.differences import Difference, VerifyReport, is_equal
from henad_web.results.own_tables import field_columns
from henad_web.results.recorded import RecordedResults
from henad_web.results.replays import recorded_request
from henad_web.results.search_check import SearchCheck
from henad_web.resume.provenance import BuildChanged, BuildRole, build_warnings
from henad_web.run.cursor import RunCursor
from henad_web.run.requests import RunRequest
from henad_web.search.plan import SearchPlan

if TYPE_CHECKING:
    from henad_web.explore.outcomes import RunOutcome, RunTable, Series
    from henad_web.explore.plan import Plan

__all__ = ["Verification", "chosen_runs", "verify_results"]

_OVER = object()

SLICE_STEPS = 64
"""Steps between two moments at which a caller of `Verification.advance` gets its turn."""


def chosen_runs(results: RecordedResults, count: int) -> tuple[int, ...]:
    """Return `count` of the recorded runs, ascending; the same ones for the same rows of the same plan.

    Runs are drawn without repetition by the stream of designs, seeded with the plan hash. Runs that timed out are left
    out: where a clock ends a run is no result.

    Raises:
        UsageError: `count` is not positive.
    """
    if isinstance(count, bool) or count < 1:
        raise UsageError(f"runs is {count!r}; allowed: a whole number from 1")
    ids = results.runs["run_id"][results.runs["status"] != RunStatus.TIMED_OUT.value].tolist()
    if count >= len(ids):
        return tuple(sorted(ids))
    draws = DesignRng(int(results.manifest.plan.plan_hash, 16))
    moved: dict[int, int] = {}
    chosen = []
    for position in range(count):
        # The first positions of a shuffle, without the rest of it.
        other = position + draws.index(len(ids) - position)
        chosen.append(ids[moved.get(other, other)])
        moved[other] = moved.get(position, position)
    return tuple(sorted(chosen))


def verify_results(results: RecordedResults, *, runs: int = 5, run_ids: Sequence[int] | None = None) -> VerifyReport:
    """Rerun some runs of `results` and return what differs from what was written.

    Args:
        results: The result set.
        runs: How many runs, chosen by `chosen_runs`; all of them when there are fewer.
        run_ids: These runs instead; a search is then not followed.

    Raises:
        UsageError: `runs` is not positive.
        UnknownRunError: There is no row of one of `run_ids`.
        TableDamagedError: A row is of no run of the plan, or a record of a table of a search is none.
        MissingFileError: A table of a search is not there.
        UnknownModelError: The model is not known.
        ModelChangedError: It is no longer shaped like the one that wrote the results.
    """
    verification = Verification(results, runs=runs, run_ids=run_ids)
    while not verification.advance():
        pass
    return verification.report()


class Verification:
    """A verification in pieces, for hosts that must not block: call `advance` until it is true, then `report`."""

    def __init__(self, results: RecordedResults, *, runs: int = 5, run_ids: Sequence[int] | None = None) -> None:
        """Choose the runs; takes and raises what `verify_results` does."""
        if not isinstance(results, RecordedResults):
            raise UsageError(
                f"the results are {whole_text(results)}; allowed: a ResultSet, such as hw.ResultSet.open(path)"
            )
        self._results, self._plan = results, results.plan
        self._run_ids = chosen_runs(results, runs) if run_ids is None else tuple(sorted(set(run_ids)))
        search = SearchPlan.over(self._plan) if results.is_search else None
        planned = self._plan.run_count if search is None else search.run_count
        for run_id in self._run_ids:
            results.runs.run(run_id)
            if run_id >= planned:
                expected = f"a run of the plan, 0 to {planned - 1}"
                record = results.runs.record_of(run_id)
                raise TableDamagedError(RUNS, record, LEADING[0], came=str(run_id), expected=expected)
        # Where a clock ends a run is no result.
        self._measure = replace(MeasurePlan.bind(self._plan, results.stat_columns), timeout_s=None)
        self._table = RunsTable(self._plan, results.reducer_columns)
        self._rows = _recorded_rows(results, self._run_ids)
        self._texts = {param.id for param in self._plan.schema.params if param.kind is ParamKind.TEXT}
        self._left = list(reversed(self._run_ids))
        self._cursor: RunCursor | None = None
        self._cells, self._differences = 0, list[Difference]()
        can_follow = search is not None and search.search.algorithm is not SearchAlgorithm.CUSTOM
        self._check = SearchCheck(results, search) if search is not None and can_follow and run_ids is None else None
        self._following = iter(()) if self._check is None else self._check.pieces()
        self._is_followed = self._check is None

    def __repr__(self) -> str:
        """Return the facts on one line."""
        done = len(self._run_ids) - len(self._left)
        return f"<Verification: {done} of {len(self._run_ids)} runs compared, {len(self._differences)} differences>"

    def advance(self, steps: int = SLICE_STEPS) -> bool:
        """Build a run, take up to `steps` steps of it, or follow a search for a moment; return whether all is done."""
        if self._cursor is None and not self._left:
            if next(self._following, _OVER) is _OVER:
                self._is_followed = True
            return self._is_followed
        if self._cursor is None:
            request = self._request(self._left.pop())
            self._cursor = RunCursor(self._results.entry, self._measure, request, time.perf_counter)
            self._cursor.build()
        outcome = self._cursor.advance(steps)
        if outcome is not None:
            self._cursor = None
            self._compare(outcome)
        return self._cursor is None and not self._left and self._is_followed

    def _request(self, run_id: int) -> RunRequest:
        """Return the run `run_id` as the plan has it; one of a search as its row has it, under the key of that."""
        if not self._results.is_search:
            return RunRequest.of(self._plan, self._plan.run(run_id))
        request = recorded_request(self._results, run_id)
        return replace(request, run_key=run_key(self._plan, request.config, request.run.seed))

    def report(self) -> VerifyReport:
        """Return what was found so far."""
        done = self._run_ids[: len(self._run_ids) - len(self._left) - (self._cursor is not None)]
        check, differences = self._check, tuple(self._differences)
        remarks = tuple(_remarks(self._results, self._plan, has_differences=bool(differences)))
        if check is None:
            return VerifyReport(run_ids=done, cells=self._cells, differences=differences, remarks=remarks)
        return VerifyReport(
            run_ids=done,
            cells=self._cells + check.cells,
            differences=(*differences, *check.differences),
            batches=check.batches,
            table_differences=tuple(check.table_differences),
            remarks=(*remarks, *check.remarks()),
        )

    def _compare(self, outcome: RunOutcome) -> None:
        run_id = outcome.run.run_id
        (row,) = RecordReader(io.BytesIO(self._table.row(outcome)), RUNS, number=2)
        rerun = row.fields
        for position, name, recorded, text in _result_cells(self._results, self._rows[run_id], rerun):
            self._cells += 1
            is_text = name in self._texts
            if not is_equal(recorded, text, is_text=is_text, is_last=position == len(rerun) - 1):
                self._differences.append(Difference(run_id, RUNS, name, None, recorded, text))
        self._compare_series(run_id, outcome.series)
        for id, rerun_table in outcome.tables.items():
            self._compare_table(run_id, id, rerun_table)

    def _compare_series(self, run_id: int, rerun: Series) -> None:
        recorded = self._results.series(run_id)
        # What a table keeps of a value that is not finite is an empty field.
        values = np.where(np.isfinite(rerun.values), rerun.values, np.nan)
        written = dict(zip(recorded.ticks.tolist(), recorded.values, strict=True))
        came = dict(zip(rerun.ticks.tolist(), values, strict=True))
        for tick in sorted(written.keys() | came.keys()):
            self._cells += len(recorded.columns)
            if tick not in written or tick not in came:
                texts = ("a row" if tick in rows else None for rows in (written, came))
                self._differences.append(Difference(run_id, SERIES, "series", tick, *texts))
                continue
            is_equal = (written[tick] == came[tick]) | (np.isnan(written[tick]) & np.isnan(came[tick]))
            for column in np.flatnonzero(~is_equal):
                pair = (number_text(written[tick][column]), number_text(came[tick][column]))
                self._differences.append(Difference(run_id, SERIES, recorded.columns[column], tick, *pair))

    def _compare_table(self, run_id: int, id: str, rerun: RunTable) -> None:
        table = self._results.table(id)
        file = table.file
        written, came = table.texts_of(run_id), field_columns(rerun.data, file)
        self._cells += len(came[0]) * len(table.columns)
        if written[1] != came[1]:
            self._differences += _count_differences(run_id, file.name, written[1], came[1])
            return
        for name, mine, other in zip(table.columns, written[2:], came[2:], strict=True):
            is_text = table.kinds[name] in (ColumnKind.TEXT, ColumnKind.BOOL)
            for tick, recorded, text in zip(came[1], mine, other, strict=True):
                if not is_equal(recorded, text, is_text=is_text, is_last=False):
                    self._differences.append(Difference(run_id, file.name, name, int(tick), recorded, text))


def _count_differences(run_id: int, table: str, recorded: list[str], rerun: list[str]) -> Iterator[Difference]:
    """Yield the ticks at which two lists of ticks, one a row, have different numbers of rows."""
    counts = Counter(map(int, recorded)), Counter(map(int, rerun))
    for tick in sorted(counts[0].keys() | counts[1].keys()):
        if counts[0][tick] != counts[1][tick]:
            yield Difference(run_id, table, "rows", tick, *(counted(count[tick], "row") for count in counts))


def _recorded_rows(results: RecordedResults, run_ids: Sequence[int]) -> dict[int, list[str]]:
    """Return the fields of some rows as they are written."""
    wanted = {str(run_id) for run_id in run_ids}
    with results.reader(RUNS)() as stream:
        rows = (record.fields for record in RecordReader(stream, RUNS))
        return {int(fields[0]): fields for fields in rows if fields[0] in wanted}


def _result_cells(
    results: RecordedResults, recorded: Sequence[str], rerun: Sequence[str]
) -> Iterator[tuple[int, str, str, str]]:
    """Yield position, column and both texts of every cell of a row that is a result."""
    timings = RunsColumns.of(results.runs.columns).timings
    for position, (name, mine, other) in enumerate(zip(results.runs.columns, recorded, rerun, strict=True)):
        if position not in timings:
            yield position, name, mine, other


def _model_changes(results: RecordedResults) -> Iterator[str]:
    """Yield which files of the model's own code are others than those that wrote the rows."""
    manifest = results.manifest
    if not manifest.sessions:
        return
    texts = [session.model_source for session in manifest.sessions if isinstance(session.model_source, str)]
    names = [name for text in texts for name, _ in files_of_source(text)]
    now = msgspec.structs.replace(manifest.sessions[-1], model_source=model_source(results.entry, names=names))
    for change in build_warnings(manifest.sessions, now, status=manifest.status):
        if isinstance(change, BuildChanged) and change.role is BuildRole.MODEL:
            yield str(change)


def _remarks(results: RecordedResults, plan: Plan, *, has_differences: bool) -> Iterator[str]:
    manifest, metadata, search = results.manifest, results.entry.metadata, plan.spec.search
    if search is not None and search.algorithm is SearchAlgorithm.CUSTOM:
        yield f"the search was not followed: its searcher '{search.name}' is a program's own"
    if plan.plan_hash != manifest.plan.plan_hash:
        yield f"the plan made from the spec has the hash {plan.plan_hash}, recorded is {manifest.plan.plan_hash}"
    changes = tuple(_model_changes(results))
    yield from changes
    if not metadata.replays_exactly or manifest.model.replays_exactly is False:
        yield f"model '{results.entry.id}' does not promise that equal inputs give equal results"
    elif not metadata.portable or manifest.model.portable is False:
        yield f"model '{results.entry.id}' does not promise equal results on another platform than the one that ran it"
    elif has_differences and not changes:
        yield (
            f"model '{results.entry.id}' may depend on more than its parameters, seed, actions and steps: "
            "henad check, or henad_web.testing.check_model, tells"
        )
    timed_out = int(np.count_nonzero(results.runs["status"] == RunStatus.TIMED_OUT.value))
    if timed_out:
        runs = "1 run that timed out was" if timed_out == 1 else f"{timed_out} runs that timed out were"
        yield f"{runs} left out of the choice"
