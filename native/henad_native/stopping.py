"""Signals that ask a sweep to stop, turned into a flag its host looks at."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

__all__ = ["StopRequest", "stop_on_signals"]


@dataclass(slots=True)
class StopRequest:
    """Whether somebody asked for a stop."""

    asked: bool = False


@contextmanager
def stop_on_signals(*numbers: signal.Signals) -> Iterator[StopRequest]:
    """Turn each of `numbers` into a request while the block runs; a second one acts the usual way.

    The handler only sets a flag: it runs between any two instructions of the main thread, where an exception could
    lose an event that was just taken. Outside the main thread signals do not arrive and nothing is changed.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.getsignal(number) for number in numbers}

    def ask(number: int, frame: FrameType | None) -> None:
        request.asked = True
        signal.signal(number, before[signal.Signals(number)])

    for number in numbers:
        signal.signal(number, ask)
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
