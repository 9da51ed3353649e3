"""Models of AgentPy's as they are: the variables that its own `run` records; ``poe check-agentpy`` runs this.

No test of the suite: AgentPy installs a package `tests`, which would stand in the way of this one, so it is put into a
folder of its own, without that. `tests/shared/test_adapted_models.py` has what needs no AgentPy.
"""

from __future__ import annotations

import agentpy as ap
import numpy as np

import henad_web as hw
from henad_web.testing import check_model


class Person(ap.Agent):
    def setup(self) -> None:
        self.wealth = 1

    def give(self) -> None:
        if self.wealth > 0:
            self.wealth -= 1
            self.model.agents.random().wealth += 1


class Market(ap.Model):
    def setup(self) -> None:
        self.agents = ap.AgentList(self, self.p.agents, Person)

    def step(self) -> None:
        self.agents.give()

    def update(self) -> None:
        self.record("richest", max(self.agents.wealth))
        self.record("poor", sum(wealth == 0 for wealth in self.agents.wealth))
        if self.t > 3 and max(self.agents.wealth) >= self.p.limit:
            self.stop()


PARAMS = {"agents": ap.IntRange(10, 50), "limit": 5, "steps": 15}


def test_the_series_is_what_the_model_records() -> None:
    entry = hw.from_agentpy(Market, params=PARAMS)
    assert [(param.id, param.default) for param in entry.params] == [("agents", 10), ("limit", 5), ("steps", 15)]
    assert (entry.params[0].min, entry.params[0].max) == (10, 50)
    run = hw.RunSettings(steps=30, replicates=4)
    spec = hw.SweepSpec(model="market", run=run, measure=hw.MeasureSettings(series_every=1))
    record = hw.run_spec(entry, spec, options=hw.SweepRunOptions(lanes="process", concurrency=2))
    results = hw.ResultSet.from_files(record.files or {}, models=entry)
    assert len({run.ticks for run in results.runs}) > 1
    for each in results.runs:
        model = Market({"agents": 10, "limit": 5, "steps": 15})
        recorded = model.run(seed=each.run.seed, display=False).variables.Market
        series = results.series(each.run.run_id)
        np.testing.assert_array_equal(series.values, recorded.to_numpy(float))
        assert series.ticks.tolist() == list(recorded.index)
        assert (each.stop_reason, each.population) == (hw.StopReason.CONDITION, 10)


def test_the_model_keeps_the_rules_of_equal_results() -> None:
    exempt = {"clocks": "AgentPy notes when a model was made, and draws seeds that it then replaces"}
    report = check_model(hw.from_agentpy(Market, params=PARAMS), exempt=exempt)
    assert report.is_ok, report
