"""Declaring, finding and building models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from henad_web.errors import ModelDefinitionError, ParamError, UnknownModelError
from henad_web.model.entry import ModelEntry, ModelSet
from henad_web.model.params import ParamValue
from henad_web.model.schema import Action, Stat
from henad_web.model.state import ModelState
from henad_web.models import example_models

SIR = example_models()["sir"]


@pytest.mark.parametrize("id", ["", "Sir", "1sir", "_sir", "sir-1", "sir model", "sîr", "sir\n"])
def test_an_id_that_a_spec_could_not_name_is_refused(id: str) -> None:
    with pytest.raises(ModelDefinitionError, match="malformed"):
        replace(SIR, id=id)
    with pytest.raises(ModelDefinitionError, match=r"parameter id .* is malformed"):
        replace(SIR, params=(*SIR.params, replace(SIR.params[0], id=id)))


def test_names_used_twice_are_refused() -> None:
    with pytest.raises(ModelDefinitionError, match="parameter 'grid_width' twice"):
        replace(SIR, params=(*SIR.params, SIR.params[0]))
    with pytest.raises(ModelDefinitionError, match="statistic 'Infected' twice"):
        replace(SIR, stats=(*SIR.stats, Stat("Infected", (0, 0, 0, 0))))
    with pytest.raises(ModelDefinitionError, match="action 'seed_outbreak' twice"):
        replace(SIR, actions=(*SIR.actions, Action("seed_outbreak", "Again")))


def test_a_set_holds_models_in_the_order_they_came() -> None:
    models = example_models()
    assert list(models) == ["sir", "game_of_life"]
    models.insert(replace(SIR, id="sir_2"))
    assert list(models) == ["sir", "game_of_life", "sir_2"]
    assert len(example_models()) == 2
    assert models.lookup("sir_2").name == "SIR Epidemic"


def test_a_set_refuses_a_second_model_of_one_id() -> None:
    with pytest.raises(ModelDefinitionError, match="already holds a model 'sir'"):
        ModelSet((SIR, SIR))


def test_an_unknown_model_is_refused_with_what_was_probably_meant() -> None:
    with pytest.raises(UnknownModelError) as caught:
        example_models().lookup("game_of_live")
    assert str(caught.value) == ("no model 'game_of_live'; known: sir, game_of_life; did you mean 'game_of_life'?")
    with pytest.raises(UnknownModelError) as caught:
        example_models().lookup("mine")
    own = "a model of your own is given as models=, as in hw.ResultSet.open(path, models=MyModel)"
    assert str(caught.value) == f"no model 'mine'; known: sir, game_of_life; {own}"


def test_missing_parameters_take_their_defaults() -> None:
    state = SIR.build({"grid_width": 16, "grid_height": 8}, seed=1)
    grid = state.grid
    assert grid is not None
    assert grid.shape == (8, 16)
    assert grid.dtype == np.uint8
    assert state.tick == 0


def test_a_mapping_and_its_canonical_tuple_build_the_same() -> None:
    given = {"grid_width": "16", "grid_height": 16, "infection_rate": 0.05}
    values = SIR.schema().values(given)
    states: list[ModelState] = [SIR.build(given, 3), SIR.build(values, 3)]
    for state in states:
        state.step(10)
    first, second = (np.asarray(state.grid) for state in states)
    assert np.array_equal(first, second)


def test_no_seed_is_a_start_of_its_own() -> None:
    small = {"grid_width": 64, "grid_height": 64, "initial_infected_pct": 0.5}
    unseeded, again, zero = SIR.build(small), SIR.build(small), SIR.build(small, 0)
    assert np.array_equal(np.asarray(unseeded.grid), np.asarray(again.grid))
    assert not np.array_equal(np.asarray(unseeded.grid), np.asarray(zero.grid))


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "7"])
def test_a_seed_that_is_none_is_refused(seed: object) -> None:
    with pytest.raises(ParamError, match="parameter 'seed'"):
        SIR.build({"grid_width": 4, "grid_height": 4}, seed)  # type: ignore[arg-type]


def test_the_largest_seed_builds() -> None:
    assert SIR.build({"grid_width": 4, "grid_height": 4}, 2**64 - 1).population == 16


def test_values_that_do_not_fit_are_refused_before_anything_is_built() -> None:
    built: list[Mapping[str, ParamValue]] = []

    def build(params: Mapping[str, ParamValue], seed: int | None) -> ModelState:
        built.append(params)
        return SIR.factory(params, seed)

    entry = replace(SIR, factory=build)
    with pytest.raises(ParamError, match="out of range"):
        entry.build({"grid_width": 0})
    with pytest.raises(ParamError, match="did you mean 'grid_width'"):
        entry.build({"grid_widht": 4})
    with pytest.raises(ParamError, match="wrong number of values"):
        entry.build((1, 2))
    assert built == []
    entry.build({"grid_width": 4, "grid_height": 4})
    assert list(built[0]) == [param.id for param in entry.params]


def test_an_entry_knows_the_file_of_its_model() -> None:
    assert (SIR.source_file or "").endswith(("models/sir.py", "models\\sir.py", "models/sir.pyc"))
    assert replace(SIR, source_module="no.such.module").source_file is None


@pytest.mark.parametrize("entry", example_models().values(), ids=list(example_models()))
def test_every_model_keeps_the_contract(entry: ModelEntry) -> None:
    state = entry.build({"grid_width": 24, "grid_height": 16}, 5)
    assert list(state.stats()) == list(entry.schema().stat_labels)
    assert all(type(value) is float for value in state.stats().values())
    assert state.population == 24 * 16
    assert state.grid is not None
    assert state.grid.max() < len(entry.metadata.palette)
    assert not state.act("no_such_action")
    for action in entry.actions:
        assert state.act(action.id)
    state.step(3)
    assert state.tick == 3
    assert state.heap_bytes > 0
