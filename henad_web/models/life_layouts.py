"""How the cells of a Game of Life lie in memory, and the step of each layout.

Two layouts give the same game. `LaneLife` packs up to 64 cells into a word, `ByteLife` holds one cell a byte. Which
one serves is a function of the grid's size alone (docs/decisions/001-life-layouts.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["ByteLife", "LaneLife", "LifeLayout", "lanes_of", "life_layout"]

_WORD_BITS = 64
_FEWEST_LANES = 24
_MOST_CELLS_IN_BYTES = 64 * 64


class LifeLayout(Protocol):
    """The cells of one game."""

    @property
    def heap_bytes(self) -> int:
        """Bytes the cells and the working arrays hold."""
        ...

    def write(self, alive: NDArray[np.uint8]) -> None:
        """Take the cells from `alive`, 0 or 1 each, ``(height, width)``."""
        ...

    def read(self) -> NDArray[np.uint8]:
        """Return a fresh copy of the cells, 0 or 1 each, ``(height, width)``."""
        ...

    def alive(self) -> int:
        """Return the number of living cells."""
        ...

    def step(self, n: int) -> None:
        """Do `n` steps."""
        ...


def lanes_of(side: int) -> int:
    """Return the largest divisor of `side` that is at most 64."""
    return next(lanes for lanes in range(min(side, _WORD_BITS), 0, -1) if side % lanes == 0)


def life_layout(width: int, height: int) -> LifeLayout:
    """Return the layout that serves a grid of that size best, all cells dead."""
    upright, lying = lanes_of(height), lanes_of(width)
    if width * height <= _MOST_CELLS_IN_BYTES or max(upright, lying) < _FEWEST_LANES:
        return ByteLife(width, height)
    # The rule is the same along both axes, so lanes may run along the one that divides better.
    return LaneLife(width, height, turned=lying > upright)


class ByteLife:
    """One cell a byte, in rows with a border that repeats the opposite edge.

    All operands of a step are one-dimensional views of one buffer, so that an operation is one long loop; what it
    puts into the border is garbage, and is replaced from the opposite edge afterwards.
    """

    def __init__(self, width: int, height: int) -> None:
        stride, cells = width + 2, (width + 2) * height
        self._buffer = np.zeros(cells + 2 * stride + 2, np.uint8)
        self._field = self._buffer[1:-1].reshape(height + 2, stride)
        self._inner = self._field[1:-1, 1:-1]
        self._columns = np.zeros(cells + 2, np.uint8)
        self._count = np.zeros(cells, np.uint8)
        self._pair = self._columns[1:-1]

    @property
    def heap_bytes(self) -> int:
        """Bytes the cells and the working arrays hold."""
        return self._buffer.nbytes + self._columns.nbytes + self._count.nbytes

    def write(self, alive: NDArray[np.uint8]) -> None:
        """Take the cells from `alive`, 0 or 1 each, ``(height, width)``."""
        self._inner[...] = alive
        self._wrap()

    def read(self) -> NDArray[np.uint8]:
        """Return a fresh copy of the cells, 0 or 1 each, ``(height, width)``."""
        return self._inner.copy()

    def alive(self) -> int:
        """Return the number of living cells."""
        return int(np.count_nonzero(self._inner))

    def _wrap(self) -> None:
        field = self._field
        field[:, 0], field[:, -1] = field[:, -2], field[:, 1]
        field[0], field[-1] = field[-2], field[1]

    def step(self, n: int) -> None:
        """Do `n` steps."""
        field = self._field
        height, stride = field.shape[0] - 2, field.shape[1]
        cells = height * stride
        flat = self._buffer[1:]
        up, centre, down = (flat[row * stride : row * stride + cells] for row in range(3))
        born = centre.view(np.bool_)
        columns, count, triple = self._columns, self._count, self._pair
        pair = np.empty(cells, np.uint8)
        left, right = columns[:-2], columns[2:]
        west, east, first, last = field[:, 0], field[:, -1], field[:, 1], field[:, -2]
        north, south, top, bottom = field[0], field[-1], field[1], field[-2]
        three = np.array(3, np.uint8)
        add, either, equal = np.add, np.bitwise_or, np.equal
        for _ in range(n):
            add(up, down, pair)
            add(pair, centre, triple)
            add(left, right, count)
            add(count, pair, count)
            either(count, centre, count)
            equal(count, three, born)
            west[:] = last
            east[:] = first
            north[:] = bottom
            south[:] = top


class LaneLife(ByteLife):
    """Placeholder until the lanes land in the next commit."""

    def __init__(self, width: int, height: int, *, turned: bool) -> None:
        super().__init__(width, height)


if TYPE_CHECKING:
    _BYTES: type[LifeLayout] = ByteLife
    _LANES: type[LifeLayout] = LaneLife
