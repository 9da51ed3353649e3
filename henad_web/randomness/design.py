"""The generator behind sampled designs and searches (reference engine, section 4.9), shuffling included."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from henad_web.randomness.scalar import mix_seed, next_bits, next_index
from henad_web.randomness.streams import stream_bits

__all__ = [
    "DesignRng",
    "shuffled",
    "units_of",
]

_SHORT = 64
"""Positions shuffled one by one: below this, arrays cost more than they save."""

_HELD = 1 << 17
"""Words made at a time."""

_LOW_32 = np.array(2**32 - 1, np.uint64)
_SHIFT_32 = np.array(32, np.uint64)

Positions = NDArray[np.uint32]


class _Words:
    """The words of a stream, looked at before they are taken."""

    def __init__(self, state: int) -> None:
        self._start = state
        self._held = np.empty(0, np.uint32)
        self._taken = 0

    @property
    def state(self) -> int:
        """State after the words taken."""
        return stream_bits(self._start, self._taken)[1] if self._taken else self._start

    def look(self, count: int) -> NDArray[np.uint32]:
        """Return the next `count` words."""
        if self._taken + count > len(self._held):
            self._start = self.state
            self._held, _ = stream_bits(self._start, max(count, _HELD))
            self._taken = 0
        return self._held[self._taken : self._taken + count]

    def take(self, count: int) -> None:
        """Move on by `count` words that were looked at."""
        self._taken += count


def shuffled(state: int, count: int) -> tuple[Positions, int]:
    """Return the numbers 0 to `count` - 1 in random order, uint32 ``(count,)``, and the state after the draws.

    Draws and swaps are those of a walk from the last position to the first, one draw a position. They are taken in
    blocks, and where a draw is rejected or two swaps meet the block is cut, so that the result is that of the walk.

    Args:
        state: State of the stream.
        count: 0 to 2^32 - 1.
    """
    order = np.arange(count, dtype=np.uint32)
    words, last = _Words(state), count - 1
    while last >= _SHORT:
        # A block of about the square root's length meets itself every second time.
        length = min(max(_SHORT, int(last**0.5)), last)
        others = _drawn(words, last, length)
        _swap(order, np.arange(last, last - len(others), -1, dtype=np.int64), others)
        last -= len(others)
    state = words.state
    for position in range(last, 0, -1):
        state, other = next_index(state, position + 1)
        order[position], order[other] = order[other], order[position]
    return order, state


def _drawn(words: _Words, last: int, length: int) -> NDArray[np.int64]:
    """Return the unbiased indices drawn for the positions `last`, `last` - 1 and so on, at most `length`, maybe none.

    A word that would bias its index is drawn again, which shifts the words of every later position: the block ends
    there.
    """
    counts = np.arange(last + 1, last + 1 - length, -1, dtype=np.int64).astype(np.uint64)
    products = words.look(length).astype(np.uint64) * counts
    low = products & _LOW_32
    others = (products >> _SHIFT_32).astype(np.int64)
    for position in np.flatnonzero(low < counts).tolist():
        if int(low[position]) < (2**32 - int(counts[position])) % int(counts[position]):
            words.take(position + 1)
            return others[:position]
    words.take(length)
    return others


def _swap(order: Positions, positions: NDArray[np.int64], others: NDArray[np.int64]) -> None:
    """Swap each of `positions`, which descend, with its one of `others`, in order."""
    if len(positions) > 1 and _meet(positions, others):
        half = len(positions) // 2
        _swap(order, positions[:half], others[:half])
        _swap(order, positions[half:], others[half:])
    else:
        order[positions], order[others] = order[others], order[positions]


def _meet(positions: NDArray[np.int64], others: NDArray[np.int64]) -> bool:
    """Return whether two of the swaps touch one position."""
    if others.max() >= positions[-1]:
        return True
    ordered = np.sort(others)
    return bool((ordered[1:] == ordered[:-1]).any())


_WORD = 2**64


class DesignRng:
    """One sequential stream of draws; equal seeds give equal draws.

    Attributes:
        state: State of the stream, 1 to 2^64 - 1.
    """

    __slots__ = ("state",)

    def __init__(self, seed: int) -> None:
        self.state = mix_seed(seed)

    def _bits(self) -> int:
        self.state, bits = next_bits(self.state)
        return bits

    def _word(self) -> int:
        high = self._bits()
        return high << 32 | self._bits()

    def unit(self) -> float:
        """Return a double in [0, 1) with 53 random bits."""
        high = self._bits()
        return float(high << 21 | self._bits() >> 11) / 2.0**53

    def triangular(self) -> float:
        """Return a double in (-1, 1), the sum of two units less one; near 0 most often."""
        first = self.unit()
        return first + self.unit() - 1.0

    def index(self, count: int) -> int:
        """Return an unbiased index in [0, count), `count` up to 2^64."""
        if count < 2**32:
            self.state, index = next_index(self.state, count)
            return index
        product = self._word() * count
        if product % _WORD < count:
            floor = (_WORD - count) % count
            while product % _WORD < floor:
                product = self._word() * count
        return product >> 64

    def whole_number(self, minimum: int, maximum: int) -> int:
        """Return an unbiased whole number from `minimum` to `maximum`, both included."""
        count = maximum - minimum + 1
        return minimum + (self._word() if count == _WORD else self.index(count))

    def units(self, count: int) -> NDArray[np.float64]:
        """Return the next `count` units, float64 ``(count,)``: the draws that as many calls of `unit` take."""
        words, self.state = stream_bits(self.state, 2 * count) if count else (np.empty(0, np.uint32), self.state)
        pairs = words.astype(np.uint64)
        return units_of(pairs[0::2], pairs[1::2])

    def shuffled(self, count: int) -> NDArray[np.uint32]:
        """Return the numbers 0 to `count` - 1 in random order, uint32 ``(count,)``."""
        order, self.state = shuffled(self.state, count)
        return order

    def permutation(self, count: int) -> list[int]:
        """Return the numbers 0 to `count` - 1 in random order, as Python's own."""
        order: list[int] = self.shuffled(count).tolist()
        return order


def units_of(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the units that pairs of 32-bit words make, float64 ``(n,)``."""
    bits = first << np.array(21, np.uint64) | second >> np.array(11, np.uint64)
    return bits.astype(np.float64) / 2.0**53
