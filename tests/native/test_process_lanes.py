"""Lanes in processes and on threads: the same bytes, deaths that cost a row at most, limits, pause and abort."""

from __future__ import annotations

import dataclasses
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import henad_web as hw
from henad_native import process_lanes
from henad_native.process_lanes import THREAD_VARIABLES
from tests.native import lane_models
from tests.native.lane_kills import LaneKills, lane_processes, until
from tests.native.lane_models import FATES, end_process, fork, hang, leak_until_killed, nothing, segfault
from tests.shared.toy_models import Toy, entry_of, toy_spec

PATIENCE_S = 60.0
ROOT = Path(__file__).parents[2]


def files(entry: hw.ModelEntry, spec: hw.SweepSpec, **options: Any) -> dict[str, bytes]:
    record = hw.run_spec(entry, spec, options=hw.SweepRunOptions(**options))
    assert record.files is not None
    return hw.masked(record.files)


def epidemic(replicates: int = 4, **settings: Any) -> tuple[hw.ModelEntry, hw.SweepSpec]:
    factor = hw.FactorSpec(param="infection_rate", levels=hw.ValueLevels(values=(0.1, 0.3, 0.5)))
    spec = hw.SweepSpec(
        model="sir",
        fixed=(("grid_width", 16), ("grid_height", 16)),
        run=hw.RunSettings(steps=12, replicates=replicates, **settings),
        measure=hw.MeasureSettings(stats_every=2),
        blocks=(hw.BlockSpec(factors=(factor,)),),
    )
    return hw.example_models()["sir"], spec


@pytest.mark.parametrize(
    ("order", "lanes"),
    [
        ("depth", [(1, "process"), (8, "thread"), (3, "process")]),
        ("breadth", [(2, "thread"), (2, "process")]),
    ],
)
def test_lanes_of_any_kind_and_number_leave_the_same_bytes(order: str, lanes: list[tuple[int, str]]) -> None:
    entry, spec = epidemic(order=order)
    alone = files(entry, spec, lanes="in_caller", batches=False)
    for count, kind in lanes:
        for batches in (True, False):
            came = files(entry, spec, concurrency=count, lanes=kind, batches=batches)
            assert came == alone, (count, kind, batches)
    assert lane_processes() == []


def test_a_resume_may_change_the_lanes(tmp_path: Path) -> None:
    entry, spec = epidemic(replicates=20)
    undisturbed = files(entry, spec, lanes="in_caller")
    lanes: Iterator[dict[str, Any]] = iter(
        [{"lanes": "process", "concurrency": 2}, {"lanes": "thread", "concurrency": 3}]
    )
    with hw.SweepRun.start(
        entry, spec, output=hw.DirectoryOutput(tmp_path / "out"), options=hw.SweepRunOptions(**next(lanes))
    ) as run:
        until(lambda: run.progress().runs_done > 5)
    hw.resume_sweep(entry, tmp_path / "out", options=hw.SweepRunOptions(**next(lanes)))
    written = {name: (tmp_path / "out" / name).read_bytes() for name in undisturbed}
    assert hw.masked(written) == undisturbed


def test_a_model_that_ends_its_process_is_a_row_and_the_sweep_goes_on(capfd: pytest.CaptureFixture[str]) -> None:
    spec = toy_spec(*(FATES.index(fate) for fate in (nothing, segfault, end_process, fork, leak_until_killed)))
    spec = msgspec.structs.replace(spec, run=hw.RunSettings(steps=10))
    record = hw.run_spec(lane_models.fated, spec, options=hw.SweepRunOptions(concurrency=2, lanes="process"))
    assert record.files is not None
    rows = hw.ResultSet.from_files(record.files, models={"toy": lane_models.fated}).runs
    statuses = [(str(status), int(ticks)) for status, ticks in zip(rows["status"], rows["ticks"], strict=True)]
    fine, failed = ("ok", 10), ("panicked", 0)
    assert statuses == [fine, failed, failed, fine, failed]
    notes = [str(note) for note in rows["note"]]
    assert "killed by SIGSEGV" in notes[1]
    assert "ended with exit code 3" in notes[2]
    assert "killed by SIGKILL, as when memory runs out" in notes[4]
    (notice,) = [str(warning) for warning in record.report.warnings]
    assert notice.startswith("a lane was ")
    assert capfd.readouterr().err == "", "a copy of a lane ends without a word"


@pytest.mark.parametrize("fate", [segfault, hang])
def test_a_run_that_ends_its_process_costs_the_others_of_its_batch_nothing(fate: Callable[[], None]) -> None:
    spec = msgspec.structs.replace(
        toy_spec(FATES.index(fate)), run=hw.RunSettings(steps=10, replicates=6, timeout_s=1.0)
    )
    rows = {}
    for batches in (True, False):
        options = hw.SweepRunOptions(concurrency=2, lanes="process", batches=batches)
        record = hw.run_spec(lane_models.fated_together, spec, options=options)
        assert record.files is not None
        found = hw.ResultSet.from_files(record.files, models={"toy": lane_models.fated_together}).runs
        rows[batches] = [
            (str(status), int(ticks)) for status, ticks in zip(found["status"], found["ticks"], strict=True)
        ]
    assert rows[True] == rows[False]
    failed = "panicked" if fate is segfault else "timed_out"
    assert 0 < rows[True].count((failed, 0)) < 3
    assert rows[True].count(("ok", 10)) == 6 - rows[True].count((failed, 0))


def test_what_asks_a_group_of_processes_to_end_is_left_to_the_sweep() -> None:
    spec = toy_spec(FATES.index(lane_models.ask_to_end))
    record = hw.run_spec(lane_models.fated, spec, options=hw.SweepRunOptions(concurrency=2, lanes="process"))
    assert record.report.counts.ok == 2
    assert record.report.warnings == ()


def test_a_run_that_does_not_return_from_a_step_is_timed_out() -> None:
    spec = toy_spec(0, FATES.index(hang), 0)
    spec = hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(steps=10, timeout_s=0.2),
        measure=spec.measure,
        blocks=spec.blocks,
    )
    record = hw.run_spec(lane_models.fated, spec, options=hw.SweepRunOptions(concurrency=2, lanes="process"))
    assert record.files is not None
    rows = hw.ResultSet.from_files(record.files, models={"toy": lane_models.fated}).runs
    assert [str(status) for status in rows["status"]] == ["ok", "timed_out", "ok"]
    assert int(rows["ticks"][1]) == 0
    assert str(rows["note"][1]) == "timed out after 0.2 s, in a step that did not end; its lane was ended"


def start(entry: hw.ModelEntry, spec: hw.SweepSpec, **options: Any) -> hw.SweepRun:
    return hw.SweepRun.start(entry, spec, options=hw.SweepRunOptions(lanes="process", concurrency=2, **options))


def test_a_pause_holds_every_lane_and_keeps_what_they_have_reached() -> None:
    with start(lane_models.slow, toy_spec(2, 2, steps=100_000)) as run:
        until(lambda: len(ticks(run)) == 2 and min(ticks(run)) > 0)
        run.pause()
        until(lambda: run.is_held)
        held = ticks(run)
        view = run.view()
        assert view is not None
        assert view.tick == held[0]
        time.sleep(0.15)
        assert ticks(run) == held
        run.resume()
        until(lambda: min(ticks(run)) > max(held))


def ticks(run: hw.SweepRun) -> list[int]:
    return [active.tick for active in run.progress().active_runs]


def test_an_abort_waits_for_no_step_of_a_heavy_run_after_light_ones() -> None:
    run = start(lane_models.weighty, toy_spec(1, 1, 1, 0, 0))
    until(lambda: any(active.run.config_id == 3 for active in run.progress().active_runs))
    time.sleep(0.1)  # for it to be in its first step, which never returns
    run.close()
    assert lane_processes() == []


def test_killed_lanes_lose_nothing() -> None:
    seed = int(os.environ.get("HENAD_KILLS_SEED") or random.SystemRandom().randrange(2**32))
    print(f"HENAD_KILLS_SEED={seed}")  # noqa: T201 - pytest shows it beside a failure
    rounds = LaneKills(seed=seed)
    rounds.sweep(5)
    assert rounds.kills > 0


def test_a_model_that_cannot_be_sent_runs_in_the_caller_and_says_why() -> None:
    class Local(Toy):
        """A model whose class holds what no process can be sent."""

        held = threading.Lock()

    record = hw.run_spec(entry_of(Local), toy_spec(1), options=hw.SweepRunOptions(lanes="process", concurrency=2))
    assert record.report.counts.ok == 2
    (notice,) = [str(warning) for warning in record.report.warnings]
    assert notice.startswith("there is one lane, in the caller: model 'toy': its attribute 'held' cannot be pickled: ")


def test_faults_are_placed_in_the_model_s_own_module_in_a_lane_too() -> None:
    import tarfile  # noqa: F401, PLC0415 - as the program has its model's module

    entry = dataclasses.replace(lane_models.reads_tar, source_module="tarfile")
    spec = toy_spec(1)
    alone = files(entry, spec, lanes="in_caller")
    assert b"at tarfile.py:" in alone["runs.csv"]
    assert files(entry, spec, concurrency=2, lanes="process") == alone


def test_a_model_of_a_function_is_sent_as_a_whole() -> None:
    class Local(Toy):
        def before_step(self) -> None:
            if self.value == 0:
                raise LookupError("no such cell")

    spec = toy_spec(0, 1)
    assert files(entry_of(Local), spec, concurrency=2, lanes="process") == files(
        entry_of(Local), spec, lanes="in_caller"
    )


SCRIPT = """
import sys
from pathlib import Path
import henad_web as hw

print("imported", flush=True)

class Fails:
    heap_bytes, parallel_jobs, population, grid = 8, None, 1, None
    def __init__(self, params, seed):
        self.tick = 0
    def step(self, n=1):
        for _ in range(n):
            Path(sys.argv[1], "missing").read_text() if self.tick == 2 else None
            self.tick += 1
    def stats(self):
        return {"Ticks": float(self.tick)}
    def act(self, action_id):
        return False
    def set_param(self, id, value):
        return False

entry = hw.ModelEntry(
    id="fails", name="Fails", description="Fails.", params=(), actions=(),
    stats=(hw.Stat("Ticks", (0, 0, 0, 255)),),
    metadata=hw.ModelMetadata(backend=hw.Backend.CPU, palette=((0, 0, 0),), topology=hw.Topology.AGENTS),
    factory=Fails,
)
spec = hw.SweepSpec(model="fails", run=hw.RunSettings(steps=4, replicates=3))
for lanes in ("in_caller", "process"):
    record = hw.run_spec(entry, spec, options=hw.SweepRunOptions(concurrency=2, lanes=lanes))
    print(hw.masked(record.files)["runs.csv"].decode().splitlines()[1], record.report.warnings, flush=True)
"""


@pytest.mark.parametrize("name", ["study.py", "__main__.py"])
def test_a_script_without_a_guard_runs_as_it_stands_and_tells_the_same_places(tmp_path: Path, name: str) -> None:
    script = tmp_path / name
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.stderr == ""
    imported, alone, spread = done.stdout.splitlines()
    assert imported == "imported", "no lane imports the program"
    assert f"FileNotFoundError at {name}:14" in alone
    assert spread == alone


ENDLESS = """
import henad_web as hw
from tests.native import lane_models
from tests.shared.toy_models import toy_spec
print(flush=True)
hw.run_spec(lane_models.{model}, toy_spec({value}, steps=100_000),
            options=hw.SweepRunOptions(concurrency=2, lanes="process"))
"""


@pytest.mark.parametrize(("model", "value"), [("slow", 1), ("weighty", 0)])
def test_lanes_die_with_a_sweep_that_is_killed(model: str, value: int) -> None:
    sweep = subprocess.Popen(
        [sys.executable, "-c", ENDLESS.format(model=model, value=value)], cwd=ROOT, stdout=subprocess.PIPE
    )

    try:
        until(lambda: len(lane_processes(sweep.pid)) == 2)
        time.sleep(0.3)
        there = lane_processes(sweep.pid)
    finally:
        sweep.kill()
        sweep.communicate()
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in there))


@pytest.mark.parametrize("end", ["other.close()", "other.send_bytes(b'nonsense')"])
def test_a_lane_that_hears_nothing_more_dies(end: str) -> None:
    code = (
        "from multiprocessing import Pipe; from types import SimpleNamespace\n"
        "from henad_native.lane_process import _listen\n"
        f"pipe, other = Pipe(); {end}; _listen(pipe, SimpleNamespace(tell=print))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stderr) == (1, "")


def test_what_ends_a_group_of_processes_is_held_back_while_a_lane_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_lanes, "BOOTSTRAP", "import time; time.sleep(60)  # instead of henad_native.lane_start")
    with start(lane_models.slow, toy_spec(1)):
        until(lambda: len(lane_processes()) == 2)
        blocked = [re.search(r"SigBlk:\s(\w+)", Path(f"/proc/{lane}/status").read_text()) for lane in lane_processes()]
        for found in blocked:
            assert found is not None
            assert all(int(found[1], 16) >> (number - 1) & 1 for number in (signal.SIGINT, signal.SIGTERM))


def test_libraries_in_a_lane_use_the_lane_s_threads() -> None:
    class Local(Toy):
        def stats(self) -> dict[str, float]:
            return {"Ticks": float("".join(os.environ.get(name, "0") for name in THREAD_VARIABLES))}

    record = hw.run_spec(entry_of(Local), toy_spec(1), options=hw.SweepRunOptions(lanes="process", concurrency=2))
    assert record.files is not None
    rows = hw.ResultSet.from_files(record.files, models={"toy": entry_of(Local)}).runs
    assert list(rows["Ticks:final"]) == [1111111.0, 1111111.0]


def test_a_module_that_asks_for_a_name_of_the_package_gets_it_in_a_lane() -> None:
    code = (
        "import sys; from henad_native.lane_start import _postpone; _postpone('henad_web')\n"
        "import henad_web.model.entry; print('henad_web.sweep' in sys.modules)\n"
        "import henad_web as hw; print(hw.ModelEntry is henad_web.model.entry.ModelEntry)\n"
        "print('henad_web.sweep' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.stdout.split(), done.stderr) == (["False", "True", "True"], "")
