"""Stop conditions as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from henad_web.explore.conditions import condition_text, parse_condition
from henad_web.explore.spec import StopSpec


@pytest.mark.parametrize(
    ("text", "column", "comparison", "threshold"),
    [
        ("Infected <= 0", "Infected", "<=", 0.0),
        ("Infected<=0", "Infected", "<=", 0.0),
        ("  Share of x  >  2.5e-1 ", "Share of x", ">", 0.25),
        ("a < b == 3", "a < b", "==", 3.0),
        ("Drift.x != -1", "Drift.x", "!=", -1.0),
    ],
)
def test_a_condition_is_column_comparator_number(text: str, column: str, comparison: str, threshold: float) -> None:
    assert parse_condition(text) == StopSpec(column=column, comparison=comparison, threshold=threshold)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Infected", "no comparator"),
        ("Infected = 0", "'=' is not a comparator"),
        ("Infected =< 0", "'=<' is not a comparator"),
        ("Infected <> 0", "'<>' is not a comparator"),
        ("<= 0", "no column"),
        ("Infected <=", "'' is not a number"),
        ("Infected <= ten", "'ten' is not a number"),
        ("Infected <= 0,5", "'0,5' is not a number"),
        ("Infected <= nan", "'nan' is not a number"),
        ("Infected <= 1e999", "'1e999' is not a finite number"),
    ],
)
def test_other_texts_say_what_is_wrong(text: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=r"^") as caught:
        parse_condition(text)
    assert wrong in str(caught.value)


@given(
    st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(0, 2**64 - 1),
)
def test_a_condition_survives_its_text(comparison: str, threshold: float, min_tick: int) -> None:
    stop = StopSpec(column="Infected", comparison=comparison, threshold=threshold, min_tick=min_tick)
    assert parse_condition(condition_text(stop), min_tick=min_tick) == stop
