"""Sensitivity against the libraries that others use: SALib's indices and effects, numpy's and scipy's regressions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import SALib.analyze.morris
import SALib.analyze.sobol
import SALib.sample.sobol
from numpy.typing import NDArray
from SALib.test_functions import Ishigami
from scipy import stats

import henad_web as hw
from henad_web.analysis import MorrisEffects, RegressionMeasures, SobolIndices
from henad_web.analysis.pieces import Analysis, Pieces
from henad_web.analysis.regression import fitted, ranks
from henad_web.analysis.resamples import Resampling
from henad_web.analysis.sobol import Indices, sobol_indices

NAMES = ("x1", "x2", "x3")
SPAN = (-math.pi, math.pi)
PROBLEM = {"num_vars": 3, "names": list(NAMES), "bounds": [list(SPAN)] * 3}


def ishigami(params: dict[str, Any], _: object) -> float:
    """Return Ishigami's function, as SALib has it."""
    return float(Ishigami.evaluate(np.array([[params[name] for name in NAMES]]))[0])


ENTRY = hw.from_function(
    ishigami,
    params=[hw.f64(name, name, 0.0, min=SPAN[0], max=SPAN[1]) for name in NAMES],
    stats=["y"],
    portable=False,
)


def study(design: str, samples: int, *, is_frozen: bool = False, **options: Any) -> hw.ResultSet:
    factors = tuple(hw.FactorSpec(param=name, levels=hw.RangeLevels(min=SPAN[0], max=SPAN[1])) for name in NAMES)
    block = hw.BlockSpec(design=hw.DesignKind(design), samples=samples, factors=factors, **options)
    spec = hw.SweepSpec(model=ENTRY.id, run=hw.RunSettings(steps=0), blocks=(block,))
    record = hw.run_spec(ENTRY, hw.freeze(spec, ENTRY.schema()) if is_frozen else spec, output=hw.MemoryOutput())
    assert record.files is not None
    return hw.ResultSet.from_files(record.files)


def answer(pieces: Pieces[Any]) -> Any:
    analysis = Analysis(pieces)
    while not analysis.advance():
        pass
    return analysis.answer


@pytest.mark.parametrize("is_frozen", [False, True])
@pytest.mark.parametrize("second_order", [True, False])
def test_indices_of_a_sweep_are_salib_s(second_order: bool, is_frozen: bool) -> None:
    results = study("saltelli", 64, second_order=second_order, is_frozen=is_frozen)
    y = results.runs.reducer("y:final")
    expected = SALib.analyze.sobol.analyze(PROBLEM, y, calc_second_order=second_order, seed=1)
    found = results.sensitivity("y:final")
    assert isinstance(found, SobolIndices)
    assert found.factors == NAMES
    assert found.s1 == pytest.approx(expected["S1"], abs=1e-9)
    assert found.st == pytest.approx(expected["ST"], abs=1e-9)
    assert (found.s2 is None) is not second_order
    if found.s2 is not None:
        assert found.s2 == pytest.approx(expected["S2"], abs=1e-9, nan_ok=True)
    # Both are draws of one definition, theirs of 100 resamples.
    assert found.s1_conf == pytest.approx(expected["S1_conf"], rel=0.5)
    assert found.st_conf == pytest.approx(expected["ST_conf"], rel=0.5)


@pytest.mark.parametrize("is_frozen", [False, True])
@pytest.mark.parametrize("num_levels", [4, 6])
def test_effects_of_a_sweep_are_salib_s(num_levels: int, is_frozen: bool) -> None:
    results = study("morris", 30, num_levels=num_levels, is_frozen=is_frozen)
    x = np.column_stack([results.runs.param(name) for name in NAMES])
    y = results.runs.reducer("y:final")
    expected = SALib.analyze.morris.analyze(PROBLEM, x, y, num_levels=num_levels, seed=1)
    found = results.sensitivity("y:final")
    assert isinstance(found, MorrisEffects)
    for name in ("mu", "mu_star", "sigma"):
        assert getattr(found, name) == pytest.approx(np.asarray(expected[name], float), rel=1e-9, abs=1e-9)
    assert found.mu_star_conf == pytest.approx(np.asarray(expected["mu_star_conf"], float), rel=0.5, abs=1e-9)


@pytest.mark.parametrize("second_order", [True, False])
def test_indices_of_many_points_near_the_known_ones(second_order: bool) -> None:
    points = 4096
    x = SALib.sample.sobol.sample(PROBLEM, points, calc_second_order=second_order, seed=3)
    y = Ishigami.evaluate(x)
    expected = SALib.analyze.sobol.analyze(PROBLEM, y, calc_second_order=second_order, seed=1)
    draws = Resampling(confidence=0.95, resamples=100, seed=0)
    found: Indices = answer(sobol_indices(y.reshape(points, -1), 3, second_order, draws))
    assert found.first_order[0] == pytest.approx(expected["S1"], abs=1e-12)
    assert found.total[0] == pytest.approx(expected["ST"], abs=1e-12)
    # T. Ishigami and T. Homma, 1990: with a = 7 and b = 0.1.
    assert found.first_order[0] == pytest.approx([0.3139, 0.4424, 0], abs=0.02)
    assert found.total[0] == pytest.approx([0.5576, 0.4424, 0.2437], abs=0.02)
    assert found.half_widths[:3] == pytest.approx(np.asarray(expected["S1_conf"]), rel=0.35)


def sample(seed: int, count: int = 60) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 3)).round(1)  # with ties
    x[:, 2] += x[:, 0] / 2
    return x, x[:, 0] ** 3 - 2 * x[:, 1] + x[:, 2] * x[:, 1] + rng.normal(size=count)


@pytest.mark.parametrize("seed", range(5))
def test_a_regression_is_numpy_s_and_its_ranks_scipy_s(seed: int) -> None:
    x, y = sample(seed)
    fit = answer(fitted(list(x.T), y))
    standard = [(column - column.mean()) / column.std() for column in (*x.T, y)]
    design = np.column_stack(standard[:-1])
    coefficients, _, _, _ = np.linalg.lstsq(design, standard[-1])
    left = standard[-1] - design @ coefficients
    assert fit.coefficients == pytest.approx(coefficients, rel=1e-9)
    assert fit.r2 == pytest.approx(1 - left.var(), rel=1e-9)
    assert fit.r2_adjusted == pytest.approx(1 - left.var() * 59 / 56, rel=1e-9)
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * (left @ left) / 56)
    assert fit.half_widths(0.95) == pytest.approx(stats.t.ppf(0.975, 56) * errors, rel=1e-6)
    for column in (*x.T, y):
        assert answer(ranks(column)).tolist() == stats.rankdata(column).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_rank_correlations_are_scipy_s_and_partial_ones_those_of_residuals(seed: int) -> None:
    x, y = sample(seed)
    ranked = [stats.rankdata(column) for column in (*x.T, y)]
    fit = answer(fitted(ranked[:-1], ranked[-1]))
    assert fit.correlations == pytest.approx([stats.spearmanr(column, y).statistic for column in x.T], rel=1e-9)
    for factor in range(3):
        others = np.column_stack([np.ones(60), *(ranked[place] for place in range(3) if place != factor)])
        residuals = [ranked[place] - others @ np.linalg.lstsq(others, ranked[place])[0] for place in (factor, 3)]
        assert fit.partial[factor] == pytest.approx(stats.pearsonr(*residuals).statistic, rel=1e-9)


def test_spearman_of_a_sweep_is_scipy_s() -> None:
    results = study("lhs", 50)
    found = results.sensitivity("y:final")
    assert isinstance(found, RegressionMeasures)
    y = results.runs.reducer("y:final")
    expected = [stats.spearmanr(results.runs.param(name), y).statistic for name in NAMES]
    assert found.spearman == pytest.approx(expected, rel=1e-9)


MODES = ("slow", "fast", "idle")


def weighed(params: dict[str, Any], _: object) -> float:
    return float(params["rate"] + 3 * params["size"] + 10 * MODES.index(params["mode"]) + params["rate"] * params["on"])


WEIGHED = hw.from_function(
    weighed,
    params=[
        hw.f32("rate", "Rate", 0.5, min=0.1, max=0.9),
        hw.u32("size", "Size", 2, min=1, max=3),
        hw.choice("mode", "Mode", MODES),
        hw.boolean("on", "On", False),
    ],
    stats=["y"],
)


def of_weighed(*blocks: hw.BlockSpec) -> hw.ResultSet:
    record = hw.run_spec(WEIGHED, hw.SweepSpec(model=WEIGHED.id, run=hw.RunSettings(steps=0), blocks=blocks))
    assert record.files is not None
    return hw.ResultSet.from_files(record.files)


def block_of(design: str, samples: int) -> hw.BlockSpec:
    levels: dict[str, hw.RangeLevels | hw.AllLevels] = {
        "rate": hw.RangeLevels(min=0.1, max=0.9),
        "size": hw.RangeLevels(min=1, max=3),
        "mode": hw.AllLevels(),
        "on": hw.AllLevels(),
    }
    factors = tuple(hw.FactorSpec(param=name, levels=each) for name, each in levels.items())
    return hw.BlockSpec(design=hw.DesignKind(design), samples=samples, factors=factors)


def test_effects_of_whole_numbers_names_and_single_precision_are_salib_s() -> None:
    results = of_weighed(block_of("morris", 40))
    y = results.runs.reducer("y:final")
    numbers = [results.runs.param("rate"), results.runs.param("size")]
    codes = [[MODES.index(name) for name in results.runs.param("mode").tolist()], results.runs.param("on")]
    x = np.column_stack([np.asarray(column, np.float64) for column in (*numbers, *codes)])
    problem = {"num_vars": 4, "names": ["rate", "size", "mode", "on"], "bounds": [[0.0, 1.0]] * 4}
    expected = SALib.analyze.morris.analyze(problem, x, y, num_levels=4, seed=1)
    found = results.sensitivity("y:final")
    assert isinstance(found, MorrisEffects)
    for name in ("mu", "mu_star", "sigma"):
        assert getattr(found, name) == pytest.approx(np.asarray(expected[name], float), rel=1e-9, abs=1e-9)


def test_of_several_such_designs_one_is_asked() -> None:
    results = of_weighed(block_of("saltelli", 4), block_of("morris", 4), block_of("saltelli", 8), block_of("lhs", 30))
    with pytest.raises(hw.UsageError, match=r"there are several: block 0, a saltelli.*block 2, a sal.*choose one"):
        results.sensitivity("y:final", method="sobol")
    effects = results.sensitivity("y:final", method="morris")
    assert effects.lines[0] == "block 1, a morris design, of 4 blocks"
    indices = results.sensitivity("y:final", block=2)
    assert isinstance(indices, SobolIndices)
    assert (indices.points, indices.factors) == (8, ("rate", "size", "mode", "on"))
    drawn = results.sensitivity("y:final", block=3)
    assert isinstance(drawn, RegressionMeasures)
    assert drawn.configs == 30
    assert drawn.factors == ("rate", "size", "on")
    with pytest.raises(hw.UsageError, match="held takes the points of block 2"):
        results.sensitivity("y:final", block=2, held={"on": True})


def test_what_a_search_tried_is_regressed_with_a_word_on_it() -> None:
    spec = hw.parse_spec("""
    model = "weighed"
    run = { steps = 0 }
    [search]
    algorithm = "random"
    max_evaluations = 30
    batch_size = 10
    objective = { column = "y:final", goal = "maximize" }
    space = [{ param = "rate", range = { min = 0.1, max = 0.9 } }, { param = "size", range = { min = 1, max = 3 } }]
    """).spec
    record = hw.run_spec(WEIGHED, spec)
    assert record.files is not None
    results = hw.ResultSet.from_files(record.files)
    found = results.sensitivity("y:final")
    assert isinstance(found, RegressionMeasures)
    assert found.src[1] > 0.9
    assert any("chosen by a search" in line for line in found.lines)
    with pytest.raises(hw.UsageError, match=r"'sobol' is of one block.*a search chooses its configs"):
        results.sensitivity("y:final", method="sobol")
    with pytest.raises(hw.UsageError, match="block is 0; allowed: none, a search has no blocks"):
        results.sensitivity("y:final", block=0)
