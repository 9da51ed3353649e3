"""Files of a model's own tables read back and gone on with: whatever a kill left of them, a resume makes them whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

import henad_web as hw
from henad_web.explore.shards import WHOLE
from henad_web.output.own_tables import OwnFile, index_own
from henad_web.output.store import MemoryStore
from henad_web.results.archive import pack, unpack
from henad_web.results.own_tables import field_columns
from henad_web.resume.kept_runs import reused_runs
from tests.shared.hosts import Host
from tests.shared.table_models import AGENTS, EDGES, HERD, Herd, herd_spec
from tests.shared.toy_models import entry_of

OWN = ("tables/agents.csv", "tables/edges.csv", "tables/rows.csv")
Files = dict[str, bytes]


def running(files: Files) -> Files:
    """Return `files` with a manifest as a killed process leaves it."""
    manifest = files["manifest.json"].replace(b'"status": "complete"', b'"status": "running"')
    return {**files, "manifest.json": manifest}


def resumed(
    host: Host, files: Files, spec: hw.SweepSpec | None = None, *, entry: hw.ModelEntry = HERD, **options: Any
) -> tuple[Files, list[int]]:
    """Return the files that a resume of `files` ends with, and the runs it did."""
    chosen = hw.SweepRunOptions(**options)
    events = host.drain(hw.SweepRun.resume_files(entry, files, chosen, spec=spec, target=host.target))
    assert isinstance(events[-1], hw.Finished), events[-1]
    assert events[-1].record.files is not None
    ran = [event.outcome.run.run_id for event in events if isinstance(event, hw.RunFinished)]
    return events[-1].record.files, ran


def opened(files: Files) -> hw.ResultSet:
    return hw.ResultSet.from_files(files, models=HERD)


@pytest.mark.parametrize("name", OWN)
def test_a_table_cut_at_any_byte_of_its_last_run_is_made_whole(stepped: Host, name: str) -> None:
    spec = herd_spec((2, 1), replicates=1)
    files = stepped.files(HERD, spec)
    whole, content = hw.masked(files), files[name]
    start = content.index(b"\n1,") + 1
    assert start < len(content) - 3
    for size in range(start, len(content)):
        again, ran = resumed(stepped, running({**files, name: content[:size]}))
        assert (hw.masked(again), ran) == (whole, [1]), f"{name} cut to {size} bytes"


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("what", ["gone", "empty", "header"])
def test_a_table_that_is_not_there_is_made_again(stepped: Host, name: str, what: str) -> None:
    files = stepped.files(HERD, herd_spec())
    left = {"gone": {}, "empty": {name: b""}, "header": {name: files[name][: files[name].index(b"\n") + 1]}}[what]
    damaged = {**{other: content for other, content in files.items() if other != name}, **left}
    again, ran = resumed(stepped, damaged)
    assert hw.masked(again) == hw.masked(files)
    lost = {"tables/edges.csv": [0, 1, 4, 5]}.get(name, list(range(6)))
    assert ran == lost, "a run without rows in it lacks none"


def test_rows_of_a_run_without_a_row_go(stepped: Host) -> None:
    files = stepped.files(HERD, herd_spec())
    runs = files["runs.csv"].splitlines(keepends=True)
    again, ran = resumed(stepped, running({**files, "runs.csv": b"".join(runs[:4])}))
    assert (hw.masked(again), ran) == (hw.masked(files), [3, 4, 5])
    killed = running({**files, "runs.csv": b"".join(runs[:4])})
    assert len(opened(killed).table("edges")) == 2, "nor does a reader count them"
    assert [run_id for run_id, _ in opened(killed).table("edges").runs()] == [0, 1]


def test_a_row_in_the_middle_that_is_gone_is_done_again(stepped: Host) -> None:
    files = stepped.files(HERD, herd_spec())
    for name in OWN:
        rows = files[name].splitlines(keepends=True)
        place = rows.index(next(row for row in rows if row.startswith(b"1,")))
        again, ran = resumed(stepped, {**files, name: b"".join(rows[:place] + rows[place + 1 :])})
        assert (hw.masked(again), ran) == (hw.masked(files), [1])


def test_failed_runs_tried_again_leave_their_rows_once(stepped: Host) -> None:
    files = stepped.files(HERD, herd_spec())
    again, ran = resumed(stepped, files, retry_failed=True)
    assert (hw.masked(again), ran) == (hw.masked(files), [2, 3])


class Echoes(Herd):
    """Herds whose moods have lines that begin as the rows of runs do, quoted where a comma or a line break is there."""

    moods = ("\n" + "".join(f"{run_id},\n" for run_id in range(6)), '3,"\n5,', "4,")

    def table(self, name: str) -> Any:
        columns = dict(super().table(name))
        return {**columns, "mood": [self.moods[id] for id in columns["id"]]} if name == "agents" else columns


ECHOES = replace(entry_of(Echoes), tables=HERD.tables)


@pytest.mark.parametrize("entry", [HERD, ECHOES], ids=["moods", "echoes"])
@pytest.mark.parametrize("order", ["depth", "breadth"])
def test_added_replicates_move_rows_to_their_new_ids_and_no_cell_with_them(
    stepped: Host, entry: hw.ModelEntry, order: str
) -> None:
    """Runs 2 to 5 become others, whose old ids begin lines inside of cells."""
    more = herd_spec(replicates=8, order=order)
    again, _ = resumed(stepped, stepped.files(entry, herd_spec()), more, entry=entry)
    assert hw.masked(again) == hw.masked(stepped.files(entry, more))


def test_a_folder_saved_by_a_spreadsheet_is_read_and_written_back(stepped: Host) -> None:
    files = stepped.files(HERD, herd_spec())
    saved = {name: b"\xef\xbb\xbf" + files[name].replace(b"true\n", b"true\r\n") for name in OWN[:1]}
    saved |= {name: files[name].replace(b"\n", b"\r\n") for name in OWN[1:]}
    assert len(opened({**files, **saved}).table("agents")) == len(opened(files).table("agents")) == 36
    again, ran = resumed(stepped, {**files, **saved})
    assert (hw.masked(again), ran) == (hw.masked(files), [])
    more = herd_spec(replicates=3)
    again, ran = resumed(stepped, {**files, **saved}, more)
    assert (hw.masked(again), ran) == (hw.masked(stepped.files(HERD, more)), [2, 5, 8])


def test_an_aborted_sweep_goes_on_from_its_zip(host: Host, stepped: Host) -> None:
    run = stepped.start(HERD, herd_spec())
    stepped.until(run, lambda: run.progress().runs_done >= 2)
    run.abort()
    files = stepped.record(run).files
    assert files is not None
    again, _ = resumed(host, unpack(pack(files)))
    assert hw.masked(again) == hw.masked(stepped.files(HERD, herd_spec()))


CHANGED = {
    "another cadence": (herd_spec(every=4), "agents.id i64"),
    "the end alone": (herd_spec(every=None), "at the end"),
    "fewer": (herd_spec(tables=("agents",)), "edges.a i64"),
    "none": (herd_spec(tables=(), every=None), "recorded agents.id i64"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_resume_that_asks_for_other_tables_is_refused(stepped: Host, what: str) -> None:
    spec, told = CHANGED[what]
    with pytest.raises(hw.ResumeError, match="other tables of the model's own are asked for") as caught:
        resumed(stepped, stepped.files(HERD, herd_spec()), spec)
    assert caught.value.reason is hw.ResumeReason.TABLES_CHANGED
    assert told in str(caught.value)


def test_a_model_whose_table_has_changed_is_refused(stepped: Host) -> None:
    other = replace(HERD, tables=(hw.Table("agents", {**AGENTS.columns, "id": "f64"}), EDGES))
    files = stepped.files(HERD, herd_spec())
    with pytest.raises(hw.ResumeError, match=r"recorded agents\.id i64, .*; .*|current agents\.id f64"):
        hw.SweepRun.resume_files(other, files, target=stepped.target)
    with pytest.raises(hw.ResumeError, match=r"the columns of tables/edges\.csv differ"):
        resumed(stepped, {**files, "tables/edges.csv": files["tables/edges.csv"].replace(b"a,b", b"a,c", 1)})


def test_a_reuse_copies_rows_with_their_runs_where_the_tables_are_the_same(stepped: Host) -> None:
    old, wider = stepped.files(HERD, herd_spec((1, 2))), herd_spec((3, 2, 1))
    plan = wider.plan(HERD.schema())
    kept = reused_runs(MemoryStore(old), plan, WHOLE, retry_failed=False)
    assert kept.tables.rows.run_ids.tolist() == [2, 3, 4, 5]
    spans = kept.tables.rows.own["tables/edges.csv"]
    read = [old["tables/edges.csv"][start:end] for start, end in zip(spans.starts, spans.ends, strict=True)]
    assert read == [b"2,5,0,2\n", b"3,5,0,2\n", b"0,5,0,1\n", b"1,5,0,1\n"]
    for other in (herd_spec((2,), every=4), herd_spec((2,), tables=("agents",))):
        assert reused_runs(MemoryStore(old), other.plan(HERD.schema()), WHOLE, retry_failed=False).count == 0
    without = herd_spec((2,), tables=(), every=None).plan(HERD.schema())
    assert reused_runs(MemoryStore(old), without, WHOLE, retry_failed=False).count == 2, "their rows are as good"
    cut = {**old, "tables/rows.csv": old["tables/rows.csv"][:-4]}
    assert reused_runs(MemoryStore(cut), plan, WHOLE, retry_failed=False).count == 3


def test_rows_are_read_by_run_as_typed_columns(stepped: Host) -> None:
    files = stepped.files(HERD, herd_spec())
    results = opened(files)
    table = results.table("agents")
    assert results.table_ids == ("agents", "edges")
    assert (table.columns, len(table)) == (("id", "wealth", "age", "mood", "alive"), 36)
    assert repr(table) == "<RecordedTable 'agents': id i64, wealth f64, age f32, mood text, alive bool>"
    rows = table.run(1)
    assert repr(rows) == "<RecordedRows of 'agents': 7 rows x 5 columns>"
    assert rows.ticks.tolist() == [0, 0, 0, 2, 4, 4, 4]
    assert rows["id"].dtype == np.int64
    assert rows["id"].tolist() == [0, 1, 2, 0, 0, 1, 2]
    np.testing.assert_array_equal(rows["wealth"][:3], [0.0, 1 / 3, np.nan])
    assert rows["age"].tolist()[1] == 0.33333334, "the decimal that stands there"
    assert rows["mood"].tolist()[:2] == ["calm", 'says "12,\n0,']
    assert rows["alive"].tolist()[:2] == [True, False]
    assert [run_id for run_id, _ in table.runs()] == list(range(6))
    with pytest.raises(hw.ResultsError, match=r"tables/agents\.csv has no column 'welth'"):
        rows["welth"]
    with pytest.raises(hw.UnknownRunError):
        table.run(6)
    assert len(opened(files).table("edges").run(2)) == 0


def test_a_replayed_run_gives_its_tables(stepped: Host) -> None:
    results = opened(stepped.files(HERD, herd_spec()))
    state = results.replay(1, at="end")
    rows = results.table("edges").run(1)
    assert state.table("edges")["b"].tolist() == rows["b"].tolist() == [1]  # type: ignore[attr-defined]


def test_files_are_known_by_their_folder_or_by_their_whole_header(stepped: Host) -> None:
    files = stepped.files(HERD, herd_spec())
    loose = {f"{name.rpartition('/')[2]} (1)": content for name, content in files.items()}
    deep = {f"study/{name}": content for name, content in files.items()}
    for given in (loose, deep, unpack(pack(deep)), dict(reversed(files.items()))):
        results = opened(given)
        assert len(results.table("agents")) == 36
        assert results.series(0).ticks.tolist() == [0, 2, 4, 5]
        again, ran = resumed(stepped, given)
        assert (hw.masked(again), ran) == (hw.masked(files), [])
    with pytest.raises(hw.ResultsError, match=r"more than one file is a tables/edges\.csv"):
        opened({**files, "copy of edges.csv": files["tables/edges.csv"], "tables (1)/tables/edges.csv": b""})
    stray = opened({**files, "tables/notes.csv": b"run_id,tick,Ticks\n", "tables/x.csv": b"a\n"})
    assert stray.ignored == ("tables/notes.csv", "tables/x.csv")


def test_a_table_alike_the_series_is_told_apart_by_its_folder(stepped: Host) -> None:
    class Alike(Herd):
        def table(self, name: str) -> Any:
            return {"Ticks": [1.0, 2.0]}

    entry = replace(entry_of(Alike), tables=(hw.Table("agents", {"Ticks": "f64"}),))
    results = hw.ResultSet.from_files(stepped.files(entry, herd_spec((1,), tables=("agents",))))
    assert (len(results.series(0)), len(results.table("agents").run(0))) == (4, 8)


def test_a_table_that_is_missing_is_told(stepped: Host) -> None:
    files = stepped.files(HERD, herd_spec())
    results = opened({name: content for name, content in files.items() if name != "tables/edges.csv"})
    assert results.missing_line is not None
    assert results.missing_line.startswith("there is no tables/edges.csv, which a table of the model's own needs")
    assert results.series(0).ticks.tolist() == [0, 2, 4, 5]
    with pytest.raises(hw.MissingFileError, match=r"no tables/edges\.csv"):
        results.table("edges")
    assert opened(files).missing_line is None


@pytest.mark.parametrize(
    ("id", "told"),
    [
        ("agent", "no table 'agent' was kept; allowed: 'agents', 'edges'; did you mean 'agents'?"),
        ("runs", "no table 'runs' was kept; allowed: 'agents', 'edges'"),
    ],
)
def test_a_table_that_was_not_kept_is_told(stepped: Host, id: str, told: str) -> None:
    with pytest.raises(hw.UsageError) as caught:
        opened(stepped.files(HERD, herd_spec())).table(id)
    assert str(caught.value) == told
    with pytest.raises(hw.UsageError, match=r"none was: \[measure\] tables asks for them"):
        opened(stepped.files(HERD, herd_spec(tables=(), every=None))).table("agents")


DAMAGE = {
    "a field more": (b"0,5,0,1\n", b"0,5,0,1,1\n", "record 2: expected 4 fields and not 5"),
    "no run id": (b"0,5,0,1\n", b"x,5,0,1\n", "record 2, column 'run_id': expected a whole number"),
    "zeros before it": (b"1,5,0,1\n", b"01,5,0,1\n", "record 3, column 'run_id': expected a whole number"),
    "a long id": (b"1,5,0,1\n", b"1" * 19 + b",5,0,1\n", "record 3, column 'run_id': expected a whole number"),
    "a cell": (b"1,5,0,1\n", b"1,5,z,1\n", "record 3, column 'a': expected a whole number from -2^63"),
    "a tick": (b"1,5,0,1\n", b"1,-5,0,1\n", "record 3, column 'tick': expected a whole number"),
    "no UTF-8": (b"1,5,0,1\n", b"1,5,\xff,1\n", "record 3: expected UTF-8"),
    "two places": (b"4,5,0,2\n", b"4,5,0,2\n0,5,0,1\n", "record 5, column 'run_id': expected the rows of each run"),
    "a header": (b"a,b\n", b"a,c\n", "record 1, column 'b': expected the column 'b'"),
}


@pytest.mark.parametrize("what", DAMAGE)
@pytest.mark.parametrize("is_quoted", [False, True])
def test_damage_is_told_by_its_record(stepped: Host, what: str, is_quoted: bool) -> None:
    right, wrong, told = DAMAGE[what]
    files = stepped.files(HERD, herd_spec())
    table = files["tables/edges.csv"].replace(right, wrong, 1)
    if is_quoted:  # read record by record
        table = table[:-2] + b'"' + table[-2:-1] + b'"\n'
    with pytest.raises(hw.TableDamagedError) as caught:
        list(opened({**files, "tables/edges.csv": table}).table("edges").runs())
    assert str(caught.value).startswith(f"tables/edges.csv, {told}")


@pytest.mark.parametrize("id", ["../x", "a/b", "Rows", ""])
def test_a_manifest_cannot_name_a_file_elsewhere(stepped: Host, id: str) -> None:
    files = stepped.files(HERD, herd_spec())
    manifest = msgspec.json.decode(files["manifest.json"])
    manifest["columns"]["tables"] = {id: {"a": "f64"}}
    with pytest.raises(hw.ManifestError, match="is no id of a table"):
        opened({**files, "manifest.json": msgspec.json.encode(manifest)})


def test_a_verification_finds_a_changed_cell_and_a_lost_row(stepped: Host) -> None:
    files = stepped.files(HERD, herd_spec())
    assert hw.verify_results(opened(files), runs=6).is_equal
    changed = {**files, "tables/edges.csv": files["tables/edges.csv"].replace(b"1,5,0,1", b"1,5,0,3")}
    (difference,) = hw.verify_results(opened(changed), runs=6).differences
    assert str(difference) == "run 1, b at tick 5: recorded 3, rerun 1"
    assert difference.table == "tables/edges.csv"
    lost = {**files, "tables/edges.csv": files["tables/edges.csv"].replace(b"1,5,0,1\n", b"")}
    (difference,) = hw.verify_results(opened(lost), runs=6).differences
    assert str(difference) == "run 1, rows at tick 5: recorded 0 rows, rerun 1 row"


def test_a_verification_counts_cells_of_tables_and_compares_texts_to_the_letter(stepped: Host) -> None:
    files, without = stepped.files(HERD, herd_spec()), stepped.files(HERD, herd_spec(tables=(), every=None))
    cells = [hw.verify_results(opened(given), runs=6).cells for given in (files, without)]
    assert cells[0] - cells[1] == 36 * 5 + 4 * 2

    class Numbered(Herd):
        def table(self, name: str) -> Any:
            return {"version": ["1.0"]}

    entry = replace(entry_of(Numbered), tables=(hw.Table("agents", {"version": "text"}),))
    files = stepped.files(entry, herd_spec((1,), tables=("agents",), replicates=1))
    changed = {**files, "tables/agents.csv": files["tables/agents.csv"].replace(b"0,5,1.0", b"0,5,1")}
    (difference,) = hw.verify_results(hw.ResultSet.from_files(changed, models=entry)).differences
    assert str(difference) == "run 0, version at tick 5: recorded 1, rerun 1.0"


def test_loose_tables_without_a_series_are_none(stepped: Host) -> None:
    files = stepped.files(HERD, herd_spec())
    loose = {f"{name.rpartition('/')[2]} (1)": content for name, content in files.items() if name != "series.csv"}
    results = opened(loose)
    assert (results.has_series, len(results.table("agents"))) == (False, 36)


def test_a_table_is_looked_through_once_for_all_runs(stepped: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    from henad_web.results import own_tables  # noqa: PLC0415 - whose index is counted

    looks: list[str] = []

    def counted(stream: Any, file: OwnFile) -> Any:
        looks.append(file.name)
        return index_own(stream, file)

    monkeypatch.setattr(own_tables, "index_own", counted)
    results = opened(stepped.files(HERD, herd_spec()))
    assert hw.verify_results(results, runs=6).is_equal
    assert sum(len(results.table("agents").run(run_id)) for run_id in range(6)) == 36
    assert sorted(looks) == ["tables/agents.csv", "tables/edges.csv"]


def test_blocks_of_any_size_give_the_same_index(monkeypatch: pytest.MonkeyPatch) -> None:
    import io  # noqa: PLC0415 - only here

    from henad_web.output import table_reading  # noqa: PLC0415 - whose block is made small

    file = OwnFile("tables/edges.csv", ("run_id", "tick", "a", "b"))
    rows = b"".join(b"%d,%d,%d,-1\n" % (row // 3, row, row * 7) for row in range(40))
    data = b"run_id,tick,a,b\n" + rows + b"14,0,1"
    expected = index_own(io.BytesIO(data), file)
    assert expected.rows.tolist() == [3] * 13 + [1]
    assert int(expected.ends[-1]) == len(data) - len(b"14,0,1")
    for size in (13, 14, 17, 64):  # a block holds the longest row at least
        monkeypatch.setattr(table_reading, "_BLOCK_BYTES", size)
        found = index_own(io.BytesIO(data), file)
        for name in ("run_ids", "rows", "starts", "ends"):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert field_columns(rows, file)[2][:3] == ["0", "7", "14"]
