"""The process of a lane: `main` is all it runs.

Never imports the program that started it, and dies with it: the end of its pipe is watched, and where the system can
(Linux) it ends the process even in the middle of a step.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import pickle
import signal
import sys
import threading
import time
import types
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection

from henad_native.entry_transfer import SentEntry
from henad_native.lane_loop import LaneLoop
from henad_web.errors import describe
from henad_web.explore.measure import MeasurePlan
from henad_web.model.faults import Blame, Phase
from henad_web.run.control import NATIVE_SLICE_TARGET_S
from henad_web.run.lane_messages import GAUGE_BYTES, EntryRefused, Gauge, WorkerMessage, WorkerReady
from henad_web.run.lanes import InProcessLane

__all__ = ["BOOTSTRAP", "LaneSetup", "main"]

BOOTSTRAP = "import sys; sys.path[:] = sys.argv[4:]; from henad_native.lane_process import main; main()"
"""Program of a lane's process. Its arguments: numbers of the pipe, of the gauge's memory, of the parent, the path."""

LEFT_TO_THE_SWEEP = ("SIGINT", "SIGTERM", "SIGHUP")
"""Signals that reach a whole group of processes and ask for an end in order, which is the sweep's to make."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneSetup:
    """What a lane's process needs to know before its first run.

    Attributes:
        entry: The model.
        measure: When to sample and what to keep.
        argv: Arguments of the program, which models may read.
    """

    entry: SentEntry
    measure: MeasurePlan
    argv: tuple[str, ...]


def main() -> None:
    """Step runs until the pipe ends or a close comes."""
    pipe_number, memory_number, parent = map(int, sys.argv[1:4])
    die_with(parent)
    for name in LEFT_TO_THE_SWEEP:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _left_alone)
    if hasattr(signal, "pthread_sigmask"):  # they were held back since this process was made
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
    prefer_for_memory()
    pipe = Connection(pipe_number)
    gauge = Gauge(mmap.mmap(memory_number, GAUGE_BYTES))
    setup: LaneSetup = pickle.loads(pipe.recv_bytes())
    sys.argv[:] = setup.argv

    def send(message: WorkerMessage) -> None:
        with suppress(BrokenPipeError):  # the sweep is gone, and so is this process in a moment
            pipe.send_bytes(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))

    with Blame(Phase.BUILDING, None, takes_interrupts=True) as blame:
        entry = setup.entry.received()
    if blame.error is not None:
        send(EntryRefused(f"a process of its own cannot load the model: {describe(blame.error)}"))
        return
    lane = InProcessLane(
        entry,
        setup.measure,
        slice_target_s=NATIVE_SLICE_TARGET_S,
        clock=time.monotonic,
        takes_interrupts=True,
    )
    loop = LaneLoop(lane, gauge, send, timeout_s=setup.measure.timeout_s, clock=time.monotonic)
    _stop_copies(loop, pipe)
    threading.Thread(target=_listen, args=(pipe, loop), daemon=True, name="henad-lane-pipe").start()
    send(WorkerReady())
    loop.run()
    if loop.is_copy:
        os._exit(0)


def die_with(parent: int) -> None:
    """Have the system end this process with the thread that started it, where it can; end now if that is gone."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(1)


_PR_SET_PDEATHSIG = 1


def prefer_for_memory() -> None:
    """Have the system end this process before the sweep, should memory run out."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("500")


def _left_alone(number: int, frame: types.FrameType | None) -> None:
    """Do nothing: a handler, unlike a signal that is ignored, is not inherited by programs that a model starts."""


def _listen(pipe: Connection, loop: LaneLoop) -> None:
    """Pass orders on; end the process with the pipe, whatever it is at."""
    try:
        while True:
            loop.tell(pickle.loads(pipe.recv_bytes()))
    except (EOFError, OSError):
        os._exit(1)


def _stop_copies(loop: LaneLoop, pipe: Connection) -> None:
    """Have a copy of this process that a model makes by forking step nothing of its own and die with it."""
    lane_process = os.getpid()

    def in_copy() -> None:
        loop.is_copy = True
        pipe.close()
        die_with(lane_process)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=in_copy)
