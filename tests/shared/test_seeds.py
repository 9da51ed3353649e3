"""Seeds are pure functions of the root: recorded values, no collisions, never zero."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from henad_web.explore.seeds import SEED_FORMULAS, derived_design_seed, run_seed, search_seed
from henad_web.explore.spec import SeedScheme
from henad_web.randomness import mix_seed

ROOTS = st.integers(0, 2**64 - 1)


def test_common_seeds_have_their_recorded_values() -> None:
    seeds = [run_seed(SeedScheme.COMMON, 0, 0, rep) for rep in range(3)]
    assert seeds == [4320778953317010875, 16795053913516373515, 9664808994305125041]
    assert [run_seed(SeedScheme.COMMON, 7, 0, rep) for rep in range(2)] == [11389263990721755462, 3710028182051322707]


def test_design_and_search_seeds_have_their_recorded_values() -> None:
    assert derived_design_seed(0, 0) == 11629814477949246596
    assert search_seed(1) == 18174148693273609575
    assert search_seed(7) == 17523302729290520563


def test_the_common_scheme_gives_every_config_the_same_numbers() -> None:
    assert run_seed(SeedScheme.COMMON, 3, 0, 5) == run_seed(SeedScheme.COMMON, 3, 999, 5)


def test_the_independent_scheme_follows_its_formula() -> None:
    inner = (mix_seed(3 ^ 0x00C04F165EED0001) + 9) % 2**64
    outer = (mix_seed(inner ^ 0x005EE9005EED0001) + 5) % 2**64
    assert run_seed(SeedScheme.INDEPENDENT, 3, 9, 5) == mix_seed(outer)


def test_seeds_of_all_kinds_are_apart() -> None:
    seeds: list[int] = []
    for root in range(8):
        seeds += [run_seed(SeedScheme.COMMON, root, 0, rep) for rep in range(40)]
        seeds += [run_seed(SeedScheme.INDEPENDENT, root, c, r) for c in range(20) for r in range(4)]
        seeds += [derived_design_seed(root, block) for block in range(10)]
        seeds.append(search_seed(root))
    assert len(set(seeds)) == len(seeds)


@given(ROOTS, st.integers(0, 2**24), st.integers(0, 2**24))
def test_a_seed_is_a_word_and_never_zero(root: int, config_id: int, rep: int) -> None:
    for seed in (
        run_seed(SeedScheme.COMMON, root, config_id, rep),
        run_seed(SeedScheme.INDEPENDENT, root, config_id, rep),
        derived_design_seed(root, config_id),
        search_seed(root),
    ):
        assert 0 < seed < 2**64


def test_the_manifest_can_state_both_formulas() -> None:
    assert SEED_FORMULAS == {
        "common": "mix_seed(mix_seed(root ^ SWEEP_SALT) + rep)",
        "independent": "mix_seed(mix_seed((mix_seed(root ^ CONFIG_SALT) + config_id) ^ SWEEP_SALT) + rep)",
    }
