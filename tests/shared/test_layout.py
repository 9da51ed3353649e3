"""Laws of lanes, tracks and shards: how a machine is split and how a plan is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import henad_web as hw
from henad_web.errors import ConcurrencyError, ShardError
from henad_web.explore.shards import WHOLE, Shard
from henad_web.model.entry import Backend
from henad_web.model.grid import row_jobs
from henad_web.run.layout import (
    Concurrency,
    ExecutionLayout,
    LaneKind,
    MachineResources,
    choose_layout,
    is_work_decisive,
    layout_text,
    parse_concurrency,
    replicates_that_fit,
)


@dataclass(frozen=True)
class Probe:
    """A probe that found what a test says."""

    parallel_jobs: int | None = None
    population: int = 0
    heap_bytes: int = 0
    demand_bytes: int = 0
    run_s: float | None = None
    batch_rows: int = 1


EIGHT = MachineResources(workers=8)


def lanes(count: int, threads: int) -> ExecutionLayout:
    kind = LaneKind.IN_CALLER if count == 1 else LaneKind.PROCESS
    return ExecutionLayout(cpu_lanes=count, threads_per_lane=threads, gpu_tracks=0, kind=kind)


def tracks(count: int) -> ExecutionLayout:
    return ExecutionLayout(cpu_lanes=0, threads_per_lane=0, gpu_tracks=count)


def threaded(
    concurrency: Concurrency, probe: Probe, runs: int = 100, resources: MachineResources = EIGHT
) -> ExecutionLayout:
    """Return the layout of a model whose step uses several threads."""
    return choose_layout(concurrency, resources, Backend.CPU, probe, runs, inner_threads=True)


def plain(
    concurrency: Concurrency, probe: Probe, runs: int = 100, resources: MachineResources = EIGHT, **asked: Any
) -> ExecutionLayout:
    """Return the layout of a model whose step uses one thread."""
    return choose_layout(concurrency, resources, Backend.CPU, probe, runs, **asked)


@pytest.mark.parametrize(
    ("width", "height", "jobs"),
    [
        (1024, 1024, 128),
        (128, 128, 2),
        (100, 100, 2),
        (64, 64, 1),
        (90, 92, 1),
        (90, 93, 2),
        (8192, 5, 5),
        (8193, 5, 5),
        (8191, 5, 3),
        (1, 8192, 1),
        (1, 8193, 2),
        (1, 1, 1),
    ],
)
def test_a_grid_splits_into_jobs_of_whole_rows_about_8192_cells_each(width: int, height: int, jobs: int) -> None:
    assert row_jobs(width, height) == jobs


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


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ({}, LaneKind.PROCESS),
        ({"releases_lock": True}, LaneKind.THREAD),
        ({"kind": LaneKind.PROCESS, "releases_lock": True}, LaneKind.PROCESS),
        ({"kind": LaneKind.THREAD}, LaneKind.THREAD),
    ],
)
@pytest.mark.parametrize("concurrency", ["auto", 3])
def test_lanes_are_processes_unless_threads_step_at_once_or_are_asked_for(
    asked: dict[str, Any], kind: LaneKind, concurrency: Concurrency
) -> None:
    assert plain(concurrency, Probe(), **asked).kind is kind


@pytest.mark.parametrize("concurrency", ["auto", 3])
def test_without_an_interpreter_lock_lanes_are_threads(concurrency: Concurrency) -> None:
    free = MachineResources(workers=8, steps_threads_at_once=True)
    assert plain(concurrency, Probe(), resources=free).kind is LaneKind.THREAD
    assert plain(concurrency, Probe(), resources=free, kind=LaneKind.PROCESS).kind is LaneKind.PROCESS


def test_one_lane_is_in_the_caller_unless_another_kind_is_asked_for() -> None:
    asked: list[tuple[Concurrency, int]] = [("auto", 1), (1, 100)]
    for concurrency, runs in asked:
        assert plain(concurrency, Probe(), runs, releases_lock=True).kind is LaneKind.IN_CALLER
        assert plain(concurrency, Probe(), runs, kind=LaneKind.PROCESS) == ExecutionLayout(
            cpu_lanes=1, threads_per_lane=1, kind=LaneKind.PROCESS
        )
    assert plain(8, Probe(), kind=LaneKind.IN_CALLER) == lanes(1, 1)


@pytest.mark.parametrize(
    ("runs", "run_s", "count"),
    [(10, 0.01, 1), (10, 0.0999, 1), (10, 0.1, 2), (100, 0.0149, 2), (100, 0.015, 3), (512, 0.04, 8), (3, 9.0, 3)],
)
def test_automatic_processes_have_half_a_second_of_work_each(runs: int, run_s: float, count: int) -> None:
    assert plain("auto", Probe(run_s=run_s), runs) == lanes(count, 1)
    assert plain(8, Probe(run_s=run_s), runs) == lanes(min(8, runs), 1), "a count that is given is kept"


def test_threads_cost_nothing_to_start() -> None:
    assert plain("auto", Probe(run_s=0.0), releases_lock=True).cpu_lanes == 8


@pytest.mark.parametrize(
    ("free", "budget", "count"),
    [(3 * (1000 + (64 << 20)), None, 3), (10, None, 1), (10, 5000, 5), (None, None, 8), (1 << 40, 2000, 2)],
)
def test_automatic_lanes_fit_the_free_memory_where_no_budget_is_given(
    free: int | None, budget: int | None, count: int
) -> None:
    resources = MachineResources(workers=8, free_memory=free, memory_budget=budget)
    assert plain("auto", Probe(heap_bytes=1000), resources=resources) == lanes(count, 1)
    asked = 8 if budget is None else count
    assert plain(8, Probe(heap_bytes=1000), resources=resources) == lanes(asked, 1), "a count that is given is kept"


def test_threads_share_the_interpreter_that_a_process_brings() -> None:
    resources = MachineResources(workers=8, free_memory=4500)
    assert plain("auto", Probe(heap_bytes=1000), resources=resources, releases_lock=True).cpu_lanes == 4


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        (plain("auto", Probe(run_s=0.04), 512, MachineResources(workers=2)),
         "2 process lanes: 512 runs of about 40 ms each on 2 cores"),
        (plain("auto", Probe(run_s=0.003), 10), "one lane in the caller: the whole work is about 30 ms"),
        (plain("auto", Probe(run_s=0.015)), "3 process lanes: 100 runs of about 15 ms each, no work for more"),
        (plain("auto", Probe(), 1), "one lane in the caller: 1 run on 8 cores"),
        (plain("auto", Probe(), 100, MachineResources(workers=1)), "one lane in the caller: 100 runs on 1 core"),
        (plain("auto", Probe(), 3, releases_lock=True), "3 thread lanes: 3 runs on 8 cores"),
        (plain("auto", Probe(heap_bytes=1 << 30), resources=MachineResources(workers=8, free_memory=3 << 30)),
         "2 process lanes: runs of 1.0 GiB each, 3.0 GiB free"),
        (plain("auto", Probe(heap_bytes=1000), resources=MachineResources(workers=8, memory_budget=4500)),
         "4 process lanes: runs of 1000 bytes each, in 4.4 KiB"),
        (plain(3, Probe(heap_bytes=1000), resources=MachineResources(workers=8, memory_budget=10)),
         "one lane in the caller: runs of 1000 bytes each, in 10 bytes; 3 were asked for"),
        (plain(3, Probe()), "3 process lanes: as asked"),
        (plain(1, Probe()), "one lane in the caller: as asked"),
        (plain(16, Probe(), 2), "2 process lanes: there are 2 runs; 16 were asked for"),
        (plain(4, Probe(), 1), "one lane in the caller: there is 1 run; 4 were asked for"),
        (plain(4, Probe(), resources=MachineResources(workers=8, can_spawn=False)),
         "one lane in the caller: no other can be started here; 4 were asked for"),
        (plain(4, Probe(), resources=MachineResources(workers=8, no_processes="it is frozen")),
         "one lane in the caller: no process can be started, as it is frozen; 4 were asked for"),
        (plain("auto", Probe(), kind=LaneKind.PROCESS, resources=MachineResources(workers=8, no_processes="it is old")),
         "one lane in the caller: no process can be started, as it is old"),
        (plain(4, Probe(), releases_lock=True, resources=MachineResources(workers=8, no_processes="it is frozen")),
         "4 thread lanes: as asked"),
        (plain("auto", Probe(), resources=MachineResources(workers=8, can_spawn=False)),
         "one lane in the caller: no other can be started here"),
        (plain(4, Probe(), kind=LaneKind.IN_CALLER), "one lane in the caller: as asked; 4 were asked for"),
        (plain("auto", Probe(), 1, kind=LaneKind.PROCESS), "1 process lane: 1 run on 8 cores"),
        (threaded("auto", Probe(9)), "2 process lanes of 3 threads each: 100 runs on 8 cores, 3 for a step"),
        (threaded("auto", Probe(64)), "one lane of 8 threads in the caller: 100 runs on 8 cores, 8 for a step"),
        (replace(plain(2, Probe()), batch_rows=8), "2 process lanes, up to 8 replicates together: as asked"),
        (tracks(4), "4 GPU runs at a time"),
        (lanes(1, 1), "one lane in the caller"),
    ],
)  # fmt: skip
def test_a_layout_says_what_it_is_and_why(layout: ExecutionLayout, text: str) -> None:
    assert layout_text(layout) == text


@pytest.mark.parametrize(
    ("concurrency", "runs", "resources", "kind", "is_decisive"),
    [
        ("auto", 2, MachineResources(workers=2), None, True),
        ("auto", 1, MachineResources(workers=2), None, False),
        ("auto", 2, MachineResources(workers=1), None, False),
        ("auto", 2, MachineResources(workers=2, can_spawn=False), None, False),
        ("auto", 2, MachineResources(workers=2, no_processes="it is frozen"), None, False),
        (2, 2, MachineResources(workers=2), None, False),
        ("auto", 2, MachineResources(workers=2), LaneKind.PROCESS, False),
    ],
)
def test_a_run_is_timed_only_where_its_time_decides(
    concurrency: Concurrency, runs: int, resources: MachineResources, kind: LaneKind | None, is_decisive: bool
) -> None:
    assert is_work_decisive(concurrency, resources, runs, kind) is is_decisive


@pytest.mark.parametrize(
    ("memory", "lane_count", "at_most", "fitting"),
    [(6400, 1, 64, 6), (6400, 2, 64, 3), (6400, 2, 2, 2), (999, 1, 64, 1), (0, 4, 64, 1), (None, 4, 64, 64)],
)
def test_the_replicates_of_all_lanes_share_one_budget(
    memory: int | None, lane_count: int, at_most: int, fitting: int
) -> None:
    assert replicates_that_fit(memory, 1000, lane_count, at_most) == fitting
    assert replicates_that_fit(memory, 0, lane_count, at_most) == at_most, "no size, no bound"


@given(
    concurrency=st.one_of(st.just("auto"), st.integers(1, 64)),
    workers=st.integers(1, 64),
    budget=st.none() | st.integers(0, 10_000),
    free=st.none() | st.integers(0, 1 << 30),
    probe=st.builds(
        Probe,
        parallel_jobs=st.none() | st.integers(0, 600),
        population=st.integers(0, 1 << 22),
        heap_bytes=st.integers(0, 2000),
        run_s=st.none() | st.floats(0.0, 10.0),
    ),
    runs=st.integers(0, 1000),
    inner_threads=st.booleans(),
    releases_lock=st.booleans(),
)
def test_whatever_is_asked_of_whatever_machine_the_lanes_fit_it(
    concurrency: Concurrency,
    workers: int,
    budget: int | None,
    free: int | None,
    probe: Probe,
    runs: int,
    inner_threads: bool,
    releases_lock: bool,
) -> None:
    resources = MachineResources(workers=workers, memory_budget=budget, free_memory=free)
    layout = choose_layout(
        concurrency, resources, Backend.CPU, probe, runs, inner_threads=inner_threads, releases_lock=releases_lock
    )
    count = layout.cpu_lanes
    assert 1 <= count <= max(1, runs)
    assert count == 1 or budget is None or layout.projected_bytes(probe) <= budget
    assert (layout.kind is LaneKind.IN_CALLER) == (count == 1)
    assert layout.why
    if concurrency == "auto":
        assert count * layout.threads_per_lane <= workers
        assert count == 1 or free is None or budget is not None or layout.projected_bytes(probe) <= free
    else:
        assert count <= concurrency


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
        ("4/4", "the index is not 0 to 3"),
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
    with pytest.raises(ShardError, match="the index is not 0 to 1"):
        Shard(-1, 2)
    assert str(Shard(np.int64(1), np.uint8(2))) == "1/2"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [
        {"shard": "0/2"},
        {"shard": 5},
        {"reuse": 5},
        {"reuse": b"x"},
        {"wake": 5},
        {"memory_budget": -(10**5000)},
        {"executor": 5},
        {"executor": MachineResources},
        {"lanes": "executor"},
    ],
)
def test_an_option_of_another_type_is_refused_where_it_is_made(options: dict[str, Any]) -> None:
    with pytest.raises(hw.UsageError, match=rf"{next(iter(options))} is .*; allowed: "):
        hw.SweepRunOptions(**options)


class Submits:
    """As far as options can see, an executor."""

    def submit(self, fn: object, /, *args: object) -> object:
        raise AssertionError("nothing is submitted")


def test_lanes_are_not_chosen_beside_an_executor() -> None:
    assert hw.SweepRunOptions(executor=Submits()).lane_kind is LaneKind.EXECUTOR
    for lanes in ("process", "thread", "in_caller"):
        with pytest.raises(hw.UsageError, match=f"lanes is '{lanes}' beside an executor, .*; leave one of them out"):
            hw.SweepRunOptions(executor=Submits(), lanes=lanes)


def test_lanes_over_an_executor_are_its_workers_or_as_many_as_are_asked_for() -> None:
    machine = MachineResources(workers=3, workers_text="3 workers of an executor", steps_threads_at_once=True)

    def over(concurrency: Concurrency, runs: int = 20, **asked: Any) -> ExecutionLayout:
        return plain(concurrency, Probe(run_s=0.001), runs, resources=machine, kind=LaneKind.EXECUTOR, **asked)

    expected = ExecutionLayout(cpu_lanes=3, threads_per_lane=1, kind=LaneKind.EXECUTOR)
    assert over("auto") == over("auto", inner_threads=True) == over(3) == expected
    assert layout_text(over("auto")) == "3 executor lanes: 20 runs of about 1 ms each on 3 workers of an executor"
    assert over(12).cpu_lanes == 12
    assert over(12, inner_threads=True).threads_per_lane == 1
    assert layout_text(over("auto", 1)) == "1 executor lane: 1 run of about 1 ms each on 3 workers of an executor"
