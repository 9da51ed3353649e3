"""Seeds are pure functions of the root: recorded values, no collisions, never zero."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import henad_web as hw
from henad_web.explore.hashes import plan_head
from henad_web.explore.plan import Plan
from henad_web.explore.seeds import SEED_FORMULAS, derived_design_seed, run_seed, search_seed
from henad_web.explore.spec import RunSettings, SeedScheme, SeedSettings
from henad_web.explore.spec_file import parse_spec, spec_to_json, spec_to_toml
from henad_web.model.fnv import Fnv1a64
from henad_web.randomness import mix_seed
from tests.shared.schemas import block, only_problem, plan_of, problems_of, span, values, vary

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


LIST = (7, 0, 2**64 - 1)


def listed(*seeds: int, root: int = 3) -> Plan:
    factors = vary("size", values(1, 2)), vary("rate", span(0, 1))
    run, design = RunSettings(replicates=len(seeds)), block(*factors, design="lhs", samples=2)
    return plan_of(design, run=run, seeds=SeedSettings(root=root, list=seeds))


def test_a_list_gives_each_replicate_its_seed_in_every_config() -> None:
    assert [run.seed for run in listed(*LIST).runs()] == [*LIST, *LIST]


def test_a_list_enters_the_plan_hash_by_its_name_and_the_run_keys_by_its_values() -> None:
    plan, other, common = listed(*LIST), listed(8, 0), plan_of(seeds=SeedSettings(root=3))
    assert plan.plan_hash == other.plan_hash
    assert plan.run_key(plan.run(1)) == other.run_key(other.run(1)) != other.run_key(other.run(0))
    assert plan.run_key(plan.run(0)) != other.run_key(other.run(0))
    by_list = plan_of(seeds=SeedSettings(root=3, list=(1,)))
    head = Fnv1a64().text("henad.plan.2").u64(int(common.results_fingerprint, 16)).u64(3)
    ended = head.text("list").u64(1).text("pulse").u64(1).text("factorial").byte(0).u64(1)
    assert plan_head(by_list).hex() == ended.hex()


def test_a_range_is_a_list_of_seeds() -> None:
    seeds = SeedSettings(list=range(5, 8))  # type: ignore[arg-type]
    assert seeds == SeedSettings(list=(5, 6, 7))


def test_designs_still_draw_from_the_root_beside_a_list() -> None:
    assert listed(*LIST).configs[0] == listed(5).configs[0] != listed(5, root=4).configs[0]


def test_a_list_survives_its_files() -> None:
    spec = listed(*LIST).spec
    assert "scheme" not in spec_to_toml(spec)
    for text in (spec_to_toml(spec), spec_to_json(spec)):
        assert f'"{2**64 - 1}"' in text
        assert parse_spec(text).spec.seeds == spec.seeds


@pytest.mark.parametrize(
    ("seeds", "replicates", "told"),
    [
        ((1, 2), 3, "not as many seeds as replicates, got 2 seeds for 3 replicates; write replicates = 2 in [run]"),
        ((), 1, "not as many seeds as replicates, got 0 seeds for 1 replicate; remove the list, or give seeds"),
        (
            (1, 2, 1),
            3,
            "entries #1 and #3 are the same seed, which makes two replicates one, got 1; remove one of them",
        ),
        ((1, -1), 2, "entry #2 is not a seed, got -1; allowed: 0 to 2^64 - 1"),
        ((2**64, 1), 2, f"entry #1 is not a seed, got {2**64}; allowed: 0 to 2^64 - 1"),
    ],
)
def test_a_list_that_is_no_seed_a_replicate_is_refused(seeds: tuple[int, ...], replicates: int, told: str) -> None:
    problem = only_problem(run=RunSettings(replicates=replicates), seeds=SeedSettings(list=seeds))
    assert str(problem) == f"[seeds] list: {told}"


def test_a_list_and_a_scheme_exclude_each_other() -> None:
    with pytest.raises(hw.SpecError, match=r"scheme: a list of seeds is a scheme of its own, got 'independent'"):
        SeedSettings(scheme=SeedScheme.INDEPENDENT, list=(1,))
    assert problems_of(seeds=SeedSettings(root=7, list=(1,))) == ()


def of_file(seeds: str, replicates: int = 2) -> str:
    text = f'model = "study"\n[run]\nreplicates = {replicates}\n[seeds]\n{seeds}\n'
    try:
        return str(parse_spec(text).spec.seeds.list)
    except hw.SpecError as error:
        return "\n".join(map(str, error.problems))


@pytest.mark.parametrize(
    ("seeds", "told"),
    [
        (f'list = [1, "{2**64 - 1}"]', f"(1, {2**64 - 1})"),
        ("root = 5\nlist = [1, 2]", "(1, 2)"),
        (
            'scheme = "common"\nlist = [1, 2]',
            "line 5, [seeds] scheme: a list of seeds is a scheme of its own, got the text 'common'; remove it, or the "
            "list",
        ),
        ("list = 7", "line 5, [seeds] list: not a list, got the number 7; allowed: a list; write list = [7]"),
        (
            "list = [1, 2.5]",
            "line 5, [seeds] list: entry #2 is not a seed, got the number 2.5; allowed: a whole number or a text of "
            "digits, 0 to 2^64 - 1",
        ),
        (
            "seeds = [1]",
            "line 5, [seeds] seeds: unknown key `seeds`; allowed: root, scheme, list; did you mean 'list'?",
        ),
    ],
)
def test_a_list_in_a_file(seeds: str, told: str) -> None:
    assert of_file(seeds) == told


@pytest.mark.parametrize("key", ["root", "design_seed"])
@pytest.mark.parametrize("number", ["18446744073709551616", "1.8446744073709552e19", '"18446744073709551616"', "1e300"])
def test_no_seed_out_of_range_is_proposed(key: str, number: str) -> None:
    where = "[seeds]\n" if key == "root" else '[[block]]\ndesign = "lhs"\nsamples = 2\n'
    with pytest.raises(hw.SpecError) as caught:
        parse_spec(f'model = "study"\n{where}{key} = {number}\n')
    assert [problem.hint for problem in caught.value.problems if problem.place.key == key] == [None]
