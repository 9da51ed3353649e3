"""Fixtures of the shared suite.

A test of the handle takes `host` and never names a target: `stepped` lends frames that the test injects, `current` is
the target of the process the test runs in.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import henad_web as hw
from henad_web.explore.plan import ConfigSequence
from henad_web.targets import PumpedTarget, current
from tests.shared.hosts import Host, ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["stepped", "current"])
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    host = Host(PumpedTarget() if request.param == "stepped" else current())
    yield host
    host.close()


@pytest.fixture
def stepped(clock: ManualClock) -> Iterator[Host]:
    """A host whose frames and clock the test moves by hand."""
    host = Host(PumpedTarget(clock=clock, wall_clock=lambda: 1.75e9))
    yield host
    host.close()


@pytest.fixture
def models() -> hw.ModelSet:
    return hw.example_models()


@pytest.fixture
def small_sir() -> hw.SweepSpec:
    """Three configs of a small epidemic with an outbreak whose tick varies too; 30 steps, 2 replicates."""
    return hw.SweepSpec(
        model="sir",
        fixed=(("grid_width", 16), ("grid_height", 16)),
        run=hw.RunSettings(steps=30, replicates=2),
        measure=hw.MeasureSettings(stats_every=3, series_every=6),
        seeds=hw.SeedSettings(root=8),
        actions=(hw.ActionSpec(id="seed_outbreak", tick=12),),
        blocks=(
            hw.BlockSpec(
                design=hw.DesignKind.ZIP,
                factors=(
                    hw.FactorSpec(param="infection_rate", levels=hw.ValueLevels(values=(0.2, 0.4, 0.6))),
                    hw.FactorSpec(action="seed_outbreak", levels=hw.ValueLevels(values=(6, 12, 18))),
                ),
            ),
        ),
    )


@pytest.fixture
def endless() -> hw.SweepSpec:
    """Two runs of Life that no test waits for the end of."""
    return hw.SweepSpec(
        model="game_of_life",
        fixed=(("grid_width", 16), ("grid_height", 16)),
        run=hw.RunSettings(steps=1_000_000_000, replicates=2),
        measure=hw.MeasureSettings(stats_every=1000, series_every=0),
    )


@pytest.fixture
def made_configs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids of the configs that plans make from now on, one for each time."""
    made: list[int] = []
    make = ConfigSequence.__getitem__

    def counted(configs: ConfigSequence, at: int) -> object:
        made.append(at)
        return make(configs, at)

    monkeypatch.setattr(ConfigSequence, "__getitem__", counted)
    return made
