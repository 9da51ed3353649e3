"""Walking xorshift64 streams in bulk: one long stream, or a stream of its own for every row of a grid.

A walk costs six array operations a draw whatever the number of streams, so streams are first cut into segments that
are walked side by side, each started by a jump. What is drawn never depends on how it was cut.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from henad_web.randomness.scalar import CHUNK_FACTOR, MASK64, TICK_FACTOR, xorshift64

__all__ = [
    "Jump",
    "chunk_factors",
    "chunk_seeds",
    "jump_of",
    "many_bits",
    "row_words",
    "stream_bits",
    "xorshift64_array",
]

_TABLE_OFFSETS = (np.arange(8, dtype=np.intp) * 256)[:, np.newaxis]


class Jump:
    """A fixed number of steps of xorshift64, done at once.

    A step is linear over GF(2): the state after d steps is a fixed 64 by 64 bit matrix times the state. A jump holds
    the matrix as eight tables, one for each byte of a state, so that it costs eight look-ups and seven xors a state.

    Attributes:
        columns: Image of each single-bit state, uint64 ``(64,)``; read-only by agreement.
    """

    __slots__ = ("_table", "columns")

    def __init__(self, columns: NDArray[np.uint64]) -> None:
        self.columns = columns
        table = np.zeros((8, 256), np.uint64)
        by_byte = columns.reshape(8, 8)
        for bit in range(8):
            half = 1 << bit
            np.bitwise_xor(table[:, :half], by_byte[:, bit : bit + 1], table[:, half : 2 * half])
        self._table = table.reshape(-1)

    def __call__(self, states: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return `states`, uint64 ``(n,)``, each moved ahead."""
        octets = np.ascontiguousarray(states).view(np.uint8).reshape(-1, 8)
        # Positions of numpy's own index type: any other is converted again inside the look-up.
        positions = np.empty((8, states.size), np.intp)
        np.add(octets.T, _TABLE_OFFSETS, positions)
        moved: NDArray[np.uint64] = np.bitwise_xor.reduce(self._table[positions], axis=0)
        return moved

    def after(self, first: Jump) -> Jump:
        """Return the jump that does `first` and then this one."""
        return Jump(self(first.columns))

    def scalar(self, state: int) -> int:
        """Return one state moved ahead."""
        return int(self(np.array([state], np.uint64))[0])


@lru_cache(maxsize=64)
def _power_of_two(exponent: int) -> Jump:
    if exponent == 0:
        return Jump(np.array([xorshift64(1 << bit) for bit in range(64)], np.uint64))
    half = _power_of_two(exponent - 1)
    return half.after(half)


@lru_cache(maxsize=64)
def jump_of(distance: int) -> Jump:
    """Return the jump over `distance` steps, 0 or more."""
    jump = Jump(np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64)))
    for exponent in range(distance.bit_length()):
        if distance >> exponent & 1:
            jump = _power_of_two(exponent).after(jump)
    return jump


_SHIFT_13 = np.array(13, np.uint64)
_SHIFT_7 = np.array(7, np.uint64)
_SHIFT_17 = np.array(17, np.uint64)
_ONE = np.array(1, np.uint64)

_BLOCK_DRAWS = 1 << 17
# Long streams side by side: a band of them is written once and read once, and stays in the cache (measured: of 2^14 to
# 2^17 draws this is fastest, and alone does not wait for fresh pages).
_BAND_DRAWS = 1 << 15
# Rows of a walk lie this many states further apart than needed. Rows a power of two apart share cache sets, and
# reading across them was measured three to six times slower.
_GAP = 8
_SHORTEST, _LONGEST = 8, 32


def xorshift64_array(states: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the state after each of `states`."""
    moved = states ^ (states << _SHIFT_13)
    moved ^= moved >> _SHIFT_7
    moved ^= moved << _SHIFT_17
    return moved


def chunk_factors(count: int) -> NDArray[np.uint64]:
    """Return what tells the streams of the first `count` chunks apart, uint64 ``(count,)``."""
    return np.arange(count, dtype=np.uint64) * np.array(CHUNK_FACTOR, np.uint64)


def chunk_seeds(base: int | NDArray[np.uint64], tick: int, factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the state that each chunk's stream starts from in the step at `tick`.

    Args:
        base: Base of the tick streams; for several runs one each, uint64 ``(runs, 1)``.
        tick: Steps done before this one.
        factors: `chunk_factors` of the chunks.

    Returns:
        uint64 ``(chunks,)``, for several runs ``(runs, chunks)``.
    """
    mixed = tick * TICK_FACTOR & MASK64
    common = np.array(base ^ mixed, np.uint64) if isinstance(base, int) else base ^ np.array(mixed, np.uint64)
    return xorshift64_array((factors ^ common) | _ONE)


def stream_bits(state: int, count: int) -> tuple[NDArray[np.uint32], int]:
    """Return the next `count` 32-bit words of the stream at `state`, uint32 ``(count,)``, and the state after them."""
    words = np.empty(count, np.uint32)
    for first in range(0, count, _BLOCK_DRAWS):
        block = words[first : first + _BLOCK_DRAWS]
        states = _walk(np.array([state], np.uint64), block.size)
        block[:] = _in_order(states).reshape(-1)[: block.size]
        segment, draw = divmod(block.size - 1, states.shape[0])
        state = int(states[draw, segment])
    return words, state


def many_bits(states: NDArray[np.uint64], counts: NDArray[np.integer]) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    """Return the next words of many streams, as `stream_bits` does of one.

    Args:
        states: State of each stream, uint64 ``(streams,)``.
        counts: Words wanted of each, ``(streams,)``.

    Returns:
        32-bit words, each stream's together, uint32 ``(sum of counts,)``, and the states after them, ``(streams,)``.
    """
    words, after = np.empty(int(counts.sum()), np.uint32), states.copy()
    ends = np.cumsum(counts)
    for first, end in _bands(counts, _BAND_DRAWS):
        begin = int(ends[first] - counts[first])
        if end - first == 1:  # alone it may be longer than a block
            words[begin : int(ends[first])], after[first] = stream_bits(int(states[first]), int(counts[first]))
            continue
        walked = _walk(states[first:end], int(counts[first:end].max()))
        words[begin : int(ends[end - 1])] = _band_words(walked, counts[first:end])
        drawing = np.flatnonzero(counts[first:end])
        segment, draw = np.divmod(counts[first:end][drawing] - 1, walked.shape[0])
        after[first + drawing] = walked[draw, drawing * (walked.shape[1] // (end - first)) + segment]
    return words, after


def row_words(starts: NDArray[np.uint64], counts: NDArray[np.integer]) -> NDArray[np.uint32]:
    """Return the first words of many streams, each stream's words together, in the order of the streams.

    Args:
        starts: State each stream starts from, uint64 ``(streams,)``.
        counts: Words wanted of each stream, ``(streams,)``.

    Returns:
        32-bit words, uint32 ``(sum of counts,)``.
    """
    words = [
        _band_words(_walk(starts[first:end], int(counts[first:end].max())), counts[first:end])
        for first, end in _bands(counts, _BLOCK_DRAWS)
    ]
    return words[0] if len(words) == 1 else np.concatenate([np.empty(0, np.uint32), *words])


def _bands(counts: NDArray[np.integer], draws: int) -> list[tuple[int, int]]:
    """Return where to cut the streams so that those of a band walk about `draws` together; none without a draw."""
    most = int(counts.max(initial=0))
    if most == 0:
        return []
    streams = max(1, draws // most)
    bands = [(first, min(first + streams, counts.size)) for first in range(0, counts.size, streams)]
    return [band for band in bands if len(bands) == 1 or counts[slice(*band)].any()]


def _band_words(states: NDArray[np.uint64], counts: NDArray[np.integer]) -> NDArray[np.uint32]:
    """Return the first words of the streams that were walked to `states`, `counts` of each."""
    length = states.shape[0]
    segments = states.shape[1] // counts.size
    if segments == 1:
        filled = counts
    else:
        filled = (counts[:, np.newaxis] - np.arange(0, segments * length, length)).reshape(-1)
        np.maximum(filled, 0, out=filled)
        np.minimum(filled, length, out=filled)
    wanted = _first_columns(length).take(filled, axis=0)
    words: NDArray[np.uint32] = _in_order(states)[wanted]
    return words


@lru_cache(maxsize=64)
def _first_columns(length: int) -> NDArray[np.bool_]:
    """Return a table whose row k is true in its first k columns, ``(length + 1, length)``."""
    return np.tri(length + 1, length, -1, dtype=np.bool_)


def _walk(starts: NDArray[np.uint64], most: int) -> NDArray[np.uint64]:
    """Walk each of `starts` by `most` steps or more.

    Returns:
        uint64 ``(length, streams * segments)``: column ``stream * segments + segment`` holds the states of a segment,
        and the segments of a stream follow each other.
    """
    length = _segment_length(starts.size, most)
    segments = -(-most // length)
    if segments == 1:
        length, columns = most, starts
    else:
        columns = _segment_starts(starts, segments, length).T.reshape(-1)
    states = np.empty((length, columns.size + _GAP), np.uint64)[:, : columns.size]
    _fill(states, columns)
    return states


def _segment_length(streams: int, most: int) -> int:
    """Return how many draws a segment should hold.

    A longer segment makes more array operations, a shorter one more jumps. With the costs measured on both targets
    the sum is least near the square root of a hundredth of the draws.
    """
    length = _SHORTEST
    while length < _LONGEST and 2 * length * length < streams * most // 100:
        length *= 2
    return length


def _segment_starts(starts: NDArray[np.uint64], segments: int, length: int) -> NDArray[np.uint64]:
    """Return uint64 ``(segments, streams)``: row s is `starts` moved ahead by s * length steps."""
    rows = np.empty((segments, starts.size), np.uint64)
    rows[0] = starts
    done = 1
    while done < segments:
        more = min(done, segments - done)
        rows[done : done + more] = jump_of(done * length)(rows[:more].reshape(-1)).reshape(more, -1)
        done += more
    return rows


def _fill(states: NDArray[np.uint64], start: NDArray[np.uint64]) -> None:
    """Fill row j of `states` with `start` moved ahead by j + 1 steps."""
    first, second = np.empty_like(start), np.empty_like(start)
    left, right, differ = np.left_shift, np.right_shift, np.bitwise_xor
    shift_13, shift_7, shift_17 = _SHIFT_13, _SHIFT_7, _SHIFT_17
    state = start
    for moved in states:
        left(state, shift_13, first)
        differ(first, state, first)
        right(first, shift_7, second)
        differ(first, second, second)
        left(second, shift_17, first)
        differ(first, second, moved)
        state = moved


def _in_order(states: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the word of each state, the upper half, segment after segment: uint32 ``(columns, length)``."""
    words = np.empty(states.shape[::-1], np.uint32)
    words[...] = states.view(np.uint32)[:, 1::2].T
    return words
