"""The epidemic: equal to a plain reading of its rule cell by cell, and to recorded runs, at any size."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from henad_web.errors import ParamError
from henad_web.model.state import ModelState
from henad_web.models import example_models
from henad_web.models.sir import SirCells, draw_limit, escape_limits
from henad_web.randomness import chunk_factors

ENTRY = example_models()["sir"]
SLOW = settings(max_examples=40)


def grid_of(state: ModelState) -> NDArray[np.uint8]:
    """Return the state's grid, which every grid model has."""
    assert state.grid is not None
    return state.grid


MASK = 2**64 - 1


def xorshift(state: int) -> int:
    state ^= state << 13 & MASK
    state ^= state >> 7
    return state ^ (state << 17 & MASK)


def mix(seed: int) -> int:
    mixed = seed + 0x73475CB40A568E8D & MASK
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & MASK
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & MASK
    return mixed ^ mixed >> 31


class PlainSir:
    """The rule read literally: one cell after the other, one draw after the other."""

    def __init__(self, width: int, height: int, infection: float, recovery: float, initial: float, seed: int) -> None:
        self.width, self.height, self.tick = width, height, 0
        self.initial = min(int(np.float32(initial) * np.float32(2**32 - 1)), 2**32 - 1)
        self.actions = mix(seed ^ 0x00AC71045EED0001)
        self.set_rates(infection, recovery)
        self.cells = [[0] * width for _ in range(height)]
        self.base = self.outbreak(mix(seed))

    def set_rates(self, infection: float, recovery: float) -> None:
        self.recovery = np.float32(recovery)
        self.escape = [np.float32(1)]
        for _ in range(8):
            self.escape.append(self.escape[-1] * (np.float32(1) - np.float32(infection)))

    def outbreak(self, state: int) -> int:
        for row in self.cells:
            for x, cell in enumerate(row):
                if cell == 0:
                    state = xorshift(state)
                    row[x] = int(state >> 32 < self.initial)
        return state

    def seed_outbreak(self) -> None:
        self.actions = self.outbreak(self.actions)

    def infected_near(self, x: int, y: int) -> int:
        offsets = [(dx, dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy]
        return sum(self.cells[(y + dy) % self.height][(x + dx) % self.width] == 1 for dx, dy in offsets)

    def step(self) -> None:
        after = []
        for y, row in enumerate(self.cells):
            tick, chunk = self.tick * 0x9E3779B97F4A7C15 & MASK, y * 0xBF58476D1CE4E5B9 & MASK
            state = xorshift((self.base ^ tick ^ chunk) | 1)
            new_row = list(row)
            for x, cell in enumerate(row):
                near = self.infected_near(x, y) if cell == 0 else 0
                if cell == 2 or (cell == 0 and near == 0):
                    continue
                state = xorshift(state)
                draw = np.float32(state >> 40) / np.float32(2**24)
                if draw >= self.escape[near] if cell == 0 else draw < self.recovery:
                    new_row[x] += 1
            after.append(new_row)
        self.cells = after
        self.base = xorshift(self.base ^ self.tick)
        self.tick += 1


RATES = st.sampled_from([0.0, 0.01, 0.05, 0.3, 0.5, 0.999, 1.0])


@SLOW
@given(
    width=st.integers(1, 20),
    height=st.integers(1, 20),
    infection=RATES,
    recovery=RATES,
    initial=st.sampled_from([0.0, 0.02, 0.3, 1.0]),
    seed=st.integers(0, MASK),
    outbreak_at=st.integers(0, 6),
    rates_later=st.tuples(RATES, RATES),
)
def test_every_cell_of_every_step_is_that_of_the_rule_read_literally(
    width: int,
    height: int,
    infection: float,
    recovery: float,
    initial: float,
    seed: int,
    outbreak_at: int,
    rates_later: tuple[float, float],
) -> None:
    plain = PlainSir(width, height, infection, recovery, initial, seed)
    state = ENTRY.build(
        {
            "grid_width": width,
            "grid_height": height,
            "infection_rate": infection,
            "recovery_rate": recovery,
            "initial_infected_pct": initial,
        },
        seed,
    )
    for tick in range(8):
        if tick == outbreak_at:
            plain.seed_outbreak()
            assert state.act("seed_outbreak")
        if tick == 5:
            plain.set_rates(*rates_later)
            assert state.set_param("infection_rate", rates_later[0])
            assert state.set_param("recovery_rate", rates_later[1])
        assert grid_of(state).tolist() == plain.cells
        flat = [cell for row in plain.cells for cell in row]
        assert list(state.stats().values()) == [flat.count(0), flat.count(1), flat.count(2)]
        plain.step()
        state.step()


@pytest.mark.parametrize(("width", "height"), [(1, 90), (300, 1), (2, 2), (257, 3), (3, 257), (64, 65)])
def test_awkward_sizes_follow_the_rule(width: int, height: int) -> None:
    plain = PlainSir(width, height, 0.3, 0.2, 0.1, 5)
    state = ENTRY.build(
        {"grid_width": width, "grid_height": height, "recovery_rate": 0.2, "initial_infected_pct": 0.1}, 5
    )
    for _ in range(4):
        plain.step()
        state.step()
    assert grid_of(state).tolist() == plain.cells


FIXTURE = [
    (11389263990721755462, 0.2, [(254, 2, 0), (223, 30, 3), (75, 159, 22), (0, 193, 63), (0, 135, 121)]),
    (11389263990721755462, 0.4, [(254, 2, 0), (139, 107, 10), (0, 205, 51), (0, 164, 92), (0, 114, 142)]),
]


@pytest.mark.parametrize(("seed", "infection", "rows"), FIXTURE)
def test_a_recorded_run_of_the_reference_engine_is_reproduced(
    seed: int, infection: float, rows: list[tuple[int, int, int]]
) -> None:
    state = ENTRY.build({"grid_width": 16, "grid_height": 16, "infection_rate": infection}, seed)
    seen = [tuple(state.stats().values())]
    for _ in range(4):
        state.step(5)
        if state.tick == 5:
            state.act("seed_outbreak")
        seen.append(tuple(state.stats().values()))
    assert seen == rows


def build(seed: int = 1, **params: object) -> tuple[NDArray[np.uint8], list[NDArray[np.uint8]]]:
    state = ENTRY.build({"grid_width": 96, "grid_height": 80, **params}, seed)
    grids = [grid_of(state)]
    for _ in range(30):
        state.step()
        grids.append(grid_of(state))
    return grids[0], grids


def test_cells_only_move_forward_and_none_is_lost() -> None:
    _, grids = build()
    for before, after in pairwise(grids):
        assert np.isin(after.astype(int) - before, (0, 1)).all()
        assert np.bincount(after.reshape(-1), minlength=3).sum() == 96 * 80
    assert (grids[-1] == 2).any()


def test_nobody_is_infected_at_rate_0() -> None:
    first, grids = build(infection_rate=0.0)
    assert ((grids[-1] == 0) == (first == 0)).all()


def test_the_infected_never_grow_fewer_when_nobody_recovers() -> None:
    _, grids = build(recovery_rate=0.0)
    infected = [int((grid == 1).sum()) for grid in grids]
    assert infected == sorted(infected)
    assert infected[-1] > infected[0]


def near(infected: NDArray[np.bool_]) -> NDArray[np.int64]:
    cells = infected.astype(np.int64)
    rolled = [np.roll(cells, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy]
    total: NDArray[np.int64] = np.sum(rolled, axis=0)
    return total


def test_infection_and_recovery_happen_as_often_as_the_rates_say() -> None:
    state = ENTRY.build({"grid_width": 400, "grid_height": 300, "initial_infected_pct": 0.2}, 3)
    before = grid_of(state)
    state.step()
    after = grid_of(state)
    neighbours = near(before == 1)
    groups = [((before == 0) & (neighbours == count), 1 - 0.7**count) for count in range(5)]
    groups.append((before == 1, 0.05))
    for cells, probability in groups:
        tried, moved = int(cells.sum()), int((after[cells] != before[cells]).sum())
        assert tried > 1000
        band = 4 * (tried * probability * (1 - probability)) ** 0.5
        assert abs(moved - tried * probability) <= band


def test_many_steps_at_once_are_the_same_steps() -> None:
    together, apart = (ENTRY.build({"grid_width": 40, "grid_height": 30}, 9) for _ in range(2))
    together.step(25)
    for _ in range(25):
        apart.step()
    assert together.tick == apart.tick == 25
    assert np.array_equal(grid_of(together), grid_of(apart))
    together.step(0)
    assert together.tick == 25


def test_looking_at_the_grid_changes_nothing() -> None:
    state = ENTRY.build({"grid_width": 20, "grid_height": 20}, 4)
    grid = grid_of(state)
    expected = grid.copy()
    grid[:] = 2
    assert np.array_equal(grid_of(state), expected)


def test_only_rates_are_taken_while_running() -> None:
    state = ENTRY.build({"grid_width": 8, "grid_height": 8})
    assert not state.set_param("initial_infected_pct", 0.5)
    assert not state.act("seed_outbreaks")
    with pytest.raises(ParamError, match="did you mean 'infection_rate'"):
        state.set_param("infection_rat", 0.5)
    with pytest.raises(ParamError, match="out of range"):
        state.set_param("recovery_rate", 1.5)


@given(probability=st.floats(0, 1, width=32), draw=st.integers(0, 2**24 - 1))
@SLOW
def test_integer_limits_decide_like_single_precision_draws(probability: float, draw: int) -> None:
    as_float = np.float32(draw) / np.float32(2**24)
    assert (draw < draw_limit(probability)) == bool(as_float < np.float32(probability))


@pytest.mark.parametrize(
    ("probability", "limit"),
    [(0.0, 0), (2.0**-25, 1), (2.0**-24, 1), (1.5 * 2.0**-24, 2), (0.25, 2**22), (1.0, 2**24)],
)
def test_a_limit_counts_the_draws_below_a_probability_between_two_of_them(probability: float, limit: int) -> None:
    """Half a draw is below: a limit rounded down would let a probability under 2^-24 never happen."""
    assert draw_limit(probability) == limit
    draws = np.arange(4, dtype=np.float64) / 2**24
    assert min(limit, 4) == np.count_nonzero(draws < probability)


def test_escape_limits_fall_with_every_infected_neighbour() -> None:
    limits = escape_limits(0.25).tolist()
    assert limits[0] == 2**24
    assert limits[1:4] == [12582912, 9437184, 7077888]
    assert limits == sorted(limits, reverse=True)


def test_a_state_says_what_it_holds() -> None:
    state = ENTRY.build({"grid_width": 128, "grid_height": 128})
    assert state.population == 128 * 128
    assert state.parallel_jobs == 2
    assert state.heap_bytes == SirCells(grid_of(state)[np.newaxis]).heap_bytes + chunk_factors(128).nbytes


@pytest.mark.parametrize(("width", "height"), [(1, 10_000), (2, 10_000), (10_000, 1), (200, 200)])
def test_a_run_takes_the_memory_it_says(width: int, height: int) -> None:
    params = {"grid_width": width, "grid_height": height, "infection_rate": 0.9, "initial_infected_pct": 0.5}
    ENTRY.build(params, 3).step(3)  # what is made once a process is no run's
    tracemalloc.start()
    state = ENTRY.build(params, 3)
    tracemalloc.reset_peak()
    state.step(3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= state.heap_bytes <= 1.5 * peak
