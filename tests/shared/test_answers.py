"""Laws of questions about runs: what counts, how groups are told apart, what is said, what is refused."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import henad_web as hw
from henad_web.analysis import Comparison, LeftOut, response
from henad_web.analysis.curves import column_names
from henad_web.analysis.resamples import Resampling
from henad_web.analysis.tables import AnalysisTable
from tests.shared.reference_folder import reference_files
from tests.shared.written_studies import Run, tiled, written_study

NOTHING = math.nan


@pytest.fixture
def results() -> hw.ResultSet:
    """Two rates, wild and not: values 1, 2, 3, 4, 10, 20, 30, 40, and runs that do not count."""
    study = [
        Run(config=config, params={"rate": rate, "wild": wild}, value=value, samples=[(2, value), (7, value + 1)])
        for config, (rate, wild, values) in enumerate(
            [(0.1, False, (1, 2)), (0.1, True, (3, 4)), (0.9, False, (10, 20)), (0.9, True, (30, 40))]
        )
        for value in map(float, values)
    ]
    study += [
        Run(config=4, params={"rate": 0.3}, value=99.0, status="panicked", ticks=9),
        Run(config=5, params={"rate": 0.1}, value=NOTHING),
        Run(config=6, params={"rate": 0.9, "wild": True}, value=50.0, status="non_finite"),
    ]
    return written_study(study, planned=12)


def test_a_response_has_the_means_of_the_runs_at_each_level() -> None:
    curve = hw.ResultSet.from_files(reference_files()).response("Infected:final", "infection_rate")
    assert curve.x.tolist() == [0.2, 0.4]
    assert curve.mean.tolist() == [145.5, 120.0]
    assert curve.n.tolist() == [2, 2]
    assert curve.high[0] == pytest.approx(145.5 + 12.706204736 * 10.5)
    assert str(curve.x_axis) == "Infection Rate"
    assert curve.title == "mean of Infected:final against Infection Rate"


def test_factors_that_are_not_named_are_averaged_over_and_those_of_by_make_a_curve_each(results: hw.ResultSet) -> None:
    assert results.response("level:max", "rate").mean.tolist() == [2.5, 30.0]
    curve = results.response("level:max", "rate", by="wild")
    assert curve.by["wild"].tolist() == [False, False, True, True]
    assert curve.x.tolist() == [0.1, 0.9, 0.1, 0.9]
    assert curve.mean.tolist() == [1.5, 15.0, 3.5, 40.0]
    assert [(part.label, part.rows) for part in curve.curves()] == [
        ("Wild false", slice(0, 2)),
        ("Wild true", slice(2, 4)),
    ]
    assert list(curve.columns()) == ["wild", "rate", "mean", "low", "high", "n"]
    assert [part.label for part in results.response("level:max", "rate").curves()] == [""]


def test_what_does_not_count_is_told(results: hw.ResultSet) -> None:
    curve = results.response("level:max", "rate")
    assert curve.left_out == LeftOut(not_done=1, failed=1, without_value=1, non_finite=1)
    assert curve.n.sum() == 9
    assert curve.lines[:3] == ("1 run not done: left out", "1 run failed: left out", "1 run without a value: left out")
    assert curve.lines[-1] == "low and high: 95 % interval of the mean, Student's"


HOLDING: dict[str, Callable[[hw.ResultSet], AnalysisTable]] = {
    "response": lambda of: of.response("level:max", "size", held={"rate": [0.1, 0.9]}),
    "heatmap": lambda of: of.heatmap("level:max", "size", "wild", held={"rate": [0.1, 0.9]}),
    "bands": lambda of: of.bands("level", held={"rate": [0.1, 0.9]}),
    "summary": lambda of: of.summarize("level:max", by="wild", held={"rate": [0.1, 0.9]}),
    "comparison": lambda of: of.compare("level:max", {"wild": True}, {"wild": False}, held={"rate": [0.1, 0.9]}),
    "sensitivity": lambda of: of.sensitivity("level:max", method="regression", held={"rate": [0.1, 0.9]}),
    "boxes by a column": lambda of: of.prim("level:max", threshold=3.0, held={"rate": [0.1, 0.9]}),
    "boxes by a condition": lambda of: of.prim("level:max > 3", held={"rate": [0.1, 0.9]}),
}


@pytest.mark.parametrize("ask", HOLDING.values(), ids=HOLDING)
def test_an_answer_tells_what_was_held(results: hw.ResultSet, ask: Callable[[hw.ResultSet], AnalysisTable]) -> None:
    assert [line for line in ask(results).lines if "only runs" in line] == ["only runs with rate 0.1 or 0.9"]
    assert "held" not in " ".join(results.response("level:max", "rate").lines)


def test_held_factors_keep_the_runs_that_have_one_of_the_values(results: hw.ResultSet) -> None:
    assert results.response("level:max", "rate", held={"wild": True}).mean.tolist() == [3.5, 40.0]
    both = results.response("level:max", "wild", held={"rate": [0.1, 0.9]})
    assert both.mean.tolist() == [8.25, pytest.approx(25.4)]


def test_levels_are_held_to_the_last_bit_and_may_come_from_numpy(results: hw.ResultSet) -> None:
    near = written_study([Run(config=at, value=float(at)) for at in range(2)])
    large = tiled(near, 2, {"size": np.array([2**53, 2**53 + 1])})
    assert large.summarize("level:max", by=(), held={"size": [2**53, float(2**53)]}).n.tolist() == [1]
    listed: list[Any] = [np.array([0.1, 0.9]), {0.1, 0.9}, (np.float64(0.1), 0.9)]
    for rates in listed:
        assert results.response("level:max", "wild", held={"rate": rates}).n.tolist() == [4, 5]
    arrays: list[Any] = [np.array(True), np.array([0.1, 0.3]), np.array([0.9])]
    one, few, other = arrays
    assert results.response("level:max", "rate", held={"wild": one}).n.tolist() == [2, 3]
    of_both = results.compare("level:max", {"rate": few}, {"rate": other})
    assert (of_both.a.label, of_both.b.label) == ("Rate 0.1 or 0.3", "Rate 0.9")


MOST = 1.5e308


@pytest.mark.parametrize(
    "values", [[MOST, -MOST] * 3 + [MOST], [1e200, -1e200] * 4, [MOST] * 8], ids=["ends", "squares", "sums"]
)
def test_the_largest_numbers_warn_of_nothing(values: list[float]) -> None:
    study = written_study(
        [
            Run(config=0, params={"wild": at % 2 > 0}, value=value, samples=[(2, value)])
            for at, value in enumerate(values)
        ]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for interval in ("student", "bootstrap"):
            study.response("level:max", "rate", interval=interval)
        for interval in ("welch", "bootstrap"):
            study.compare("level:max", {"wild": True}, {"wild": False}, interval=interval)
        for spread in ("sd", "interval", "quantiles"):
            study.bands("level", spread=spread)
        table = study.summarize("level:max", by=(), quantiles=(0.25, 0.5, 0.55))
    assert table.maximum.tolist() == [max(values)]


def test_between_the_largest_numbers_there_are_quantiles() -> None:
    found = written_study([Run(config=0, value=value) for value in (-MOST, MOST)]).summarize("level:max", by=())
    assert {share: column.tolist() for share, column in found.quantiles.items()} == {
        0.25: [-MOST / 2],
        0.5: [0.0],
        0.75: [MOST / 2],
    }


def test_a_comparison_of_large_numbers_has_welchs_interval() -> None:
    def compared(unit: float) -> Comparison:
        values = enumerate(map(float, (1, 2, 3, 5, 8, 9)))
        study = [Run(config=0, params={"wild": at > 2}, value=value * unit) for at, value in values]
        return written_study(study).compare("level:max", {"wild": True}, {"wild": False})

    large, small = compared(2.0**300), compared(1.0)
    assert (large.low, large.high) == (small.low * 2.0**300, small.high * 2.0**300)


def test_options_of_a_choice_stand_in_the_order_of_the_model() -> None:
    study = [Run(config=at, params={"kind": kind}) for at, kind in enumerate(["large", "small", "medium"])]
    assert written_study(study).response("level:max", "kind").x.tolist() == ["small", "medium", "large"]


def test_an_action_is_a_factor_by_its_tick(results: hw.ResultSet) -> None:
    curve = results.response("level:max", "action.stir")
    assert (curve.x.tolist(), curve.n.tolist(), str(curve.x_axis)) == ([3], [9], "stir (tick)")


def test_levels_with_one_run_each_have_no_interval_and_are_told_of_with_what_helps() -> None:
    sampled = written_study([Run(config=at, params={"rate": at / 40}, value=float(at)) for at in range(41)])
    curve = sampled.response("level:max", "rate")
    assert np.isnan(curve.low).all()
    assert "each of 41 levels has one run, so that there are no intervals; bins=20 groups 'rate'" in curve.lines[-1]
    parts = sampled.response("level:max", "rate", bins=4)
    assert parts.edges is not None
    assert parts.edges.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert parts.x.tolist() == [0.125, 0.375, 0.625, 0.875]
    assert parts.n.tolist() == [10, 10, 10, 11]
    assert parts.mean.tolist() == [4.5, 14.5, 24.5, 35.0]
    assert list(parts.columns())[:3] == ["rate", "rate from", "rate to"]
    assert parts["rate to"].tolist() == [0.25, 0.5, 0.75, 1.0]


def test_a_factor_with_one_level_is_one_part() -> None:
    study = written_study([Run(config=at, value=float(at)) for at in range(3)])
    assert study.response("level:max", "rate", bins=5).n.sum() == 3


def test_wilsons_interval_is_one_of_shares() -> None:
    study = [Run(config=0, value=float(value)) for value in (1, 1, 1, 0)]
    curve = written_study(study).response("level:max", "rate", interval="wilson")
    assert (curve.low[0], curve.high[0]) == pytest.approx((0.30064, 0.95441), abs=1e-5)
    with pytest.raises(hw.UsageError, match=r"'level:max' has 0\.5; use interval='student'"):
        written_study([*study, Run(config=0, value=0.5)]).response("level:max", "rate", interval="wilson")


def test_a_bootstrap_is_a_function_of_its_seed_and_the_same_everywhere(results: hw.ResultSet) -> None:
    curve = results.response("level:max", "rate", interval="bootstrap", resamples=200, seed=7)
    assert [*curve.low, *curve.high] == pytest.approx([1.5, 18.0, 3.50625, 42.0])
    again = results.response("level:max", "rate", interval="bootstrap", resamples=200, seed=7)
    other = results.response("level:max", "rate", interval="bootstrap", resamples=200, seed=8)
    assert again.low.tolist() == curve.low.tolist()
    assert [*other.low, *other.high] != [*curve.low, *curve.high]
    assert curve.lines[-1].endswith("bootstrap percentiles, 200 resamples, seed 7")


def test_a_seed_is_a_whole_number_of_any_kind(results: hw.ResultSet) -> None:
    seed: Any = np.int64(-3)
    for ask in (
        lambda seed: results.response("level:max", "rate", interval="bootstrap", seed=seed),
        lambda seed: results.compare("level:max", {"wild": True}, {"wild": False}, interval="bootstrap", seed=seed),
    ):
        assert ask(seed).to_csv() == ask(-3).to_csv()
    drawn, expected = (Resampling(confidence=0.95, resamples=2, seed=of).counts(9) for of in (seed, -3))
    assert np.array_equal(list(drawn), list(expected))


def test_one_run_has_no_interval_of_any_kind() -> None:
    study = written_study([Run(config=0, value=5.0)])
    for center, interval in (("mean", "student"), ("mean", "bootstrap"), ("median", "order")):
        curve = study.response("level:max", "rate", center=center, interval=interval)
        assert curve.center.tolist() == [5.0]
        assert np.isnan([curve.low, curve.high]).all()


def test_a_median_has_the_interval_of_its_order_statistics() -> None:
    study = written_study([Run(config=0, value=float(value)) for value in (5, 1, 4, 2, 3, 99, 7)])
    curve = study.response("level:max", "rate", center="median")
    assert (curve.median.tolist(), curve.low.tolist(), curve.high.tolist()) == ([4.0], [1.0], [99.0])
    with pytest.raises(hw.UsageError, match="ask with center='mean'"):
        _ = curve.mean
    with pytest.raises(hw.UsageError, match="ask with center='median'"):
        _ = study.response("level:max", "rate").median


def test_a_heatmap_has_a_cell_for_each_pair_of_levels(results: hw.ResultSet) -> None:
    grid = results.heatmap("level:max", "rate", "wild")
    assert grid.mean.tolist() == [[1.5, 15.0], [3.5, 40.0]]
    assert grid.n.tolist() == [[2, 2], [2, 3]]
    assert list(grid.columns()) == ["rate", "wild", "mean", "n"]
    assert grid["rate"].tolist() == [0.1, 0.9, 0.1, 0.9]
    sparse = written_study([Run(config=at, params={"rate": at / 2, "size": at}) for at in range(2)])
    grid = sparse.heatmap("level:max", "rate", "size")
    assert np.isnan(grid.mean).tolist() == [[False, True], [True, False]]
    assert grid.lines == ("2 cells without a run",)


def test_a_heatmap_of_a_sampled_design_is_cut_into_parts() -> None:
    sampled = written_study([Run(config=at, params={"rate": at / 9, "size": at}, value=float(at)) for at in range(10)])
    grid = sampled.heatmap("level:max", "rate", "size", bins=(2, 3))
    assert grid.mean.shape == (3, 2)
    assert grid.n.sum() == 10
    assert grid.x_edges is not None
    assert grid.y_edges is not None
    assert (grid.x_edges.tolist(), grid.y_edges.tolist()) == ([0.0, 0.5, 1.0], [0.0, 3.0, 6.0, 9.0])


def test_a_summary_has_a_row_for_each_measure_of_each_group_also_of_none(results: hw.ResultSet) -> None:
    table = results.summarize(["level:max", "ticks"], by="rate", quantiles=(0.5,))
    assert table.measure.tolist() == ["level:max"] * 3 + ["ticks"] * 3
    assert table["rate"].tolist() == [0.1, 0.3, 0.9] * 2
    assert table.n.tolist() == [4, 0, 5, 5, 0, 5]
    assert table["q0.5"][[0, 2]].tolist() == [2.5, 30.0]
    assert np.isnan([table.mean[1], table.minimum[1], table["q0.5"][1]]).all()
    assert table.left_out == LeftOut(not_done=1, failed=1, without_value=1, non_finite=1)
    assert list(table.columns()) == ["measure", "rate", "n", "mean", "sd", "low", "high", "min", "q0.5", "max"]


def test_a_measure_that_no_run_has_is_a_row_of_none() -> None:
    study = written_study([Run(config=0, value=NOTHING), Run(config=0, value=NOTHING, other=3.0)])
    assert study.summarize(by=()).n.tolist() == [0, 2]


def test_a_summary_is_by_configs_and_of_all_reducers_where_nothing_else_is_said(results: hw.ResultSet) -> None:
    table = results.summarize()
    assert list(table.by) == ["rate", "wild"]
    assert sorted(set(table.measure.tolist())) == ["level:max", "other:final"]
    assert results.summarize("level:max", by=()).n.tolist() == [9]


def test_a_comparison_is_the_difference_of_two_groups(results: hw.ResultSet) -> None:
    found = results.compare("level:max", {"rate": 0.9}, {"rate": 0.1})
    assert (found.a.n, found.b.n, found.difference, found.median_difference) == (5, 4, 27.5, 27.5)
    assert (found.ranks.u, found.a12) == (20, 1.0)
    assert found.p == pytest.approx(2 / 126)
    assert found.low < 27.5 < found.high
    assert len(found) == 1
    assert found["a12"].tolist() == [1.0]
    assert found.title == "level:max: Rate 0.9 against Rate 0.1"
    assert found.left_out.failed == 0
    swapped = results.compare("level:max", {"rate": 0.1}, {"rate": 0.9})
    assert (swapped.a12, swapped.p, swapped.difference) == (0.0, found.p, -27.5)
    assert (swapped.low, swapped.high) == pytest.approx((-found.high, -found.low))


def test_a_comparison_by_bootstrap_is_a_function_of_its_seed(results: hw.ResultSet) -> None:
    options = {"interval": "bootstrap", "resamples": 300, "seed": 3}
    found = [results.compare("level:max", {"rate": 0.9}, {"rate": 0.1}, **options) for _ in range(2)]  # type: ignore[arg-type]
    assert (found[0].low, found[0].high) == (found[1].low, found[1].high)
    assert found[0].low < 27.5 < found[0].high


def test_groups_that_are_all_alike_differ_in_nothing() -> None:
    study = [Run(config=config, params={"wild": config == 1}, value=5.0) for config in (0, 0, 1, 1)]
    found = written_study(study).compare("level:max", {"wild": False}, {"wild": True})
    assert (found.difference, found.low, found.high, found.p, found.a12) == (0.0, 0.0, 0.0, 1.0, 0.5)


def test_a_group_of_one_run_has_no_interval() -> None:
    study = [Run(config=config, params={"wild": config == 1}, value=float(at)) for at, config in enumerate((0, 1, 1))]
    found = written_study(study).compare("level:max", {"wild": False}, {"wild": True})
    assert math.isnan(found.low)
    assert math.isnan(found.high)


REFUSED: dict[str, tuple[Callable[[hw.ResultSet], object], str]] = {
    "measure": (lambda of: of.response("level:mx", "rate"), r"no measured column 'level:mx'; .* 'level:max'\?"),
    "series": (
        lambda of: of.response("level", "rate"),
        r"a series, .*: 'level:max'; or a tick of it \(at\)",
    ),
    "factor": (lambda of: of.response("level:max", "rat"), r"no factor 'rat'; allowed: rate, .* 'rate'\?"),
    "by": (lambda of: of.response("level:max", "rate", by="wilt"), r"no factor 'wilt'.*'wild'\?"),
    "twice": (lambda of: of.response("level:max", "rate", by="rate"), "'rate' is given twice, as x and as by"),
    "y is x": (lambda of: of.response("rate", "rate"), "'rate' is given as what is measured and as x"),
    "level": (lambda of: of.response("level:max", "rate", held={"rate": 0.2}), "no run has rate = 0.2; .*0.1, 0.3"),
    "center": (lambda of: of.response("level:max", "rate", center="men"), r"center is 'men'; .* 'mean'\?"),
    "interval": (lambda of: of.response("level:max", "rate", interval="t"), "interval is 't'; allowed: 'student'"),
    "confidence": (lambda of: of.response("level:max", "rate", confidence=0.8), "confidence is 0.8; .*0.9, 0.95"),
    "share": (
        lambda of: of.response("level:max", "rate", interval="bootstrap", confidence=1.0),
        "between 0 and 1, such as 0.95",
    ),
    "resamples": (lambda of: of.response("level:max", "rate", resamples=1), "resamples is 1; allowed: .* from 2"),
    "seed": (lambda of: of.response("level:max", "rate", seed=0.5), "seed is 0.5; allowed: a whole number"),  # type: ignore[arg-type]
    "bins": (lambda of: of.response("level:max", "kind", bins=3), "bins cut numbers .* 'kind' is none"),
    "no bins": (lambda of: of.response("level:max", "rate", bins=0), "bins is 0; allowed: .* from 1"),
    "cells": (lambda of: of.heatmap("level:max", "wild", "rate", bins=3), "bins cut numbers .* 'wild' is none"),
    "pair": (lambda of: of.heatmap("level:max", "rate", "size", bins=(1, 2, 3)), "one count .* or a pair"),  # type: ignore[arg-type]
    "one side": (lambda of: of.heatmap("level:max", "rate", "rate"), "'rate' is given twice, as x and as y"),
    "quantiles": (lambda of: of.summarize("level:max", quantiles=(0.5, 0.1)), "quantiles are .* ascending"),
    "percent": (lambda of: of.bands("level", quantiles=(5, 95)), "quantiles are .* from 0 to 1"),
    "three": (lambda of: of.bands("level", quantiles=(0.1, 0.5, 0.9)), "a lower and an upper one"),  # type: ignore[arg-type]
    "spread": (lambda of: of.bands("level", spread="std"), r"spread is 'std'; allowed: 'sd'"),
    "sd of a median": (
        lambda of: of.bands("level", center="median", spread="sd"),
        "of a median is 'quantiles'",
    ),
    "statistic": (lambda of: of.bands("levl"), r"no statistic 'levl'; allowed: level, other; .* 'level'\?"),
    "stop": (lambda of: of.bands("level", after_stop="keep"), "after_stop is 'keep'; allowed: 'drop', 'hold'"),
    "tick": (lambda of: of.response("level", "rate", at=-1), "at is -1; allowed: a tick"),
    "reducer at": (lambda of: of.response("level:max", "rate", at=7), "no statistic 'level:max'; allowed: level"),
    "alike": (lambda of: of.compare("level:max", {"rate": 0.1}, {"rate": 0.1}), "a and b are the same"),
    "shared": (lambda of: of.compare("level:max", {"rate": 0.1}, {"wild": False}), "2 runs of both groups"),
    "empty": (lambda of: of.compare("level:max", {}, {"wild": False}), "a is {}; allowed: what its runs"),
    "held": (
        lambda of: of.compare("level:max", {"rate": 0.1}, {"rate": 0.9}, held={"rate": 0.1}),
        "'rate' is in held and in a",
    ),
}

OF_A_WRONG_KIND: dict[str, tuple[Callable[[Any], object], str]] = {
    "held at all": (lambda of: of.response("level", "rate", at=7, held="rate"), "held is 'rate'; allowed: factors"),
    "held of both": (lambda of: of.compare("level:max", {"rate": 0.1}, {"rate": 0.9}, held="wild"), "held is 'wild'"),
    "a": (lambda of: of.compare("level:max", "rate", {"rate": 0.9}), "a is 'rate'; allowed: factors"),
    "no level": (lambda of: of.response("level:max", "rate", held={"size": [[0]]}), r"'size' of held is \[\[0\]\]"),
    "no level of b": (
        lambda of: of.compare("level", {"size": 0}, {"size": None}, at=7),
        "'size' of b is None; .* value",
    ),
    "x in a list": (lambda of: of.response("level:max", ["rate"]), r"x is \['rate'\]; allowed: the name of one column"),
    "y in a list": (lambda of: of.heatmap(["level:max"], "rate", "size"), r"what is measured is \['level:max'\]"),
    "y of runs": (lambda of: of.compare(np.zeros(2), {"rate": 0.1}, {"rate": 0.9}), "what is measured is array"),
    "by a number": (lambda of: of.response("level:max", "rate", by=3), "3 is no name of a column; allowed: one, or"),
    "by nothing": (lambda of: of.bands("level", by=None), "None is no name of a column"),
    "by a list": (lambda of: of.summarize("level:max", by=[["size"]]), r"\[\['size'\]\] is no name of a column"),
    "by twice": (lambda of: of.summarize("level:max", by=["rate", "rate"]), "'rate' is given twice, as by and as by"),
    "band twice": (lambda of: of.bands("level", by=["rate", "rate"]), "'rate' is given twice, as by and as by"),
    "confidences": (
        lambda of: of.response("level:max", "rate", confidence=np.array([0.9, 0.95])),
        "confidence is array",
    ),
    "no quantiles": (lambda of: of.summarize("level:max", quantiles=None), "quantiles are None; allowed"),
    "a quantile": (lambda of: of.summarize("level:max", quantiles=0.5), "quantiles are 0.5; allowed"),
}


@pytest.mark.parametrize("name", [*REFUSED, *OF_A_WRONG_KIND])
def test_what_is_wrong_is_refused_before_a_sample_is_read(
    results: hw.ResultSet, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*args: object) -> object:
        raise AssertionError("a sample was read")

    monkeypatch.setattr(type(results._series), "read_columns", read)
    ask, message = {**REFUSED, **OF_A_WRONG_KIND}[name]
    with pytest.raises(hw.UsageError, match=message):
        ask(results)


def test_where_no_run_is_left_it_is_said_why() -> None:
    study = written_study([Run(config=0, status="panicked"), Run(config=1, value=NOTHING)], planned=5)
    why = "no run has a value of 'level:max': 3 runs not done: left out; 1 run failed: left out; 1 run without a value"
    with pytest.raises(hw.UsageError, match=why):
        study.response("level:max", "rate")
    apart = written_study([Run(config=at, params={"rate": at / 2, "size": at}) for at in range(2)])
    with pytest.raises(hw.UsageError, match="none has all that is held"):
        apart.response("level:max", "rate", held={"rate": 0.5, "size": 0})
    with pytest.raises(hw.UsageError, match="none has all that is held"):
        apart.summarize("level:max", held={"rate": 0.5, "size": 0})
    with pytest.raises(hw.UsageError, match="there are no runs yet"):
        written_study([]).summarize()


def test_a_question_is_a_method_that_takes_pieces_too(results: hw.ResultSet) -> None:
    work = results.response.pieces("level:max", "rate")
    assert next(work) is None
    found = response(results, "level:max", "rate")
    assert results.response("level:max", "rate").mean.tolist() == found.mean.tolist()
    assert results.response.__doc__ == response.__doc__


def test_a_factor_called_like_a_column_of_the_answer_is_kept_apart() -> None:
    named = column_names({"mean": np.zeros(1), "rate": np.ones(1)}, {"mean": np.ones(1)})
    assert list(named) == ["factor.mean", "rate", "mean"]
