"""What a lane does where it works: when it sends, and what its gauge shows meanwhile."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import pytest

import henad_web as hw
from henad_native.lane_loop import SEND_EVERY_S, LaneLoop
from henad_web.explore.measure import MeasurePlan
from henad_web.model.params import ParamValue
from henad_web.run.lane_messages import (
    GAUGE_BYTES,
    Bundle,
    Gauge,
    OutcomesSent,
    RunsReturned,
    WorkerMessage,
    WorkerOrder,
)
from henad_web.run.lanes import InProcessLane
from henad_web.run.requests import RunRequest
from tests.native.lane_models import ten
from tests.shared.hosts import ManualClock
from tests.shared.toy_models import Toy, ToyRows, entry_of


class Told(Toy):
    """Does before its steps what a test says; ends at tick 2 where its seed is in `early`."""

    at_step: Callable[[Told], None] = staticmethod(lambda toy: None)
    early: frozenset[int] = frozenset()

    def before_step(self) -> None:
        Told.at_step(self)

    def stats(self) -> dict[str, float]:
        return {"Ticks": 100.0 if self.seed in Told.early and self.tick == 2 else float(self.tick)}


class Played:
    """A lane's loop on the thread of a test, over four replicates, told to close once every outcome has come."""

    def __init__(self, rows: int = 1) -> None:
        entry = entry_of(Told)
        entry = dataclasses.replace(entry, batches=hw.BatchOffer(build=self._build, rows=ten))
        stop = hw.StopSpec(column="Ticks", comparison=">=", threshold=100.0)
        plan = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=4, replicates=4, stop=stop)).plan(entry.schema())
        measure = MeasurePlan.bind(plan, ("Ticks",))
        self.clock, self.gauge = ManualClock(), Gauge(bytearray(GAUGE_BYTES))
        self.clock.now = 0.0  # when a lane has last sent something
        self.requests = tuple(RunRequest.of(plan, run) for run in plan.runs())
        self.sent: list[tuple[int, ...]] = []
        self.returned: list[tuple[int, ...]] = []
        self.shown: list[tuple[int | None, int | None]] = []
        self.awaited = len(self.requests)
        lane = InProcessLane(entry, measure, slice_target_s=0.02, clock=self.clock, batch_rows=rows)
        self.loop = LaneLoop(lane, self.gauge, self._send, timeout_s=None, clock=self.clock)

    def _build(self, params: Mapping[str, ParamValue], seeds: Sequence[int]) -> ToyRows:
        self._look()
        return ToyRows([Told(params, seed) for seed in seeds])

    def _look(self) -> None:
        if (shown := (self.gauge.run_id, self.gauge.last_id)) not in self.shown:
            self.shown.append(shown)

    def _send(self, message: WorkerMessage) -> None:
        assert self.gauge.is_sending
        if isinstance(message, RunsReturned):
            self.returned.append(message.run_ids)
            self.awaited -= len(message.run_ids)
        if isinstance(message, OutcomesSent):
            self.sent.append(tuple(run.run_id for run in message.runs))
            self.awaited -= len(message.runs)
        if not self.awaited:
            self.loop.tell(WorkerOrder.CLOSE)

    def run(self, alone: frozenset[int] = frozenset(), at_first_step: Callable[[Told], None] | None = None) -> None:
        def looked(toy: Told) -> None:
            self._look()
            if at_first_step is not None and toy.tick == 0:
                at_first_step(toy)

        Told.at_step = looked
        self.loop.tell(Bundle(self.requests, alone))
        self.loop.run()
        assert not self.gauge.is_sending


def test_outcomes_of_short_runs_are_gathered() -> None:
    played = Played()
    played.run()
    assert played.sent == [(0, 1, 2), (3,)], "until the last begins"
    assert played.gauge.ended_id == 3
    played = Played()
    played.run(at_first_step=lambda toy: played.clock.advance(SEND_EVERY_S * 0.6))
    assert played.sent == [(0,), (1, 2), (3,)], "for a while"


def test_a_run_that_a_lane_died_with_is_sent_before_another_begins() -> None:
    played = Played()
    played.run(frozenset({1}))
    assert played.sent == [(0,), (1,), (2,), (3,)]


def test_what_is_asked_for_goes_in_the_middle_of_a_step() -> None:
    played = Played()

    def ask(toy: Told) -> None:
        if played.gauge.run_id == 2:
            played.loop.tell(WorkerOrder.SEND)
            assert played.sent == [(0, 1)]
            played.loop.tell(WorkerOrder.GIVE_BACK)
            assert played.returned == [(3,)], "it is not begun"

    played.run(at_first_step=ask)
    assert played.sent == [(0, 1), (2,)]


def test_the_gauge_shows_all_runs_that_are_stepped_together() -> None:
    played = Played(rows=3)
    played.run()
    assert played.shown == [(0, 2), (3, 3)]
    played = Played(rows=4)
    played.run(frozenset({2}))
    assert played.shown == [(0, 1), (2, 2), (3, 3)]


@pytest.mark.parametrize(("early", "left"), [({0}, (1, 3)), ({3}, (0, 2)), ({0, 3}, (1, 2)), ({0, 1, 2}, (3, 3))])
def test_the_gauge_shows_those_that_are_left(
    monkeypatch: pytest.MonkeyPatch, early: set[int], left: tuple[int, int]
) -> None:
    played = Played(rows=4)
    monkeypatch.setattr(Told, "early", frozenset(played.requests[run_id].run.seed for run_id in early))
    played.run()
    assert played.shown == [(0, 3), left]
