"""What docs/replicates.md says of coverage: the figures are those of `poe coverage`, and its spec can be planned."""

from __future__ import annotations

import pytest

import henad_web as hw
from henad_web.explore.intervals import IntervalKind
from tests.native.laws import ROOT
from tests.native.replicate_coverage import coverage
from tests.native.test_docs import blocks

DOCUMENT = ROOT / "docs" / "replicates.md"
STUDIES = 500


def row(first: str) -> list[str]:
    """Return the cells of the first row of the document's tables of shares that begins with `first`."""
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines if " % |" in line)
    return next(cells for cells in rows if cells[0] == first)


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.9])
def test_the_intervals_it_ends_with_hold_the_truth_in_nine_of_ten_studies_and_the_document_says_so(
    chance: float,
) -> None:
    found = coverage(chance, least=100, interval=IntervalKind.STUDENT, studies=STUDIES)
    assert found.share >= 0.9
    assert found.reached == found.studies
    assert row(str(chance))[1:3] == [f"{100 * found.share:.1f} %", f"{found.values / found.studies:.0f}"]


def test_the_document_says_how_coverage_falls_with_a_small_min() -> None:
    shares = [coverage(0.1, least=10, interval=interval, studies=STUDIES).share for interval in IntervalKind]
    assert row("10")[3:5] == [f"{100 * share:.1f} %" for share in shares]
    assert shares[0] < 0.7 < 0.9 < shares[1]


def test_its_spec_can_be_planned() -> None:
    (text,) = blocks(DOCUMENT, "toml")
    plan = hw.parse_spec(text).spec.plan(hw.example_models()["sir"].schema())
    assert (plan.least_replicates, plan.replicates) == (20, 400)
