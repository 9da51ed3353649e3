"""Laws of responses, heatmaps, bands, summaries and comparisons, on a study that a sweep has left."""

from __future__ import annotations

import numpy as np
import pytest

import henad_web as hw
from tests.shared.reference_folder import reference_files


@pytest.fixture
def results() -> hw.ResultSet:
    return hw.ResultSet.from_files(reference_files())


def test_a_response_has_the_means_of_the_runs_at_each_level(results: hw.ResultSet) -> None:
    curve = results.response("Infected:final", "infection_rate")
    assert curve.x.tolist() == [0.2, 0.4]
    assert curve.mean.tolist() == [145.5, 120.0]
    assert curve.n.tolist() == [2, 2]
    assert curve.high[0] == pytest.approx(145.5 + 12.706204736 * 10.5)


def test_a_band_has_the_means_of_the_samples_at_each_tick(results: hw.ResultSet) -> None:
    band = results.bands("Infected", by="infection_rate", spread="sd")
    assert [curve.label for curve in band.curves()] == ["Infection Rate 0.2", "Infection Rate 0.4"]
    for curve in band.curves():
        runs = np.flatnonzero(results.runs["infection_rate"] == curve.levels["infection_rate"])
        samples = np.array([results.series(int(run))["Infected"] for run in results.runs["run_id"][runs]])
        assert band.mean[curve.rows].tolist() == samples.mean(axis=0).tolist()
        assert band.n[curve.rows].tolist() == [2] * 5
