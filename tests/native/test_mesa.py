"""Models of Mesa's as they are: the rows that its own batch_run collects, and refusals in words.

Mutants seen red: a tick without a collection has the row before it; the first row collected is read; models are kept,
or those alone whose build failed; the seed is cut to 32 bits or not given; a build without a seed has Mesa's own; an
attribute comes before a reporter; the end is not seen, or stepped past; a name is not made free; `Literal`, the
annotation float and bounds are not heard; agents that were not collected have the rows before.
"""

from __future__ import annotations

import gc
import math
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mesa
import numpy as np
import pandas as pd
import pytest
from mesa.batchrunner import batch_run
from mesa.examples import BoltzmannWealth, Schelling, SugarscapeG1mt

import henad_web as hw
from henad_native.cli import main
from henad_web.errors import ModelDefinitionError
from henad_web.testing import check_model
from tests.native.mesa_models import AnyArguments, Listing, Unseeded, Walkers

ROOT = Path(__file__).parents[2]
STEPS = 12
EXAMPLES: list[tuple[Any, dict[str, Any]]] = [
    (BoltzmannWealth, {"n": 20}),
    (Schelling, {"width": 8, "height": 8}),
    (SugarscapeG1mt, {"initial_population": 12}),
]

# What numpy says of the mean of no prices.
pytestmark = pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value encountered")


def swept(entry: hw.ModelEntry, replicates: int = 3, **options: Any) -> dict[str, bytes]:
    spec = hw.SweepSpec(
        model=entry.id,
        run=hw.RunSettings(steps=STEPS, replicates=replicates),
        measure=hw.MeasureSettings(series_every=1),
    )
    record = hw.run_spec(entry, spec, options=hw.SweepRunOptions(**options))
    assert record.files is not None
    return record.files


@pytest.mark.parametrize(("model", "values"), EXAMPLES, ids=lambda given: getattr(given, "__name__", ""))
def test_the_series_is_what_batch_run_collects(model: Any, values: dict[str, Any]) -> None:
    entry = hw.from_mesa(model, params=values)
    results = hw.ResultSet.from_files(swept(entry), models=entry)
    reporters = list(model(**values, seed=1).datacollector.model_reporters)
    seen = set()
    for run in results.runs:
        given = {**values, "seed": run.run.seed}
        collected = pd.DataFrame(
            batch_run(model, given, max_steps=STEPS, data_collection_period=1, display_progress=False)
        )
        theirs = collected.drop_duplicates("Step")[reporters].to_numpy(float)
        series = results.series(run.run.run_id)
        # Its steps count collections from 0, and the last one of a model that ends is left out.
        ours = series.values[1 if model is SugarscapeG1mt else 0 :]
        shared = min(len(ours), len(theirs))
        assert shared >= run.ticks
        np.testing.assert_array_equal(ours[:shared], theirs[:shared])
        seen.add(series.values.tobytes())
    assert len(seen) == 3


def test_a_run_ends_where_the_model_no_longer_runs() -> None:
    entry = hw.from_mesa(Schelling, params={"width": 8, "height": 8})
    results = hw.ResultSet.from_files(swept(entry), models=entry)
    assert {str(run.stop_reason) for run in results.runs} == {"condition"}
    for run in results.runs:
        model = Schelling(width=8, height=8, seed=run.run.seed)
        while model.running:
            model.step()
        assert run.ticks == model.steps
        last = dict(zip(results.series(run.run.run_id).columns, results.series(run.run.run_id).values[-1], strict=True))
        theirs = {name: values[-1] for name, values in model.datacollector.model_vars.items()}
        assert list(last.values()) == list(theirs.values())
        assert run.population == len(model.agents)
    state = results.replay(0, "end")
    assert (state.tick, state.has_ended()) == (results.runs.run(0).ticks, True)  # type: ignore[attr-defined]
    state.step(3)
    assert state.tick == results.runs.run(0).ticks
    assert hw.verify_results(results, runs=3).is_equal


@pytest.mark.parametrize(("model", "values"), EXAMPLES, ids=lambda given: getattr(given, "__name__", ""))
def test_lanes_in_processes_leave_the_same_bytes(model: Any, values: dict[str, Any]) -> None:
    entry = hw.from_mesa(model, params=values)
    assert hw.masked(swept(entry, lanes="in_caller")) == hw.masked(swept(entry, lanes="process", concurrency=2))


@pytest.mark.parametrize(("model", "values"), EXAMPLES, ids=lambda given: getattr(given, "__name__", ""))
def test_the_models_keep_the_rules_of_equal_results(model: Any, values: dict[str, Any]) -> None:
    exempt = {"sweep": "it collects nothing before its first step"} if model is SugarscapeG1mt else None
    report = check_model(hw.from_mesa(model, params=values), ticks=8, exempt=exempt)
    assert report.is_ok, report


def test_the_command_line_runs_the_example(tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(
        'model = "schelling"\n[set]\nwidth = 8\nheight = 8\n[run]\nsteps = 50\nreplicates = 2\n'
        "[[block]]\nfactors = [{ param = 'homophily', values = [0.3, 0.5] }]\n",
        encoding="utf-8",
    )
    models = str(ROOT / "examples" / "mesa_models.py")
    assert main(["run", str(spec), "--out", str(tmp_path / "out"), "--models", models, "--quiet"]) == 0
    assert hw.ResultSet.open(tmp_path / "out").runs["status"].tolist() == ["ok"] * 4


def test_parameters_are_the_arguments_of_the_class() -> None:
    entry = hw.from_mesa(Walkers, params={"N": (1, 50), "place": hw.choice(("here", "there"), 1)})
    kinds = {param.id: (str(param.kind), param.default, param.min, param.max) for param in entry.params}
    assert kinds == {
        "n": ("i64", 5, 1, 50),
        "width": ("f64", 10.0, -1e300, 1e300),
        "form": ("choice", "ring", None, None),
        "is_fast": ("bool", False, None, None),
        "name": ("text", "walk", None, None),
        "param_population": ("i64", 3, -(2**63), 2**63 - 1),
        "place": ("choice", "there", None, None),
    }
    assert not entry.metadata.portable
    assert (entry.id, entry.description) == ("walkers", "Agents on a line that step to either side.")
    given = {"n": 2, "width": 3.5, "form": "line", "is_fast": True, "name": "x", "param_population": 4, "place": "here"}
    state: Any = entry.build(given, seed=2**64 - 1)
    assert state.model.given == (2, 3.5, "line", True, "x", 4, "here")
    assert state.model._seed == 2**64 - 1
    assert state.population == 2
    assert "place" not in {param.id for param in hw.from_mesa(Walkers).params}
    assert [param.default for param in hw.from_mesa(Walkers, params={"N": 7, "form": "line"}).params][:3] == [
        7,
        10,
        "line",
    ]


def test_sliders_say_what_a_parameter_is() -> None:
    controls = {
        "N": SimpleNamespace(value=8, label="Agents", min=1, max=20, step=1),
        "width": {"type": "SliderFloat", "value": 2.0, "label": "Width", "min": 0.5, "max": 4.0},
        "form": {"type": "Select", "value": "line", "values": ["ring", "line"]},
        "is_fast": {"type": "Checkbox", "value": True},
        "place": {"type": "Select", "value": "up", "values": ["up", "down"]},
    }
    found = {param.id: param for param in hw.from_mesa(Walkers, params=controls).params}
    assert (found["n"].label, found["n"].default, found["n"].min, found["n"].max) == ("Agents", 8, 1, 20)
    assert (found["width"].default, found["width"].max) == (2.0, 4.0)
    assert (found["form"].default, found["is_fast"].default, found["place"].options) == ("line", True, ("up", "down"))


def test_what_was_not_collected_in_the_step_to_a_tick_is_no_number() -> None:
    entry = hw.from_mesa(Walkers, params={"place": hw.text("x")})
    assert [stat.label for stat in entry.stats] == ["stat_place", "ids"]
    state = entry.build(seed=3)
    seen = []
    while not state.has_ended():  # type: ignore[attr-defined]
        seen.append(state.stats()["ids"])
        state.step(1)
    assert [value for value in seen if not math.isnan(value)] == [15, 15, 15, 15]
    assert [tick for tick, value in enumerate(seen) if math.isnan(value)] == [1, 3, 5]


def test_columns_are_reporters_attributes_and_functions() -> None:
    stats = {"Where": "place", "Agents": lambda model: len(model.agents), "Steps": "steps"}
    state = hw.from_mesa(Walkers, stats=stats).build(seed=3)
    state.step(3)
    found = state.stats()
    assert math.isnan(found.pop("Where"))  # a reporter comes before an attribute
    assert found == {"Agents": 5, "Steps": 3}
    assert [stat.label for stat in hw.from_mesa(Walkers, stats=["steps", "ids"]).stats] == ["steps", "ids"]
    with pytest.raises(hw.HenadError, match=r"'stepz' is missing \(the model has no 'stepz'; did you mean 'steps'\?\)"):
        hw.from_mesa(Walkers, stats=["stepz"]).build().stats()


def test_seeds_go_to_the_argument_that_takes_them() -> None:
    for_all = hw.from_mesa(AnyArguments, params={"size": 3, "colour": "red"}, stats=["draw"])
    state: Any = for_all.build({"size": 4}, seed=5)
    assert (state.model.size, state.model.share, state.model.others["colour"]) == (4, 0.5, "red")
    assert state.stats()["draw"] == mesa.Model(seed=5).random.random()
    assert for_all.build().stats() == for_all.build(seed=0).stats()
    listing: Any = hw.from_mesa(Listing, stats=["one"]).build(seed=5)
    assert listing.model.random.random() == mesa.Model(seed=5).random.random()


def test_no_run_leaves_its_model_in_the_process() -> None:
    entry = hw.from_mesa(Listing, stats=["one"])
    gc.collect()
    before = len(mesa.Agent._ids)
    states: list[Any] = [entry.build(seed=seed) for seed in range(3)]
    assert len(mesa.Agent._ids) == before + 3
    assert [next(iter(state.model.agents)).unique_id for state in states] == [1, 1, 1]
    with pytest.raises(ValueError, match="as asked"):
        entry.build({"fails": True})
    assert len(mesa.Agent._ids) == before + 3
    del states
    gc.collect()
    assert len(mesa.Agent._ids) == before


def test_the_table_of_agents_is_what_batch_run_collects_of_them() -> None:
    entry = hw.from_mesa(BoltzmannWealth, params={"n": 9}, agents={"Wealth": "i64"})
    assert entry.tables == (hw.Table("agents", {"AgentID": "i64", "Wealth": "i64"}),)
    spec = hw.SweepSpec(
        model=entry.id,
        run=hw.RunSettings(steps=STEPS, replicates=2),
        measure=hw.MeasureSettings(tables=("agents",), tables_every=1),
    )
    record = hw.run_spec(entry, spec)
    results = hw.ResultSet.from_files(record.files or {}, models=entry)
    table = results.table("agents")
    for run in results.runs:
        given = {"n": 9, "seed": run.run.seed}
        rows = batch_run(BoltzmannWealth, given, max_steps=STEPS, data_collection_period=1, display_progress=False)
        theirs = [[row[name] for name in ("Step", "AgentID", "Wealth")] for row in rows]
        found = table.run(run.run.run_id)
        ours = np.column_stack([found.ticks, found["AgentID"], found["Wealth"]])
        assert ours.tolist() == theirs


def test_agents_have_no_row_where_none_was_collected() -> None:
    state: Any = hw.from_mesa(Walkers, params={"N": 2}, agents={"half": "f64"}).build(seed=3)
    assert state.table("agents") == {"AgentID": [1, 2], "half": [0.5, 1.0]}
    state.step(1)
    assert state.table("agents") == {"AgentID": [], "half": []}
    wrong = hw.from_mesa(Walkers, agents={"hlaf": "f64"}).build(seed=3)
    assert state.table("agents").keys() - wrong.table("agents").keys() == {"half"}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("model", "given", "words"),
    [
        (Unseeded, {}, "Unseeded takes no seed, .* super\\(\\).__init__\\(seed=seed\\)"),
        (AnyArguments, {"stats": ["draw"]}, "argument 'size' has no default .* write params="),
        (Walkers, {"params": {"widht": 3}}, "'widht', which the class does not take; allowed: N, .*'width'\\?"),
        (Walkers, {"params": {"seed": 3}}, "'seed', which every run brings by itself"),
        (Walkers, {"params": {"place": (0, 1)}}, "'place', whose default is no number; write hw.f64"),
        (Walkers, {"params": {"place": [1, 2]}}, "params has \\[1, 2\\] for 'place'; allowed: hw.f64"),
        (Walkers, {"params": {"N": (6, 9)}}, "parameter 'n': default 5 is not within 6 to 9"),
        (Walkers, {"stats": []}, "stats is empty"),
        (Walkers, {"stats": "place"}, "stats is 'place'; allowed"),
        (Walkers, {"stats": {"one": 1}}, "'one' is read from 1; allowed"),
        (Listing, {}, "Listing collects a list as 'several', .* name the columns to take: stats=\\['one'\\]"),
        (Listing, {"params": {"fails": True}}, "Listing cannot be built with its defaults, .*ValueError: as asked"),
        (AnyArguments, {"params": {"size": 1}}, "AnyArguments collects nothing; name attributes"),
        (mesa.Model, {}, "takes a class made from mesa.Model"),
        (int, {}, "takes a class made from mesa.Model; this is"),
    ],
)
def test_what_makes_no_model_is_told(model: Any, given: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelDefinitionError, match=words):
        hw.from_mesa(model, **given)


def test_an_instance_and_a_missing_library_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelDefinitionError, match="a model, not its class"):
        hw.from_mesa(Walkers(seed=1))
    monkeypatch.setitem(sys.modules, "mesa", None)
    with pytest.raises(ModelDefinitionError, match=r"pip install 'henad-web\[mesa\]'"):
        hw.from_mesa(Walkers)
