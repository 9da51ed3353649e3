"""The streams: recorded values of the reference engine, and array forms that equal the scalar ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from henad_web.randomness import (
    MASK64,
    DesignRng,
    action_state,
    below,
    choice3,
    chunk_factors,
    chunk_seed,
    chunk_seeds,
    initial_state,
    jump_of,
    many_bits,
    mix_seed,
    next_base,
    next_bits,
    next_float,
    next_index,
    pcg_hash,
    random_float,
    reservoir_accept,
    row_words,
    stream_bits,
    threshold,
    xorshift64,
    xorshift64_array,
)

STATES = st.integers(1, MASK64)


def words_of(state: int, count: int) -> tuple[list[int], int]:
    """Return the next words of a stream and the state after them, one by one."""
    words = []
    for _ in range(count):
        state, bits = next_bits(state)
        words.append(bits)
    return words, state


def test_mixed_seeds_are_the_recorded_ones() -> None:
    assert [mix_seed(seed) for seed in range(4)] == [
        18217743539981340783,
        10284246507834958188,
        13489606370051364584,
        3291302303909826367,
    ]
    assert mix_seed(2**64 + 3) == mix_seed(3)


def test_chunk_seeds_are_the_recorded_ones() -> None:
    base = mix_seed(42)
    assert chunk_seed(base, 0, 0) == 15756353823747429464
    assert chunk_seed(base, 0, 1) == 8215579249061402155
    assert chunk_seed(base, 1, 0) == 482632811403295156
    factors = chunk_factors(300)
    for tick in (0, 1, 10**6):
        assert chunk_seeds(base, tick, factors).tolist() == [chunk_seed(base, tick, chunk) for chunk in range(300)]


def test_a_seed_of_zero_and_no_seed_differ_in_the_start_and_share_the_actions() -> None:
    assert initial_state(None, 0xDEADBEEFCAFE1234) == 0xDEADBEEFCAFE1234
    assert initial_state(0, 0xDEADBEEFCAFE1234) == mix_seed(0)
    assert action_state(None) == action_state(0) == mix_seed(0x00AC71045EED0001)
    assert next_base(5, 3) == xorshift64(5 ^ 3)


def test_pcg_hashes_are_the_recorded_ones() -> None:
    assert (pcg_hash(0), pcg_hash(1)) == (129708002, 2831084092)


def test_designs_draw_the_recorded_numbers() -> None:
    rng = DesignRng(1)
    assert [rng.unit(), rng.unit()] == [0.14109274024192997, 0.30724511462004034]
    assert DesignRng(5).permutation(10) == [0, 7, 2, 4, 5, 9, 1, 6, 8, 3]
    rng = DesignRng(1)
    order = rng.permutation(4)
    assert order == [1, 2, 3, 0]
    assert [(stratum + rng.unit()) / 4 for stratum in order] == [
        0.2872112311338125,
        0.5467288547518823,
        0.9897762481056058,
        0.108535608874676,
    ]


@given(seed=st.integers(0, MASK64), low=st.integers(0, 2**40), span=st.integers(0, 2**63))
def test_design_draws_stay_in_their_ranges(seed: int, low: int, span: int) -> None:
    rng = DesignRng(seed)
    assert low <= rng.whole_number(low, low + span) <= low + span
    assert 0 <= rng.index(span + 1) <= span
    assert -1 < rng.triangular() < 1
    assert 0 <= rng.unit() < 1


def test_the_whole_span_takes_one_word() -> None:
    words, _ = words_of(mix_seed(7), 2)
    assert DesignRng(7).whole_number(0, 2**64 - 1) == words[0] << 32 | words[1]


def test_zero_never_leaves_zero() -> None:
    assert xorshift64(0) == 0
    assert mix_seed(-0x73475CB40A568E8D) == 0x73475CB40A568E8D


@pytest.mark.parametrize(
    ("probability", "word"),
    [(0.0, 0), (1.0, 2**32 - 1), (0.5, 2**31), (0.3, 1288490240), (0.01, 42949672), (2.0, 2**32 - 1), (-1.0, 0)],
)
def test_thresholds_are_cut_from_the_single_precision_product(probability: float, word: int) -> None:
    assert threshold(probability) == word


def test_draws_from_words() -> None:
    assert random_float(0xFFFFFFFF) == 1 - 2**-24
    assert random_float(0xFF) == 0.0
    assert random_float(2**31, 3.0) == 1.5
    assert [choice3(bits) for bits in range(4)] == [-1, 0, 1, -1]
    assert below(4, 5)
    assert not below(5, 5)
    assert reservoir_accept(0xFFFFFFFF, 1)
    assert not reservoir_accept(2**31, 2)
    state, number = next_float(9)
    assert (state, number) == (xorshift64(9), random_float(xorshift64(9) >> 32))


def test_an_index_below_nothing_is_zero_and_takes_a_word() -> None:
    assert next_index(9, 0) == (xorshift64(9), 0)


@given(state=STATES, count=st.integers(1, 2**32 - 1))
def test_indices_stay_below_their_count(state: int, count: int) -> None:
    moved, index = next_index(state, count)
    assert 0 <= index < count
    assert moved != state


def test_indices_are_even() -> None:
    state, seen = mix_seed(1), [0] * 6
    for _ in range(6000):
        state, index = next_index(state, 6)
        seen[index] += 1
    assert max(abs(count - 1000) for count in seen) < 4 * (6000 / 6 * 5 / 6) ** 0.5


@given(state=STATES, distance=st.integers(0, 3000))
def test_a_jump_is_that_many_steps(state: int, distance: int) -> None:
    _, moved = words_of(state, distance)
    assert jump_of(distance).scalar(state) == moved


@given(state=STATES, first=st.integers(0, 10**12), second=st.integers(0, 10**12))
def test_two_jumps_are_one_over_the_sum(state: int, first: int, second: int) -> None:
    assert jump_of(second).scalar(jump_of(first).scalar(state)) == jump_of(first + second).scalar(state)


@given(states=st.lists(STATES, min_size=1, max_size=40))
def test_arrays_step_like_single_states(states: list[int]) -> None:
    array = np.array(states, np.uint64)
    assert xorshift64_array(array).tolist() == [xorshift64(state) for state in states]
    assert array.tolist() == states


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 63, 64, 65, 1000, 4097])
def test_a_long_stream_is_the_stream_word_by_word(count: int) -> None:
    words, state = stream_bits(12345, count)
    assert (words.tolist(), state) == words_of(12345, count)


def test_a_stream_continues_across_blocks() -> None:
    count = 2 * 2**17 + 5
    words, state = stream_bits(99, count)
    assert state == jump_of(count).scalar(99)
    later, _ = words_of(jump_of(2**17 - 2).scalar(99), 4)
    assert words[2**17 - 2 : 2**17 + 2].tolist() == later


@given(
    counts=st.lists(st.one_of(st.just(0), st.integers(0, 12), st.integers(0, 300)), min_size=1, max_size=30),
    state=STATES,
)
def test_rows_get_the_words_of_their_own_streams(counts: list[int], state: int) -> None:
    starts = [chunk_seed(state, 3, row) for row in range(len(counts))]
    expected = [word for start, count in zip(starts, counts, strict=True) for word in words_of(start, count)[0]]
    words = row_words(np.array(starts, np.uint64), np.array(counts))
    assert words.tolist() == expected


def test_rows_too_long_for_one_block_get_the_same_words() -> None:
    starts = np.array([chunk_seed(4, 0, row) for row in range(5)], np.uint64)
    counts = np.array([3, 60_000, 0, 59_999, 60_000])
    words = row_words(starts, counts)
    assert words.size == counts.sum()
    first = 0
    for start, count in zip(starts.tolist(), counts.tolist(), strict=True):
        assert words[first : first + count].tolist() == stream_bits(start, count)[0].tolist()
        first += count


@given(
    counts=st.lists(st.one_of(st.just(0), st.integers(0, 12), st.integers(0, 300)), min_size=1, max_size=30),
    state=STATES,
)
def test_many_streams_go_on_as_each_does_alone(counts: list[int], state: int) -> None:
    states = [chunk_seed(state, 3, row) for row in range(len(counts))]
    words, after = many_bits(np.array(states, np.uint64), np.array(counts))
    alone = [words_of(start, count) for start, count in zip(states, counts, strict=True)]
    assert words.tolist() == [word for drawn, _ in alone for word in drawn]
    assert after.tolist() == [left for _, left in alone]


@pytest.mark.parametrize("counts", [[70_000, 0, 60_000, 3], [2**17 + 3, 5], [0, 0, 2**17], [40_000] * 5])
def test_streams_too_long_for_one_block_go_on_as_each_does_alone(counts: list[int]) -> None:
    states = [chunk_seed(4, 0, row) for row in range(len(counts))]
    words, after = many_bits(np.array(states, np.uint64), np.array(counts))
    alone = [stream_bits(start, count) for start, count in zip(states, counts, strict=True)]
    assert words.tolist() == [word for drawn, _ in alone for word in drawn.tolist()]
    assert after.tolist() == [left for _, left in alone]


def test_the_chunks_of_several_runs_start_where_those_of_each_do() -> None:
    bases, factors = [7, 2**64 - 1, 99], chunk_factors(5)
    together = chunk_seeds(np.array(bases, np.uint64)[:, np.newaxis], 12, factors)
    assert together.tolist() == [[chunk_seed(base, 12, chunk) for chunk in range(5)] for base in bases]
