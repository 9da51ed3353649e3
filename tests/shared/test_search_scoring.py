"""Scores: how replicates become one number, and who is the better one."""

from __future__ import annotations

import math
import statistics
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from henad_web.explore.search_spec import Aggregate, Goal, ObjectiveSpec
from henad_web.search.log import SearchLog
from henad_web.search.scoring import aggregated, is_better, median, objective_of, rank_of
from henad_web.search.searcher import Candidate, Origin
from henad_web.search.space import SearchSpace
from tests.shared.search_studies import MAXIMIZE, PLANE

LARGEST = sys.float_info.max
MINIMIZE = ObjectiveSpec(column="value", goal=Goal.MINIMIZE)
MEAN = ObjectiveSpec(column="value", goal=Goal.MAXIMIZE, aggregate=Aggregate.MEAN)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_a_median_is_the_middle_or_the_midpoint(values: list[float]) -> None:
    assert median(values) == statistics.median(values)


@pytest.mark.parametrize(
    ("pair", "midpoint"),
    [
        ((LARGEST, LARGEST), LARGEST),
        ((-LARGEST, LARGEST), 0.0),
        ((5e-324, 1.5e-323), 1e-323),
        ((0.0, LARGEST), LARGEST / 2),
        ((5e-324, LARGEST), LARGEST / 2),
        ((-math.inf, 3.0), -math.inf),
    ],
)
def test_a_midpoint_neither_overflows_nor_vanishes(pair: tuple[float, float], midpoint: float) -> None:
    assert median(pair) == median(pair[::-1]) == midpoint


def test_a_mean_is_a_sum_in_order_over_the_count() -> None:
    assert aggregated([1e16, 1.0, -1e16, 1.0], Aggregate.MEAN) == 0.25, "no compensated sum"
    assert aggregated([3.0, 1.0, 2.0, 10.0], Aggregate.MEDIAN) == 2.5


@pytest.mark.parametrize("missing", [None, math.nan, math.inf, -math.inf])
def test_a_replicate_without_a_finite_value_counts_as_the_worst(missing: float | None) -> None:
    assert objective_of([1.0, missing, 3.0], MAXIMIZE) == 1.0
    assert objective_of([1.0, missing, 3.0], MINIMIZE) == 3.0
    assert objective_of([missing], MAXIMIZE) == -math.inf
    assert objective_of([missing], MINIMIZE) == math.inf
    assert objective_of([1.0, missing], MEAN) == -math.inf


def test_no_number_ranks_with_the_worst_and_is_neither_better_nor_worse() -> None:
    overflow = objective_of([LARGEST, LARGEST, None], MEAN)
    assert math.isnan(overflow)
    assert rank_of(overflow, Goal.MAXIMIZE) == rank_of(-math.inf, Goal.MAXIMIZE) == math.inf
    assert rank_of(overflow, Goal.MINIMIZE) == rank_of(math.inf, Goal.MINIMIZE) == math.inf
    assert not any(
        is_better(first, second, goal) for goal in Goal for first, second in [(1.0, math.nan), (math.nan, 1.0)]
    )


def log_of(*objectives: float | None, objective: ObjectiveSpec = MAXIMIZE) -> SearchLog:
    log = SearchLog(SearchSpace(PLANE), objective)
    for number, value in enumerate(objectives):
        candidate = Candidate(candidate_id=number, genome=(number / 100, 0.0), origin=Origin.RANDOM)
        log.record(candidate, number, [(value,)])
    return log


def test_the_better_objective_leads_and_of_equals_the_lower_id() -> None:
    values = [1.0, None, 2.0, -0.0, 2.0, 0.0]
    assert [entry.candidate_id for entry in log_of(*values).ranking()] == [2, 4, 0, 3, 5, 1]
    assert [entry.candidate_id for entry in log_of(*values, objective=MINIMIZE).ranking()] == [3, 5, 0, 2, 4, 1]


def test_the_best_is_the_first_of_the_ranking_also_after_a_leader_fell() -> None:
    log = log_of(3.0, 5.0, 4.0)
    best = log.best()
    assert best is not None
    assert best.candidate_id == 1
    again = Candidate(candidate_id=3, genome=(0.01, 0.0), origin=Origin.REEVALUATION, reevaluated_id=1)
    log.record(again, 3, [(None,)])
    best = log.best()
    assert best is not None
    assert (best.candidate_id, best.objective) == (2, 4.0)
    fallen = log.ranking()[-1]
    assert (fallen.candidate_id, fallen.objective, fallen.failed_count) == (1, -math.inf, 1)
    assert (fallen.replicate_count, fallen.evaluations, fallen.first_batch) == (2, 2, 1)


def test_a_candidate_evaluated_again_is_the_first_of_no_config() -> None:
    log = log_of(1.0)
    again = Candidate(candidate_id=1, genome=(0.5, 0.5), origin=Origin.REEVALUATION, reevaluated_id=0)
    log.record(again, 1, [(1.0,)])
    assert log.known(log.space.key((0.5, 0.5))) is None
    assert log.known(log.space.key((0.0, 0.0))) == 0
    assert log.repeated(0).replicate_offset == 2


def test_nothing_leads_before_the_first_tell() -> None:
    assert log_of().best() is None
    assert log_of().ranking() == ()
