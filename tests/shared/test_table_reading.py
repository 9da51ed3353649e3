"""Laws of the one grammar of tables: whole records and their bytes, a torn tail left out, a torn middle refused."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from henad_web.errors import TableDamagedError
from henad_web.explore.cell_texts import csv_line
from henad_web.explore.columns import SERIES_LEADING
from henad_web.output import table_reading
from henad_web.output.records import RecordReader, TableRecord, canonical_records
from henad_web.output.table_reading import RunsBatch, RunsReader, plain_blocks, series_numbers
from henad_web.output.tables import RunsColumns, RunsLayout, RunsTable
from tests.shared.made_results import REDUCERS, outcome_of, plan_of

PLAN = plan_of()
TABLE = RunsTable(PLAN, REDUCERS)
LAYOUT = RunsLayout.of_plan(PLAN, REDUCERS)
NOTES = ("", 'said "no", twice', "a,b", "ein Fehler: é")
ROWS = [TABLE.row(outcome_of(PLAN, run_id, note=note)) for run_id, note in enumerate(NOTES)]
WHOLE = TABLE.header + b"".join(ROWS)


def records_of(data: bytes) -> list[TableRecord]:
    return list(RecordReader(io.BytesIO(data), "t.csv"))


def read(data: bytes) -> tuple[RunsReader, RunsBatch]:
    reader = RunsReader(io.BytesIO(data), LAYOUT)
    *_, last = reader.batches()
    return reader, last


def test_rows_come_back_as_they_were_written() -> None:
    reader, batch = read(WHOLE)
    columns = dict(zip(LAYOUT.header, batch.columns, strict=True))
    assert (reader.torn_bytes, reader.is_canonical) == (0, True)
    assert columns["seed"].tolist() == [run.seed for run in PLAN.runs()]
    assert columns["run_key"].tolist() == [PLAN.run_key(run) for run in PLAN.runs()]
    assert columns["note"].tolist() == list(NOTES)
    spans = zip(batch.starts.tolist(), batch.ends.tolist(), strict=True)
    assert [WHOLE[start:end] for start, end in spans] == ROWS


def test_a_table_cut_at_any_byte_keeps_its_whole_records() -> None:
    ends = [len(TABLE.header)]
    for row in ROWS:
        ends.append(ends[-1] + len(row))
    for size in range(len(WHOLE) + 1):
        reader = RecordReader(io.BytesIO(WHOLE[:size]), "runs.csv")
        found = list(reader)
        whole = [end for end in ends if end <= size]
        assert [record.number for record in found] == list(range(1, len(whole) + 1))
        assert reader.end == (whole[-1] if whole else 0)
        assert reader.torn_bytes == size - reader.end


@pytest.mark.parametrize("data", [b"7,0\n7,5\n", b"7,5\n"])
def test_a_model_without_statistics_has_samples_of_no_values(data: bytes) -> None:
    ticks, values = series_numbers(data, SERIES_LEADING, 2)
    assert ticks.tolist() == [0, 5][-len(ticks) :]
    assert values.shape == (data.count(b"\n"), 0)


texts = st.text(st.sampled_from('a,"\n\r;é '), max_size=6)


@given(st.lists(st.lists(texts, min_size=2, max_size=4), min_size=1, max_size=5), st.booleans(), st.booleans())
def test_whatever_fields_hold_comes_back_from_every_form_of_a_table(
    rows: list[list[str]], is_quoted: bool, is_marked: bool
) -> None:
    """Plain or all quoted, LF or CRLF, marked or not: the fields are those written, and canonical bytes come back."""
    canonical = b"".join(map(csv_line, rows))
    for ending in ("\n", "\r\n"):
        lines = [
            ",".join(
                f'"{text.replace(chr(34), chr(34) * 2)}"' if is_quoted else csv_line([text])[:-1].decode()
                for text in row
            )
            for row in rows
        ]
        data = (chr(0xFEFF) * is_marked + "".join(line + ending for line in lines)).encode()
        records = records_of(data)
        assert [record.fields for record in records] == rows
        assert records[0].start == 0
        assert [record.end for record in records] == [*(record.start for record in records[1:]), len(data)]
        assert canonical_records(data.removeprefix(b"\xef\xbb\xbf"), "t.csv") == canonical
        if data != canonical:
            assert not all(record.is_canonical for record in records)
        else:
            assert all(record.is_canonical for record in records)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'a"b",c\n', "quoted whole"),
        (b'a"b,c\n', "its quotes closed"),
        (b'"a"b,c\n', "quoted whole"),
        (b"a\rb,c\n", "no carriage return"),
        (b"\xff\xfe,c\n", "UTF-8"),
        (b'"a\nb,c\nd,e\n', "its quotes closed"),
        (b"a,b\rc,d\re,f", "ends with a line feed"),
    ],
)
def test_what_is_no_record_is_refused_with_its_number(line: bytes, expected: str) -> None:
    with pytest.raises(TableDamagedError, match=rf"^t\.csv, record 3: expected .*{expected}") as caught:
        [record.fields for record in records_of(b"x,y\n1,2\n" + line)]
    assert (caught.value.table, caught.value.record, caught.value.column) == ("t.csv", 3, None)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"0,0,0\n", ": expected 22 fields and not 3, got '0,0,0'"),
        (b"\n", ": expected 22 fields and not 1, got ''"),
        (ROWS[0].replace(b",ok,", b",fine,"), ", column 'status': expected one of ok, "),
        (ROWS[0].replace(b"0,0,0,0,", b"0,-1,0,0,", 1), ", column 'config_id': expected a whole number"),
        (ROWS[0].replace(b"0,0,0,0,", b"0,00,0,0,", 1), ", column 'config_id': expected a whole number"),
        (ROWS[0].replace(b",193,", b",1_9,"), ", column 'Infected:max': expected a number or nothing, got '1_9'"),
        (ROWS[0].replace(b",193,", b",\0,"), ", column 'Infected:max': expected a number or nothing"),
        (ROWS[0].replace(b",20,", b",99999999999999999999999,"), ", column 'ticks': expected a whole number from 0 to"),
        (ROWS[0].replace(b",20,", b"," + b"9" * 5000 + b","), r".*got '9{60}'\.\.\. \(5000 characters\)"),
    ],
)
def test_a_torn_middle_is_refused_with_its_place(raw: bytes, expected: str) -> None:
    with pytest.raises(TableDamagedError, match=rf"^runs\.csv, record 3{expected}") as caught:
        read(TABLE.header + ROWS[0] + raw + ROWS[1])
    assert (caught.value.table, caught.value.record) == ("runs.csv", 3)


def test_columns_are_found_from_the_end() -> None:
    text = (
        "run_id,config_id,block,rep,seed,run_key,note,status,action.a,status,stop_reason,ticks,population,"
        "build_ms,wall_ms,steps_per_s,S:max,note"
    )
    header = RunsColumns.of(text.split(","))
    assert header.config_names == ("note", "status", "action.a")
    assert (header.reducers, header.width) == (("S:max",), 18)
    assert [text.split(",")[place] for place in header.timings] == ["build_ms", "wall_ms", "steps_per_s"]


@pytest.mark.parametrize("header", ["", "run_id,tick", "a,b,c\n", TABLE.header.decode().replace("note", "notes")])
def test_another_header_is_refused(header: str) -> None:
    with pytest.raises(TableDamagedError, match=r"runs\.csv, record 1: expected the columns of a sweep"):
        RunsColumns.of(header.strip().split(","))


def test_a_table_without_a_whole_header_has_no_rows() -> None:
    for size in (0, 5):
        reader, batch = read(WHOLE[:size])
        assert (reader.header, len(batch.starts)) == (None, 0)


def test_blocks_hold_whole_plain_lines_and_end_where_a_record_is_not_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_reading, "_BLOCK_BYTES", 8)

    def blocks(data: bytes) -> list[tuple[bytes | None, int, int]]:
        return list(plain_blocks(io.BytesIO(b"head\n" + data), 5, "series.csv", "a row"))

    assert blocks(b"1,2\n3,4\n5,6\n7") == [(b"1,2\n3,4\n", 5, 2), (b"5,6\n", 13, 4)]
    assert blocks(b"1,23\n45,6\n") == [(b"1,23\n", 5, 2), (b"45,6\n", 10, 3)]
    assert blocks(b"1,2\n3,4\n\n5,6\n") == [(b"1,2\n3,4\n", 5, 2), (None, 13, 4)]
    for rest in (b'"5",6\n', b"5,6\r\n"):
        assert blocks(b"1,2\n3,4\n" + rest) == [(b"1,2\n3,4\n", 5, 2), (None, 13, 4)]
    with pytest.raises(TableDamagedError, match="a line feed behind a row"):
        blocks(b"1,2\n" + b"3" * 24)
