"""Models that do to their process what only a process of its own survives; their fate is a parameter."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import pickle
import signal
import stat
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import henad_web as hw
from henad_web.model.params import ParamValue
from tests.shared.toy_models import Toy, ToyRows, entry_of

FATAL_TICK = 3


def nothing() -> None:
    """Go on."""


def segfault() -> None:
    ctypes.string_at(0)


def end_process() -> None:
    os._exit(3)


def fork() -> None:
    """Fork, and let the copy go on stepping as if it were the lane."""
    copy = os.fork()
    if copy:
        os.waitpid(copy, 0)


def leak_until_killed() -> None:
    """End as a process does that the system kills for its memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def ask_to_end() -> None:
    """Send this process what ends a whole group in order: a lane leaves that to the sweep."""
    os.kill(os.getpid(), signal.SIGTERM)


def hang() -> None:
    time.sleep(3600.0)


def hang_behind_a_copy() -> None:
    """Fork, and never come back while the copy goes on."""
    if os.fork():
        hang()


def close_files() -> None:
    """Close whatever is open beside the standard streams, and open other files under their numbers."""
    os.closerange(3, 100)
    for _ in range(20):
        os.open(os.devnull, os.O_RDWR)


def write_into_sockets(text: bytes) -> None:
    for number in range(3, 300):
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                os.write(number, text)


def talk_nonsense() -> None:
    """Write into every open socket what looks like a whole message and is none."""
    write_into_sockets(struct.pack("!Q", 8) + b"nonsense")
    hang()


def begin_to_talk() -> None:
    """Write into every open socket what looks like the beginning of a message."""
    write_into_sockets(struct.pack("!Q", 1 << 60))
    hang()


def end_main_thread() -> None:
    """End this thread as a library of C may, past the interpreter."""
    ctypes.CDLL(None).pthread_exit(None)


def fork_on_a_thread() -> None:
    """Fork on a thread that ends before the copy does, which is not to be ended with it."""
    copies: list[int] = []

    def fork_and_end() -> None:
        copy = os.fork()
        if not copy:
            time.sleep(0.3)
            os._exit(0)
        copies.append(copy)

    thread = threading.Thread(target=fork_and_end)
    thread.start()
    thread.join()
    if os.waitpid(copies[0], 0)[1]:
        raise ChildProcessError("the copy was ended")


def break_pickle() -> None:
    pickle.dumps = None  # type: ignore[assignment]


def fail() -> None:
    raise LookupError("no such cell")


def kill_parent() -> None:
    os.kill(os.getppid(), signal.SIGKILL)


FATES: tuple[Callable[[], None], ...] = (
    nothing,
    segfault,
    end_process,
    fork,
    leak_until_killed,
    ask_to_end,
    hang,
    hang_behind_a_copy,
    close_files,
    talk_nonsense,
    begin_to_talk,
    break_pickle,
    fail,
    end_main_thread,
    fork_on_a_thread,
    kill_parent,
)


class Fated(Toy):
    """Meets the fate numbered `value` at tick `FATAL_TICK`."""

    def before_step(self) -> None:
        if self.tick == FATAL_TICK:
            FATES[self.value]()


class ReadsTar(Toy):
    """Fails inside a library that nobody has imported by then."""

    def before_step(self) -> None:
        __import__("tarfile").open("/nowhere.tar.gz", "r:gz")


class Slow(Toy):
    """Takes `value` milliseconds a step."""

    def before_step(self) -> None:
        time.sleep(self.value / 1000.0)


class Weighty(Toy):
    """Never comes back from its first step when `value` is 0, nor leaves the interpreter to anybody."""

    def before_step(self) -> None:
        if self.value == 0:
            ctypes.PyDLL(None).sleep(3600)


class FatedTogether(Fated):
    """Meets its fate if its seed can be divided by 3."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self.value = self.value if (seed or 0) % 3 == 0 else 0


def build_together(params: Mapping[str, ParamValue], seeds: Sequence[int]) -> ToyRows:
    return ToyRows([FatedTogether(params, seed) for seed in seeds])


def ten(params: Mapping[str, ParamValue]) -> int:
    return 10


fated_together: hw.ModelEntry = dataclasses.replace(
    entry_of(FatedTogether), batches=hw.BatchOffer(build=build_together, rows=ten)
)
fated: hw.ModelEntry = entry_of(Fated)
reads_tar: hw.ModelEntry = entry_of(ReadsTar)
slow: hw.ModelEntry = entry_of(Slow)
weighty: hw.ModelEntry = entry_of(Weighty)
