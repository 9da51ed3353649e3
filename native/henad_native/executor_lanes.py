"""Lanes over an executor: each has a span of runs on one of its workers at a time.

Owns what goes to the executor and what its futures mean; an executor that is made anew when it breaks. Which runs a
span has, and what becomes of one that is lost, is `WorkerLanes`'; what is done on a worker is `executor_worker`'s.
"""

from __future__ import annotations

import pickle
import secrets
import sys
import threading
import time
from asyncio import CancelledError
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Protocol, cast

from henad_native.entry_transfer import SentEntry
from henad_native.executor_worker import ExecutorSetup, Span, SpanReply, build_text, run_span
from henad_native.lane_process import LaneSetup
from henad_native.process_lanes import absolute_path
from henad_web.errors import HenadError, counted
from henad_web.model.decimals import whole_text
from henad_web.model.faults import one_line
from henad_web.run.bundles import Bundling
from henad_web.run.lane_messages import (
    GAUGE_BYTES,
    Bundle,
    BundleLost,
    EntryRefused,
    Gauge,
    Hear,
    LaneOrder,
    Obeyed,
    OutcomesSent,
    RunsReturned,
    WorkerOrder,
    WorkerReady,
)
from henad_web.run.lanes import LaneCommand, LaneNotice
from henad_web.run.late_bundles import Patience
from henad_web.run.worker_lanes import WorkerLanes, batch_rows_of

if TYPE_CHECKING:
    from henad_web.explore.measure import MeasurePlan
    from henad_web.model.entry import ModelEntry
    from henad_web.run.lanes import Lanes
    from henad_web.run.layout import ExecutionLayout
    from henad_web.run.options import Executor
    from henad_web.run.requests import RunRequest
    from henad_web.sweep import Surroundings

__all__ = ["ExecutorBrokenError", "NotAnExecutorError", "RenewedExecutor", "over_executor", "workers_of"]

SPAN_S = 4.0
"""Seconds of work in a span: a lane's process that is not there yet takes 0.3 s, a span's way there and back 10 ms."""

SPAN_LIMIT = 2.0
"""Times `SPAN_S` after which a worker begins no more run of its span, and gives the rest back."""

MAX_SPAN = 4096
"""Most runs in a span."""

SPAN_BYTES = 16 << 20
"""Bytes of results that a span may bring back, but for one run alone."""

WORKERS_UNTOLD = 8
"""Spans at once where an executor does not tell how many workers it has."""

WATCH_S = 1.0
"""Seconds between two looks at executors whose futures may never end; at the second one in a row spans are lost."""

RENEWALS = 8
"""Executors made in a row, none of which brought a span back, after which no other is made."""


class ExecutorBrokenError(HenadError):
    """An executor that takes no more work; its cause says why."""

    def __init__(self) -> None:
        super().__init__(
            "the executor takes no more work; what is written is kept, and `henad resume` or hw.resume_sweep goes on "
            "with it and another executor"
        )


class NotAnExecutorError(HenadError):
    """What a factory made and is no executor; `came` is it."""

    def __init__(self, came: object) -> None:
        self.came = came
        super().__init__(f"returned {whole_text(came)}, which is no executor: it has no submit")


class RenewedExecutor:
    """An executor that is made anew when it breaks, as a pool of processes does with the first that is killed.

    Args:
        make: Makes an executor; called at once, and again `RENEWALS` times in a row at most.

    Raises:
        NotAnExecutorError: What was made is none.
    """

    def __init__(self, make: Callable[[], Executor]) -> None:
        self._make = make
        self._executor = self._made()
        self._gone: object = None
        self._in_a_row = 0
        self._under_way: set[Future[bytes]] = set()

    @property
    def executor(self) -> Executor:
        """The executor of now."""
        return self._executor

    def submit(self, fn: Callable[..., bytes], /, *args: object) -> Future[bytes]:
        """Submit to the executor, to another one if it takes no more; raises what the last one raised."""
        while True:
            try:
                if self._executor is self._gone:
                    raise ExecutorBrokenError
                future = cast(Future[bytes], self._executor.submit(fn, *args))
            except Exception:  # whatever it raises: it does not take what another one may
                if not self.renew():
                    raise
            else:
                self._under_way.add(future)
                future.add_done_callback(self._end)
                return future

    def note_gone(self, executor: object) -> None:
        """Note that `executor`, if it is still the one of now, has lost what it works with and tells nobody."""
        self._gone = executor

    def renew(self) -> bool:
        """Shut the executor down and make another one; return False where `RENEWALS` in a row were of no use."""
        if self._in_a_row >= RENEWALS:
            return False
        self._in_a_row += 1
        _shut_down(self._executor, is_at_work=self._executor is self._gone)
        self._executor = self._made()
        return True

    def close(self) -> None:
        """Shut the executor down, and end processes of its own that are at something: nobody waits for that."""
        _shut_down(self._executor, is_at_work=bool(self._under_way))

    def _made(self) -> Executor:
        made = self._make()
        if isinstance(made, type) or not callable(getattr(made, "submit", None)):
            raise NotAnExecutorError(made)
        return made

    def _end(self, future: Future[bytes]) -> None:
        self._under_way.discard(future)
        if not future.cancelled() and future.exception() is None:
            self._in_a_row = 0


def _shut_down(executor: object, *, is_at_work: bool) -> None:
    """Shut `executor` down as far as it can be, and wait for nothing."""
    if is_at_work and isinstance(executor, ProcessPoolExecutor):
        _end_processes(executor)
    with suppress(Exception):  # broken ones, and some that have a word of their own for it
        executor.shutdown(wait=False)  # type: ignore[attr-defined]


def _end_processes(pool: ProcessPoolExecutor) -> None:
    """End the processes of `pool`, for which it has no word before Python 3.14, and its own wait for them.

    A process that is ended while it sends leaves half a message. The pool's thread would wait for the rest, and the
    interpreter's exit for the thread, as long as somebody could write it: this process has that end of the pipe, too.
    """
    for process in list((pool._processes or {}).values()):
        process.terminate()
    with suppress(AttributeError, OSError):  # it is gone already
        pool._result_queue._writer.close()  # type: ignore[attr-defined]


def workers_of(executor: object) -> int | None:
    """Return how many workers `executor` tells that it has, None where it does not."""
    told: object = getattr(_in_use(executor), "_max_workers", None)
    client = _dask_client(executor)
    if client is not None:
        with suppress(Exception):
            told = sum(client.ncores().values())
    return told if isinstance(told, int) and told > 0 else None


def _in_use(executor: object) -> object:
    return executor.executor if isinstance(executor, RenewedExecutor) else executor


class _DaskClient(Protocol):
    """What is asked of Dask's client, whose executor tells neither how many workers it has nor that it is closed."""

    status: str

    def ncores(self) -> dict[str, int]:
        """Return the threads of each worker."""


def _dask_client(executor: object) -> _DaskClient | None:
    client = getattr(_in_use(executor), "_client", None)
    return client if callable(getattr(client, "ncores", None)) and hasattr(client, "status") else None


def _is_gone(executor: object) -> bool:
    """Return whether `executor` seems to have lost what it works with, which it may tell nobody.

    A client of Dask that is closed ends no future any more. Nor does a pool of processes of which one was killed while
    it sent a result: the pool reads on, for ever.
    """
    executor = _in_use(executor)
    if isinstance(executor, ProcessPoolExecutor):
        return bool(wait([process.sentinel for process in list((executor._processes or {}).values())], 0))
    client = _dask_client(executor)
    return client is not None and client.status == "closed"


def over_executor(around: Surroundings, executor: Executor) -> Surroundings:
    """Return `around` with the workers of `executor` instead of this machine's."""
    told = workers_of(executor)
    text = "an executor that does not tell its workers" if told is None else f"{counted(told, 'worker')} of an executor"
    workers = WORKERS_UNTOLD if told is None else told
    resources = replace(
        around.resources, workers=workers, workers_text=text, free_memory=None, can_spawn=True, no_processes=""
    )

    def make_lanes(
        entry: ModelEntry, measure: MeasurePlan, layout: ExecutionLayout, notify: Callable[[], None]
    ) -> Lanes:
        return executor_lanes(executor, entry, measure, layout, notify)

    return replace(around, resources=resources, make_lanes=make_lanes)


def executor_lanes(
    executor: Executor,
    entry: ModelEntry,
    measure: MeasurePlan,
    layout: ExecutionLayout,
    notify: Callable[[], None],
) -> Lanes:
    """Return as many lanes as `layout` says, each with one span in `executor` at a time.

    Args:
        executor: Who has the workers.
        entry: The model.
        measure: When to sample and what to keep.
        layout: How many lanes, and how many replicates each may step together.
        notify: Called on another thread once there is something to hear.

    Raises:
        EntryNotSentError: The model cannot be sent to a worker.
    """
    lane = LaneSetup(entry=SentEntry.of(entry), measure=measure, argv=tuple(sys.argv), batch_rows=layout.batch_rows)
    setup = ExecutorSetup(sweep=secrets.token_hex(8), lane=lane, path=tuple(absolute_path()))
    rows_of = partial(batch_rows_of, entry, layout)
    sent = _Submission(executor, setup, is_portable=entry.metadata.portable, rows_of=rows_of)
    spans = _ExecutorLanes(sent)
    return WorkerLanes(
        spans.start,
        layout.cpu_lanes,
        measure=measure,
        clock=time.monotonic,
        notify=notify,
        close=spans.close,
        stand_in=None,
        rows_of=rows_of,
        bundling=Bundling(seconds=SPAN_S, most=_most_runs(measure), ahead=1),
        patience=Patience(SPAN_LIMIT * SPAN_S, measure.timeout_s),
    )


def _most_runs(measure: MeasurePlan) -> int:
    rows = measure.total // measure.series_every + 2 if measure.series_every else 0
    bytes_a_run = 1000 + rows * 8 * (1 + len(measure.columns))
    return max(1, min(MAX_SPAN, SPAN_BYTES // bytes_a_run))


class _Submission:
    """What every span of one sweep is submitted with."""

    def __init__(
        self,
        executor: Executor,
        setup: ExecutorSetup,
        *,
        is_portable: bool,
        rows_of: Callable[[RunRequest], int],
    ) -> None:
        self._executor, self._setup = executor, pickle.dumps(setup, pickle.HIGHEST_PROTOCOL)
        self._is_portable, self._build = is_portable, build_text(is_portable=is_portable)
        self._numbers, self._rows_of = count(), rows_of
        self._gone: object = None

    def submit(self, bundle: Bundle) -> tuple[Future[bytes], object]:
        """Submit the runs of `bundle`, and return what becomes of them and the executor that has them.

        Raises:
            ExecutorBrokenError: The executor takes no more.
        """
        firsts = {request.run.config_id: request for request in bundle.requests}
        rows = {config_id: self._rows_of(request) for config_id, request in firsts.items()}
        span = Span(setup=self._setup, requests=bundle.requests, rows=rows, limit_s=SPAN_LIMIT * SPAN_S)
        sent = pickle.dumps(span, pickle.HIGHEST_PROTOCOL)
        try:
            if self._executor is self._gone:  # it would lose this one, too
                raise ExecutorBrokenError
            future = self._executor.submit(run_span, self._build, self._is_portable, next(self._numbers), sent)
        except Exception as error:  # whatever it raises, it does not take this span and will take no other
            raise ExecutorBrokenError from error
        return cast(Future[bytes], future), _in_use(self._executor)

    def renew(self) -> bool:
        """Have the executor made anew, where that can be done."""
        try:
            return isinstance(self._executor, RenewedExecutor) and self._executor.renew()
        except Exception as error:  # whatever a factory raises
            raise ExecutorBrokenError from error

    def note_gone(self, executor: object) -> None:
        """Note that `executor` was found gone, which it tells nobody."""
        self._gone = executor
        if isinstance(self._executor, RenewedExecutor):
            self._executor.note_gone(executor)


class _ExecutorLanes:
    """The lanes of one sweep.

    Args:
        sent: Submits their spans.
    """

    def __init__(self, sent: _Submission) -> None:
        self._sent, self._lanes = sent, list[_ExecutorLane]()
        self._is_closing = threading.Event()
        threading.Thread(target=self._watch, name="henad-executor", daemon=True).start()

    def start(self, hear: Hear) -> _ExecutorLane:
        """Return another lane, which can take a span."""
        self._lanes.append(_ExecutorLane(self._sent, hear, self._renew))
        return self._lanes[-1]

    def close(self, _patience_s: float) -> None:
        """Give up every span: none is waited for."""
        self._is_closing.set()
        for lane in self._lanes:
            lane.drop()

    def _renew(self) -> None:
        """Have the executor made anew, and all runs that it has given back: it takes them with it."""
        if self._sent.renew():
            for lane in list(self._lanes):
                lane.give_back()

    def _watch(self) -> None:
        while not self._is_closing.wait(WATCH_S):
            for lane in list(self._lanes):
                lane.look()


class _ExecutorLane:
    """One span in the executor at a time, a `Worker`.

    Args:
        sent: Submits its spans.
        hear: Takes its messages, on the executor's threads.
        renew: Makes the executor anew.
    """

    def __init__(self, sent: _Submission, hear: Hear, renew: Callable[[], None]) -> None:
        self.gauge = Gauge(bytearray(GAUGE_BYTES))  # nothing is heard of a run before its span is back
        self._sent, self._hear, self._renew = sent, hear, renew
        self._lock = threading.Lock()
        self._future: Future[bytes] | None = None
        self._executor: object = None
        self._looks = 0
        self._run_ids: tuple[int, ...] = ()
        self._commands: list[LaneCommand] = []
        hear(WorkerReady())

    def send(self, order: LaneOrder | LaneCommand) -> None:
        """Submit a span, or obey a command: a pause once the span that a worker is at is back."""
        if isinstance(order, Bundle):
            self._run_ids = tuple(request.run.run_id for request in order.requests)
            future, self._executor = self._sent.submit(order)
            self._future, self._looks = future, 0
            future.add_done_callback(self._done)
        elif isinstance(order, LaneCommand):
            with self._lock:
                self._commands.append(order)
            if order is LaneCommand.ABORT:
                self.drop()
            if order is not LaneCommand.PAUSE or self._future is None:
                self._obey()
        elif order is WorkerOrder.RENEW:
            self._renew()
        elif order is WorkerOrder.CLOSE:
            self.drop()

    def kill(self) -> bool:
        """Return False: a worker is its executor's, and the lane on it keeps the limits of runs."""
        return False

    def drop(self) -> None:
        """Give up the span, and hear nothing more of it."""
        future, self._future = self._future, None
        if future is not None:
            with suppress(Exception):  # Parsl's cannot be cancelled
                future.cancel()

    def give_back(self) -> None:
        """Give up the span, and give its runs back."""
        if self._future is not None:
            self.drop()
            self._hear(RunsReturned(tuple(reversed(self._run_ids))))
            self._obey()

    def look(self) -> None:
        """Take a span for lost whose executor is gone and has not told so since the last look."""
        with self._lock:
            self._looks = self._looks + 1 if self._future is not None and _is_gone(self._executor) else 0
            is_lost = self._looks > 1
            if is_lost:
                self._future = None
        if is_lost:
            self._sent.note_gone(self._executor)
            self._hear(BundleLost("the executor lost a process, or its scheduler, and has not said so"))
            self._obey()

    def _obey(self) -> None:
        with self._lock:
            commands, self._commands = self._commands, []
        for command in commands:
            self._hear(Obeyed(command))

    def _done(self, future: Future[bytes]) -> None:
        if future is not self._future:  # it was dropped
            return
        try:
            reply: SpanReply = pickle.loads(future.result())
        except (Exception, CancelledError) as error:  # whatever it is: no runs came back
            self._lose(error)
        else:
            self._pass_on(reply)
        with self._lock:
            if future is self._future:  # the next span may be on its way already
                self._future = None
        self._obey()

    def _lose(self, error: BaseException) -> None:
        missing = _cause_of(error, ImportError)
        if missing is None:
            self._hear(BundleLost(_text_of(error)))
            return
        text = f"a worker of the executor cannot step runs: {_text_of(missing)}; install there what is installed here"
        self._hear(EntryRefused(text))

    def _pass_on(self, reply: SpanReply) -> None:
        for notice in reply.notices:
            self._hear(LaneNotice(notice))
        if reply.refusal is not None:
            self._hear(EntryRefused(reply.refusal))
            return
        ended = {run.run_id for run in reply.ended}
        left = [run_id for run_id in reversed(self._run_ids) if run_id not in ended]
        self._hear(OutcomesSent(reply.ended))
        if left:
            self._hear(RunsReturned(tuple(left)))


def _text_of(error: BaseException) -> str:
    """Return `error` on one line, without the trace of another process that some executors make its cause."""
    name, text = type(error).__name__, str(error)
    return one_line(f"{name}: {text}" if text else name)


def _cause_of(error: BaseException | None, kind: type[BaseException]) -> BaseException | None:
    """Return the first of `error` and its causes that is of the `kind`."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__ or error.__context__
    return error
