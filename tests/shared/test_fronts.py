"""The non-dominated sort and the crowding distance, against what the paper says of them, point by point."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from henad_web.search.fronts import Costs, crowding_distances, first_front, fronts_of, ranked
from henad_web.search.searcher import drained

LARGEST = 1.7976931348623157e308
NUMBERS = st.sampled_from([0.0, -0.0, 1.0, 1.5, 2.0, -3.0, math.inf]) | st.floats(allow_nan=False)


@st.composite
def costs(draw: st.DrawFn) -> Costs:
    points, objectives = draw(st.integers(0, 14)), draw(st.integers(2, 4))
    rows = draw(st.lists(st.lists(NUMBERS, min_size=objectives, max_size=objectives), min_size=points, max_size=points))
    return np.array(rows, np.float64).reshape(points, objectives)


def dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def peeled(points: list[list[float]]) -> list[int]:
    """Return the front of each point: those that none of what is left dominates, again and again."""
    fronts, left, number = [0] * len(points), set(range(len(points))), 0
    while left:
        front = {each for each in left if not any(dominates(points[other], points[each]) for other in left)}
        for each in front:
            fronts[each] = number
        left, number = left - front, number + 1
    return fronts


def distance(points: list[list[float]], front: list[int], point: int) -> float:
    """Return the crowding distance of `point` among the members of its `front`."""
    total = 0.0
    for objective in range(len(points[0])):
        line = sorted((points[each][objective], each) for each in front if math.isfinite(points[each][objective]))
        if (points[point][objective], point) not in line:
            continue
        place = line.index((points[point][objective], point))
        extent = line[-1][0] / 2 - line[0][0] / 2
        if extent > 0:
            inside = 0 < place < len(line) - 1
            total += (line[place + 1][0] / 2 - line[place - 1][0] / 2) / extent if inside else math.inf
    return total


@settings(max_examples=80, deadline=None)
@given(costs())
def test_fronts_are_those_that_peeling_finds(points: Costs) -> None:
    expected = peeled(points.tolist())
    assert drained(fronts_of(points)).tolist() == expected
    assert drained(first_front(points)).tolist() == [place for place, front in enumerate(expected) if front == 0]


@settings(max_examples=80, deadline=None)
@given(costs())
def test_distances_are_those_between_the_neighbours_in_a_front(points: Costs) -> None:
    rows, fronts = points.tolist(), drained(fronts_of(points))
    distances = drained(crowding_distances(points, fronts)).tolist()
    for place, front in enumerate(fronts.tolist()):
        members = [each for each, other in enumerate(fronts.tolist()) if other == front]
        assert distances[place] == distance(rows, members, place)


@settings(max_examples=50, deadline=None)
@given(costs())
def test_a_ranking_is_by_front_then_the_least_crowded_then_as_they_came(points: Costs) -> None:
    ranking = drained(ranked(points))
    keys = [(ranking.fronts[each], -ranking.distances[each], each) for each in ranking.order.tolist()]
    assert keys == sorted(keys)
    assert sorted(ranking.order.tolist()) == list(range(len(points)))


def test_equal_points_share_a_front_and_of_equal_ends_one_is_the_end() -> None:
    points = np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0], [2.0, 1.0], [1.5, 1.5], [3.0, 3.0]])
    ranking = drained(ranked(points))
    assert ranking.fronts.tolist() == [0, 0, 0, 0, 0, 1]
    assert ranking.distances.tolist() == [math.inf, math.inf, math.inf, math.inf, 2.0, 0.0]


def test_the_range_of_numbers_as_large_as_there_are_is_no_infinity() -> None:
    points = np.array([[-LARGEST, LARGEST], [0.0, 0.0], [LARGEST, -LARGEST]])
    assert drained(crowding_distances(points, np.zeros(3, np.intp))).tolist() == [math.inf, 2.0, math.inf]


def test_a_point_that_is_nowhere_finite_is_behind_all_others_and_ends_nothing() -> None:
    points = np.array([[math.inf, math.inf], [1.0, math.inf], [2.0, 0.0], [3.0, 1.0]])
    ranking = drained(ranked(points))
    assert ranking.fronts.tolist() == [2, 0, 0, 1]
    assert ranking.distances.tolist() == [0.0, math.inf, math.inf, 0.0]


@pytest.mark.parametrize("objectives", [2, 3, 8])
def test_a_large_population_is_sorted_in_many_pieces(objectives: int) -> None:
    points = np.random.default_rng(5).random((2000, objectives))
    pairs = 2000 * 1999 / 2 * (objectives - 1)
    assert sum(1 for _ in fronts_of(points)) >= pairs / 2**17
