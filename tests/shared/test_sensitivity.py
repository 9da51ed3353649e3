"""Sensitivity: each method finds what is known of a polynomial, counts what it should, refuses what does not fit."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

import henad_web as hw
from henad_web.analysis import Analysis, MainEffects, MorrisEffects, RegressionMeasures, SobolIndices
from henad_web.analysis.config_means import config_means
from henad_web.analysis.pieces import Pieces
from henad_web.analysis.regression import Fit
from henad_web.analysis.resamples import Resampling
from henad_web.analysis.selection import selected
from henad_web.model.decimals import f64_text
from henad_web.randomness import DesignRng
from henad_web.targets import PumpedTarget
from tests.shared.hosts import Host
from tests.shared.sensitivity_studies import (
    MODES,
    NAMES,
    failed,
    files_of,
    grid_of,
    opened,
    saltelli_rows,
    table_of,
    trajectory_rows,
)

POINTS, CONFIGS = 16, 8
TRAJECTORIES = 10
COUNT = 40


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    host = Host(PumpedTarget())
    yield host
    host.close()


@pytest.fixture(scope="module")
def saltelli(host: Host) -> dict[str, bytes]:
    return files_of(host, table_of(saltelli_rows(POINTS, second_order=True)))


@pytest.fixture(scope="module")
def morris(host: Host) -> dict[str, bytes]:
    return files_of(host, table_of(trajectory_rows(TRAJECTORIES)))


@pytest.fixture(scope="module")
def scattered(host: Host) -> dict[str, bytes]:
    rows = DesignRng(8).units(3 * COUNT).reshape(COUNT, 3)
    return files_of(host, table_of(np.round(rows, 4)), replicates=2)


def sobol(results: hw.ResultSet, y: str = "y:final", **options: Any) -> SobolIndices:
    found = results.sensitivity(y, **options)
    assert isinstance(found, SobolIndices)
    return found


def effects(results: hw.ResultSet, y: str = "y:final", **options: Any) -> MorrisEffects:
    found = results.sensitivity(y, **options)
    assert isinstance(found, MorrisEffects)
    return found


def regression(results: hw.ResultSet, y: str = "y:final", **options: Any) -> RegressionMeasures:
    found = results.sensitivity(y, **options)
    assert isinstance(found, RegressionMeasures)
    return found


def main_effects(results: hw.ResultSet, y: str = "y:final", **options: Any) -> MainEffects:
    found = results.sensitivity(y, **options)
    assert isinstance(found, MainEffects)
    return found


def plain_mean(numbers: Any) -> float:
    return math.fsum(numbers) / len(list(numbers))


def test_indices_are_what_the_formulas_say_point_by_point(saltelli: dict[str, bytes]) -> None:
    results = opened(saltelli)
    y = results.runs.reducer("y:final").tolist()
    center = plain_mean(y)
    points = [[value - center for value in y[first : first + CONFIGS]] for first in range(0, len(y), CONFIGS)]
    ends = [value for point in points for value in (point[0], point[-1])]
    variance = plain_mean([value**2 for value in ends]) - plain_mean(ends) ** 2
    s1 = [plain_mean([p[-1] * (p[1 + i] - p[0]) for p in points]) / variance for i in range(3)]
    st = [plain_mean([(p[0] - p[1 + i]) ** 2 for p in points]) / variance / 2 for i in range(3)]
    found = sobol(results)
    assert found.factors == NAMES
    assert found.s1 == pytest.approx(s1, rel=1e-12)
    assert found.st == pytest.approx(st, rel=1e-12)
    assert found.s2 is not None
    for i, j in itertools.product(range(3), repeat=2):
        both = plain_mean([p[4 + i] * p[1 + j] - p[0] * p[-1] for p in points]) / variance - s1[i] - s1[j]
        assert found.s2[i, j] == pytest.approx(both if i < j else math.nan, rel=1e-12, nan_ok=True)
    assert found.points == POINTS


def test_intervals_are_deviations_of_points_drawn_with_replacement(saltelli: dict[str, bytes]) -> None:
    y = opened(saltelli).runs.reducer("y:final").reshape(POINTS, CONFIGS)
    y = (y - y.mean()) / y.std()
    drawn = []
    for counts in Resampling(confidence=0.9, resamples=50, seed=7).counts(POINTS):
        chosen = np.repeat(y, counts.astype(int), axis=0)
        assert len(chosen) == POINTS
        ends = np.append(chosen[:, 0], chosen[:, -1])
        s1 = [(chosen[:, -1] * (chosen[:, 1 + i] - chosen[:, 0])).mean() / ends.var() for i in range(3)]
        st = [((chosen[:, 0] - chosen[:, 1 + i]) ** 2).mean() / ends.var() / 2 for i in range(3)]
        drawn.append(s1 + st)
    halves = 1.6448536269514722 * np.std(drawn, axis=0, ddof=1)
    found = sobol(opened(saltelli), confidence=0.9, resamples=50, seed=7)
    assert found.s1_conf == pytest.approx(halves[:3], rel=1e-9)
    assert found.st_conf == pytest.approx(halves[3:], rel=1e-9)
    assert found.s1_high - found.s1 == pytest.approx(halves[:3], rel=1e-9)
    assert found.st - found.st_low == pytest.approx(halves[3:], rel=1e-9)


RECORDED = [
    "factor,s1,s1_low,s1_high,st,st_low,st_high\n"
    "a,0.27622838408160527,-0.03832967375587126,0.5907864419190818,0.3220581027300048,0.10617637044297884,0.5379398350170308\n"
    "b,0.6975664473489208,0.27955779699305866,1.115575097704783,0.6926219853731868,0.26224019295207324,1.1230037777943003\n"
    "c,-0.06530208460426945,-0.25245697393845346,0.12185280472991458,0.06397662875199685,0.01865187350498329,0.1093013839990104\n",
    "first,second,s2,s2_low,s2_high\n"
    "a,b,0.05348668487508634,-0.7580759786501795,0.8650493484003522\n"
    "a,c,0.0033321665023139935,-0.4604638120077743,0.4671281450124023\n"
    "b,c,0.003147236637120354,-0.5649126336602582,0.5712071069344989\n",
    "factor,mu,mu_star,mu_star_low,mu_star_high,sigma\n"
    "a,1.7,1.7,1.5116382722082622,1.8883617277917377,0.32914029430219166\n"
    "b,1.7,1.7,1.4599463339754069,1.940053666024593,0.42163702135578396\n"
    "c,0.375,0.375,0.1511068839513326,0.5988931160486675,0.39528470752104744\n",
    "factor,src,src_low,src_high,srrc,prcc,spearman\n"
    "a,0.49599844328766357,0.41597340924041715,0.57602347733491,0.4859135358978426,0.8383057947222182,0.4028142589118198\n"
    "b,0.885058398190165,0.8051351344581749,0.9649816619221551,0.8653626596994702,0.9391692320565652,0.8067542213883677\n"
    "c,0.11895332888476819,0.03910924697855843,0.19879741079097796,0.10901094554193885,0.32677362012643546,0.06941838649155718\n",
    "factor,levels,s1,st\n"
    "a,3,0.6902834008097167,0.7061301271827587\n"
    "b,2,0.2683106367316893,0.2683106367316892\n"
    "c,2,0.02555923608555188,0.04140596245859374\n",
]


def test_numbers_are_the_same_on_every_target(
    host: Host, saltelli: dict[str, bytes], morris: dict[str, bytes], scattered: dict[str, bytes]
) -> None:
    indices = sobol(opened(saltelli), resamples=100)
    assert indices.pairs is not None
    measured = (
        indices,
        indices.pairs,
        effects(opened(morris), resamples=100),
        regression(opened(scattered)),
        main_effects(opened(files_of(host, grid_of(a=(0.1, 0.2, 0.7), b=(0.3, 0.6), c=(0.4, 0.9))))),
    )
    assert [table.to_csv() for table in measured] == RECORDED


def test_a_seed_decides_the_draws(saltelli: dict[str, bytes]) -> None:
    def drawn(seed: int) -> str:
        return sobol(opened(saltelli), resamples=20, seed=seed).to_csv()

    assert drawn(1) == drawn(1) == drawn(1 - 2**64)
    assert drawn(1) != drawn(2)


@pytest.mark.parametrize("kind", ["saltelli", "morris", "scattered"])
def test_the_order_of_the_rows_changes_no_bit(kind: str, request: pytest.FixtureRequest) -> None:
    files = request.getfixturevalue(kind)
    order = DesignRng(4).permutation(len(opened(files).runs))
    mixed = opened(files, lambda rows: [rows[place] for place in order])
    for method in (None, "regression"):
        texts = [each.sensitivity("y:final", method=method).to_csv() for each in (mixed, opened(files))]
        assert texts[0] == texts[1]


def test_a_config_without_a_value_takes_its_point_along(saltelli: dict[str, bytes]) -> None:
    def damaged(rows: list[str]) -> list[str]:
        return [*rows[:10], failed(rows[10]), *rows[11:57], *rows[58:]]  # of the second and of the eighth point

    def without(rows: list[str]) -> list[str]:
        return [*rows[:8], *rows[16:56], *rows[64:]]

    found = sobol(opened(saltelli, damaged))
    assert found.to_csv() == sobol(opened(saltelli, without)).to_csv()
    assert found.to_csv() != sobol(opened(saltelli)).to_csv()
    assert (found.points, found.points_left_out) == (POINTS - 2, 2)
    assert "2 of 16 points left out: a config has no value" in found.lines
    assert "1 run failed: left out" in found.lines
    assert "1 run not done: left out" in found.lines


def test_a_config_without_a_value_takes_its_trajectory_along(morris: dict[str, bytes]) -> None:
    found = effects(opened(morris, lambda rows: [*rows[:21], failed(rows[21]), *rows[22:]]))
    assert found.to_csv() == effects(opened(morris, lambda rows: [*rows[:20], *rows[24:]])).to_csv()
    assert (found.trajectories, found.trajectories_left_out) == (TRAJECTORIES - 1, 1)


def test_another_unit_of_y_changes_no_share(saltelli: dict[str, bytes]) -> None:
    one, other = (sobol(opened(saltelli), y) for y in ("y:final", "z:final"))
    for name in ("s1", "s1_low", "st", "st_high"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-9)


def test_effects_are_differences_along_the_steps(morris: dict[str, bytes]) -> None:
    results = opened(morris)
    y = results.runs.reducer("y:final").reshape(TRAJECTORIES, 4)
    values = np.stack([results.runs.param(name) for name in NAMES], axis=1).reshape(TRAJECTORIES, 4, 3)
    slopes: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for trajectory, levels in zip(y, values, strict=True):
        for step in range(3):
            move = levels[step + 1] - levels[step]
            (factor,) = np.flatnonzero(move).tolist()
            slopes[factor].append((trajectory[step + 1] - trajectory[step]) / move[factor])
    found = effects(results)
    for place, each in slopes.items():
        assert found.mu[place] == pytest.approx(np.mean(each))
        assert found.mu_star[place] == pytest.approx(np.mean(np.abs(each)))
        assert found.sigma[place] == pytest.approx(np.std(each, ddof=1))
    turned = effects(results, "z:final")
    assert turned.mu == pytest.approx(-7 * found.mu)
    assert turned.mu_star_conf == pytest.approx(7 * found.mu_star_conf)


def test_what_does_not_vary_has_no_shares_and_says_so(
    saltelli: dict[str, bytes], morris: dict[str, bytes], scattered: dict[str, bytes]
) -> None:
    indices, flat, line = sobol(opened(saltelli), "same:final"), effects(opened(morris), "same:final"), "is the same in"
    assert np.isnan([indices.s1, indices.st, indices.s1_low, indices.st_high]).all()
    assert flat.mu_star.tolist() == flat.sigma.tolist() == [0, 0, 0]
    fit = regression(opened(scattered), "same:final")
    assert np.isnan([fit.src, fit.prcc, fit.spearman]).all()
    for found in (indices, flat, fit):
        assert any(line in told for told in found.lines)


def test_replicates_are_averaged_before_anything_else(scattered: dict[str, bytes]) -> None:
    found = regression(opened(scattered))
    assert found.configs == COUNT
    assert "each config counts once, with the mean of its 2 replicates" in found.lines
    fewer = regression(opened(scattered, lambda rows: [failed(rows[0]), *rows[1:]]))
    assert fewer.to_csv() == found.to_csv()
    assert "each config counts once, with the mean of its 1 to 2 replicates" in fewer.lines


def test_a_linear_y_is_explained_whole(host: Host) -> None:
    rows = np.round(DesignRng(1).units(2 * 20).reshape(20, 2), 3)
    found = regression(opened(files_of(host, table_of(np.column_stack([rows, np.zeros(20)])))), "y:final")
    assert found.factors == ("a", "b")  # c is the same in every config
    assert 0.9 < found.r2 < 1
    assert found.r2_adjusted < found.r2
    assert (found.src_low < found.src).all()


def test_of_names_two_have_an_order_and_more_have_none(host: Host) -> None:
    two = grid_of(a=(0.1, 0.4, 0.9), on=(False, True), mode=MODES[:2])
    found = regression(opened(files_of(host, two)), "shifted:final", method="regression")
    assert found.factors == ("a", "on", "mode")
    assert "mode: 0 stands for slow, 1 for fast" in found.lines
    assert (found.src[1:] > 0.1).all()
    three = regression(opened(files_of(host, grid_of(a=(0.1, 0.4), mode=MODES))), "shifted:final", method="regression")
    assert three.factors == ("a",)
    assert "mode left out: its 3 values are names, without an order" in three.lines


def test_a_factor_that_others_determine_is_left_out(host: Host) -> None:
    a, b = np.round(DesignRng(1).units(40), 3).reshape(2, 20)
    # To the last bit the third is a little more than the others make of it.
    found = regression(opened(files_of(host, table_of(np.column_stack([a, b, (a + b) / 2])))), method="regression")
    assert np.isnan(found.src).tolist() == [False, False, True]
    assert np.abs(found.src[:2]).max() < 2
    assert "c left out: the factors above it determine it" in found.lines


def test_a_grid_is_shared_between_its_levels(host: Host) -> None:
    results = opened(files_of(host, grid_of(a=(0.0, 0.5, 1.0), c=(0.0, 0.25, 0.75, 1.0), mode=MODES)))
    found, y = main_effects(results), results.runs.reducer("y:final").reshape(3, 4, 3)
    assert found.factors == ("a", "c", "mode")
    assert found.levels.tolist() == [3, 4, 3]
    for factor in range(3):
        others = tuple(place for place in range(3) if place != factor)
        assert found.s1[factor] == pytest.approx(y.mean(axis=others).var() / y.var(), abs=1e-12)
        assert found.st[factor] == pytest.approx(y.var(axis=factor).mean() / y.var(), abs=1e-12)
    assert found.st[2] == pytest.approx(0, abs=1e-12)
    fewer = main_effects(opened(files_of(host, grid_of(a=(0.0, 1.0), c=(0.0, 1.0))), lambda rows: rows[1:]))
    assert fewer.configs_left_out == 1
    assert "1 of 4 configs left out: no value" in fewer.lines


def test_a_grid_in_a_table_is_known_by_its_values(host: Host) -> None:
    rows = np.array(list(itertools.product((0.0, 0.5, 1.0), (0.2, 0.4), (0.1, 0.6))))[DesignRng(2).permutation(12)]
    table, grid = files_of(host, table_of(rows)), files_of(host, grid_of(a=(0.0, 0.5, 1.0), b=(0.2, 0.4), c=(0.1, 0.6)))
    assert main_effects(opened(table)).s1 == pytest.approx(main_effects(opened(grid)).s1, rel=1e-12)
    twice = rows.copy()
    twice[3] = rows[4]
    assert regression(opened(files_of(host, table_of(twice)))).configs == 12


@pytest.mark.parametrize("method", ["sobol", "morris"])
def test_a_table_out_of_order_is_not_taken_for_a_design(host: Host, method: str) -> None:
    rows = saltelli_rows(4, second_order=False) if method == "sobol" else trajectory_rows(5)
    good = opened(files_of(host, table_of(rows))).sensitivity("y:final")
    assert isinstance(good, SobolIndices if method == "sobol" else MorrisEffects)
    assert any("the rows of the table lie as in a" in line for line in good.lines)
    rows[[1, 2]] = rows[[2, 1]]
    results = opened(files_of(host, table_of(rows)))
    assert regression(results).configs == len(rows)
    with pytest.raises(hw.UsageError, match=r"block 0, a table design; its rows do not lie as in one; what fits: 'reg"):
        results.sensitivity("y:final", method=method)


@pytest.mark.parametrize(
    "steps", [[(0, 0, 0), (1, 0, 0), (0, 0, 0), (0, 1, 0)], [(0, 0, 0), (1, 1, 0), (1, 1, 0), (1, 1, 1)]]
)
def test_a_trajectory_moves_each_factor_once_and_one_at_a_time(host: Host, steps: list[tuple[int, ...]]) -> None:
    rows = np.concatenate([trajectory_rows(3), np.array(steps, float)])
    with pytest.raises(hw.UsageError, match="'morris' needs a morris design"):
        opened(files_of(host, table_of(rows))).sensitivity("y:final", method="morris")


def test_the_order_of_replicates_changes_no_bit(host: Host) -> None:
    files = files_of(host, grid_of(a=(0.0, 0.3, 1.0)), replicates=3)

    def spread(rows: list[str]) -> list[str]:
        cells = [row.split(",") for row in rows]
        place = files["runs.csv"].decode().splitlines()[0].split(",").index("y:final")
        for number, each in enumerate(cells):
            each[place] = f64_text(number // 3 + (0.1, 0.2, 0.3)[number % 3])
        return [",".join(each) for each in cells]

    def turned(rows: list[str]) -> list[str]:
        return spread(rows)[::-1]

    one, other = (config_means_of(opened(files, edit)) for edit in (spread, turned))
    assert one == other


def config_means_of(results: hw.ResultSet) -> list[float]:
    analysis = Analysis(_config_means_of(results))
    while not analysis.advance():
        pass
    return analysis.answer


def _config_means_of(results: hw.ResultSet) -> Pieces[list[float]]:
    selection = yield from selected(results, "y:final")
    means = yield from config_means(results, selection)
    y: list[float] = means.y.tolist()
    return y


def test_rows_that_are_all_one_are_no_design(host: Host) -> None:
    results = opened(files_of(host, table_of(np.full((10, 3), 0.5))))
    with pytest.raises(hw.UsageError, match="'sobol' needs a saltelli design"):
        results.sensitivity("y:final", method="sobol")


def test_a_method_that_does_not_fit_is_told_what_does(host: Host, saltelli: dict[str, bytes]) -> None:
    grid = opened(files_of(host, grid_of(a=(0.0, 1.0), c=(0.0, 1.0))))
    with pytest.raises(
        hw.UsageError, match=r"'sobol' needs a saltelli design.* this is block 0, a factorial.*'main_eff"
    ):
        grid.sensitivity("y:final", method="sobol")
    with pytest.raises(hw.UsageError, match=r"method is 'sobel'; allowed: .*did you mean 'sobol'"):
        grid.sensitivity("y:final", method="sobel")
    with pytest.raises(hw.UsageError, match="held takes the points of block 0"):
        opened(saltelli).sensitivity("y:final", method="sobol", held={"on": False})
    with pytest.raises(hw.UsageError, match=r"block is 1; allowed: 0 to 0"):
        grid.sensitivity("y:final", block=1)
    with pytest.raises(hw.UsageError, match=r"confidence is 0.5; allowed: 0.9, 0.95, 0.99"):
        grid.sensitivity("y:final", confidence=0.5)
    with pytest.raises(hw.UsageError, match=r"'?y:finale'?.*did you mean 'y:final'"):
        grid.sensitivity("y:finale")


def test_too_little_of_a_design_is_told_with_what_to_do(
    saltelli: dict[str, bytes], scattered: dict[str, bytes]
) -> None:
    with pytest.raises(hw.UsageError, match=r"1 of 16 points of block 0.*2 are needed; 120 runs not done.*merge its"):
        opened(saltelli, lambda rows: rows[:8]).sensitivity("y:final", method="sobol")
    with pytest.raises(hw.UsageError, match=r"4 configs .* 3 factors: a regression needs at least 5 configs"):
        opened(scattered, lambda rows: rows[:8]).sensitivity("y:final")


def test_of_several_blocks_one_is_asked(host: Host) -> None:
    rows = saltelli_rows(4, second_order=False)
    blocks = (grid_of(a=(0.0, 1.0), c=(0.0, 0.5)), table_of(rows))
    both, alone = opened(files_of(host, *blocks)), opened(files_of(host, blocks[1]))
    found = sobol(both, block=1)
    assert found.to_csv() == sobol(alone).to_csv()
    assert found.lines[0] == "block 1, a table design, of 2 blocks"
    assert main_effects(both, block=0).configs == 4
    assert regression(both).configs == 4 + len(rows)
    failing = opened(files_of(host, *blocks), lambda rows: [failed(rows[0]), *rows[1:]])
    assert sobol(failing, block=1).left_out.failed == 0
    with pytest.raises(hw.UsageError, match=r"'sobol' is of one block; choose it, block=0; there are: block 0, a fac"):
        both.sensitivity("y:final", method="sobol")


def test_in_pieces_the_answer_is_the_same(saltelli: dict[str, bytes]) -> None:
    results = opened(saltelli)
    analysis, pieces = Analysis(results.sensitivity.pieces("y:final", resamples=30)), 1
    while not analysis.advance():
        pieces += 1
    assert pieces > 30
    assert analysis.answer.to_csv() == results.sensitivity("y:final", resamples=30).to_csv()


def test_a_statistic_at_a_tick_is_asked_like_a_reducer(saltelli: dict[str, bytes]) -> None:
    results = opened(saltelli)
    assert sobol(results, "y", at=0).to_csv() == sobol(results).to_csv()


def test_a_filtered_grid_and_a_held_one_are_no_whole_ones(host: Host) -> None:
    grid = grid_of(a=(0.0, 0.5, 1.0), c=(0.0, 0.25, 0.5, 1.0))
    cut = opened(files_of(host, msgspec.structs.replace(grid, where="a < 0.7 or c > 0.3")))
    assert regression(cut).configs == 10
    with pytest.raises(hw.UsageError, match="'main_effects' needs a whole grid"):
        cut.sensitivity("y:final", method="main_effects")
    held = regression(opened(files_of(host, grid)), held={"a": (0.0, 1.0)})
    assert (held.configs, held.factors) == (8, ("a", "c"))


def test_a_table_of_one_factor_is_taken_for_a_design_only_when_asked(host: Host) -> None:
    results = opened(files_of(host, table_of(np.array([[0.1], [0.9], [0.3], [0.7], [0.1], [0.5]]), ["a"])))
    assert regression(results).configs == 6
    assert effects(results, method="morris").trajectories == 3


def test_how_much_a_regression_explains_is_told(scattered: dict[str, bytes], host: Host) -> None:
    found = regression(opened(scattered))
    assert any(line.startswith(f"the regression explains {100 * found.r2:.0f} % of the var") for line in found.lines)
    assert not any("say little" in line for line in found.lines)
    hill = table_of(np.array([[0.5, x, 0.5] for x in (0.1, 0.3, 0.5, 0.7, 0.9)]))
    poor = regression(opened(files_of(host, hill)), "bent:final", method="regression")
    assert poor.r2 < 0.7
    assert any("below 70 % its coefficients say little" in line for line in poor.lines)


@pytest.mark.parametrize("exponent", [1018, -1000])
def test_effects_and_means_are_the_same_in_any_unit(morris: dict[str, bytes], host: Host, exponent: int) -> None:
    results = opened(morris)
    plain = effects(opened(morris))
    for column in (results.runs.reducer("y:final"), *map(results.runs.param, NAMES)):
        column[:] = np.ldexp(column, exponent)
    found = effects(results)
    for name in ("mu", "mu_star", "mu_star_high", "sigma"):
        assert getattr(found, name).tolist() == np.ldexp(getattr(plain, name), exponent).tolist()
    several = files_of(host, grid_of(a=(0.0, 0.3, 1.0)), replicates=30)
    scaled = opened(several)
    scaled.runs.reducer("z:final")[:] = np.ldexp(scaled.runs.reducer("z:final"), exponent - 3)
    assert main_effects(scaled, "z:final").to_csv() == main_effects(opened(several), "z:final").to_csv()


def test_a_factor_that_does_nothing_where_all_is_explained_has_no_partial_correlation() -> None:
    fit = Fit(
        coefficients=np.array([1.0, 0.0]),
        correlations=np.array([1.0, 0.0]),
        inverse=np.ones(2),
        unexplained=0.0,
        degrees=1,
    )
    assert fit.partial[0] == 1
    assert np.isnan(fit.partial[1])


def test_more_is_planned_where_nothing_is_left_out(host: Host) -> None:
    results = opened(files_of(host, table_of(saltelli_rows(1, second_order=True))))
    with pytest.raises(hw.UsageError, match=r"1 of 1 points .* 2 are needed; plan more points, or use method='reg"):
        results.sensitivity("y:final", method="sobol")
