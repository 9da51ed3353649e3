"""Conway's Game of Life on a torus: rule B3/S23, no randomness after the start (reference engine, section 2.8).

Two layouts of the cells in memory give the same game: `LaneLife` packs up to 64 cells into a word, `ByteLife` holds one
cell a byte. Which one serves is a function of the grid's size alone (docs/decisions/001-life-layouts.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from henad_web.model.entry import Backend, ModelEntry, ModelMetadata, Topology
from henad_web.model.grid import grid_params, grid_start, row_jobs
from henad_web.model.params import Apply, ParamValue, f32
from henad_web.model.schema import Action, Stat
from henad_web.randomness import action_state, stream_bits, threshold

__all__ = [
    "ByteLife",
    "GAME_OF_LIFE",
    "GameOfLife",
    "LaneLife",
    "LifeLayout",
    "lanes_of",
    "life_layout",
]


class GameOfLife:
    """One game under way.

    Attributes:
        tick: Steps done so far.
        population: Cells of the grid, alive or dead.
        parallel_jobs: Parts a step could be split into.
    """

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        width, height = int(params["grid_width"]), int(params["grid_height"])
        self.tick = 0
        self.population = width * height
        self.parallel_jobs: int | None = row_jobs(width, height)
        self._shape = (height, width)
        self._reload_only = frozenset(params)
        self._alive_below = threshold(float(params["density"]))
        self._action_state = action_state(seed)
        self._cells: LifeLayout = life_layout(width, height)
        self._scatter(grid_start(seed))

    @property
    def grid(self) -> NDArray[np.uint8]:
        """1 for each living cell, 0 for each dead one, ``(height, width)``; a fresh array."""
        return self._cells.read()

    @property
    def heap_bytes(self) -> int:
        """Bytes the cells and the working arrays hold."""
        return self._cells.heap_bytes

    def step(self, n: int = 1) -> None:
        """Do `n` steps."""
        self._cells.step(n)
        self.tick += n

    def stats(self) -> dict[str, float]:
        """Return the number of living cells."""
        return {"Alive": float(self._cells.alive())}

    def act(self, action_id: str) -> bool:
        """Fill the grid anew at the density it was built with (`randomise`) or kill every cell (`clear`)."""
        if action_id == "randomise":
            self._action_state = self._scatter(self._action_state)
        elif action_id == "clear":
            self._cells.write(np.zeros(self._shape, np.uint8))
        else:
            return False
        return True

    def set_param(self, id: str, value: ParamValue) -> bool:
        """Return False: every parameter of the game is only read when it is built.

        Raises:
            ParamError: There is no such parameter.
        """
        if id not in self._reload_only:
            GAME_OF_LIFE.schema().index(id)
        return False

    def _scatter(self, state: int) -> int:
        words, state = stream_bits(state, self.population)
        self._cells.write((words < np.uint32(self._alive_below)).view(np.uint8).reshape(self._shape))
        return state


GAME_OF_LIFE = ModelEntry(
    id="game_of_life",
    name="Game of Life",
    description="Conway's cellular automaton on a torus: a dead cell with three living neighbours is born, a living "
    "one with two or three survives.",
    params=(
        *grid_params(),
        f32("density", "Initial Density", 0.3, 0.0, 1.0, step=0.01, apply=Apply.RELOAD),
    ),
    stats=(Stat("Alive", (0x00, 0xE6, 0x76, 0xFF)),),
    actions=(Action("randomise", "Randomise"), Action("clear", "Clear")),
    metadata=ModelMetadata(
        backend=Backend.CPU, palette=((0x15, 0x15, 0x15), (0x00, 0xE6, 0x76)), topology=Topology.GRID
    ),
    factory=GameOfLife,
)


Cells = NDArray[np.uint8]
"""Cells, one a byte, or sums of them."""


class ByteLife:
    """The cells of one game, one a byte, in rows with a border that repeats the opposite edge.

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


_WORD_BITS = 64

Words = NDArray[np.uint64]
"""Cells, one a bit, or sums of them."""


def lanes_of(side: int) -> int:
    """Return the largest divisor of `side` that is at most 64."""
    return next(lanes for lanes in range(min(side, _WORD_BITS), 0, -1) if side % lanes == 0)


class LaneLife:
    """The cells of one game, up to 64 a word, sliced by bits.

    The rows are cut into as many bands as there are lanes, and bit k of the word at (y, x) is the cell at (y, x) of
    band k. The neighbours of all cells of a word are then the neighbouring words; only across the upper and lower
    edge of the bands do the bits move over by one lane.

    A border around the words repeats the opposite edge. All operands are one-dimensional views, so that an operation
    is one long loop; what it puts into the border is garbage and is replaced afterwards.

    Args:
        width: Cells in a row.
        height: Rows.
        turned: Cut the columns into bands instead of the rows.
    """

    def __init__(self, width: int, height: int, *, turned: bool = False) -> None:
        rows, self._columns = (width, height) if turned else (height, width)
        self._turned = turned
        self._lanes = lanes_of(rows)
        self._band = rows // self._lanes
        self._field = np.zeros((self._band + 2, self._columns + 2), np.uint64)
        # Constants as arrays of no dimensions: numpy scalars cost a conversion at every use.
        self._one, self._rest = np.array(1, np.uint64), np.array(self._lanes - 1, np.uint64)
        self._used = np.array((1 << self._lanes) - 1, np.uint64)
        self._spare = np.zeros(self._columns + 2, np.uint64)
        # Ones and twos of the column sums need their neighbours' words, hence one spare word at each end.
        self._work = np.zeros((6, self._band * (self._columns + 2) + 2), np.uint64)
        self._operands, self._edges = self._step_operands(), self._edge_operands()

    @property
    def heap_bytes(self) -> int:
        """Bytes the cells and the working arrays hold."""
        return self._field.nbytes + self._work.nbytes + self._spare.nbytes

    def write(self, alive: NDArray[np.uint8]) -> None:
        """Take the cells from `alive`, 0 or 1 each, ``(height, width)``."""
        cells = alive.T if self._turned else alive
        words = self._field[1:-1, 1:-1]
        words[...] = 0
        for lane, band in enumerate(cells.reshape(self._lanes, self._band, self._columns)):
            words |= band.astype(np.uint64) << np.uint64(lane)
        self._wrap()

    def read(self) -> NDArray[np.uint8]:
        """Return a fresh copy of the cells, 0 or 1 each, ``(height, width)``."""
        words = np.ascontiguousarray(self._field[1:-1, 1:-1]).astype("<u8", copy=False)
        bits = np.unpackbits(words.view(np.uint8).reshape(*words.shape, 8), axis=-1, bitorder="little")
        cells = bits[..., : self._lanes].transpose(2, 0, 1).reshape(-1, self._columns)
        return np.ascontiguousarray(cells.T if self._turned else cells)

    def alive(self) -> int:
        """Return the number of living cells."""
        return int(np.bitwise_count(self._field[1:-1, 1:-1]).sum(dtype=np.int64))

    def _edge_operands(self) -> tuple[Words, ...]:
        field = self._field
        columns = field[1:-1, 0], field[1:-1, -2], field[1:-1, -1], field[1:-1, 1]
        return *columns, field[0], field[-1], field[1], field[-2]

    def _step_operands(self) -> tuple[Words, ...]:
        stride, words = self._columns + 2, self._band * (self._columns + 2)
        flat = self._field.reshape(-1)
        ones, twos, *sums = self._work
        return (
            *(flat[row * stride : row * stride + words] for row in range(3)),
            *(ones[:-2], ones[1:-1], ones[2:], twos[:-2], twos[1:-1], twos[2:]),
            *(row[:words] for row in sums),
        )

    def _wrap(self) -> None:
        """Repeat the last column before the first and the first after the last, then the edge rows of the bands.

        Above a band lies the last row of the band before it, below it the first row of the next: bits move a lane.
        """
        west, last, east, first, north, south, top, bottom = self._edges
        one, rest, spare = self._one, self._rest, self._spare
        left, right, either, both = np.left_shift, np.right_shift, np.bitwise_or, np.bitwise_and
        west[:] = last
        east[:] = first
        left(bottom, one, north)
        right(bottom, rest, spare)
        either(north, spare, north)
        right(top, one, south)
        left(top, rest, spare)
        either(south, spare, south)
        if self._lanes < _WORD_BITS:
            both(north, self._used, north)
            both(south, self._used, south)

    def step(self, n: int) -> None:
        """Do `n` steps, 0 or more."""
        up, centre, down, *sums = self._operands
        ones_left, ones_here, ones_right, twos_left, twos_here, twos_right, *work = sums
        pair, pair_twos, carry, odd = work
        # The ones are read for the last time before anything is kept here: fewer buffers stay in the cache.
        spare = ones_here
        wrap = self._wrap
        both, either, differ = np.bitwise_and, np.bitwise_or, np.bitwise_xor
        for _ in range(n):
            # The cells above and below, then whole columns of three: how many live, as bits of weight one and two.
            differ(up, down, pair)
            both(up, down, pair_twos)
            differ(pair, centre, ones_here)
            both(pair, centre, twos_here)
            either(twos_here, pair_twos, twos_here)
            # Bits of weight one of the columns beside and the pair: their sum is `odd`, and carries into the twos.
            differ(ones_left, ones_right, odd)
            both(ones_left, ones_right, carry)
            both(odd, pair, spare)
            differ(odd, pair, odd)
            either(carry, spare, carry)
            # Exactly one of the four bits of weight two: their parity is odd, and one of two halves has none.
            differ(twos_left, twos_right, spare)
            differ(pair_twos, carry, pair)
            differ(spare, pair, spare)
            either(twos_left, twos_right, pair)
            either(pair_twos, carry, pair_twos)
            differ(pair, pair_twos, pair)
            both(spare, pair, spare)
            # Two or three neighbours: alive next with three, or with two and alive now.
            either(odd, centre, odd)
            both(spare, odd, centre)
            wrap()


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
