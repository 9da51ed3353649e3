"""Blocks whose design a library draws: what a spec may say of them, and what is told where the library is missing."""

from __future__ import annotations

import sys

import msgspec
import pytest

from henad_web.explore.libraries import LIBRARIES, is_installed
from henad_web.explore.spec import BlockSpec
from tests.shared.schemas import block, only_problem, problems_of, span, values, vary

RATE = vary("rate", span(0.0, 1.0))


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the libraries away, as they are in a browser."""
    for library in LIBRARIES.values():
        monkeypatch.setitem(sys.modules, library, None)


def only(told: BlockSpec, key: str) -> str:
    (problem,) = [problem for problem in problems_of(told) if problem.place.key != "design"]
    assert (problem.place.table, problem.place.key) == (("block", 0), key)
    return str(problem)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(("kind", "library"), [("sobol", "scipy"), ("saltelli", "scipy"), ("morris", "SALib")])
def test_a_missing_library_is_named_with_the_way_out(kind: str, library: str) -> None:
    problem = only_problem(block(RATE, design=kind, samples=8))
    assert (problem.place.table, problem.place.key) == (("block", 0), "design")
    assert problem.wrong == f"a {kind} design needs the library {library}, which is not installed here"
    assert "henad plan SPEC --freeze OUT.toml" in (problem.hint or "")


def test_a_library_is_looked_for_and_not_imported() -> None:
    assert is_installed("json")
    assert not is_installed("no_such_library_anywhere")


@pytest.mark.parametrize("kind", ["sobol", "saltelli"])
def test_a_sequence_needs_a_power_of_two(kind: str) -> None:
    text = only(block(RATE, design=kind, samples=100), "samples")
    assert "balanced only in powers of two, got 100" in text
    assert "write 64 or 128" in text


@pytest.mark.parametrize(("kind", "most"), [("sobol", 2**24), ("saltelli", 2**22)])
def test_no_more_points_are_proposed_than_a_plan_may_have(kind: str, most: int) -> None:
    assert only(block(RATE, design=kind, samples=most + 3), "samples").endswith(f"write {most}")


@pytest.mark.parametrize("kind", ["sobol", "saltelli", "morris"])
def test_a_drawn_design_needs_samples_and_factors(kind: str) -> None:
    assert "needs its number of samples" in only(block(RATE, design=kind), "samples")
    assert "no samples, got 0" in only(block(RATE, design=kind, samples=0), "samples")
    assert "needs at least one factor" in only(block(design=kind, samples=8), "factors")


@pytest.mark.parametrize("num_levels", [0, 1, 3, 65_538, 4_294_967_296])
def test_a_grid_has_an_even_number_of_levels(num_levels: int) -> None:
    told = msgspec.structs.replace(block(RATE, design="morris", samples=4), num_levels=num_levels)
    assert f"got {num_levels}; allowed: an even number from 2 to 65536" in only(told, "num_levels")


@pytest.mark.parametrize(
    ("told", "key", "fitting"),
    [
        (BlockSpec(second_order=True), "second_order", "saltelli"),
        (BlockSpec(num_levels=4), "num_levels", "morris"),
        (BlockSpec(samples=4), "samples", "sobol"),
    ],
)
def test_a_key_of_another_design_is_refused(told: BlockSpec, key: str, fitting: str) -> None:
    assert f'"{fitting}"' in only(told, key)


def test_a_range_without_a_step_is_a_whole_domain() -> None:
    told = block(RATE, vary("size", values(1, 2)), design="sobol", samples=8)
    assert [problem.place.key for problem in problems_of(told)] in ([], ["design"])


@pytest.mark.parametrize("kind", ["saltelli", "morris"])
def test_a_design_that_is_analysed_as_a_whole_takes_no_filter(kind: str) -> None:
    filtered = msgspec.structs.replace(block(RATE, design=kind, samples=4), where="rate < 0.5")
    problem = only_problem(filtered)
    assert (problem.place.table, problem.place.key, problem.came) == (("block", 0), "where", "'rate < 0.5'")
    assert problem.wrong == f"a {kind} design is analysed as a whole, every config by position: none can be left out"
    assert problem.hint == 'remove it, or write design = "sobol" or "lhs", which stay a sample when cut'
