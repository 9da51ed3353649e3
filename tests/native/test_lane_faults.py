"""Lanes that cannot be started or that break: the sweep goes on or ends in words, and nothing of them is left."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

import henad_web as hw
from henad_native import process_lanes
from henad_native.executor_lanes import over_executor
from henad_native.machine import no_processes
from henad_native.target import NativeTarget
from henad_web.explore.outcomes import RunOutcome
from henad_web.run.lane_messages import EndedRun, WorkerOrder
from henad_web.run.layout import MachineResources, choose_layout, layout_text
from henad_web.run.probe import Probe
from tests.native import lane_models
from tests.shared.toy_models import Toy, entry_of, toy_spec

PROCESSES = hw.SweepRunOptions(concurrency=2, lanes="process")


def lane_threads() -> list[str]:
    """Return the threads that hear processes, which last as long as these, and those that are lanes."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("henad-lane")]


def refusing(number: int) -> Callable[..., int]:
    def refuse(*arguments: object, **named: object) -> int:
        raise OSError(number, os.strerror(number))

    return refuse


def test_where_no_process_can_be_started_there_is_one_lane_in_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    crowded = SimpleNamespace(**vars(subprocess) | {"Popen": refusing(errno.EAGAIN)})
    monkeypatch.setattr(process_lanes, "subprocess", crowded)
    record = hw.run_spec(lane_models.slow, toy_spec(1, 2), options=PROCESSES)
    assert record.report.counts.ok == 4
    assert [str(warning).partition(":")[0] for warning in record.report.warnings if "lane" in str(warning)] == [
        "there is 1 lane, no more",
        "there is one lane, in the caller",
    ]
    assert lane_threads() == []


@pytest.mark.parametrize(
    ("place", "changed", "why"),
    [
        ("sys.executable", None, "sys.executable is None, which is no program"),
        ("sys.executable", "/nowhere/python", "sys.executable is '/nowhere/python', which is no program"),
        ("sys.frozen", True, f"{sys.executable!r} is a program that was frozen together with its Python"),
        ("henad_native.machine.os.name", "nt", "this system hands no open pipe on by its number"),
    ],
)
def test_where_no_python_can_be_started_there_is_one_lane_in_the_caller_or_threads(
    monkeypatch: pytest.MonkeyPatch, place: str, changed: object, why: str
) -> None:
    entry, spec = lane_models.slow, toy_spec(1)
    with monkeypatch.context() as patched:
        patched.setattr(place, changed, raising=False)
        resources = MachineResources(workers=2, no_processes=no_processes())
    probe = Probe(entry, spec.plan(entry.schema())).run_to_end()
    text = layout_text(choose_layout(2, resources, hw.Backend.CPU, probe, 2))
    assert text == f"one lane in the caller: no process can be started, as {why}; 2 were asked for"


def test_an_executor_has_workers_where_no_python_can_be_started_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    around = NativeTarget().surroundings()
    assert around.resources.no_processes != ""
    with ThreadPoolExecutor(2) as executor:
        assert over_executor(around, executor).resources.no_processes == ""


def test_processes_are_heard_where_the_system_lends_no_sign_of_their_exit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pidfd_open", refusing(errno.ENOSYS), raising=False)
    spec = toy_spec(0, lane_models.FATES.index(lane_models.segfault))
    record = hw.run_spec(lane_models.fated, spec, options=PROCESSES)
    assert (record.report.counts.ok, record.report.counts.failed) == (2, 2)
    assert lane_threads() == []


def test_an_order_waits_for_no_lane_that_does_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        process_lanes, "BOOTSTRAP", "import time; time.sleep(3600)  # instead of henad_native.lane_start"
    )
    lane = process_lanes.LaneProcess(print)
    lane.launch(bytes(1 << 22), "1", [])  # more than any pipe holds
    lane.send(WorkerOrder.SHOW)
    assert lane.ended() == "cut off from the sweep"
    assert lane_threads() == []


def test_a_sweep_goes_on_with_the_lanes_that_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = process_lanes._shared_memory
    made: list[None] = []

    def room_for_one() -> object:
        made.append(None)
        return refusing(errno.EMFILE)() if len(made) > 1 else memory()

    monkeypatch.setattr(process_lanes, "_shared_memory", room_for_one)
    record = hw.run_spec(lane_models.slow, toy_spec(1, 2), options=PROCESSES)
    assert record.report.counts.ok == 4
    (notice,) = [str(warning) for warning in record.report.warnings if "lane" in str(warning)]
    assert notice.startswith("there is 1 lane, no more: ")
    assert notice.endswith("Too many open files")
    assert lane_threads() == []


def test_a_thread_that_breaks_is_replaced_as_a_process_that_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome_sent, asked = EndedRun.of, []

    def of(outcome: RunOutcome) -> EndedRun:
        asked.append(outcome.run.run_id)
        if asked.count(2) == 1 and outcome.run.run_id == 2:
            raise MemoryError
        return outcome_sent(outcome)

    monkeypatch.setattr(EndedRun, "of", of)
    options = hw.SweepRunOptions(concurrency=2, lanes="thread")
    record = hw.run_spec(lane_models.slow, toy_spec(1, 2), options=options)
    assert (record.report.counts.ok, asked.count(2)) == (4, 2)
    assert [str(warning) for warning in record.report.warnings if "lane" in str(warning)] == [
        "a lane was ended by MemoryError while it was at run 2, which is done once more"
    ]


class Wanders(Toy):
    """Goes to another folder before each step, and its process with it."""

    def before_step(self) -> None:
        os.chdir("/")


@pytest.mark.parametrize("lanes", ["in_caller", "thread", "process"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_model_that_goes_to_another_folder_takes_no_results_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lanes: str, overwrite: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    options = hw.SweepRunOptions(concurrency=1 if lanes == "in_caller" else 2, lanes=lanes)
    if overwrite:
        hw.run_spec(entry_of(Toy), toy_spec(3), output=hw.DirectoryOutput("out"), options=options)
    output = hw.DirectoryOutput("out", overwrite=overwrite)
    hw.run_spec(entry_of(Wanders), toy_spec(1, 2), output=output, options=options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir() if path.name != ".lock"}
    monkeypatch.chdir(tmp_path)
    assert hw.masked(written) == hw.masked(hw.run_spec(entry_of(Wanders), toy_spec(1, 2)).files or {})
