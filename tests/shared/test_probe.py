"""The probe: one build a call, until a config builds; the last config for its size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

import henad_web as hw
from henad_web.model.params import ParamValue
from henad_web.run.probe import Probe
from tests.shared.hosts import Host
from tests.shared.toy_models import DividesAtBuild, Toy, entry_of

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
    assert "config 0 and 7 more: while building the model, ZeroDivisionError at toy_models.py:" in text
    assert text.count("ZeroDivisionError") == 1
    assert text.endswith(" by zero; put a config that builds first, or filter with `where`")


def test_a_fault_of_several_configs_is_told_once() -> None:
    text = str(hw.ProbeError([(0, "no a"), (1, "no b"), (2, "no a"), (3, "no c"), (4, "no d"), (5, "no e")]))
    told = "config 0 and 1 more: no a; config 1: no b; config 3: no c; config 4: no d; config 5: no e; put"
    assert text.startswith(f"none of the 6 configs tried could be built: {told}")


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
