"""Whatever a model returns, raises or does: a sweep ends with files that open, verify, resume and merge read.

A few cases of `wrong_models`; `poe fuzz-models --cases 5000` runs more. Mutants that these cases were seen to catch: a
factory that returns nothing is taken for a state, notes that hold addresses, a failed last row that a merge leaves out.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.wrong_models import PLACES, case_of, check, wrongs_of

CASES = range(40)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("quick_disk")
@pytest.mark.parametrize("number", CASES)
def test_a_sweep_of_a_wrong_model_ends_with_files_that_everything_reads(fast_path: Path, number: int) -> None:
    assert check(number, fast_path) in ("written", "refused")


def test_the_cases_go_wrong_everywhere() -> None:
    places = {wrong.place for number in CASES for wrong in wrongs_of(number)}
    assert places == set(PLACES)


def test_a_case_is_the_same_each_time() -> None:
    assert case_of(7).spec == case_of(7).spec
    assert [(wrong.place, wrong.age, wrong.values) for wrong in wrongs_of(7)] == [
        (wrong.place, wrong.age, wrong.values) for wrong in wrongs_of(7)
    ]
