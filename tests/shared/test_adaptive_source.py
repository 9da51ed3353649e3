"""The order of the runs of adaptive replicates: the same however late their outcomes come, with work for idle lanes."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace

import henad_web as hw
from henad_web.explore.outcomes import Series
from henad_web.explore.plan import Plan
from henad_web.explore.replication import Replication, round_ends
from henad_web.explore.shards import WHOLE
from henad_web.run.adaptive_source import CONFIGS_AT_ONCE, AdaptiveSource
from henad_web.run.requests import RunRequest
from tests.shared.adaptive_studies import CHANCE, HIT, SIZE, Chance, adaptive, chance_spec, naive_counts

LOOSE = adaptive(replace(HIT, half_width=0.15), replace(SIZE, relative=0.15))
SPEC = chance_spec(1, 100, 300, 500, 700, 900, 999, replicates=LOOSE)


def outcome_of(request: RunRequest) -> hw.RunOutcome:
    """Return what a run of `Chance` comes to, without running it."""
    state = Chance({"value": request.config.params[0]}, request.run.seed)
    failed = request.run.seed % 11 == 0
    return hw.RunOutcome(
        run=request.run,
        run_key=request.run_key,
        config=request.config,
        status=hw.RunStatus.PANICKED if failed else hw.RunStatus.OK,
        stop_reason=hw.StopReason.FAULT if failed else hw.StopReason.STEPS,
        ticks=2,
        population=8,
        build_ms=0.0,
        wall_ms=0.0,
        reducers={"Hit:final": state.hit, "Size:final": state.size},
        series=Series(np.zeros(0, np.int64), np.zeros((0, 2))),
    )


def source_of(plan: Plan, at_once: int, shard: hw.Shard = WHOLE) -> AdaptiveSource:
    rule = plan.spec.run.adaptive
    assert rule is not None
    return AdaptiveSource(plan, shard, Replication(rule, plan.config_count), at_once=at_once)


def handed_out(source: AdaptiveSource, lanes: int, choose: Callable[[int], int] = lambda count: 0) -> list[int]:
    """Return the runs that `source` hands out to `lanes` lanes, any of which may be done first; written in order."""
    given: list[int] = []
    under_way: list[RunRequest] = []
    arrived: dict[int, RunRequest] = {}
    written = 0
    while not source.is_done:
        while len(under_way) < lanes and (request := source.next()) is not None:
            given.append(request.run.run_id)
            under_way.append(request)
        assert under_way, "nothing is under way, and nothing comes"
        request = under_way.pop(choose(len(under_way)))
        arrived[request.run.run_id] = request
        while written < len(given) and given[written] in arrived:
            source.committed(outcome_of(arrived.pop(given[written])))
            written += 1
    assert source.next() is None
    assert not under_way
    return given


def plainly(spec: hw.SweepSpec, at_once: int) -> list[int]:
    """Return the order as it is described: a round of each of `at_once` configs in turn."""
    rule, counts = spec.run.adaptive, naive_counts(spec)
    assert rule is not None
    new, ring, runs = list(counts), list[tuple[int, list[int]]](), list[int]()
    while new or ring:
        if new and len(ring) < at_once:
            config_id, done = new.pop(0), 0
            ends = [end for end in round_ends(rule.min, rule.max) if end <= counts[config_id][0]]
        else:
            config_id, (done, *ends) = ring.pop(0)
            if not ends:
                continue
        runs += [config_id * rule.max + rep for rep in range(done, ends[0])]
        ring.append((config_id, ends))
    return runs


@pytest.mark.parametrize("at_once", [1, 2, 3, CONFIGS_AT_ONCE])
def test_the_order_is_the_one_described_at_any_number_of_lanes(at_once: int) -> None:
    plan, expected = SPEC.plan(CHANCE.schema()), plainly(SPEC, at_once)
    chance = random.Random(at_once)
    assert len({count for count, _ in naive_counts(SPEC).values()}) > 2, "a study in which every config is the same"
    for lanes in (1, 2, 3, 7, 50):
        assert handed_out(source_of(plan, at_once), lanes, chance.randrange) == expected
        assert handed_out(source_of(plan, at_once), lanes, lambda count: count - 1) == expected


def test_lanes_have_work_while_a_config_waits_for_its_round() -> None:
    source = source_of(SPEC.plan(CHANCE.schema()), at_once=3)
    first = [source.next() for _ in range(12)]
    assert [request.run.config_id for request in first if request] == [0] * 4 + [1] * 4 + [2] * 4
    assert source.next() is None, "the round of config 0 decides whether it or config 3 comes next"
    assert not source.is_done
    for request in first[:4]:
        assert request is not None
        source.committed(outcome_of(request))
    request = source.next()
    assert request is not None
    assert (request.run.config_id, request.run.rep) in ((0, 4), (3, 0))


def test_the_total_falls_to_the_runs_that_there_are() -> None:
    plan = SPEC.plan(CHANCE.schema())
    source = source_of(plan, at_once=2)
    assert source.total_runs == plan.run_count == 7 * 40
    runs = handed_out(source, 3)
    assert source.total_runs == len(runs) == sum(count for count, _ in naive_counts(SPEC).values())


@pytest.mark.parametrize("count", [1, 2, 3, 9])
def test_shards_hold_whole_configs_and_are_the_whole_together(count: int) -> None:
    plan = SPEC.plan(CHANCE.schema())
    together: list[int] = []
    for index in range(count):
        source = source_of(plan, 1000, hw.Shard(index, count))
        assert source.total_runs == hw.Shard(index, count).run_count(plan.run_count, together=40)
        runs = handed_out(source, 2)
        assert {run_id // 40 % count for run_id in runs} <= {index}
        assert all(hw.Shard(index, count).holds(run_id, together=40) for run_id in runs)
        together += runs
    assert sorted(together) == sorted(handed_out(source_of(plan, 1000), 2))


def test_a_study_of_one_config_waits_for_each_of_its_rounds() -> None:
    spec = chance_spec(500, replicates=adaptive(least=2, most=9))
    runs = handed_out(source_of(spec.plan(CHANCE.schema()), 1000), 4)
    assert runs == list(range(naive_counts(spec)[0][0]))
