"""Conway's Game of Life on a torus: rule B3/S23, no randomness after the start (reference engine, section 2.8).

Owns draws, actions and statistics; how the cells lie in memory is `life_cells`' business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from henad_web.model.entry import Backend, BatchOffer, ModelEntry, ModelMetadata, Topology
from henad_web.model.grid import grid_params, grid_start, row_jobs
from henad_web.model.params import Apply, ParamValue, f32
from henad_web.model.schema import Action, Stat
from henad_web.models.life_cells import Games, LifeLayout, games_layout, life_layout
from henad_web.randomness import action_state, many_bits, stream_bits, threshold

__all__ = ["GAME_OF_LIFE", "GameOfLife", "GameOfLifeBatch"]


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


class GameOfLifeBatch:
    """Several games of one config under way, each the one it is alone.

    Attributes:
        tick: Steps done so far.
    """

    def __init__(self, params: Mapping[str, ParamValue], seeds: Sequence[int]) -> None:
        self._width, self._height = int(params["grid_width"]), int(params["grid_height"])
        self.tick = 0
        self._alive_below = np.uint32(threshold(float(params["density"])))
        self._action_states = np.array([action_state(seed) for seed in seeds], np.uint64)
        self._scatter(np.array([grid_start(seed) for seed in seeds], np.uint64))

    @property
    def populations(self) -> NDArray[np.int64]:
        """Cells of each grid, int64 ``(rows,)``."""
        return np.full(len(self._action_states), self._width * self._height, np.int64)

    def grid_of(self, row: int) -> NDArray[np.uint8]:
        """Return the cells of one row as `GameOfLife.grid` has them."""
        return self._games.read_one(row)

    def step(self, n: int = 1) -> None:
        """Do `n` steps of every row."""
        self._games.step(n)
        self.tick += n

    def stats(self) -> dict[str, NDArray[np.float64]]:
        """Return the number of living cells, float64 ``(rows,)``."""
        return {"Alive": self._games.alive().astype(np.float64)}

    def act(self, action_id: str) -> NDArray[np.bool_]:
        """Do what `GameOfLife.act` does in every row."""
        rows = len(self._action_states)
        if action_id == "randomise":
            self._action_states = self._scatter(self._action_states)
        elif action_id == "clear":
            self._write(np.zeros((rows, self._height, self._width), np.uint8))
        else:
            return np.zeros(rows, np.bool_)
        return np.ones(rows, np.bool_)

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Go on with `rows` alone."""
        self._action_states = self._action_states[rows]
        self._write(self._games.read()[rows])

    def _scatter(self, states: NDArray[np.uint64]) -> NDArray[np.uint64]:
        words, states = many_bits(states, np.full(len(states), self._width * self._height, np.int64))
        self._write((words < self._alive_below).view(np.uint8).reshape(-1, self._height, self._width))
        return states

    def _write(self, alive: NDArray[np.uint8]) -> None:
        self._games: Games = games_layout(self._width, self._height, len(alive))
        self._games.write(alive)


_MOST_CELLS_OF_A_ROW, _MOST_ROWS = 1 << 16, 64


def rows_together(params: Mapping[str, ParamValue]) -> int:
    """Return how many games are worth stepping together: a word holds a cell of each, and they are to stay cached."""
    cells = int(params["grid_width"]) * int(params["grid_height"])
    return _MOST_ROWS if cells <= _MOST_CELLS_OF_A_ROW else 1


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
    batches=BatchOffer(build=GameOfLifeBatch, rows=rows_together),
)
