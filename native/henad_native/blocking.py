"""A sweep run from start to end inside one call, for scripts and notebooks."""

from __future__ import annotations

import dataclasses
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from henad_native.stopping import StopRequest, ending_signals, stop_on_signals
from henad_web.channel import Failed, Finished, OutputNotice, OutputPaused, SweepEvent, Warned
from henad_web.errors import SweepFailedError, SweepInterruptedError
from henad_web.handle import SweepProgress, SweepRun
from henad_web.output.record import SweepEnd, SweepRecord
from henad_web.run.options import SweepRunOptions
from henad_web.wording import henad_command, models_named, most_text

__all__ = ["Hold", "LOOK_AGAIN_S", "PROGRESS_INTERVAL_S", "STOPPED_AT_ONCE", "Listener", "RoomWatch", "run_blocking"]

STOPPED_AT_ONCE = "the sweep was stopped at once, by a second Ctrl-C; what it has written is kept and can be resumed"
"""What is said of a Ctrl-C that did not wait for the files."""

PROGRESS_INTERVAL_S = 0.2
"""Seconds between two progress reports."""

GATHER_S = 0.002
"""Seconds in which the events of short runs gather: waking for each was measured to cost a third of such a run."""

SIGNAL_LOOK_S = 0.02
"""Seconds between two looks at whether a signal has come, which does not end a wait."""

LOOK_AGAIN_S = 5.0
"""Seconds between two looks at whether a full disk has room again."""

Listener = Callable[[SweepEvent | SweepProgress], None]
"""Hears every event, and the progress whenever `PROGRESS_INTERVAL_S` passed without one."""


class Hold(Protocol):
    """Somebody who may be there while a sweep runs: the first Ctrl-C holds it then, and a second one ends it."""

    def is_there(self) -> bool:
        """Return whether somebody can say that the sweep is to go on."""

    def begin(self) -> None:
        """Tell that the sweep is held, and how to go on."""

    def is_over(self) -> bool:
        """Return whether the sweep is to go on; returns at once."""


def run_blocking(
    start: Callable[[SweepRunOptions], SweepRun],
    *,
    options: SweepRunOptions,
    progress: Listener | None,
    hold: Hold | None = None,
) -> SweepRecord:
    """Run a sweep to its end and return its record.

    Args:
        start: Starts the sweep, or resumes it, with the options it is given.
        options: Settings that change no result.
        progress: Hears the news, None for nobody.
        hold: Who lets a sweep that a first Ctrl-C holds go on; None where the first one ends it.

    Raises:
        SweepFailedError: The sweep ended on its own error.
        SweepInterruptedError: Ctrl-C; the sweep was aborted and its files are written.
        HenadError: Whatever `start` raises.
    """
    woken = threading.Event()
    listener = _ignore if progress is None else progress
    options = dataclasses.replace(options, wake=_waking(woken, options.wake))
    try:
        with _stop_requests(hold) as stop, start(options) as run:
            record = _follow(run, woken, stop, listener, RoomWatch(run), hold)
    except KeyboardInterrupt as again:  # the second one: the first is only a request
        again.add_note(STOPPED_AT_ONCE)
        raise
    if stop.asked:
        raise SweepInterruptedError(record, _kept_text(record))
    return record


def _stop_requests(hold: Hold | None) -> AbstractContextManager[StopRequest]:
    if hold is None:
        return stop_on_signals(signal.SIGINT)
    return stop_on_signals(signal.SIGINT, *ending_signals(), may_hold=hold.is_there)


def _kept_text(record: SweepRecord) -> str:
    """Return what an interrupted sweep left behind and how to go on, one clause."""
    report = record.report
    if record.manifest is None:
        return "nothing was written; start it again"
    place, rows = report.output_dir, report.counts.rows
    outline = report.outline
    asked = most_text(outline.skipped + outline.pending, is_most=outline.least_replicates is not None)
    if place is None:
        how = "go on with hw.SweepRun.resume_files(entry, error.record.files)"
        return f"{rows} of {asked} are kept in the files of this error's record; {how}"
    if record.files is not None:  # it was to overwrite results, and had none of its own to do it with
        return f"no run was finished, and {place} keeps the results it had"
    if report.end == SweepEnd.COMPLETE:
        return f"all of its {rows} runs were written to {place} by then"
    command = henad_command("resume", place, models=models_named(record.manifest))
    how = f"go on with hw.resume_sweep(entry, {place!r}) or `{command}`"
    return f"{rows} of {asked} are kept in {place}; {how}"


def _waking(woken: threading.Event, then: Callable[[], None] | None) -> Callable[[], None]:
    def wake() -> None:
        woken.set()
        if then is not None:
            then()

    return wake


class RoomWatch:
    """Lets a sweep that found no room for its results try again every few seconds, and tells of it once.

    Args:
        run: The sweep; nobody else pauses it.
        clock: Monotonic clock, seconds.
    """

    def __init__(self, run: SweepRun, clock: Callable[[], float] = time.monotonic) -> None:
        self._run, self._clock = run, clock
        self._is_told = False
        self._look_at: float | None = None

    def look(self) -> None:
        """Let the sweep try again, if it is time to."""
        if self._look_at is not None and self._clock() >= self._look_at:
            self._look_at = None
            self._run.resume()

    def told(self, event: SweepEvent) -> Iterator[SweepEvent]:
        """Yield what a listener is to hear of `event`: one warning however long there is no room, one notice after."""
        if isinstance(event, Warned) and isinstance(event.warning, OutputPaused):
            self._look_at = self._clock() + LOOK_AGAIN_S
            if not self._is_told:
                self._is_told = True
                yield Warned(dataclasses.replace(event.warning, looks_again_s=LOOK_AGAIN_S))
            return
        if self._is_told and not isinstance(event, Failed):
            self._is_told = False
            yield Warned(OutputNotice("there is room again; the sweep goes on"))
        yield event


def _follow(
    run: SweepRun,
    woken: threading.Event,
    stop: StopRequest,
    listener: Listener,
    room: RoomWatch,
    hold: Hold | None,
) -> SweepRecord:
    is_held = False
    while True:
        if stop.asked:
            run.abort()
        elif hold is not None and stop.is_held:
            is_held = _held(run, stop, hold, is_held)
        event = run.try_recv()
        if event is None:
            if not is_held:
                room.look()
            listener(run.progress())
            _wait(woken, stop)
            continue
        for news in room.told(event):
            listener(news)
        match event:
            case Finished(record):
                return record
            case Failed(message):
                raise SweepFailedError(message)


def _wait(woken: threading.Event, stop: StopRequest) -> None:
    """Wait until it is time for a progress report, or something has come: an event, or a signal."""
    asked = dataclasses.astuple(stop)
    for _ in range(round(PROGRESS_INTERVAL_S / SIGNAL_LOOK_S)):
        if woken.wait(SIGNAL_LOOK_S):
            time.sleep(GATHER_S)
            break
        if dataclasses.astuple(stop) != asked:
            break
    woken.clear()


def _held(run: SweepRun, stop: StopRequest, hold: Hold, was_held: bool) -> bool:
    """Hold `run`, or let it go on once `hold` is over; return whether it is held."""
    if not was_held:
        run.pause()
        hold.begin()
        return True
    if not hold.is_over():
        return True
    stop.is_held = False
    run.resume()
    return False


def _ignore(_news: SweepEvent | SweepProgress) -> None:
    """Hear nothing."""
