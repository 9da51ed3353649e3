"""What users of such tools report as broken about CSV, JSON, TOML and text, each with its small input."""

from __future__ import annotations

import csv
import io
import json
import locale
from collections.abc import Iterator
from pathlib import Path

import pytest

import henad_web as hw
from henad_web.errors import SpecError
from henad_web.explore.cell_texts import csv_field, csv_line, number_text
from henad_web.explore.design_table import parse_csv
from henad_web.model.decimals import f32_text
from tests.shared.hosts import Host
from tests.shared.schemas import SCHEMA, only_problem, plan_of, table
from tests.shared.toy_models import Divides, Inverse, Toy, entry_of

SPEC = """\
model = "study"

[set]
loss = 0.05

[seeds]
root = 5

[[block]]
factors = [{ param = "rate", values = [0.25, 0.5] }]
"""
COMMA_LOCALES = ("de_DE.UTF-8", "fr_FR.UTF-8", "pl_PL.UTF-8", "es_VE.UTF-8", "de_DE", "")


@pytest.fixture(params=COMMA_LOCALES)
def comma_locale(request: pytest.FixtureRequest) -> Iterator[str]:
    """The locale of that name, or the process's own where a machine does not have it."""
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, request.param)
    except locale.Error:
        locale.setlocale(locale.LC_ALL, before)
    yield request.param
    locale.setlocale(locale.LC_ALL, before)


def strictly(text: bytes) -> object:
    """Read JSON as a browser does: NaN and Infinity are no JSON."""

    def refuse(constant: str) -> object:
        raise AssertionError(f"{constant} in JSON")

    return json.loads(text, parse_constant=refuse)


def sweep_of(
    model: type[Toy], stats: str, *, levels: tuple[int, ...], root: int = 0
) -> tuple[hw.ModelEntry, hw.SweepSpec]:
    levels_of_value = hw.ValueLevels(values=levels)
    spec = hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(steps=6),
        measure=hw.MeasureSettings(stats_every=2),
        seeds=hw.SeedSettings(root=root),
        blocks=(hw.BlockSpec(factors=(hw.FactorSpec(param="value", levels=levels_of_value),)),),
    )
    return entry_of(model, stats=(stats,)), spec


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_no_locale_gives_a_decimal_comma(comma_locale: str) -> None:
    assert (number_text(0.5), f32_text(0.25), number_text(1234567.5)) == ("0.5", "0.25", "1234567.5")
    spec = hw.parse_spec(SPEC).spec
    assert "values = [0.25, 0.5]" in hw.spec_to_toml(spec)
    assert json.loads(hw.spec_to_json(spec))["set"] == {"loss": 0.05}
    assert spec.plan(SCHEMA).plan_hash == "ee244b0168122246"
    assert [field for _, field in parse_csv("a,b\n0.5,1\n")] == [["a", "b"], ["0.5", "1"]]


@pytest.mark.parametrize("text", ['a "b"', '"', '""', 'a,"b",c'])
def test_quotes_are_doubled_once(text: str) -> None:
    assert csv_field(text) == '"' + text.replace('"', '""') + '"'
    ((_, fields),) = parse_csv(csv_field(text))
    assert fields == [text]
    assert next(csv.reader([csv_field(text)])) == [text]


def test_an_unclosed_quote_is_told_with_its_line_and_hides_nothing() -> None:
    problem = only_problem(table('rate,mode\n0.1,fast\n"0.2,slow\n0.3,fast\n'))
    assert problem.wrong == "table line 3: a quote that is never closed"


@pytest.mark.parametrize("text", ["a,b", "a\nb", "a\r\nb", "a\rb", ",", "\n"])
def test_commas_and_line_ends_are_quoted(text: str) -> None:
    line = csv_line([text, "z"]).decode()
    assert line == f'"{text}",z\n'
    assert list(csv.reader(io.StringIO(line, newline=""))) == [[text, "z"]]


def test_a_toml_spec_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b"\xef\xbb\xbf" + SPEC.encode())
    assert hw.load_spec(tmp_path / "a.toml").spec == hw.parse_spec(SPEC).spec
    with pytest.raises(SpecError):
        hw.parse_spec("\ufeff\ufeff" + SPEC)


def test_a_json_spec_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    text = hw.spec_to_json(hw.parse_spec(SPEC).spec)
    (tmp_path / "a.json").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert hw.load_spec(tmp_path / "a.json").spec == hw.parse_spec(SPEC).spec


def test_the_first_column_of_a_table_does_not_take_the_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("\ufeffrate,mode\r\n0.1,fast\r\n".encode())
    (tmp_path / "a.toml").write_text('model = "study"\n[[block]]\ndesign = "table"\nfile = "a.csv"\n')
    (config,) = hw.load_spec(tmp_path / "a.toml").spec.plan(SCHEMA).configs
    assert config.params[4] == "fast"
    assert plan_of(table("\ufeffrate\n0.5\n")).configs[0].params[1] == 0.5


def test_a_spec_with_windows_line_ends_has_the_same_hashes() -> None:
    windows, unix = (hw.parse_spec(text).spec for text in (SPEC.replace("\n", "\r\n"), SPEC))
    assert hw.spec_hash(windows) == hw.spec_hash(unix)
    assert windows.plan(SCHEMA).plan_hash == unix.plan(SCHEMA).plan_hash


def test_numbers_that_are_not_finite_break_no_json_and_leave_a_cell_empty(host: Host) -> None:
    entry, spec = sweep_of(Inverse, "Inverse", levels=(4,))
    files = host.files(entry, spec)
    strictly(files["manifest.json"])
    assert [row["Inverse"] for row in rows_of(files["series.csv"])] == ["0.25", "0.5", "", ""]
    assert number_text(float("nan")) == number_text(float("inf")) == ""
    with pytest.raises(SpecError, match="not a JSON number"):
        hw.parse_spec('{"model": "study", "run": {"timeout_s": NaN}}')


def test_a_run_with_an_infinite_statistic_is_kept_and_says_so(host: Host) -> None:
    entry, spec = sweep_of(Inverse, "Inverse", levels=(4, 100))
    rows = rows_of(host.files(entry, spec)["runs.csv"])
    assert [row["status"] for row in rows] == ["non_finite", "ok"]
    assert rows[0]["note"] == "Inverse is not finite at tick 4"
    assert (rows[0]["Inverse:max"], rows[0]["Inverse:final"]) == ("0.5", "0.5")


def test_whole_numbers_above_2_to_the_53_keep_every_digit(host: Host) -> None:
    root = 2**53 + 1
    spec = hw.parse_spec(f'model = "study"\n[seeds]\nroot = {root}\n').spec
    assert json.loads(hw.spec_to_json(spec))["seeds"]["root"] == "9007199254740993"
    assert hw.parse_spec(hw.spec_to_json(spec)).spec.seeds.root == root
    assert hw.parse_spec(f'{{"model": "study", "seeds": {{"root": "{root}"}}}}').spec == spec
    entry, small = sweep_of(Toy, "Ticks", levels=(1, 2), root=root)
    rows = rows_of(host.files(entry, small)["runs.csv"])
    assert [int(row["seed"]) for row in rows] == [run.seed for run in small.plan(entry.schema()).runs()]
    assert all(int(row["seed"]) > 2**53 for row in rows)


def test_a_number_beyond_64_bits_is_refused_and_never_wrapped() -> None:
    big = 5**55
    for text in (f'model = "study"\n[seeds]\nroot = {big}\n', f'{{"model": "study", "seeds": {{"root": "{big}"}}}}'):
        with pytest.raises(SpecError, match=r"not a seed.*0 to 2\^64 - 1"):
            hw.parse_spec(text)
    with pytest.raises(hw.PlanError, match="out of range"):
        hw.parse_spec(f'model = "study"\n[set]\nsize = {big}\n').spec.plan(SCHEMA)


def test_a_key_that_spreadsheets_keep_stands_beside_the_seed(host: Host) -> None:
    entry, spec = sweep_of(Toy, "Ticks", levels=(1, 2, 3))
    header, *_ = host.files(entry, spec)["runs.csv"].decode().splitlines()
    names = header.split(",")
    assert names[names.index("seed") + 1] == "run_key"
    rows = rows_of(host.files(entry, spec)["runs.csv"])
    assert len({row["run_key"] for row in rows}) == 3
    assert all(len(row["run_key"]) == 16 for row in rows)


def test_an_empty_table_says_that_it_has_no_rows() -> None:
    assert only_problem(table("rate,mode\n")).wrong == "the table has 0 rows"
    assert only_problem(table("\n \n")).wrong == "the table has no header"


def test_a_sweep_whose_runs_all_failed_is_complete_and_counts_them(host: Host) -> None:
    entry, spec = sweep_of(Divides, "Ticks", levels=(0,))
    record = host.record(host.start(entry, spec))
    assert record.report.end == hw.SweepEnd.COMPLETE
    assert (record.report.counts.rows, record.report.counts.ok, record.report.counts.failed) == (1, 0, 1)
    (row,) = rows_of((record.files or {})["summary.csv"])
    assert (row["runs"], row["ok"], row["failed"]) == ("1", "0", "1")
