"""Rows of earlier results copied into new tables, in plan order and under their new ids.

Owns which bytes of a row change when its run gets another place in a plan: the four ids at its start, and the id at the
start of each of its series rows. Cells that are results are copied as they stand; quotes that need not be, and other
line ends, are not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from henad_web.output.names import RUNS, SERIES
from henad_web.output.records import canonical_records

if TYPE_CHECKING:
    from henad_web.output.table_rows import KeptRows

__all__ = ["CHUNK_BYTES", "Places", "copy_rows", "copy_series"]

CHUNK_BYTES = 1 << 20
"""Most bytes that unchanged rows are read and written at once."""

Change = Callable[[bytes], bytes]
Span = tuple[int, int, Change | None]
"""Offset of the first byte of a row or rows, offset behind the last, and what changes in them; None for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where the runs of a plan stand in it.

    Attributes:
        replicates: Runs of each config.
        first_configs: First config of each block, ascending.
    """

    replicates: int
    first_configs: Sequence[int]

    def prefix(self, run_id: int) -> bytes:
        """Return the fields ``run_id,config_id,block,rep,`` of the run `run_id`."""
        config_id, rep = divmod(run_id, self.replicates)
        block = bisect_right(self.first_configs, config_id) - 1
        return b"%d,%d,%d,%d," % (run_id, config_id, block, rep)


def copy_rows(runs: BinaryIO, kept: KeptRows, places: Places | None) -> Iterator[bytes]:
    """Yield the rows of runs.csv that `kept` names, in its order.

    Args:
        runs: The table they stand in.
        kept: Which rows.
        places: The plan they move into, None to leave ids as they are.
    """

    def spans() -> Iterator[Span]:
        for run_id, start, end in zip(kept.run_ids, kept.run_starts, kept.run_ends, strict=True):
            move = None if places is None else _moved(places, int(run_id))
            yield int(start), int(end), _rewritten(RUNS, move, is_canonical=kept.runs_are_canonical)

    return _copied(runs, spans())


def copy_series(series: BinaryIO, kept: KeptRows) -> Iterator[bytes]:
    """Yield the rows of series.csv of the runs that `kept` names, in its order and under their new ids."""

    def spans() -> Iterator[Span]:
        ids = zip(kept.run_ids, kept.written_ids, strict=True)
        for (run_id, written_id), start, end in zip(ids, kept.series_starts, kept.series_ends, strict=True):
            if end > start:
                move = None if run_id == written_id else _renumbered(int(written_id), int(run_id))
                yield int(start), int(end), _rewritten(SERIES, move, is_canonical=kept.series_are_canonical)

    return _copied(series, spans())


def _rewritten(table: str, move: Change | None, *, is_canonical: bool) -> Change | None:
    """Return what `move` does with rows of `table`, done with the bytes that a sweep would have written."""
    if is_canonical:
        return move
    if move is None:
        return lambda rows: canonical_records(rows, table)
    return lambda rows: move(canonical_records(rows, table))


def _moved(places: Places, run_id: int) -> Change:
    # Ids at the start of a canonical row are never quoted, so that the first four commas are theirs.
    return lambda row: places.prefix(run_id) + row.split(b",", 4)[4]


def _renumbered(written_id: int, run_id: int) -> Change:
    old, new = b"%d," % written_id, b"%d," % run_id
    # Cells are numbers: a line feed followed by the id is the start of a row.
    return lambda rows: new + rows[len(old) :].replace(b"\n" + old, b"\n" + new)


def _copied(stream: BinaryIO, spans: Iterable[Span]) -> Iterator[bytes]:
    for start, end, change in _joined(spans):
        stream.seek(start)
        if change is None:
            yield from _blocks(stream, end - start)
        else:
            yield change(stream.read(end - start))


def _joined(spans: Iterable[Span]) -> Iterator[Span]:
    """Join neighbouring spans of which nothing changes, so that they are read at once."""
    held: Span | None = None
    for span in spans:
        if held is not None and held[1] == span[0] and held[2] is span[2] is None:
            held = (held[0], span[1], None)
            continue
        if held is not None:
            yield held
        held = span
    if held is not None:
        yield held


def _blocks(stream: BinaryIO, size: int) -> Iterator[bytes]:
    while size > 0:
        block = stream.read(min(size, CHUNK_BYTES))
        if not block:
            return
        size -= len(block)
        yield block
