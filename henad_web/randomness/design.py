"""The generator behind sampled designs and searches (reference engine, section 4.9)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from henad_web.randomness.scalar import mix_seed, next_bits, next_index
from henad_web.randomness.shuffle import shuffled
from henad_web.randomness.streams import stream_bits

__all__ = ["DesignRng", "units_of"]

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
