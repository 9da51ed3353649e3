"""Replicates stepped on one array: every row is the run it is alone, whatever the others are. Over every entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import henad_web as hw
from henad_web.model.state import BatchState, ModelState

ENTRIES = {id: entry for id, entry in hw.example_models().items() if entry.batches is not None}

SIZES = st.sampled_from([(16, 16), (1, 1), (2, 9), (7, 3), (31, 8), (64, 5), (40, 24)])
FRACTIONS = st.sampled_from([0.0, 0.01, 0.3, 0.9, 1.0])
VALUES: Mapping[str, Mapping[str, st.SearchStrategy[float]]] = {
    "game_of_life": {"density": FRACTIONS},
    "sir": {"infection_rate": FRACTIONS, "recovery_rate": FRACTIONS, "initial_infected_pct": FRACTIONS},
}
MAX_SEED = 2**64 - 1


def assert_rows_are(batch: BatchState, alone: Sequence[ModelState]) -> None:
    """Make sure that each row shows what the run does that is stepped alone."""
    stats = [state.stats() for state in alone]
    assert [tuple(found) for found in stats] == [tuple(batch.stats())] * len(alone)
    assert [list(found.values()) for found in stats] == np.transpose(list(batch.stats().values())).tolist()
    assert batch.populations.tolist() == [state.population for state in alone]
    assert {batch.tick} == {state.tick for state in alone}
    for row, state in enumerate(alone):
        np.testing.assert_array_equal(batch.grid_of(row), state.grid)


@settings(max_examples=60)
@pytest.mark.parametrize("id", ENTRIES)
@given(data=st.data())
def test_each_row_goes_the_way_it_goes_alone(id: str, data: st.DataObject) -> None:
    entry, (width, height) = ENTRIES[id], data.draw(SIZES)
    drawn = {name: data.draw(values) for name, values in VALUES[id].items()}
    params = {"grid_width": width, "grid_height": height, **drawn}
    seeds = data.draw(st.lists(st.integers(0, MAX_SEED), min_size=1, max_size=12))
    batch, alone = entry.build_many(params, seeds), [entry.build(params, seed) for seed in seeds]
    assert_rows_are(batch, alone)
    for _ in range(data.draw(st.integers(1, 5))):
        match data.draw(st.sampled_from(["step", "step", "act", "keep"])):
            case "step":
                steps = data.draw(st.integers(0, 9))
                batch.step(steps)
                for state in alone:
                    state.step(steps)
            case "act":
                action = data.draw(st.sampled_from([*entry.schema().action_ids, "unheard_of"]))
                assert batch.act(action).tolist() == [state.act(action) for state in alone]
            case _:
                rows = [row for row in range(len(alone)) if data.draw(st.booleans())] or [0]
                batch.keep(np.array(rows))
                alone = [alone[row] for row in rows]
        assert_rows_are(batch, alone)


@pytest.mark.parametrize("id", ENTRIES)
def test_as_many_rows_as_are_worth_it_go_their_ways_too(id: str) -> None:
    entry, params = ENTRIES[id], {"grid_width": 24, "grid_height": 17}
    seeds = range(1, entry.batch_rows(params) + 1)
    batch, alone = entry.build_many(params, seeds), [entry.build(params, seed) for seed in seeds]
    batch.step(20)
    for state in alone:
        state.step(20)
    assert_rows_are(batch, alone)


@pytest.mark.parametrize("id", ENTRIES)
@pytest.mark.parametrize(("side", "fewest"), [(16, 64), (64, 16), (4000, 1)])
def test_the_rows_that_are_worth_it_follow_from_the_size(id: str, side: int, fewest: int) -> None:
    rows = ENTRIES[id].batch_rows({"grid_width": side, "grid_height": side})
    assert rows == 1 if fewest == 1 else rows >= fewest


def test_an_entry_without_batches_says_so() -> None:
    bare = hw.ModelEntry(**{name: getattr(ENTRIES["sir"], name) for name in BARE})
    assert bare.batch_rows({}) == 1
    with pytest.raises(hw.UsageError, match="model 'sir' steps its runs one by one"):
        bare.build_many({}, [1, 2])


BARE = ("id", "name", "description", "params", "stats", "actions", "metadata", "factory")


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5])
def test_a_batch_refuses_the_seeds_that_a_single_run_refuses(seed: object) -> None:
    with pytest.raises(hw.ParamError, match="seed"):
        ENTRIES["sir"].build_many({}, [1, seed])  # type: ignore[list-item]


def test_batches_enter_no_hash() -> None:
    bare = hw.ModelEntry(**{name: getattr(ENTRIES["sir"], name) for name in BARE})
    assert bare.schema().schema_hash == ENTRIES["sir"].schema().schema_hash
