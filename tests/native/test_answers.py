"""Answers equal those of pandas and scipy, over studies with missing, failed, stopped and non-finite runs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import henad_web as hw
from henad_web.analysis.distributions import student_quantile
from henad_web.analysis.intervals import CenterKind, interval_choice
from tests.shared.written_studies import EVERY, KINDS, LAST, WARMUP, Run, written_study

GRID = [*range(WARMUP, LAST, EVERY), LAST]
VALUES = st.one_of(st.sampled_from([0.0, 1.0, 2.0]), st.floats(-1e6, 1e6), st.just(math.nan))
STATUSES = st.sampled_from(["ok", "ok", "ok", "ok", "non_finite", "panicked", "timed_out"])


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """A run that may have failed, stopped between two ticks of the cadence, or met values that are none."""
    config = draw(st.integers(0, 7))
    last = draw(st.one_of(st.just(LAST), st.integers(WARMUP, LAST)))
    ticks = sorted({*(tick for tick in GRID if tick <= last), last})
    samples = draw(st.lists(VALUES, min_size=len(ticks), max_size=len(ticks)))
    return Run(
        config=config,
        params={"rate": (0.1, 0.2, 0.7, 0.9)[config % 4], "wild": config >= 4, "kind": KINDS[config % 3]},
        value=draw(VALUES),
        other=draw(VALUES),
        status=draw(STATUSES),
        ticks=last,
        samples=list(zip(ticks, samples, strict=True)),
    )


studies = st.lists(runs(), min_size=1, max_size=40).map(lambda made: sorted(made, key=lambda run: run.config))


def check_close(found: Any, expected: Any, within: float = 1e-9) -> None:
    np.testing.assert_allclose(found, expected, rtol=within, atol=within)


def frame_of(results: hw.ResultSet) -> pandas.DataFrame:
    """Return the runs that did not fail."""
    frame = results.to_pandas()
    return frame[frame["status"].isin(["ok", "non_finite"])]


def student(column: pandas.Series[Any]) -> tuple[float, float]:
    if len(column) < 2:
        return math.nan, math.nan
    half = scipy.stats.t.ppf(0.975, len(column) - 1) * column.std() / math.sqrt(len(column))
    return column.mean() - half, column.mean() + half


def order_of(levels: pandas.Index[Any]) -> pandas.Index[Any]:
    return levels.map(KINDS.index) if levels.name == "kind" else levels


def by_levels(
    frame: pandas.DataFrame, names: Sequence[str], column: str
) -> pandas.core.groupby.SeriesGroupBy[Any, Any]:
    kept = frame[frame[column].notna()]
    ordered = kept.sort_values(list(names), key=lambda part: part.map(KINDS.index) if part.name == "kind" else part)
    return ordered.groupby(names[0] if len(names) == 1 else list(names), sort=False)[column]


@settings(max_examples=20)
@given(studies, st.sampled_from(["rate", "wild", "kind"]), st.sampled_from([(), ("wild",), ("kind", "wild")]))
def test_responses_are_those_of_pandas(study: list[Run], x: str, by: tuple[str, ...]) -> None:
    by = tuple(name for name in by if name != x)
    results = written_study(study, planned=len(study) + 3)
    groups = by_levels(frame_of(results), (*by, x), "level:max")
    if not len(groups):
        with pytest.raises(hw.UsageError, match="no run has a value"):
            results.response("level:max", x, by=by)
        return
    curve = results.response("level:max", x, by=by)
    assert list(zip(*(curve.by[name].tolist() for name in by), curve.x.tolist(), strict=True)) == [
        key if isinstance(key, tuple) else (key,) for key in groups.groups
    ]
    check_close(curve.mean, groups.mean())
    assert curve.n.tolist() == groups.count().tolist()
    ends = np.array([student(column) for _, column in groups])
    check_close(np.stack([curve.low, curve.high], axis=1), ends, within=1e-6)
    median = results.response("level:max", x, by=by, center="median")
    check_close(median.median, groups.median())
    failed = len(study) - len(frame_of(results))
    left = curve.left_out
    assert (left.not_done, left.failed, left.runs) == (3, failed, len(study) + 3 - int(curve.n.sum()))


@settings(max_examples=20)
@given(studies)
def test_heatmaps_are_pivots_of_pandas(study: list[Run]) -> None:
    results = written_study(study)
    frame = frame_of(results)
    frame = frame[frame["level:max"].notna()]
    if not len(frame):
        return
    for center in ("mean", "median"):
        grid = results.heatmap("level:max", "rate", "wild", center=center)
        pivot = frame.pivot_table("level:max", "wild", "rate", aggfunc=center)
        assert (grid.x.tolist(), grid.y.tolist()) == (pivot.columns.tolist(), pivot.index.tolist())
        check_close(grid.center, pivot)
        counts = frame.pivot_table("level:max", "wild", "rate", aggfunc="count", fill_value=0)
        assert grid.n.tolist() == counts.to_numpy().tolist()


@settings(max_examples=20)
@given(studies, st.sampled_from([(), ("rate",), ("kind", "wild")]), st.sampled_from(["drop", "hold"]))
def test_bands_are_those_of_pandas(study: list[Run], by: tuple[str, ...], after_stop: str) -> None:
    results = written_study(study)
    samples = samples_of(results, after_stop)
    if not len(samples):
        with pytest.raises(hw.UsageError, match="no run has a value"):
            results.bands("level", by=by, after_stop=after_stop)
        return
    groups = by_levels(samples, (*by, "tick"), "level")
    band = results.bands("level", by=by, after_stop=after_stop)
    assert list(zip(*(band.by[name].tolist() for name in by), band.tick.tolist(), strict=True)) == [
        key if isinstance(key, tuple) else (key,) for key in groups.groups
    ]
    check_close(band.mean, groups.mean())
    assert band.n.tolist() == groups.count().tolist()
    check_close(band.high, [student(column)[1] for _, column in groups], within=1e-6)
    spread = results.bands("level", by=by, after_stop=after_stop, spread="sd")
    check_close(spread.high - spread.mean, groups.std(), within=1e-6)
    middle = results.bands("level", by=by, after_stop=after_stop, center="median", quantiles=(0.1, 0.75))
    for found, share in ((middle.low, 0.1), (middle.median, 0.5), (middle.high, 0.75)):
        check_close(found, groups.quantile(share))


def samples_of(results: hw.ResultSet, after_stop: str) -> pandas.DataFrame:
    """Return the finite samples at the ticks of the cadence, of a run that has stopped its last one at later ticks."""
    frame, parts = frame_of(results).set_index("run_id"), []
    met = sorted({tick for _, series in results.all_series() for tick in series.ticks.tolist() if tick in GRID})
    for run_id, row in frame.iterrows():
        series = results.series(int(str(run_id)))
        part = pandas.Series(series["level"], series.ticks)
        last, value = part.index[-1], part.iloc[-1]
        part = part[part.index.isin(GRID)]
        if after_stop == "hold":
            later = [tick for tick in met if tick > last]
            part = pandas.concat([part, pandas.Series([value] * len(later), later, dtype=float)])
        parts.append(pandas.DataFrame({"tick": part.index, "level": part.to_numpy(), **row[["rate", "wild", "kind"]]}))
    joined = pandas.concat(parts) if parts else pandas.DataFrame({"level": []})
    return joined[joined["level"].notna()]


@settings(max_examples=20)
@given(studies, st.sampled_from(["drop", "hold"]), st.sampled_from(GRID))
def test_a_tick_of_the_series_is_that_of_each_run(study: list[Run], after_stop: str, tick: int) -> None:
    results = written_study(study)
    frame, values = frame_of(results), []
    for run_id in frame["run_id"]:
        series = results.series(run_id)
        there = series["level"][series.ticks == tick]
        held = series["level"][-1:] if after_stop == "hold" and series.ticks[-1] < tick else there[:0]
        values += [value for value in [*there, *held] if math.isfinite(value)]
    if not any(tick in dict(run.samples) for run in study):
        with pytest.raises(hw.UsageError, match=f"no run has a sample at tick {tick}"):
            results.summarize("level", by=(), at=tick, after_stop=after_stop)
        return
    found = results.summarize("level", by=(), at=tick, after_stop=after_stop)
    assert found.n.tolist() == [len(values)]
    if values:
        check_close(found.mean, [np.mean(values)])


@settings(max_examples=20)
@given(studies, st.sampled_from([(), ("rate",), ("wild", "kind")]))
def test_summaries_are_those_of_pandas(study: list[Run], by: tuple[str, ...]) -> None:
    results = written_study(study)
    table = results.summarize(by=by, quantiles=(0.05, 0.5))
    every = results.to_pandas()
    for measure in ("level:max", "other:final"):
        rows = table.measure == measure
        frame = every[["rate", "wild", "kind"]].assign(all=0)
        frame["value"] = frame_of(results)[measure]
        groups = frame.sort_values(
            list(by) or ["all"], key=lambda part: part.map(KINDS.index) if part.name == "kind" else part
        ).groupby(list(by) or ["all"], sort=False)["value"]
        assert table.n[rows].tolist() == groups.count().tolist()
        for name, expected in (
            ("mean", groups.mean()),
            ("min", groups.min()),
            ("q0.05", groups.quantile(0.05)),
            ("q0.5", groups.median()),
            ("max", groups.max()),
        ):
            check_close(table[name][rows], expected)
        check_close(table.sd[rows], groups.std(), within=1e-6)


@settings(max_examples=20)
@given(studies)
def test_a_summary_by_configs_is_that_of_the_file_to_the_last_bit(study: list[Run]) -> None:
    numbered = [Run(**{**fields(run), "params": {"size": run.config}}) for run in study]
    results = written_study(numbered)
    table, file = results.summarize("level:max", by="size"), results.summary
    for name, column in (("mean", table.mean), ("sd", table.sd), ("ci95_low", table.low), ("ci95_high", table.high)):
        np.testing.assert_array_equal(column, file[f"level:max:{name}"])
    assert table.n.tolist() == file["level:max:n"].tolist()


def fields(run: Run) -> dict[str, Any]:
    return {name: getattr(run, name) for name in Run.__slots__}


GROUPS = st.lists(st.one_of(st.integers(0, 6).map(float), st.floats(-1e3, 1e3)), min_size=2, max_size=15)


@settings(max_examples=40)
@given(GROUPS, GROUPS)
def test_comparisons_are_those_of_scipy(first: list[float], second: list[float]) -> None:
    study = [Run(config=0, params={"wild": False}, value=value) for value in first]
    study += [Run(config=1, params={"wild": True}, value=value) for value in second]
    found = written_study(study).compare("level:max", {"wild": False}, {"wild": True})
    method = "exact" if found.ranks.is_exact else "asymptotic"
    ranks = scipy.stats.mannwhitneyu(first, second, method=method)
    assert found.ranks.u == ranks.statistic
    expected = 1.0 if math.isnan(ranks.pvalue) else ranks.pvalue  # scipy has none where all are equal
    assert found.p == pytest.approx(expected, abs=1e-9)
    has_ties = len(set(first + second)) < len(first + second)
    assert found.ranks.is_exact == (not has_ties and min(len(first), len(second)) <= 8)
    above = sum((a > b) + (a == b) / 2 for a, b in itertools.product(first, second))
    assert found.a12 == pytest.approx(above / (len(first) * len(second)))
    assert found.difference == pytest.approx(np.mean(first) - np.mean(second), abs=1e-9)
    assert found.median_difference == pytest.approx(np.median(first) - np.median(second), abs=1e-9)
    spread = np.std(first) + np.std(second)
    if spread > 1e-6:
        welch = scipy.stats.ttest_ind(first, second, equal_var=False).confidence_interval()
        assert (found.low, found.high) == pytest.approx((welch.low, welch.high), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("size", [5, 6, 7, 20, 200, 499, 500, 501, 2000])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_the_interval_of_a_median_is_binomial(size: int, confidence: float) -> None:
    values = list(range(size))
    curve = written_study([Run(config=0, value=float(value)) for value in values]).response(
        "level:max", "rate", center="median", confidence=confidence
    )
    beyond = [count for count in range(size // 2) if 2 * scipy.stats.binom.cdf(count, size, 0.5) <= 1 - confidence]
    if beyond:
        assert curve.low[0] == pytest.approx(beyond[-1], abs=1 if size > 500 else 0)
        assert curve.high[0] == size - 1 - curve.low[0]
    else:
        assert math.isnan(curve.low[0])


@pytest.mark.parametrize("degrees", [1.0, 1.7, 4.25, 60.5, 3e4])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_the_quantile_of_welch_is_students(degrees: float, confidence: float) -> None:
    assert student_quantile(degrees, confidence) == pytest.approx(
        scipy.stats.t.ppf((1 + confidence) / 2, degrees), rel=1e-9
    )


def test_a_bootstrap_covers_the_mean_about_as_often_as_it_says() -> None:
    draws = np.random.default_rng(5).exponential(size=(300, 60))
    study = [
        Run(config=config, params={"size": config}, value=float(value))
        for config, values in enumerate(draws)
        for value in values
    ]
    curve = written_study(study).response("level:max", "size", interval="bootstrap", confidence=0.8, resamples=300)
    covered = np.mean((curve.low <= 1) & (curve.high >= 1))
    assert 0.72 < covered < 0.86
    normal = scipy.stats.norm.ppf(0.9) * draws.std(axis=1) / math.sqrt(60)
    assert np.mean((curve.high - curve.low) / 2 / normal) == pytest.approx(1, abs=0.05)


def test_an_interval_and_a_center_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(hw.UsageError, match="'student' is none of a median; allowed: 'order'"):
        interval_choice(center=CenterKind.MEDIAN, interval="student", confidence=0.95, resamples=10, seed=0)
