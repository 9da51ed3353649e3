"""Lanes on threads: when they are chosen, and what they are for."""

from __future__ import annotations

import dataclasses
import threading
import time

import pytest

import henad_web as hw
from henad_native.target import NativeTarget
from henad_web.run.layout import MachineResources
from henad_web.sweep import Surroundings
from tests.native.lane_kills import until
from tests.shared.toy_models import Toy, entry_of, toy_spec


class FreeTarget(NativeTarget):
    """A machine of three cores, with an interpreter that has no lock."""

    def surroundings(self) -> Surroundings:
        resources = MachineResources(workers=3, steps_threads_at_once=True)
        return dataclasses.replace(super().surroundings(), resources=resources)


class Meets(Toy):
    """Waits in its first step until two of its kind are there at once."""

    meeting = threading.Barrier(2, timeout=60.0)

    def before_step(self) -> None:
        if self.tick == 0 and threading.current_thread().name == "henad-lane":
            self.meeting.wait()


def releasing(model: type[Toy]) -> hw.ModelEntry:
    entry = entry_of(model)
    return dataclasses.replace(entry, metadata=dataclasses.replace(entry.metadata, releases_lock=True))


def test_a_model_that_releases_the_lock_is_stepped_on_threads_at_the_same_time() -> None:
    record = hw.run_spec(releasing(Meets), toy_spec(1), options=hw.SweepRunOptions(concurrency=2))
    assert record.report.counts.ok == 2
    assert record.manifest is not None
    assert record.manifest.execution.lane_kind == "thread"


def test_an_interpreter_without_a_lock_has_lanes_on_threads() -> None:
    options = hw.SweepRunOptions(concurrency=2)
    record = hw.run_spec(entry_of(Meets), toy_spec(1), options=options, target=FreeTarget())
    assert record.report.counts.ok == 2
    outline = hw.plan_spec(entry_of(Meets), toy_spec(1), options=options, target=FreeTarget())
    assert outline.layout.kind == "thread"


@pytest.mark.parametrize("lanes", ["process", "in_caller"])
def test_an_option_switches_threads_off(lanes: str) -> None:
    options = hw.SweepRunOptions(concurrency=2, lanes=lanes)
    assert hw.plan_spec(releasing(Toy), toy_spec(1), options=options).layout.kind == lanes


def test_a_word_that_is_no_kind_of_lanes_is_refused() -> None:
    with pytest.raises(hw.UsageError, match="lanes is 'fork'; allowed: 'auto', 'in_caller', 'process', 'thread'"):
        hw.SweepRunOptions(lanes="fork")


class Slow(Toy):
    def before_step(self) -> None:
        time.sleep(0.001)


def test_a_pause_holds_threads_and_an_abort_ends_them() -> None:
    options = hw.SweepRunOptions(concurrency=2, lanes="thread")
    run = hw.SweepRun.start(entry_of(Slow), toy_spec(1, steps=1_000_000), options=options)
    until(lambda: len(run.progress().active_runs) == 2)
    run.pause()
    until(lambda: run.is_held)
    held = [active.tick for active in run.progress().active_runs]
    time.sleep(0.05)
    assert [active.tick for active in run.progress().active_runs] == held
    run.close()
    assert not any(thread.name == "henad-lane" for thread in threading.enumerate())
