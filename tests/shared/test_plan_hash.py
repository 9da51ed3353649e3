"""The hash of a plan: what the plain definition gives, in bounded pieces, and free once it is made."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from henad_web.explore import hashes
from henad_web.explore.hashes import plan_head, run_keys, write_config
from henad_web.explore.plan import Plan
from henad_web.explore.spec import BlockSpec, RunSettings, SeedScheme, SeedSettings
from henad_web.model.fnv import FNV_BASIS, FNV_PRIME, fnv1a64, fold_rows
from tests.shared import wide_values
from tests.shared.schemas import ALL, block, move, plan_of, span, table, values, vary
from tests.shared.test_design_laws import BLOCKS, study

MANY = (
    block(vary("rate", span(0, 1, 0.001)), vary("size", span(1, 9))),
    block(vary("loss", span(-5, 5)), vary("mode", ALL), design="lhs", samples=700, seed=3),
    block(vary("size", values(7, 7)), move("pulse", values(0, 2**64 - 1)), design="zip"),
    table("wrap,action.pulse,loss\ntrue,3,-1.5\nfalse,18446744073709551615,0.1\n"),
)


def plain_hash(plan: Plan) -> str:
    """Return the hash of `plan` written config by config."""
    fnv = plan_head(plan)
    for config in plan.configs:
        write_config(fnv.u64(config.block), plan, config)
    return fnv.hex()


@given(BLOCKS, st.integers(1, 700), st.integers(1, 5))
def test_the_hash_is_that_of_the_plain_definition(blocks: tuple[BlockSpec, ...], piece: int, few: int) -> None:
    plan = study(*blocks)
    with mock.patch.multiple(hashes, _PIECE_BYTES=piece, _FEW_LEVELS=few):
        assert plan.plan_hash == plain_hash(plan)


def test_many_configs_of_every_kind_hash_like_the_plain_definition() -> None:
    plan = plan_of(*MANY)
    assert plan.plan_hash == plain_hash(plan)


def test_a_filtered_block_hashes_like_the_plain_definition() -> None:
    kept = BlockSpec(factors=MANY[0].factors, where="size * rate > 1.5 and size != 4")
    plan = plan_of(kept, MANY[1])
    assert 0 < plan.blocks[0].config_count < 9009
    assert plan.plan_hash == plain_hash(plan)


@pytest.mark.parametrize("design", ["lhs", "random"])
def test_draws_of_wide_whole_numbers_hash_like_the_plain_definition(design: str) -> None:
    ends = f"min = {-(2**62)}, max = {2**63 - 1}"
    plan = wide_values.plan_of(
        f'[[block]]\ndesign = "{design}"\nsamples = 9\nfactors = [{{ param = "offset", range = {{ {ends} }} }}]\n'
    )
    assert plan.plan_hash == plain_hash(plan)


def test_a_step_past_64_bits_has_one_level() -> None:
    plan = wide_values.plan_of(
        '[[block]]\nfactors = [{ param = "offset", range = { min = -9, max = 9, step = 1e20 } }]\n'
    )
    assert plan.plan_hash == plain_hash(plan)


def plain_keys(plan: Plan, run_ids: list[int]) -> list[int]:
    """Return the keys of `run_ids`, hashed run by run."""
    return [int(plan.run_key(plan.run(run_id)), 16) for run_id in run_ids]


@given(BLOCKS, st.integers(1, 700), st.integers(1, 5), st.data())
def test_the_keys_of_runs_are_those_of_each_in_any_order(
    blocks: tuple[BlockSpec, ...], piece: int, few: int, data: st.DataObject
) -> None:
    plan = study(*blocks)
    run_ids = data.draw(st.lists(st.integers(0, plan.run_count - 1), max_size=20)) if plan.run_count else []
    with mock.patch.multiple(hashes, _PIECE_BYTES=piece, _FEW_LEVELS=few):
        assert run_keys(plan, np.array(run_ids, np.int64)).tolist() == plain_keys(plan, run_ids)


@pytest.mark.parametrize(
    "seeds",
    [
        SeedSettings(root=7),
        SeedSettings(root=7, scheme=SeedScheme.INDEPENDENT),
        SeedSettings(list=(5, 2**64 - 1)),
    ],
    ids=["common", "independent", "list"],
)
def test_the_keys_of_many_runs_of_every_kind_are_those_of_each(seeds: SeedSettings) -> None:
    plan = plan_of(*MANY, seeds=seeds, run=RunSettings(steps=3, replicates=2))
    run_ids = list(range(plan.run_count - 1, -1, -3))
    assert run_keys(plan, np.array(run_ids, np.int64)).tolist() == plain_keys(plan, run_ids)


def test_texts_of_different_lengths_are_keyed_like_each() -> None:
    plan = wide_values.plan_of(
        '[run]\nsteps = 1\nreplicates = 2\n[[block]]\nfactors = [{ param = "rule", values = ["long", "8", "B3/S23"] },'
        ' { param = "offset", values = [-1, 5] }]\n'
    )
    run_ids = list(range(plan.run_count))
    assert run_keys(plan, np.array(run_ids, np.int64)).tolist() == plain_keys(plan, run_ids)


BYTES = st.integers(0, 255) | st.just(0)


@given(
    st.integers(0, 2**64 - 1),
    st.integers(1, 9).flatmap(lambda width: st.lists(st.lists(BYTES, min_size=width, max_size=width), min_size=1)),
    st.data(),
)
def test_rows_fold_like_their_bytes(value: int, rows: list[list[int]], data: st.DataObject) -> None:
    array = np.array(rows, np.uint8)
    assert fold_rows(value, array) == plain_fnv(array.tobytes(), value)
    flags = data.draw(st.lists(st.booleans(), min_size=array.size, max_size=array.size))
    taken = np.array(flags).reshape(array.shape)
    assert fold_rows(value, array, taken) == plain_fnv(array[taken].tobytes(), value)


def test_the_shares_of_a_hash_in_the_making_rise_to_one_and_the_hash_is_kept() -> None:
    plan, whole = plan_of(*MANY), plan_of(*MANY)
    with mock.patch.object(hashes, "_PIECE_BYTES", 4096):
        shares = list(plan.hashing())
    assert len(shares) > 50
    assert shares == sorted(set(shares))
    assert 0 < shares[0] < shares[-1] == 1
    with mock.patch.object(hashes, "fold_rows", side_effect=AssertionError("hashed again")):
        assert (plan.plan_hash, list(plan.hashing())) == (plain_hash(whole), [1.0])


def test_a_hash_that_was_left_is_made_afresh() -> None:
    plan = plan_of(*MANY)
    next(plan.hashing())
    assert plan.plan_hash == plain_hash(plan)


def test_a_piece_takes_a_bounded_number_of_configs() -> None:
    plan = plan_of(block(vary("rate", span(0, 1, 0.00001)), vary("size", span(1, 9))))
    sizes: list[int] = []

    def folded(value: int, rows: np.ndarray, taken: np.ndarray | None = None) -> int:
        sizes.append(rows.size)
        return fold_rows(value, rows, taken)

    with mock.patch.object(hashes, "fold_rows", folded):
        assert len(list(plan.hashing())) == len(sizes)
    assert max(sizes) <= 1 << 17 < sum(sizes)


def plain_fnv(data: bytes, value: int = FNV_BASIS) -> int:
    for byte in data:
        value = (value ^ byte) * FNV_PRIME % 2**64
    return value


@given(st.binary(min_size=1, max_size=300), st.integers(0, 600))
def test_long_data_hash_like_their_bytes(data: bytes, more: int) -> None:
    long = (data * (70_000 // len(data)))[: 65_300 + more]
    assert fnv1a64(long) == plain_fnv(long)


def test_data_of_several_pieces_hash_like_their_bytes() -> None:
    long = bytes(number * number % 251 for number in range(200_003))
    assert fnv1a64(long) == plain_fnv(long)


WIDE = """\
[[block]]
design = "table"
table_text = '''
rule,level,offset,share
a,-1e300,-9223372036854775808,0.1
"long, and with a comma",0.1,9223372036854775807,-0
é,5e-324,7,3
a,1,0,2
'''
[[block]]
design = "lhs"
samples = 9
factors = [
  { param = "rule", values = ["one", "two, which is longer", "é"] },
  { param = "level", range = { min = -1, max = 1 } },
  { param = "offset", range = { min = -9223372036854775808, max = 9223372036854775807 } },
]
[[block]]
factors = [
  { param = "level", range = { min = -0.5, max = 0.5, step = 0.1 } },
  { param = "offset", range = { min = -5, max = 5, step = 5 } },
]
"""


@pytest.mark.parametrize("piece", [1, 300, 1 << 17])
def test_values_of_every_width_hash_like_the_plain_definition(piece: int) -> None:
    plan = wide_values.plan_of(WIDE)
    with mock.patch.object(hashes, "_PIECE_BYTES", piece):
        assert plan.plan_hash == plain_hash(plan)
