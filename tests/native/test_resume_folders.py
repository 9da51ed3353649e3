"""Laws of the folder that a resume or a merge writes to: one writer, no room lost on, names that a scanner holds."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import henad_web as hw
from henad_native import disk
from henad_native.disk import rename_over
from tests.native.folders import (
    AT_LENGTH,
    DIVIDES,
    TOY,
    files_in,
    hash_of,
    masked_in,
    ran_ids,
    record_of,
    resume,
    start,
    sweep,
    toy_spec,
    with_run,
)
from tests.native.test_directory import Disk
from tests.native.test_lock import leave_behind, writer_in

pytestmark = pytest.mark.usefixtures("quick_disk")

SPEC = toy_spec((1, 0, 2))
MORE = with_run(SPEC, replicates=3)


@pytest.mark.parametrize("what", ["resume", "merge from", "reuse", "run with resume", "sweep"])
def test_whoever_comes_second_is_refused_and_the_first_goes_on(tmp_path: Path, what: str) -> None:
    directory = tmp_path / "results"
    with writer_in(directory) as process:
        before = hash_of(directory)
        with pytest.raises(hw.LockedError, match=f"is being written by process {process.pid} on "):
            SECONDS[what](directory)
        assert hash_of(directory) == before
        assert {path.name for path in tmp_path.iterdir()} == {"results"}
        process.communicate("go on\n")
        assert process.returncode == 0
    assert (directory / "runs.csv").read_bytes() == b"run_id\n0\n"


SECONDS: dict[str, Callable[[Path], object]] = {
    "resume": lambda directory: resume(TOY, directory),
    "merge from": lambda directory: hw.merge([directory], directory.parent / "merged"),
    "reuse": lambda directory: start(TOY, SPEC, directory.parent / "new", reuse=directory),
    "run with resume": lambda directory: hw.run_spec(TOY, SPEC, output=hw.DirectoryOutput(directory), resume=True),
    "sweep": lambda directory: start(TOY, SPEC, directory),
}


def test_a_live_sweep_is_not_disturbed_by_a_resume_of_its_folder(tmp_path: Path) -> None:
    first = start(TOY, SPEC, tmp_path / "results")
    while not (tmp_path / "results" / "runs.csv").exists():
        first.update(0.0, budget_s=0.0)
    before = hash_of(tmp_path / "results")
    for what in ("resume", "sweep", "reuse"):
        with pytest.raises(hw.LockedError):
            SECONDS[what](tmp_path / "results")
    assert hash_of(tmp_path / "results") == before
    record_of(first)
    sweep(TOY, SPEC, tmp_path / "fresh")
    assert masked_in(tmp_path / "results") == masked_in(tmp_path / "fresh")


def test_a_lock_of_another_host_is_taken_over_only_by_force(tmp_path: Path) -> None:
    for name in ("results", "fresh"):
        sweep(TOY, SPEC, tmp_path / name)
    leave_behind(tmp_path / "results", host="elsewhere")
    leave_behind(_made(tmp_path / "merged"), host="elsewhere")
    before = hash_of(tmp_path)
    attempts: list[Callable[[bool], object]] = [
        lambda force: hw.merge([tmp_path / "results"], tmp_path / "merged", options=hw.SweepRunOptions(force=force)),
        lambda force: ran_ids(resume(TOY, tmp_path / "results", force=force)),
        lambda force: sweep(TOY, SPEC, _left(tmp_path / "new"), force=force),
    ]
    for attempt in attempts[:2]:
        with pytest.raises(hw.LockedError, match=r"process 7 on elsewhere .* \(--force takes it over\)"):
            attempt(False)
    assert hash_of(tmp_path) == before
    for attempt in attempts:
        attempt(True)
    for name in ("results", "merged", "new"):
        assert masked_in(tmp_path / name) == masked_in(tmp_path / "fresh")


def _made(directory: Path) -> Path:
    directory.mkdir()
    return directory


def _left(directory: Path) -> Path:
    leave_behind(_made(directory), host="elsewhere")
    return directory


def test_a_dead_writer_is_taken_over_with_a_line(tmp_path: Path) -> None:
    sweep(TOY, SPEC, tmp_path / "results")
    leave_behind(tmp_path / "results")
    run = resume(TOY, tmp_path / "results")
    told = []
    while not run.is_ended:
        run.update(0.0)
        event = run.try_recv()
        if isinstance(event, hw.Warned):
            told.append(str(event.warning))
    took = f"took over {tmp_path / 'results'} from process 7 on {socket.gethostname()} since "
    assert [line.startswith(took) for line in told] == [True]


def shown(run: hw.SweepRun) -> tuple[int, hw.SweepEvent]:
    """Pump `run` to its end, making room whenever it is paused; return how often that was, and its last event."""
    pauses, last = 0, None
    while not run.is_ended:
        run.update(0.0)
        event = run.try_recv()
        last = event or last
        if isinstance(event, hw.Warned) and isinstance(event.warning, hw.OutputPaused):
            assert run.is_paused
            pauses += 1
            run.resume()
    assert last is not None
    return pauses, last


Prepare = Callable[[Path], hw.SweepRun]


def _cut(folder: Path) -> hw.SweepRun:
    sweep(DIVIDES, SPEC, folder)
    (folder / "runs.csv").write_bytes((folder / "runs.csv").read_bytes()[:-9])
    return resume(DIVIDES, folder)


def _raised(folder: Path) -> hw.SweepRun:
    sweep(DIVIDES, SPEC, folder)
    return resume(DIVIDES, folder, MORE)


def _tried_again(folder: Path) -> hw.SweepRun:
    sweep(DIVIDES, SPEC, folder)
    return resume(DIVIDES, folder, retry_failed=True)


def _reused(folder: Path) -> hw.SweepRun:
    sweep(DIVIDES, SPEC, folder.with_name("old"))
    return start(DIVIDES, MORE, folder, reuse=folder.with_name("old"))


@pytest.mark.parametrize(("prepare", "spec"), [(_cut, SPEC), (_raised, MORE), (_tried_again, SPEC), (_reused, MORE)])
def test_a_disk_that_is_full_once_pauses_and_costs_nothing_wherever_it_happens(
    fast_path: Path, monkeypatch: pytest.MonkeyPatch, prepare: Prepare, spec: hw.SweepSpec
) -> None:
    sweep(DIVIDES, spec, fast_path / "expected")
    expected = masked_in(fast_path / "expected")
    fails_at, pauses = 1, 1
    while pauses:
        (fast_path / str(fails_at)).mkdir()
        folder = fast_path / str(fails_at) / "results"
        run = prepare(folder)
        with monkeypatch.context() as patch:
            Disk(fails_at).install(patch)
            pauses, last = shown(run)
        assert isinstance(last, hw.Finished), f"call {fails_at}: {last}"
        assert masked_in(folder) == expected, f"full at call {fails_at}"
        fails_at += 1 if AT_LENGTH else 5
    assert fails_at > 25


@pytest.mark.parametrize("prepare", [_cut, _raised, _tried_again])
def test_a_disk_that_fails_for_good_leaves_a_folder_that_can_be_resumed(
    fast_path: Path, monkeypatch: pytest.MonkeyPatch, prepare: Prepare
) -> None:
    spec = MORE if prepare is _raised else SPEC
    sweep(DIVIDES, spec, fast_path / "expected")
    for fails_at in range(1, 60, 4 if AT_LENGTH else 12):
        folder = fast_path / str(fails_at)
        run = prepare(folder)
        with monkeypatch.context() as patch:
            Disk(fails_at, errno.EIO, stuck=True).install(patch)
            shown(run)
        run.close()
        record_of(resume(DIVIDES, folder, spec))
        assert masked_in(folder) == masked_in(fast_path / "expected"), f"failed from call {fails_at} on"


def test_a_full_disk_ends_a_merge_with_nothing_left_behind(fast_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for index in range(2):
        sweep(DIVIDES, SPEC, fast_path / str(index), shard=hw.Shard(index, 2))
    sweep(DIVIDES, SPEC, fast_path / "expected")
    inputs = [fast_path / "0", fast_path / "1"]
    before = [hash_of(path) for path in inputs]
    fails_at, was_full = 1, True
    while was_full:
        merged = fast_path / f"merged {fails_at}"
        with monkeypatch.context() as patch:
            Disk(fails_at, stuck=True).install(patch)
            was_full = not merges(inputs, merged)
        if was_full:
            assert not merged.exists() or set(files_in(merged)) <= {".lock"}
            assert merges(inputs, merged)
        assert masked_in(merged) == masked_in(fast_path / "expected")
        fails_at += 1
    assert fails_at > 10
    assert [hash_of(path) for path in inputs] == before


def merges(inputs: list[Path], merged: Path) -> bool:
    """Merge `inputs`, and return whether there was room."""
    try:
        hw.merge(inputs, merged)
    except hw.OutputFullError:
        return False
    return True


class Scanned(PermissionError):
    """What Windows raises while a scanner has a file open."""

    winerror = 32


def test_a_rename_waits_for_a_scanner_and_then_gives_up_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "old").write_bytes(b"old")
    refusals, waits = [3], list[float]()

    class Windows:
        def __getattr__(self, name: str) -> Any:
            return getattr(os, name)

        def replace(self, source: Path, target: Path) -> None:
            if refusals[0]:
                refusals[0] -= 1
                raise Scanned(errno.EACCES, "file is in use", str(source))
            os.replace(source, target)

    monkeypatch.setattr(disk, "os", Windows())
    rename_over(tmp_path / "new", tmp_path / "old", waits.append)
    assert (tmp_path / "old").read_bytes() == b"new"
    assert waits == [0.01, 0.02, 0.04]
    (tmp_path / "new").write_bytes(b"newer")
    refusals[0], waits[:] = 100, []
    with pytest.raises(PermissionError):
        rename_over(tmp_path / "new", tmp_path / "old", waits.append)
    assert 1.0 < sum(waits) < 2.0
    assert (tmp_path / "old").read_bytes() == b"new"
