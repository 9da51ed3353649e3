"""Laws of the cells of a table: shortest, positional, free of locale, and read back as the same number."""

from __future__ import annotations

import csv
import io
import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from henad_web.explore.cell_texts import column_texts, csv_field, csv_line, milliseconds_text, number_text
from henad_web.model.decimals import f32_text

CASES = [
    (0.0, "0"),
    (-0.0, "0"),
    (1.0, "1"),
    (-7.0, "-7"),
    (0.1, "0.1"),
    (254.5, "254.5"),
    (-0.5, "-0.5"),
    (1e-7, "0.0000001"),
    (5e-324, "0." + "0" * 323 + "5"),
    (123456789.125, "123456789.125"),
    (999999999999999.0, "999999999999999"),
    (1e15, "1000000000000000"),
    (-1e15, "-1000000000000000"),
    (1e16, "10000000000000000"),
    (1e300, "1" + "0" * 300),
    (0.30000001192092896, "0.30000001192092896"),
    (math.nan, ""),
    (math.inf, ""),
    (-math.inf, ""),
]


@pytest.mark.parametrize(("number", "text"), CASES)
def test_a_number_has_one_text(number: float, text: str) -> None:
    assert number_text(number) == text
    assert number_text(np.float64(number)) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.3, "0.3"), (0.05, "0.05"), (1.0000001192092896, "1.0000001"), (16777216.0, "16777216"), (1e-7, "0.0000001"),
     (2.0, "2")],
)  # fmt: skip
def test_a_single_needs_only_the_digits_of_a_single(number: float, text: str) -> None:
    assert f32_text(float(np.float32(number))) == text


@given(st.floats())
def test_a_text_reads_back_as_the_same_number_and_has_no_exponent(number: float) -> None:
    text = number_text(number)
    if math.isfinite(number):
        assert float(text) == number
        assert "e" not in text
        assert not text.endswith(".")
    else:
        assert text == ""


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_text_is_as_short_as_numpy_makes_it(number: float) -> None:
    whole = number.is_integer() and abs(number) < 1e15
    expected = str(int(number)) if whole else np.format_float_positional(number, unique=True, trim="-")
    assert number_text(number) == expected


@given(st.lists(st.one_of(st.floats(), st.integers(-100, 100).map(float))))
def test_a_column_has_the_texts_of_its_numbers(numbers: list[float]) -> None:
    for times in (1, 40):  # a long column takes another way than a short one
        assert (
            column_texts(np.array(numbers * times, np.float64)) == [number_text(number) for number in numbers] * times
        )


def test_a_long_column_of_fractions_keeps_them() -> None:
    assert column_texts(np.tile([0.5, -2.25], 20)) == ["0.5", "-2.25"] * 20


def test_a_column_of_counts_next_to_the_limit_stays_exact() -> None:
    counts = np.array([999999999999999.0, -999999999999999.0, 2.0**31, -0.0])
    assert column_texts(np.tile(counts, 20)) == ["999999999999999", "-999999999999999", "2147483648", "0"] * 20
    assert column_texts(np.tile([1e15, 1.0], 20)) == ["1000000000000000", "1"] * 20


def test_timings_have_three_decimals_whatever_their_size() -> None:
    assert [milliseconds_text(ms) for ms in (0.0, 0.0004, 12.34567, 1e7, math.nan)] == [
        "0.000",
        "0.000",
        "12.346",
        "10000000.000",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("plain", "plain"),
        ("a,b", '"a,b"'),
        ('a "b"', '"a ""b"""'),
        ("two\nlines", '"two\nlines"'),
        ("carriage\rreturn", '"carriage\rreturn"'),
        ("", ""),
        (" blanks stay ", " blanks stay "),
    ],
)
def test_a_field_is_quoted_only_where_it_must_be(text: str, field: str) -> None:
    assert csv_field(text) == field


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2))
def test_a_record_reads_back_as_its_fields(fields: list[str]) -> None:
    text = csv_line(fields).decode()
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True)) == [fields]


@given(st.integers(0, 2**32 - 1))
def test_every_finite_single_reads_back(bits: int) -> None:
    number = struct.unpack("<f", struct.pack("<I", bits))[0]
    assert not math.isfinite(number) or np.float32(f32_text(number)) == np.float32(number)
