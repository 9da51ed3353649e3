"""Writes the four files of a sweep, in the order that loses nothing.

Owns that order: a run's series rows go before its row, the summary before the manifest that calls the sweep
ended. Knows no file system (`store`) and no formats (`tables`, `summary`, `manifest`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from henad_web.errors import TableChangedError
from henad_web.explore.spec import RunOrder
from henad_web.output.build import BuildRecord, model_source
from henad_web.output.manifest import Manifest, ManifestStatus, ResultsRecord, rfc3339
from henad_web.output.names import MANIFEST, RUNS, SERIES, SUMMARY
from henad_web.output.record import Counts, SweepEnd
from henad_web.output.row_copies import PlanNumbering, copied_tables
from henad_web.output.spans import SpanBuilder
from henad_web.output.summary import summary_table
from henad_web.output.table_index import SeriesCadence
from henad_web.output.table_rows import WrittenRows, all_rows
from henad_web.output.tables import RunsTable, SeriesTable

if TYPE_CHECKING:
    from henad_web.explore.outcomes import RunOutcome
    from henad_web.explore.plan import Config, Plan
    from henad_web.model.entry import ModelEntry
    from henad_web.output.store import FileStore, ResultsReader
    from henad_web.output.table_rows import KeptTables, TableRows

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
        manifest: The manifest to begin with, as `first_manifest` makes it.
        wall_clock: Seconds since 1970, such as `time.time`; read at the end.
        kept: Rows that are kept instead of being run, None for none.
        config_of: Gives the config of a run by its id; those of `plan` when None.
    """

    def __init__(
        self,
        store: FileStore,
        *,
        plan: Plan,
        entry: ModelEntry,
        manifest: Manifest,
        wall_clock: Callable[[], float],
        kept: KeptTables | None = None,
        config_of: Callable[[int], Config] | None = None,
    ) -> None:
        self._store, self._wall_clock, self._entry, self._plan, self._kept = store, wall_clock, entry, plan, kept
        self._manifest, columns = manifest, manifest.columns
        self._runs, self._series = RunsTable(plan, columns.reducers, config_of), SeriesTable(columns.stats)
        self._ran, self._counts, self._is_open = 0, Counts(), False
        self._last_id, self._is_in_order, self._has_kept, self._ran_ids = -1, True, False, SpanBuilder()
        self._rows = WrittenRows() if kept is None and plan.spec.run.order is not RunOrder.DEPTH else None
        if kept is not None:
            self._counts, self._last_id = kept.rows.counts, kept.rows.last_id
            self._is_in_order = kept.ends is None or kept.rows.is_in_order

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
        kept = self._kept
        stamp = None if kept is None else kept.stamp
        lines = self._store.open() if stamp is None else self._store.open_existing(stamp)
        self._is_open = True
        self._write(self._manifest)
        if kept is None:
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
        kept = self._kept
        if kept is None:
            return
        if not self._has_kept:  # rows are told by their positions in the old tables, so that once must be enough
            if kept.ends is None:
                stays = kept.is_own and kept.rows.has_written_ids
                yield from self._rewriting(kept.reader, kept.rows, None if stays else PlanNumbering.of(self._plan))
            else:
                self._store.adopt(RUNS, kept.ends.runs)
                self._store.adopt(SERIES, kept.ends.series)
            self._has_kept = True
        self._store.sync()

    def _rewriting(self, reader: ResultsReader, rows: TableRows, numbering: PlanNumbering | None) -> Iterator[float]:
        """Make the tables anew of the `rows` of `reader`, some at a time; yield the share done."""
        headers = (self._runs.header, self._series.header)
        size = sum(map(len, headers)) + rows.byte_count
        done = told = 0
        tables = copied_tables(reader, rows, headers, numbering)
        for number, chunk in enumerate(self._store.rewriting(tables), start=1):
            done += chunk
            if done - told >= _PIECE_BYTES or number % _PIECE_ROWS == 0:
                told = done
                yield min(done / size, 1.0)

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
        if self._rows is not None:
            self._rows.add(outcome.run.run_id, len(row), len(rows))
        self._is_in_order = self._is_in_order and outcome.run.run_id > self._last_id
        self._last_id = max(self._last_id, outcome.run.run_id)
        self._ran_ids.add(outcome.run.run_id)

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
        self._write(self._ended(_STATUS[end], ResultsRecord.of(self._counts)))

    def _ordered_rows(self) -> TableRows:
        """Return every row in plan order, by where this writer put it, or where it is found among kept ones."""
        if self._rows is None:
            return all_rows(self._store, self._manifest, SeriesCadence.of(self._plan.spec))
        return self._rows.in_order(len(self._runs.header), len(self._series.header), self._counts)

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
        *before, session = self._manifest.sessions
        if self._has_rows():
            session = replace(session, ran=self._ran, rows=self._ran_ids.spans())
        if not isinstance(session.model_source, BuildRecord):  # runs may have imported more of the model
            session = replace(session, model_source=model_source(self._entry, session.model_source))
        return replace(
            self._manifest,
            status=status,
            results=results,
            timestamps=replace(self._manifest.timestamps, finished_unix_ms=now, finished=rfc3339(now)),
            sessions=(*before, session),
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
