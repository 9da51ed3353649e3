"""Frames: what an update may use, what it may not catch up on, and what a pump answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import henad_web as hw
from henad_web.channel import SweepChannel
from henad_web.output.store import MemoryStore
from henad_web.pumped import FRAME_BUDGET_S, PumpedRunner
from henad_web.run.control import IDLE, NOW, After, Answer
from henad_web.sweep import Sweep, SweepSetup
from henad_web.targets import PumpedTarget
from tests.shared.hosts import Host, ManualClock
from tests.shared.toy_models import Toy, entry_of


def slow_toy(clock: ManualClock, step_s: float, build_s: float = 0.0) -> hw.ModelEntry:
    """Return a toy whose step and build take time on the test's clock."""

    class Slow(Toy):
        def __init__(self, params: object, seed: int | None) -> None:
            super().__init__(params, seed)  # type: ignore[arg-type]
            clock.advance(build_s)

        def before_step(self) -> None:
            clock.advance(step_s)

    return entry_of(Slow)


def long_spec(steps: int = 1_000_000, replicates: int = 1) -> hw.SweepSpec:
    return hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(steps=steps, replicates=replicates),
        measure=hw.MeasureSettings(stats_every=1_000_000, series_every=0),
    )


def frames(stepped: Host, clock: ManualClock, entry: hw.ModelEntry, count: int = 40) -> list[tuple[float, int]]:
    """Return of each frame the seconds it used and the ticks it moved, once the run goes."""
    run = stepped.start(entry, long_spec())
    stepped.until(run, lambda: bool(run.progress().active_runs))
    told = []
    for _ in range(count):
        before, tick = clock.now, run.progress().active_runs[0].tick
        run.update(1 / 60)
        told.append((clock.now - before, run.progress().active_runs[0].tick - tick))
    return told


@pytest.mark.parametrize("step_s", [0.00001, 0.0001, 0.0011, 0.0025, 0.005])
def test_a_frame_uses_its_six_milliseconds_and_less_than_one_step_more(
    stepped: Host, clock: ManualClock, step_s: float
) -> None:
    used = [seconds for seconds, _ in frames(stepped, clock, slow_toy(clock, step_s))]
    assert all(seconds < FRAME_BUDGET_S + step_s + 1e-9 for seconds in used)
    assert all(seconds > FRAME_BUDGET_S - 1e-9 for seconds in used)


def test_a_step_longer_than_a_frame_is_taken_once_a_frame(stepped: Host, clock: ManualClock) -> None:
    for seconds, ticks in frames(stepped, clock, slow_toy(clock, 0.014)):
        assert seconds == pytest.approx(0.014)
        assert ticks == 1


def test_a_build_longer_than_a_frame_holds_one_frame(stepped: Host, clock: ManualClock) -> None:
    run = stepped.start(slow_toy(clock, 0.0, build_s=0.5), long_spec(steps=1, replicates=3))
    used = []
    while not run.is_ended:
        before = clock.now
        run.update(1 / 60)
        used.append(clock.now - before)
        while run.try_recv() is not None:
            pass
    assert max(used) == pytest.approx(0.5)


def test_a_long_gap_between_frames_is_never_caught_up(stepped: Host, clock: ManualClock) -> None:
    run = stepped.start(slow_toy(clock, 0.001), long_spec())
    stepped.until(run, lambda: bool(run.progress().active_runs))
    before = clock.now
    run.update(600.0)
    assert clock.now - before < FRAME_BUDGET_S + 0.001


def test_a_host_may_lend_more_than_a_frame(stepped: Host, clock: ManualClock) -> None:
    run = stepped.start(slow_toy(clock, 0.001), long_spec())
    stepped.until(run, lambda: bool(run.progress().active_runs))
    before = clock.now
    run.update(1.0, budget_s=0.25)
    assert clock.now - before == pytest.approx(0.25, abs=0.0011)


def test_a_light_run_does_not_delay_the_stop_of_a_heavy_one(stepped: Host, clock: ManualClock) -> None:
    class Mixed(Toy):
        def before_step(self) -> None:
            clock.advance(1e-6 if self.value == 1 else 0.004)

    factor = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=(1, 2)))
    spec = hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(steps=100_000),
        measure=hw.MeasureSettings(stats_every=100_000, series_every=0),
        blocks=(hw.BlockSpec(factors=(factor,)),),
    )
    run = stepped.start(entry_of(Mixed), spec)
    used = []
    while not any(active.run.run_id == 1 and active.tick > 3 for active in run.progress().active_runs):
        before = clock.now
        run.update(1 / 60)
        used.append(clock.now - before)
    assert run.progress().runs_done == 1
    assert max(used) < FRAME_BUDGET_S + 0.004, "the slices of the light run are forgotten"


def sweep_of(entry: hw.ModelEntry, spec: hw.SweepSpec, clock: ManualClock) -> Sweep:
    target = PumpedTarget(clock=clock, wall_clock=lambda: 1.75e9)
    plan, options = spec.plan(entry.schema()), hw.SweepRunOptions()
    return Sweep(SweepSetup.of(entry, plan, MemoryStore(), options, target.surroundings()))


def test_pumps_answer_now_while_there_is_work_and_idle_while_paused(
    clock: ManualClock, models: hw.ModelSet, endless: hw.SweepSpec
) -> None:
    clock.tick_s = 0.001
    sweep = sweep_of(models["game_of_life"], endless, clock)
    assert [sweep.pump() for _ in range(20)] == [NOW] * 20
    active = sweep.active_runs.list()
    assert len(active) == 2, "both replicates, stepped together"
    assert active[0].tick > 0
    sweep.control.pause()
    assert [sweep.pump() for _ in range(5)] == [IDLE] * 5
    assert sweep.active_runs.list() == active
    sweep.control.resume()
    assert sweep.pump() == NOW
    assert sweep.active_runs.list()[0].tick > active[0].tick
    sweep.control.abort()
    sweep.pump()
    assert sweep.is_over
    assert sweep.pump() == IDLE
    events = list(iter(sweep.channel.try_recv, None))
    assert isinstance(events[-1], hw.Finished)
    assert events[-1].record.report.counts.rows == 0


class Scripted:
    """A sweep that gives the answers it is told to."""

    def __init__(self, clock: ManualClock, *answers: Answer) -> None:
        self.channel = SweepChannel(series_budget=0, wake=None, clock=clock)
        self.is_over = False
        self.pumps = 0
        self._answers = iter(answers)

    def pump(self, time_left_s: float | None = None) -> Answer:
        self.pumps += 1
        return next(self._answers, IDLE)


def runner_of(sweep: Scripted, clock: Callable[[], float]) -> PumpedRunner:
    return PumpedRunner(sweep, clock)  # type: ignore[arg-type]


def test_an_answer_after_t_is_waited_for_in_frames(clock: ManualClock) -> None:
    sweep = Scripted(clock, NOW, After(0.05))
    runner = runner_of(sweep, clock)
    runner.update(0.0)
    assert sweep.pumps == 2
    for _ in range(4):
        runner.update(0.01)
    assert sweep.pumps == 2, "40 of 50 ms have passed"
    runner.update(0.02)
    assert sweep.pumps == 3


def test_a_command_makes_the_next_pump_due_at_once(clock: ManualClock) -> None:
    sweep = Scripted(clock, After(1000.0))
    runner = runner_of(sweep, clock)
    runner.update(0.0)
    runner.update(1.0)
    assert sweep.pumps == 1
    runner.notify()
    runner.update(0.0)
    assert sweep.pumps == 2


def test_what_comes_during_a_pump_is_not_waited_for(clock: ManualClock) -> None:
    class Told(Scripted):
        def pump(self, time_left_s: float | None = None) -> Answer:
            answer = super().pump(time_left_s)
            if self.pumps == 1:
                runner.notify()  # as a lane's thread does behind the last look at its reports
            return answer

    sweep = Told(clock, After(1000.0), After(1000.0))
    runner = runner_of(sweep, clock)
    runner.update(0.0)
    runner.update(0.0)
    assert sweep.pumps == 2
    runner.update(0.0)
    assert sweep.pumps == 2


def test_a_notice_that_comes_as_a_frame_counts_down_a_wait_is_not_lost(clock: ManualClock) -> None:
    sweep = Scripted(clock, After(1000.0), After(1000.0))
    runner = runner_of(sweep, clock)

    class Meanwhile(float):
        """Seconds during whose subtraction another thread has its turn."""

        def __rsub__(self, waited: float) -> float:
            runner.notify()
            return waited - float(self)

    runner.update(0.0)
    runner.update(Meanwhile(0.0))
    assert sweep.pumps == 2
    runner.update(0.0)
    assert sweep.pumps == 2


def test_an_idle_sweep_costs_one_pump_a_frame(clock: ManualClock) -> None:
    sweep = Scripted(clock)
    runner = runner_of(sweep, clock)
    for _ in range(10):
        runner.update(1 / 60)
    assert sweep.pumps == 10
