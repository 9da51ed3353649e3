"""Laws of the lock: one writer at a time, whoever refuses disturbs nobody, and the dead are told from the living."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from henad_native.directory import DirectoryStore
from henad_native.lock import DirectoryLock
from henad_web.errors import LockedError

STARTED_S = 1_700_000_000.25
STARTED = "2023-11-14T22:13:20.250Z"
WRITER = """
import sys
from henad_native.directory import DirectoryStore

store = DirectoryStore(sys.argv[1])
store.open()
store.create("runs.csv", b"run_id\\n")
print("writing", flush=True)
sys.stdin.readline()
store.append("runs.csv", b"0\\n")
store.flush()
store.close()
"""


@contextmanager
def writer_in(directory: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a process that writes into `directory` until it gets a line."""
    command = [sys.executable, "-c", WRITER, str(directory)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        try:
            yield process
        finally:
            process.kill()


def lock_of(directory: Path, *, force: bool = False) -> DirectoryLock:
    return DirectoryLock(directory, lambda: STARTED_S, force=force)


def holder(directory: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((directory / ".lock").read_bytes())
    return loaded


def leave_behind(directory: Path, **fields: object) -> None:
    text = {"pid": 7, "host": socket.gethostname(), "started": STARTED, "released": None, **fields}
    (directory / ".lock").write_text(json.dumps(text))


def test_the_file_says_who_holds_the_lock_and_when_it_was_given_back(tmp_path: Path) -> None:
    lock = lock_of(tmp_path)
    assert lock.acquire() is None
    assert lock.is_held
    mine = {"pid": os.getpid(), "host": socket.gethostname(), "started": STARTED, "released": None}
    assert holder(tmp_path) == mine
    lock.release()
    assert not lock.is_held
    assert holder(tmp_path) == {**mine, "released": STARTED}


def test_a_second_writer_is_refused_and_the_first_is_not_disturbed(tmp_path: Path) -> None:
    first, second = lock_of(tmp_path), lock_of(tmp_path)
    first.acquire()
    before = (tmp_path / ".lock").read_bytes()
    for refuse in (second.check, second.acquire):
        with pytest.raises(LockedError, match=f"process {os.getpid()} on .* since {STARTED}"):
            refuse()
    assert not second.is_held
    second.release()
    assert (tmp_path / ".lock").read_bytes() == before
    first.release()
    assert second.acquire() is None
    second.release()


def test_another_process_that_writes_is_named_and_goes_on(tmp_path: Path) -> None:
    directory = tmp_path / "My Runs é"
    with writer_in(directory) as process:
        before = {path.name: path.read_bytes() for path in directory.iterdir()}
        store = DirectoryStore(directory)
        for refuse in (store.check_free, store.open):
            with pytest.raises(LockedError, match=f"is being written by process {process.pid} on ") as caught:
                refuse()
            assert caught.value.path == str(directory)
        store.close()
        assert {path.name: path.read_bytes() for path in directory.iterdir()} == before
        process.communicate("go on\n")
        assert process.returncode == 0
    assert (directory / "runs.csv").read_bytes() == b"run_id\n0\n"
    assert holder(directory)["released"] is not None


def test_a_writer_that_was_killed_is_taken_over_and_named(tmp_path: Path) -> None:
    with writer_in(tmp_path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    lock = lock_of(tmp_path)
    lock.check()
    dead = lock.acquire()
    assert dead is not None
    assert (dead.pid, dead.released) == (process.pid, None)
    assert holder(tmp_path)["pid"] == os.getpid()
    lock.release()


def test_a_lock_that_was_given_back_is_taken_without_a_word(tmp_path: Path) -> None:
    leave_behind(tmp_path, host="elsewhere", released=STARTED)
    lock = lock_of(tmp_path)
    assert lock.acquire() is None
    lock.release()


def test_a_lock_left_on_another_host_is_taken_only_by_force(tmp_path: Path) -> None:
    leave_behind(tmp_path, host="elsewhere")
    before = (tmp_path / ".lock").read_bytes()
    lock = lock_of(tmp_path)
    for refuse in (lock.check, lock.acquire):
        with pytest.raises(LockedError, match=r"process 7 on elsewhere since .* never gave it back \(--force"):
            refuse()
    assert (tmp_path / ".lock").read_bytes() == before
    forced = lock_of(tmp_path, force=True)
    forced.check()
    dead = forced.acquire()
    assert dead is not None
    assert dead.host == "elsewhere"
    forced.release()


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b'{"pid": "x"}'])
def test_a_lock_file_that_says_nothing_is_in_nobodys_way(tmp_path: Path, text: bytes) -> None:
    (tmp_path / ".lock").write_bytes(text)
    lock = lock_of(tmp_path)
    lock.check()
    assert lock.acquire() is None
    assert holder(tmp_path)["pid"] == os.getpid()
    lock.release()


def test_a_lock_that_may_only_be_read_is_told_by_its_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: object, mode: int) -> bool:
        return False

    monkeypatch.setattr(os, "access", refuse)
    leave_behind(tmp_path, released=STARTED)
    before = (tmp_path / ".lock").stat()
    lock_of(tmp_path).check()
    leave_behind(tmp_path)
    with pytest.raises(LockedError, match="process 7 on"):
        lock_of(tmp_path).check()
    lock_of(tmp_path, force=True).check()
    assert before.st_ino == (tmp_path / ".lock").stat().st_ino


def test_a_check_leaves_no_trace(tmp_path: Path) -> None:
    lock_of(tmp_path).check()
    assert list(tmp_path.iterdir()) == []
    leave_behind(tmp_path)
    before = (tmp_path / ".lock").stat()
    lock_of(tmp_path).check()
    assert (tmp_path / ".lock").stat().st_mtime_ns == before.st_mtime_ns
    assert holder(tmp_path)["pid"] == 7


def test_a_lock_can_be_given_back_twice(tmp_path: Path) -> None:
    lock = lock_of(tmp_path)
    lock.release()
    lock.acquire()
    lock.release()
    lock.release()
    assert lock.acquire() is None
    lock.release()
