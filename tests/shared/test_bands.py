"""Laws of samples over time: which ticks and runs a band speaks of, and what is read for it."""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pytest

import henad_web as hw
from henad_web.analysis import LeftOut
from henad_web.results import series
from henad_web.results.series import SeriesFile
from tests.shared.reference_folder import reference_files
from tests.shared.written_studies import LAST, Run, row_of, study_of_lines, written_study

TICKS = (2, 7, 12, 17, 22, LAST)


def run_of(*values: float, ticks: tuple[int, ...] = TICKS, config: int = 0, **changes: object) -> Run:
    there = ticks[: len(values)]
    samples = list(zip(there, values, strict=True))
    return Run(config=config, ticks=there[-1], samples=samples, **changes)  # type: ignore[arg-type]


def test_a_band_has_the_means_of_the_samples_at_each_tick() -> None:
    results = hw.ResultSet.from_files(reference_files())
    band = results.bands("Infected", by="infection_rate", spread="sd")
    assert [curve.label for curve in band.curves()] == ["Infection Rate 0.2", "Infection Rate 0.4"]
    for curve in band.curves():
        runs = np.flatnonzero(results.runs["infection_rate"] == curve.levels["infection_rate"])
        samples = np.array([results.series(int(run))["Infected"] for run in results.runs["run_id"][runs]])
        assert band.mean[curve.rows].tolist() == samples.mean(axis=0).tolist()
        assert band.n[curve.rows].tolist() == [2] * 5
    assert list(band.columns()) == ["infection_rate", "tick", "mean", "low", "high", "n"]


def test_a_run_that_has_stopped_is_left_out_from_there_on_or_held() -> None:
    study = written_study([run_of(1, 2, 3, 4, 5, 6), run_of(3, 4)])
    band = study.bands("level")
    assert (band.tick.tolist(), band.n.tolist()) == ([*TICKS], [2, 2, 1, 1, 1, 1])
    assert band.mean.tolist() == [2, 3, 3, 4, 5, 6]
    assert "1 run had stopped before tick 26: left out from there on: n counts the survivors" in band.lines
    held = study.bands("level", after_stop="hold")
    assert held.n.tolist() == [2] * 6
    assert held.mean.tolist() == [2, 3, 3.5, 4, 4.5, 5]
    assert "1 run had stopped before tick 26: counted with their last value" in held.lines


def test_the_last_sample_of_a_run_between_two_ticks_of_the_cadence_is_no_tick_of_the_band() -> None:
    study = written_study([run_of(1, 2, 3, 4, 5, 6), run_of(1, 2, 9, ticks=(2, 7, 10))])
    band = study.bands("level")
    assert band.tick.tolist() == [*TICKS]
    assert "1 sample between the ticks of the cadence: left out" in band.lines
    assert study.bands("level", after_stop="hold").mean.tolist() == [1, 2, 6, 6.5, 7, 7.5]


def test_samples_and_runs_that_do_not_count_are_told() -> None:
    nan = math.nan
    study = [run_of(1, nan, 3, config=0), run_of(5, 6, 7, config=1), run_of(nan, nan, config=2)]
    study += [
        run_of(99, 99, config=3, status="panicked"),
        Run(config=4),
        run_of(7, 8, 9, config=5, status="non_finite"),
    ]
    band = written_study(study, planned=10).bands("level")
    assert (band.tick.tolist(), band.n.tolist()) == ([2, 7, 12], [3, 2, 3])
    assert band.mean == pytest.approx([13 / 3, 7, 19 / 3])
    assert band.left_out == LeftOut(not_done=4, failed=1, without_value=2, non_finite=1)
    assert "3 samples not finite: left out" in band.lines


def test_equal_samples_have_themselves_as_mean_and_no_spread() -> None:
    band = written_study([run_of(0.1, 1e300) for _ in range(7)]).bands("level", spread="sd")
    assert band.mean.tolist() == [0.1, 1e300]
    assert band.low.tolist() == band.high.tolist() == [0.1, 1e300]


def test_quantiles_of_a_band_are_those_of_the_runs() -> None:
    study = written_study([run_of(float(value)) for value in (4, 0, 3, 1, 2)])
    band = study.bands("level", center="median", quantiles=(0.25, 1.0))
    assert (band.median.tolist(), band.low.tolist(), band.high.tolist()) == ([2.0], [1.0], [4.0])
    assert band.lines == ("low and high: quantiles 0.25 and 1 of the runs",)
    assert study.bands("level", spread="quantiles").mean.tolist() == [2.0]


def test_a_measure_at_a_tick_is_the_sample_there() -> None:
    study = written_study([run_of(1, 2, 3), run_of(4, 5), run_of(7, 8, math.nan), Run(config=0)])
    at_two = study.summarize("level", by=(), at=12)
    assert (at_two.n.tolist(), at_two.mean.tolist()) == ([1], [3])
    assert at_two.left_out.without_value == 3
    held = study.summarize("level", by=(), at=12, after_stop="hold")
    assert (held.n.tolist(), held.mean.tolist()) == ([2], [4])
    assert str(study.response("level", "rate", at=7).y_axis) == "level at tick 7"
    with pytest.raises(hw.UsageError, match="no run has a sample at tick 9; the nearest are 7 and 12"):
        study.response("level", "rate", at=9)
    with pytest.raises(hw.UsageError, match="no run has a sample at tick 99; the nearest are 12"):
        study.response("level", "rate", at=99)
    with pytest.raises(hw.UsageError, match="no run has a sample at tick 2; there is none"):
        written_study([Run(config=0)]).response("level", "rate", at=2)


def test_samples_of_runs_without_a_row_count_for_nothing() -> None:
    rows = [row_of(0, run_of(1.0))]
    results = study_of_lines(rows, ["0,2,1,0", "5,2,100,0"])
    assert results.bands("level").mean.tolist() == [1]
    assert results.summarize("level", by=(), at=2).mean.tolist() == [1]


def test_results_without_samples_say_so() -> None:
    with pytest.raises(hw.UsageError, match="no run has a value of 'level': 1 run without a value"):
        written_study([Run(config=0)]).bands("level")
    files = reference_files()
    del files["series.csv"]
    with pytest.raises(hw.MissingFileError):
        hw.ResultSet.from_files(files).bands("Infected")


def test_columns_that_were_read_stay_while_the_budget_allows_it() -> None:
    study = [run_of(1, 2, 3), run_of(4, 5)]
    rows = 5
    for budget, reads in ((None, 2), (3 * rows * 8, 2), (3 * rows * 8 - 1, 3), (2 * rows * 8 - 1, 4)):
        results = written_study(study, series_budget=budget)
        with mock.patch.object(SeriesFile, "_pieces", autospec=True, side_effect=SeriesFile._pieces) as pieces:
            for column in ("level", "level", "other", "other"):
                results.bands(column)
        assert pieces.call_count == reads, budget


def test_samples_that_are_gone_since_they_were_indexed_are_told() -> None:
    results = written_study([run_of(1, 2, 3)])
    _ = results._series.index
    gone = mock.patch.object(SeriesFile, "_pieces", return_value=iter([b"0,2,1,-1\n"]))
    with gone, pytest.raises(hw.TableDamagedError, match="the rows that stood there a moment ago"):
        results.bands("level")
    assert results.bands("level").mean.tolist() == [1, 2, 3]


def test_columns_are_read_a_few_rows_at_a_time_and_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = written_study([run_of(1, 2, 3, 4, 5, 6), run_of(7, 8)]).bands("level").mean.tolist()
    for size in (1, 7, 16, 1000):
        monkeypatch.setattr(series, "_PIECE_BYTES", size)
        results = written_study([run_of(1, 2, 3, 4, 5, 6), run_of(7, 8)])
        work, turns = results._series.read_columns(["level", "other"]), 0
        try:
            while True:
                next(work)
                turns += 1
        except StopIteration as stop:
            found = stop.value
        assert found.values["level"].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
        assert found.values["other"].tolist() == [-1, -2, -3, -4, -5, -6, -7, -8]
        assert found.ticks.tolist() == [*TICKS, 2, 7]
        assert turns == {1: 16, 1000: 2}.get(size, turns)  # once for its index, and once for its numbers
        assert results.bands("level").mean.tolist() == expected
