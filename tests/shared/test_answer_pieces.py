"""Answers come in bounded pieces, however many runs there are: counted in numbers, not in seconds."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import henad_web as hw
from henad_web.analysis import ordered as ordered_module
from henad_web.analysis.grouping import grouped
from henad_web.analysis.ordered import OrderedGroups, distinct, order_of, ordered, ordered_groups
from henad_web.analysis.pieces import PIECE_ROWS, Analysis, Pieces, piecewise, stretches
from henad_web.analysis.selection import Factor, held_rows
from henad_web.analysis.tables import Axis
from henad_web.explore.intervals import RunningStatistics
from tests.shared.written_studies import KINDS, Run, give_series, tiled, written_study

RUNS = 100_000
MOST_FOLDED = 1 << 11
Question = Callable[[hw.ResultSet], Generator[None, None, object]]

QUESTIONS: dict[str, Question] = {
    "response": lambda of: of.response.pieces("level:max", "rate", by="size"),
    "parts": lambda of: of.response.pieces("level:max", "rate", bins=20),
    "medians": lambda of: of.response.pieces("level:max", "size", center="median"),
    "heatmap": lambda of: of.heatmap.pieces("level:max", "rate", "size", bins=10, center="median"),
    "summary": lambda of: of.summarize.pieces("level:max", by=()),
    "comparison": lambda of: of.compare.pieces("level:max", {"size": 0}, {"size": 1}),
    "bands": lambda of: of.bands.pieces("level", by="size"),
    "bands of medians": lambda of: of.bands.pieces("level", center="median"),
    "tick": lambda of: of.response.pieces("level", "size", at=7),
    "regression": lambda of: of.sensitivity.pieces("level:max"),
    "scenario": lambda of: of.prim.pieces("level:max > 700"),
    "scenario of a mean": lambda of: of.prim.pieces("level:max", threshold=700, factors=["rate", "kind"]),
    "scenario of a tick": lambda of: of.prim.pieces("level", at=2, threshold=700, factors="rate"),
}


def whole(pieces: Pieces[Any]) -> Any:
    return piecewise(lambda: pieces)()


@pytest.fixture(scope="module")
def many() -> hw.ResultSet:
    """A hundred thousand runs of a sampled design, two samples each."""
    numbers = np.arange(RUNS)
    values = {"rate": numbers * 7919 % RUNS / RUNS, "size": numbers % 2, "level:max": numbers * 104_729 % 1009 / 1.0}
    values |= {"config_id": numbers * 7919 % RUNS, "kind": np.array(KINDS)[numbers * 31 % 97 % 3]}
    results = tiled(written_study([Run(config=0)]), RUNS, values)
    give_series(results, np.array([2, 7]), np.stack([values["level:max"], values["rate"]], axis=1))
    return results


def test_quantiles_of_many_groups_are_made_a_stretch_at_a_time() -> None:
    groups = OrderedGroups(np.arange(2.0 * PIECE_ROWS), np.full(2 * PIECE_ROWS, 1))
    assert len(list(groups.quantile(0.5))) == 2
    assert whole(groups.quantile(0.5)).tolist() == groups.values.tolist()


@pytest.mark.parametrize("levels", [1, 5000])
def test_what_is_held_is_looked_up_in_one_pass_of_stretches_however_many_levels(
    many: hw.ResultSet, levels: int
) -> None:
    held = many.runs["rate"][:levels].tolist()
    assert len(list(held_rows(many, {"rate": held}))) == len(list(stretches(RUNS, PIECE_ROWS // 4)))
    assert many.response("level:max", "size", held={"rate": held}).n.sum() == levels


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_piece_sorts_or_adds_up_more_than_it_may(
    many: hw.ResultSet, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = {"sorted": 0, "folded": 0}

    def counting(sort: Callable[..., Any]) -> Callable[..., Any]:
        def counted(values: Any, *args: Any, **kwargs: Any) -> Any:
            taken["sorted"] += np.size(values)
            return sort(values, *args, **kwargs)

        return counted

    def push(fold: RunningStatistics, number: float) -> None:
        taken["folded"] += 1
        plain_push(fold, number)

    plain_push = RunningStatistics.push
    monkeypatch.setattr(RunningStatistics, "push", push)
    for sort in ("sort", "argsort", "lexsort", "unique"):
        monkeypatch.setattr(np, sort, counting(getattr(np, sort)))
    many.runs.places(many.runs["run_id"][:1])  # the order of the runs is looked up once
    analysis, most = Analysis(QUESTIONS[name](many)), dict.fromkeys(taken, 0)
    is_answered = False
    while not is_answered:
        taken.update(dict.fromkeys(taken, 0))
        is_answered = analysis.advance()
        most = {kind: max(count, most[kind]) for kind, count in taken.items()}
    assert most["sorted"] <= PIECE_ROWS
    assert most["folded"] <= MOST_FOLDED
    assert len(analysis.answer) > 0  # type: ignore[arg-type]


@given(st.lists(st.integers(-20, 20)), st.integers(1, 9))
def test_what_is_sorted_in_stretches_is_sorted(numbers: list[int], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        cut_into(patch, size)
        assert whole(ordered(np.array(numbers, np.int64))).tolist() == sorted(numbers)
        assert whole(order_of(np.array(numbers, np.int64))).tolist() == np.argsort(numbers, kind="stable").tolist()
        assert whole(distinct(np.array(numbers, np.int64))).tolist() == sorted(set(numbers))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9))), st.integers(1, 9))
def test_numbers_are_laid_out_by_group_and_sorted(rows: list[tuple[int, int]], size: int) -> None:
    codes = np.array([code for code, _ in rows], np.int64)
    values = np.array([float(value) for _, value in rows])
    counts = np.bincount(codes.astype(np.intp), minlength=5).astype(np.int64)
    pieces = [(codes[at : at + 4], values[at : at + 4]) for at in range(0, len(rows), 4)]
    with pytest.MonkeyPatch.context() as patch:
        cut_into(patch, size)
        found = whole(ordered_groups(pieces, counts))
    for group in range(5):
        mine = values[codes == group]
        assert found.values_of(group).tolist() == sorted(mine)
        for share in (0.0, 0.3, 0.5, 1.0):
            expected = np.quantile(mine, share) if len(mine) else np.nan
            np.testing.assert_array_equal(whole(found.quantile(share))[group], expected)


def cut_into(patch: pytest.MonkeyPatch, size: int) -> None:
    """Make pieces of `size` numbers."""
    plain = stretches
    patch.setattr(ordered_module, "PIECE_ROWS", size)
    patch.setattr(ordered_module, "stretches", lambda count, _=0: plain(count, size))


@given(st.lists(st.integers(0, 400), max_size=60), st.integers(1, 300))
def test_no_bundle_of_groups_is_more_than_a_piece_and_each_group_is_in_one(counts: list[int], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordered_module, "PIECE_ROWS", size)
        bundles = list(ordered_module._bundles(np.array(counts, np.int64)))
    small = [group for group, count in enumerate(counts) if count <= size]
    assert all((end - first) * max(1, *counts[first:end], 1) <= size for first, end in bundles)
    assert [group for first, end in bundles for group in range(first, end)] == small


@given(st.lists(st.tuples(*[st.sampled_from([0.5, 0.1, 3.0])] * 3), min_size=1))
def test_groups_are_the_combinations_in_order(rows: list[tuple[float, ...]]) -> None:
    names = ("first", "second", "third")
    factors = [
        Factor(axis=Axis(name=name, label=name), values=np.array([row[at] for row in rows]))
        for at, name in enumerate(names)
    ]
    found = whole(grouped(factors, len(rows)))
    combinations = list(zip(*(found.levels[name].tolist() for name in names), strict=True))
    assert combinations == sorted(set(rows))
    assert [combinations[code] for code in found.codes.tolist()] == rows


def test_many_factors_of_many_levels_are_told_apart() -> None:
    numbers = np.arange(3000)
    factors = [
        Factor(axis=Axis(name=f"f{at}", label=""), values=numbers * prime % 3001 / 1.0)
        for at, prime in enumerate((1, 7, 11, 13, 17, 19, 23))
    ]
    assert whole(grouped(factors, 3000)).count == 3000
