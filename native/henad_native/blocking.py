"""A sweep run from start to end inside one call, for scripts and notebooks."""

from __future__ import annotations

import dataclasses
import signal
import threading
from collections.abc import Callable

from henad_native.stopping import StopRequest, stop_on_signals
from henad_web.channel import Failed, Finished, SweepEvent
from henad_web.errors import SweepFailedError, SweepInterruptedError
from henad_web.handle import SweepProgress, SweepRun
from henad_web.output.record import SweepRecord
from henad_web.run.options import SweepRunOptions

__all__ = ["PROGRESS_INTERVAL_S", "Listener", "run_blocking"]

PROGRESS_INTERVAL_S = 0.2
"""Seconds between two progress reports."""

Listener = Callable[[SweepEvent | SweepProgress], None]
"""Hears every event, and the progress whenever `PROGRESS_INTERVAL_S` passed without one."""


def run_blocking(
    start: Callable[[SweepRunOptions], SweepRun], *, options: SweepRunOptions, progress: Listener | None
) -> SweepRecord:
    """Run a sweep to its end and return its record.

    Args:
        start: Starts the sweep, or resumes it, with the options it is given.
        options: Settings that change no result.
        progress: Hears the news, None for nobody.

    Raises:
        SweepFailedError: The sweep ended on its own error.
        SweepInterruptedError: Ctrl-C; the sweep was aborted and its files are written.
        HenadError: Whatever `start` raises.
    """
    woken = threading.Event()
    listener = _ignore if progress is None else progress
    options = dataclasses.replace(options, wake=_waking(woken, options.wake))
    with (
        stop_on_signals(signal.SIGINT) as stop,
        start(options) as run,
    ):
        record = _follow(run, woken, stop, listener)
    if stop.asked:
        raise SweepInterruptedError(record)
    return record


def _waking(woken: threading.Event, then: Callable[[], None] | None) -> Callable[[], None]:
    def wake() -> None:
        woken.set()
        if then is not None:
            then()

    return wake


def _follow(run: SweepRun, woken: threading.Event, stop: StopRequest, listener: Listener) -> SweepRecord:
    while True:
        if stop.asked:
            run.abort()
        event = run.try_recv()
        if event is None:
            listener(run.progress())
            woken.wait(PROGRESS_INTERVAL_S)
            woken.clear()
            continue
        listener(event)
        match event:
            case Finished(record):
                return record
            case Failed(message):
                raise SweepFailedError(message)


def _ignore(_news: SweepEvent | SweepProgress) -> None:
    """Hear nothing."""
