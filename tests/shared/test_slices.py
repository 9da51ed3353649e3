"""Slices grow on fast steps, shrink on slow ones and never pass the time a frame has left."""

from __future__ import annotations

import pytest

from henad_web.run.control import FRAME_SLICE_TARGET_S, MAX_SLICE_STEPS, NATIVE_SLICE_TARGET_S, SliceSize


def test_a_slice_doubles_on_fast_steps_and_is_scaled_down_on_slow_ones() -> None:
    slice_size = SliceSize()
    for _ in range(6):
        slice_size.adapt(10e-6)
    assert slice_size.steps == 64
    slice_size.adapt(0.020)
    assert slice_size.steps == 64, "a slice near the target keeps its size"
    slice_size.adapt(0.160)
    assert slice_size.steps == 8, "a slice eight times too long shrinks eightfold"
    slice_size.adapt(1.0)
    assert slice_size.steps == 1, "a slice never drops below one step"


@pytest.mark.parametrize(("elapsed_s", "steps"), [(0.0099, 32), (0.010, 16), (0.040, 16), (0.0401, 7)])
def test_half_and_twice_the_target_are_still_near_it(elapsed_s: float, steps: int) -> None:
    slice_size = SliceSize()
    slice_size.steps = 16
    slice_size.adapt(elapsed_s)
    assert slice_size.steps == steps


def test_a_slice_never_passes_the_largest_one() -> None:
    slice_size = SliceSize()
    for _ in range(40):
        slice_size.adapt(0.0)
    assert slice_size.steps == MAX_SLICE_STEPS == 1 << 20


def test_the_targets_are_those_of_the_two_kinds_of_host() -> None:
    assert (NATIVE_SLICE_TARGET_S, FRAME_SLICE_TARGET_S) == (0.020, 0.003)
    assert SliceSize().target_s == NATIVE_SLICE_TARGET_S


def test_time_left_caps_a_slice_at_the_steps_that_fit_in_it() -> None:
    slice_size = SliceSize(0.003)
    slice_size.steps = 64
    assert slice_size.within(0.001) == 64, "nothing is known of the pace yet"
    slice_size.adapt(0.0064)
    assert slice_size.pace_s == pytest.approx(0.0001)
    assert slice_size.within(None) == slice_size.steps
    assert slice_size.within(0.00105) == 10
    assert slice_size.within(0.0) == 1, "a slice takes at least one step"
    assert slice_size.within(-1.0) == 1


def test_a_slice_that_was_cut_short_teaches_the_pace_but_does_not_grow() -> None:
    slice_size = SliceSize(0.003)
    slice_size.steps = 64
    slice_size.adapt(0.0001, taken=10)
    assert slice_size.steps == 64
    assert slice_size.pace_s == pytest.approx(0.00001)


def test_a_slice_too_short_for_the_clock_teaches_nothing_of_the_pace() -> None:
    slice_size = SliceSize(0.003)
    slice_size.adapt(0.001)
    slice_size.adapt(0.0)
    assert (slice_size.pace_s, slice_size.steps) == (0.001, 4)
    assert slice_size.within(0.002) == 2, "the pace of the slice before still holds"


def test_the_very_first_step_teaches_the_pace() -> None:
    size = SliceSize(FRAME_SLICE_TARGET_S)
    assert (size.steps, size.pace_s) == (1, 0.0)
    size.adapt(0.5)
    assert size.pace_s == 0.5
