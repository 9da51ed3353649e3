"""An epidemic on a torus: susceptible, infected, recovered (reference engine, section 2.7)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from henad_web.model.entry import Backend, ModelEntry, ModelMetadata, Topology
from henad_web.model.grid import grid_params, grid_start, row_jobs
from henad_web.model.params import Apply, Format, ParamValue, f32
from henad_web.model.schema import Action, Stat
from henad_web.models.sir_cells import ILL, SirCells
from henad_web.randomness import (
    action_state,
    chunk_factors,
    chunk_seeds,
    next_base,
    row_words,
    stream_bits,
    threshold,
)

__all__ = ["SIR", "Sir"]

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
