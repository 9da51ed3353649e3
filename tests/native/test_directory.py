"""Laws of results on a disk: the bytes of memory, nothing touched that is another's, nothing torn by a full disk."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from henad_native import directory, disk
from henad_native.directory import DirectoryStore
from henad_native.lock import DirectoryLock, LockHolder
from henad_web.errors import HoldsResultsError, OutputError, OutputFullError
from henad_web.output.masking import masked
from henad_web.output.record import SweepEnd
from henad_web.output.store import FileStore, MemoryStore
from henad_web.output.writer import ResultsWriter
from tests.shared.made_results import outcome_of, plan_of, writer_of

PLAN = plan_of()
OUTCOMES = [outcome_of(PLAN, run_id) for run_id in range(4)]


def sweep(store: FileStore, attempt: Callable[[Callable[[], object]], None]) -> ResultsWriter:
    """Write a whole sweep into `store`, each step by way of `attempt`."""
    writer = writer_of(store, PLAN)
    attempt(writer.begin)
    for outcome in OUTCOMES:
        attempt(partial(writer.write_run, outcome))
    attempt(partial(writer.finish, SweepEnd.COMPLETE))
    store.close()
    return writer


def once(step: Callable[[], object]) -> None:
    step()


def expected_files() -> dict[str, bytes]:
    store = MemoryStore()
    sweep(store, once)
    return store.files()


EXPECTED = expected_files()


def files_in(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())} if directory.exists() else {}


class Disk:
    """Stands for `os`; call number `fails_at` and, when it is `stuck`, every later one that needs room fails."""

    ROOM = ("write", "fsync", "replace", "open", "ftruncate")

    def __init__(self, fails_at: int, error: int = errno.ENOSPC, *, stuck: bool = False) -> None:
        self.fails_at, self.error, self.stuck, self.calls = fails_at, error, stuck, 0

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Stand for `os` wherever directory output calls it."""
        for module in (directory, disk):
            patch.setattr(module, "os", self)

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in self.ROOM or (name == "ftruncate" and self.error == errno.ENOSPC):
            return real

        def call(*arguments: Any) -> Any:
            self.calls += 1
            if self.calls == self.fails_at or (self.stuck and self.calls > self.fails_at):
                if name == "write" and len(arguments[1]) > 1:
                    real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                raise OSError(self.error, os.strerror(self.error))
            return real(*arguments)

        return call


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DirectoryStore]:
    store = DirectoryStore(tmp_path / "results")
    yield store
    store.close()


def test_a_directory_holds_the_bytes_that_memory_holds(tmp_path: Path) -> None:
    directory = tmp_path / "a" / "My Runs é"
    sweep(DirectoryStore(directory), once)
    files = files_in(directory)
    assert set(files) == {*EXPECTED, ".lock"}
    assert {name: files[name] for name in EXPECTED} == EXPECTED
    assert masked(files) == masked(EXPECTED)


def test_nothing_is_touched_before_the_sweep_begins(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "results")
    store.check_free()
    store.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["runs.csv", "manifest.json", "series.csv.staged"])
def test_results_that_came_between_the_check_and_the_lock_are_refused_untouched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    acquire = DirectoryLock.acquire

    def late(lock: DirectoryLock) -> LockHolder | None:
        (tmp_path / name).write_bytes(b"another's")
        return acquire(lock)

    monkeypatch.setattr(DirectoryLock, "acquire", late)
    store = DirectoryStore(tmp_path)
    with pytest.raises(HoldsResultsError, match=name):
        store.open()
    assert (tmp_path / name).read_bytes() == b"another's"
    assert b'"released": null' not in (tmp_path / ".lock").read_bytes(), "the lock is given back"
    store.close()


def test_runs_can_be_read_as_soon_as_they_are_written(store: DirectoryStore, tmp_path: Path) -> None:
    writer = writer_of(store, PLAN)
    writer.begin()
    for count, outcome in enumerate(OUTCOMES, start=1):
        writer.write_run(outcome)
        assert (tmp_path / "results" / "runs.csv").read_bytes().count(b"\n") == count + 1
        assert store.read("series.csv").count(b"\n") == 2 * count + 1
    assert b'"status": "running"' in store.read("manifest.json")


@pytest.mark.parametrize(
    "name",
    ["runs.csv", "series.csv", "summary.csv", "manifest.json", "evaluations.csv", "batches.csv", "generations.csv",
     "best.csv", "archive.csv", "runs.csv.staged", "tables.staged"],
)  # fmt: skip
def test_a_directory_that_holds_results_is_refused_untouched(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"mine")
    store = DirectoryStore(tmp_path)
    for refuse in (store.check_free, store.open):
        with pytest.raises(HoldsResultsError) as caught:
            refuse()
        assert caught.value.found == (name,)
        assert str(tmp_path) in str(caught.value)
    store.close()
    assert files_in(tmp_path) == {name: b"mine"}


def test_other_files_may_stand_beside_results(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes(b"mine")
    (tmp_path / ".lock").write_bytes(b"")
    sweep(DirectoryStore(tmp_path), once)
    assert files_in(tmp_path)["notes.txt"] == b"mine"


@pytest.mark.parametrize("name", ["runs.csv", "series.csv"])
def test_a_link_in_place_of_a_table_is_refused_and_never_followed(tmp_path: Path, name: str) -> None:
    directory, elsewhere = tmp_path / "results", tmp_path / "elsewhere"
    directory.mkdir()
    (directory / name).symlink_to(elsewhere)
    store = DirectoryStore(directory)
    with pytest.raises(HoldsResultsError):
        store.check_free()
    with pytest.raises(OutputError):
        store.create(name, b"header\n")
    assert not elsewhere.exists()


def test_a_link_in_place_of_a_whole_file_is_replaced_and_never_followed(store: DirectoryStore, tmp_path: Path) -> None:
    store.open()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"mine")
    for name in ("manifest.json", "manifest.json.partial"):
        (tmp_path / "results" / name).symlink_to(elsewhere)
    store.replace("manifest.json", [b"{", b"}"])
    assert elsewhere.read_bytes() == b"mine"
    assert store.read("manifest.json") == b"{}"
    assert not (tmp_path / "results" / "manifest.json.partial").exists()


def test_a_table_that_came_to_exist_meanwhile_is_not_overwritten(store: DirectoryStore, tmp_path: Path) -> None:
    store.open()
    (tmp_path / "results" / "runs.csv").write_bytes(b"mine")
    with pytest.raises(OutputError, match="File exists") as caught:
        store.create("runs.csv", b"header\n")
    assert isinstance(caught.value.__cause__, FileExistsError)
    assert (tmp_path / "results" / "runs.csv").read_bytes() == b"mine"


def test_a_file_in_place_of_the_directory_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(OutputError, match=r"cannot write .*file: Not a directory"):
        DirectoryStore(tmp_path / "file").check_free()
    with pytest.raises(OutputError, match=r"cannot write .*file: Not a directory"):
        DirectoryStore(tmp_path / "file" / "below" / "it").check_free()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("n" * 300, "File name too long"),
        ("a\0b", "holds a null character"),
        ("a\ud800b", r"'.*a\\ud800b' holds half of a surrogate pair, which is no character"),
    ],
)
def test_a_path_that_cannot_be_made_is_refused_before_anything_runs(tmp_path: Path, name: str, wrong: str) -> None:
    with pytest.raises(OutputError, match=wrong):
        DirectoryStore(tmp_path / name).check_free()
    assert files_in(tmp_path) == {}


@pytest.mark.parametrize("below", [".", "new/results"])
def test_a_directory_without_permission_to_write_is_refused_before_anything_runs(
    tmp_path: Path, below: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Root may write anywhere: the system's answer is what the store goes by.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    with pytest.raises(OutputError, match=f"cannot write {tmp_path}: Permission denied"):
        DirectoryStore(tmp_path / below).check_free()
    assert files_in(tmp_path) == {}


def test_a_relative_path_stays_where_the_sweep_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    store = DirectoryStore("results")
    monkeypatch.chdir(tmp_path / "there")
    assert store.path == "results"
    sweep(store, once)
    written = files_in(tmp_path / "here" / "results")
    assert masked({name: written[name] for name in EXPECTED}) == masked(EXPECTED)
    assert files_in(tmp_path / "there") == {}


def test_a_directory_in_place_of_a_table_is_refused_untouched(tmp_path: Path) -> None:
    sweep(DirectoryStore(tmp_path / "results"), once)
    (tmp_path / "results" / "runs.csv").unlink()
    (tmp_path / "results" / "runs.csv").mkdir()
    with pytest.raises(OutputError, match=r"runs\.csv is no file; take it out of the results"):
        DirectoryStore(tmp_path / "results").check_existing()


def test_a_directory_in_place_of_the_summary_fails_the_sweep_and_not_its_rows(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    writer = writer_of(store, PLAN)
    writer.begin()
    writer.write_run(OUTCOMES[0])
    (tmp_path / "summary.csv").mkdir()
    with pytest.raises(OutputError) as caught:
        writer.finish(SweepEnd.COMPLETE)
    assert not isinstance(caught.value, OutputFullError)
    manifest = writer.fail()
    store.close()
    assert manifest.results is None
    assert manifest.timestamps.finished is not None
    assert b'"status": "failed"' in (tmp_path / "manifest.json").read_bytes()
    assert (tmp_path / "runs.csv").read_bytes().count(b"\n") == 2
    assert not list(tmp_path.glob("*.partial"))


def whole_prefix(directory: Path, rows: int) -> None:
    """Assert that each table is a prefix of the expected one, of whole records, with at least `rows` runs."""
    for name in ("runs.csv", "series.csv"):
        path = directory / name
        found = path.read_bytes() if path.exists() else b""
        assert EXPECTED[name].startswith(found)
        assert found == b"" or found.endswith(b"\n")
        if rows:
            assert found.count(b"\n") == 1 + rows * (1 if name == "runs.csv" else 2)


def test_a_disk_that_is_full_once_costs_nothing_wherever_it_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails_at, refusals = 1, 1
    while refusals:
        directory = tmp_path / str(fails_at)
        refusals = sweep_on(directory, Disk(fails_at), monkeypatch)
        files = files_in(directory)
        assert {name: files[name] for name in EXPECTED} == EXPECTED
        assert not list(directory.glob("*.partial"))
        fails_at += 1
    assert fails_at > 20


def sweep_on(directory: Path, broken: Disk, monkeypatch: pytest.MonkeyPatch) -> int:
    """Write a sweep to the `broken` disk, doing again what found no room; return how often that was."""
    refusals: list[OutputFullError] = []
    clock = iter(range(1000))  # every flush comes a second after the last one, so that each waits for the disk

    def attempt(step: Callable[[], object]) -> None:
        try:
            step()
        except OutputFullError as error:
            refusals.append(error)
            whole_prefix(directory, 0)
            step()

    with monkeypatch.context() as patch:
        broken.install(patch)
        sweep(DirectoryStore(directory, clock=lambda: float(next(clock))), attempt)
    assert all(isinstance(error.__cause__, OSError) for error in refusals)
    return len(refusals)


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_disk_that_fails_for_good_keeps_every_committed_row_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    fails_at = 1
    while True:
        directory = tmp_path / str(fails_at)
        committed = sweep_until_failure(directory, Disk(fails_at, error, stuck=True), monkeypatch)
        if committed is None:
            break
        if error == errno.ENOSPC:
            whole_prefix(directory, committed)
        elif committed:
            rows = (directory / "runs.csv").read_bytes()
            assert rows.startswith(b"".join(EXPECTED["runs.csv"].splitlines(keepends=True)[: committed + 1]))
        fails_at += 1
    assert fails_at > 20


def sweep_until_failure(directory: Path, broken: Disk, monkeypatch: pytest.MonkeyPatch) -> int | None:
    """Write a sweep to the `broken` disk; return the runs committed when it failed, None when it did not."""
    store = DirectoryStore(directory)
    writer = writer_of(store, PLAN)
    failures: list[OutputError] = []
    with monkeypatch.context() as patch:
        broken.install(patch)
        try:
            writer.begin()
            for outcome in OUTCOMES:
                writer.write_run(outcome)
            writer.finish(SweepEnd.COMPLETE)
        except OutputError as error:
            failures.append(error)
        finally:
            store.close()
    assert all(isinstance(error, OutputFullError) is (broken.error != errno.EIO) for error in failures)
    return writer.counts.rows if failures else None


def test_a_torn_tail_that_could_not_be_taken_back_is_gone_before_the_next_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = DirectoryStore(tmp_path, clock=lambda: 0.0)
    writer = writer_of(store, PLAN)
    writer.begin()
    with monkeypatch.context() as patch:
        Disk(2, errno.EDQUOT, stuck=True).install(patch)
        with pytest.raises(OutputFullError):
            writer.write_run(OUTCOMES[0])
    assert not EXPECTED["runs.csv"].startswith(store.read("runs.csv") + b"\n")
    assert not store.read("runs.csv").endswith(b"\n")
    for outcome in OUTCOMES:
        writer.write_run(outcome)
    writer.finish(SweepEnd.COMPLETE)
    store.close()
    files = files_in(tmp_path)
    assert {name: files[name] for name in EXPECTED} == EXPECTED


def test_the_disk_is_waited_for_at_most_once_a_second_and_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, waits = [0.0], []

    class Waits(Disk):
        def __getattr__(self, name: str) -> Any:
            if name == "fsync":
                return lambda file: waits.append(file)
            return getattr(os, name)

    store = DirectoryStore(tmp_path, clock=lambda: now[0])
    writer = writer_of(store, PLAN)
    writer.begin()
    Waits(0).install(monkeypatch)
    for time_s, outcome in zip((0.0, 0.4, 0.999, 1.0), OUTCOMES, strict=True):
        now[0] = time_s
        writer.write_run(outcome)
        assert len(waits) == (2 if time_s >= 1.0 else 0)
    writer.finish(SweepEnd.COMPLETE)
    assert len(waits) == 2 + 3 + 2 + 2
    store.close()


LOCALE_PARTS = {
    "comma": 'comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point "<U002C>"\nthousands_sep "<U002E>"\n'
    "grouping 3;3\nEND LC_NUMERIC\n",
    "ascii": "<code_set_name> ASCII\n<comment_char> %\n<escape_char> /\n<mb_cur_min> 1\n<mb_cur_max> 1\nCHARMAP\n"
    + "".join(f"<U{code:04X}> /x{code:02x} c\n" for code in range(128))
    + "END CHARMAP\n",
}
LOCALE_SWEEP = """
import locale, sys
from pathlib import Path
locale.setlocale(locale.LC_NUMERIC, "")
assert f"{1234.5:n}" == "1.234,5", locale.localeconv()
from tests.native.test_directory import DirectoryStore, once, sweep
sweep(DirectoryStore(sys.argv[1]), once)
"""


def test_a_locale_with_decimal_commas_changes_no_byte(tmp_path: Path) -> None:
    for name, text in LOCALE_PARTS.items():
        (tmp_path / name).write_text(text)
    # localedef warns of the categories that are left out, and says so with exit status 1.
    command = ["localedef", "-c", "-i", str(tmp_path / "comma"), "-f", str(tmp_path / "ascii"), str(tmp_path / "xx_XX")]
    subprocess.run(command, capture_output=True, check=False)
    environment = {**os.environ, "LOCPATH": str(tmp_path), "LC_NUMERIC": "xx_XX", "PYTHONPATH": os.getcwd()}
    environment.pop("LC_ALL", None)
    subprocess.run([sys.executable, "-c", LOCALE_SWEEP, str(tmp_path / "results")], env=environment, check=True)
    files = files_in(tmp_path / "results")
    assert {name: files[name] for name in EXPECTED} == EXPECTED
