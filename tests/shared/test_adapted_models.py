"""Models of other libraries, by stand-ins that have what the adapters ask for: the same on every target.

Mutants seen red: the seed or a parameter's own name is lost; agents are counted at the build alone; the last record
stands for every tick; the model is stepped past its end.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import henad_web as hw
from henad_web.errors import ModelDefinitionError, StatsShapeError
from henad_web.testing import check_model
from tests.shared.hosts import Host


class Drift:
    """What AgentPy's models have in common: a walk that records its place at even times."""

    def __init__(self, parameters: dict[str, Any]) -> None:
        self.p, self.t, self.running, self.log = parameters, 0, False, dict[str, list[Any]]()
        self.agents = [SimpleNamespace(), SimpleNamespace()]

    def sim_setup(self, steps: int | None = None, seed: int | None = None) -> None:
        self.random, self.place, self.running = random.Random(seed), 0.0, True
        self._record()

    def sim_step(self) -> None:
        self.t += 1
        self.agents.append(SimpleNamespace())
        self.place += self.random.random() * self.p["speedUp"]
        if self.t % 2 == 0:
            self._record()
        self.running = self.place < self.p["end"]

    def _record(self) -> None:
        self.log.setdefault("t", []).append(self.t)
        self.log.setdefault("place", []).append(self.place)


PARAMS = {"speedUp": 1, "end": hw.f64(3.0, min=1, max=10)}
DRIFT = hw.from_agentpy(Drift, params=PARAMS)


def test_an_entry_is_made_of_the_class() -> None:
    assert (DRIFT.id, DRIFT.name, DRIFT.metadata.portable) == ("drift", "Drift", False)
    assert [(param.id, str(param.kind), param.default) for param in DRIFT.params] == [
        ("speed_up", "i64", 1),
        ("end", "f64", 3.0),
    ]
    assert DRIFT.schema().stat_labels == ("place",)
    assert hw.from_agentpy(Drift, params=PARAMS, id="other", portable=True).metadata.portable


def test_a_run_ends_with_the_model_and_has_what_it_recorded(host: Host) -> None:
    measure = hw.MeasureSettings(series_every=1)
    spec = hw.SweepSpec(model="drift", run=hw.RunSettings(steps=30, replicates=3), measure=measure)
    results = hw.ResultSet.from_files(host.files(DRIFT, spec), models=DRIFT)
    for run in results.runs:
        model = Drift({"speedUp": 1, "end": 3.0})
        model.sim_setup(seed=run.run.seed)
        while model.running:
            model.sim_step()
        series = results.series(run.run.run_id)
        assert (run.ticks, run.stop_reason, run.population) == (model.t, hw.StopReason.CONDITION, model.t + 2)
        assert series.ticks.tolist() == list(range(model.t + 1))
        values = series.values[:, 0].tolist()
        assert values[::2] == model.log["place"]
        assert all(map(math.isnan, values[1::2]))
    state = results.replay(0, "end")
    state.step(3)
    assert state.tick == results.runs.run(0).ticks


def test_columns_are_records_attributes_and_functions() -> None:
    stats = {"Place": "place", "Time": "t", "Agents": lambda model: len(model.agents), "tick": "t"}
    state = hw.from_agentpy(Drift, params=PARAMS, stats=stats).build(seed=4)
    state.step(1)
    found = state.stats()
    assert math.isnan(found.pop("Place"))
    assert found == {"Time": 1, "Agents": 3, "stat_tick": 1}
    wrong = hw.from_agentpy(Drift, params=PARAMS, stats=["plase"]).build()
    with pytest.raises(StatsShapeError, match=r"'plase' is missing .*did you mean 'place'"):
        wrong.stats()


def test_a_build_without_a_seed_is_that_of_seed_0() -> None:
    one, other = DRIFT.build(), DRIFT.build(seed=0)
    one.step(2)
    other.step(2)
    assert one.stats() == other.stats()


def test_the_stand_in_keeps_the_rules_of_equal_results() -> None:
    whole = hw.from_agentpy(Drift, params=PARAMS, stats={"where": lambda model: model.place})
    report = check_model(whole, ticks=8)
    assert report.is_ok, report


def listing(parameters: dict[str, Any]) -> Drift:
    raise AssertionError("it is never called")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: hw.from_agentpy(listing, params={}), "takes a class with sim_setup and sim_step; this is"),
        (lambda: hw.from_agentpy(Drift, params={"seed": 1}), "'seed', which every run brings by itself"),
        (lambda: hw.from_agentpy(Drift, params={"end": (1, 2)}), "bounds for 'end', whose default is no number"),
        (lambda: hw.from_agentpy(Drift, params={"end": None}), "params has None for 'end'; allowed: hw.f64"),
        (lambda: hw.from_agentpy(Drift, params=PARAMS, stats=[]), "stats is empty"),
    ],
)
def test_what_makes_no_model_is_told(make: Callable[[], object], words: str) -> None:
    with pytest.raises(ModelDefinitionError, match=words):
        make()
