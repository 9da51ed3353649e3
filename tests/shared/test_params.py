"""Parameters: what a text or value becomes, what is refused and how, and what text a value has."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from henad_web.errors import ModelDefinitionError, ParamError
from henad_web.model.decimals import f32_from_text, f32_text
from henad_web.model.params import Apply, Format, Param, ParamKind, boolean, choice, f32, f64, u32

RATE = f32("rate", "Rate", 0.3, 0, 1, step=0.01)
COUNT = u32("count", "Count", 0, 0, 10000)
FLAG = boolean("flag", "Flag", False)
MODE = choice("mode", "Mode", ("slow", "fast", "very fast"), 1)


def single(number: float) -> float:
    return float(np.float32(number))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.05", single(0.05)),
        (" 0.05\t", single(0.05)),
        ("1e-1", single(0.1)),
        (".5", 0.5),
        ("1.", 1.0),
        ("+1", 1.0),
        ("0", 0.0),
        ("-0", 0.0),
        ("1e-60", 0.0),
    ],
)
def test_a_decimal_becomes_the_nearest_single(text: str, number: float) -> None:
    value = RATE.parse(text)
    assert value == number
    assert isinstance(value, float)
    assert math.copysign(1, value) == 1


def test_a_decimal_is_rounded_once_and_not_by_way_of_a_double() -> None:
    assert f32_text(f32_from_text("1.0000000596046448") or 0) == "1.0000001"
    assert f32_text(f32_from_text("1.0000000596046447") or 0) == "1"
    assert f32_text(f32_from_text("1.00000005960464477539062500") or 0) == "1"
    assert f32_text(f32_from_text("-1.0000000596046448") or 0) == "-1.0000001"
    assert f32_text(f32_from_text("1.00000017881393432617187500001") or 0) == "1.0000002"
    assert f32_text(f32_from_text("1.00000017881393432617187499999") or 0) == "1.0000001"


@pytest.mark.parametrize("text", ["0.05", "0.1", "0.3", "0.001", "16777216", "0.000001", "1.0000001", "3402823600000"])
def test_a_text_of_a_single_comes_back_as_it_was(text: str) -> None:
    wide = f32("wide", "Wide", 0, -3e38, 3e38)
    assert wide.text(wide.parse(text)) == text


@given(number=st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_every_single_survives_its_text(number: float) -> None:
    assert f32_from_text(f32_text(number)) == number


@given(number=st.floats(min_value=-3e38, max_value=3e38))
def test_a_double_becomes_the_single_that_numpy_makes_of_its_exact_value(number: float) -> None:
    with np.errstate(under="ignore"):
        nearest = single(number)
        ends = [float(np.nextafter(np.float32(nearest), np.float32(way))) for way in (-np.inf, np.inf)]
    halfway = number in [(nearest + end) / 2 for end in ends]
    assert halfway or f32_from_text(repr(number)) == nearest


def test_a_typed_value_goes_through_its_shortest_text() -> None:
    assert RATE.coerce(0.05) == single(0.05)
    assert RATE.coerce(np.float32(0.05)) == single(0.05)
    assert RATE.coerce(np.float64(0.05)) == single(0.05)
    assert RATE.coerce(1) == 1.0
    assert isinstance(RATE.coerce(1), float)
    assert RATE.coerce("0.05") == RATE.coerce(0.05)
    assert f32("x", "X", 1, 0, 2).coerce(1.0000000596046448) == f32_from_text("1.0000001")


def test_a_value_is_stable_under_text_and_back() -> None:
    for param, value in ((RATE, 0.05), (COUNT, 0), (FLAG, False), (FLAG, True), (MODE, "very fast")):
        canonical = param.coerce(value)
        assert param.parse(param.text(canonical)) == canonical
        assert param.coerce(canonical) == canonical


def test_canonical_values_have_plain_types() -> None:
    assert type(COUNT.coerce(np.int64(7))) is int
    assert type(COUNT.parse("007")) is int
    assert type(FLAG.coerce(np.bool_(True))) is bool
    assert MODE.coerce("fast") == "fast"
    assert MODE.parse("2") == "very fast"
    assert MODE.coerce(0) == "slow"


def test_an_option_named_like_a_word_is_one_value() -> None:
    assert MODE.parse(" fast ") == "fast"


@pytest.mark.parametrize(
    ("param", "text", "wrong"),
    [
        (RATE, "0.x", "not a number"),
        (RATE, "", "not a number"),
        (RATE, "1_0", "not a number"),
        (RATE, "0x1", "not a number"),
        (RATE, "1.0000001", "out of range"),
        (RATE, "-0.0000001", "out of range"),
        (RATE, "nan", "out of range"),
        (RATE, "inf", "out of range"),
        (RATE, "1e999", "out of range"),
        (COUNT, "8.0", "not a whole number"),
        (COUNT, "-1", "not a whole number"),
        (COUNT, "\u0661", "not a whole number"),
        (COUNT, "10001", "out of range"),
        (COUNT, "9" * 5000, "out of range"),
        (FLAG, "True", "neither true nor false"),
        (FLAG, "1", "neither true nor false"),
        (MODE, "Fast", "no such option"),
        (MODE, "3", "no such option"),
        (MODE, "", "no such option"),
    ],
)
def test_a_text_that_is_no_value_is_refused(param: Param, text: str, wrong: str) -> None:
    with pytest.raises(ParamError) as caught:
        param.parse(text)
    assert caught.value.wrong == wrong
    assert caught.value.param == param.id
    assert caught.value.allowed == param.allowed


@pytest.mark.parametrize(
    ("param", "value"),
    [
        (RATE, True),
        (RATE, None),
        (RATE, [0.1]),
        (COUNT, 8.0),
        (COUNT, True),
        (FLAG, 1),
        (FLAG, 0.0),
        (MODE, 1.0),
        (MODE, True),
    ],
)
def test_a_value_of_another_kind_is_refused(param: Param, value: object) -> None:
    words = {
        RATE: "not a number",
        COUNT: "not a whole number",
        FLAG: "neither true nor false",
        MODE: "neither an option nor its index",
    }
    with pytest.raises(ParamError, match=words[param]):
        param.coerce(value)


@pytest.mark.parametrize("number", [-1, 10001, 2**70, 10**400, -(10**5000)], ids=int.bit_length)
def test_a_whole_number_out_of_range_is_refused(number: int) -> None:
    for param in (COUNT, RATE):
        with pytest.raises(ParamError, match="out of range"):
            param.coerce(number)


def test_a_number_of_thousands_of_digits_is_told_by_its_size() -> None:
    with pytest.raises(ParamError, match=r"out of range, got about -2\^5000; allowed: 0 to 10000$"):
        COUNT.coerce(-(2**5000))


def test_a_whole_number_that_single_precision_holds_is_an_f32() -> None:
    wide = f32("wide", "Wide", 0.0, 0.0, 3e38)
    assert wide.coerce(10**38) == float(np.float32(1e38))


@pytest.mark.parametrize(
    ("param", "text", "hint"),
    [
        (RATE, "0,5", "did you mean '0.5'?"),
        (COUNT, "8.0", "write 8"),
        (FLAG, "True", "did you mean 'true'?"),
        (MODE, "fsat", "did you mean 'fast'?"),
        (MODE, "FAST", "did you mean 'fast'?"),
    ],
)
def test_a_refusal_names_what_was_probably_meant(param: Param, text: str, hint: str) -> None:
    with pytest.raises(ParamError) as caught:
        param.parse(text)
    assert caught.value.hint == hint
    assert str(caught.value).endswith(hint)


def test_a_refusal_says_where_what_came_and_what_is_allowed() -> None:
    with pytest.raises(ParamError) as caught:
        RATE.coerce(1.5)
    assert str(caught.value) == "parameter 'rate': out of range, got 1.5; allowed: 0 to 1"
    with pytest.raises(ParamError, match="allowed: 0 to 10000; write 8"):
        COUNT.coerce(8.0)


def test_what_is_allowed_reads_in_words() -> None:
    assert RATE.allowed == "0 to 1"
    assert COUNT.allowed == "0 to 10000"
    assert FLAG.allowed == "true or false"
    assert MODE.allowed == "one of slow, fast, very fast"
    assert f32("x", "X", 0.5, 0.05, 1).allowed == "0.05 to 1"


def test_both_ends_of_a_range_are_in_it() -> None:
    edge = f32("edge", "Edge", 0.2, 0.1, 0.3)
    assert edge.parse("0.1") == single(0.1)
    assert edge.parse("0.3") == single(0.3)
    assert COUNT.parse("10000") == 10000


def test_a_default_of_nothing_is_a_default() -> None:
    assert COUNT.default == 0
    assert FLAG.default is False
    assert f32("x", "X", 0, 0, 1).default == 0.0
    assert choice("c", "C", ("a", "b")).default == "a"


def test_declared_fields_are_kept() -> None:
    share = f32("share", "Share", 0.01, 0, 1, step=0.001, apply=Apply.RELOAD, format=Format.PERCENT)
    assert (share.kind, share.apply, share.format, share.step) == (
        ParamKind.F32,
        Apply.RELOAD,
        Format.PERCENT,
        0.001,
    )
    assert share.default == single(0.01)
    assert MODE.options == ("slow", "fast", "very fast")


@pytest.mark.parametrize("option", ["", " padded", "padded ", "7", "slow"])
def test_an_option_that_could_not_be_told_apart_is_refused_when_declared(option: str) -> None:
    with pytest.raises(ModelDefinitionError, match="'mode'"):
        choice("mode", "Mode", ("slow", option))


def test_a_declaration_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(ModelDefinitionError, match="default"):
        f32("x", "X", 2, 0, 1)
    with pytest.raises(ModelDefinitionError, match="default"):
        f32("x", "X", math.nan, 0, 1)
    with pytest.raises(ModelDefinitionError, match="default"):
        u32("x", "X", 5, 9, 1)
    with pytest.raises(ModelDefinitionError, match="bounds"):
        u32("x", "X", 5, 0, 2**32)
    with pytest.raises(ModelDefinitionError, match="finite"):
        f32("x", "X", 0, 0, math.inf)
    with pytest.raises(ModelDefinitionError, match="default"):
        choice("x", "X", ("a",), 1)


@pytest.mark.parametrize("kind", [f32, f64])
@pytest.mark.parametrize("bound", [10**400, "high", None, 1j])
def test_a_bound_that_is_no_number_is_refused_when_declared(kind: Callable[..., Param], bound: object) -> None:
    with pytest.raises(ModelDefinitionError, match=r"'x': default, min and max are not all numbers"):
        kind("x", "X", 0, 0, bound)


@pytest.mark.parametrize("options", ["ab", 5, None, (1, 2), {"a", "b"}, b"ab"])
def test_options_that_are_no_sequence_of_texts_are_refused(options: object) -> None:
    with pytest.raises(ModelDefinitionError, match=r"options are .*; allowed: a tuple of texts"):
        choice("mode", "Mode", options)  # type: ignore[arg-type]
