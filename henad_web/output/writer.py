"""Writes the four files of a sweep, in the order that loses nothing.

Owns that order: a run's series rows go before its row, the summary before the manifest that calls the sweep
ended. Knows no file system (`store`) and no formats (`tables`, `summary`, `manifest`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from henad_web.errors import TableChangedError
from henad_web.explore.spec import RunOrder
from henad_web.output.build import BuildRecord, files_of_source, model_source
from henad_web.resume.sessions import continued_manifest, kept_tables, ordered_rows, plan_places
from henad_web.output.table_rows import WrittenSpans
from henad_web.output.manifest import Manifest, ManifestStatus, ResultsRecord, rfc3339
from henad_web.output.names import MANIFEST, RUNS, SERIES, SUMMARY
from henad_web.output.first_manifest import execution_record, opening_manifest
from henad_web.output.record import Counts, SweepEnd
from henad_web.output.spans import SpanBuilder
from henad_web.output.summary import summary_table
from henad_web.output.tables import RunsTable, SeriesTable

if TYPE_CHECKING:
    from henad_web.explore.outcomes import RunOutcome
    from henad_web.explore.plan import Plan
    from henad_web.explore.spec_file import SpecSource
    from henad_web.model.entry import ModelEntry
    from henad_web.output.row_copies import Places
    from henad_web.resume.kept_runs import EarlierResults
    from henad_web.output.table_rows import KeptRows
    from henad_web.output.manifest import RuntimeRecord
    from henad_web.output.store import FileStore, ResultsReader
    from henad_web.run.layout import Concurrency
    from henad_web.run.outline import SweepOutline

__all__ = ["ResultsWriter"]

_PIECE_BYTES, _PIECE_ROWS = 1 << 20, 256
"""Bytes and stretches of rows that are copied at once: 1 ms each natively (measured)."""

_STATUS = {
    SweepEnd.COMPLETE: ManifestStatus.COMPLETE,
    SweepEnd.ABORTED: ManifestStatus.ABORTED,
    SweepEnd.DEVICE_LOST: ManifestStatus.INCOMPLETE,
}


class ResultsWriter:
    """The output of one sweep.

    Every method may be called again after it raised `OutputFullError`: nothing it did is then done twice.

    Args:
        store: Where the files go.
        plan: What is run.
        entry: The model.
        spec_source: Where the spec came from, None for one made in memory.
        outline: What the probe settled.
        runtime: What the sweep runs on.
        provenance: Build of the calling program, None when it does not say.
        wall_clock: Seconds since 1970, such as `time.time`; read at the start and at the end.
        argv: Command line, empty without one.
        concurrency: Runs at once, as asked for.
        memory_budget: Host bytes allowed, as asked for.
        gpu_memory_budget: Device bytes allowed, as asked for.
        engine: Build of this package, None for what it can say of itself.
        earlier: Rows that are kept instead of being run, None for none.
    """

    def __init__(
        self,
        store: FileStore,
        *,
        plan: Plan,
        entry: ModelEntry,
        spec_source: SpecSource | None,
        outline: SweepOutline,
        runtime: RuntimeRecord,
        provenance: Mapping[str, str] | None,
        wall_clock: Callable[[], float],
        argv: Sequence[str] = (),
        concurrency: Concurrency = "auto",
        memory_budget: int | None = None,
        gpu_memory_budget: int | None = None,
        engine: BuildRecord | None = None,
        earlier: EarlierResults | None = None,
    ) -> None:
        self._store, self._wall_clock, self._entry, self._plan, self._earlier = store, wall_clock, entry, plan, earlier
        self._runs, self._series = RunsTable(plan, outline.reducer_columns), SeriesTable(outline.stat_columns)
        self._ran, self._counts, self._is_open = 0, Counts(), False
        self._last_id, self._is_in_order, self._has_kept, self._written = -1, True, False, SpanBuilder()
        self._spans = WrittenSpans() if earlier is None and plan.spec.run.order is not RunOrder.DEPTH else None
        execution = execution_record(
            outline, concurrency=concurrency, memory_budget=memory_budget, gpu_memory_budget=gpu_memory_budget
        )
        self._manifest = opening_manifest(
            plan=plan,
            entry=entry,
            outline=outline,
            spec_source=spec_source,
            execution=execution,
            runtime=runtime,
            provenance=provenance,
            argv=tuple(argv),
            started_unix_ms=self._now(),
            engine=engine,
        )
        if earlier is not None:
            self._go_on(earlier)

    @property
    def counts(self) -> Counts:
        """Rows written so far."""
        return self._counts

    @property
    def manifest(self) -> Manifest:
        """The manifest as last written."""
        return self._manifest

    def begin(self) -> tuple[str, ...]:
        """Take the place, say in the manifest that the sweep runs, and start the tables; those that are kept wait.

        The manifest comes first: from then on whatever a killed process leaves can be resumed. `keeping` comes next.

        Returns:
            Lines about what was found there, for the user.

        Raises:
            HoldsResultsError: There are results already.
            LockedError: Another writer is at work.
            OutputFullError: There is no room; call again once there is.
            OutputError: The place cannot be written.
        """
        earlier = self._earlier
        is_own = earlier is not None and earlier.is_own
        lines = self._store.open_existing(earlier.stamp) if earlier and is_own else self._store.open()
        self._is_open = True
        self._write(self._manifest)
        if earlier is None:
            self._store.create(RUNS, self._runs.header)
            self._store.create(SERIES, self._series.header)
            self._store.sync()
        return lines

    def keeping(self) -> Iterator[float]:
        """Mend the tables that are there so that they hold the rows that are kept, and make them durable.

        Yields:
            The share done, 0 to 1, after each bounded piece of work. An iterator that raised is started over.

        Raises:
            OutputFullError: There is no room; iterate anew once there is.
            OutputError: The place cannot be written.
        """
        earlier = self._earlier
        if earlier is None:
            return
        if not self._has_kept:  # rows are told by their places in the old tables, so that once must be enough
            if earlier.ends is None:
                stays = earlier.is_own and earlier.kept.has_written_ids
                places = None if stays else plan_places(self._plan)
                yield from self._rewriting(earlier.reader, earlier.kept, places)
            else:
                self._store.adopt(RUNS, earlier.ends.runs)
                self._store.adopt(SERIES, earlier.ends.series)
            self._has_kept = True
        self._store.sync()

    def _rewriting(self, reader: ResultsReader, kept: KeptRows, places: Places | None) -> Iterator[float]:
        """Make the tables anew of the rows `kept`, some at a time; yield the share done."""
        headers = (self._runs.header, self._series.header)
        size = sum(map(len, headers)) + kept.byte_count
        done = told = 0
        for number, chunk in enumerate(self._store.rewriting(kept_tables(reader, kept, headers, places)), start=1):
            done += chunk
            if done - told >= _PIECE_BYTES or number % _PIECE_ROWS == 0:
                told = done
                yield min(done / size, 1.0)

    def _go_on(self, earlier: EarlierResults) -> None:
        *_, session = self._manifest.sessions
        if not isinstance(session.model_source, BuildRecord):
            names = [name for before in earlier.manifest.sessions for name in _file_names(before.model_source)]
            session = replace(session, model_source=model_source(self._entry, session.model_source, names))
        self._manifest = continued_manifest(replace(self._manifest, sessions=(session,)), earlier)
        self._counts, self._last_id = earlier.kept.counts, earlier.kept.last_id
        self._is_in_order = earlier.ends is None or earlier.kept.is_in_order

    def write_run(self, outcome: RunOutcome) -> None:
        """Write the series rows of one run, then its row, and hand both to the operating system.

        Raises:
            OutputFullError: There is no room and neither was written; call again once there is.
            OutputError: The place cannot be written.
        """
        rows = self._series.rows(outcome.run.run_id, outcome.series)
        if rows:
            self._store.append(SERIES, rows)
        row = self._runs.row(outcome)
        self._store.append(RUNS, row)
        self._store.flush()
        self._counts = self._counts.plus(outcome.status)
        self._ran += 1
        if self._spans is not None:
            self._spans.add(outcome.run.run_id, len(row), len(rows))
        self._is_in_order = self._is_in_order and outcome.run.run_id > self._last_id
        self._last_id = max(self._last_id, outcome.run.run_id)
        self._written.add(outcome.run.run_id)

    def finishing(self, end: SweepEnd) -> Iterator[float]:
        """Bring the rows into plan order, write the summary, then the manifest, and make everything durable.

        Yields:
            The share done, 0 to 1, after each bounded piece of work. An iterator that raised is started over.

        Raises:
            OutputFullError: There is no room; iterate anew once there is.
            OutputError: The place cannot be written.
        """
        self._store.sync()
        already = 0.0
        if not self._is_in_order:
            already = 0.5
            for share in self._rewriting(self._store, self._ordered_rows(), None):
                yield share * already
            self._is_in_order = True
        with self._store.reader(RUNS) as runs:
            size = runs.seek(0, os.SEEK_END)
            runs.seek(0)
            for _ in self._store.replacing(SUMMARY, summary_table(runs)):
                if runs.tell() < size:
                    yield already + (1.0 - already) * runs.tell() / size
        self._store.check_tables()
        counts = self._counts
        results = ResultsRecord(rows=counts.rows, ok=counts.ok, non_finite=counts.non_finite, failed=counts.failed)
        self._write(self._ended(_STATUS[end], results))

    def _ordered_rows(self) -> KeptRows:
        """Return every row in plan order, by where this writer put it, or where it is found with earlier ones."""
        if self._spans is None:
            return ordered_rows(self._store, self._plan, self._manifest)
        return self._spans.rows(len(self._runs.header), len(self._series.header), self._counts)

    def finish(self, end: SweepEnd) -> Manifest:
        """Do all of `finishing` at once and return the manifest; raises as it does."""
        for _ in self.finishing(end):
            pass
        return self._manifest

    def fail(self) -> Manifest:
        """Say in the manifest that the sweep ended on its own error. Rows written so far stay.

        A place that `begin` could not take is somebody else's and is left alone.

        Raises:
            OutputError: Not even that can be written.
        """
        if self._is_open:
            self._write(self._ended(ManifestStatus.FAILED, None))
        return self._manifest

    def _ended(self, status: ManifestStatus, results: ResultsRecord | None) -> Manifest:
        now = self._now()
        *earlier, session = self._manifest.sessions
        if self._has_rows():
            session = replace(session, ran=self._ran, rows=self._written.spans())
        if not isinstance(session.model_source, BuildRecord):  # runs may have imported more of the model
            session = replace(session, model_source=model_source(self._entry, session.model_source))
        return replace(
            self._manifest,
            status=status,
            results=results,
            timestamps=replace(self._manifest.timestamps, finished_unix_ms=now, finished=rfc3339(now)),
            sessions=(*earlier, session),
        )

    def _has_rows(self) -> bool:
        """Return whether the rows that were written are there; a session claims no others."""
        try:
            self._store.check_tables()
        except TableChangedError:
            return False
        return True

    def _write(self, manifest: Manifest) -> None:
        self._store.replace(MANIFEST, [manifest.to_bytes()])
        self._manifest = manifest

    def _now(self) -> int:
        return int(self._wall_clock() * 1000)


def _file_names(source: BuildRecord | str | None) -> list[str]:
    return [name for name, _ in files_of_source(source)] if isinstance(source, str) else []
