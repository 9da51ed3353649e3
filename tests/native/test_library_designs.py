"""Designs that a library draws: the rows are the library's own, in bounds, and a function of the seed alone."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SALib.analyze.sobol
import SALib.sample.morris
import SALib.sample.sobol
from scipy.stats import qmc

import henad_web as hw
from henad_web.explore.levels import ContinuousDomain, Domain, WholeDomain
from henad_web.explore.sampled_designs import MorrisDesign, SaltelliDesign, SobolDesign
from tests.shared.schemas import ALL, block, column, move, only_problem, plan_of, span, values, vary
from tests.shared.wide_values import HIGHEST, LOWEST
from tests.shared.wide_values import SCHEMA as WIDE_SCHEMA
from tests.shared.wide_values import column as wide_column

EXAMPLES = Path(__file__).parents[2] / "examples"
UNIT = ContinuousDomain(0.0, 1.0)
SEED = 2**64 - 3


def rows_of(design: Any) -> np.ndarray[Any, Any]:
    return np.array([design.row(position) for position in range(design.config_count)])


def problem(factors: int) -> dict[str, Any]:
    return {
        "num_vars": factors,
        "names": [f"x{place}" for place in range(factors)],
        "bounds": [[0.0, 1.0]] * factors,
    }


def test_sobol_points_are_the_library_s_scrambled_by_the_seed() -> None:
    expected = qmc.Sobol(3, scramble=True, rng=SEED).random(64).astype(np.float32)
    assert (rows_of(SobolDesign([UNIT] * 3, 64, SEED)) == expected).all()


def test_sobol_points_drawn_in_parts_are_those_drawn_at_once() -> None:
    expected = qmc.Sobol(2, scramble=True, rng=4).random(2**17).astype(np.float32)
    assert (np.stack(SobolDesign([UNIT] * 2, 2**17, 4).columns(0, 2**17), axis=1) == expected).all()


@pytest.mark.parametrize("second_order", [True, False])
@pytest.mark.parametrize("factors", [1, 2, 3, 5])
def test_a_saltelli_design_has_the_library_s_rows_in_its_order(factors: int, second_order: bool) -> None:
    expected = SALib.sample.sobol.sample(
        problem(factors), 16, calc_second_order=second_order, seed=np.random.default_rng(9)
    )
    design = SaltelliDesign([UNIT] * factors, 16, 9, second_order=second_order)
    assert design.config_count == len(expected) == 16 * (2 * factors + 2 if second_order else factors + 2)
    assert (rows_of(design) == expected.astype(np.float32)).all()


@pytest.mark.parametrize("num_levels", [2, 4, 6, 10])
def test_morris_trajectories_are_the_library_s_on_the_grid(num_levels: int) -> None:
    expected = SALib.sample.morris.sample(problem(3), 20, num_levels=num_levels, seed=SEED)
    rows = rows_of(MorrisDesign([UNIT] * 3, 20, SEED, num_levels=num_levels))
    assert np.abs(rows - expected).max() < 1e-6
    grid = {float(np.float32(level / (num_levels - 1))) for level in range(num_levels)}
    assert set(rows.ravel().tolist()) <= grid


def test_each_step_of_a_morris_trajectory_moves_one_factor() -> None:
    rows = rows_of(MorrisDesign([UNIT] * 4, 30, 1, num_levels=4)).reshape(30, 5, 4)
    moved = (np.diff(rows, axis=1) != 0).sum(axis=2)
    assert (moved == 1).all()
    assert ((np.diff(rows, axis=1) != 0).sum(axis=1) == 1).all()


def test_many_morris_trajectories_are_drawn_in_parts_that_differ() -> None:
    design = MorrisDesign([UNIT] * 2, 4100, 7, num_levels=4)
    rows = rows_of(design)
    assert len(rows) == 4100 * 3
    assert (rows[:12] == rows_of(MorrisDesign([UNIT] * 2, 4, 7, num_levels=4))).all()
    assert not (rows[: 4 * 3] == rows[4096 * 3 :]).all()


DOMAINS: list[Domain] = [ContinuousDomain(2.0, 4.0), WholeDomain(1, 3), ("a", "b", "c", "d")]


@pytest.mark.parametrize(
    "design",
    [
        SobolDesign(DOMAINS, 256, 3),
        SaltelliDesign(DOMAINS, 64, 3, second_order=True),
        MorrisDesign(DOMAINS, 60, 3, num_levels=4),
    ],
    ids=["sobol", "saltelli", "morris"],
)
def test_levels_stay_in_bounds_and_each_is_reached(design: Any) -> None:
    rows = [design.row(position) for position in range(design.config_count)]
    fractions, whole, letters = zip(*rows, strict=True)
    assert 2.0 <= min(fractions) < 2.1
    assert 3.9 < max(fractions) <= 4.0
    assert set(whole) == {1, 2, 3}
    assert set(letters) == {"a", "b", "c", "d"}
    assert design.late_ticks(1, 1) == (sum(value > 1 for value in whole), 3)


def test_sobol_points_balance_levels_in_powers_of_two() -> None:
    design = SobolDesign(DOMAINS, 64, 12)
    assert set(Counter(design.row(position)[2] for position in range(64)).values()) == {16}


@pytest.mark.parametrize("kind", ["sobol", "saltelli", "morris"])
def test_a_plan_depends_on_the_seed_only(kind: str) -> None:
    def sampled(seed: int | None) -> list[object]:
        factors = (vary("rate", span(0.0, 1.0)), vary("mode", ALL), move("pulse", span(1, 50)))
        return list(plan_of(block(*factors, design=kind, samples=8, seed=seed)).configs)

    assert sampled(5) == sampled(5)
    assert sampled(5) != sampled(6)
    assert sampled(None) == sampled(11629814477949246596)


@pytest.mark.parametrize(("kind", "count"), [("sobol", 8), ("saltelli", 8 * 6), ("morris", 8 * 3)])
def test_the_plan_counts_and_names_its_design(kind: str, count: int) -> None:
    plan = plan_of(block(vary("rate", span(0.0, 1.0)), vary("size", values(1, 2)), design=kind, samples=8, seed=3))
    (planned,) = plan.blocks
    assert (planned.design, planned.config_count, planned.design_seed) == (kind, count, 3)
    assert len(column(plan, "rate")) == count


@pytest.mark.parametrize(("kind", "samples"), [("saltelli", 2**22), ("morris", 2**23)])
def test_configs_past_the_limit_are_refused_before_anything_is_drawn(kind: str, samples: int) -> None:
    wrong = only_problem(block(vary("rate", span(0.0, 1.0)), vary("size", values(1, 2)), design=kind, samples=samples))
    assert (wrong.place.key, wrong.wrong, wrong.allowed) == (
        "samples",
        "too many configs",
        "at most 16 777 216 configs",
    )


def test_a_large_design_is_kept_in_little_memory() -> None:
    samples = 2**18
    design = SobolDesign([UNIT, WholeDomain(1, 100)], samples, 5)
    design.draw()
    tracemalloc.start()
    design.row(0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * samples + 8_000_000
    assert design.row(samples - 1)[1] in range(1, 101)


def test_the_library_s_analysis_reads_results_in_config_order() -> None:
    # Of f(x, y) = 2 x + y the variance is 4/5 x's and 1/5 y's.
    rows = rows_of(SaltelliDesign([UNIT] * 2, 1024, 6, second_order=True))
    indices = SALib.analyze.sobol.analyze(problem(2), 2 * rows[:, 0] + rows[:, 1], seed=1)
    assert indices["S1"] == pytest.approx([0.8, 0.2], abs=0.02)


def test_the_frozen_example_is_the_one_it_was_frozen_from() -> None:
    schema = hw.example_models()["sir"].schema()
    drawn, frozen = (hw.load_spec(EXAMPLES / name).spec for name in ("native/sir_sobol.toml", "sir_sobol_frozen.toml"))
    assert hw.freeze(drawn, schema) == frozen
    first, second = ([plan.run_key(run) for run in plan.runs()] for plan in (drawn.plan(schema), frozen.plan(schema)))
    assert first == second


@pytest.mark.parametrize(("design", "samples"), [("sobol", 64), ("saltelli", 16), ("morris", 16)])
def test_doubles_and_wide_whole_numbers_are_drawn_over_their_whole_span(design: str, samples: int) -> None:
    spans = (("level", -1e300, 1e300), ("offset", LOWEST, HIGHEST), ("share", -1.5, 1.5))
    factors = tuple(hw.FactorSpec(param=name, levels=hw.RangeLevels(min=low, max=high)) for name, low, high in spans)
    drawn = hw.BlockSpec(design=hw.DesignKind(design), samples=samples, factors=factors)
    plan = hw.SweepSpec(model="wide", blocks=(drawn,)).plan(WIDE_SCHEMA)
    for name, low, high in spans:
        found = wide_column(plan, name)
        assert all(low <= value <= high for value in found if not isinstance(value, str))
        shares = [float(value) / high for value in found]
        assert min(shares) < -0.9
        assert max(shares) > 0.9
        if design == "morris":
            assert (min(found), max(found)) == (low, high)
    assert {type(value) for value in wide_column(plan, "offset")} == {int}
    frozen = hw.freeze(plan.spec, WIDE_SCHEMA).plan(WIDE_SCHEMA)
    assert [config.params for config in frozen.configs] == [config.params for config in plan.configs]
