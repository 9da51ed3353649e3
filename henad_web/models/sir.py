"""An epidemic on a torus: susceptible, infected, recovered (reference engine, section 2.7).

`Sir` owns draws and probabilities; `SirCells` how the cells lie in memory, which of them need a draw, and what a change
of cells touches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from henad_web.model.entry import Backend, ModelEntry, ModelMetadata, Topology
from henad_web.model.grid import grid_params, grid_start, row_jobs
from henad_web.model.params import Apply, Format, ParamValue, f32
from henad_web.model.schema import Action, Stat
from henad_web.randomness import action_state, chunk_factors, chunk_seeds, next_base, row_words, stream_bits, threshold

__all__ = [
    "ILL",
    "SIR",
    "Sir",
    "SirCells",
]

_DRAW_SHIFT = np.array(8, np.uint32)
_LIVE = ("infection_rate", "recovery_rate")


class Sir:
    """One epidemic under way.

    Attributes:
        tick: Steps done so far.
        population: Cells of the grid.
        parallel_jobs: Parts a step could be split into.
    """

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        width, height = int(params["grid_width"]), int(params["grid_height"])
        self.tick = 0
        self.population = width * height
        self.parallel_jobs: int | None = row_jobs(width, height)
        self._rates = {id: float(params[id]) for id in _LIVE}
        self._infected_below = threshold(float(params["initial_infected_pct"]))
        self._action_state = action_state(seed)
        self._factors = chunk_factors(height)
        words, self._base = stream_bits(grid_start(seed), self.population)
        self._cells = SirCells((words < np.uint32(self._infected_below)).reshape(height, width))
        self._set_limits()

    @property
    def grid(self) -> NDArray[np.uint8]:
        """0 for a susceptible cell, 1 for an infected, 2 for a recovered, ``(height, width)``; a fresh array."""
        return self._cells.grid

    @property
    def heap_bytes(self) -> int:
        """Bytes the cells hold, with the most that a step needs on top."""
        return self._cells.heap_bytes + self._factors.nbytes

    def step(self, n: int = 1) -> None:
        """Do `n` steps."""
        for _ in range(n):
            self._step()

    def _step(self) -> None:
        cells = self._cells
        drawing = cells.drawing()
        if drawing.size:
            starts = chunk_seeds(self._base, self.tick, self._factors)
            bounds = cells.row_bounds(drawing)
            draws = row_words(starts, bounds[1:] - bounds[:-1])
            draws >>= _DRAW_SHIFT
            changed = draws < self._recovery_limit
            if drawing.size > cells.infected:
                codes = cells.codes(drawing)
                exposed = np.flatnonzero(codes < ILL)
                changed[exposed] = draws[exposed] >= self._escape_limits[codes[exposed]]
            cells.change(drawing, changed)
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
        self._cells.infect(susceptible[words < np.uint32(self._infected_below)])
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

    def _set_limits(self) -> None:
        # Compared as integers: a draw is its 24 bits over 2^24, so draw < p where its bits are below ceil(p * 2^24).
        self._recovery_limit = np.array(draw_limit(self._rates["recovery_rate"]), np.uint32)
        self._escape_limits = escape_limits(self._rates["infection_rate"])


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
    """The cells of one epidemic: one a byte, eight a word.

    Rows are padded to whole words, so that one operation on words works on eight cells. A cell stands in three buffers:
    1 in the one of the infected (which alone has a border that repeats the opposite edges), 15 in the one of the
    susceptible, 16 in the one of the ill. The last two hold nothing outside the grid, and one ``and`` and one ``or``
    turn the number of infected neighbours into a code for each cell: 0 needs no draw, 1 to 8 is a susceptible cell with
    that many infected neighbours, 16 an infected cell.

    Positions of cells are numbers that rise from left to right and from row to row, the same in every method; they
    are not consecutive across rows.

    Attributes:
        susceptible: Number of susceptible cells.
        infected: Number of infected cells.
        recovered: Number of recovered cells.

    Args:
        infected: Which cells are infected at first, the others being susceptible, bool ``(height, width)``.
    """

    def __init__(self, infected: NDArray[np.bool_]) -> None:
        height, width = infected.shape
        self._width, self._stride = width, -(-(width + 2) // 8) * 8
        size = height * self._stride
        self.infected = int(np.count_nonzero(infected))
        self.susceptible = infected.size - self.infected
        self.recovered = 0
        self._spread = np.zeros((height + 2, self._stride), np.uint8)
        self._open = np.zeros((height, self._stride), np.uint8)
        self._ill = np.zeros((height, self._stride), np.uint8)
        self._spread[1:-1, 1 : width + 1] = infected
        self._open[:, 1 : width + 1] = _SUSCEPTIBLE * ~infected
        self._ill[:, 1 : width + 1] = ILL * infected
        # One spare word at each end keeps the neighbours of the first and the last word inside.
        self._columns = np.zeros(size // 8 + 2, np.uint64)
        self._pair, self._code, self._shifted = np.zeros((3, size // 8), np.uint64)
        self._row_starts = np.arange(height + 1) * self._stride
        self._ill_positions: NDArray[np.intp] | None = None
        self._wrap()

    @property
    def heap_bytes(self) -> int:
        """Bytes the buffers hold, with the most that a step needs on top: where every cell draws (measured)."""
        words = (self._columns, self._pair, self._code, self._shifted)
        buffers = sum(array.nbytes for array in (self._spread, self._open, self._ill, self._row_starts, *words))
        # Positions of the drawing and of the exposed cells; their draws, those compared, and limits; two flags.
        a_drawing_cell = 2 * np.dtype(np.intp).itemsize + 3 * np.dtype(np.uint32).itemsize + 2
        a_row = 4 * np.dtype(np.uint64).itemsize  # where its draws start and end, how many there are, its stream
        height = self._ill.shape[0]
        return int(buffers + (a_drawing_cell * self._width + a_row) * height)

    @property
    def grid(self) -> NDArray[np.uint8]:
        """0 for a susceptible cell, 1 for an infected, 2 for a recovered, uint8 ``(height, width)``; a fresh array."""
        inner = slice(1, self._width + 1)
        return (2 - (self._open[:, inner] & 2) - (self._ill[:, inner] >> 4)).astype(np.uint8, copy=False)

    def drawing(self) -> NDArray[np.intp]:
        """Return the positions of the cells that need a draw: infected, or susceptible beside an infected one."""
        if self.susceptible:
            return self._find_drawing()
        if self._ill_positions is None:
            self._ill_positions = np.flatnonzero(self._ill)
        return self._ill_positions

    def row_bounds(self, positions: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return where each row begins and the last one ends in the rising `positions`, ``(height + 1,)``."""
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
            self._open.reshape(-1)[positions] = 0
            self._ill.reshape(-1)[positions] = ILL
            self._spread[1:-1].reshape(-1)[positions] = 1
            self._ill_positions = None
            self._wrap()

    def change(self, positions: NDArray[np.intp], changed: NDArray[np.bool_]) -> None:
        """Move the cells that `changed` marks among the `positions` of `drawing` to their next state."""
        moving = positions[changed]
        ill = self._ill.reshape(-1)
        gone = moving
        if self.susceptible:
            was_ill = ill[moving] != 0
            gone = moving[was_ill]
            self._spread[1:-1].reshape(-1)[gone] = 0
        self.infected -= gone.size
        self.recovered += gone.size
        ill[gone] = 0
        if self.susceptible:
            self.infect(moving[~was_ill])
            self._wrap()
        else:
            self._ill_positions = positions[~changed]

    def _wrap(self) -> None:
        field, width = self._spread, self._width
        field[1:-1, 0] = field[1:-1, width]
        field[1:-1, width + 1] = field[1:-1, 1]
        field[0] = field[-2]
        field[-1] = field[1]

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
        both(code, self._open.reshape(-1).view(np.uint64), code)
        either(code, self._ill.reshape(-1).view(np.uint64), code)
        # A code of 1 to 16 has 16 or 32 less one added: its upper half is then not empty.
        add(code, _FIFTEENS, shifted)
        right(shifted, _HALF_BYTE, shifted)
        both(shifted, _ONES, shifted)
        return np.flatnonzero(shifted.view(np.bool_))
