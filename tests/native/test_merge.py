"""Laws of shards: together they are the sweep, in whatever order they are merged; what is no shard of it is refused."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import henad_web as hw
from henad_web.output.manifest import ManifestStatus
from henad_web.resume.merging import MissingRuns
from tests.native.folders import (
    DIVIDES,
    SIR,
    SMALL_SIR,
    TARGET,
    TOY,
    files_in,
    hash_of,
    manifest_of,
    masked_in,
    ran_ids,
    record_of,
    resume,
    sessions_of,
    start,
    sweep,
    toy_spec,
    with_run,
)

pytestmark = pytest.mark.usefixtures("quick_disk")

NINE = with_run(SMALL_SIR, replicates=3)


@pytest.fixture(scope="module")
def nine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine runs as a whole in ``whole``, and in three shards in ``0``, ``1`` and ``2``."""
    base = tmp_path_factory.mktemp("nine")
    sweep(SIR, NINE, base / "whole")
    for index in range(3):
        assert ran_ids(start(SIR, NINE, base / str(index), shard=hw.Shard(index, 3))) == [index, index + 3, index + 6]
    return base


@pytest.fixture
def shards(nine: Path, tmp_path: Path) -> list[Path]:
    """Copies of the three shards to work on."""
    return [Path(shutil.copytree(nine / str(index), tmp_path / f"shard {index}")) for index in range(3)]


def test_a_shard_records_which_part_of_the_plan_it_is(nine: Path) -> None:
    manifest = manifest_of(nine / "1")
    assert (manifest.shard.index, manifest.shard.count) == (1, 3)
    assert manifest.plan == manifest_of(nine / "whole").plan
    assert manifest.status is ManifestStatus.COMPLETE


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_merging_in_any_order_gives_the_whole(nine: Path, tmp_path: Path, order: tuple[int, ...]) -> None:
    inputs = [nine / str(index) for index in order]
    before = [hash_of(path) for path in inputs]
    report = hw.merge(inputs, tmp_path / "merged")
    assert masked_in(tmp_path / "merged") == masked_in(nine / "whole")
    assert (report.counts.rows, report.missing, report.output_dir) == (9, 0, str(tmp_path / "merged"))
    assert report.warnings == ()
    manifest = manifest_of(tmp_path / "merged")
    assert sessions_of(tmp_path / "merged") == [(0, 3), (0, 3), (0, 3)]
    assert manifest.merged_shards == tuple(map(str, inputs))
    assert (manifest.status, manifest.shard.index, manifest.shard.count) == (ManifestStatus.COMPLETE, 0, 1)
    assert [hash_of(path) for path in inputs] == before
    assert ran_ids(resume(SIR, tmp_path / "merged")) == []


def test_missing_shards_are_warned_of_and_can_be_run(nine: Path, tmp_path: Path) -> None:
    told: list[object] = []
    report = hw.merge([nine / "0", nine / "2"], tmp_path / "merged", progress=told.append)
    assert (report.counts.rows, report.missing, report.first_missing) == (6, 3, (1, 4, 7))
    assert told == list(report.warnings) == [MissingRuns(3, (1, 4, 7))]
    assert str(told[0]) == "3 runs of the plan are missing: 1, 4, 7; resume the merged folder to run them"
    assert manifest_of(tmp_path / "merged").status is ManifestStatus.INCOMPLETE
    assert ran_ids(resume(SIR, tmp_path / "merged")) == [1, 4, 7]
    assert masked_in(tmp_path / "merged") == masked_in(nine / "whole")
    assert manifest_of(tmp_path / "merged").merged_shards == (str(nine / "0"), str(nine / "2"))


def test_at_most_five_missing_runs_are_named(tmp_path: Path) -> None:
    spec = toy_spec(tuple(range(1, 11)), replicates=1)
    sweep(TOY, spec, tmp_path / "0", shard=hw.Shard(0, 10))
    report = hw.merge([tmp_path / "0"], tmp_path / "merged")
    assert (report.missing, report.first_missing) == (9, (1, 2, 3, 4, 5))
    assert "1, 2, 3, 4, 5 and more" in str(report.warnings[0])


def test_torn_shards_merge_without_what_is_torn(nine: Path, shards: list[Path], tmp_path: Path) -> None:
    runs, series = shards[1] / "runs.csv", shards[2] / "series.csv"
    runs.write_bytes(runs.read_bytes()[:-10])
    series.write_bytes(series.read_bytes()[:-3])
    report = hw.merge(shards, tmp_path / "merged")
    assert (report.missing, report.first_missing) == (2, (7, 8))
    assert ran_ids(resume(SIR, tmp_path / "merged")) == [7, 8]
    assert masked_in(tmp_path / "merged") == masked_in(nine / "whole")


def test_an_empty_shard_is_a_shard(tmp_path: Path) -> None:
    spec = toy_spec((1, 2), replicates=1)
    sweep(TOY, spec, tmp_path / "whole")
    for index in range(3):
        sweep(TOY, spec, tmp_path / str(index), shard=hw.Shard(index, 3))
    assert hw.merge([tmp_path / str(index) for index in range(3)], tmp_path / "merged").missing == 0
    assert masked_in(tmp_path / "merged") == masked_in(tmp_path / "whole")


def test_failed_runs_and_their_notes_merge_as_they_stand(tmp_path: Path) -> None:
    spec = toy_spec((1, 0, 2))
    sweep(DIVIDES, spec, tmp_path / "whole")
    for index in range(2):
        sweep(DIVIDES, spec, tmp_path / str(index), shard=hw.Shard(index, 2))
    report = hw.merge([tmp_path / "1", tmp_path / "0"], tmp_path / "merged")
    assert (report.counts.ok, report.counts.failed) == (4, 2)
    assert masked_in(tmp_path / "merged") == masked_in(tmp_path / "whole")


def test_a_shard_resumes_as_itself(nine: Path, shards: list[Path]) -> None:
    runs = shards[1] / "runs.csv"
    runs.write_bytes(b"".join(runs.read_bytes().splitlines(keepends=True)[:2]))
    assert ran_ids(resume(SIR, shards[1])) == [4, 7]
    assert masked_in(shards[1]) == masked_in(nine / "1")
    with pytest.raises(hw.ResumeError, match="recorded 1/3, current 0/1") as caught:
        resume(SIR, shards[1], NINE)
    assert caught.value.reason is hw.ResumeReason.SHARD_CHANGED


Change = Callable[[list[Path]], object]


def _edit(index: int, name: str, old: bytes, new: bytes) -> Change:
    def change(shards: list[Path]) -> None:
        content = (shards[index] / name).read_bytes()
        assert old in content
        (shards[index] / name).write_bytes(content.replace(old, new, 1))

    return change


def _same_twice(shards: list[Path]) -> None:
    shards[2] = shards[0]


def _other_plan(shards: list[Path]) -> None:
    shutil.rmtree(shards[1])
    sweep(SIR, with_run(NINE, steps=31), shards[1], shard=hw.Shard(1, 3))


def _other_replicates(shards: list[Path]) -> None:
    shutil.rmtree(shards[1])
    sweep(SIR, with_run(NINE, replicates=4), shards[1], shard=hw.Shard(1, 3))


def _other_count(shards: list[Path]) -> None:
    shutil.rmtree(shards[1])
    sweep(SIR, NINE, shards[1], shard=hw.Shard(1, 4))


def _other_shard(shards: list[Path]) -> None:
    shutil.copy(shards[0] / "runs.csv", shards[1] / "runs.csv")


def _row_twice(shards: list[Path]) -> None:
    runs = shards[1] / "runs.csv"
    runs.write_bytes(runs.read_bytes() + runs.read_bytes().splitlines(keepends=True)[2])


def _not_there(shards: list[Path]) -> None:
    (shards[1] / "manifest.json").unlink()


def _no_rows(shards: list[Path]) -> None:
    for table in ("runs.csv", "series.csv"):
        for shard in shards:
            (shard / table).write_bytes(b"")


def _nested(shards: list[Path]) -> None:
    shutil.rmtree(shards[1])


Reason = hw.MergeReason
Refusal = Reason | type[hw.HenadError]
REFUSALS: dict[str, tuple[Change, Refusal, str]] = {
    "the same shard twice": (_same_twice, Reason.SAME_SHARD, "it holds shard 0/3, as .*shard 0 does"),
    "another plan": (_other_plan, Reason.PLAN_DIFFERS, "its plan hash is "),
    "other replicates": (_other_replicates, Reason.PLAN_DIFFERS, "its number of replicates is 4, that of .* is 3"),
    "another count": (_other_count, Reason.PLAN_DIFFERS, "its number of shards is 4"),
    "another schema": (_edit(1, "manifest.json", b'"schema_hash": "6', b'"schema_hash": "0'), Reason.PLAN_DIFFERS,
                       "its schema hash is 0"),
    "another formula": (_edit(1, "manifest.json", b'"formula": "', b'"formula": "2 * '), Reason.PLAN_DIFFERS,
                        "its seed formula is 2"),
    "other columns": (_edit(1, "runs.csv", b"Infected:max", b"Infected:top"), Reason.COLUMNS_DIFFER, "runs.csv"),
    "other parameters": (_edit(1, "runs.csv", b"infection_rate", b"infection_rats"), Reason.COLUMNS_DIFFER, "runs.csv"),
    "other series": (_edit(1, "series.csv", b"Infected", b"Infested"), Reason.COLUMNS_DIFFER, "series.csv"),
    "rows of another shard": (_other_shard, Reason.RUN_OUTSIDE_SHARD, "the row of run 0 is not one of shard 1/3"),
    "a row twice": (_row_twice, Reason.DUPLICATE_RUN, "the row of run 4 is there twice"),
    "an id that does not fit": (_edit(1, "runs.csv", b"\n4,1,0,1,", b"\n4,1,0,0,"), Reason.RUN_ID_DIFFERS,
                                "run 4 says"),
    "a torn middle": (_edit(1, "runs.csv", b"\n4,1", b"\n4,1\n4,1"), hw.TableDamagedError, "record 3"),
    "a search": (_edit(1, "manifest.json", b'"mode": "sweep"', b'"mode": "search"'), Reason.NOT_A_SWEEP, "'search'"),
    "no manifest": (_not_there, Reason.NO_RESULTS, r"it holds no manifest\.json"),
    "no rows": (_no_rows, Reason.NO_ROWS, "none of the folders has a row; resume them first"),
    "no folder": (_nested, hw.OutputError, "there is no folder"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refused_merge_writes_nothing(shards: list[Path], tmp_path: Path, case: str) -> None:
    change, refusal, message = REFUSALS[case]
    change(shards)
    before = hash_of(tmp_path)
    with pytest.raises(refusal if isinstance(refusal, type) else hw.MergeError, match=message) as caught:
        hw.merge(shards, tmp_path / "merged")
    assert refusal in (type(caught.value), getattr(caught.value, "reason", None))
    assert hash_of(tmp_path) == before


def test_a_row_of_another_shard_is_refused_by_a_resume(shards: list[Path]) -> None:
    _other_shard(shards)
    before = hash_of(shards[1])
    with pytest.raises(hw.ResumeError, match="the row of run 0 is not one of shard 1/3; restore") as caught:
        resume(SIR, shards[1])
    assert (caught.value.reason, caught.value.run_id) == (hw.ResumeReason.RUN_OUTSIDE_SHARD, 0)
    assert hash_of(shards[1]) == before


def test_a_manifest_with_raised_replicates_over_old_ids_is_refused(nine: Path, tmp_path: Path) -> None:
    """Two replicates a config: run 2 is config 1, rep 0, which with three replicates is run 3."""
    sweep(SIR, SMALL_SIR, tmp_path / "old")
    shutil.copy(nine / "whole" / "manifest.json", tmp_path / "old" / "manifest.json")
    with pytest.raises(hw.MergeError) as caught:
        hw.merge([tmp_path / "old"], tmp_path / "merged")
    assert caught.value.reason is hw.MergeReason.RUN_ID_DIFFERS
    assert (caught.value.run_id, caught.value.config_id, caught.value.rep) == (2, 1, 0)
    assert not (tmp_path / "merged").exists()


def test_a_merge_needs_inputs_and_a_free_place(nine: Path, shards: list[Path], tmp_path: Path) -> None:
    with pytest.raises(hw.UsageError, match="no folders"):
        hw.merge([], tmp_path / "merged")
    before = hash_of(shards[0])
    with pytest.raises(hw.HoldsResultsError):
        hw.merge(shards, shards[0])
    assert hash_of(shards[0]) == before


def test_a_merge_that_fails_while_writing_takes_back_what_it_wrote(
    shards: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise hw.OutputFullError("no room")

    with monkeypatch.context() as patch:
        patch.setattr("henad_web.resume.merging.summary_table", broken)
        with pytest.raises(hw.OutputFullError):
            hw.merge(shards, tmp_path / "merged")
    assert set(files_in(tmp_path / "merged")) == {".lock"}
    assert hw.merge(shards, tmp_path / "merged").missing == 0


def test_shards_cover_the_plan_and_share_nothing() -> None:
    for count in (1, 2, 4, 7, 10):
        counts = [hw.Shard(index, count).run_count(9) for index in range(count)]
        assert sum(counts) == 9
        assert set(counts) <= {9 // count, -(-9 // count)}
        held = [[shard for shard in range(count) if hw.Shard(shard, count).holds(run_id)] for run_id in range(9)]
        assert held == [[run_id % count] for run_id in range(9)]


def test_the_pieces_of_a_merge_can_be_extended_together(nine: Path, tmp_path: Path) -> None:
    hw.merge([nine / str(index) for index in range(3)], tmp_path / "merged")
    more = with_run(NINE, replicates=4)
    assert ran_ids(resume(SIR, tmp_path / "merged", more)) == [3, 7, 11]
    fresh = hw.SweepRun.start(SIR, more, hw.DirectoryOutput(tmp_path / "fresh"), target=TARGET)
    record_of(fresh)
    assert masked_in(tmp_path / "merged") == masked_in(tmp_path / "fresh")
