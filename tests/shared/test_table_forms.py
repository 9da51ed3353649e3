"""Every reader takes a table as another program leaves it, and refuses a damaged one with one sentence."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping

import numpy as np
import pytest

import henad_web as hw
from henad_web.output.records import RecordReader
from henad_web.results.verifying import verify_results
from henad_web.targets import PumpedTarget
from tests.shared.hosts import Host
from tests.shared.table_forms import FORMS, ODD_ENTRY, OPTIONS, in_form, odd_spec
from tests.shared.toy_models import Toy, entry_of, toy_spec

ODD_MODELS = hw.ModelSet([ODD_ENTRY])


@pytest.fixture(scope="module")
def whole() -> dict[str, bytes]:
    host = Host(PumpedTarget())
    files = host.files(ODD_ENTRY, odd_spec())
    host.close()
    return files


def resumed(host: Host, files: Mapping[str, bytes], spec: hw.SweepSpec | None = None) -> dict[str, bytes]:
    run = hw.SweepRun.resume_files(ODD_ENTRY, files, spec=spec, target=host.target)
    came = host.record(run).files
    assert came is not None
    return came


def cut(files: Mapping[str, bytes], rows: int) -> dict[str, bytes]:
    """Return `files` as a kill leaves them after `rows` rows, in the middle of another."""
    table = files["runs.csv"]
    end = table.index(b"\n%d," % rows) + 1
    return {**files, "runs.csv": table[: end + 5]}


@pytest.mark.parametrize("form", FORMS)
def test_another_form_of_the_tables_opens_as_the_same_results(whole: dict[str, bytes], form: str) -> None:
    plain = hw.ResultSet.from_files(whole, models=ODD_MODELS)
    other = hw.ResultSet.from_files(in_form(whole, FORMS[form]), models=ODD_MODELS)
    assert list(other.runs) == list(plain.runs)
    for (one_id, one), (other_id, series) in zip(plain.all_series(), other.all_series(), strict=True):
        assert (other_id, series.ticks.tolist()) == (one_id, one.ticks.tolist())
        np.testing.assert_array_equal(series.values, one.values)
    for name, column in plain.summary.items():
        np.testing.assert_array_equal(other.summary[name], column)
    assert verify_results(other, runs=8).is_equal
    assert hw.masked(in_form(whole, FORMS[form]))["runs.csv"] == hw.masked(whole)["runs.csv"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [8, 3])
def test_a_resume_of_another_form_leaves_the_bytes_of_an_uninterrupted_sweep(
    stepped: Host, whole: dict[str, bytes], form: str, rows: int
) -> None:
    begun = whole if rows == 8 else cut(whole, rows)
    came = resumed(stepped, in_form(begun, FORMS[form]))
    assert hw.masked(came) == hw.masked(whole)
    # The masked form takes quotes and line ends off: here they must be off already.
    assert all(record.is_canonical for record in RecordReader(io.BytesIO(came["runs.csv"]), "runs.csv"))
    more = odd_spec(replicates=3)
    assert hw.masked(resumed(stepped, in_form(begun, FORMS[form]), more)) == hw.masked(stepped.files(ODD_ENTRY, more))


def test_names_that_need_quotes_live_through_the_whole_life_of_a_sweep(stepped: Host, whole: dict[str, bytes]) -> None:
    results = hw.ResultSet.from_files(whole, models=ODD_MODELS)
    assert results.stat_columns == ("Infected, total", 'the "rest"', "two\nlines")
    assert set(results.runs["kind"].tolist()) == set(OPTIONS)
    assert results.series(7)["Infected, total"].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert results.runs['the "rest":min'].tolist() == [-4.0] * 8
    assert hw.masked(resumed(stepped, cut(whole, 5))) == hw.masked(whole)


def changed(
    record: int, change: Callable[[bytes], bytes], table: str
) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    def damage(files: dict[str, bytes]) -> dict[str, bytes]:
        lines = files[table].split(b"\n")
        lines[record - 1] = change(lines[record - 1])
        return {**files, table: b"\n".join(lines)}

    return damage


def cell(place: int, text: bytes) -> Callable[[bytes], bytes]:
    def change(line: bytes) -> bytes:
        fields = line.split(b",")
        fields[place] = text
        return b",".join(fields)

    return change


DAMAGES = {
    "a lone carriage return": (changed(3, lambda line: line + b"\rx", "runs.csv"), "runs.csv", 3),
    "bytes that are not UTF-8": (changed(4, lambda line: line + b"\xff", "runs.csv"), "runs.csv", 4),
    "ticks of 23 digits": (changed(2, cell(9, b"9" * 23), "runs.csv"), "runs.csv", 2),
    "an id of 5000 digits": (changed(5, cell(0, b"9" * 5000), "runs.csv"), "runs.csv", 5),
    "a NUL in a reducer": (changed(3, cell(16, b"\0"), "runs.csv"), "runs.csv", 3),
    "a timing that is none": (changed(3, cell(13, b"soon"), "runs.csv"), "runs.csv", 3),
    "a parameter that is none": (changed(2, cell(6, b"1.5"), "runs.csv"), "runs.csv", 2),
    "a run key of capital X": (changed(2, cell(5, b"X" * 16), "runs.csv"), "runs.csv", 2),
    "a quote inside a field": (changed(3, cell(8, b'st"e"ps'), "runs.csv"), "runs.csv", 3),
    "a quote that opens and never closes": (changed(3, cell(8, b'"steps'), "runs.csv"), "runs.csv", 3),
    "a tick of 23 digits in a series": (changed(9, cell(1, b"9" * 23), "series.csv"), "series.csv", 9),
    "a value that is none in a series": (changed(9, cell(2, b"1_0"), "series.csv"), "series.csv", 9),
    "a field too many in a series": (changed(9, lambda line: line + b",1", "series.csv"), "series.csv", 9),
    "bytes in a series": (changed(9, cell(2, b"\xc3\x28"), "series.csv"), "series.csv", 9),
}


TOY = entry_of(Toy)
TOY_MODELS = hw.ModelSet([TOY])


@pytest.fixture(scope="module")
def toys() -> dict[str, bytes]:
    host = Host(PumpedTarget())
    files = host.files(TOY, toy_spec(1, 2, 3))
    host.close()
    return files


def opened(files: dict[str, bytes]) -> None:
    list(hw.ResultSet.from_files(files, models=TOY_MODELS).all_series())


def verified(files: dict[str, bytes]) -> None:
    verify_results(hw.ResultSet.from_files(files, models=TOY_MODELS))


def gone_on_with(files: dict[str, bytes]) -> None:
    hw.SweepRun.resume_files(TOY, files, target=PumpedTarget())


@pytest.mark.parametrize("reader", [opened, verified, gone_on_with])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_record_is_refused_by_every_reader_with_one_sentence(
    toys: dict[str, bytes], damage: str, reader: Callable[[dict[str, bytes]], None]
) -> None:
    change, table, record = DAMAGES[damage]
    damaged = change(toys)
    with pytest.raises(hw.TableDamagedError) as caught:
        reader(damaged)
    assert (caught.value.table, caught.value.record) == (table, record)
    with pytest.raises(hw.TableDamagedError) as first:
        opened(damaged)
    assert str(caught.value) == str(first.value)


def test_damage_is_nothing_that_output_could_mend() -> None:
    assert not issubclass(hw.TableDamagedError, hw.OutputError)
    assert issubclass(hw.TableDamagedError, hw.ResultsError)


FOREIGN: Mapping[str, tuple[Callable[[bytes], bytes], str]] = {
    "semicolons": (lambda table: table.replace(b",", b";"), "expected fields parted by ',' and not by ';', got '"),
    "tabs": (lambda table: table.replace(b",", b"\t"), "expected fields parted by ',' and not by '\\t', got '"),
    "utf-16": (lambda table: table.decode().encode("utf-16"), "expected UTF-8, got '"),
    "sorted": (
        lambda table: table[table.index(b"\n", 200) + 1 :],
        "column 'run_id': expected the column 'run_id', got '",
    ),
}


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("name", ["runs.csv", "series.csv"])
def test_a_table_with_its_usual_name_whose_header_is_none_is_told_by_its_header(
    host: Host, name: str, kind: str
) -> None:
    entry = entry_of(Toy)
    files = host.files(entry, toy_spec(1, 2, steps=200))
    change, words = FOREIGN[kind]
    with pytest.raises(hw.TableDamagedError, match=rf"^{re.escape(name)}, record 1") as caught:
        _ = hw.ResultSet.from_files({**files, name: change(files[name])}, models=hw.ModelSet([entry])).runs
    assert words in str(caught.value)


@pytest.mark.parametrize("name", ["runs.csv", "series.csv"])
def test_a_resume_tells_other_separators_as_opening_does(host: Host, name: str) -> None:
    entry = entry_of(Toy)
    files = host.files(entry, toy_spec(1, 2))
    files = {**files, name: files[name].replace(b",", b";")}
    with pytest.raises(hw.TableDamagedError) as opened:
        _ = hw.ResultSet.from_files(files, models=hw.ModelSet([entry])).runs
    with pytest.raises(hw.TableDamagedError) as gone_on:
        hw.SweepRun.resume_files(entry, files, target=host.target)
    assert str(opened.value) == str(gone_on.value)


def test_a_file_that_only_has_the_name_of_a_table_gives_way_to_one_with_its_header(whole: dict[str, bytes]) -> None:
    files = {**whole, "copy of runs.csv": whole["runs.csv"], "runs.csv": b"name;speed\nAnn;9\n"}
    assert len(hw.ResultSet.from_files(files, models=ODD_MODELS).runs) == 8


@pytest.mark.parametrize("name", ["runs.csv", "series.csv"])
def test_a_blank_line_before_a_record_is_damage(host: Host, name: str) -> None:
    entry = entry_of(Toy)
    files = host.files(entry, toy_spec(1, 2))
    head, _, rest = files[name].partition(b"\n")
    with pytest.raises(hw.TableDamagedError, match=r", record 2: expected \d+ fields and not 1"):
        list(hw.ResultSet.from_files({**files, name: head + b"\n\n" + rest}, models=hw.ModelSet([entry])).all_series())
