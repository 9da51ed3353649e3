"""A study with negative, wide, double and text parameters, from plan and imports to results, resume and verify."""

from __future__ import annotations

import json

import numpy as np
import pytest

import henad_web as hw
from henad_web.importers.importing import ImportOptions, import_spec
from henad_web.results.archive import pack, unpack
from tests.shared.hosts import Host
from tests.shared.test_results_resume import interrupted
from tests.shared.wide_values import MODELS, SCHEMA, WIDE

SPEC = """
model = "wide"

[set]
share = 0.4

[run]
steps = 4
replicates = 2

[measure]
stats_every = 2

[[block]]
where = "offset < 0 or rule == 'a, \\"b\\"'"
factors = [
  { param = "offset", values = [-9007199254740993, -7, 9223372036854775807] },
  { param = "level", range = { min = -0.1, max = 0.3, step = 0.1 } },
  { param = "rule", values = ["B3/S23", 'a, "b"', "8", "naïve 🐜"] },
]

[[block]]
design = "lhs"
samples = 5
factors = [
  { param = "offset", range = { min = -9223372036854775808, max = 9223372036854775807 } },
  { param = "level", range = { min = -1e300, max = 1e300 } },
  { param = "share", range = { min = -1.5, max = 1.5 } },
]
"""
STUDY = hw.parse_spec(SPEC.replace("[set]\nshare = 0.4\n", "")).spec

NETLOGO = """\
<experiments>
  <experiment name="wide" repetitions="2" runMetricsEveryStep="false">
    <timeLimit steps="4"/>
    <enumeratedValueSet variable="offset"><value value="-9007199254740993"/><value value="-3"/></enumeratedValueSet>
    <steppedValueSet variable="level" first="-0.2" step="0.1" last="0.2"/>
    <enumeratedValueSet variable="share"><value value="-0.4"/></enumeratedValueSet>
    <enumeratedValueSet variable="rule"><value value="&quot;B36/S23&quot;"/></enumeratedValueSet>
  </experiment>
</experiments>
"""
MESA = """\
import numpy as np
batch_run(Wide, {"offset": [-9007199254740993, -3], "level": np.arange(-0.2, 0.25, 0.1), "share": -0.4,
                 "rule": "B36/S23"}, iterations=2, max_steps=4)
"""


@pytest.fixture
def files(stepped: Host) -> dict[str, bytes]:
    return stepped.files(WIDE, STUDY)


def test_the_rows_give_every_value_back(files: dict[str, bytes]) -> None:
    results = hw.ResultSet.from_files(files, models=MODELS)
    plan = results.plan
    assert plan.plan_hash == STUDY.plan(SCHEMA).plan_hash == results.manifest.plan.plan_hash
    assert results.is_complete
    assert len(results.runs) == plan.run_count > 60
    for run in plan.runs():
        row = results.runs.run(run.run_id)
        params = plan.configs[run.config_id].params
        assert SCHEMA.values(row.params) == params
        expected = dict(zip((param.id for param in SCHEMA.params), params, strict=True))
        expected["share"] = float(SCHEMA.param("share").text(expected["share"]))
        assert dict(row.params) == expected
        assert row.reducers["Letters:final"] == len(str(row.params["rule"]))


def test_the_columns_have_their_types_and_find_their_values(files: dict[str, bytes]) -> None:
    results = hw.ResultSet.from_files(files, models=MODELS)
    runs, summary = results.runs, results.summary
    for table in (runs, summary):
        kinds = [table[name].dtype.kind for name in ("share", "level", "offset", "rule")]
        assert kinds == ["f", "f", "i", "U"]
        assert {table[name].dtype for name in ("share", "level")} == {np.dtype(np.float64)}
        assert table["offset"].dtype == np.int64
        assert np.count_nonzero(table["share"] == 0.4) > 0
        assert set(table["level"][table["block"] == 0].tolist()) == {-0.1, 0.0, 0.1, 0.2, 0.3}
        assert set(table["offset"][table["block"] == 0].tolist()) == {-(2**53) - 1, -7, 2**63 - 1}
        assert 'a, "b"' in table["rule"].tolist()
    chosen = (runs["share"] == 0.4) & (runs["level"] == 0.3) & (runs["offset"] == -7) & (runs["rule"] == "naïve 🐜")
    assert np.count_nonzero(chosen) == 2


def test_a_replay_and_a_verification_build_the_same_bits(files: dict[str, bytes]) -> None:
    results = hw.ResultSet.from_files(files, models=MODELS)
    for run in results.plan.runs():
        state = results.replay(run.run_id)
        assert tuple(state.params.values()) == results.plan.configs[run.config_id].params  # type: ignore[attr-defined]
    report = hw.verify_results(results, runs=results.plan.run_count)
    assert (report.differences, len(report.run_ids)) == ((), results.plan.run_count)


@pytest.mark.parametrize(("old", "new"), [(b",-9007199254740993,", b",-9007199254740992,"), (b",8,true", b",8.0,true")])
def test_a_value_that_only_nearly_agrees_is_a_difference(files: dict[str, bytes], old: bytes, new: bytes) -> None:
    assert old in files["runs.csv"]
    changed = {**files, "runs.csv": files["runs.csv"].replace(old, new)}
    results = hw.ResultSet.from_files(changed, models=MODELS)
    assert hw.verify_results(results, runs=results.plan.run_count).differences


@pytest.mark.parametrize("runs", [1, 40])
def test_it_goes_on_to_the_bytes_of_a_whole_one(host: Host, stepped: Host, files: dict[str, bytes], runs: int) -> None:
    archive = pack(interrupted(stepped, WIDE, STUDY, runs))
    run = hw.SweepRun.resume_files(WIDE, unpack(archive), target=host.target)
    went_on = host.record(run).files
    assert went_on is not None
    assert hw.masked(went_on) == hw.masked(files)


def test_both_importers_give_the_same_study_and_it_runs(stepped: Host) -> None:
    specs = [import_spec(text, ImportOptions(model="wide", schema=SCHEMA)) for text in (NETLOGO, MESA)]
    plans = [hw.parse_spec(found.toml()).spec.plan(SCHEMA) for found in specs]
    assert [plan.run_count for plan in plans] == [20, 20]
    assert plans[0].plan_hash == plans[1].plan_hash
    params = plans[0].configs[0].params
    assert params[2:5] == (-0.2, -(2**53) - 1, "B36/S23")
    results = hw.ResultSet.from_files(stepped.files(WIDE, plans[0].spec), models=MODELS)
    assert sorted(set(results.runs["level"].tolist())) == [-0.2, -0.1, 0.0, 0.1, 0.2]
    assert set(results.runs["share"].tolist()) == {-0.4}
    assert set(results.runs["status"].tolist()) == {"ok"}


def test_an_import_tells_what_no_parameter_takes() -> None:
    text = json.dumps({"rule": [8], "offset": [2**63], "level": ["x"]})
    with pytest.raises(hw.SpecError) as caught:
        import_spec(text, ImportOptions(model="wide", schema=SCHEMA))
    assert [problem.wrong for problem in caught.value.problems] == [
        "parameter 'rule': not a text",
        "parameter 'offset': out of range",
        "parameter 'level': not a number",
    ]


def test_the_plan_as_a_table_has_the_decimals() -> None:
    plan = STUDY.plan(SCHEMA)
    (row, *_) = hw.plan_table(plan)
    named = dict(zip(hw.plan_columns(plan), row, strict=True))
    assert [named[id] for id in ("share", "level", "offset", "rule")] == ["0.4", "-0.1", "-9007199254740993", "B3/S23"]


def test_bounds_of_salib_are_taken_to_the_digit() -> None:
    bounds: list[list[float]] = [[-(2**53) - 1, 2**62 + 1], [-1e300, 0.25], [-1, 1]]
    problem = {"num_vars": 3, "names": ["offset", "level", "share"], "bounds": bounds}
    found = import_spec(json.dumps(problem), ImportOptions(model="wide", schema=SCHEMA, samples=8))
    factors = hw.parse_spec(found.toml()).spec.blocks[0].factors
    assert [factor.levels for factor in factors] == [hw.RangeLevels(min=low, max=high) for low, high in bounds]
    assert found.spec.plan(SCHEMA).config_count == 8
