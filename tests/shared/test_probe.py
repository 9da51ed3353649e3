"""The probe: one build a call, until a config builds; the last config for its size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

import henad_web as hw
from henad_web.explore.measure import MeasurePlan
from henad_web.model.params import ParamValue
from henad_web.run.layout import MachineResources, layout_text
from henad_web.run.outline import make_outline, make_probe
from henad_web.run.probe import Probe, ProbeReport
from henad_web.sweep import Surroundings
from henad_web.targets import PumpedTarget
from tests.shared.hosts import Host, ManualClock
from tests.shared.toy_models import DividesAtBuild, Toy, entry_of, toy_spec

built: list[int] = []


class Sized(DividesAtBuild):
    """Notes each build; its size is its value."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        built.append(int(params["value"]))
        super().__init__(params, seed)
        self.heap_bytes = self.value


def probe_of(*values: int, model: type[Toy] = Sized) -> Probe:
    built.clear()
    entry = entry_of(model)
    factor = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=values))
    spec = hw.SweepSpec(model="toy", blocks=(hw.BlockSpec(factors=(factor,)),))
    return Probe(entry, spec.plan(entry.schema()))


def test_it_builds_one_config_a_call_and_skips_those_that_fail() -> None:
    probe = probe_of(0, 0, 5, 7, 9)
    for count in (1, 2, 3, 4):
        assert probe.advance() is None
        assert len(built) == count
    report = probe.advance()
    assert report is not None
    assert built == [0, 0, 5, 9], "the last config tells its size"
    assert report.config.params == (5,)
    assert (report.heap_bytes, report.population, report.columns) == (9, 8, ("Ticks",))


def test_a_fault_of_the_last_config_is_a_run_s_affair() -> None:
    report = probe_of(5, 7, 0).run_to_end()
    assert report.heap_bytes == 5


def test_one_config_is_built_once() -> None:
    probe_of(5).run_to_end()
    assert built == [5]


def test_equal_configs_are_built_once() -> None:
    probe_of(5, 5).run_to_end()
    assert built == [5]


def test_eight_configs_that_fail_end_the_sweep_and_the_first_are_told() -> None:
    with pytest.raises(hw.ProbeError) as caught:
        probe_of(*[0] * 9, 3).run_to_end()
    assert len(built) == 8
    assert [config_id for config_id, _ in caught.value.faults] == list(range(8))
    text = str(caught.value)
    assert "config 2: while building the model, ZeroDivisionError at toy_models.py:" in text
    assert "config 3" not in text
    assert text.endswith("; and 5 more; put a config that builds first, or filter with `where`")


def test_a_hurried_probe_settles_for_the_first_config_that_builds() -> None:
    probe = probe_of(5, 7)
    assert probe.advance(hurry=True) is None
    assert probe.advance(hurry=True) is not None
    assert built == [5]


def test_an_interrupt_during_a_build_is_the_user_s_and_no_fault_of_the_model() -> None:
    class Interrupted(Toy):
        def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        probe_of(1, model=Interrupted).run_to_end()


def test_a_statistic_may_have_columns_of_its_own() -> None:
    class Vector(Toy):
        def stats(self) -> dict[str, float]:
            return {"Ticks.x": 1.0, "Ticks.total": 2.0}

    report = probe_of(1, model=Vector).run_to_end()
    assert (report.columns, report.values) == (("Ticks.x", "Ticks.total"), (1.0, 2.0))


def test_an_aborted_sweep_builds_no_config_for_its_size(stepped: Host) -> None:
    built.clear()
    factor = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=(5, 7)))
    run = stepped.start(entry_of(Sized), hw.SweepSpec(model="toy", blocks=(hw.BlockSpec(factors=(factor,)),)))
    run.update(0.0, budget_s=0.0)
    assert built == [5]
    run.abort()
    assert stepped.record(run).report.end is hw.SweepEnd.ABORTED
    assert built == [5]


@pytest.mark.parametrize(("values", "heap_bytes"), [((5, 7, 9), 9), ((9, 7, 5), 9), ((0, 5, 9), 9), ((0, 9, 5), 9)])
def test_a_run_is_as_large_as_the_larger_of_the_first_and_the_last_config(
    values: tuple[int, ...], heap_bytes: int
) -> None:
    assert probe_of(*values).run_to_end().heap_bytes == heap_bytes


def test_a_model_whose_sizes_are_no_counts_has_none_and_its_runs_tell() -> None:
    class Unsized(Toy):
        @property
        def population(self) -> int:  # type: ignore[override]
            return -1

    report = probe_of(5, model=Unsized).run_to_end()
    assert (report.heap_bytes, report.population, report.parallel_jobs, report.is_sound) == (0, 0, None, False)


def test_of_two_configs_the_one_that_takes_more_of_host_and_device_together_tells_the_size() -> None:
    first = probe_of(10).run_to_end()
    for demand_bytes, is_larger in ((4, False), (5, True)):
        other = replace(first, heap_bytes=6, population=3, parallel_jobs=2, demand_bytes=demand_bytes)
        assert first.sized_for(other) == (other if is_larger else first)


def test_statistics_that_fail_are_a_failed_build() -> None:
    class Mute(Toy):
        def stats(self) -> dict[str, float]:
            raise OSError("no statistics")

    with pytest.raises(hw.ProbeError, match="no statistics"):
        probe_of(1, model=Mute).run_to_end()


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
    model: type[Timed] = Timed,
    options: hw.SweepRunOptions | None = None,
    resources: MachineResources | None = None,
    timeout_s: float | None = None,
    pending: int | None = None,
) -> Probe:
    """Return the probe of a sweep over `values` on eight workers, or on `resources`."""
    built.clear()
    stepped_ticks.clear()
    entry = entry_of(model)
    spec = hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(steps=steps, replicates=2, timeout_s=timeout_s),
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
        options, machine = hw.SweepRunOptions(), MachineResources(workers=2)
        report = make_probe(entry, plan, options, machine, Timed.clock, pending=4, takes_interrupts=False).run_to_end()
        measure = MeasurePlan.bind(plan, report.columns)
        outline = make_outline(entry, plan, report, measure, options, machine, pending=4)
        texts.append(layout_text(outline.layout))
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
    plan = hw.SweepSpec(model="sir", run=hw.RunSettings(steps=1, replicates=10)).plan(entry.schema())
    heap = entry.build().heap_bytes
    if "memory_budget" in asked:
        asked = {"memory_budget": asked["memory_budget"] * heap}
    options = hw.SweepRunOptions(**asked)
    machine = MachineResources(workers=1, free_memory=None if free is None else free * heap)
    report = make_probe(entry, plan, options, machine, Timed.clock, pending=10, takes_interrupts=True).run_to_end()
    measure = MeasurePlan.bind(plan, report.columns)
    outline = make_outline(entry, plan, report, measure, options, machine, pending=10)
    assert outline.layout.batch_rows == rows
