"""Executors that lose spans without a word, answer late, twice or in another order, or are gone: no byte is another."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import henad_web as hw
from henad_native import executor_lanes
from henad_native.executor_lanes import RenewedExecutor
from henad_web.run import late_bundles
from henad_web.run.lane_messages import Bundle, WorkerOrder, WorkerReady
from henad_web.run.late_bundles import Patience
from tests.native.test_process_lanes import epidemic, files

WORKERS = 2


class Twice(Future[bytes]):
    """A future that tells twice that it is done."""

    def add_done_callback(self, fn: Callable[[Future[bytes]], object]) -> None:
        for _ in range(2):
            super().add_done_callback(fn)


class Careless:
    """An executor that does what it is given, and answers as `answer` says.

    Args:
        answer: Told the number of a call, its future and what came of it; sets the result, or does not.
    """

    def __init__(self, answer: Callable[[int, Future[bytes], bytes], None]) -> None:
        self.calls, self.shutdowns = 0, 0
        self._answer, self._pool = answer, ThreadPoolExecutor(WORKERS)

    def submit(self, fn: Callable[..., bytes], /, *args: object) -> Future[bytes]:
        number, self.calls = self.calls, self.calls + 1
        future = Twice()
        self._pool.submit(lambda: self._answer(number, future, fn(*args)))
        return future

    def shutdown(self, wait: bool = True) -> None:
        self.shutdowns += 1
        self._pool.shutdown(wait)


pytestmark = pytest.mark.usefixtures("no_lanes_left")


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a first span for half a second, not for a minute."""
    monkeypatch.setattr(executor_lanes, "SPAN_S", 0.1)
    monkeypatch.setattr(late_bundles, "WAY_S", 0.3)
    monkeypatch.setattr(late_bundles, "LATENESS", 1.2)


@pytest.fixture(scope="module")
def study() -> tuple[hw.ModelEntry, hw.SweepSpec, dict[str, bytes]]:
    entry, spec = epidemic(replicates=12)
    return entry, spec, files(entry, spec, lanes="in_caller")


Study = tuple[hw.ModelEntry, hw.SweepSpec, dict[str, bytes]]


def swept(study: Study, executor: Careless | RenewedExecutor) -> None:
    entry, spec, expected = study
    assert files(entry, spec, executor=executor, concurrency=WORKERS, batches=False) == expected


@pytest.fixture
def lent() -> Iterator[list[Careless]]:
    made: list[Careless] = []
    yield made
    for executor in made:
        executor.shutdown()


def test_spans_that_never_end_are_done_again(study: Study, lent: list[Careless]) -> None:
    lost: list[int] = []

    def answer(number: int, future: Future[bytes], reply: bytes) -> None:
        if number in (0, 3, 4):
            lost.append(number)
        else:
            future.set_result(reply)

    lent.append(Careless(answer))
    swept(study, lent[0])
    assert sorted(lost) == [0, 3, 4]


def test_answers_that_come_late_and_in_another_order_change_nothing(study: Study, lent: list[Careless]) -> None:
    held: list[tuple[Future[bytes], bytes]] = []
    both_held = threading.Event()

    def answer(number: int, future: Future[bytes], reply: bytes) -> None:
        if number < WORKERS:
            held.append((future, reply))
            if len(held) == WORKERS:
                both_held.set()
            return
        assert both_held.wait(60.0)
        future.set_result(reply)
        while held:  # one whose runs were done again, and one that is taken
            of_before, its_reply = held.pop()
            if not of_before.cancelled():
                of_before.set_result(its_reply)

    lent.append(Careless(answer))
    swept(study, lent[0])
    assert held == []


class Vanishing(Careless):
    """An executor that answers nothing from call number `first` on, and is waited for shortly from then on alone."""

    def __init__(self, first: int | None) -> None:
        super().__init__(self._until_first)
        self.first, self.is_silent = first, False

    def _until_first(self, number: int, future: Future[bytes], reply: bytes) -> None:
        if self.first is None or number < self.first:
            future.set_result(reply)
        else:
            self.is_silent = True


@pytest.fixture
def vanishing(lent: list[Careless], monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], Vanishing]:
    """Return what makes executors of which the last one is waited for as said."""

    def bound_s(patience: Patience, run_ids: Collection[int]) -> float:
        return 0.3 if isinstance(lent[-1], Vanishing) and lent[-1].is_silent else 1e6

    def make(first: int | None) -> Vanishing:
        lent.append(made := Vanishing(first))
        return made

    monkeypatch.setattr(Patience, "bound_s", bound_s)
    return make


def test_an_executor_whose_scheduler_is_gone_ends_the_sweep_and_can_be_gone_on_with(
    study: Study, vanishing: Callable[[int | None], Vanishing], tmp_path: Path
) -> None:
    entry, spec, expected = study
    options = hw.SweepRunOptions(executor=vanishing(4), concurrency=WORKERS, batches=False)
    with pytest.raises(hw.HenadError, match=r"no run came back from the executor for .* were handed out again 8 times"):
        hw.run_spec(entry, spec, output=hw.DirectoryOutput(tmp_path / "out"), options=options)
    assert len((tmp_path / "out" / "runs.csv").read_text().splitlines()) > 1
    hw.resume_sweep(entry, tmp_path / "out", options=dataclasses.replace(options, executor=vanishing(None)))
    assert hw.masked({name: (tmp_path / "out" / name).read_bytes() for name in expected}) == expected


def test_an_executor_whose_scheduler_is_gone_is_made_anew_by_its_factory(
    study: Study, vanishing: Callable[[int | None], Vanishing], lent: list[Careless]
) -> None:
    swept(study, RenewedExecutor(lambda: vanishing(None if lent else 3)))
    assert [executor.shutdowns for executor in lent] == [1, 0]


def test_a_span_that_nobody_waits_for_is_cancelled() -> None:
    heard: list[object] = []
    future: Future[bytes] = Future()
    sent = SimpleNamespace(submit=lambda bundle: (future, None))
    lane = executor_lanes._ExecutorLane(cast(Any, sent), heard.append, lambda: None)
    lane.send(Bundle(()))
    lane.send(WorkerOrder.CLOSE)
    assert future.cancelled()
    assert heard == [WorkerReady()]


def test_a_pool_whose_processes_end_in_turn_is_not_taken_for_broken() -> None:
    def make() -> ProcessPoolExecutor:
        made.append(ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1))
        return made[-1]

    made: list[ProcessPoolExecutor] = []
    executor = RenewedExecutor(make)
    for _ in range(3):
        assert executor.submit(bytes, 1).result() == b"\0"
    executor.close()
    assert len(made) == 1


HALF_SENT = """
import multiprocessing, os, signal, struct, sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import wait
from henad_native.executor_lanes import RenewedExecutor

def send_half():
    frame = sys._getframe()
    while "result_queue" not in frame.f_locals:
        frame = frame.f_back
    os.write(frame.f_locals["result_queue"]._writer.fileno(), struct.pack("!i", 1000) + b"half")
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    executor = RenewedExecutor(lambda: ProcessPoolExecutor(1, mp_context=context))
    lost = executor.submit(send_half)
    wait([process.sentinel for process in executor.executor._processes.values()])
    if sys.argv[1] == "renewed":
        executor.note_gone(executor.executor)
        print(executor.submit(len, "four").result(), flush=True)
    else:
        print(4, flush=True)
    executor.close()
"""


@pytest.mark.parametrize("then", ["renewed", "closed"])
def test_a_pool_that_waits_for_the_rest_of_an_answer_does_not_keep_the_program(then: str, tmp_path: Path) -> None:
    (tmp_path / "half_sent.py").write_text(HALF_SENT)
    command = [sys.executable, "half_sent.py", then]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "4\n"), done.stderr
