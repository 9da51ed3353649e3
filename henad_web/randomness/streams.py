"""Walking xorshift64 streams in bulk: one long stream cut into segments, or a stream for every row of a grid.

A walk costs six array operations a draw whatever the number of streams, so a few long streams are first cut into many
short segments, each started by a jump. What is drawn never depends on how it was cut.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from henad_web.randomness.jump import jump_of
from henad_web.randomness.scalar import CHUNK_FACTOR, MASK64, TICK_FACTOR

__all__ = ["chunk_factors", "chunk_seeds", "row_words", "stream_bits", "xorshift64_array"]

_SHIFT_13 = np.array(13, np.uint64)
_SHIFT_7 = np.array(7, np.uint64)
_SHIFT_17 = np.array(17, np.uint64)
_ONE = np.array(1, np.uint64)
_HIGH_HALF = 1 if bool(np.array([1], np.uint64).view(np.uint32)[0]) else 0

# Measured at 2^20 draws natively: blocks of 2^16 to 2^18 states stay in the cache and tie, larger ones lose a third.
_BLOCK_DRAWS = 1 << 17


def xorshift64_array(states: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the state after each of `states`."""
    moved = states ^ (states << _SHIFT_13)
    moved ^= moved >> _SHIFT_7
    moved ^= moved << _SHIFT_17
    return moved


def walk(start: NDArray[np.uint64], states: NDArray[np.uint64]) -> None:
    """Fill `states`, uint64 ``(draws, n)``: row j is `start`, uint64 ``(n,)``, moved ahead by j + 1 steps."""
    first, second = np.empty_like(start), np.empty_like(start)
    left, right, xor = np.left_shift, np.right_shift, np.bitwise_xor
    shift_13, shift_7, shift_17 = _SHIFT_13, _SHIFT_7, _SHIFT_17
    state = start
    for moved in states:
        left(state, shift_13, first)
        xor(first, state, first)
        right(first, shift_7, second)
        xor(first, second, second)
        left(second, shift_17, first)
        xor(first, second, moved)
        state = moved


def segment_starts(states: NDArray[np.uint64], segments: int, length: int) -> NDArray[np.uint64]:
    """Return uint64 ``(segments, n)``: row s is `states`, uint64 ``(n,)``, moved ahead by s * length steps."""
    starts = np.empty((segments, states.size), np.uint64)
    starts[0] = states
    done = 1
    while done < segments:
        more = min(done, segments - done)
        starts[done : done + more] = jump_of(done * length)(starts[:more].reshape(-1)).reshape(more, -1)
        done += more
    return starts


def stream_bits(state: int, count: int) -> tuple[NDArray[np.uint32], int]:
    """Return the next `count` 32-bit words of the stream at `state`, uint32 ``(count,)``, and the state after them."""
    words = np.empty(count, np.uint32)
    for first in range(0, count, _BLOCK_DRAWS):
        block = words[first : first + _BLOCK_DRAWS]
        state = _fill(state, block)
    return words, state


def _fill(state: int, words: NDArray[np.uint32]) -> int:
    count = words.size
    length = 1 << max(0, (count.bit_length() - 3) // 2)
    segments = -(-count // length)
    starts = segment_starts(np.array([state], np.uint64), segments, length).reshape(-1)
    states = np.empty((length, segments), np.uint64)
    walk(starts, states)
    in_order = np.empty((segments, length), np.uint32)
    in_order[...] = high_halves(states).T
    words[...] = in_order.reshape(-1)[:count]
    return int(states[(count - 1) % length, (count - 1) // length])


def high_halves(states: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return a view of the upper 32 bits of each of the contiguous `states`."""
    return states.view(np.uint32).reshape(*states.shape, 2)[..., _HIGH_HALF]


def chunk_seeds(base: int, tick: int, factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the state that each chunk's stream starts from in the step at `tick`.

    Args:
        base: Base of the tick streams.
        tick: Steps done before this one.
        factors: `chunk_factors` of the chunks.
    """
    common = np.array(base ^ (tick * TICK_FACTOR & MASK64), np.uint64)
    return xorshift64_array((factors ^ common) | _ONE)


def chunk_factors(count: int) -> NDArray[np.uint64]:
    """Return what tells the first `count` chunks' streams apart, uint64 ``(count,)``."""
    return np.arange(count, dtype=np.uint64) * np.array(CHUNK_FACTOR, np.uint64)


def row_words(starts: NDArray[np.uint64], counts: NDArray[np.integer]) -> NDArray[np.uint32]:
    """Return the first words of many streams, each stream's words together, in the order of the streams.

    Args:
        starts: State each stream starts from, uint64 ``(streams,)``.
        counts: Words wanted of each stream, ``(streams,)``.

    Returns:
        uint32 ``(sum of counts,)``.
    """
    most = int(counts.max(initial=0))
    if most == 0:
        return np.empty(0, np.uint32)
    streams = starts.size
    length = segment_length(streams, most)
    segments = -(-most // length)
    states = np.empty((min(length, most), segments * streams), np.uint64)
    walk(segment_starts(starts, segments, length).reshape(-1), states)
    in_order = np.empty((streams, segments, states.shape[0]), np.uint32)
    in_order[...] = high_halves(states).reshape(-1, segments, streams).T
    wanted = np.arange(segments * states.shape[0]) < counts[:, np.newaxis]
    words: NDArray[np.uint32] = in_order.reshape(streams, -1)[wanted]
    return words


def segment_length(streams: int, most: int) -> int:
    """Return how many words a segment should hold where the longest of `streams` streams needs `most`."""
    length = 8
    while length < most and length * 4096 < streams * most:
        length *= 2
    return length
