"""An epidemic on a torus: susceptible, infected, recovered (reference engine, section 2.7).

`Sir` owns draws and probabilities; `SirCells` how the cells lie in memory, which of them need a draw, and what a change
of cells touches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from henad_web.model.entry import Backend, BatchOffer, ModelEntry, ModelMetadata, Topology
from henad_web.model.grid import grid_params, grid_start, row_jobs
from henad_web.model.params import Apply, Format, ParamValue, f32
from henad_web.model.schema import Action, Stat
from henad_web.randomness import (
    action_state,
    chunk_factors,
    chunk_seeds,
    many_bits,
    next_base,
    row_words,
    stream_bits,
    threshold,
    xorshift64_array,
)

__all__ = [
    "ILL",
    "SIR",
    "Sir",
    "SirBatch",
    "SirCells",
]

_DRAW_SHIFT = np.array(8, np.uint32)
_LIVE = ("infection_rate", "recovery_rate")


class _Epidemics:
    """What one epidemic and several of one config have in common: their cells, and what decides a draw."""

    def __init__(self, params: Mapping[str, ParamValue]) -> None:
        self._width, self._height = int(params["grid_width"]), int(params["grid_height"])
        self.tick = 0
        self._rates = {id: float(params[id]) for id in _LIVE}
        self._infected_below = np.uint32(threshold(float(params["initial_infected_pct"])))
        self._factors = chunk_factors(self._height)
        self._set_limits()

    def _start(self, words: NDArray[np.uint32]) -> SirCells:
        """Return cells that are infected where their word, one a cell of each run, says so."""
        return SirCells((words < self._infected_below).reshape(-1, self._height, self._width).view(np.uint8))

    def _move(self, cells: SirCells, base: int | NDArray[np.uint64]) -> None:
        """Move every cell whose draw says so to its next state."""
        drawing = cells.drawing()
        if not drawing.size:
            return
        starts = chunk_seeds(base, self.tick, self._factors).reshape(-1)
        bounds = cells.row_bounds(drawing)
        draws = row_words(starts, bounds[1:] - bounds[:-1])
        draws >>= _DRAW_SHIFT
        changed = draws < self._recovery_limit
        if drawing.size > cells.infected:
            codes = cells.codes(drawing)
            exposed = np.flatnonzero(codes < ILL)
            changed[exposed] = draws[exposed] >= self._escape_limits[codes[exposed]]
        cells.change(drawing, changed)

    def _set_limits(self) -> None:
        # Compared as integers: a draw is its 24 bits over 2^24, so draw < p where its bits are below ceil(p * 2^24).
        self._recovery_limit = np.array(draw_limit(self._rates["recovery_rate"]), np.uint32)
        self._escape_limits = escape_limits(self._rates["infection_rate"])


class Sir(_Epidemics):
    """One epidemic under way.

    Attributes:
        tick: Steps done so far.
        population: Cells of the grid.
        parallel_jobs: Parts a step could be split into.
    """

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params)
        self.population = self._width * self._height
        self.parallel_jobs: int | None = row_jobs(self._width, self._height)
        self._action_state = action_state(seed)
        words, self._base = stream_bits(grid_start(seed), self.population)
        self._cells = self._start(words)

    @property
    def grid(self) -> NDArray[np.uint8]:
        """0 for a susceptible cell, 1 for an infected, 2 for a recovered, ``(height, width)``; a fresh array."""
        return self._cells.grid_of(0)

    @property
    def heap_bytes(self) -> int:
        """Bytes the cells hold, with the most that a step needs on top."""
        return self._cells.heap_bytes + self._factors.nbytes

    def step(self, n: int = 1) -> None:
        """Do `n` steps."""
        for _ in range(n):
            self._move(self._cells, self._base)
            self._base = next_base(self._base, self.tick)
            self.tick += 1

    def stats(self) -> dict[str, float]:
        """Return the number of cells in each state."""
        cells = self._cells
        return {
            "Susceptible": float(cells.susceptible),
            "Infected": float(cells.infected),
            "Recovered": float(cells.recovered),
        }

    def act(self, action_id: str) -> bool:
        """Infect susceptible cells at the share the model was built with (`seed_outbreak`)."""
        if action_id != "seed_outbreak":
            return False
        susceptible = self._cells.susceptible_positions()
        words, self._action_state = stream_bits(self._action_state, susceptible.size)
        self._cells.infect(susceptible[words < self._infected_below])
        return True

    def set_param(self, id: str, value: ParamValue) -> bool:
        """Change a rate from the next step on; False for what is only read when the model is built.

        Raises:
            ParamError: There is no such parameter, or `value` is not allowed for it.
        """
        canonical = SIR.schema().param(id).coerce(value)
        if id not in self._rates:
            return False
        self._rates[id] = float(canonical)
        self._set_limits()
        return True


class SirBatch(_Epidemics):
    """Several epidemics of one config under way, each with the streams it has alone.

    Attributes:
        tick: Steps done so far.
    """

    def __init__(self, params: Mapping[str, ParamValue], seeds: Sequence[int]) -> None:
        super().__init__(params)
        starts = np.array([grid_start(seed) for seed in seeds], np.uint64)
        words, self._bases = many_bits(starts, np.full(len(seeds), self._width * self._height, np.int64))
        self._action_states = np.array([action_state(seed) for seed in seeds], np.uint64)
        self._cells = self._start(words)

    @property
    def populations(self) -> NDArray[np.int64]:
        """Cells of each grid, int64 ``(rows,)``."""
        return np.full(len(self._bases), self._width * self._height, np.int64)

    def grid_of(self, row: int) -> NDArray[np.uint8]:
        """Return the cells of one row as `Sir.grid` has them."""
        return self._cells.grid_of(row)

    def step(self, n: int = 1) -> None:
        """Do `n` steps of every row."""
        for _ in range(n):
            self._move(self._cells, self._bases[:, np.newaxis])
            self._bases = xorshift64_array(self._bases ^ np.array(self.tick, np.uint64))
            self.tick += 1

    def stats(self) -> dict[str, NDArray[np.float64]]:
        """Return the number of cells in each state, float64 ``(rows,)`` each."""
        susceptible, infected, recovered = self._cells.counts.astype(np.float64)
        return {"Susceptible": susceptible, "Infected": infected, "Recovered": recovered}

    def act(self, action_id: str) -> NDArray[np.bool_]:
        """Do what `Sir.act` does in every row."""
        if action_id != "seed_outbreak":
            return np.zeros(len(self._bases), np.bool_)
        susceptible = self._cells.susceptible_positions()
        words, self._action_states = many_bits(self._action_states, self._cells.counts[0])
        self._cells.infect(susceptible[words < self._infected_below])
        return np.ones(len(self._bases), np.bool_)

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Go on with `rows` alone."""
        self._bases, self._action_states = self._bases[rows], self._action_states[rows]
        self._cells = SirCells(self._cells.grids[rows])


# Twice as many cells were measured to gain a twentieth more, and double the step that a frame waits for.
_MOST_CELLS_TOGETHER, _MOST_ROWS = 1 << 17, 64


def rows_together(params: Mapping[str, ParamValue]) -> int:
    """Return how many epidemics are worth stepping together: what they gain is mostly gained by then."""
    cells = int(params["grid_width"]) * int(params["grid_height"])
    return max(1, min(_MOST_ROWS, _MOST_CELLS_TOGETHER // cells))


def draw_limit(probability: float) -> int:
    """Return the number of 24-bit draws that are below the single-precision `probability`, 0 to 2^24."""
    return math.ceil(probability * 2**24)


def escape_limits(infection_rate: float) -> NDArray[np.uint32]:
    """Return `draw_limit` of staying healthy beside 0 to 8 infected neighbours, uint32 ``(9,)``.

    The probability ``(1 - infection_rate)^k`` is multiplied up in single precision, as the reference does.
    """
    escape, probability = np.float32(1) - np.float32(infection_rate), np.float32(1)
    limits = []
    for _ in range(9):
        limits.append(draw_limit(float(probability)))
        probability = probability * escape
    return np.array(limits, np.uint32)


SIR = ModelEntry(
    id="sir",
    name="SIR Epidemic",
    description="An epidemic among the cells of a torus: the infected infect their neighbours and recover for good.",
    params=(
        *grid_params(),
        f32("infection_rate", "Infection Rate", 0.3, 0.0, 1.0, step=0.01),
        f32("recovery_rate", "Recovery Rate", 0.05, 0.0, 1.0, step=0.01),
        f32(
            "initial_infected_pct",
            "Initial Infected",
            0.01,
            0.0,
            1.0,
            step=0.001,
            apply=Apply.RELOAD,
            format=Format.PERCENT,
        ),
    ),
    stats=(
        Stat("Susceptible", (0x00, 0x7A, 0xF5, 0xFF)),
        Stat("Infected", (0xE4, 0x37, 0x48, 0xFF)),
        Stat("Recovered", (0x80, 0x80, 0x80, 0xFF)),
    ),
    actions=(Action("seed_outbreak", "Seed outbreak"),),
    metadata=ModelMetadata(
        backend=Backend.CPU,
        palette=((0x00, 0x7A, 0xF5), (0xE4, 0x37, 0x48), (0x80, 0x80, 0x80)),
        topology=Topology.GRID,
    ),
    factory=Sir,
    batches=BatchOffer(build=SirBatch, rows=rows_together),
)


ILL = 16
_SUSCEPTIBLE = 15
_EIGHT_ONES = 0x0101010101010101


def _word(value: int) -> NDArray[np.uint64]:
    # An array of no dimensions: a numpy scalar costs a conversion at every use.
    return np.array(value, np.uint64)


_ONE_BYTE, _SEVEN_BYTES, _HALF_BYTE = _word(8), _word(56), _word(4)
_ONES, _FIFTEENS = _word(_EIGHT_ONES), _word(_EIGHT_ONES * 15)


class SirCells:
    """The cells of one epidemic or of several, one after the other.

    Positions of cells are numbers that rise from left to right, from row to row and from run to run, the same in every
    method; they are not consecutive across rows.

    Rows are padded to whole words, so that one operation on words works on eight cells. A cell stands in three
    buffers: 1 in the one of the infected (where each run has a border that repeats the opposite edges), 15 in the one
    of the susceptible, 16 in the one of the ill. The last two hold nothing outside the grids, and one ``and`` and one
    ``or`` turn the number of infected neighbours into a code for each cell: 0 needs no draw, 1 to 8 is a susceptible
    cell with that many infected neighbours, 16 an infected cell.

    Attributes:
        susceptible: Number of susceptible cells of all runs.
        infected: Number of infected cells.
        recovered: Number of recovered cells.

    Args:
        states: State of each cell, 0 to 2 as `grids` has them, uint8 ``(runs, height, width)``.
    """

    def __init__(self, states: NDArray[np.uint8]) -> None:
        self._runs, self._height, self._width = runs, height, width = states.shape
        self._stride = stride = -(-(width + 2) // 8) * 8
        self._spread, self._open, self._ill = np.zeros((3, runs, height + 2, stride), np.uint8)
        # The rows of all runs are one long loop over the inner rows of the first and all rows behind. Row r of the
        # last two buffers is row r + 1 of the infected, so that they need no border above, and keep those below empty.
        size = (runs * (height + 2) - 2) * stride
        self._flat_open, self._flat_ill = self._open.reshape(-1)[:size], self._ill.reshape(-1)[:size]
        self._flat_spread = self._spread.reshape(-1)[stride:-stride]
        # One spare word at each end keeps the neighbours of the first and the last word inside.
        self._columns = np.zeros(size // 8 + 2, np.uint64)
        self._pair, self._code, self._shifted = np.zeros((3, size // 8), np.uint64)
        row_starts = np.arange(runs * (height + 2)).reshape(runs, height + 2) * stride
        self._run_starts = np.append(row_starts[:, 0], size)
        self._row_starts = np.append(row_starts[:, :height], size)
        self._ill_positions: NDArray[np.intp] | None = None
        self._edges = self._edge_operands()
        flags = [(states == state).view(np.uint8) for state in range(3)]
        self._spread[:, 1:-1, 1 : width + 1] = flags[1]
        self._open[:, :height, 1 : width + 1] = flags[0] * _SUSCEPTIBLE
        self._ill[:, :height, 1 : width + 1] = flags[1] * ILL
        self._counts = np.array([[np.count_nonzero(run) for run in flag] for flag in flags], np.int64)
        self.susceptible, self.infected, self.recovered = self._counts.sum(axis=1).tolist()
        self._wrap()

    @property
    def heap_bytes(self) -> int:
        """Bytes the buffers hold, with the most that a step needs on top: where every cell draws (measured)."""
        words = (self._columns, self._pair, self._code, self._shifted)
        buffers = sum(array.nbytes for array in (self._spread, self._open, self._ill, self._row_starts, *words))
        # Positions of the drawing and of the exposed cells; their draws, those compared, and limits; two flags.
        a_drawing_cell = 2 * np.dtype(np.intp).itemsize + 3 * np.dtype(np.uint32).itemsize + 2
        a_row = 4 * np.dtype(np.uint64).itemsize  # where its draws start and end, how many there are, its stream
        return int(buffers + (a_drawing_cell * self._width + a_row) * self._height * self._runs)

    def grid_of(self, run: int) -> NDArray[np.uint8]:
        """Return the cells of one run as `grids` has them, uint8 ``(height, width)``; a fresh array."""
        return self._states(run)

    @property
    def grids(self) -> NDArray[np.uint8]:
        """0 for a susceptible cell, 1 for an infected, 2 for a recovered, uint8 ``(runs, height, width)``; fresh."""
        return self._states(slice(None))

    def _states(self, runs: int | slice) -> NDArray[np.uint8]:
        inner = (runs, slice(self._height), slice(1, self._width + 1))
        states: NDArray[np.uint8] = (2 - (self._open[inner] & 2) - (self._ill[inner] >> 4)).astype(np.uint8, copy=False)
        return states

    @property
    def counts(self) -> NDArray[np.int64]:
        """Susceptible, infected and recovered cells of each run, int64 ``(3, runs)``."""
        if self._runs == 1:
            return np.array([[self.susceptible], [self.infected], [self.recovered]])
        return self._counts

    def drawing(self) -> NDArray[np.intp]:
        """Return the positions of the cells that need a draw: infected, or susceptible beside an infected one."""
        if self.susceptible:
            return self._find_drawing()
        if self._ill_positions is None:
            self._ill_positions = np.flatnonzero(self._ill)
        return self._ill_positions

    def row_bounds(self, positions: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return where each row begins and the last one ends in the rising `positions`, ``(runs * height + 1,)``."""
        bounds: NDArray[np.intp] = np.searchsorted(positions, self._row_starts)
        return bounds

    def codes(self, positions: NDArray[np.intp]) -> NDArray[np.uint8]:
        """Return the codes that the last `drawing` found at `positions`, uint8."""
        codes: NDArray[np.uint8] = self._code.view(np.uint8)[positions]
        return codes

    def susceptible_positions(self) -> NDArray[np.intp]:
        """Return the positions of all susceptible cells."""
        return np.flatnonzero((self._open.view(np.uint64) & _ONES).view(np.bool_))

    def infect(self, positions: NDArray[np.intp]) -> None:
        """Make the susceptible cells at `positions` infected."""
        if positions.size:
            self.susceptible -= positions.size
            self.infected += positions.size
            self._count(positions, 0)
            self._flat_open[positions] = 0
            self._flat_ill[positions] = ILL
            self._flat_spread[positions] = 1
            self._ill_positions = None
            self._wrap()

    def change(self, positions: NDArray[np.intp], changed: NDArray[np.bool_]) -> None:
        """Move the cells that `changed` marks among the `positions` of `drawing` to their next state."""
        moving = positions[changed]
        ill = self._flat_ill
        gone = moving
        if self.susceptible:
            was_ill = ill[moving] != 0
            gone = moving[was_ill]
            self._flat_spread[gone] = 0
        self.infected -= gone.size
        self.recovered += gone.size
        self._count(gone, 1)
        ill[gone] = 0
        if self.susceptible:
            self.infect(moving[~was_ill])
            self._wrap()
        else:
            self._ill_positions = positions[~changed]

    def _count(self, positions: NDArray[np.intp], state: int) -> None:
        """Count the cells at the rising `positions` as gone from `state` to the next one, where there are runs."""
        if self._runs > 1:
            bounds = np.searchsorted(positions, self._run_starts)
            moved = bounds[1:] - bounds[:-1]
            self._counts[state] -= moved
            self._counts[state + 1] += moved

    def _edge_operands(self) -> tuple[NDArray[np.uint8], ...]:
        field, width = self._spread if self._runs > 1 else self._spread[0], self._width
        inner = field[..., 1:-1, :]
        columns = inner[..., 0], inner[..., width], inner[..., width + 1], inner[..., 1]
        return *columns, field[..., 0, :], field[..., -2, :], field[..., -1, :], field[..., 1, :]

    def _wrap(self) -> None:
        west, last, east, first, north, bottom, south, top = self._edges
        west[...] = last
        east[...] = first
        north[...] = bottom
        south[...] = top

    def _find_drawing(self) -> NDArray[np.intp]:
        words = self._spread.reshape(-1).view(np.uint64)
        stride, size = self._stride // 8, self._pair.size
        up, centre, down = (words[row * stride : row * stride + size] for row in range(3))
        before, here, after = self._columns[:-2], self._columns[1:-1], self._columns[2:]
        pair, code, shifted = self._pair, self._code, self._shifted
        add, left, right = np.add, np.left_shift, np.right_shift
        both, either = np.bitwise_and, np.bitwise_or
        # Column sums, then those of the columns beside: each byte takes the one before and the one after it.
        add(up, down, pair)
        add(pair, centre, here)
        left(here, _ONE_BYTE, code)
        add(code, pair, code)
        right(here, _ONE_BYTE, shifted)
        add(code, shifted, code)
        right(before, _SEVEN_BYTES, shifted)
        add(code, shifted, code)
        left(after, _SEVEN_BYTES, shifted)
        add(code, shifted, code)
        both(code, self._flat_open.view(np.uint64), code)
        either(code, self._flat_ill.view(np.uint64), code)
        # A code of 1 to 16 has 16 or 32 less one added: its upper half is then not empty.
        add(code, _FIFTEENS, shifted)
        right(shifted, _HALF_BYTE, shifted)
        both(shifted, _ONES, shifted)
        return np.flatnonzero(shifted.view(np.bool_))
