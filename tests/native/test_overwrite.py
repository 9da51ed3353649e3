"""A sweep that overwrites: the old results stay until the first new row, and go then all at once."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

import henad_web as hw
from henad_native.cli import main
from henad_web.output import writer
from tests.native.folders import (
    AT_LENGTH,
    TARGET,
    TOY,
    events_of,
    files_in,
    hash_of,
    manifest_of,
    masked_in,
    record_of,
    resume,
    sweep,
    toy_spec,
)
from tests.native.test_cli_going_on import TOYS, spec_at
from tests.native.test_directory import Disk
from tests.native.test_lock import leave_behind
from tests.native.test_resume_folders import shown
from tests.shared.toy_models import DividesAtBuild, entry_of

pytestmark = pytest.mark.usefixtures("quick_disk")

OLD, NEW = toy_spec((4, 5, 6, 7)), toy_spec((1, 2, 3))
NAMES = {"runs.csv", "series.csv", "summary.csv", "manifest.json", ".lock"}


def overwriting(folder: Path, spec: hw.SweepSpec = NEW, entry: hw.ModelEntry = TOY, **options: object) -> hw.SweepRun:
    chosen = hw.SweepRunOptions(**options)  # type: ignore[arg-type]
    return hw.SweepRun.start(entry, spec, hw.DirectoryOutput(folder, overwrite=True), chosen, target=TARGET)


def results_in(folder: Path) -> dict[str, bytes]:
    """Return the files of `folder` but the lock, whose text tells of its last holder."""
    return {name: content for name, content in files_in(folder).items() if name != ".lock"}


@pytest.fixture
def old(fast_path: Path) -> Path:
    """A folder of results with two other files beside them."""
    folder = fast_path / "results"
    sweep(TOY, OLD, folder)
    (folder / "notes.txt").write_bytes(b"mine")
    (folder / "figures").mkdir()
    return folder


def without_own(folder: Path) -> None:
    """Take the other files out, which must be there."""
    assert (folder / "notes.txt").read_bytes() == b"mine"
    (folder / "notes.txt").unlink()
    (folder / "figures").rmdir()


def test_the_new_results_take_the_place_of_the_old_ones_at_the_first_row(old: Path, fast_path: Path) -> None:
    (old / "best.csv").write_bytes(b"of a search")
    (old / "figures").rmdir()
    before = results_in(old)
    run, seen = overwriting(old), set[int]()
    while not run.is_ended:
        run.update(0.0, budget_s=0.0)
        done = run.progress().runs_done
        seen.add(done)
        if done == 0:
            assert results_in(old) == before
        else:
            assert (old / "runs.csv").read_bytes().count(b"\n") == 1 + done
            assert not (old / "best.csv").exists()
            assert manifest_of(old).plan.plan_hash == run.plan.plan_hash
        run.try_recv()
    assert seen == set(range(7))
    (old / "figures").mkdir()
    without_own(old)
    sweep(TOY, NEW, fast_path / "fresh")
    assert masked_in(old) == masked_in(fast_path / "fresh")


@pytest.mark.parametrize("folder", ["missing", "empty", "other files"])
def test_a_folder_without_results_is_just_started(fast_path: Path, folder: str) -> None:
    where = fast_path / "results"
    if folder != "missing":
        where.mkdir()
    if folder == "other files":
        (where / "notes.txt").write_bytes(b"mine")
    record = record_of(overwriting(where))
    assert record.files is None
    assert set(files_in(where)) - {"notes.txt"} == NAMES


def abort(run: hw.SweepRun) -> hw.SweepEvent:
    run.abort()
    *_, last = events_of(run)
    return last


def test_a_sweep_without_a_row_leaves_the_old_results_and_carries_its_files(old: Path) -> None:
    before = {name: (old / name).read_bytes() for name in NAMES - {".lock"}}
    last = abort(overwriting(old))
    assert isinstance(last, hw.Finished)
    assert last.record.files is not None
    assert set(last.record.files) == NAMES - {".lock"}
    assert {name: (old / name).read_bytes() for name in before} == before
    shard = hw.Shard(7, 8)
    finished = record_of(overwriting(old, shard=shard))
    assert finished.report.end is hw.SweepEnd.COMPLETE
    assert finished.report.counts.rows == 0
    assert {name: (old / name).read_bytes() for name in before} == before
    without_own(old)


def test_a_sweep_that_cannot_be_probed_leaves_the_old_results(old: Path) -> None:
    before = hash_of(old)
    spec = toy_spec((0,))
    *_, last = events_of(overwriting(old, spec, entry_of(DividesAtBuild)))
    assert isinstance(last, hw.Failed)
    assert hash_of(old) == before


def mark(folder: Path) -> None:
    """Leave `folder` as a writer does that is killed right after it has marked its new tables."""
    for name in ("runs.csv", "series.csv"):
        (folder / name).rename(folder / f"{name}.staged")
    (folder / "tables.staged").write_text("runs.csv\nseries.csv\n")


def test_a_disk_that_fails_leaves_the_old_results_or_the_new_ones(
    fast_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = set[bool]()
    for fails_at in range(1, 40, 1 if AT_LENGTH else 6):
        folder = fast_path / str(fails_at)
        sweep(TOY, OLD, folder)
        mark(folder)
        run = overwriting(folder)
        with monkeypatch.context() as patch:
            Disk(fails_at, errno.EIO, stuck=True).install(patch)
            _, last = shown(run)
        assert isinstance(last, hw.Failed)
        results = hw.ResultSet.open(folder, models=TOY)
        is_old = results.plan.plan_hash == OLD.plan(TOY.schema()).plan_hash
        seen.add(is_old)
        if is_old:
            assert len(results.runs) == 8
        else:
            record_of(resume(TOY, folder))
    assert seen == {True, False}


@pytest.mark.parametrize("status", ["complete", "interrupted", "marked"])
def test_whatever_state_the_old_sweep_was_left_in_it_gives_way(fast_path: Path, status: str) -> None:
    folder = fast_path / "results"
    sweep(TOY, OLD, folder)
    if status == "interrupted":
        text = (folder / "manifest.json").read_text().replace('"status": "complete"', '"status": "running"')
        (folder / "manifest.json").write_text(text)
        (folder / "summary.csv").unlink()
    if status == "marked":
        mark(folder)
    record_of(overwriting(folder))
    sweep(TOY, NEW, fast_path / "fresh")
    assert masked_in(folder) == masked_in(fast_path / "fresh")


def _no_manifest(folder: Path) -> None:
    (folder / "manifest.json").unlink()


def _other_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"name": "an extension"}')


def _folder_of_that_name(folder: Path) -> None:
    (folder / "archive.csv").mkdir()


def _live(folder: Path) -> None:
    leave_behind(folder, host="elsewhere")


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (_no_manifest, hw.HoldsResultsError),
        (_other_manifest, hw.HoldsResultsError),
        (_folder_of_that_name, hw.HoldsResultsError),
        (_live, hw.LockedError),
    ],
)
def test_what_is_no_sweep_or_is_being_written_is_refused_untouched(
    old: Path, spoil: Callable[[Path], None], error: type[hw.OutputError]
) -> None:
    spoil(old)
    before = hash_of(old)
    with pytest.raises(error):
        overwriting(old)
    with pytest.raises(error):
        hw.plan_spec(TOY, NEW, output=hw.DirectoryOutput(old, overwrite=True))
    assert hash_of(old) == before


def test_a_live_sweep_is_not_overwritten(old: Path) -> None:
    first = overwriting(old)
    while first.progress().runs_done < 1:
        first.update(0.0, budget_s=0.0)
    with pytest.raises(hw.LockedError):
        overwriting(old)
    record_of(first)


def test_without_the_word_results_are_refused(old: Path) -> None:
    with pytest.raises(hw.HoldsResultsError):
        hw.run_spec(TOY, NEW, output=hw.DirectoryOutput(old))


def test_runs_of_the_results_that_go_can_be_reused(old: Path, fast_path: Path) -> None:
    wider = toy_spec((7, 4, 1))
    record = record_of(overwriting(old, wider, reuse=old))
    assert (record.report.outline.skipped, record.report.outline.pending) == (4, 2)
    without_own(old)
    sweep(TOY, wider, fast_path / "fresh")
    assert masked_in(old) == masked_in(fast_path / "fresh")


def test_copied_rows_take_the_place_some_at_a_time(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_PIECE_ROWS", 1)
    without_own(old)
    before, run, shares = results_in(old), overwriting(old, toy_spec((7, 4, 1)), reuse=old), set[float]()
    while run.progress().phase is hw.SweepPhase.PLANNING:
        run.update(0.0, budget_s=0.0)
        fraction = run.progress().fraction
        if fraction is not None and fraction < 1:
            shares.add(fraction)
            assert {name: (old / name).read_bytes() for name in before} == before
    assert len(shares) > 3
    run.close()


def test_a_folder_that_came_in_the_place_of_the_one_that_was_locked_is_left_alone(old: Path) -> None:
    run = overwriting(old)
    while run.progress().phase is hw.SweepPhase.PLANNING:
        run.update(0.0, budget_s=0.0)
    old.rename(old.with_name("moved"))
    sweep(TOY, OLD, old)
    before = files_in(old)
    *_, last = events_of(run)
    assert isinstance(last, hw.Failed)
    assert "results is another folder now" in last.message
    assert files_in(old) == before


def test_a_reuse_that_finds_nothing_is_no_row(old: Path) -> None:
    last = abort(overwriting(old, NEW, reuse=old))
    assert isinstance(last, hw.Finished)
    assert last.record.files is not None
    assert manifest_of(old).plan.plan_hash == OLD.plan(TOY.schema()).plan_hash


def test_a_disk_that_is_full_once_costs_nothing_wherever_it_happens(
    fast_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep(TOY, NEW, fast_path / "fresh")
    fails_at, pauses = 1, 1
    while pauses:
        folder = fast_path / str(fails_at)
        sweep(TOY, OLD, folder)
        run = overwriting(folder)
        with monkeypatch.context() as patch:
            Disk(fails_at).install(patch)
            pauses, last = shown(run)
        assert isinstance(last, hw.Finished), f"call {fails_at}: {last}"
        assert masked_in(folder) == masked_in(fast_path / "fresh"), f"full at call {fails_at}"
        fails_at += 1 if AT_LENGTH else 5
    assert fails_at > 25


def test_going_on_and_overwriting_are_refused_together(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = hash_of(old)
    place = hw.DirectoryOutput(old, overwrite=True)
    for call in (hw.run_spec, hw.plan_spec):
        with pytest.raises(hw.UsageError, match="results are gone on with or overwritten, not both"):
            call(TOY, NEW, output=place, resume=True)
    spec = spec_at(old.parent)
    assert main(["run", spec, "--out", str(old), "--models", TOYS, "--overwrite", "--resume"]) == 2
    assert "error: --overwrite: " in capsys.readouterr().err
    assert hash_of(old) == before


def test_the_command_line_overwrites_and_says_when_it_did_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    out = tmp_path / "results"
    command = ["--out", str(out), "--models", TOYS, "--overwrite"]
    assert main(["run", spec_at(tmp_path), *command]) == 0
    assert main(["run", spec_at(tmp_path, values="[3, 4]"), *command]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"wrote 4 runs to {out}")
    assert main(["run", spec_at(tmp_path, values="[5]", replicates=1), *command, "--shard", "3/4"]) == 0
    assert capsys.readouterr().out == f"no run was finished: {out} keeps the results it had\n"
    assert (out / "runs.csv").read_bytes().count(b"\n") == 5
