"""A disk that is full: blocking calls wait for room and go on, or end at once when told to."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import henad_web as hw
from henad_native import blocking
from henad_native.blocking import LOOK_AGAIN_S, RoomWatch
from henad_native.cli import main
from tests.native.folders import TOY, masked_in, record_of, resume, sweep, toy_spec
from tests.native.test_cli_going_on import spec_at
from tests.native.test_directory import Disk

SPEC = toy_spec((1, 2, 3))


class Listener:
    """Keeps what it hears and makes room at the first word of a full disk."""

    def __init__(self, disk: Disk | None = None) -> None:
        self.disk, self.warnings, self.phases = disk, list[hw.SweepWarning](), set[str]()

    def __call__(self, news: hw.SweepEvent | hw.SweepProgress) -> None:
        if isinstance(news, hw.SweepProgress):
            self.phases.add(str(news.phase))
        if isinstance(news, hw.Warned):
            self.warnings.append(news.warning)

    @property
    def told(self) -> list[str]:
        return [str(warning) for warning in self.warnings]


class Opens(Disk):
    """A disk that is full from call `fails_at` on, and has room again after `refusals`."""

    def __init__(self, fails_at: int, error: int, refusals: int) -> None:
        super().__init__(fails_at, error, stuck=True)
        self.refusals = refusals

    def __getattr__(self, name: str) -> object:
        real = super().__getattr__(name)
        if name not in self.ROOM:
            return real

        def call(*arguments: object) -> object:
            try:
                return real(*arguments)
            except OSError as error:
                if error.errno == self.error:
                    self.refusals -= 1
                    if not self.refusals:
                        self.fails_at = 1 << 40
                raise

        return call


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("fails_at", [1, 12, 25, 40])
def test_a_blocking_call_goes_on_once_there_is_room_and_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int, error: int
) -> None:
    monkeypatch.setattr(blocking, "LOOK_AGAIN_S", 0.0)
    heard = Listener()
    with monkeypatch.context() as patch:
        Opens(fails_at, error, refusals=12).install(patch)
        record = hw.run_spec(TOY, SPEC, output=hw.DirectoryOutput(tmp_path / "results"), progress=heard)
    assert record.report.counts.ok == 6
    waits, goes_on = heard.told
    assert waits.startswith("the sweep waits, because no room left to write ")
    assert waits.endswith("it looks again every 0 seconds and goes on once there is room; Ctrl-C ends it")
    assert goes_on == "there is room again; the sweep goes on"
    sweep(TOY, SPEC, tmp_path / "whole")
    assert masked_in(tmp_path / "results") == masked_in(tmp_path / "whole")


def test_it_looks_again_every_few_seconds_and_not_before(tmp_path: Path) -> None:
    class Paused:
        resumed = 0

        def resume(self) -> None:
            self.resumed += 1

    now, run = [100.0], Paused()
    room = RoomWatch(run, clock=lambda: now[0])  # type: ignore[arg-type]
    full = hw.Warned(hw.OutputPaused("it is full"))
    (first,) = room.told(full)
    assert first == hw.Warned(hw.OutputPaused("it is full", looks_again_s=LOOK_AGAIN_S))
    for repeat in range(1, 4):
        now[0] += LOOK_AGAIN_S - 0.001
        room.look()
        assert run.resumed == repeat - 1
        now[0] += 0.001
        for _ in range(2):
            room.look()
            assert run.resumed == repeat
        assert list(room.told(full)) == [], "it was told already"
    failed = hw.Failed("it is full")
    assert list(room.told(failed)) == [failed]


def test_a_sweep_that_is_to_fail_does_and_can_be_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, heard = tmp_path / "results", Listener()
    options = hw.SweepRunOptions(on_full="fail")
    with monkeypatch.context() as patch:
        Disk(30, stuck=True).install(patch)
        with pytest.raises(hw.SweepFailedError, match="no room left to write"):
            hw.run_spec(TOY, SPEC, output=hw.DirectoryOutput(folder), options=options, progress=heard)
    assert heard.told == []
    record_of(resume(TOY, folder))
    sweep(TOY, SPEC, tmp_path / "whole")
    assert masked_in(folder) == masked_in(tmp_path / "whole")


def test_another_word_is_refused() -> None:
    with pytest.raises(hw.UsageError, match="on_full is 'stop'; allowed: 'wait', 'fail'"):
        hw.SweepRunOptions(on_full="stop")


def test_ctrl_c_ends_a_sweep_that_waits_for_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")

    told = RoomWatch.told

    def interrupt(room: RoomWatch, event: hw.SweepEvent) -> Iterator[hw.SweepEvent]:
        for news in told(room, event):
            if isinstance(news, hw.Warned):
                os.kill(os.getpid(), signal.SIGINT)
            yield news

    monkeypatch.setattr(RoomWatch, "told", interrupt)
    command = ["run", spec_at(tmp_path), "--out", str(tmp_path / "results"), "--models", "tests.native.cli_models:TOYS"]
    with monkeypatch.context() as patch:
        Disk(30, stuck=True).install(patch)
        assert main([*command, "--quiet"]) == 1
    assert "error: no room left to write" in capsys.readouterr().err


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB that a file fills up but for 40 KiB.

    The manifest names every module of `tests` that was imported: alone this file makes 7 KB of it, all files 12.
    """
    folder = tmp_path / "tiny"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this system lets nobody mount a small file system here")
    try:
        (folder / "filler").write_bytes(bytes(216 << 10))
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_really_small_disk_is_waited_for(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "LOOK_AGAIN_S", 0.0)
    spec = toy_spec(tuple(range(1, 100)))

    class MakesRoom(Listener):
        def __call__(self, news: hw.SweepEvent | hw.SweepProgress) -> None:
            super().__call__(news)
            if self.warnings:
                (tiny / "filler").unlink(missing_ok=True)

    heard = MakesRoom()
    record = hw.run_spec(TOY, spec, output=hw.DirectoryOutput(tiny / "results"), progress=heard)
    assert record.report.counts.ok == 198
    assert len(heard.told) == 2
    sweep(TOY, spec, tmp_path / "whole")
    assert masked_in(tiny / "results") == masked_in(tmp_path / "whole")


def test_a_really_small_disk_ends_a_command_that_is_to_fail(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    folder = tiny / "results"
    models = ["--models", "tests.native.cli_models:TOYS"]
    command = ["run", spec_at(tmp_path, replicates=80), "--out", str(folder), *models, "--quiet"]
    assert main([*command, "--on-full", "fail"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: no room left to write {folder}")
    (tiny / "filler").unlink()
    assert main(["resume", str(folder), *models, "--quiet", "--on-full", "fail"]) == 0
