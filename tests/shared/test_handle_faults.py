"""What a host or a model does wrong around a sweep: it is told, and the sweep goes on to its one last event."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from numpy.typing import NDArray

import henad_web as hw
from tests.shared.hosts import Host
from tests.shared.toy_models import Toy, entry_of


def toy_spec(steps: int = 10, replicates: int = 3) -> hw.SweepSpec:
    return hw.SweepSpec(model="toy", run=hw.RunSettings(steps=steps, replicates=replicates))


def names_of(events: list[hw.SweepEvent]) -> list[str]:
    return [type(event).__name__ for event in events]


@pytest.mark.parametrize("error", [ValueError("enough"), SystemExit("enough")])
def test_a_wake_callback_that_raises_is_dropped_with_one_warning(host: Host, error: BaseException) -> None:
    def wake() -> None:
        raise error

    events = host.drain(host.start(entry_of(Toy), toy_spec(), wake=wake))
    assert names_of(events) == ["Planned", "Warned", "RunFinished", "RunFinished", "RunFinished", "Finished"]
    assert isinstance(events[1], hw.Warned)
    told = f"the wake callback raised and is called no more: {type(error).__name__}: enough"
    assert str(events[1].warning) == told


@pytest.mark.parametrize("error", [ValueError, SystemExit, GeneratorExit])
def test_nothing_follows_the_last_event_when_its_wake_callback_raises(
    stepped: Host, error: type[BaseException]
) -> None:
    handles: list[hw.SweepRun] = []

    def wake() -> None:
        if handles[0].progress().phase is hw.SweepPhase.ENDED:
            raise error

    handles.append(stepped.start(entry_of(Toy), toy_spec(), wake=wake))
    events: list[hw.SweepEvent] = []
    try:
        events += stepped.drain(handles[0])
    except GeneratorExit:  # what no program may swallow is raised on
        events += iter(handles[0].try_recv, None)
    assert names_of(events)[-1:] == ["Finished"]
    handles[0].update(0.1)
    assert handles[0].try_recv() is None
    assert handles[0].progress().phase is hw.SweepPhase.ENDED


def test_a_wake_callback_that_holds_its_handle_keeps_nothing_once_the_sweep_is_over(host: Host) -> None:
    def swept() -> weakref.ref[hw.SweepRun]:
        handles: list[hw.SweepRun] = []

        def wake() -> None:
            for handle in handles:
                handle.progress()

        options = hw.SweepRunOptions(wake=wake)
        handles.append(hw.SweepRun.start(entry_of(Toy), toy_spec(), options=options, target=host.target))
        host.drain(handles[0])
        handles[0].close()
        return weakref.ref(handles[0])

    handle = swept()
    gc.collect()
    assert handle() is None


class Hidden(Toy):
    """Fails whenever it is looked at."""

    @property
    def grid(self) -> NDArray[np.uint8] | None:
        raise ValueError("nothing to see")


def test_a_model_that_cannot_be_drawn_runs_to_its_end(host: Host) -> None:
    run = host.start(entry_of(Hidden), toy_spec(steps=1_000_000_000))
    views: list[hw.RunView] = []

    def seen() -> bool:
        view = run.view()
        views.extend([] if view is None else [view])
        return bool(views)

    host.until(run, seen)
    assert (views[0].run_id, views[0].grid) == (0, None)
    run.abort()
    assert host.record(run).report.end is hw.SweepEnd.ABORTED


def test_a_bare_path_is_no_output(host: Host) -> None:
    with pytest.raises(hw.UsageError, match=r"output is 'results'; allowed: .*; use DirectoryOutput\('results'\)"):
        host.start(entry_of(Toy), toy_spec(), "results")  # type: ignore[arg-type]
    with pytest.raises(hw.UsageError, match="output is 3; allowed"):
        hw.plan_spec(entry_of(Toy), toy_spec(), output=3, target=host.target)  # type: ignore[arg-type]
    with pytest.raises(hw.UsageError, match="the path of DirectoryOutput is None"):
        hw.DirectoryOutput(None)  # type: ignore[arg-type]
