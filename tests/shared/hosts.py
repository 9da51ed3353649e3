"""Hosts: whoever holds a sweep's handle in a test, on each target alike; and a clock that tests move."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import henad_web as hw
from henad_web.model.entry import EntryGiven
from henad_web.output.store import OutputPlace
from henad_web.search import SearcherFactory
from henad_web.targets import PumpedTarget, Target

FRAME_S = 1 / 60
TURN_S = 0.0005
"""How long a test leaves the interpreter to a thread that pumps before it asks again."""

PATIENCE_S = 60.0


class ManualClock:
    """A clock that moves only when told, and by `tick_s` at each reading."""

    def __init__(self, tick_s: float = 0.0) -> None:
        self.now = 100.0
        self.tick_s = tick_s

    def __call__(self) -> float:
        self.now += self.tick_s
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


class Host:
    """Starts sweeps on one target and lends them frames until something holds."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._runs: list[hw.SweepRun] = []

    def start(
        self,
        entry: EntryGiven,
        spec: hw.SweepSpec,
        output: OutputPlace | None = None,
        *,
        searcher: SearcherFactory | None = None,
        **options: Any,
    ) -> hw.SweepRun:
        given = hw.SweepRunOptions(**options)
        run = hw.SweepRun.start(entry, spec, output, given, searcher=searcher, target=self.target)
        self._runs.append(run)
        return run

    def until(self, run: hw.SweepRun, holds: Callable[[], bool]) -> None:
        """Lend frames until `holds()`; fail after a minute of real time."""
        deadline = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < deadline, f"never came to hold: {run.progress()}"
            run.update(FRAME_S)
            self._leave_to_its_thread()

    def _leave_to_its_thread(self) -> None:
        if not isinstance(self.target, PumpedTarget):
            time.sleep(TURN_S)

    def next_event(self, run: hw.SweepRun) -> hw.SweepEvent:
        """Lend frames until an event has come, and return it."""
        events: list[hw.SweepEvent] = []

        def came() -> bool:
            event = run.try_recv()
            if event is not None:
                events.append(event)
            return bool(events)

        self.until(run, came)
        return events[0]

    def drain(self, run: hw.SweepRun) -> list[hw.SweepEvent]:
        """Return all events to the last."""
        events = []
        while not run.is_ended:
            events.append(self.next_event(run))
        return events

    def record(self, run: hw.SweepRun) -> hw.SweepRecord:
        """Return the record that `run` ends with."""
        last = self.drain(run)[-1]
        assert isinstance(last, hw.Finished), last
        return last.record

    def files(self, entry: EntryGiven, spec: hw.SweepSpec, **options: Any) -> dict[str, bytes]:
        """Return the files of a whole sweep in memory."""
        files = self.record(self.start(entry, spec, **options)).files
        assert files is not None
        return files

    def close(self) -> None:
        for run in self._runs:
            run.close()
