"""Which layout the cells of a Game of Life take in memory.

Two layouts give the same game: `LaneLife` packs up to 64 cells into a word, `ByteLife` holds one cell a byte. Which
one serves is a function of the grid's size alone (docs/decisions/001-life-layouts.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from henad_web.models.life_bytes import ByteLife
from henad_web.models.life_lanes import LaneLife, lanes_of

__all__ = ["LifeLayout", "life_layout"]

# Both limits are where the loss on one target and the gain on the other are about equal (docs/decisions/001).
_FEWEST_LANES = 12
_MOST_CELLS_IN_BYTES = 10_000


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
        """Do `n` steps, 0 or more."""
        ...


def life_layout(width: int, height: int) -> LifeLayout:
    """Return the layout that serves a grid of that size best, all cells dead."""
    upright, lying = lanes_of(height), lanes_of(width)
    if width * height <= _MOST_CELLS_IN_BYTES or max(upright, lying) < _FEWEST_LANES:
        return ByteLife(width, height)
    # The rule is the same along both axes, so lanes may run along the one that divides better.
    return LaneLife(width, height, turned=lying > upright)


if TYPE_CHECKING:
    _BYTES: type[LifeLayout] = ByteLife
    _LANES: type[LifeLayout] = LaneLife
