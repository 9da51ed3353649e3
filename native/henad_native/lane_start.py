"""The first thing that a lane's process does, before it imports anything of the package.

Never imports the program that started it, and dies with it: where the system can (Linux) in the middle of a step.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import signal
import sys
from contextlib import suppress
from types import FrameType

__all__ = ["BOOTSTRAP", "LEFT_TO_THE_SWEEP", "die_with", "left_alone", "main"]

BOOTSTRAP = "import sys; sys.path[:] = sys.argv[4:]; from henad_native.lane_start import main; main()"
"""Program of a lane's process. Its arguments: numbers of the pipe, of the gauge's memory, of the parent, the path."""

LEFT_TO_THE_SWEEP = ("SIGINT", "SIGTERM", "SIGHUP")
"""Signals that reach a whole group of processes and ask for an end in order, which is the sweep's to make."""

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Become a lane: until the pipe ends or a close comes."""
    pipe_number, memory_number, parent = map(int, sys.argv[1:4])
    die_with(parent)
    _end_with_this_thread()
    for name in LEFT_TO_THE_SWEEP:
        signal.signal(getattr(signal, name), left_alone)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # they were held back since this process was made
    _prefer_for_memory()
    _postpone("henad_web")
    from henad_native.lane_process import serve  # noqa: PLC0415 - only now

    serve(pipe_number, memory_number)


def die_with(parent: int) -> None:
    """Have the system end this process with the thread that started it, where it can; end now if that is gone."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(1)


def _end_with_this_thread() -> None:
    """Have the process end with its main thread, which a model may end alone (`pthread_exit`): no other steps runs."""
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        key = ctypes.c_uint() if sys.platform == "linux" else ctypes.c_ulong()
        if library.pthread_key_create(ctypes.byref(key), ctypes.cast(library._exit, ctypes.c_void_p)) == 0:
            library.pthread_setspecific(key, ctypes.c_void_p(1))  # what `_exit` is called with then


def _prefer_for_memory() -> None:
    """Have the system end this process before the sweep, should memory run out."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("500")


def left_alone(number: int, frame: FrameType | None) -> None:
    """Do nothing: a handler, unlike a signal that is ignored, is not inherited by programs that a model starts."""


def _postpone(name: str) -> None:
    """Have the package `name` run its own code once somebody asks for a name of it; its modules can be had before.

    The code imports every module, which takes a quarter of a second; a lane needs a third of them.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return
    package, loader = importlib.util.module_from_spec(spec), spec.loader

    def load(wanted: str) -> object:
        if "__getattr__" in vars(package):
            del vars(package)["__getattr__"]
            loader.exec_module(package)
        return getattr(package, wanted)

    vars(package)["__getattr__"] = load
    sys.modules[name] = package
