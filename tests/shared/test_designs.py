"""Designs: their order, their draws, their balance."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from henad_web.explore import sampled_designs
from henad_web.explore.designs import Design, FactorialDesign, ZipDesign, value_at
from henad_web.explore.levels import ContinuousDomain, Domain, WholeDomain
from henad_web.explore.sampled_designs import LhsDesign, RandomDesign
from henad_web.randomness import DesignRng, xorshift64
from tests.shared.schemas import ALL, block, column, move, only_problem, plan_of, problems_of, span, table, values, vary

DOMAINS: list[Domain] = [ContinuousDomain(0.0, 1.0), WholeDomain(1, 3), ("a", "b", "c", "d")]


def test_a_factorial_turns_the_last_factor_fastest() -> None:
    plan = plan_of(block(vary("rate", values(0.1, 0.2)), vary("size", values(1, 2, 3))))
    assert column(plan, "size") == [1, 2, 3, 1, 2, 3]
    assert [f"{rate:.1f}" for rate in column(plan, "rate")] == ["0.1", "0.1", "0.1", "0.2", "0.2", "0.2"]


def test_a_factorial_without_factors_is_one_config() -> None:
    assert plan_of(block()).config_count == 1


def test_a_zip_takes_levels_together() -> None:
    plan = plan_of(block(vary("size", values(1, 2, 3)), move("pulse", values(6, 12, 18)), design="zip"))
    assert [(config.params[0], *config.action_ticks) for config in plan.configs] == [(1, 6), (2, 12), (3, 18)]


def test_a_zip_of_unequal_lists_is_refused_with_the_counts() -> None:
    problem = only_problem(block(vary("size", values(1, 2, 3)), vary("rate", values(0.1, 0.2)), design="zip"))
    assert problem.came == "size 3, rate 2"


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_a_factorial_holds_every_combination_once(counts: list[int]) -> None:
    design = FactorialDesign([range(count) for count in counts])
    rows = [design.row(position) for position in range(design.config_count)]
    assert rows == sorted(set(rows))
    for factor, count in enumerate(counts):
        late = [row[factor] for row in rows if row[factor] != 0]
        assert design.late_ticks(factor, 0) == (len(late), count - 1)


def test_late_ticks_of_a_zip_are_counted_level_by_level() -> None:
    design = ZipDesign([(6, 5, 5, 2**64 - 1)])
    assert design.late_ticks(0, 4) == (4, 2**64 - 1)
    assert design.late_ticks(0, 5) == (2, 2**64 - 1)
    assert design.late_ticks(0, 2**64 - 1) == (0, 0)


@pytest.mark.parametrize("design", [RandomDesign, LhsDesign])
@pytest.mark.parametrize("domain", [WholeDomain(2**63, 2**63 + 9), range(2**63, 2**63 + 10), range(0, 2**20, 3)])
def test_late_ticks_of_drawn_values_are_those_of_the_rows(design: type[Design], domain: Domain) -> None:
    drawn = design([domain], 2000, 7)  # type: ignore[call-arg]
    rows = [int(drawn.row(position)[0]) for position in range(2000)]
    middle = sorted(rows)[1000]
    assert drawn.late_ticks(0, middle) == (sum(row > middle for row in rows), max(rows))


def test_ticks_that_are_never_late_are_told_without_drawing() -> None:
    tracemalloc.start()
    assert LhsDesign([WholeDomain(0, 100)], 2**24, 7).late_ticks(0, 100) == (0, 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000


def test_the_stream_of_a_design_has_its_recorded_draws() -> None:
    rng = DesignRng(1)
    assert [rng.unit(), rng.unit()] == [0.14109274024192997, 0.30724511462004034]
    assert list(DesignRng(5).permutation(10)) == [0, 7, 2, 4, 5, 9, 1, 6, 8, 3]


def test_a_latin_hypercube_has_its_recorded_values() -> None:
    design = LhsDesign([ContinuousDomain(0.0, 1.0)], 4, 1)
    recorded = [0.2872112311338125, 0.5467288547518823, 0.9897762481056058, 0.108535608874676]
    assert [design.row(position)[0] for position in range(4)] == pytest.approx(recorded, abs=2**-25)


def test_a_latin_hypercube_over_ticks_takes_the_recorded_ones() -> None:
    plan = plan_of(block(move("pulse", span(5, 50)), design="lhs", samples=6))
    assert sorted(config.action_ticks[0] for config in plan.configs) == [5, 12, 20, 28, 35, 43]


@given(st.integers(1, 40), st.integers(0, 2**64 - 1))
def test_a_latin_hypercube_puts_one_value_in_each_stratum(samples: int, seed: int) -> None:
    design = LhsDesign([ContinuousDomain(2.0, 4.0)], samples, seed)
    found = sorted(float(design.row(position)[0]) for position in range(samples))
    for stratum, value in enumerate(found):
        low = 2.0 + 2.0 * stratum / samples
        assert low - 1e-6 <= value <= low + 2.0 / samples + 1e-6


@given(st.integers(1, 40), st.integers(1, 7), st.integers(0, 2**32))
def test_a_latin_hypercube_balances_levels_whatever_the_seed(samples: int, count: int, seed: int) -> None:
    design = LhsDesign([range(count), WholeDomain(1, count)], samples, seed)
    for factor in (0, 1):
        tallies = Counter(design.row(position)[factor] for position in range(samples))
        found = [tallies[level + factor] for level in range(count)]
        assert set(found) <= {samples // count, -(-samples // count)}


@given(st.integers(1, 30), st.integers(0, 2**64 - 1))
def test_random_draws_stay_in_their_domains(samples: int, seed: int) -> None:
    design = RandomDesign(DOMAINS, samples, seed)
    for position in range(samples):
        fraction, whole, letter = design.row(position)
        assert 0.0 <= float(fraction) < 1.0 + 2**-24
        assert whole in (1, 2, 3)
        assert letter in ("a", "b", "c", "d")


def test_whole_numbers_reach_both_ends_equally() -> None:
    design = RandomDesign([WholeDomain(1, 3)], 3000, 11)
    tallies = Counter(design.row(position)[0] for position in range(3000))
    assert sorted(tallies) == [1, 2, 3]
    assert all(900 < count < 1100 for count in tallies.values())


def test_random_draws_go_config_by_config() -> None:
    rng = DesignRng(9)
    drawn = [(rng.unit(), rng.whole_number(1, 3), rng.index(4)) for _ in range(3)]
    design = RandomDesign(DOMAINS, 3, 9)
    rows = [design.row(position) for position in range(3)]
    assert [row[1:] for row in rows] == [(whole, "abcd"[index]) for _, whole, index in drawn]
    assert [row[0] for row in rows] == [float(np.float32(unit)) for unit, _, _ in drawn]


def test_rows_do_not_depend_on_the_order_they_are_asked_in() -> None:
    positions = [8500, 0, 4095, 4096, 8499, 1, 8192, 8500]
    asked, walked = RandomDesign(DOMAINS, 8501, 3), RandomDesign(DOMAINS, 8501, 3)
    rows = [walked.row(position) for position in range(8501)]
    assert [asked.row(position) for position in positions] == [rows[position] for position in positions]
    assert len(set(rows)) > 8400
    columns = asked.columns(4000, 8300)
    assert [value_at(DOMAINS[0], entry) for entry in columns[0]] == [row[0] for row in rows[4000:8300]]


DRAWN = st.one_of(
    st.integers(1, 9).map(range),
    # A count near half of 2^32 has every second word drawn again, one far below hardly any.
    st.sampled_from([2**31 + 1, 2**22 + 3, 2**32 - 1, 2**32, 2**63, 2**64]).map(
        lambda count: WholeDomain(5, count + 4)
    ),
    st.tuples(st.floats(-9, 9), st.floats(0, 9)).map(lambda ends: ContinuousDomain(ends[0], ends[0] + ends[1])),
    st.just(ContinuousDomain(-1e300, 1e300, is_double=True)),
)


@given(st.lists(DRAWN, min_size=1, max_size=4), st.integers(1, 60), st.integers(1, 2**64 - 1))
def test_rows_drawn_together_are_those_drawn_one_by_one(domains: list[Domain], count: int, state: int) -> None:
    expected, after = sampled_designs._drawn(domains, count, state)
    found = sampled_designs._drawn_together(domains, count, state)
    if found is not None:
        assert [column.tolist() for column in found[0]] == [column.tolist() for column in expected]
        assert [column.dtype for column in found[0]] == [column.dtype for column in expected]
        assert found[1] == after
    may_reject = any(isinstance(domain, WholeDomain) for domain in domains)
    assert found is not None or may_reject


@pytest.mark.parametrize("design", ["random", "lhs"])
def test_a_sampled_design_depends_on_its_seed_only(design: str) -> None:
    def sampled(seed: int | None) -> list[object]:
        factors = (vary("rate", span(0.0, 1.0)), vary("mode", ALL), vary("size", span(1, 50)))
        return [config.params for config in plan_of(block(*factors, design=design, samples=7, seed=seed)).configs]

    assert sampled(5) == sampled(5)
    assert sampled(5) != sampled(6)
    assert sampled(None) == sampled(11629814477949246596)


def test_a_range_with_a_step_is_listed_in_a_sampled_design() -> None:
    plan = plan_of(block(vary("size", span(10, 30, 10)), design="random", samples=50))
    assert set(column(plan, "size")) == {10, 20, 30}


def test_the_plan_tells_a_sampled_design_s_seed() -> None:
    factor = vary("rate", span(0.0, 1.0))
    plan = plan_of(
        block(vary("rate", values(0.5))),
        block(factor, design="lhs", samples=2),
        block(factor, design="random", samples=3, seed=8),
    )
    assert [(each.design, each.first_config, each.config_count) for each in plan.blocks] == [
        ("factorial", 0, 1),
        ("lhs", 1, 2),
        ("random", 3, 3),
    ]
    assert plan.blocks[0].design_seed is None
    assert plan.blocks[1].design_seed not in (None, 0)
    assert plan.blocks[2].design_seed == 8


def test_a_table_gives_its_rows_and_leaves_the_rest_alone() -> None:
    text = '\ufeffrate , action.pulse,mode\r\n\r\n0.25,7, fast\r\n "0.5" ,0,"exact"\r\n'
    plan = plan_of(table(text), fixed=(("size", 3),))
    assert [(config.params, config.action_ticks) for config in plan.configs] == [
        ((3, 0.25, plan.schema.defaults[2], True, "fast"), (7,)),
        ((3, 0.5, plan.schema.defaults[2], True, "exact"), (0,)),
    ]


def test_a_table_without_a_final_newline_keeps_its_last_row() -> None:
    assert column(plan_of(table("size\n3\n4")), "size") == [3, 4]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "the table has no header"),
        ("\n \n", "the table has no header"),
        ("size\n", "the table has 0 rows"),
        ("size,rat\n1,2\n", "table header: unknown column"),
        ("size,size\n1,2\n", "table header: column given twice"),
        ("size,rate\n\n1\n", "table row 3: wrong width"),
        ("size,rate\n1,2,3\n", "table row 2: wrong width"),
        ("size\n1\n\n0\n", "table row 4, column 'size': out of range"),
        ("action.pulse\nsoon\n", "table row 2, column 'action.pulse': not a tick"),
        ('size\n"1\n2\n', "table line 2: a quote that is never closed"),
        ('size\n1\n"\n\n"x\n', "table line 5: text after a closing quote"),
        ('size\n1"2\n', "table line 2: a quote inside a field that does not start with one"),
    ],
)
def test_a_wrong_table_names_the_row(text: str, wrong: str) -> None:
    problem = only_problem(table(text))
    assert problem.wrong == wrong
    assert (problem.place.table, problem.place.key) == (("block", 0), "table_text")


def test_a_wrong_column_is_told_by_its_first_rows_and_a_count() -> None:
    rows = "".join(f"{size},x\n" for size in (0, *range(1, 1030)))
    problems = problems_of(table(f"size,rate\n{rows}"))
    assert [problem.wrong for problem in problems[:3]] == [
        "table row 2, column 'size': out of range",
        "table row 2, column 'rate': not a number",
        "table row 3, column 'rate': not a number",
    ]
    assert problems[-2].wrong == "table row 21, column 'rate': not a number"
    assert problems[-1].wrong == "table: 1 010 more rows are wrong"
    assert len(problems) == 22


def test_every_wrong_cell_of_a_table_is_named() -> None:
    problems = problems_of(table("size,rate\n0,2\n1,x\n"))
    assert [problem.came for problem in problems] == ["0", "2", "'x'"]


def test_a_misspelt_column_gets_a_near_miss() -> None:
    assert only_problem(table("action.puls\n1\n")).hint == "did you mean 'action.pulse'?"


def test_a_large_hypercube_is_drawn_in_little_memory() -> None:
    samples = 2**18
    design = LhsDesign([ContinuousDomain(0.0, 1.0), WholeDomain(1, 100)], samples, 5)
    tracemalloc.start()
    first = design.row(0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Four bytes for the first column, four and one for the second and its order; the rest is the work on one block.
    assert peak < 9 * samples + 6_000_000
    assert first == design.row(0)
    column = np.sort(design.columns(0, samples)[0])
    # Rounding to single precision may lift a value to the edge of its stratum, not past it.
    places = column.astype(np.float64) * samples - np.arange(samples)
    assert places.min() >= 0.0
    assert places.max() <= 1.0


@given(st.integers(0, 400), st.integers(0, 2**64 - 1))
def test_a_shuffle_in_blocks_is_the_walk_from_the_last_place(count: int, seed: int) -> None:
    walked, rng, blocks = list(range(count)), DesignRng(seed), DesignRng(seed)
    for last in range(count - 1, 0, -1):
        other = rng.index(last + 1)
        walked[last], walked[other] = walked[other], walked[last]
    assert blocks.permutation(count) == walked
    assert blocks.state == rng.state
    assert blocks.units(3).tolist() == [rng.unit() for _ in range(3)]


def test_a_long_shuffle_draws_again_what_would_be_biased() -> None:
    count, rng = 60_000, DesignRng(71)
    walked = list(range(count))
    for last in range(count - 1, 0, -1):
        other = rng.index(last + 1)
        walked[last], walked[other] = walked[other], walked[last]
    blocks = DesignRng(71)
    order = blocks.shuffled(count)
    plain = DesignRng(71)
    plain.units((count - 1) // 2)
    assert order.tolist() == walked
    assert blocks.state == rng.state
    # With no draw rejected the stream would stand an odd word further on.
    assert blocks.state != xorshift64(plain.state)


def test_a_stratum_of_a_wide_whole_domain_is_exact() -> None:
    design = LhsDesign([WholeDomain(0, 2**64 - 1), WholeDomain(5, 2**53 + 7)], 7, 3)
    for factor, (low, count) in enumerate([(0, 2**64), (5, 2**53 + 3)]):
        found = sorted(int(design.row(position)[factor]) for position in range(7))
        assert found == [low + stratum * count // 7 for stratum in range(7)]
