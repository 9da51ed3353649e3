"""The files of a sweep: the recorded fixture, and the same bytes from every host, output and slice size."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import henad_web as hw
from henad_web.run.control import SliceSize
from tests.shared.hosts import Host
from tests.shared.toy_models import Toy, entry_of, toy_spec

EXAMPLES = Path(__file__).parents[2] / "examples"

FIXTURE_ROWS = {
    0: ["254,2,0", "223,30,3", "75,159,22", "0,193,63", "0,135,121"],
    2: ["254,2,0", "139,107,10", "0,205,51", "0,164,92", "0,114,142"],
}


def fixture_spec() -> hw.SweepSpec:
    return hw.load_spec(EXAMPLES / "sir_fixture.toml").spec


def test_the_recorded_epidemic_comes_out_row_by_row(host: Host, models: hw.ModelSet) -> None:
    spec = fixture_spec()
    run = host.start(models["sir"], spec)
    record = host.record(run)
    assert record.files is not None
    header, *rows = record.files["series.csv"].decode().splitlines()
    assert header == "run_id,tick,Susceptible,Infected,Recovered"
    for run_id, states in FIXTURE_ROWS.items():
        expected = [f"{run_id},{tick},{state}" for tick, state in zip(range(0, 21, 5), states, strict=True)]
        assert [row for row in rows if row.startswith(f"{run_id},")] == expected
    assert run.plan.run_key(run.plan.run(0)) == "88daf9687d21c672"
    assert run.plan.results_fingerprint == "4a00256f66e9b49d"
    assert models["sir"].schema().schema_hash == "6ff1dc3971fd0a96"
    assert [run.plan.run(run_id).seed for run_id in (0, 1)] == [11389263990721755462, 3710028182051322707]


def test_the_summary_of_the_recorded_epidemic(host: Host, models: hw.ModelSet) -> None:
    files = host.files(models["sir"], fixture_spec())
    header, first, *_ = files["summary.csv"].decode().splitlines()
    cells = dict(zip(header.split(","), first.split(","), strict=True))
    told = [cells[f"Susceptible:max:{part}"] for part in ("mean", "sd", "n")]
    assert told == ["254.5", "0.7071067811865476", "2"]
    low, high = (float(cells[f"Susceptible:max:ci95_{end}"]) for end in ("low", "high"))
    assert low == pytest.approx(248.146897632, abs=1e-9)
    assert high == pytest.approx(260.853102368, abs=1e-9)


def test_what_a_run_is_built_from_is_made_once(stepped: Host, made_configs: list[int]) -> None:
    counts = []
    for replicates in (1, 4):
        made_configs.clear()
        run = hw.RunSettings(steps=2, replicates=replicates)
        stepped.files(entry_of(Toy), msgspec.structs.replace(toy_spec(1, 2, 3), run=run))
        counts.append(len(made_configs))
    assert counts[1] == counts[0], "key, lane and row of all replicates of a config share one"


@pytest.mark.parametrize("steps", [1, 2, 7, 1000])
def test_no_slice_size_changes_a_byte(
    stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    whole = hw.masked(stepped.files(models["sir"], small_sir))
    monkeypatch.setattr(SliceSize, "within", lambda self, time_left_s: steps)
    assert hw.masked(stepped.files(models["sir"], small_sir)) == whole


def test_every_host_writes_the_same_bytes(
    host: Host, stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec
) -> None:
    assert hw.masked(host.files(models["sir"], small_sir)) == hw.masked(stepped.files(models["sir"], small_sir))


def test_a_pause_in_the_middle_of_a_run_changes_no_byte(
    stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec
) -> None:
    run = stepped.start(models["sir"], small_sir)
    while not any(active.run.run_id == 2 and active.tick > 10 for active in run.progress().active_runs):
        run.update(1 / 60, budget_s=0.0)
    run.pause()
    for _ in range(10):
        run.update(1.0)
    run.resume()
    files = stepped.record(run).files
    assert files is not None
    assert hw.masked(files) == hw.masked(stepped.files(models["sir"], small_sir))


def test_replicates_share_their_seeds_between_configs(host: Host, models: hw.ModelSet) -> None:
    """Two blocks with equal values give equal keys and equal rows: common random numbers."""
    factor = hw.FactorSpec(param="infection_rate", levels=hw.ValueLevels(values=(0.4,)))
    spec = hw.SweepSpec(
        model="sir",
        fixed=(("grid_width", 16), ("grid_height", 16)),
        run=hw.RunSettings(steps=10, replicates=2),
        blocks=(hw.BlockSpec(factors=(factor,)), hw.BlockSpec(factors=(factor,))),
    )
    run = host.start(models["sir"], spec)
    outcomes = [event.outcome for event in host.drain(run) if isinstance(event, hw.RunFinished)]
    first, second = outcomes[:2], outcomes[2:]
    assert [outcome.run_key for outcome in first] == [outcome.run_key for outcome in second]
    for one, other in zip(first, second, strict=True):
        assert one.reducers == other.reducers
        assert one.series.values.tolist() == other.series.values.tolist()
    assert first[0].run_key != first[1].run_key
