"""The Game of Life: the same game in every layout, at every size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import henad_web as hw
from henad_web.model.state import ModelState
from henad_web.models import example_models
from henad_web.models.life_cells import ByteLife, LaneLife, LifeLayout, lanes_of, life_layout

ENTRY = example_models()["game_of_life"]
SLOW = settings(max_examples=40)


def grid_of(state: ModelState) -> NDArray[np.uint8]:
    """Return the state's grid, which every grid model has."""
    assert state.grid is not None
    return state.grid


def plain_step(cells: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the next generation, read literally."""
    height, width = cells.shape
    after = np.zeros_like(cells)
    for y in range(height):
        for x in range(width):
            near = sum(
                int(cells[(y + dy) % height, (x + dx) % width]) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy
            )
            after[y, x] = near == 3 or (near == 2 and cells[y, x] == 1)
    return after


def rolled_step(cells: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the next generation of a grid that would be slow to read literally."""
    shifts = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy]
    near = np.sum([np.roll(cells, shift, (0, 1)) for shift in shifts], axis=0)
    after: NDArray[np.uint8] = ((near == 3) | ((near == 2) & (cells == 1))).astype(np.uint8)
    return after


def layouts(width: int, height: int) -> list[LifeLayout]:
    return [ByteLife(width, height), LaneLife(width, height), LaneLife(width, height, turned=True)]


def random_cells(width: int, height: int, seed: int) -> NDArray[np.uint8]:
    return (np.random.default_rng(seed).random((height, width)) < 0.4).astype(np.uint8)


@SLOW
@given(width=st.integers(1, 14), height=st.integers(1, 14), seed=st.integers(0, 10**6))
def test_every_layout_plays_the_rule_read_literally(width: int, height: int, seed: int) -> None:
    cells = random_cells(width, height, seed)
    games = layouts(width, height)
    for game in games:
        game.write(cells)
    for _ in range(4):
        cells = plain_step(cells)
        for game in games:
            game.step(1)
            assert np.array_equal(game.read(), cells)
            assert game.alive() == int(cells.sum())


@pytest.mark.parametrize(
    ("width", "height"),
    [(1, 200), (200, 1), (67, 131), (64, 64), (128, 7), (7, 128), (130, 192), (97, 96), (2, 2), (200, 122)],
)
def test_layouts_agree_at_awkward_sizes(width: int, height: int) -> None:
    cells = random_cells(width, height, 8)
    games = layouts(width, height)
    for game in games:
        game.write(cells)
        game.step(9)
    for _ in range(9):
        cells = rolled_step(cells)
    for game in games:
        assert np.array_equal(game.read(), cells)


@pytest.mark.parametrize(("side", "lanes"), [(1, 1), (63, 63), (64, 64), (65, 13), (96, 48), (127, 1), (1024, 64)])
def test_lanes_are_the_largest_divisor_that_fits_a_word(side: int, lanes: int) -> None:
    assert lanes_of(side) == lanes


def test_the_size_alone_chooses_the_layout() -> None:
    assert isinstance(life_layout(64, 64), ByteLife)
    assert isinstance(life_layout(1024, 1024), LaneLife)
    assert isinstance(life_layout(257, 512), LaneLife)
    assert isinstance(life_layout(512, 257), LaneLife)
    assert isinstance(life_layout(257, 263), ByteLife)


def test_a_recorded_game_of_the_reference_engine_is_reproduced() -> None:
    state = ENTRY.build({"grid_width": 32, "grid_height": 32, "density": 0.3}, 42)
    alive = [state.stats()["Alive"]]
    for _ in range(3):
        state.step()
        alive.append(state.stats()["Alive"])
    assert alive == [335, 355, 306, 302]


def test_a_glider_comes_back_after_a_lap_of_the_torus() -> None:
    cells = np.zeros((12, 12), np.uint8)
    cells[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
    for game in layouts(12, 12):
        game.write(cells)
        game.step(47)
        assert not np.array_equal(game.read(), cells)
        game.step(1)
        assert np.array_equal(game.read(), cells)


@pytest.mark.parametrize("side", [32, 128])
def test_actions_clear_and_refill_the_grid(side: int) -> None:
    state = ENTRY.build({"grid_width": side, "grid_height": side, "density": 0.25}, 6)
    first = grid_of(state)
    assert state.act("clear")
    assert state.stats() == {"Alive": 0.0}
    assert state.act("randomise")
    second = grid_of(state)
    assert state.act("randomise")
    third = grid_of(state)
    for grid in (first, second, third):
        assert abs(grid.mean() - 0.25) < 4 * (0.25 * 0.75 / side**2) ** 0.5
    assert not np.array_equal(first, second)
    assert not np.array_equal(second, third)
    assert not state.act("randomize")


def test_actions_do_not_touch_the_start_of_another_build() -> None:
    disturbed = ENTRY.build({"grid_width": 40, "grid_height": 40}, 6)
    disturbed.act("randomise")
    again, fresh = (ENTRY.build({"grid_width": 40, "grid_height": 40}, 6) for _ in range(2))
    assert np.array_equal(grid_of(again), grid_of(fresh))
    assert not np.array_equal(grid_of(disturbed), grid_of(fresh))


def test_no_parameter_is_taken_while_running() -> None:
    state = ENTRY.build({"grid_width": 8, "grid_height": 8})
    assert not state.set_param("density", 0.5)
    with pytest.raises(hw.ParamError, match="did you mean 'density'"):
        state.set_param("densty", 0.5)


@pytest.mark.parametrize("side", [16, 256])
def test_a_state_says_what_it_holds(side: int) -> None:
    state = ENTRY.build({"grid_width": side, "grid_height": side})
    assert state.population == side * side
    assert state.parallel_jobs == max(1, side * side // 8192)
    assert state.heap_bytes >= side * side // 8


@pytest.mark.parametrize("density", [0.0, 1.0])
def test_the_ends_of_the_density_fill_none_or_all(density: float) -> None:
    state = ENTRY.build({"grid_width": 50, "grid_height": 50, "density": density}, 3)
    assert state.stats()["Alive"] == density * 2500
