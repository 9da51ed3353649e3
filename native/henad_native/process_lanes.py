"""Lanes in processes of their own.

Owns their start, the thread that hears them all, and their end. What they are told and when is `WorkerLanes`'.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Pipe, wait
from queue import SimpleQueue
from socket import SHUT_RDWR, socket
from typing import IO, TYPE_CHECKING

from henad_native.entry_transfer import EntryNotSentError, SentEntry
from henad_native.lane_pipe import Arrivals
from henad_native.lane_process import LaneSetup
from henad_native.lane_start import BOOTSTRAP, LEFT_TO_THE_SWEEP
from henad_web.errors import describe
from henad_web.run.lane_messages import (
    GAUGE_BYTES,
    EntryRefused,
    Gauge,
    Hear,
    LaneOrder,
    WorkerDied,
    WorkerNotStarted,
    WorkerOrder,
)
from henad_web.run.worker_lanes import WorkerLanes, batch_rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from henad_web.explore.measure import MeasurePlan
    from henad_web.model.entry import ModelEntry
    from henad_web.run.lanes import LaneCommand, Lanes
    from henad_web.run.layout import ExecutionLayout

__all__ = ["LaneProcess", "LaneProcesses", "absolute_path", "process_lanes"]

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""Variables by which libraries of kernels are told how many threads they may use."""

EXIT_PATIENCE_S = 0.5
"""Seconds in which a process that can no longer be heard may end by itself."""


class LaneProcess:
    """One lane's process, a `Worker`.

    Args:
        hear: Takes its messages, on the thread of `LaneProcesses`.
    """

    def __init__(self, hear: Hear) -> None:
        self.hear = hear
        self.pipe, self._other_end = Pipe()
        self._memory = _shared_memory()
        self._memory.truncate(GAUGE_BYTES)
        self.gauge = Gauge(mmap.mmap(self._memory.fileno(), GAUGE_BYTES))
        self.exit_sign: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._sender = threading.Thread(target=self._send_all, name="henad-lane-sender", daemon=True)
        self._arrivals = Arrivals()

    def listen(self) -> None:
        """Pass on what has arrived, which must be something or the end; raises as `Arrivals.read` does."""
        for message in self._arrivals.read(self.pipe.fileno()):
            self.hear(message)

    def send(self, order: LaneOrder | LaneCommand) -> None:
        """Tell the process `order`, and wait for nothing; one that is gone hears nothing."""
        self._outbox.put(pickle.dumps(order, pickle.HIGHEST_PROTOCOL))

    def _send_all(self) -> None:
        # A pipe is soon full where a step does not leave the interpreter to the thread that reads.
        with suppress(OSError):
            while (message := self._outbox.get()) is not None:
                self.pipe.send_bytes(message)

    def kill(self) -> bool:
        """End the process where it stands."""
        if self._process is not None:
            self._process.kill()
        return True

    def launch(self, setup: bytes, threads: str, path: Sequence[str]) -> None:
        """Start the process, which looks for modules on `path`.

        Raises as `subprocess.Popen` does, where the system has no room for one more.
        """
        inherited = (self._other_end.fileno(), self._memory.fileno())
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        numbers = [str(number) for number in (*inherited, os.getpid())]
        self._outbox.put(setup)
        try:
            self._sender.start()
            self._process = subprocess.Popen(
                [sys.executable, *flags, "-c", BOOTSTRAP, *numbers, *path],
                stdin=subprocess.DEVNULL,
                env=os.environ | dict.fromkeys(THREAD_VARIABLES, threads),
                pass_fds=inherited,
            )
        finally:
            self._close_other_end()
        if hasattr(os, "pidfd_open"):  # a pipe ends late where a model's own processes hold it open
            with suppress(OSError):  # the system is older than this Python, or forbids it
                self.exit_sign = os.pidfd_open(self._process.pid)

    def ended(self) -> str:
        """Free what the process held, once it is gone or can no longer be heard, and return how it ended."""
        cause = self._end()
        self._outbox.put(None)
        with suppress(OSError), socket(fileno=os.dup(self.pipe.fileno())) as pipe:
            pipe.shutdown(SHUT_RDWR)  # the sender may wait at it for one that reads no more
        if self._sender.ident is not None:  # or it might write into whatever file gets the number next
            self._sender.join()
        self.pipe.close()
        if self.exit_sign is not None:
            os.close(self.exit_sign)
        if self._process is None:
            self._close_other_end()
        self.gauge = self.gauge.copy()  # its memory is a file, too, which goes with the last who looks at it
        return cause

    def _end(self) -> str:
        """Wait for the process, end it if it goes on after all, and return how it ended."""
        if self._process is None:
            return "gone"
        try:
            return _cause(self._process.wait(EXIT_PATIENCE_S))
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
            return "cut off from the sweep"

    def _close_other_end(self) -> None:
        self._other_end.close()
        self._memory.close()


def absolute_path() -> list[str]:
    """Return where this process looks for modules, as another one can that works in another folder."""
    return [os.path.abspath(place) for place in sys.path]


def _shared_memory() -> IO[bytes]:
    """Return a file that a gauge fits in."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("henad-gauge"), "r+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def _cause(code: int) -> str:
    """Return how a process with the exit `code` ended, as a participle."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"killed by {name}" + (", as when memory runs out" if name == "SIGKILL" else "")


class LaneProcesses:
    """The processes of one sweep's lanes, and the thread that starts, hears and ends them.

    The thread lives as long as they do: where the system can, it ends a process with the thread that started it.

    Args:
        setup: What each is told first.
        threads: Threads that each may use inside libraries.
        path: Where each looks for modules, this process's path when None.
    """

    def __init__(self, setup: LaneSetup, threads: int, path: Sequence[str] | None = None) -> None:
        self._setup, self._threads = pickle.dumps(setup, pickle.HIGHEST_PROTOCOL), str(threads)
        self._path = absolute_path() if path is None else path
        self._new: list[LaneProcess] = []
        self._living: set[LaneProcess] = set()
        self._is_woken, self._wakes = Pipe(duplex=False)
        self._patience_s: float | None = None
        self._thread = threading.Thread(target=self._run, name="henad-lanes", daemon=True)

    def start(self, hear: Hear) -> LaneProcess:
        """Return a lane whose process is being started; it reports once it can take runs."""
        lane = LaneProcess(hear)
        self._new.append(lane)
        if self._thread.ident is None:
            self._thread.start()
        self._wakes.send_bytes(b"")
        return lane

    def close(self, patience_s: float) -> None:
        """End every process, those that still step after `patience_s` seconds where they stand, and wait for it."""
        if self._wakes.closed:
            return
        self._patience_s = patience_s
        self._wakes.send_bytes(b"")
        if self._thread.ident is not None:
            self._thread.join()
        for lane in self._new:
            lane.ended()
        self._wakes.close()
        self._is_woken.close()

    def _run(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [getattr(signal, name) for name in LEFT_TO_THE_SWEEP])
        while self._patience_s is None:
            self._start_new()
            self._hear(None)
        for lane in self._living:
            lane.send(WorkerOrder.CLOSE)
        deadline = time.monotonic() + self._patience_s
        while self._living and (left_s := deadline - time.monotonic()) > 0.0:
            self._hear(left_s)
        for lane in self._living:
            lane.kill()
        while self._living:
            self._hear(None)

    def _start_new(self) -> None:
        while self._new:
            lane = self._new.pop(0)
            try:
                lane.launch(self._setup, self._threads, self._path)
            except Exception as error:  # whatever it is: a thread that ended here would leave the sweep waiting
                lane.ended()
                lane.hear(WorkerNotStarted(describe(error)))
            else:
                self._living.add(lane)

    def _hear(self, timeout_s: float | None) -> None:
        """Wait until a process says something or ends, or somebody wakes this thread."""
        pipes = {lane.pipe: lane for lane in self._living}
        signs = {lane.exit_sign: lane for lane in self._living if lane.exit_sign is not None}
        for ready in wait([self._is_woken, *pipes, *signs], timeout_s):
            if ready is self._is_woken:
                self._is_woken.recv_bytes()
            elif ready in pipes and pipes[ready] in self._living:
                self._receive(pipes[ready])
            elif ready in signs and signs[ready] in self._living:
                self._bury(signs[ready])

    def _receive(self, lane: LaneProcess) -> None:
        """Pass on what `lane` says, or bury it once it no longer can."""
        try:
            lane.listen()
        except Exception:  # its end, or what a model wrote into every file: no more can be made of what follows
            self._bury(lane)

    def _bury(self, lane: LaneProcess) -> None:
        """Pass on what `lane` said to the last, and how it ended."""
        with suppress(Exception):
            while lane.pipe.poll(0):
                lane.listen()
        self._living.discard(lane)
        lane.hear(WorkerDied(lane.ended()))


def process_lanes(
    entry: ModelEntry,
    measure: MeasurePlan,
    layout: ExecutionLayout,
    notify: Callable[[], None],
    stand_in: Callable[[], Lanes],
) -> Lanes:
    """Return as many lanes as `layout` says, each in a process of its own.

    Args:
        entry: The model.
        measure: When to sample and what to keep.
        layout: How many lanes, and how many threads each may use.
        notify: Called on another thread once there is something to hear.
        stand_in: Makes the lanes that step the runs where the model cannot be sent to a process.
    """
    try:
        setup = LaneSetup(
            entry=SentEntry.of(entry), measure=measure, argv=tuple(sys.argv), batch_rows=layout.batch_rows
        )
        processes = LaneProcesses(setup, layout.threads_per_lane)
    except (EntryNotSentError, OSError) as error:
        reason = str(error) if isinstance(error, EntryNotSentError) else f"there is no room: {describe(error)}"
        return WorkerLanes(
            lambda hear: _NoProcess(hear, reason),
            1,
            measure=measure,
            clock=time.monotonic,
            notify=notify,
            close=lambda _patience_s: None,
            stand_in=stand_in,
        )
    return WorkerLanes(
        processes.start,
        layout.cpu_lanes,
        measure=measure,
        clock=time.monotonic,
        notify=notify,
        close=processes.close,
        stand_in=stand_in,
        rows_of=partial(batch_rows_of, entry, layout),
    )


class _NoProcess:
    """A lane that is none, as there is no way to send the model: it says so and does nothing."""

    def __init__(self, hear: Hear, reason: str) -> None:
        self.gauge = Gauge(bytearray(GAUGE_BYTES))
        hear(EntryRefused(reason))

    def send(self, order: LaneOrder | LaneCommand) -> None:
        """Hear nothing."""

    def kill(self) -> bool:
        """Return False: there is nothing to end."""
        return False
