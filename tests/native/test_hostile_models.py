"""Models that harm the process they are stepped in: no other run and no file pays for it, and nothing hangs."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import henad_web as hw
from henad_native import entry_transfer
from henad_native.entry_transfer import SentEntry
from tests.native.lane_kills import lane_processes, until
from tests.native.lane_models import (
    FATES,
    begin_to_talk,
    break_pickle,
    close_files,
    end_main_thread,
    fated,
    fork,
    fork_on_a_thread,
    hang_behind_a_copy,
    nothing,
    talk_nonsense,
)
from tests.shared.toy_models import entry_of, toy_spec

ROOT = Path(__file__).parents[2]

HANGS_S = 120.0
"""Seconds after which a call is taken for one that never comes back."""


def rows(fate: Callable[[], None], *, replicates: int = 1, timeout_s: float | None = None) -> list[tuple[str, str]]:
    """Return status and note of runs of a model that meets `fate` in the second half of them."""
    spec = toy_spec(FATES.index(nothing), FATES.index(fate))
    spec = msgspec.structs.replace(spec, run=hw.RunSettings(steps=10, replicates=replicates, timeout_s=timeout_s))
    options = hw.SweepRunOptions(concurrency=2, lanes="process")
    record = hw.run_spec(fated, spec, options=options)
    assert record.files is not None
    found = hw.ResultSet.from_files(record.files, models={"toy": fated}).runs
    return [(str(status), str(note)) for status, note in zip(found["status"], found["note"], strict=True)]


FINE = ("ok", "")


@pytest.mark.timeout(HANGS_S, method="thread")
def test_a_copy_of_a_lane_leaves_the_gauge_to_it() -> None:
    note = "timed out after 0.2 s, in a step that did not end; its lane was ended"
    assert rows(hang_behind_a_copy, timeout_s=0.2) == [FINE, ("timed_out", note)]


@pytest.mark.parametrize("lanes", ["in_caller", "thread", "process"])
@pytest.mark.timeout(HANGS_S, method="thread")
def test_a_copy_that_a_model_makes_by_forking_is_no_second_sweep(lanes: str, tmp_path: Path) -> None:
    spec, out = toy_spec(FATES.index(fork), FATES.index(nothing)), tmp_path / "out"
    options = hw.SweepRunOptions(concurrency=1 if lanes == "in_caller" else 2, lanes=lanes)
    record = hw.run_spec(fated, spec, output=hw.DirectoryOutput(out), options=options)
    assert record.report.counts.ok == 4
    lines = (out / "runs.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == ["0", "1", "2", "3"]
    assert lane_processes() == []


@pytest.mark.timeout(HANGS_S, method="thread")
def test_a_lane_ends_with_its_main_thread() -> None:
    note = "its lane was ended with exit code 1, and so was the one that did it once more"
    assert rows(end_main_thread) == [FINE, ("panicked", note)]


@pytest.mark.timeout(HANGS_S, method="thread")
def test_a_copy_of_a_lane_is_not_ended_with_a_thread_of_the_model() -> None:
    assert rows(fork_on_a_thread) == [FINE] * 2


@pytest.mark.timeout(HANGS_S, method="thread")
def test_a_model_that_closes_files_does_not_cut_its_lane_off() -> None:
    assert rows(close_files, replicates=2) == [FINE] * 4


@pytest.mark.timeout(HANGS_S, method="thread")
def test_a_lane_that_cannot_be_understood_costs_its_run() -> None:
    note = "its lane was cut off from the sweep, and so was the one that did it once more"
    assert rows(talk_nonsense) == [FINE, ("panicked", note)]


@pytest.mark.timeout(HANGS_S, method="thread")
def test_a_lane_that_cannot_speak_any_more_costs_the_run_it_could_not_send() -> None:
    note = "its lane was ended with exit code 1, and so was the one that did it once more"
    assert rows(break_pickle) == [FINE, ("panicked", note)]


@pytest.mark.timeout(HANGS_S, method="thread")
def test_a_run_that_could_not_be_sent_costs_those_that_wait_with_it_nothing() -> None:
    spec = toy_spec(*map(FATES.index, (nothing, nothing, break_pickle, nothing, nothing)))
    record = hw.run_spec(fated, spec, options=hw.SweepRunOptions(concurrency=1, lanes="process"))
    assert record.files is not None
    found = hw.ResultSet.from_files(record.files, models={"toy": fated}).runs
    assert list(map(str, found["status"])) == ["ok"] * 4 + ["panicked"] * 2 + ["ok"] * 4


@pytest.mark.timeout(HANGS_S, method="thread")
def test_a_lane_in_the_middle_of_a_message_holds_up_no_other() -> None:
    options = hw.SweepRunOptions(concurrency=2, lanes="process")
    spec = toy_spec(FATES.index(begin_to_talk), FATES.index(nothing))
    with hw.SweepRun.start(fated, msgspec.structs.replace(spec, run=hw.RunSettings(steps=10)), options=options) as run:
        until(lambda: run.progress().runs_waiting == 1)
    assert lane_processes() == []


LEAVES_NOTHING = """
import gc
import os
import threading
from pathlib import Path

import henad_web as hw
from tests.native.lane_models import FATES, fated, nothing, segfault
from tests.shared.toy_models import toy_spec


def held():
    gauges = Path("/proc/self/maps").read_text().count("henad-gauge")
    return len(os.listdir("/proc/self/fd")), gauges, threading.active_count()


spec, options = toy_spec(FATES.index(nothing)), hw.SweepRunOptions(concurrency=2, lanes="process")
gc.disable()
hw.run_spec(fated, spec, options=options)
before = held()
for values in (spec, toy_spec(FATES.index(segfault))):
    hw.run_spec(fated, values, options=options)
hw.SweepRun.start(fated, spec, options=options).close()
print(held() == before, *before[1:])
"""


def test_sweeps_leave_no_file_gauge_or_thread_behind_until_memory_is_tidied_up() -> None:
    # In a process of its own: other tests leave threads of libraries in this one.
    done = subprocess.run(
        [sys.executable, "-c", LEAVES_NOTHING], cwd=ROOT, capture_output=True, text=True, timeout=HANGS_S
    )
    assert (done.stdout, done.returncode) == ("True 0 1\n", 0), done.stderr


FEW_FILES = """
import resource
import sys
import henad_web as hw
from tests.native.lane_models import fated
from tests.shared.toy_models import entry_of, toy_spec

resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]),) * 2)
record = hw.run_spec(fated, toy_spec(0, 0), options=hw.SweepRunOptions(concurrency=4, lanes="process"))
print(record.report.counts.ok, *record.report.warnings)
"""


@pytest.mark.parametrize(
    ("limit", "told"),
    [(6, "there is one lane, in the caller: there is no room"), (18, "no more: OSError: [Errno 24]")],
)
def test_a_sweep_goes_on_with_the_lanes_that_there_are_files_for(limit: int, told: str) -> None:
    program = [sys.executable, "-c", FEW_FILES, str(limit)]
    done = subprocess.run(program, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANGS_S)
    assert done.stderr == ""
    assert done.stdout.startswith("4 ")
    assert told in done.stdout


def test_a_module_that_its_user_registered_with_cloudpickle_stays_registered() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    module = types.ModuleType("nowhere_to_be_found")
    exec("from tests.shared.toy_models import Toy\nclass Made(Toy): ...", vars(module))
    sys.modules[module.__name__] = module
    cloudpickle.register_pickle_by_value(module)
    try:
        SentEntry.of(entry_of(vars(module)["Made"]))
        assert module.__name__ in cloudpickle.list_registry_pickle_by_value()
    finally:
        cloudpickle.unregister_pickle_by_value(module)
        del sys.modules[module.__name__]


def test_sweeps_that_start_at_once_send_their_models_one_after_the_other() -> None:
    """Cloudpickle has one list of modules: a model would be sent by names that the end of another sweep took away."""
    called: list[bool] = []

    def look(*modules: object) -> list[str]:
        called.append(entry_transfer._REGISTERING.locked())
        return []

    cloudpickle = types.ModuleType("cloudpickle")
    for name in ("list_registry_pickle_by_value", "register_pickle_by_value", "unregister_pickle_by_value"):
        setattr(cloudpickle, name, look)
    with entry_transfer._by_value(cloudpickle, {"mine": types.ModuleType("mine")}):
        look()
    assert called == [True] * 4
    assert not entry_transfer._REGISTERING.locked()
