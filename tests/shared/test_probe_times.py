"""What a probe guesses of the time of a run, and the lanes and batches that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import henad_web as hw
from henad_web.explore.measure import MeasurePlan
from henad_web.explore.spec import DesignKind
from henad_web.model.params import ParamValue
from henad_web.run.layout import MachineResources, layout_text
from henad_web.run.outline import make_outline, make_probe
from henad_web.run.probe import Probe, ProbeReport
from henad_web.sweep import Surroundings
from henad_web.targets import PumpedTarget
from tests.shared.hosts import Host, ManualClock
from tests.shared.toy_models import Toy, ToyRows, entry_of, toy_spec

built: list[int] = []


class Timed(Toy):
    """Takes 50 ms to build, `value` milliseconds to step and 2 ms to sample, on a clock that a test hands it."""

    clock = ManualClock()
    heap_bytes = 0

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        built.append(self.value)
        self.clock.advance(0.05)

    def before_step(self) -> None:
        stepped_ticks.append(self.tick)
        self.clock.advance(self.value / 1000.0)

    def stats(self) -> dict[str, float]:
        self.clock.advance(0.002)
        return super().stats()


stepped_ticks: list[int] = []


def timed_probe_of(
    *values: int,
    steps: int,
    every: int = 10,
    model: type[Timed] | hw.ModelEntry = Timed,
    options: hw.SweepRunOptions | None = None,
    resources: MachineResources | None = None,
    timeout_s: float | None = None,
    pending: int | None = None,
    **run: Any,
) -> Probe:
    """Return the probe of a sweep over `values` on eight workers, or on `resources`."""
    built.clear()
    stepped_ticks.clear()
    entry = model if isinstance(model, hw.ModelEntry) else entry_of(model)
    spec = hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(**{"steps": steps, "replicates": 2, "timeout_s": timeout_s} | run),
        measure=hw.MeasureSettings(stats_every=every),
        blocks=toy_spec(*values).blocks,
    )
    plan, given = spec.plan(entry.schema()), options or hw.SweepRunOptions()
    machine = resources or MachineResources(workers=8)
    count = plan.run_count if pending is None else pending
    return make_probe(entry, plan, given, machine, Timed.clock, pending=count, takes_interrupts=False)


def timed_probe(*values: int, steps: int, **given: Any) -> ProbeReport:
    """Return what that probe tells in the end."""
    return timed_probe_of(*values, steps=steps, **given).run_to_end()


def outline_of(
    entry: hw.ModelEntry, plan: hw.Plan, options: hw.SweepRunOptions, machine: MachineResources
) -> hw.SweepOutline:
    """Return the outline of a sweep of all runs of `plan`."""
    pending = plan.run_count
    probe = make_probe(entry, plan, options, machine, Timed.clock, pending=pending, takes_interrupts=False)
    report = probe.run_to_end()
    return make_outline(entry, plan, report, MeasurePlan.bind(plan, report.columns), options, machine, pending=pending)


def test_the_time_of_a_run_is_guessed_from_its_build_and_some_steps_with_their_samples() -> None:
    report = timed_probe(1, steps=1000)
    assert stepped_ticks == list(range(60)), "60 ms are stepped, and on to the end of a stride with its sample"
    assert report.run_s == pytest.approx(0.05 + (0.060 + 6 * 0.002) * 1000 / 60)
    assert report.values == (0.0,), "what it tells was sampled before"


def test_a_run_is_timed_a_slice_a_call_which_a_hurried_probe_leaves_out() -> None:
    probe = timed_probe_of(1, steps=1000)
    ticks = []
    while probe.advance() is None:
        ticks.append(len(stepped_ticks))
    assert ticks == [0, 20, 40, 60]
    probe = timed_probe_of(1, 3, steps=1000)
    assert probe.advance() is None
    report = probe.advance(hurry=True)
    assert report is not None
    assert report.run_s is None
    assert (built, stepped_ticks) == ([1], [])


def test_a_timed_run_is_not_stepped_past_its_end() -> None:
    assert timed_probe(1, steps=3).run_s == pytest.approx(0.05 + 0.003)
    assert stepped_ticks == [0, 1, 2]
    assert timed_probe(1, steps=0).run_s == pytest.approx(0.05)


class Compiles(Timed):
    """Takes 1 s for its first step and 2 ms for each of the others."""

    first_s = 1.0

    def before_step(self) -> None:
        stepped_ticks.append(self.tick)
        self.clock.advance(0.002 if self.tick else self.first_s)


def test_a_first_step_that_compiles_is_no_measure_of_the_others() -> None:
    assert timed_probe(1, steps=101, every=1000, model=Compiles).run_s == pytest.approx(0.05 + 1.0 + 100 * 0.002)
    assert stepped_ticks == list(range(16)), "a slice more"


def test_one_step_of_two_seconds_is_time_enough() -> None:
    class Heavy(Compiles):
        first_s = 2.0

    assert timed_probe(1, steps=5, model=Heavy).run_s == pytest.approx(0.05 + 5 * 2.0)
    assert stepped_ticks == [0]


class HeldUp(Timed):
    """Takes 1 ms a step, but for the one from tick 15, at which another program holds it up."""

    def before_step(self) -> None:
        stepped_ticks.append(self.tick)
        self.clock.advance(0.5 if self.tick == 15 else 0.001)


def test_a_hold_up_among_the_later_steps_weighs_as_among_all() -> None:
    report = timed_probe(1, steps=1000, every=1, model=HeldUp)
    ticks, elapsed = len(stepped_ticks), 0.5 + (len(stepped_ticks) - 1) * 0.001 + len(stepped_ticks) * 0.002
    assert report.run_s == pytest.approx(0.05 + elapsed / ticks * 1000)


def test_the_time_of_a_run_is_the_mean_of_those_of_the_first_and_the_last_config() -> None:
    assert timed_probe(1, 500, 3, steps=2).run_s == pytest.approx(0.05 + (0.002 + 0.006) / 2)
    assert built == [1, 3]


def test_a_step_that_fails_is_timed_to_its_fault_where_every_config_fails() -> None:
    class Fails(Timed):
        def before_step(self) -> None:
            super().before_step()
            assert self.value != 3

    assert timed_probe(3, steps=2, model=Fails).run_s == pytest.approx(0.053)
    assert timed_probe(1, 3, steps=2, model=Fails).run_s == pytest.approx(0.052)


class Quick(Timed):
    """Takes 1 ms to build, `value` milliseconds to step and 2 ms to sample."""

    build_s = 0.001

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        Toy.__init__(self, params, seed)
        self.clock.advance(self.build_s)


class QuickRows(ToyRows):
    """Takes 2 ms a step of all and 3 ms to sample them."""

    def step(self, n: int = 1) -> None:
        for toy in self.toys:
            toy.tick += n
        Timed.clock.advance(0.002 * n)

    def stats(self) -> dict[str, NDArray[np.float64]]:
        Timed.clock.advance(0.003)
        return {"Ticks": np.array([float(toy.tick) for toy in self.toys])}


def quick(
    model: type[Quick] = Quick, rows: Callable[[Sequence[Toy]], ToyRows] = QuickRows, worth: int = 10
) -> hw.ModelEntry:
    def build(params: Mapping[str, ParamValue], seeds: Sequence[int]) -> ToyRows:
        return rows([model(params, seed) for seed in seeds])

    return replace(entry_of(model), batches=hw.BatchOffer(build=build, rows=lambda params: worth))


ALONE_S = 0.001 + 0.1
"""Seconds of a run of 100 ticks alone, whose one sample is behind what is timed."""


def together_s(rows: int) -> float:
    """Return its share in a batch."""
    return (rows * 0.001 + 0.2) / rows


class Fails(QuickRows):
    def step(self, n: int = 1) -> None:
        raise MemoryError


class FailsAtBuild(QuickRows):
    def __init__(self, toys: Sequence[Toy]) -> None:
        raise MemoryError


@pytest.mark.parametrize(
    ("model", "given", "run_s"),
    [
        (quick(), {}, together_s(10)),
        (quick(worth=4), {}, together_s(4)),
        (quick(), {"replicates": 3}, together_s(3)),
        (quick(), {"pending": 7}, together_s(7)),
        (quick(), {"options": hw.SweepRunOptions(shard=hw.Shard(0, 20))}, together_s(5)),
        (quick(), {"options": hw.SweepRunOptions(memory_budget=6)}, together_s(6)),
        (quick(), {"resources": MachineResources(workers=8, free_memory=2)}, together_s(2)),
        (quick(), {"options": hw.SweepRunOptions(batches=False)}, ALONE_S),
        (quick(rows=Fails), {}, ALONE_S),
        (quick(rows=FailsAtBuild), {}, ALONE_S),
    ],
)
def test_a_run_that_will_be_stepped_with_others_is_timed_with_them(
    model: hw.ModelEntry, given: dict[str, Any], run_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Quick, "heap_bytes", 1)
    report = timed_probe(1, steps=100, every=100, model=model, **{"replicates": 100} | given)
    assert report.run_s == pytest.approx(run_s)


def test_no_more_are_built_together_to_be_timed_than_fit_the_time() -> None:
    class Slower(Quick):
        build_s = 0.019

    report = timed_probe(1, steps=100, every=100, model=quick(Slower), replicates=100)
    assert report.run_s == pytest.approx((3 * 0.019 + 0.2) / 3)
    Slower.build_s = 0.061
    report = timed_probe(1, steps=100, every=100, model=quick(Slower), replicates=100)
    assert report.run_s == pytest.approx(0.061 + 0.1)


def test_the_order_breadth_parts_replicates_unless_there_is_one_config() -> None:
    def timed(*values: int) -> float | None:
        given = {"replicates": 100, "order": "breadth"}
        return timed_probe(*values, steps=100, every=100, model=quick(), **given).run_s

    assert timed(1) == pytest.approx(together_s(10))
    assert timed(1, 1) == pytest.approx(ALONE_S)


@pytest.mark.parametrize(
    ("sides", "run", "asked", "text"),
    [
        ((16,), {}, {}, "one lane in the caller, up to 64 replicates together: as asked"),
        ((128,), {}, {}, "one lane in the caller, up to 8 replicates together: as asked"),
        ((16, 128), {}, {}, "one lane in the caller, up to 64 replicates together: as asked"),
        ((128, 16), {}, {}, "one lane in the caller, up to 64 replicates together: as asked"),
        ((1024,), {}, {}, "one lane in the caller: as asked"),
        ((16,), {}, {"shard": hw.Shard(1, 10)}, "one lane in the caller, up to 10 replicates together: as asked"),
        ((16, 17), {"order": "breadth"}, {},
         "one lane in the caller: as asked; no replicates together in the order breadth"),
        ((16, 17), {"order": "breadth"}, {"batches": False}, "one lane in the caller: as asked"),
        ((16, 17), {"order": "breadth", "replicates": 1}, {}, "one lane in the caller: as asked"),
        ((16,), {"order": "breadth"}, {}, "one lane in the caller, up to 64 replicates together: as asked"),
    ],
)  # fmt: skip
def test_a_plan_says_how_many_replicates_are_stepped_together(
    sides: tuple[int, ...], run: dict[str, Any], asked: dict[str, Any], text: str
) -> None:
    entry = hw.example_models()["sir"]
    factors = [hw.FactorSpec(param=id, levels=hw.ValueLevels(values=sides)) for id in ("grid_width", "grid_height")]
    block = hw.BlockSpec(design=DesignKind.ZIP, factors=tuple(factors))
    settings = hw.RunSettings(**{"steps": 1, "replicates": 100} | run)
    options = hw.SweepRunOptions(concurrency=1, **asked)
    plan = hw.SweepSpec(model="sir", run=settings, blocks=(block,)).plan(entry.schema())
    outline = outline_of(entry, plan, options, MachineResources(workers=1))
    assert layout_text(outline.layout) == text
    largest = {"grid_width": max(sides), "grid_height": max(sides)}
    rows = min(outline.layout.batch_rows, entry.batch_rows(largest))
    assert outline.projected_bytes == rows * entry.build(largest).heap_bytes


@pytest.mark.parametrize("sizes", [{"heap_bytes": -1}, {"heap_bytes": None}, {"parallel_jobs": "many"}])
@pytest.mark.parametrize("wrong_value", [1, 3])
def test_runs_whose_sizes_are_no_counts_fail_in_a_batch_as_they_do_alone(
    stepped: Host, sizes: dict[str, Any], wrong_value: int
) -> None:
    class Unsized(Quick):
        def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
            super().__init__(params, seed)
            if self.value == wrong_value:
                vars(self).update(sizes)

    values = toy_spec(1, 3, 1)  # of which only the first and the last are probed
    spec = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=10, replicates=4), blocks=values.blocks)
    together, alone = (
        hw.masked(stepped.files(quick(Unsized, worth=2), spec, batches=batches)) for batches in (True, False)
    )
    assert together == alone
    assert together["runs.csv"].count(b"shape_error") == 4 * (2 if wrong_value == 1 else 1)


def test_nothing_more_is_timed_behind_a_step_of_two_seconds() -> None:
    class Heavy(Compiles):
        first_s = 2.0

    report = timed_probe(1, 3, steps=5, model=Heavy)
    assert (built, stepped_ticks) == ([1, 3], [0])
    assert report.run_s == pytest.approx(0.05 + 5 * 2.0)
    Heavy.first_s = 1.9
    timed_probe(1, 3, steps=5, model=Heavy)
    assert stepped_ticks.count(0) == 2


@pytest.mark.parametrize(
    "given",
    [
        {"options": hw.SweepRunOptions(concurrency=2)},
        {"resources": MachineResources(workers=1)},
        {"resources": MachineResources(workers=8, can_spawn=False)},
        {"timeout_s": 10.0},
        {"pending": 1},
        {"options": hw.SweepRunOptions(lanes="process")},
    ],
    ids=lambda given: next(iter(given)),
)
def test_no_step_is_taken_where_no_lane_is_chosen_by_it_or_it_might_never_return(given: dict[str, Any]) -> None:
    assert timed_probe(1, 3, steps=2, **given).run_s is None
    assert stepped_ticks == []
    assert timed_probe(1, 3, steps=2).run_s is not None


def test_the_time_of_a_run_chooses_the_lanes() -> None:
    texts = []
    for value in (1, 1000):
        entry = entry_of(Timed)
        plan = hw.SweepSpec(
            model="toy", run=hw.RunSettings(steps=20, replicates=4), blocks=toy_spec(value).blocks
        ).plan(entry.schema())
        texts.append(layout_text(outline_of(entry, plan, hw.SweepRunOptions(), MachineResources(workers=2)).layout))
    assert texts == [
        "one lane in the caller: the whole work is about 440 ms",
        "2 process lanes: 4 runs of about 20 s each on 2 cores",
    ]


class Wide(PumpedTarget):
    """A page that believes it has eight cores."""

    def surroundings(self) -> Surroundings:
        return replace(super().surroundings(), resources=MachineResources(workers=8))


def test_a_sweep_times_its_runs_and_no_byte_depends_on_it(clock: ManualClock) -> None:
    host = Host(Wide(clock, clock))
    spec = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=5), blocks=toy_spec(1, 3).blocks)
    stepped_ticks.clear()
    timed = host.record(host.start(entry_of(Timed), spec))
    assert len(stepped_ticks) == 4 * 5, "two configs timed and two runs"
    fixed = host.record(host.start(entry_of(Timed), spec, concurrency=1))
    assert len(stepped_ticks) == 6 * 5
    assert timed.files is not None
    assert fixed.files is not None
    assert hw.masked(timed.files) == hw.masked(fixed.files)
    assert timed.manifest is not None
    assert timed.manifest.execution.why == "the whole work is under 1 ms"


@pytest.mark.parametrize(
    ("free", "asked", "rows"),
    [
        (None, {}, 10),
        (7, {}, 7),
        (7, {"memory_budget": 4}, 4),
        (0, {}, 1),
        (7, {"concurrency": 2}, 3),
        (3, {"batches": False}, 1),
    ],
)
def test_the_replicates_of_a_batch_fit_the_budget_or_else_what_is_free(
    free: int | None, asked: dict[str, Any], rows: int
) -> None:
    entry = hw.example_models()["sir"]
    small = (("grid_width", 16), ("grid_height", 16))
    plan = hw.SweepSpec(model="sir", fixed=small, run=hw.RunSettings(steps=1, replicates=10)).plan(entry.schema())
    heap = entry.build(dict(small)).heap_bytes
    if "memory_budget" in asked:
        asked = {"memory_budget": asked["memory_budget"] * heap}
    options = hw.SweepRunOptions(**asked)
    machine = MachineResources(workers=1, free_memory=None if free is None else free * heap)
    assert outline_of(entry, plan, options, machine).layout.batch_rows == rows
