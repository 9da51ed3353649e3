"""Laws of reading a table back: whole records and their bytes, a torn tail left out, a torn middle refused."""

from __future__ import annotations

import io

import pytest

from henad_web.errors import OutputError
from henad_web.explore.outcomes import RunStatus, StopReason
from henad_web.output.table_reading import RecordReader, RunRow, RunsColumns, TableDamagedError, read_run_rows
from henad_web.output.tables import RunsTable
from tests.shared.made_results import REDUCERS, outcome_of, plan_of

PLAN = plan_of()
TABLE = RunsTable(PLAN, REDUCERS)
NOTES = ("", 'said "no", twice', "a,b", "ein Fehler: é")
ROWS = [TABLE.row(outcome_of(PLAN, run_id, note=note)) for run_id, note in enumerate(NOTES)]
WHOLE = TABLE.header + b"".join(ROWS)


def read(data: bytes) -> tuple[list[RunRow], RecordReader]:
    records = RecordReader(io.BytesIO(data))
    rows = list(read_run_rows(records)[1])
    return rows, records


def test_rows_come_back_as_they_were_written() -> None:
    rows, records = read(WHOLE)
    assert (records.end, records.torn_bytes) == (len(WHOLE), 0)
    for row, run, note in zip(rows, PLAN.runs(), NOTES, strict=True):
        assert (row.run_id, row.config_id, row.rep, row.seed) == (run.run_id, run.config_id, run.rep, run.seed)
        assert (row.block, row.run_key, row.note) == (0, PLAN.run_key(run), note)
        assert (row.status, row.stop_reason) == (RunStatus.OK, StopReason.STEPS)
        assert (row.ticks, row.population) == (20, 256)
        assert WHOLE[row.record.start : row.record.end] == row.record.raw == ROWS[run.run_id]


def test_a_table_cut_at_any_byte_keeps_its_whole_records() -> None:
    ends = [len(TABLE.header)]
    for row in ROWS:
        ends.append(ends[-1] + len(row))
    for size in range(len(WHOLE) + 1):
        rows, records = read(WHOLE[:size])
        whole = [end for end in ends if end <= size]
        assert len(rows) == max(len(whole) - 1, 0)
        assert records.end == (whole[-1] if whole else 0)
        assert records.torn_bytes == size - records.end


def test_a_line_feed_inside_quotes_ends_no_record() -> None:
    data = TABLE.header + ROWS[0][:-1] + b'"two\nlines"\n' + ROWS[1]
    rows, _ = read(data)
    assert [row.note for row in rows] == ["two\nlines", NOTES[1]]


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf" + WHOLE, WHOLE.replace(b"\n", b"\r\n")], ids=["mark", "crlf"])
def test_what_an_editor_leaves_still_reads(data: bytes) -> None:
    assert [row.note for row in read(data)[0]] == list(NOTES)


@pytest.mark.parametrize(
    ("raw", "wrong"),
    [
        (b"0,0,0\n", "3 fields, expected"),
        (b"\n", "0 fields, expected"),
        (ROWS[0].replace(b",ok,", b",fine,"), "'fine' is not a valid RunStatus"),
        (ROWS[0].replace(b"0,0,0,0,", b"0,-1,0,0,", 1), "'-1' where a whole number belongs"),
    ],
)
def test_a_torn_middle_is_refused_with_its_place(raw: bytes, wrong: str) -> None:
    with pytest.raises(TableDamagedError, match=rf"^runs\.csv: record 2 is damaged: {wrong}") as caught:
        read(TABLE.header + ROWS[0] + raw + ROWS[1])
    assert (caught.value.table, caught.value.record) == ("runs.csv", 2)


def test_columns_are_found_from_the_end() -> None:
    text = (
        "run_id,config_id,block,rep,seed,run_key,note,status,action.a,status,stop_reason,ticks,population,"
        "build_ms,wall_ms,steps_per_s,S:max,note"
    )
    header = RunsColumns.of(text.split(","))
    assert header.config_names == ("note", "status", "action.a")
    assert (header.reducers, header.width) == (("S:max",), 18)


@pytest.mark.parametrize("header", ["", "run_id,tick", "a,b,c\n", TABLE.header.decode().replace("note", "notes")])
def test_another_header_is_refused(header: str) -> None:
    with pytest.raises(OutputError, match="a header that is not that of a sweep"):
        RunsColumns.of(header.strip().split(","))


def test_a_table_without_a_whole_header_has_no_rows() -> None:
    for size in (0, 5):
        columns, rows = read_run_rows(RecordReader(io.BytesIO(WHOLE[:size])))
        assert columns is None
        assert list(rows) == []
