"""The native runner: its thread, its end, blocking runs and directories."""

from __future__ import annotations

import csv
import gc
import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import pytest

import henad_web as hw
from henad_native import blocking
from henad_native.blocking import STOPPED_AT_ONCE
from henad_native.stopping import StopRequest
from henad_native.threaded import ThreadedRunner
from henad_web.errors import ThreadStartError
from henad_web.model.params import ParamValue
from henad_web.output.record import Counts
from henad_web.targets import PumpedTarget, current
from tests.native.cli_models import TOYS
from tests.shared.hosts import Host
from tests.shared.toy_models import Divides, Toy, entry_of, toy_spec

if TYPE_CHECKING:
    from _typeshed import TraceFunction

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def models() -> hw.ModelSet:
    return hw.example_models()


@pytest.fixture
def endless() -> hw.SweepSpec:
    return hw.SweepSpec(
        model="game_of_life",
        fixed=(("grid_width", 16), ("grid_height", 16)),
        run=hw.RunSettings(steps=1_000_000_000),
        measure=hw.MeasureSettings(stats_every=1000, series_every=0),
    )


def fixture() -> tuple[hw.ModelEntry, hw.SweepSpec]:
    return hw.example_models()["sir"], hw.load_spec(EXAMPLES / "sir_fixture.toml").spec


def sweep_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "henad-sweep"]


def test_a_directory_holds_the_same_bytes_as_memory(tmp_path: Path) -> None:
    entry, spec = fixture()
    folder = tmp_path / "results with spaces é"
    record = hw.run_spec(entry, spec, output=hw.DirectoryOutput(folder))
    assert record.files is None
    assert record.report.output_dir == str(folder)
    in_memory = hw.run_spec(entry, spec).files
    assert in_memory is not None
    written = {name: (folder / name).read_bytes() for name in in_memory}
    assert hw.masked(written) == hw.masked(in_memory)
    for name in ("series.csv", "summary.csv"):
        assert written[name] == in_memory[name]


def test_a_directory_holds_the_same_bytes_as_a_page(tmp_path: Path) -> None:
    entry, spec = fixture()
    hw.run_spec(entry, spec, output=hw.DirectoryOutput(tmp_path))
    pumped = Host(PumpedTarget()).files(entry, spec)
    assert hw.masked({name: (tmp_path / name).read_bytes() for name in pumped}) == hw.masked(pumped)


def test_a_directory_that_holds_results_is_refused_untouched(tmp_path: Path) -> None:
    entry, spec = fixture()
    hw.run_spec(entry, spec, output=hw.DirectoryOutput(tmp_path))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(hw.HoldsResultsError, match=r"already holds results .*runs\.csv"):
        hw.SweepRun.start(entry, spec, output=hw.DirectoryOutput(tmp_path))
    with pytest.raises(hw.HoldsResultsError):
        hw.plan_spec(entry, spec, output=hw.DirectoryOutput(tmp_path))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_refused_start_makes_no_directory(tmp_path: Path) -> None:
    _, spec = fixture()
    folder = tmp_path / "new"
    with pytest.raises(hw.ModelMismatchError):
        hw.SweepRun.start(hw.example_models()["game_of_life"], spec, output=hw.DirectoryOutput(folder))
    assert not folder.exists()


def test_a_sweep_that_cannot_be_probed_makes_no_directory(tmp_path: Path) -> None:
    class Broken(Toy):
        def __init__(self, params: object, seed: int | None) -> None:
            raise LookupError("no such world")

    folder = tmp_path / "new"
    with pytest.raises(hw.SweepFailedError, match="no such world"):
        hw.run_spec(entry_of(Broken), hw.SweepSpec(model="toy"), output=hw.DirectoryOutput(folder))
    assert not folder.exists()


def test_a_blocking_run_tells_events_and_progress() -> None:
    entry, spec = fixture()
    news: list[object] = []
    record = hw.run_spec(entry, spec, progress=news.append)
    assert record.report.end is hw.SweepEnd.COMPLETE
    assert sum(isinstance(item, hw.RunFinished) for item in news) == 4
    assert isinstance(news[-1], hw.Finished)


def test_a_blocking_run_raises_what_its_listener_raises_and_leaves_no_thread() -> None:
    entry, spec = fixture()

    def listener(_news: object) -> None:
        raise RuntimeError("the listener is broken")

    with pytest.raises(RuntimeError, match="the listener is broken"):
        hw.run_spec(entry, spec, progress=listener)
    assert sweep_threads() == []


def test_the_wake_callback_of_a_blocking_run_is_called_too() -> None:
    entry, spec = fixture()
    calls: list[int] = []
    hw.run_spec(entry, spec, options=hw.SweepRunOptions(wake=lambda: calls.append(1)))
    assert len(calls) == 1 + 4 + 1


def test_failing_runs_leave_a_complete_folder(tmp_path: Path) -> None:
    factor = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=(1, 0)))
    spec = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=4), blocks=(hw.BlockSpec(factors=(factor,)),))
    record = hw.run_spec(entry_of(Divides), spec, output=hw.DirectoryOutput(tmp_path))
    assert record.report.counts == Counts(rows=2, ok=1, failed=1)
    assert record.manifest is not None
    assert record.manifest.status == "complete"
    assert "ZeroDivisionError at toy_models.py" in (tmp_path / "runs.csv").read_text()


def test_the_thread_ends_with_the_sweep(models: hw.ModelSet, endless: hw.SweepSpec) -> None:
    with hw.SweepRun.start(models["game_of_life"], endless):
        assert len(sweep_threads()) == 1
    assert sweep_threads() == []


def test_a_dropped_handle_ends_its_sweep(models: hw.ModelSet, endless: hw.SweepSpec) -> None:
    run = hw.SweepRun.start(models["game_of_life"], endless)
    (thread,) = sweep_threads()
    del run
    gc.collect()
    thread.join(60)
    assert not thread.is_alive()


def test_a_thread_that_cannot_be_started_is_an_error_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    entry, spec = fixture()
    registered: list[object] = []
    monkeypatch.setattr("atexit.register", registered.append)
    monkeypatch.setattr("atexit.unregister", registered.remove)
    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(ThreadStartError, match="cannot start the sweep's thread: can't start new thread"):
        hw.SweepRun.start(entry, spec, hw.DirectoryOutput(tmp_path / "out"))
    assert registered == [], "nothing is left to be joined at exit"
    assert not (tmp_path / "out").exists()


def test_nothing_of_a_sweep_that_is_over_is_left_to_be_joined_at_exit(
    monkeypatch: pytest.MonkeyPatch, models: hw.ModelSet, endless: hw.SweepSpec
) -> None:
    registered: list[object] = []
    monkeypatch.setattr("atexit.register", registered.append)
    monkeypatch.setattr("atexit.unregister", registered.remove)
    with hw.SweepRun.start(models["game_of_life"], endless):
        assert len(registered) == 1
    assert registered == []


def test_a_view_of_a_step_that_takes_too_long_is_the_latest_there_is() -> None:
    held, entered = threading.Event(), threading.Event()

    class Stuck(Toy):
        def before_step(self) -> None:
            if self.tick == 1:
                entered.set()
                held.wait(60)

    spec = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=5))
    run = hw.SweepRun.start(entry_of(Stuck), spec)
    try:
        assert entered.wait(60)
        assert run.view() is None, "no slice has ended since the view was asked for"
    finally:
        held.set()
        run.close()


def test_the_host_of_this_process_is_the_native_one() -> None:
    assert current().name == "native"
    run = hw.SweepRun.start(entry_of(Toy), hw.SweepSpec(model="toy", run=hw.RunSettings(steps=1)))
    assert isinstance(run._runner, ThreadedRunner)
    run.close()


SCRIPT = """
import sys, henad_web as hw
entry = hw.example_models()["game_of_life"]
spec = hw.SweepSpec(
    model="game_of_life",
    fixed=(("grid_width", 16), ("grid_height", 16)),
    run=hw.RunSettings(steps=1_000_000_000),
    measure=hw.MeasureSettings(stats_every=1000, series_every=0),
)
"""


def in_another_process(tmp_path: Path, body: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCRIPT + body, str(tmp_path / "out")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_an_interrupt_of_a_blocking_run_writes_the_files_and_exits_with_one(tmp_path: Path) -> None:
    body = """
def listener(news):
    if isinstance(news, hw.Planned):
        print("planned", flush=True)
hw.run_spec(entry, spec, output=hw.DirectoryOutput(sys.argv[1]), progress=listener)
"""
    with in_another_process(tmp_path, body) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "planned\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    out = str(tmp_path / "out")
    how = f"go on with hw.resume_sweep(entry, {out!r}) or `henad resume {out}`"
    assert f"SweepInterruptedError: the sweep was interrupted; 0 of 1 run are kept in {out}; {how}" in errors
    assert '"status": "aborted"' in (tmp_path / "out" / "manifest.json").read_text()
    assert (tmp_path / "out" / "summary.csv").exists()


def endless_spec(model: str) -> hw.SweepSpec:
    return hw.SweepSpec(model=model, run=hw.RunSettings(steps=2**40), measure=hw.MeasureSettings(series_every=0))


def test_an_interrupt_of_a_sweep_in_memory_says_where_its_files_are() -> None:
    with pytest.raises(hw.SweepInterruptedError) as caught:
        hw.run_spec(TOYS["presses_ctrl_c"], endless_spec("presses_ctrl_c"))
    how = "go on with hw.SweepRun.resume_files(entry, error.record.files)"
    assert caught.value.kept == f"0 of 1 run are kept in the files of this error's record; {how}"
    assert isinstance(caught.value.record, hw.SweepRecord)
    assert caught.value.record.files is not None


def test_a_second_interrupt_of_a_blocking_run_is_raised_with_a_note() -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        hw.run_spec(TOYS["presses_ctrl_c_twice"], endless_spec("presses_ctrl_c_twice"))
    assert caught.value.__notes__ == [STOPPED_AT_ONCE]


def test_a_program_that_ends_writes_the_files_of_its_sweeps(tmp_path: Path) -> None:
    body = """
run = hw.SweepRun.start(entry, spec, output=hw.DirectoryOutput(sys.argv[1]))
while not isinstance(run.try_recv(), hw.Planned):
    pass
"""
    with in_another_process(tmp_path, body) as process:
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert '"status": "aborted"' in (tmp_path / "out" / "manifest.json").read_text()


def test_an_interrupt_on_the_sweep_s_own_thread_is_the_model_s_doing() -> None:
    """Only the main thread is ever interrupted by a user."""

    class Interrupts(Toy):
        def before_step(self) -> None:
            if self.tick == self.value:
                raise KeyboardInterrupt

    class InterruptsAtBuild(Interrupts):
        def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
            super().__init__(params, seed)
            if self.value == 7:
                raise KeyboardInterrupt

    record = hw.run_spec(entry_of(InterruptsAtBuild), toy_spec(7, 3, 11))
    assert record.report.end is hw.SweepEnd.COMPLETE
    assert record.files is not None
    rows = list(csv.DictReader(io.StringIO(record.files["runs.csv"].decode())))
    assert [(row["status"], row["ticks"]) for row in rows[::2]] == [("panicked", "0"), ("panicked", "3"), ("ok", "10")]
    assert "while stepping the simulation, KeyboardInterrupt at " in rows[2]["note"]
    with pytest.raises(KeyboardInterrupt):
        hw.plan_spec(entry_of(InterruptsAtBuild), toy_spec(7, 3, 11))


@pytest.mark.parametrize("where", [None, "infection_rate > 0.1"])
def test_a_host_may_look_at_a_drawn_plan_while_its_sweep_reads_it(where: str | None) -> None:
    factors = (hw.FactorSpec(param="infection_rate", levels=hw.RangeLevels(min=0, max=1)),)
    block = hw.BlockSpec(design=hw.DesignKind.RANDOM, samples=70_000, factors=factors, where=where)
    entry, spec = hw.example_models()["sir"], hw.SweepSpec(model="sir", blocks=(block,))
    fresh, plan = spec.plan(entry.schema()), spec.plan(entry.schema())
    last = fresh.config_count - 1

    def look_elsewhere(frame: FrameType, event: str, argument: object) -> TraceFunction | None:
        """Stand for another thread that looks at the other end between any two lines."""
        if Path(frame.f_code.co_filename).name not in ("sampled_designs.py", "filtered_design.py"):
            return None
        if event == "line":
            sys.settrace(None)
            plan.configs[last]
            sys.settrace(look_elsewhere)
        return look_elsewhere

    before = sys.gettrace()
    sys.settrace(look_elsewhere)
    try:
        found = [plan.configs[config_id].params for config_id in (0, 5000, 0)]
    finally:
        sys.settrace(before)
    assert found == [fresh.configs[config_id].params for config_id in (0, 5000, 0)]
    assert plan.configs[last].params == fresh.configs[last].params


def test_a_blocking_run_looks_for_a_signal_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "PROGRESS_INTERVAL_S", 1e6)
    stop = StopRequest()
    signal_soon = threading.Timer(0.01, lambda: setattr(stop, "asked", True))
    signal_soon.start()
    blocking._wait(threading.Event(), stop)
    assert stop.asked
    signal_soon.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_copy_of_the_program_lets_go_of_a_sweep_whose_lock_was_held_as_it_was_forked(
    models: hw.ModelSet, endless: hw.SweepSpec
) -> None:
    held, forked = threading.Event(), threading.Event()
    with hw.SweepRun.start(models["game_of_life"], endless) as run:
        lock = run._runner._due  # type: ignore[attr-defined]

        def hold() -> None:
            with lock:
                held.set()
                forked.wait()

        holder = threading.Thread(target=hold)
        holder.start()
        held.wait()
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(5)
            run.view()
            run.close()
            os._exit(7)
        forked.set()
        holder.join()
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        assert not run.is_ended
