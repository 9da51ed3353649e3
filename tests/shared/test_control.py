"""Pause, resume and abort, and the clock that stands still while a sweep is paused."""

from __future__ import annotations

from henad_web.run.control import PauseClock, SweepControl
from tests.shared.hosts import ManualClock


def test_a_pause_holds_the_runs_until_it_is_resumed(clock: ManualClock) -> None:
    control = SweepControl(clock)
    assert control.pause()
    assert control.is_paused
    assert control.resume()
    assert not control.is_paused


def test_only_a_change_is_told(clock: ManualClock) -> None:
    control = SweepControl(clock)
    assert not control.resume(), "nothing was paused"
    assert control.pause()
    assert not control.pause(), "paused already"


def test_an_abort_releases_a_paused_run_and_is_final(clock: ManualClock) -> None:
    control = SweepControl(clock)
    control.pause()
    control.abort()
    assert control.is_aborted
    assert not control.is_paused
    assert not control.pause()
    assert not control.resume()
    assert control.is_aborted, "neither a pause nor a resume undoes an abort"


def test_the_clock_leaves_pauses_out(clock: ManualClock) -> None:
    control = SweepControl(clock)
    clock.advance(3)
    control.pause()
    clock.advance(40)
    assert control.clock.elapsed() == 3
    control.resume()
    clock.advance(2)
    assert control.clock.elapsed() == 5
    control.pause()
    clock.advance(0.25)
    control.resume()
    clock.advance(2)
    assert control.clock.elapsed() == 7


def test_an_abort_lets_the_clock_of_a_paused_sweep_go_on(clock: ManualClock) -> None:
    control = SweepControl(clock)
    control.pause()
    clock.advance(10)
    control.abort()
    clock.advance(1)
    assert control.clock.elapsed() == 1


def test_a_pause_inside_a_pause_counts_once(clock: ManualClock) -> None:
    pause_clock = PauseClock(clock)
    pause_clock.pause()
    clock.advance(5)
    pause_clock.pause()
    clock.advance(5)
    pause_clock.resume()
    pause_clock.resume()
    clock.advance(1)
    assert pause_clock.elapsed() == 1


def test_elapsed_time_can_be_read_at_an_earlier_moment_and_is_never_negative(clock: ManualClock) -> None:
    pause_clock = PauseClock(clock)
    clock.advance(7)
    moment = clock.now
    clock.advance(7)
    assert pause_clock.elapsed(moment) == 7
    assert pause_clock.elapsed(0.0) == 0
