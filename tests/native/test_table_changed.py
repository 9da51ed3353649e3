"""Results that another program changes while a sweep writes them: the sweep ends in words and claims no row."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest

import henad_web as hw
from henad_native.directory import SYNC_INTERVAL_S, DirectoryStore
from henad_web.output.record import SweepEnd
from tests.native.folders import TOY, files_in, masked_in, record_of, resume, start, sweep, toy_spec
from tests.shared.made_results import outcome_of, plan_of, writer_of

PLAN = plan_of()
SPEC = toy_spec((1, 2, 3))


def save_by_rename(table: Path) -> None:
    """Save a table as an editor does that was opened when it had its header and one row."""
    copy = table.with_name("copy")
    copy.write_bytes(b"".join(table.read_bytes().splitlines(keepends=True)[:2]))
    os.replace(copy, table)


def save_in_place(table: Path) -> None:
    table.write_bytes(table.read_bytes()[:-9])


def add_to(table: Path) -> None:
    with table.open("ab") as file:
        file.write(b"9,9,9\n")


def move_folder(table: Path) -> None:
    os.rename(table.parent, table.parent.with_name("moved"))


def move_folder_and_make_another(table: Path) -> None:
    move_folder(table)
    table.parent.mkdir()
    (table.parent / "notes.txt").write_bytes(b"mine")


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "saved by rename": (save_by_rename, r"runs\.csv was replaced by another file"),
    "deleted": (Path.unlink, r"runs\.csv is gone"),
    "cut": (save_in_place, r"runs\.csv has \d+ bytes where \d+ were written"),
    "added to": (add_to, r"runs\.csv has \d+ bytes where \d+ were written"),
    "folder deleted": (lambda table: shutil.rmtree(table.parent), "results is gone"),
    "folder moved": (move_folder, "results is gone"),
    "another folder": (move_folder_and_make_another, "results is another folder now"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_noticed_at_the_next_sync_while_runs_are_written(tmp_path: Path, name: str) -> None:
    change, wrong = CHANGES[name]
    now = [0.0]
    store = DirectoryStore(tmp_path / "results", clock=lambda: now[0])
    writer = writer_of(store, PLAN)
    writer.begin()
    for run_id in range(2):
        writer.write_run(outcome_of(PLAN, run_id))
    change(tmp_path / "results" / "runs.csv")
    now[0] = SYNC_INTERVAL_S
    with pytest.raises(hw.TableChangedError, match=wrong):
        writer.write_run(outcome_of(PLAN, 2))
    store.close()


@pytest.mark.parametrize("table", ["runs.csv", "series.csv"])
def test_a_change_of_either_table_is_noticed_at_the_end(tmp_path: Path, table: str) -> None:
    store = DirectoryStore(tmp_path / "results", clock=lambda: 0.0)
    writer = writer_of(store, PLAN)
    writer.begin()
    for run_id in range(4):
        writer.write_run(outcome_of(PLAN, run_id))
    save_by_rename(tmp_path / "results" / table)
    with pytest.raises(hw.TableChangedError, match=table):
        writer.finish(SweepEnd.COMPLETE)
    store.close()


def test_a_change_while_the_summary_is_written_is_noticed_before_the_manifest_says_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = DirectoryStore(tmp_path / "results")
    writer = writer_of(store, PLAN)
    writer.begin()
    for run_id in range(4):
        writer.write_run(outcome_of(PLAN, run_id))
    replacing = store.replacing

    def slow(name: str, chunks: Iterable[bytes]) -> Iterator[int]:
        yield from replacing(name, chunks)
        if name == "summary.csv":
            save_by_rename(tmp_path / "results" / "runs.csv")

    monkeypatch.setattr(store, "replacing", slow)
    with pytest.raises(hw.TableChangedError):
        writer.finish(SweepEnd.COMPLETE)
    store.close()


def told(spec: hw.SweepSpec, folder: Path, change: Callable[[Path], object]) -> hw.SweepEvent:
    """Sweep into `folder`, let `change` happen after the second row, and return the last event."""
    return last_of(start(TOY, spec, folder), folder / "runs.csv", change)


def last_of(run: hw.SweepRun, table: Path, change: Callable[[Path], object]) -> hw.SweepEvent:
    """Pump `run` by single steps, let `change` happen once it has written a second run, and return its last event."""
    done, last = 2, None
    while not run.is_ended:
        if run.progress().runs_done == done:
            change(table)
            done = -1
        run.update(0.0, budget_s=0.0)
        last = run.try_recv() or last
    assert last is not None
    return last


@pytest.mark.parametrize("name", CHANGES)
def test_the_sweep_fails_in_words_and_its_folder_claims_no_row(tmp_path: Path, name: str) -> None:
    change = CHANGES[name][0]
    folder = tmp_path / "results"
    last = told(SPEC, folder, change)
    assert isinstance(last, hw.Failed)
    assert last.message.startswith("another program has changed the results while they were written: ")
    if not (folder / "manifest.json").exists():
        assert "folder" in name
        assert not folder.exists() or files_in(folder) == {"notes.txt": b"mine"}
        return
    manifest = msgspec.json.decode((folder / "manifest.json").read_bytes())
    assert (manifest["status"], manifest["results"]) == ("failed", None)
    assert [(session["ran"], session.get("rows")) for session in manifest["sessions"]] == [(0, None)]


@pytest.mark.parametrize("name", ["saved by rename", "deleted", "cut", "folder moved", "another folder"])
def test_a_resume_runs_what_the_tables_lack(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "results"
    told(SPEC, folder, CHANGES[name][0])
    sweep(TOY, SPEC, tmp_path / "whole")
    left = tmp_path / "moved" if "folder" in name else folder
    record_of(resume(TOY, left))
    assert masked_in(left) == masked_in(tmp_path / "whole")


def test_a_resumed_sweep_and_one_that_is_brought_into_order_notice_too(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    breadth = msgspec.structs.replace(SPEC, run=msgspec.structs.replace(SPEC.run, order=hw.RunOrder.BREADTH))
    last = told(breadth, folder, save_by_rename)
    assert isinstance(last, hw.Failed)
    last = last_of(resume(TOY, folder, breadth), folder / "series.csv", save_by_rename)
    assert isinstance(last, hw.Failed)
    assert "series.csv was replaced" in last.message


def test_other_files_beside_the_results_may_come_and_go(tmp_path: Path) -> None:
    last = told(SPEC, tmp_path / "results", partial(_note_beside, "notes.txt"))
    assert isinstance(last, hw.Finished)


def _note_beside(name: str, table: Path) -> None:
    table.with_name(name).write_bytes(b"mine")


def test_a_folder_that_cannot_be_asked_for_is_not_said_to_be_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, real = DirectoryStore(tmp_path / "results"), os.stat
    store.open()

    def refused(path: str | Path, **options: bool) -> os.stat_result:
        if path == tmp_path / "results":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", refused)
        with pytest.raises(hw.OutputError, match=r"cannot read .*results: Permission denied"):
            store.check_tables()
    store.close()
