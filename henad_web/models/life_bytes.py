"""Game of Life with one cell a byte."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["ByteLife"]

Cells = NDArray[np.uint8]
"""Cells, one a byte, or sums of them."""


class ByteLife:
    """The cells of one game in rows, with a border that repeats the opposite edge.

    All operands of a step are one-dimensional views of one buffer, so that an operation is one long loop; what it
    puts into the border is garbage, and is replaced from the opposite edge afterwards.
    """

    def __init__(self, width: int, height: int) -> None:
        stride = width + 2
        cells = stride * height
        # One spare byte at each end keeps the neighbours of the first and the last byte inside.
        self._buffer = np.zeros(cells + 2 * stride, np.uint8)
        self._field = self._buffer.reshape(height + 2, stride)
        self._inner = self._field[1:-1, 1:-1]
        self._triple = np.zeros(cells + 2, np.uint8)
        self._pair = np.zeros(cells, np.uint8)
        self._count = np.zeros(cells, np.uint8)
        self._operands, self._edges = self._step_operands(), self._edge_operands()

    @property
    def heap_bytes(self) -> int:
        """Bytes the cells and the working arrays hold."""
        return self._buffer.nbytes + self._triple.nbytes + self._pair.nbytes + self._count.nbytes

    def write(self, alive: NDArray[np.uint8]) -> None:
        """Take the cells from `alive`, 0 or 1 each, ``(height, width)``."""
        field = self._field
        self._inner[...] = alive
        field[:, 0], field[:, -1] = field[:, -2], field[:, 1]
        field[0], field[-1] = field[-2], field[1]

    def read(self) -> NDArray[np.uint8]:
        """Return a fresh copy of the cells, 0 or 1 each, ``(height, width)``."""
        return self._inner.copy()

    def alive(self) -> int:
        """Return the number of living cells."""
        return int(np.count_nonzero(self._inner))

    def _edge_operands(self) -> tuple[Cells, ...]:
        field = self._field
        columns = field[1:-1, 0], field[1:-1, -2], field[1:-1, -1], field[1:-1, 1]
        return *columns, field[0], field[-2], field[-1], field[1]

    def _step_operands(self) -> tuple[Cells, ...]:
        stride, cells, triple = self._field.shape[1], self._count.size, self._triple
        rows = (self._buffer[row * stride : row * stride + cells] for row in range(3))
        return *rows, triple[:-2], triple[1:-1], triple[2:]

    def step(self, n: int) -> None:
        """Do `n` steps, 0 or more."""
        up, centre, down, left, middle, right = self._operands
        west, last, east, first, north, bottom, south, top = self._edges
        pair, count, alive_next = self._pair, self._count, centre.view(np.bool_)
        three = np.array(3, np.uint8)
        add, either, equal = np.add, np.bitwise_or, np.equal
        for _ in range(n):
            add(up, down, pair)
            add(pair, centre, middle)
            add(left, right, count)
            add(count, pair, count)
            either(count, centre, count)
            # A count of 3 with or without the cell itself, or of 2 with it: born or surviving.
            equal(count, three, alive_next)
            west[:] = last
            east[:] = first
            north[:] = bottom
            south[:] = top
