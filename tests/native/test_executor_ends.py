"""Executors that break, lose workers or have the wrong ones; pause and abort over them; those of a command line."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import henad_web as hw
from henad_native import executor_lanes, executor_worker
from henad_native.cli import main
from henad_native.executor_lanes import RENEWALS, ExecutorBrokenError, NotAnExecutorError, RenewedExecutor, workers_of
from henad_web.errors import SweepFailedError
from tests.native import lane_models
from tests.native.executor_kills import kills_of
from tests.native.executor_pools import processes
from tests.native.lane_kills import lane_processes, until
from tests.native.lane_models import FATES, kill_parent, nothing
from tests.native.test_process_lanes import epidemic, files
from tests.shared.toy_models import entry_of, toy_spec

ROOT = Path(__file__).parents[2]


class Held:
    """An executor whose futures a test ends."""

    def __init__(self, answer: Callable[[Future[bytes]], None] | None = None) -> None:
        self.calls: list[tuple[Callable[..., bytes], tuple[object, ...], Future[bytes]]] = []
        self._answer = answer

    def submit(self, fn: Callable[..., bytes], /, *args: object) -> Future[bytes]:
        future: Future[bytes] = Future()
        self.calls.append((fn, args, future))
        if self._answer is not None:
            self._answer(future)
        return future

    def work(self) -> None:
        """Do the call that came last."""
        fn, args, future = self.calls[-1]
        future.set_result(fn(*args))


pytestmark = pytest.mark.usefixtures("no_lanes_left")


def failing(error: BaseException) -> Held:
    return Held(lambda future: future.set_exception(error))


def swept(executor: object, runs: int = 4) -> None:
    _, spec = epidemic(replicates=runs)
    hw.run_spec(hw.example_models()["sir"], spec, options=hw.SweepRunOptions(executor=executor))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["processes", "dask"])
def test_lost_workers_lose_nothing(kind: str) -> None:
    seed = int(os.environ.get("HENAD_KILLS_SEED") or random.SystemRandom().randrange(2**32))
    print(f"HENAD_KILLS_SEED={seed}")  # noqa: T201 - pytest shows it beside a failure
    with kills_of(kind, seed, cuts=False) as rounds:
        rounds.sweep(2)
    assert rounds.kills > 0


def test_an_executor_that_was_given_and_breaks_ends_the_sweep_with_a_sentence_and_can_be_gone_on_with(
    tmp_path: Path,
) -> None:
    entry, spec = lane_models.slow, toy_spec(*[1] * 40, steps=50)  # seconds of work
    undisturbed = files(entry, spec, lanes="process", concurrency=2)
    output, pool = hw.DirectoryOutput(tmp_path / "out"), processes(2)
    with hw.SweepRun.start(entry, spec, output=output, options=hw.SweepRunOptions(executor=pool)) as run:
        until(lambda: run.progress().runs_done > 3)
        for pid in list(pool._processes or ()):
            os.kill(pid, signal.SIGKILL)
        until(lambda: run.progress().phase in ("ended", "failed"))
        (failed,) = [event for event in iter(run.try_recv, None) if isinstance(event, hw.Failed)]
    assert failed.message.startswith(
        "the executor takes no more work; what is written is kept, and `henad resume` or hw.resume_sweep goes on "
        "with it and another executor: BrokenProcessPool: "
    )
    with processes(2) as other:
        hw.resume_sweep(entry, tmp_path / "out", options=hw.SweepRunOptions(executor=other))
    assert hw.masked({name: (tmp_path / "out" / name).read_bytes() for name in undisturbed}) == undisturbed


@pytest.fixture
def renewed() -> Iterator[RenewedExecutor]:
    executor = RenewedExecutor(lambda: processes(1))
    yield executor
    executor.close()


def test_a_run_that_ends_its_worker_is_a_row_and_costs_the_others_nothing(renewed: RenewedExecutor) -> None:
    spec = toy_spec(*(FATES.index(fate) for fate in (nothing, kill_parent, nothing)))
    record = hw.run_spec(lane_models.fated, spec, options=hw.SweepRunOptions(executor=renewed, concurrency=2))
    assert record.files is not None
    rows = hw.ResultSet.from_files(record.files, models={"toy": lane_models.fated}).runs
    statuses = [(str(status), int(ticks)) for status, ticks in zip(rows["status"], rows["ticks"], strict=True)]
    assert statuses == [("ok", 10), ("ok", 10), ("panicked", 0), ("panicked", 0), ("ok", 10), ("ok", 10)]
    assert "at last while it was at nothing else: BrokenProcessPool: " in str(rows["note"][2])


def test_an_executor_is_made_anew_a_bounded_number_of_times_in_a_row() -> None:
    made: list[Refusing] = []

    class Refusing:
        def submit(self, fn: Callable[..., bytes], /, *args: object) -> object:
            raise RuntimeError("cannot schedule new futures after shutdown")

        def shutdown(self, wait: bool) -> None:
            made.append(self)

    renewed = RenewedExecutor(Refusing)
    with pytest.raises(RuntimeError, match="after shutdown"):
        renewed.submit(bytes)
    assert len(made) == len(set(made)) == RENEWALS, "each is shut down"
    with pytest.raises(NotAnExecutorError, match="returned 3, which is no executor: it has no submit"):
        RenewedExecutor(lambda: 3)  # type: ignore[arg-type, return-value]


def test_what_comes_back_lets_an_executor_be_made_anew_again() -> None:
    answers = iter([*[RuntimeError("broken"), None] * (RENEWALS + 2)])

    class Frail:
        def submit(self, fn: Callable[..., bytes], /, *args: object) -> Future[bytes]:
            error = next(answers)
            if error is not None:
                raise error
            future: Future[bytes] = Future()
            future.set_result(b"")
            return future

    renewed = RenewedExecutor(Frail)
    for _ in range(RENEWALS + 2):
        renewed.submit(bytes)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModuleNotFoundError("No module named 'henad_native'"), "a worker of the executor cannot step runs: Module"),
        (
            OSError("connection reset"),
            "were lost 24 times in a row, and no run came back; the last time: OSError: conn",
        ),
    ],
)
def test_an_executor_of_no_use_ends_the_sweep(error: Exception, told: str) -> None:
    executor = failing(error)
    with pytest.raises(SweepFailedError, match=told):
        hw.run_spec(*epidemic(), options=hw.SweepRunOptions(executor=executor, concurrency=3))
    assert len(executor.calls) < 40


def test_an_error_below_an_error_is_seen_as_the_missing_module_that_it_is() -> None:
    error = RuntimeError("error during deserialization")
    error.__cause__ = ModuleNotFoundError("No module named 'numpy'")
    with pytest.raises(SweepFailedError, match="No module named 'numpy'; install there what is installed here"):
        swept(failing(error))


@pytest.mark.parametrize("part", ["henad-web", "Python", "numpy"])
def test_a_worker_of_another_build_is_refused_in_words(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    monkeypatch.setattr(
        executor_lanes,
        "build_text",
        lambda *, is_portable: executor_worker.build_text(is_portable=is_portable).replace(part, f"{part} 0"),
    )
    with ThreadPoolExecutor(1) as executor, pytest.raises(SweepFailedError) as caught:
        swept(executor)
    assert "has another build: henad-web" in str(caught.value)
    assert f"; the sweep has {'' if part == 'henad-web' else 'henad-web'}" in str(caught.value)
    assert str(caught.value).endswith("give both the same environment")


def test_the_platform_is_part_of_a_build_where_results_depend_on_it() -> None:
    texts = [executor_worker.build_text(is_portable=portable) for portable in (True, False)]
    assert texts[1].startswith(texts[0])
    assert os.uname().machine in texts[1].removeprefix(texts[0])


def test_a_model_that_a_worker_cannot_load_ends_the_sweep(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = tmp_path / "gone_model.py"
    place.write_text(
        "from tests.shared import toy_models\nclass Own(toy_models.Toy): pass\nentry = toy_models.entry_of(Own)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import gone_model  # type: ignore[import-not-found]  # noqa: PLC0415 - it is made above

    with ThreadPoolExecutor(1) as executor:
        held = Held()
        with hw.SweepRun.start(gone_model.entry, toy_spec(1), options=hw.SweepRunOptions(executor=held)) as run:
            until(lambda: bool(held.calls))
            place.write_text("raise LookupError('moved')")
            executor.submit(held.work).result()
            until(lambda: run.progress().phase == "failed")
            (failed,) = [event for event in iter(run.try_recv, None) if isinstance(event, hw.Failed)]
    assert "cannot step the model: a process of its own cannot load the model: LookupError: moved" in failed.message


def held_run(executor: Held, runs: int = 40) -> hw.SweepRun:
    entry, spec = epidemic(replicates=runs)
    return hw.SweepRun.start(entry, spec, options=hw.SweepRunOptions(executor=executor, concurrency=1, batches=False))


def test_a_pause_hands_out_no_span_and_is_complete_when_the_last_one_is_back() -> None:
    executor = Held()
    with held_run(executor) as run:
        until(lambda: len(executor.calls) == 1)
        run.pause()
        until(lambda: run.is_paused)
        assert [active.tick for active in run.progress().active_runs] == [0]
        assert not run.is_held
        executor.work()
        until(lambda: run.is_held)
        assert len(executor.calls) == 1
        run.resume()
        until(lambda: len(executor.calls) == 2)
        run.pause()
        run.resume()
        executor.work()
        until(lambda: len(executor.calls) == 3)


def test_an_abort_waits_for_no_span_and_cancels_it() -> None:
    executor = Held()
    run = held_run(executor)
    until(lambda: len(executor.calls) == 1)
    run.close()
    assert executor.calls[0][2].cancelled()
    executor = Held()
    run = held_run(executor)
    until(lambda: len(executor.calls) == 1)
    executor.calls[0][2].set_running_or_notify_cancel()
    run.close()
    executor.work()  # nobody listens any more
    assert run.progress().runs_done == 0


def test_a_cancelled_span_is_done_again() -> None:
    executor = Held()
    with held_run(executor) as run:
        until(lambda: len(executor.calls) == 1)
        executor.calls[0][2].cancel()
        until(lambda: len(executor.calls) == 2)
        executor.work()
        until(lambda: run.progress().runs_done == 1)


def test_spans_grow_and_are_bounded_by_what_they_bring_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_lanes, "SPAN_BYTES", 4000)
    executor = Held()
    with held_run(executor) as run:
        sizes = []
        for calls in range(1, 6):
            until(lambda calls=calls: len(executor.calls) == calls)  # type: ignore[misc]
            done = run.progress().runs_done
            executor.work()
            until(lambda done=done: run.progress().runs_done > done)  # type: ignore[misc]
            until(lambda calls=calls: len(executor.calls) == calls + 1)  # type: ignore[misc]
            sizes.append(run.progress().runs_done - done)
    assert sizes == [1, 2, 3, 3, 3]


def test_a_worker_whose_time_for_a_span_is_over_gives_the_rest_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_lanes, "SPAN_LIMIT", 0.0)
    entry, spec = epidemic(replicates=8)
    with ThreadPoolExecutor(1) as executor:
        assert files(entry, spec, executor=executor) == files(entry, spec, lanes="in_caller")


def test_a_lane_waits_for_another_span_of_its_sweep_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    with ThreadPoolExecutor(1) as executor:
        swept(executor)
        assert len(lane_processes()) == 1
        swept(executor)
        assert len(lane_processes()) == 2, "of two sweeps"
        for _, _, timer in list(executor_worker._idle):
            timer.function()
        assert lane_processes() == []
        monkeypatch.setattr(executor_worker, "KEEP_S", 0.0)
        swept(executor)
        until(lambda: lane_processes() == [])
    assert executor_worker._idle == []


def test_a_client_of_dask_that_is_closed_takes_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_lanes, "WATCH_S", 0.01)
    executor = Held()
    executor._client = SimpleNamespace(status="running", ncores=lambda: {"a": 2, "b": 3})  # type: ignore[attr-defined]
    assert workers_of(executor) == 5
    with held_run(executor) as run:
        until(lambda: len(executor.calls) == 1)
        time.sleep(0.05)
        assert run.progress().phase == "running"
        executor._client.status = "closed"  # type: ignore[attr-defined]
        assert failure_of(run).startswith("the executor takes no more work; what is written is kept")
    assert len(executor.calls) == 1


def failure_of(run: hw.SweepRun) -> str:
    """Wait for the end of a sweep that fails, and return why."""
    until(lambda: run.progress().phase == "failed")
    (failed,) = [event for event in iter(run.try_recv, None) if isinstance(event, hw.Failed)]
    return failed.message


class Stuck(ProcessPoolExecutor):
    """A pool that has lost a process and does not know."""

    def __init__(self) -> None:
        super().__init__(1)
        self.calls = 0
        self.sentinel, other = os.pipe()
        os.close(other)

    def submit(self, fn: Callable[..., bytes], /, *args: object) -> Future[bytes]:  # type: ignore[override]
        self.calls += 1
        self._processes = {1: cast(Any, SimpleNamespace(sentinel=self.sentinel, terminate=bool))}
        return Future()


def test_a_span_of_a_pool_that_does_not_know_of_a_lost_process_goes_to_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(executor_lanes, "WATCH_S", 0.01)
    stuck, held = Stuck(), Held()
    pools = iter((stuck, held))
    executor = RenewedExecutor(lambda: next(pools))
    entry, spec = epidemic()
    options = hw.SweepRunOptions(executor=executor, concurrency=1)
    with hw.SweepRun.start(entry, spec, options=options) as run:
        until(lambda: bool(held.calls))
        held.work()
        until(lambda: run.progress().runs_done > 0)
    assert stuck.calls == 1
    os.close(stuck.sentinel)


def test_workers_are_counted_where_an_executor_tells(renewed: RenewedExecutor) -> None:
    assert workers_of(renewed) == 1
    assert workers_of(Held()) is None
    for told in (0, -1, "many"):
        held = Held()
        held._max_workers = told  # type: ignore[attr-defined]
        assert workers_of(held) is None
    outline = hw.plan_spec(*epidemic(), options=hw.SweepRunOptions(executor=Held()))
    assert outline.layout.why == "12 runs on an executor that does not tell its workers"
    assert outline.layout.cpu_lanes == executor_lanes.WORKERS_UNTOLD


def test_a_gpu_model_is_refused() -> None:
    entry = entry_of(lane_models.Slow, backend=hw.Backend.GPU)
    with pytest.raises(hw.UsageError, match="'toy' is a GPU model; an executor's workers step CPU models"):
        hw.SweepRun.start(entry, toy_spec(1), options=hw.SweepRunOptions(executor=Held()))


def test_a_broken_executor_says_so() -> None:
    assert "takes no more work" in str(ExecutorBrokenError())


def interrupted(answers: object) -> None:
    from henad_native.executor_worker import _leave_interrupts  # noqa: PLC0415 - in the process of its own

    _leave_interrupts()
    signal.raise_signal(signal.SIGINT)
    answers.put("alive")  # type: ignore[attr-defined]


def test_a_worker_leaves_interrupts_to_the_sweep() -> None:
    context = multiprocessing.get_context("spawn")
    answers = context.SimpleQueue()
    worker = context.Process(target=interrupted, args=(answers,))
    worker.start()
    worker.join()
    assert (worker.exitcode, answers.get()) == (0, "alive")
    executor_worker._leave_interrupts()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


POOL = """
import multiprocessing, os, signal
from concurrent.futures import ProcessPoolExecutor

class Told(ProcessPoolExecutor):
    def shutdown(self, *args, **kwargs):
        super().shutdown(*args, **kwargs)
        print("shut down", flush=True)

def make():
    return Told(2, mp_context=multiprocessing.get_context("spawn"))

def fails():
    raise LookupError("no such cluster")

def three():
    return 3

number = 3
"""

SPEC = 'model = "sir"\nset = { grid_width = 16, grid_height = 16 }\nrun = { steps = 20, replicates = 40 }\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pools.py").write_text(POOL)
    (tmp_path / "sweep.toml").write_text(SPEC)
    return tmp_path


def henad(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "henad_web", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )


def test_the_command_line_runs_and_resumes_over_an_executor_and_shuts_it_down(folder: Path) -> None:
    done = henad(folder, "run", "sweep.toml", "--out", "out", "--executor", "pools:make")
    assert (done.returncode, done.stderr.count("rror")) == (0, 0), done.stderr
    assert "40 ok" in done.stdout
    assert "shut down" in done.stdout
    assert "2 executor lanes" in done.stderr + done.stdout
    written = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    assert b'"lane_kind": "executor"' in written["manifest.json"]
    rows = written["runs.csv"].splitlines(keepends=True)
    (folder / "out" / "runs.csv").write_bytes(b"".join(rows[:9]))
    done = henad(folder, "resume", "out", "--executor", "pools.py:make")
    assert (done.returncode, done.stdout.count("shut down")) == (0, 1), done.stderr
    assert hw.masked({name: (folder / "out" / name).read_bytes() for name in written}) == hw.masked(written)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--executor", "pools:mak"], "'pools:mak': there is no mak; did you mean 'make'?"),
        (
            ["--executor", "pools:number"],
            "'pools:number' is a int; a function of no arguments that returns one is needed",
        ),
        (["--executor", "pools:three"], "'pools:three' returned 3, which is no executor: it has no submit"),
        (["--executor", "pools:fails"], "cannot make 'pools:fails': LookupError at pools.py:14: no such cluster"),
        (["--executor", "pools"], "'pools' names no function; allowed: MODULE:FACTORY or FILE.py:FACTORY"),
        (["--executor", "polls:make"], "cannot make 'polls:make': No module named 'polls'"),
        (["--executor", "polls.py:make"], "there is no file "),
        (["--executor", "pools:make", "--lanes", "thread"], "leave --lanes thread or this out"),
    ],
)
def test_a_wrong_executor_of_a_command_line_is_refused_before_anything_is_written(
    folder: Path,
    own_modules: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    told: str,
) -> None:
    monkeypatch.chdir(folder)
    assert main(["run", "sweep.toml", "--out", "out", *arguments]) != 0
    error = capsys.readouterr().err
    assert error.startswith("error: --executor: ")
    assert told in error.replace("\n", " ")
    assert len(error.splitlines()) <= 2
    assert not (folder / "out").exists()
