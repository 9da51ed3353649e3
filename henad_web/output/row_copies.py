"""Rows copied from tables that are there into new ones, in plan order and under their new ids.

Owns which bytes of a row change when another plan numbers its run: the four ids at its start, and the id at the start
of each of its series rows. Cells that are results are copied as they stand; quotes that need not be, and other line
ends, are not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from henad_web.output.names import RUNS, SERIES
from henad_web.output.records import canonical_records

if TYPE_CHECKING:
    from henad_web.explore.plan import Plan
    from henad_web.output.store import ResultsReader
    from henad_web.output.table_rows import TableRows

__all__ = ["CHUNK_BYTES", "PlanNumbering", "copied_tables", "copy_rows", "copy_series"]

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
    reader: ResultsReader, rows: TableRows, headers: tuple[bytes, bytes], numbering: PlanNumbering | None
) -> dict[str, Iterable[bytes]]:
    """Return runs.csv and series.csv of the `rows` of `reader`, as chunks that are read when they are asked for.

    Args:
        reader: Where the rows stand.
        rows: The rows, in the order they are to have.
        headers: First lines of both tables.
        numbering: That of the plan whose ids they get, None to leave ids as they are.
    """
    return {
        RUNS: _table(reader, RUNS, headers[0], lambda stream: copy_rows(stream, rows, numbering)),
        SERIES: _table(reader, SERIES, headers[1], lambda stream: copy_series(stream, rows)),
    }


def _table(
    reader: ResultsReader, name: str, header: bytes, copy: Callable[[BinaryIO], Iterator[bytes]]
) -> Iterator[bytes]:
    yield header
    if reader.holds(name):
        with reader.reader(name) as stream:
            yield from copy(stream)


def copy_rows(runs: BinaryIO, rows: TableRows, numbering: PlanNumbering | None) -> Iterator[bytes]:
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


def copy_series(series: BinaryIO, rows: TableRows) -> Iterator[bytes]:
    """Yield the rows of series.csv of the runs that `rows` names, in its order and under their new ids."""

    def stretches() -> Iterator[Stretch]:
        ids = zip(rows.run_ids, rows.written_ids, strict=True)
        for (run_id, written_id), start, end in zip(ids, rows.series_starts, rows.series_ends, strict=True):
            if end > start:
                move = None if run_id == written_id else _renumbered(int(written_id), int(run_id))
                yield int(start), int(end), _rewritten(SERIES, move, is_canonical=rows.series_are_canonical)

    return _copied(series, stretches())


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


def _renumbered(written_id: int, run_id: int) -> Change:
    old, new = b"%d," % written_id, b"%d," % run_id
    # Cells are numbers: a line feed followed by the id is the start of a row.
    return lambda rows: new + rows[len(old) :].replace(b"\n" + old, b"\n" + new)


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
