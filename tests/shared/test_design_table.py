"""Design tables read in bulk: what each field reads as alone, with the same errors, in bounded memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from henad_web.errors import ParamError, ProblemList
from henad_web.explore import design_table
from henad_web.explore.design_table import ColumnReader, CsvTextError, csv_record, parse_csv, parse_design_table
from henad_web.explore.factors import Target, Targets
from henad_web.model.params import Param, boolean, choice, f32, f64, i64, text, u32
from tests.shared.schemas import plan_of, table

PARAMS = (
    f32("rate", "Rate", 0.0, -5.0, 5.0),
    f64("fine", "Fine", 0.0, -1e300, 1e300),
    u32("size", "Size", 1, 0, 1000),
    i64("debt", "Debt", 0, -(2**63), 2**63 - 1),
    boolean("wrap", "Wrap", True),
    choice("mode", "Mode", ("fast", "slow")),
    text("rule", "Rule", "a"),
)
TARGETS = [Target(param.id, slot, param) for slot, param in enumerate(PARAMS)] + [Target("pulse", 0, None)]
NUMBERS = (
    st.sampled_from(
        [
            "0.1",
            "+5",
            "-0",
            "1e2",
            "5.",
            ".5",
            "7e-46",
            "1e999",
            "inf",
            "nan",
            "",
            "1_0",
            "0x1",
            "\u0661",
            "--1",
            "1e",
            ".",
        ]
    )
    | st.sampled_from(["1.0000000596046448", "1.00000005960464477", "0.10000000149011612", "007", "8.0", "9" * 25])
    | st.integers(-(2**64), 2**64).map(str)
    | st.integers(0, 1200).map(str)
    | st.floats(-6, 6).map(repr)
    | st.floats(-6, 6, width=32).map(repr)
)
FIELDS = (
    NUMBERS
    | st.sampled_from(["true", "false", "fast", "slow", "0", "1", "fats", "a b", "1\n2", "0.5\n0.5"])
    | st.text(max_size=3)
)


def alone(target: Target, field: str) -> object:
    try:
        value = target.coerce(field)
    except ParamError as error:
        return str(error)
    return value, type(value)


@given(st.sampled_from(TARGETS), st.lists(st.lists(FIELDS, max_size=6), min_size=1, max_size=3))
def test_fields_read_together_are_what_each_is_alone(target: Target, pieces: list[list[str]]) -> None:
    reader, found = ColumnReader(target), list[object]()
    for fields in pieces:
        wrong = dict(reader.read(fields))
        found += [str(wrong[place]) if place in wrong else None for place in range(len(fields))]
    levels = reader.levels()
    assert len(levels) == len(found)
    values = [(levels[place], type(levels[place])) if error is None else error for place, error in enumerate(found)]
    assert values == [alone(target, field) for fields in pieces for field in fields]


def test_the_decimal_decides_between_two_numbers_of_single_precision() -> None:
    """Each of the first two is the middle of two such numbers as a double, and lies on its own side as a decimal."""
    fields = ["1.00000005960464477539062501", "1.00000005960464477539062499", "1.000000059604644775390625", "2.5"]
    reader = ColumnReader(TARGETS[0])
    assert reader.read(fields) == []
    assert [reader.levels()[place] for place in range(4)] == [1.0 + 2**-23, 1.0, 1.0, 2.5]


@pytest.mark.parametrize("param", PARAMS[:2], ids=lambda param: param.id)
def test_zeros_read_together_have_no_sign(param: Param) -> None:
    reader = ColumnReader(Target(param.id, 0, param))
    assert reader.read(["-0", "-0.0", "0"]) == []
    assert [str(reader.levels()[place]) for place in range(3)] == ["0.0"] * 3


CELLS = st.text(st.sampled_from('ab,"\n \t\u00a0'), max_size=4)


@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=8), st.integers(1, 9))
def test_records_read_back_whatever_the_piece(records: list[list[str]], piece: int) -> None:
    written = "".join(csv_record(fields) for fields in records)
    with mock.patch.object(design_table, "_PIECE", piece):
        found = [fields for _, fields in parse_csv(written)]
    expected = [[field.strip() for field in fields] for fields in records]
    blank = [not csv_record(fields).strip() for fields in records]
    assert found == [fields for fields, is_blank in zip(expected, blank, strict=True) if not is_blank]


@given(st.text(st.sampled_from('a,"\n\r '), max_size=14), st.integers(1, 5))
def test_lines_and_errors_do_not_depend_on_the_piece(written: str, piece: int) -> None:
    def read() -> object:
        try:
            return parse_csv(written)
        except CsvTextError as error:
            return str(error)

    whole = read()
    with mock.patch.object(design_table, "_PIECE", piece):
        assert read() == whole


def test_lines_are_counted_through_quotes_and_blanks() -> None:
    assert parse_csv('a,b\r\n\r\n"x\ny",2\n \n3,"4"\n5,6') == [
        (1, ["a", "b"]),
        (3, ["x\ny", "2"]),
        (6, ["3", "4"]),
        (7, ["5", "6"]),
    ]


def problems_in(written: str) -> Iterator[str]:
    targets = Targets({target.name: target for target in TARGETS if target.param}, {"pulse": TARGETS[-1]})
    problems = ProblemList()
    parse_design_table(written, targets, ("block", 0), "table_text", problems)
    return map(str, problems.problems)


def test_rows_that_are_wrong_are_told_in_order_whatever_the_piece() -> None:
    rows = [f"{number % 3 or 'x'},{number}" + ",9" * (number % 5 == 0) for number in range(995, 1050)]
    written = "\n".join(["rate,size", *rows])
    whole = list(problems_in(written))
    assert whole[0] == "[block 0] table_text: table row 2: wrong width, got 3 fields; allowed: 2"
    assert whole[1].startswith("[block 0] table_text: table row 3, column 'rate': not a number, got 'x'")
    assert whole[-1] == "[block 0] table_text: table: 33 more rows are wrong"
    with mock.patch.object(design_table, "_ROWS", 4):
        assert list(problems_in(written)) == whole


def test_a_misplaced_quote_is_told_alone() -> None:
    assert list(problems_in('rate,sise\nx,1\n1,"2" 3\n')) == [
        "[block 0] table_text: table line 3: text after a closing quote"
    ]


def test_a_wrong_header_and_no_rows_are_told_together() -> None:
    assert [problem.partition(": ")[2].partition(",")[0] for problem in problems_in("rate,sise\n\n")] == [
        "table header: unknown column",
        "the table has 0 rows; allowed: one row a config below the header",
    ]


def test_a_large_table_takes_little_more_memory_than_its_numbers() -> None:
    """Eight bytes a number and eight more for the decimal of an f32, where a list of rows took several hundred."""
    rows = 60_000
    block = table("rate,size,mode\n" + "".join(f"0.{row:06},{row % 1000 + 1},fast\n" for row in range(rows)))
    plan_of(table("rate,size,mode\n0.5,1,fast\n"))
    tracemalloc.start()
    plan = plan_of(block)
    taken, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [str(value) for value in plan.configs[rows - 1].params[:2]] == ["1000", "0.059999000281095505"]
    assert taken < 30 * rows
    assert peak < 400 * rows
