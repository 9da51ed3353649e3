"""The generator behind sampled designs and searches (reference engine, section 4.9)."""

from __future__ import annotations

from henad_web.randomness.scalar import mix_seed, next_bits, next_index

__all__ = ["DesignRng"]

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

    def permutation(self, count: int) -> list[int]:
        """Return the numbers 0 to `count` - 1 in random order."""
        order = list(range(count))
        for last in range(count - 1, 0, -1):
            other = self.index(last + 1)
            order[last], order[other] = order[other], order[last]
        return order
