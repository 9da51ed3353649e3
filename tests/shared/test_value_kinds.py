"""Double-precision, wide whole-number and text parameters: what is a value, how it is written, what it hashes to."""

from __future__ import annotations

import csv
import json
import math
import struct
import tomllib

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import henad_web as hw
from henad_web.explore.cell_texts import csv_field
from henad_web.explore.design_table import csv_record, parse_csv
from henad_web.explore.spec import SpecValue
from henad_web.explore.spec_document import toml_text
from henad_web.model.params import MAX_TEXT_LENGTH, Param
from tests.shared.test_hash_vectors import Bytes
from tests.shared.wide_values import HIGHEST, LOWEST, SCHEMA, plan_of

LEVEL, OFFSET, RULE = (SCHEMA.param(id) for id in ("level", "offset", "rule"))


LONG = (LOWEST, -(2**53) - 1, 2**53 + 1, HIGHEST)
"""Whole numbers that no double holds, and the ends, which are drawn too seldom."""


def refusal(param: Param, value: object) -> str:
    with pytest.raises(hw.ParamError) as caught:
        param.coerce(value)
    return str(caught.value)


def test_a_double_keeps_every_digit_and_has_one_zero() -> None:
    assert LEVEL.coerce(0.1) == 0.1 == LEVEL.parse(" 0.1 ")
    assert LEVEL.coerce("0.30000000000000004") == 0.30000000000000004
    assert math.copysign(1, float(LEVEL.coerce(-0.0))) == 1 == math.copysign(1, float(LEVEL.parse("-0")))
    assert type(LEVEL.coerce(np.float64(2))) is float is type(LEVEL.coerce(3))
    assert LEVEL.text(1e22) == "10000000000000000000000"
    assert LEVEL.text(-1e-7) == "-0.0000001"
    assert LEVEL.text(2.0) == "2"


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, "inf", "1e400", 1.1e300, 10**301])
def test_a_double_is_finite_and_within_its_bounds(value: object) -> None:
    assert "out of range" in refusal(LEVEL, value)
    assert "allowed: -1e+300 to 1e+300" in refusal(LEVEL, value)
    assert "about -2^16609" in refusal(LEVEL, -(10**5000))


@pytest.mark.parametrize("value", ["0,5", "1_000", "0x1p3", "", "half", True, None, [1.0]])
def test_what_is_no_number_is_no_double(value: object) -> None:
    assert "not a number" in refusal(LEVEL, value)
    assert ("did you mean '0.5'?" in refusal(LEVEL, value)) == (value == "0,5")


def test_a_whole_number_goes_from_the_lowest_to_the_highest_of_64_bits() -> None:
    assert OFFSET.coerce(LOWEST) == LOWEST == OFFSET.parse("-9223372036854775808")
    assert OFFSET.parse("+9223372036854775807") == HIGHEST == OFFSET.coerce(np.int64(HIGHEST))
    assert [OFFSET.parse(f"{sign}{'0' * 5000}{7}") for sign in ("", "+", "-")] == [7, 7, -7]
    assert OFFSET.text(LOWEST) == "-9223372036854775808"
    for beyond in (LOWEST - 1, HIGHEST + 1, str(HIGHEST + 1), 10**5000, "9" * 5000):
        assert "out of range" in refusal(OFFSET, beyond)
    for other in (-1.0, "-1.0", "1e3", True, "", "- 1"):
        assert "not a whole number" in refusal(OFFSET, other)
    assert refusal(OFFSET, "-1.0").endswith("write -1")
    assert refusal(OFFSET, -3e18).endswith("write -3000000000000000000")


def test_a_declaration_out_of_its_kind_is_refused() -> None:
    with pytest.raises(hw.ModelDefinitionError, match="not finite"):
        hw.f64("x", "X", 0, -math.inf, 1)
    with pytest.raises(hw.ModelDefinitionError, match=r"default 2\.0 is not within 0\.0 to 1\.0"):
        hw.f64("x", "X", 2, 0, 1)
    for low, high in ((LOWEST - 1, 0), (0, HIGHEST + 1)):
        with pytest.raises(hw.ModelDefinitionError, match="not within -9223372036854775808 to 9223372036854775807"):
            hw.i64("x", "X", 0, low, high)
    with pytest.raises(hw.ModelDefinitionError, match="not within 3 to 1"):
        hw.i64("x", "X", 2, 3, 1)
    for declare in (hw.i64, hw.u32):
        with pytest.raises(hw.ModelDefinitionError, match=r"not all of 1, 0, 2\.5 are whole numbers"):
            declare("x", "X", 1, 0, 2.5)  # type: ignore[call-overload]
    assert type(hw.i64("x", "X", np.int64(1), 0, 2).default) is int  # type: ignore[call-overload]
    with pytest.raises(hw.ModelDefinitionError, match="default 8 is not a text"):
        hw.text("x", "X", 8)  # type: ignore[call-overload]
    zeros = hw.f64("x", "X", -0.0, -0.0, 1)
    assert [str(zero) for zero in (zeros.default, zeros.min)] == ["0.0", "0.0"]
    with pytest.raises(hw.ModelDefinitionError, match="default '' is an empty text"):
        hw.text("x", "X", "")


@pytest.mark.parametrize(
    "text", ["8", "true", "a b", 'say "no"', "a,b", "#1", "=1+1", "naïve 🐜", "x" * MAX_TEXT_LENGTH]
)
def test_a_text_is_any_line(text: str) -> None:
    assert RULE.coerce(text) == text == RULE.text(text)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "an empty text"),
        (" a", "blanks at an end"),
        ("a\u00a0", "blanks at an end"),
        ("a\nb", "a line break or another control character"),
        ("a\u2028b", "a line break or another control character"),
        ("a\x00", "a line break or another control character"),
        ("a\x9f", "a line break or another control character"),
        ("\ud83d", "half of a surrogate pair"),
        ("x" * (MAX_TEXT_LENGTH + 1), "a text of 201 characters"),
    ],
)
def test_a_text_that_no_file_would_give_back_is_refused_in_words(text: str, wrong: str) -> None:
    assert wrong in refusal(RULE, text)
    assert "a text of 1 to 200 characters in one line" in refusal(RULE, text)


@pytest.mark.parametrize(
    ("value", "written"), [(8, '"8"'), (0.5, '"0.5"'), (True, '"true"'), (np.float64(2.5), '"2.5"')]
)
def test_a_number_is_no_text_and_the_message_says_what_to_write(value: object, written: str) -> None:
    assert "not a text" in refusal(RULE, value)
    assert refusal(RULE, value).endswith(f"write {written} in quotes")


def _is_value(text: str) -> bool:
    try:
        RULE.coerce(text)
    except hw.ParamError:
        return False
    return True


@given(text=st.text(max_size=12).filter(_is_value))
def test_every_text_survives_toml_json_tables_and_rows(text: str) -> None:
    assert tomllib.loads(toml_text({"set": {"rule": text}})) == {"set": {"rule": text}}
    assert json.loads(json.dumps({"rule": text})) == {"rule": text}
    assert parse_csv(csv_record(["rule"]) + csv_record([text])) == [(1, ["rule"]), (2, [text])]
    assert next(csv.reader([f"1,{csv_field(text)}\n"])) == ["1", text]
    spec = hw.SweepSpec(model="wide", fixed=(("rule", text),))
    for form in (hw.spec_to_toml(spec), hw.spec_to_json(spec)):
        assert hw.parse_spec(form).spec.fixed == spec.fixed
    frozen = hw.freeze(hw.SweepSpec(model="wide", blocks=(_varied("rule", text),)), SCHEMA)
    assert frozen.plan(SCHEMA).configs[0].params[SCHEMA.index("rule")] == text


def _varied(param: str, value: SpecValue) -> hw.BlockSpec:
    return hw.BlockSpec(factors=(hw.FactorSpec(param=param, levels=hw.ValueLevels(values=(value,))),))


@given(number=st.floats(min_value=-1e300, max_value=1e300))
def test_every_double_survives_its_text_and_every_file(number: float) -> None:
    value = LEVEL.coerce(number)
    assert value == number
    assert struct.pack("<d", LEVEL.parse(LEVEL.text(value))) == struct.pack("<d", number + 0.0)
    assert "e" not in LEVEL.text(value)
    _check_files("level", number)


@given(number=st.integers(LOWEST, HIGHEST) | st.sampled_from(LONG))
@example(2**53 + 1)
def test_every_whole_number_survives_its_text_and_every_file(number: int) -> None:
    assert OFFSET.parse(OFFSET.text(number)) == number == OFFSET.coerce(str(number))
    _check_files("offset", number)


def _check_files(param: str, number: float | int) -> None:
    """Check that a spec with `number` fixed, listed and as a range has one plan and one hash from every form."""
    spec = hw.SweepSpec(model="wide", blocks=(_varied(param, number),))
    bounds = hw.RangeLevels(min=number, max=number, step=1)
    ranged = hw.SweepSpec(model="wide", blocks=(hw.BlockSpec(factors=(hw.FactorSpec(param=param, levels=bounds),)),))
    for each in (spec, ranged, hw.SweepSpec(model="wide", fixed=((param, number),))):
        plan = each.plan(SCHEMA)
        assert plan.configs[0].params[SCHEMA.index(param)] == number
        for text in (hw.spec_to_toml(each), hw.spec_to_json(each)):
            again = hw.parse_spec(text).spec
            assert hw.spec_hash(again) == hw.spec_hash(each)
            assert again.plan(SCHEMA).plan_hash == plan.plan_hash


def test_a_long_number_is_a_text_of_digits_in_json_and_read_as_a_number() -> None:
    spec = hw.SweepSpec(model="wide", fixed=(("offset", -(2**53) - 1),))
    assert '"offset": "-9007199254740993"' in hw.spec_to_json(spec)
    text = '{"model": "wide", "block": [{"factors": [{"param": "offset", "range": {"min": "%d", "max": "%d"}}]}]}'
    plan = hw.parse_spec(text % (2**53 + 1, 2**53 + 3)).spec.plan(SCHEMA)
    assert [config.params[3] for config in plan.configs] == [2**53 + 1, 2**53 + 2, 2**53 + 3]
    with pytest.raises(hw.SpecError, match="without quotes"):
        hw.parse_spec(text % (1, 3))
    assert '"offset": -9007199254740992' in hw.spec_to_json(hw.SweepSpec(model="wide", fixed=(("offset", -(2**53)),)))


def write_values(data: Bytes, level: float, offset: int, rule: str) -> Bytes:
    data.numbers(7).byte(1).numbers(1).byte(0).singles(float(np.float32(0.4)))
    data.byte(4).double(level).byte(5).numbers(offset % 2**64).byte(6).texts(rule)
    return data.byte(2).numbers(1).byte(3).numbers(0).numbers(0)


def test_the_hashes_byte_for_byte() -> None:
    data = Bytes().texts("henad.schema.1", "wide").numbers(7)
    data.texts("value").byte(1).numbers(0, 1000, 1)
    data.texts("share").byte(0).singles(-1000.0, 1e9, 0.4)
    data.texts("level").byte(4).double(-1e300).double(1e300).double(0.1)
    data.texts("offset").byte(5).numbers(2**63, 2**63 - 1, 2**64 - 7)
    data.texts("rule").byte(6).texts("B3/S23")
    data.texts("wrap").byte(2).numbers(1)
    data.texts("mode").byte(3).numbers(2).texts("slow", "fast").numbers(0)
    data.numbers(3).texts("Sum", "Offset", "Letters").numbers(0)
    assert SCHEMA.schema_hash == data.fnv() == "550e58765a388ed6"

    plan = plan_of('[[block]]\ndesign = "table"\ntable_text = "level,offset,rule\\n-1.5,-2,rêgle\\n"')
    key = Bytes().texts("henad.run.2").numbers(int(plan.results_fingerprint, 16))
    (run,) = plan.runs()
    assert plan.run_key(run) == write_values(key, -1.5, -2, "rêgle").numbers(run.seed).fnv() == "ec1e4bdb9dde7e76"
    head = Bytes().texts("henad.plan.2").numbers(int(plan.results_fingerprint, 16), 0).texts("common").numbers(0, 1)
    head.texts("table").byte(0).numbers(1, 0)
    assert plan.plan_hash == write_values(head, -1.5, -2, "rêgle").fnv() == "827202e4b4edf9b1"


@given(
    level=st.floats(min_value=-1e300, max_value=1e300),
    offset=st.integers(LOWEST, HIGHEST) | st.sampled_from(LONG),
    rules=st.lists(st.text(max_size=6).filter(_is_value), min_size=1, max_size=4, unique=True),
)
def test_a_plan_hash_over_columns_is_that_of_its_values_one_by_one(level: float, offset: int, rules: list[str]) -> None:
    factors = [
        hw.FactorSpec(param=name, levels=hw.ValueLevels(values=values))
        for name, values in (("level", (level, 0.5)), ("rule", tuple(rules)), ("offset", (offset, 3)))
    ]
    plan = hw.SweepSpec(model="wide", blocks=(hw.BlockSpec(factors=tuple(factors)),)).plan(SCHEMA)
    head = Bytes().texts("henad.plan.2").numbers(int(plan.results_fingerprint, 16), 0).texts("common").numbers(0, 1)
    head.texts("factorial").byte(0).numbers(plan.config_count)
    for one in (level + 0.0, 0.5):
        for rule in rules:
            for number in (offset, 3):
                write_values(head.numbers(0), one, number, rule)
    assert plan.plan_hash == head.fnv()


def test_a_manifest_says_what_the_kinds_are() -> None:
    documents = {each["id"]: each for each in SCHEMA.document()["params"]}  # type: ignore[attr-defined]
    assert documents["level"] == {
        "index": 2, "id": "level", "label": "Level", "kind": "f64", "apply": "live", "format": "plain",
        "default": 0.1, "min": -1e300, "max": 1e300,
    }  # fmt: skip
    assert (documents["offset"]["kind"], documents["offset"]["min"]) == ("i64", LOWEST)
    assert (documents["rule"]["kind"], documents["rule"]["default"], "min" in documents["rule"]) == (
        "text",
        "B3/S23",
        False,
    )
