"""The process of a lane, once it has started: a pipe to the sweep, the model, the loop that steps its runs.

Owns what is told before the first run. The end of the pipe ends the process.
"""

from __future__ import annotations

import mmap
import os
import pickle
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection

from henad_native.entry_transfer import SentEntry
from henad_native.lane_loop import LaneLoop
from henad_native.lane_pipe import say
from henad_native.lane_start import die_with
from henad_web.errors import describe
from henad_web.explore.measure import MeasurePlan
from henad_web.model.faults import Blame, Phase
from henad_web.run.control import NATIVE_SLICE_TARGET_S
from henad_web.run.lane_messages import GAUGE_BYTES, EntryRefused, Gauge, WorkerMessage, WorkerReady
from henad_web.run.lanes import InProcessLane

__all__ = ["LaneSetup", "serve"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneSetup:
    """What a lane's process needs to know before its first run.

    Attributes:
        entry: The model.
        measure: When to sample and what to keep.
        argv: Arguments of the program, which models may read.
        batch_rows: Most runs to step together, where the model offers it.
    """

    entry: SentEntry
    measure: MeasurePlan
    argv: tuple[str, ...]
    batch_rows: int = 1


def serve(pipe_number: int, memory_number: int) -> None:
    """Step runs until the pipe ends or a close comes.

    Args:
        pipe_number: Number of the open pipe to the sweep.
        memory_number: Number of the open file that is the gauge's memory.
    """
    gauge = Gauge(mmap.mmap(memory_number, GAUGE_BYTES))
    os.close(memory_number)
    pipe = Connection(_out_of_the_way(pipe_number))
    setup: LaneSetup = pickle.loads(pipe.recv_bytes())
    sys.argv[:] = setup.argv

    def send(message: WorkerMessage) -> None:
        with suppress(BrokenPipeError):  # the sweep is gone, and so is this process in a moment
            say(pipe.fileno(), message)

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
        batch_rows=setup.batch_rows,
        takes_interrupts=True,
    )
    loop = LaneLoop(lane, gauge, send, timeout_s=setup.measure.timeout_s, clock=time.monotonic)
    _stop_copies(loop, pipe)
    threading.Thread(target=_listen, args=(pipe, loop), daemon=True, name="henad-lane-pipe").start()
    send(WorkerReady())
    loop.run()
    if loop.is_aborted:  # nobody waits for what a model registered for the exit
        with suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
        os._exit(0)


def _out_of_the_way(number: int) -> int:
    """Return another number of the open file `number`, which no program that a model starts has, and few close."""
    os.set_inheritable(number, False)
    if number < _HIGH_NUMBER:
        with suppress(OSError):  # so many files may not be open here
            os.dup2(number, _HIGH_NUMBER, inheritable=False)
            os.close(number)
            return _HIGH_NUMBER
    return number


_HIGH_NUMBER = 200


def _listen(pipe: Connection, loop: LaneLoop) -> None:
    """Pass orders on; end the process with the pipe, whatever it is at."""
    try:
        while True:
            loop.tell(pickle.loads(pipe.recv_bytes()))
    finally:  # however it ended: a lane that hears nothing more would never be done
        os._exit(1)


def _stop_copies(loop: LaneLoop, pipe: Connection) -> None:
    """Have a copy of this process that a model makes by forking step nothing of its own and die with it.

    The system ends a copy with the thread that made it: one that another thread of the model made is left to the model.
    """
    lane_process, main_thread = os.getpid(), threading.get_ident()

    def in_copy() -> None:
        loop.let_go()
        pipe.close()
        if threading.get_ident() == main_thread:
            die_with(lane_process)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=in_copy)
