"""Signals that ask a sweep to stop, turned into a flag its host looks at."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

__all__ = ["StopRequest", "ending_signals", "stop_on_signals"]


@dataclass(slots=True)
class StopRequest:
    """What somebody asked for: to stop, or to hold on."""

    asked: bool = False
    is_held: bool = False


@contextmanager
def stop_on_signals(*numbers: signal.Signals, may_hold: Callable[[], bool] = lambda: False) -> Iterator[StopRequest]:
    """Turn each of `numbers` into a request while the block runs; one after a request to stop acts the usual way.

    The handler only sets a flag: it runs between any two instructions of the main thread, where an exception could
    lose an event that was just taken. Outside the main thread signals do not arrive and nothing is changed.

    Args:
        numbers: The signals.
        may_hold: Whether a Ctrl-C asks to hold on first, and to stop while that is so.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.getsignal(number) for number in numbers}

    def ask(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and not request.is_held and may_hold():
            request.is_held = True
            return
        request.asked = True
        put_back()

    def put_back() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in numbers:
        signal.signal(number, ask)
    try:
        yield request
    finally:
        put_back()


def ending_signals() -> tuple[signal.Signals, ...]:
    """Return the signals beside Ctrl-C by which a system asks a process to end, without those that are ignored."""
    names = ("SIGTERM", "SIGHUP")  # Windows has only the first
    numbers = [signal.Signals[name] for name in names if hasattr(signal, name)]
    return tuple(number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN)
