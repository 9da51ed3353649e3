"""Laws of lanes, tracks and shards: how a machine is split and how a plan is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import henad_web as hw
from henad_web.errors import ConcurrencyError, ShardError
from henad_web.explore.shards import WHOLE, Shard
from henad_web.model.entry import Backend
from henad_web.run.layout import (
    Concurrency,
    ExecutionLayout,
    MachineResources,
    choose_layout,
    parse_concurrency,
)


@dataclass(frozen=True)
class Probe:
    """A probe that found what a test says."""

    parallel_jobs: int | None = None
    population: int = 0
    heap_bytes: int = 0
    demand_bytes: int = 0


EIGHT = MachineResources(workers=8)


def lanes(count: int, threads: int) -> ExecutionLayout:
    return ExecutionLayout(cpu_lanes=count, threads_per_lane=threads, gpu_tracks=0)


def tracks(count: int) -> ExecutionLayout:
    return ExecutionLayout(cpu_lanes=0, threads_per_lane=0, gpu_tracks=count)


def threaded(
    concurrency: Concurrency, probe: Probe, runs: int = 100, resources: MachineResources = EIGHT
) -> ExecutionLayout:
    """Return the layout of a model whose step uses several threads."""
    return choose_layout(concurrency, resources, Backend.CPU, probe, runs, inner_threads=True)


def plain(
    concurrency: Concurrency, probe: Probe, runs: int = 100, resources: MachineResources = EIGHT
) -> ExecutionLayout:
    """Return the layout of a model whose step uses one thread."""
    return choose_layout(concurrency, resources, Backend.CPU, probe, runs)


def test_a_small_model_gets_one_thread_a_lane() -> None:
    assert threaded("auto", Probe(3, 4096, 1 << 20)) == lanes(8, 1)


@pytest.mark.parametrize(("jobs", "expected"), [(9, lanes(2, 3)), (64, lanes(1, 8))])
def test_a_wide_model_gets_wide_lanes(jobs: int, expected: ExecutionLayout) -> None:
    assert threaded("auto", Probe(jobs)) == expected


def test_a_model_that_reports_no_jobs_is_sized_by_its_population() -> None:
    assert threaded("auto", Probe(None, 16 * 4096)) == lanes(2, 4)


@pytest.mark.parametrize(("runs", "expected"), [(3, lanes(3, 1)), (1, lanes(1, 8))])
def test_there_are_never_more_lanes_than_runs(runs: int, expected: ExecutionLayout) -> None:
    assert threaded("auto", Probe(1, 0, 1000), runs) == expected


def test_the_memory_budget_caps_lanes_but_never_below_one() -> None:
    probe = Probe(1, 0, 1000)
    layout = threaded("auto", probe, resources=MachineResources(workers=8, memory_budget=4500))
    assert layout == lanes(4, 1)
    assert layout.projected_bytes(probe) == 4000
    assert threaded("auto", probe, resources=MachineResources(workers=8, memory_budget=10)) == lanes(1, 8)


@pytest.mark.parametrize(
    ("count", "runs", "expected"),
    [(3, 100, lanes(3, 2)), (16, 100, lanes(16, 1)), (4, 2, lanes(2, 2)), (1, 100, lanes(1, 8))],
)
def test_a_fixed_count_splits_the_workers(count: int, runs: int, expected: ExecutionLayout) -> None:
    assert threaded(count, Probe(1), runs) == expected


def test_where_nothing_can_be_spawned_there_is_one_lane() -> None:
    single = MachineResources(workers=8, can_spawn=False)
    assert threaded(4, Probe(1), resources=single) == lanes(1, 8)
    assert plain(4, Probe(1), resources=single) == lanes(1, 1)


@pytest.mark.parametrize("jobs", [1, 9, 64, None])
def test_a_model_without_threads_of_its_own_gets_one_lane_a_worker(jobs: int | None) -> None:
    assert plain("auto", Probe(jobs, 1 << 24)) == lanes(8, 1)


def test_lanes_of_one_thread_are_capped_by_runs_and_memory_too() -> None:
    tight = MachineResources(workers=8, memory_budget=4500)
    assert plain("auto", Probe(None, 0, 1000), 3) == lanes(3, 1)
    assert plain("auto", Probe(None, 0, 1000), resources=tight) == lanes(4, 1)
    assert plain(16, Probe(None, 0, 1000)) == lanes(16, 1)
    assert plain("auto", Probe(), 1) == lanes(1, 1)


@pytest.mark.parametrize("budget", [0, 4500])
def test_runs_that_say_they_take_no_memory_are_bound_by_no_budget(budget: int) -> None:
    resources = MachineResources(workers=8, memory_budget=budget, gpu_memory_budget=budget)
    assert plain("auto", Probe(), resources=resources) == lanes(8, 1)
    assert choose_layout("auto", resources, Backend.GPU, Probe(), 100) == tracks(4)


@pytest.mark.parametrize(
    ("concurrency", "budget", "population", "runs", "expected"),
    [
        ("auto", 1 << 30, 64 * 64, 100, 4),
        ("auto", 2500, 64 * 64, 100, 2),
        ("auto", 500, 64 * 64, 100, 1),
        ("auto", 1 << 30, 64 * 64, 3, 3),
        ("auto", None, 64 * 64, 100, 4),
        ("auto", 1 << 30, (1 << 20) - 1, 100, 4),
        ("auto", 1 << 30, 1 << 20, 100, 1),
        (6, 2500, 1 << 20, 100, 6),
        (6, 2500, 64 * 64, 2, 2),
    ],
)
def test_tracks_follow_the_device_memory_and_the_population(
    concurrency: Concurrency, budget: int | None, population: int, runs: int, expected: int
) -> None:
    resources = MachineResources(workers=8, gpu_memory_budget=budget)
    probe = Probe(population=population, heap_bytes=7, demand_bytes=1000)
    layout = choose_layout(concurrency, resources, Backend.GPU, probe, runs)
    assert layout == tracks(expected)
    assert layout.projected_bytes(probe) == expected * 1000


@pytest.mark.parametrize(("value", "meant"), [("auto", "auto"), ("3", 3), (3, 3)])
def test_a_concurrency_is_auto_or_a_count(value: object, meant: Concurrency) -> None:
    assert parse_concurrency(value) == meant
    assert parse_concurrency(str(meant)) == meant


@pytest.mark.parametrize("value", ["0", 0, -1, "many", "", "1.5", 1.5, True, None, "²", " 3"])
def test_anything_else_is_refused_with_what_is_allowed(value: object) -> None:
    with pytest.raises(ConcurrencyError, match=r"allowed: auto, or a whole number from 1"):
        parse_concurrency(value)


def test_every_run_is_in_exactly_one_shard() -> None:
    shards = [Shard(index, 3) for index in range(3)]
    assert [[run for run in range(8) if shard.holds(run)] for shard in shards] == [
        [0, 3, 6],
        [1, 4, 7],
        [2, 5],
    ]
    assert [shard.run_count(8) for shard in shards] == [3, 3, 2]
    assert WHOLE.run_count(8) == 8
    assert Shard(5, 9).run_count(2) == 0


def test_a_shard_reads_its_own_text() -> None:
    assert str(Shard.parse("2/5")) == "2/5"
    assert Shard.parse("0/1") == WHOLE


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("4/4", "the index is not below 4"),
        ("0/0", "the count is 0"),
        ("1", "not of the form"),
        ("-1/2", "form"),
        (f"0/{2**64}", r"the count is beyond 2\^64 - 1"),
    ],
)
def test_a_shard_that_does_not_exist_is_refused(text: str, wrong: str) -> None:
    with pytest.raises(ShardError, match=wrong) as caught:
        Shard.parse(text)
    assert caught.value.came == text


@pytest.mark.parametrize("text", ["0/" + "9" * 5000, b"0/2", None, 3])
def test_what_is_no_text_of_a_shard_is_refused_in_words(text: Any) -> None:
    with pytest.raises(ShardError, match="not of the form INDEX/COUNT"):
        Shard.parse(text)


@pytest.mark.parametrize("number", ["1", 1.0, True, None, np.bool_(True)])
def test_a_shard_of_no_whole_numbers_is_refused_in_words(number: Any) -> None:
    with pytest.raises(ShardError, match="the index is no whole number"):
        Shard(number, 2)
    with pytest.raises(ShardError, match="the count is no whole number"):
        Shard(0, number)
    with pytest.raises(ShardError, match=r"about 2\^16609"):
        Shard(0, 10**5000)
    assert str(Shard(np.int64(1), np.uint8(2))) == "1/2"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [{"shard": "0/2"}, {"shard": 5}, {"reuse": 5}, {"reuse": b"x"}, {"wake": 5}, {"memory_budget": -(10**5000)}],
)
def test_an_option_of_another_type_is_refused_where_it_is_made(options: dict[str, Any]) -> None:
    with pytest.raises(hw.UsageError, match=rf"{next(iter(options))} is .*; allowed: "):
        hw.SweepRunOptions(**options)
