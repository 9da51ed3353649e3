"""What a handle refuses to start or do, and how a sweep ends that fails outside every run."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import henad_web as hw
from henad_web.explore.warnings import ActionAfterEnd, LongSeries
from henad_web.model.entry import Backend
from tests.shared.hosts import Host
from tests.shared.toy_models import Logs, Toy, entry_of, toy_spec


def test_a_spec_of_another_model_is_refused(host: Host, models: hw.ModelSet, small_sir: hw.SweepSpec) -> None:
    with pytest.raises(hw.ModelMismatchError, match="spec is for model 'sir', expected 'game_of_life'") as caught:
        host.start(models["game_of_life"], small_sir)
    assert (caught.value.spec_model, caught.value.entry_model) == ("sir", "game_of_life")


def test_a_spec_that_cannot_be_planned_is_refused(host: Host, models: hw.ModelSet) -> None:
    factor = hw.FactorSpec(param="infection_rat", levels=hw.ValueLevels(values=(0.1,)))
    spec = hw.SweepSpec(model="sir", blocks=(hw.BlockSpec(factors=(factor,)),))
    with pytest.raises(hw.PlanError, match="infection_rate"):
        host.start(models["sir"], spec)


TOY = entry_of(Toy)
FOLDER = hw.DirectoryOutput("results")
ELSEWHERE = "run it with native Python"
IN_MEMORY = "use MemoryOutput() and take the record's files"
IN_PIECES = "use SweepRun.start and update, or `async for` its events"


class Submits:
    """As far as options can see, an executor."""

    def submit(self, fn: Callable[..., bytes], /, *args: object) -> object:
        raise AssertionError("nothing is submitted")


@pytest.mark.parametrize(
    ("what", "instead", "call"),
    [
        ("a GPU sweep", ELSEWHERE, lambda host: host.start(entry_of(Toy, backend=Backend.GPU), toy_spec(1))),
        ("shard 0/2 of a sweep", ELSEWHERE, lambda host: host.start(TOY, toy_spec(1), shard=hw.Shard(0, 2))),
        ("an executor", ELSEWHERE, lambda host: host.start(TOY, toy_spec(1), executor=Submits())),
        ("the reuse of a folder", ELSEWHERE, lambda host: host.start(TOY, toy_spec(1), reuse="old")),
        ("writing to a directory", IN_MEMORY, lambda host: host.start(TOY, toy_spec(1), FOLDER)),
        (
            "writing to a directory",
            IN_MEMORY,
            lambda host: hw.plan_spec(TOY, toy_spec(1), output=FOLDER, target=host.target),
        ),
        (
            "a directory of results",
            ELSEWHERE,
            lambda host: hw.plan_spec(TOY, toy_spec(1), output=FOLDER, resume=True, target=host.target),
        ),
        (
            "going on with a directory",
            ELSEWHERE,
            lambda host: hw.SweepRun.resume_directory(TOY, "results", target=host.target),
        ),
        ("a merge of directories", ELSEWHERE, lambda host: hw.merge(["0", "1"], "whole", target=host.target)),
        ("a blocking run", IN_PIECES, lambda host: hw.run_spec(TOY, toy_spec(1), target=host.target)),
        ("a blocking run", IN_PIECES, lambda host: hw.resume_sweep(TOY, "results", target=host.target)),
        (
            "a blocking verification",
            "use Verification(results) and its advance",
            lambda host: hw.verify("results", target=host.target),
        ),
    ],
)
def test_a_page_refuses_what_needs_a_native_build(
    stepped: Host, what: str, instead: str, call: Callable[[Host], object]
) -> None:
    with pytest.raises(hw.NeedsNativeError) as caught:
        call(stepped)
    assert str(caught.value) == f"{what} needs a native build; {instead}"
    assert caught.value.what == what


def test_a_sweep_whose_configs_all_fail_to_build_ends_with_the_reasons(host: Host) -> None:
    class Broken(Toy):
        def __init__(self, params: Any, seed: int | None) -> None:
            raise LookupError("no such world")

    run = host.start(entry_of(Broken), toy_spec(1, 2))
    events = host.drain(run)
    assert len(events) == 1
    assert isinstance(events[0], hw.Failed)
    assert "no such world" in events[0].message
    assert (run.progress().phase, run.progress().end) == (hw.SweepPhase.FAILED, None)


def test_an_error_outside_every_run_ends_the_sweep_with_failed(host: Host) -> None:
    class Widening(Toy):
        """Offers a statistic that the spec's stop condition names, but not at tick 0 of the probe."""

        def stats(self) -> dict[str, float]:
            return {"Other": 1.0}

    stop = hw.StopSpec(column="Ticks.magnitude", comparison=">", threshold=1.0)
    spec = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=2, stop=stop))
    events = host.drain(host.start(entry_of(Widening), spec))
    assert isinstance(events[-1], hw.Failed)
    assert "Ticks.magnitude" in events[-1].message


def test_warnings_come_after_the_outline(host: Host) -> None:
    actions = (hw.ActionSpec(id="mark", tick=90),)
    spec = toy_spec(1, 2, actions=actions)
    entry = entry_of(Logs, stats=("Ticks", "Marks"), actions=("mark",))
    events = host.drain(host.start(entry, spec))
    assert isinstance(events[0], hw.Planned)
    assert isinstance(events[1], hw.Warned)
    warning = events[1].warning
    assert isinstance(warning, ActionAfterEnd)
    assert (warning.name, warning.latest_tick, warning.last_tick, warning.config_count) == ("mark", 90, 10, 2)


@pytest.mark.parametrize(("replicates", "steps", "warned"), [(3, 349_524, False), (2, 524_287, True)])
def test_a_series_that_fills_a_spreadsheet_s_1048575_rows_is_not_told_a_longer_one_is(
    host: Host, replicates: int, steps: int, warned: bool
) -> None:
    spec = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=steps, replicates=replicates))
    outline = hw.plan_spec(entry_of(Toy), spec, target=host.target)
    assert outline.series_rows == 1_048_575 + warned
    assert [type(warning) for warning in outline.warnings] == [LongSeries] * warned


@pytest.mark.parametrize("dt", [-0.1, math.nan, math.inf, "1", None, 1j, pytest.param(10**400, id="huge")])
def test_a_frame_time_out_of_range_is_refused(host: Host, dt: Any) -> None:
    run = host.start(entry_of(Toy), toy_spec(1))
    with pytest.raises(hw.UsageError, match=r"dt is .*; allowed: a finite number of seconds, not negative"):
        run.update(dt)
