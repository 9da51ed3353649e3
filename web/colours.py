"""Turns a grid of states into pixels: one uint32 a cell, little-endian ABGR, as a canvas stores it.

Owns arithmetic only. Two or three states are painted by arithmetic, because a table look-up costs about ten
times as much an element in a browser.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Painter"]


class Painter:
    """Paints grids of one palette and one shape into a buffer that it keeps.

    Attributes:
        pixels: The painted cells as bytes red, green, blue, alpha; ``(height * width * 4,)`` uint8.
    """

    def __init__(self, palette: Sequence[Sequence[int]], shape: tuple[int, int]) -> None:
        self._table = np.array([_packed(colour) for colour in palette], dtype=np.uint32)
        self._cells = np.empty(shape, np.uint32)
        self._part = np.empty(shape, np.uint32)
        self.pixels: NDArray[np.uint8] = self._cells.reshape(-1).view(np.uint8)

    def paint(self, grid: NDArray[np.uint8]) -> None:
        """Write the colours of `grid`, states ``(height, width)`` uint8 below the palette's length."""
        if len(self._table) > 3:
            np.copyto(self._cells, self._table[grid])
            return
        first, second, third = (int(self._table[min(state, len(self._table) - 1)]) for state in range(3))
        slope = (second - first) % 2**32
        # Wrapping arithmetic: first + state * slope, bent at state 2 by what the straight line misses there.
        np.multiply(grid, np.uint32(slope), out=self._cells, dtype=np.uint32)
        np.add(self._cells, np.uint32(first), out=self._cells)
        if len(self._table) == 3:
            bend = (third - first - 2 * slope) % 2**32
            np.multiply(grid >> np.uint8(1), np.uint32(bend), out=self._part, dtype=np.uint32)
            np.add(self._cells, self._part, out=self._cells)


def _packed(colour: Sequence[int]) -> int:
    red, green, blue = colour[:3]
    return 0xFF000000 | blue << 16 | green << 8 | red
