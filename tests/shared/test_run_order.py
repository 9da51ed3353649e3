"""`order = "breadth"`: replicate 0 of every config comes first, and finished files are those of any other order."""

from __future__ import annotations

import json

import msgspec
import pytest

import henad_web as hw
from henad_web.output.run_spans import SpanBuilder, ids_in
from henad_web.run.source import ordered_run_ids
from tests.shared.hosts import Host
from tests.shared.schemas import block, plan_of, values, vary


def breadth(spec: hw.SweepSpec) -> hw.SweepSpec:
    return msgspec.structs.replace(spec, run=msgspec.structs.replace(spec.run, order=hw.RunOrder.BREADTH))


def without_order(files: dict[str, bytes]) -> dict[str, object]:
    comparable: dict[str, object] = dict(hw.masked(files))
    manifest = json.loads(hw.masked(files)["manifest.json"])
    manifest["spec"]["run"].pop("order", None)
    return {**comparable, "manifest.json": manifest}


def test_breadth_gives_the_files_of_depth(host: Host, small_sir: hw.SweepSpec, models: hw.ModelSet) -> None:
    deep, wide = (host.files(models["sir"], spec) for spec in (small_sir, breadth(small_sir)))
    assert without_order(wide) == without_order(deep)
    assert [line.split(b",")[0] for line in wide["runs.csv"].splitlines()[1:]] == [b"0", b"1", b"2", b"3", b"4", b"5"]


def test_runs_finish_replicate_by_replicate(host: Host, small_sir: hw.SweepSpec, models: hw.ModelSet) -> None:
    events = host.drain(host.start(models["sir"], breadth(small_sir)))
    runs = [event.outcome.run for event in events if isinstance(event, hw.RunFinished)]
    assert [run.run_id for run in runs] == [0, 2, 4, 1, 3, 5]
    assert [run.rep for run in runs] == [0, 0, 0, 1, 1, 1]


def test_an_aborted_sweep_keeps_the_first_replicates_in_plan_order(
    stepped: Host, small_sir: hw.SweepSpec, models: hw.ModelSet
) -> None:
    run = stepped.start(models["sir"], breadth(small_sir))
    finished = 0
    while finished < 4:
        finished += isinstance(stepped.next_event(run), hw.RunFinished)
    run.abort()
    files = stepped.record(run).files
    assert files is not None
    ids = [int(line.split(b",")[0]) for line in files["runs.csv"].splitlines()[1:]]
    assert ids == sorted(ids)
    assert set(ids) >= {0, 1, 2, 4}
    series_ids = [int(line.split(b",")[0]) for line in files["series.csv"].splitlines()[1:]]
    assert list(dict.fromkeys(series_ids)) == ids


def test_the_order_changes_no_hash(small_sir: hw.SweepSpec, models: hw.ModelSet) -> None:
    deep, wide = (spec.plan(models["sir"].schema()) for spec in (small_sir, breadth(small_sir)))
    assert (deep.plan_hash, deep.results_fingerprint) == (wide.plan_hash, wide.results_fingerprint)
    assert list(map(deep.run_key, deep.runs())) == list(map(wide.run_key, wide.runs()))


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shards_of_a_breadth_order_are_the_whole_of_it(count: int) -> None:
    run = hw.RunSettings(replicates=3, order=hw.RunOrder.BREADTH)
    plan = plan_of(block(vary("size", values(1, 2, 3, 4, 5))), run=run)
    shards = [list(ordered_run_ids(plan, hw.Shard(index, count))) for index in range(count)]
    assert sorted(run_id for shard in shards for run_id in shard) == list(range(15))
    for shard in shards:
        reps = [plan.run(run_id).rep for run_id in shard]
        assert reps == sorted(reps)


@pytest.mark.parametrize("ids", [[0, 3, 6, 1, 4, 7, 2], [3, 1], [5, 4, 3], [0, 4, 2], [1, 2, 3], [9]])
def test_who_wrote_which_rows_is_recorded_in_any_order(ids: list[int]) -> None:
    builder = SpanBuilder()
    for run_id in ids:
        builder.add(run_id)
    assert list(ids_in(builder.spans())) == ids


def test_a_file_says_the_order() -> None:
    spec = hw.parse_spec('model = "sir"\n[run]\norder = "breadth"\n').spec
    assert spec.run.order is hw.RunOrder.BREADTH
    assert hw.parse_spec(hw.spec_to_toml(spec)).spec == spec
    with pytest.raises(hw.SpecError, match="did you mean 'breadth'"):
        hw.parse_spec('model = "sir"\n[run]\norder = "bredth"\n')
