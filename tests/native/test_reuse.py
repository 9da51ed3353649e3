"""Laws of an extension: runs that other results hold under the same key are copied, and no byte tells."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import henad_web as hw
from tests.native.folders import (
    DIVIDES,
    SIR,
    SMALL_SIR,
    TARGET,
    TOY,
    events_of,
    hash_of,
    manifest_of,
    masked_in,
    ran_ids,
    resume,
    sessions_of,
    start,
    sweep,
    toy_spec,
    with_run,
)

pytestmark = pytest.mark.usefixtures("quick_disk")


@pytest.mark.parametrize(
    ("values", "replicates", "runs_again"),
    [
        ((1, 2, 3), 2, []),
        ((1, 2, 3), 3, [2, 5, 8]),
        ((1, 2, 3, 4), 2, [6, 7]),
        ((0, 3, 5, 1), 2, [0, 1, 4, 5]),
        ((2,), 1, []),
        ((7, 8), 1, [0, 1]),
        ((2, 2), 3, [2, 5]),
    ],
)
def test_only_what_the_other_results_lack_is_run(
    tmp_path: Path, values: tuple[int, ...], replicates: int, runs_again: list[int]
) -> None:
    sweep(TOY, toy_spec((1, 2, 3)), tmp_path / "old")
    before = hash_of(tmp_path / "old")
    spec = toy_spec(values, replicates=replicates)
    run = start(TOY, spec, tmp_path / "new", reuse=tmp_path / "old")
    assert ran_ids(run) == runs_again
    sweep(TOY, spec, tmp_path / "fresh")
    assert masked_in(tmp_path / "new") == masked_in(tmp_path / "fresh")
    assert sessions_of(tmp_path / "new") == [(run.plan.run_count - len(runs_again), len(runs_again))]
    assert hash_of(tmp_path / "old") == before
    assert ran_ids(resume(TOY, tmp_path / "new")) == []


def test_levels_and_replicates_may_be_added_at_once_and_in_shards(tmp_path: Path) -> None:
    sweep(SIR, SMALL_SIR, tmp_path / "old")
    wider = with_run(SMALL_SIR, replicates=3)
    fine = hw.FactorSpec(param="infection_rate", levels=hw.ValueLevels(values=(0.2, 0.3, 0.4, 0.5, 0.6)))
    ticks = hw.FactorSpec(action="seed_outbreak", levels=hw.ValueLevels(values=(6, 9, 12, 15, 18)))
    block = hw.BlockSpec(design=hw.DesignKind.ZIP, factors=(fine, ticks))
    wider = msgspec.structs.replace(wider, blocks=(block,))
    assert len(ran_ids(start(SIR, wider, tmp_path / "new", reuse=tmp_path / "old"))) == 15 - 6
    sweep(SIR, wider, tmp_path / "fresh")
    assert masked_in(tmp_path / "new") == masked_in(tmp_path / "fresh")
    skipped = 0
    for index in range(2):
        shard = hw.Shard(index, 2)
        record = sweep(SIR, wider, tmp_path / str(index), shard=shard, reuse=tmp_path / "old")
        skipped += record.report.outline.skipped
    assert skipped == 6
    hw.merge([tmp_path / "0", tmp_path / "1"], tmp_path / "merged")
    assert masked_in(tmp_path / "merged") == masked_in(tmp_path / "fresh")


def test_rows_move_to_the_block_their_config_is_in(tmp_path: Path) -> None:
    sweep(TOY, toy_spec((1, 2, 3)), tmp_path / "old")
    (block,) = toy_spec((3,)).blocks
    (other,) = toy_spec((2, 9)).blocks
    spec = msgspec.structs.replace(toy_spec(), blocks=(block, other))
    assert ran_ids(start(TOY, spec, tmp_path / "new", reuse=tmp_path / "old")) == [4, 5]
    sweep(TOY, spec, tmp_path / "fresh")
    assert masked_in(tmp_path / "new") == masked_in(tmp_path / "fresh")


def test_what_failed_is_copied_unless_tried_again_and_what_timed_out_never(tmp_path: Path) -> None:
    spec = toy_spec((1, 0, 2))
    sweep(DIVIDES, spec, tmp_path / "old")
    assert ran_ids(start(DIVIDES, spec, tmp_path / "kept", reuse=tmp_path / "old")) == []
    assert masked_in(tmp_path / "kept") == masked_in(tmp_path / "old")
    again = start(DIVIDES, spec, tmp_path / "again", reuse=tmp_path / "old", retry_failed=True)
    assert ran_ids(again) == [2, 3]
    sweep(TOY, with_run(spec, timeout_s=0.0), tmp_path / "hurried")
    assert ran_ids(start(TOY, spec, tmp_path / "new", reuse=tmp_path / "hurried")) == [0, 1, 2, 3, 4, 5]


def test_interrupted_results_lend_what_is_whole(tmp_path: Path) -> None:
    sweep(TOY, toy_spec(), tmp_path / "old")
    runs = tmp_path / "old" / "runs.csv"
    runs.write_bytes(runs.read_bytes()[:-5])
    assert ran_ids(start(TOY, toy_spec(), tmp_path / "new", reuse=tmp_path / "old")) == [5]


def test_another_length_shares_no_run(tmp_path: Path) -> None:
    sweep(TOY, toy_spec(), tmp_path / "old")
    run = start(TOY, toy_spec(steps=5), tmp_path / "new", reuse=tmp_path / "old")
    events = list(events_of(run))
    assert sum(isinstance(event, hw.RunFinished) for event in events) == 6
    told = [str(event.warning) for event in events if isinstance(event, hw.Warned)]
    assert told == [f"0 of 6 runs are copied from {tmp_path / 'old'}"]


def test_what_is_no_result_of_a_sweep_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(hw.ResumeError) as caught:
        start(TOY, toy_spec(), tmp_path / "new", reuse=tmp_path / "empty")
    assert caught.value.reason is hw.ResumeReason.NO_RESULTS
    with pytest.raises(hw.OutputError, match="there is no folder"):
        start(TOY, toy_spec(), tmp_path / "new", reuse=tmp_path / "missing")
    sweep(TOY, toy_spec(), tmp_path / "old")
    with pytest.raises(hw.HoldsResultsError):
        start(TOY, toy_spec(), tmp_path / "old", reuse=tmp_path / "old")
    assert not (tmp_path / "new").exists()


def test_a_dry_run_counts_what_would_be_copied(tmp_path: Path) -> None:
    sweep(TOY, toy_spec(), tmp_path / "old")
    options = hw.SweepRunOptions(reuse=tmp_path / "old")
    outline = hw.plan_spec(TOY, toy_spec((1, 2, 9)), options=options, target=TARGET)
    assert (outline.skipped, outline.pending) == (4, 2)


def test_results_in_memory_may_be_made_of_copies(tmp_path: Path) -> None:
    sweep(TOY, toy_spec(), tmp_path / "old")
    record = hw.run_spec(TOY, toy_spec((1, 2, 3, 4)), options=hw.SweepRunOptions(reuse=tmp_path / "old"))
    sweep(TOY, toy_spec((1, 2, 3, 4)), tmp_path / "fresh")
    assert record.files is not None
    assert hw.masked(record.files) == masked_in(tmp_path / "fresh")
    assert record.report.outline.skipped == 6
    assert manifest_of(tmp_path / "fresh").plan.runs == 8
