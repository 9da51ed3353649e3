"""How the cells of games of Life lie in memory: three layouts that give the same games.

`LaneLife` packs up to 64 cells of one game into a word, `ByteLife` holds one cell a byte; which one serves is a
function of the grid's size alone (docs/decisions/001-life-layouts.md). `BitGames` holds up to 64 games, one a bit. No
draw is made here, and no tick is counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BitGames",
    "ByteLife",
    "Games",
    "LaneLife",
    "LifeLayout",
    "SeparateGames",
    "games_layout",
    "lanes_of",
    "life_layout",
]


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


class _WordCells:
    """Cells in words: bit k of the word at (y, x) is the cell at (y, x) of grid k, one of up to 64.

    The neighbours of all cells of a word are the neighbouring words. A border around the words stands for what lies
    beyond their edges. All operands are one-dimensional views, so that an operation is one long loop; what it puts into
    the border is garbage, and `_wrap` replaces it afterwards.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self._rows, self._columns = rows, columns
        self._field = np.zeros((rows + 2, columns + 2), np.uint64)
        # Ones and twos of the column sums need their neighbours' words, hence one spare word at each end.
        self._work = np.zeros((6, rows * (columns + 2) + 2), np.uint64)
        self._operands, self._edges = self._step_operands(), self._edge_operands()

    def _edge_operands(self) -> tuple[Words, ...]:
        field = self._field
        columns = field[1:-1, 0], field[1:-1, -2], field[1:-1, -1], field[1:-1, 1]
        return *columns, field[0], field[-1], field[1], field[-2]

    def _step_operands(self) -> tuple[Words, ...]:
        stride, words = self._columns + 2, self._rows * (self._columns + 2)
        flat = self._field.reshape(-1)
        ones, twos, *sums = self._work
        return (
            *(flat[row * stride : row * stride + words] for row in range(3)),
            *(ones[:-2], ones[1:-1], ones[2:], twos[:-2], twos[1:-1], twos[2:]),
            *(row[:words] for row in sums),
        )

    def _write(self, grids: NDArray[np.uint8]) -> None:
        """Take the cells from `grids`, 0 or 1 each, ``(grids, rows, columns)``."""
        words = self._field[1:-1, 1:-1]
        words[...] = 0
        for bit, cells in enumerate(grids):
            words |= cells.astype(np.uint64) << np.uint64(bit)
        self._wrap()

    def _read(self, count: int) -> NDArray[np.uint8]:
        """Return fresh cells of the first `count` grids, 0 or 1 each, ``(grids, rows, columns)``."""
        words = np.ascontiguousarray(self._field[1:-1, 1:-1]).astype("<u8", copy=False)
        bits = np.unpackbits(words.view(np.uint8).reshape(*words.shape, 8), axis=-1, bitorder="little")
        return bits[..., :count].transpose(2, 0, 1)

    def _wrap(self) -> None:
        """Repeat each edge of every grid beyond the opposite one."""
        west, last, east, first, north, south, top, bottom = self._edges
        west[:] = last
        east[:] = first
        north[:] = bottom
        south[:] = top

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


class LaneLife(_WordCells):
    """The cells of one game, sliced by bits.

    The rows are cut into as many bands as there are lanes; a band is one of the grids of a word. Only across the upper
    and lower edge of the bands do the bits move over by one lane.

    Args:
        width: Cells in a row.
        height: Rows.
        turned: Cut the columns into bands instead of the rows.
    """

    def __init__(self, width: int, height: int, *, turned: bool = False) -> None:
        rows, columns = (width, height) if turned else (height, width)
        self._turned, self._lanes = turned, lanes_of(rows)
        # Constants as arrays of no dimensions: numpy scalars cost a conversion at every use.
        self._one, self._rest = np.array(1, np.uint64), np.array(self._lanes - 1, np.uint64)
        self._used = np.array((1 << self._lanes) - 1, np.uint64)
        self._spare = np.zeros(columns + 2, np.uint64)
        super().__init__(rows // self._lanes, columns)

    @property
    def heap_bytes(self) -> int:
        """Bytes the cells and the working arrays hold."""
        return self._field.nbytes + self._work.nbytes + self._spare.nbytes

    def write(self, alive: NDArray[np.uint8]) -> None:
        """Take the cells from `alive`, 0 or 1 each, ``(height, width)``."""
        cells = alive.T if self._turned else alive
        self._write(cells.reshape(self._lanes, self._rows, self._columns))

    def read(self) -> NDArray[np.uint8]:
        """Return a fresh copy of the cells, 0 or 1 each, ``(height, width)``."""
        cells = self._read(self._lanes).reshape(-1, self._columns)
        return np.ascontiguousarray(cells.T if self._turned else cells)

    def alive(self) -> int:
        """Return the number of living cells."""
        return int(np.bitwise_count(self._field[1:-1, 1:-1]).sum(dtype=np.int64))

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


class BitGames(_WordCells):
    """The cells of up to 64 games on grids of one size, game k in bit k: no game meets another.

    Args:
        width: Cells in a row.
        height: Rows.
        count: Games.
    """

    def __init__(self, width: int, height: int, count: int) -> None:
        self._count = count
        super().__init__(height, width)
        # Seven rows of words are added to numbers of three bits before the games are told apart.
        self._words = np.zeros((7, -(-width * height // 7)), np.uint64)
        self._sums, self._carries, self._spare = np.empty((3, 2, self._words.shape[1]), np.uint64)
        self._planes = np.empty((3, self._words.shape[1]), np.uint64)
        self._starts = np.arange(0, self._words.shape[1], _MOST_IN_A_BYTE)

    def write(self, alive: NDArray[np.uint8]) -> None:
        """Take the cells from `alive`, 0 or 1 each, ``(games, height, width)``."""
        self._write(alive)

    def read(self) -> NDArray[np.uint8]:
        """Return fresh cells, 0 or 1 each, ``(games, height, width)``."""
        return self._read(self._count)

    def read_one(self, game: int) -> NDArray[np.uint8]:
        """Return fresh cells of one game, 0 or 1 each, ``(height, width)``."""
        bits: NDArray[np.uint8] = (self._field[1:-1, 1:-1] >> np.uint64(game) & np.uint64(1)).astype(np.uint8)
        return bits

    def alive(self) -> NDArray[np.int64]:
        """Return the number of living cells of each game, int64 ``(games,)``."""
        cells, words = self._field[1:-1, 1:-1], self._words
        words.reshape(-1)[: cells.size].reshape(cells.shape)[...] = cells
        sums, carries, spare, planes = self._sums, self._carries, self._spare, self._planes
        _add_bits(words[0:2], words[2:4], words[4:6], sums, carries, spare)
        _add_bits(sums[0], sums[1], words[6], planes[0], planes[1], spare[0])
        _add_bits(carries[0], carries[1], planes[1].copy(), planes[1], planes[2], spare[0])
        bits = np.unpackbits(planes.astype("<u8", copy=False).view(np.uint8), bitorder="little")
        # One flag a byte, eight games a word: as many words are added as no byte overflows at.
        totals = np.add.reduceat(bits.view(np.uint64).reshape(3, -1, 8), self._starts, axis=1)
        counts = totals.view(np.uint8).reshape(3, -1, 64).sum(axis=1, dtype=np.int64)
        alive: NDArray[np.int64] = counts[0] + 2 * counts[1] + 4 * counts[2]
        return alive[: self._count]


_MOST_IN_A_BYTE = 255


def _add_bits(a: Words, b: Words, c: Words, total: Words, carry: Words, spare: Words) -> None:
    """Put the sum of three bits into `total` and its carry, for all bits of all words; `total` may be none of them."""
    np.bitwise_xor(a, b, spare)
    np.bitwise_and(a, b, carry)
    np.bitwise_xor(spare, c, total)
    np.bitwise_and(spare, c, spare)
    np.bitwise_or(carry, spare, carry)


class SeparateGames:
    """The cells of games on grids of one size, each in a layout of its own.

    Args:
        width: Cells in a row.
        height: Rows.
        count: Games.
    """

    def __init__(self, width: int, height: int, count: int) -> None:
        self._games = [life_layout(width, height) for _ in range(count)]

    def write(self, alive: NDArray[np.uint8]) -> None:
        """Take the cells from `alive`, 0 or 1 each, ``(games, height, width)``."""
        for game, cells in zip(self._games, alive, strict=True):
            game.write(cells)

    def read(self) -> NDArray[np.uint8]:
        """Return fresh cells, 0 or 1 each, ``(games, height, width)``."""
        return np.array([game.read() for game in self._games])

    def read_one(self, game: int) -> NDArray[np.uint8]:
        """Return fresh cells of one game, 0 or 1 each, ``(height, width)``."""
        return self._games[game].read()

    def alive(self) -> NDArray[np.int64]:
        """Return the number of living cells of each game, int64 ``(games,)``."""
        return np.array([game.alive() for game in self._games], np.int64)

    def step(self, n: int) -> None:
        """Do `n` steps of every game, 0 or more."""
        for game in self._games:
            game.step(n)


class Games(Protocol):
    """The cells of several games on grids of one size."""

    def write(self, alive: NDArray[np.uint8]) -> None:
        """Take the cells from `alive`, 0 or 1 each, ``(games, height, width)``."""
        ...

    def read(self) -> NDArray[np.uint8]:
        """Return fresh cells, 0 or 1 each, ``(games, height, width)``."""
        ...

    def read_one(self, game: int) -> NDArray[np.uint8]:
        """Return fresh cells of one game, 0 or 1 each, ``(height, width)``."""
        ...

    def alive(self) -> NDArray[np.int64]:
        """Return the number of living cells of each game, int64 ``(games,)``."""
        ...

    def step(self, n: int) -> None:
        """Do `n` steps, 0 or more."""
        ...


_FEWEST_GAMES_IN_BITS = 8
"""Games from which a bit each is faster than a layout each; measured on 32^2 to 128^2, where 4 to 9 are."""


def games_layout(width: int, height: int, count: int) -> Games:
    """Return the layout that serves `count` games on grids of that size best, all cells dead."""
    layout = BitGames if _FEWEST_GAMES_IN_BITS <= count <= _WORD_BITS else SeparateGames
    return layout(width, height, count)


if TYPE_CHECKING:
    _BYTES: type[LifeLayout] = ByteLife
    _LANES: type[LifeLayout] = LaneLife
    _GAMES: tuple[type[Games], type[Games]] = (BitGames, SeparateGames)
