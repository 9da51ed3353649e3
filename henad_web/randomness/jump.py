"""Moving a xorshift64 stream ahead by many steps at once.

A step is linear over GF(2): the state after d steps is a fixed 64 by 64 bit matrix times the state. A jump holds the
matrix as eight tables, one for each byte of a state, so that it costs eight look-ups and seven xors a state.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from henad_web.randomness.scalar import xorshift64

__all__ = ["Jump", "jump_of"]

_TABLE_OFFSETS = (np.arange(8, dtype=np.intp) * 256)[:, np.newaxis]


class Jump:
    """A fixed number of steps of xorshift64, done at once.

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
