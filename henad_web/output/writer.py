"""Writes the files of a sweep, in the order that loses nothing, with the rows that are copied from tables before.

Owns that order: a run's rows in its model's own tables and in the series go before its row, what a search says of a
batch before the batch's row, the summary before the manifest that calls the sweep ended. Owns too which bytes of a
copied row change when another plan numbers its run: the four ids at its start, and the id at the start of each of its
rows elsewhere. Cells that are results are copied as they stand; quotes that need not be, and other line ends, are not.
Knows no file system (`store`) and no formats (`tables`, `own_tables`, `search_tables`, `summary`, `manifest`).
"""

from __future__ import annotations

import io
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from msgspec.structs import replace

from henad_web.errors import TableChangedError
from henad_web.output.build import BuildRecord, model_source
from henad_web.output.manifest import Manifest, ManifestStatus, ResultsRecord, rfc3339
from henad_web.output.names import MANIFEST, RUNS, SERIES, SUMMARY
from henad_web.output.own_tables import own_files, own_rows
from henad_web.output.record import Counts, SweepEnd
from henad_web.output.records import RecordReader, canonical_records
from henad_web.output.run_spans import SpanBuilder
from henad_web.output.summary import summary_table
from henad_web.output.table_index import SeriesCadence
from henad_web.output.table_rows import WrittenRows, all_rows
from henad_web.output.tables import RunsTable, SeriesTable

if TYPE_CHECKING:
    from henad_web.explore.outcomes import RunOutcome
    from henad_web.explore.plan import Plan
    from henad_web.model.entry import ModelEntry
    from henad_web.output.record import SearchReport
    from henad_web.output.search_tables import SearchTables
    from henad_web.output.store import FileStore, ResultsReader
    from henad_web.output.table_rows import KeptTables, TableRows
    from henad_web.search.update import SearchUpdate

__all__ = [
    "CHUNK_BYTES",
    "PlanNumbering",
    "ResultsWriter",
    "copied_tables",
    "copy_groups",
    "copy_rows",
]

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
        search: The tables of a search, None for a sweep.
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
        search: SearchTables | None = None,
    ) -> None:
        self._search = search
        self._search_report: SearchReport | None = None
        self._store, self._wall_clock, self._entry, self._plan, self._kept = store, wall_clock, entry, plan, kept
        self._manifest, columns = manifest, manifest.columns
        self._runs, self._series = RunsTable(plan, columns.reducers), SeriesTable(columns.stats)
        own = {file.name: file.first_line for file in own_files(columns)}
        self._headers = {RUNS: self._runs.header, SERIES: self._series.header, **own}
        self._ran, self._counts, self._is_open = 0, Counts(), False
        self._last_id, self._is_in_order, self._has_kept, self._ran_ids = -1, True, False, SpanBuilder()
        self._rows = WrittenRows(tuple(self._headers)) if kept is None and not plan.spec.run.is_in_plan_order else None
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

    @property
    def search_report(self) -> SearchReport | None:
        """What a search came to, once `finishing` is through; None of a sweep."""
        return self._search_report

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
            for name, header in {**self._headers, **self._searched}.items():
                self._store.create(name, header)
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
                for name, end in {RUNS: kept.ends.runs, SERIES: kept.ends.series, **kept.ends.own}.items():
                    self._store.adopt(name, end)
            self._has_kept = True
        for name, header in self._searched.items():
            self._begin_anew(name, header)
        self._store.sync()

    @property
    def _searched(self) -> Mapping[str, bytes]:
        """The tables of a search that grow, which follow from the runs: first line by name."""
        return {} if self._search is None else self._search.growing

    def _begin_anew(self, name: str, header: bytes) -> None:
        if not self._store.holds(name):
            self._store.create(name, header)
            return
        self._store.adopt(name, 0)
        self._store.append(name, header)
        self._store.flush()

    def _rewriting(self, reader: ResultsReader, rows: TableRows, numbering: PlanNumbering | None) -> Iterator[float]:
        """Make the tables anew of the `rows` of `reader`, some at a time; yield the share done."""
        size = sum(map(len, self._headers.values())) + rows.byte_count
        done = told = 0
        tables = copied_tables(reader, rows, self._headers, numbering)
        for number, chunk in enumerate(self._store.rewriting(tables), start=1):
            done += chunk
            if done - told >= _PIECE_BYTES or number % _PIECE_ROWS == 0:
                told = done
                yield min(done / size, 1.0)

    def write_run(self, outcome: RunOutcome) -> None:
        """Write the rows of one run in its model's own tables, its series rows, then its row, and hand them over.

        Raises:
            OutputFullError: There is no room and nothing was written; call again once there is.
            OutputError: The place cannot be written.
        """
        series = self._series.rows(outcome.run.run_id, outcome.series)
        added = {**own_rows(outcome), SERIES: series, RUNS: self._runs.row(outcome)}
        for name, rows in added.items():
            if rows:
                self._store.append(name, rows)
        self._store.flush()
        self._counts = self._counts.plus(outcome.status)
        self._ran += 1
        if self._rows is not None:
            self._rows.add(outcome.run.run_id, [len(added[name]) for name in self._headers])
        self._is_in_order = self._is_in_order and outcome.run.run_id > self._last_id
        self._last_id = max(self._last_id, outcome.run.run_id)
        self._ran_ids.add(outcome.run.run_id)

    def write_batch(self, update: SearchUpdate) -> Iterator[None]:
        """Write the rows of a batch that a search was told, in pieces, and hand them over behind the last.

        Yields:
            None after each bounded piece of work. An iterator that raised is started over.

        Raises:
            OutputFullError: There is no room and nothing was written; iterate anew once there is.
            OutputError: The place cannot be written.
        """
        if self._search is None:
            return
        for name, rows in (yield from self._search.rows(update)).items():
            self._store.append(name, rows)
        self._store.flush()
        self._search.written(update)

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
        if self._search is not None:
            for _ in self._store.replacing(self._search.outcome.name, self._outcome(self._search)):
                yield already
        with self._store.reader(RUNS) as runs:
            size = runs.seek(0, os.SEEK_END)
            runs.seek(0)
            for _ in self._store.replacing(SUMMARY, summary_table(runs, self._plan.spec.run.adaptive)):
                if runs.tell() < size:
                    yield already + (1.0 - already) * runs.tell() / size
        self._store.check_tables()
        self._write(self._ended(_STATUS[end], ResultsRecord.of(self._counts)))

    def _outcome(self, search: SearchTables) -> Iterator[bytes]:
        self._search_report = yield from search.outcome_rows()

    def _ordered_rows(self) -> TableRows:
        """Return every row in plan order, by where this writer put it, or where it is found among kept ones."""
        if self._rows is None:
            return all_rows(self._store, self._manifest, SeriesCadence.of(self._plan.spec))
        return self._rows.in_order([len(header) for header in self._headers.values()], self._counts)

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
            search=None if self._search is None else self._search.standing(),
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


CHUNK_BYTES = 1 << 20
"""Most bytes that unchanged rows are read and written at once."""

Change = Callable[[bytes], bytes]
Stretch = tuple[int, int, Change | None]
"""Offset of the first byte of a row or rows, offset behind the last, and what changes in them; None for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanNumbering:
    """How a plan numbers its runs.

    Attributes:
        replicates: Runs of each config.
        first_configs: First config of each block, ascending.
    """

    replicates: int
    first_configs: Sequence[int]

    @classmethod
    def of(cls, plan: Plan) -> PlanNumbering:
        """Return how `plan` numbers its runs."""
        return cls(replicates=plan.replicates, first_configs=tuple(block.first_config for block in plan.blocks))

    def prefix(self, run_id: int) -> bytes:
        """Return the fields ``run_id,config_id,block,rep,`` of the run `run_id`."""
        config_id, rep = divmod(run_id, self.replicates)
        block = bisect_right(self.first_configs, config_id) - 1
        return b"%d,%d,%d,%d," % (run_id, config_id, block, rep)


def copied_tables(
    reader: ResultsReader, rows: TableRows, headers: Mapping[str, bytes], numbering: PlanNumbering | None
) -> dict[str, Iterable[bytes]]:
    """Return the tables of the `rows` of `reader`, as chunks that are read when they are asked for.

    Args:
        reader: Where the rows stand.
        rows: The rows, in the order they are to have.
        headers: First line of each table by its name: runs.csv, then those with any number of rows a run.
        numbering: That of the plan whose ids they get, None to leave ids as they are.
    """
    copies = {name: partial(copy_groups, name=name, rows=rows) for name in headers if name != RUNS}
    copies[RUNS] = partial(copy_rows, rows=rows, numbering=numbering)
    return {name: _table(reader, name, header, copies[name]) for name, header in headers.items()}


def _table(
    reader: ResultsReader, name: str, header: bytes, copy: Callable[[BinaryIO], Iterator[bytes]]
) -> Iterator[bytes]:
    yield header
    if reader.holds(name):
        with reader.reader(name) as stream:
            yield from copy(stream)


def copy_rows(runs: BinaryIO, *, rows: TableRows, numbering: PlanNumbering | None) -> Iterator[bytes]:
    """Yield the rows of runs.csv that `rows` names, in its order.

    Args:
        runs: The table they stand in.
        rows: Which rows, and the ids they get.
        numbering: That of the plan they move into, None to leave ids as they are.
    """

    def stretches() -> Iterator[Stretch]:
        for run_id, start, end in zip(rows.run_ids, rows.run_starts, rows.run_ends, strict=True):
            move = None if numbering is None else _moved(numbering, int(run_id))
            yield int(start), int(end), _rewritten(RUNS, move, is_canonical=rows.runs_are_canonical)

    return _copied(runs, stretches())


def copy_groups(table: BinaryIO, *, name: str, rows: TableRows) -> Iterator[bytes]:
    """Yield the rows of the runs that `rows` names in a table with any number of rows a run, under their new ids.

    Args:
        table: The table.
        name: Name of its file.
        rows: Which runs, in the order they are to have, and the ids they get.
    """
    found = rows.stretches(name)

    def stretches() -> Iterator[Stretch]:
        ids = zip(rows.run_ids, rows.written_ids, strict=True)
        for (run_id, written_id), start, end in zip(ids, found.starts, found.ends, strict=True):
            if end > start:
                move = None if run_id == written_id else _renumbered(name, int(written_id), int(run_id))
                yield int(start), int(end), _rewritten(name, move, is_canonical=found.is_canonical)

    return _copied(table, stretches())


def _rewritten(table: str, move: Change | None, *, is_canonical: bool) -> Change | None:
    """Return what `move` does with rows of `table`, done with the bytes that a sweep would have written."""
    if is_canonical:
        return move
    if move is None:
        return lambda rows: canonical_records(rows, table)
    return lambda rows: move(canonical_records(rows, table))


def _moved(numbering: PlanNumbering, run_id: int) -> Change:
    # Ids at the start of a canonical row are never quoted, so that the first four commas are theirs.
    return lambda row: numbering.prefix(run_id) + row.split(b",", 4)[4]


def _renumbered(table: str, written_id: int, run_id: int) -> Change:
    old, new = b"%d," % written_id, b"%d," % run_id

    def change(rows: bytes) -> bytes:
        if b'"' in rows:  # a quoted cell may hold anything, the start of a row too
            return b"".join(new + record.raw[len(old) :] for record in RecordReader(io.BytesIO(rows), table, number=2))
        return new + rows[len(old) :].replace(b"\n" + old, b"\n" + new)

    return change


def _copied(stream: BinaryIO, stretches: Iterable[Stretch]) -> Iterator[bytes]:
    for start, end, change in _joined(stretches):
        stream.seek(start)
        if change is None:
            yield from _blocks(stream, end - start)
        else:
            yield change(stream.read(end - start))


def _joined(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Join neighbouring stretches of which nothing changes, so that they are read at once."""
    held: Stretch | None = None
    for stretch in stretches:
        if held is not None and held[1] == stretch[0] and held[2] is stretch[2] is None:
            held = (held[0], stretch[1], None)
            continue
        if held is not None:
            yield held
        held = stretch
    if held is not None:
        yield held


def _blocks(stream: BinaryIO, size: int) -> Iterator[bytes]:
    while size > 0:
        block = stream.read(min(size, CHUNK_BYTES))
        if not block:
            return
        size -= len(block)
        yield block
