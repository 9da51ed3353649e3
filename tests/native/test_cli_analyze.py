"""`henad analyze`, `henad plot` and `henad report`: answers, figures and a page, from folders and zips in any state."""

from __future__ import annotations

import csv
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import henad_web as hw
from henad_native.cli import drawing, main
from henad_native.cli.analyzing import held_of
from henad_web.report import document, figures
from tests.native.folders import SIR, TARGET, files_in, record_of, sweep
from tests.native.test_report import Page
from tests.native.test_result_plots import GRID
from tests.shared.plain_searches import HILLS, hills_spec
from tests.shared.table_forms import ODD_ENTRY, odd_spec

Captured = pytest.CaptureFixture[str]
COMPARED = ("compare", "--y", "ticks", "--a", "recovery_rate=0.05,infection_rate=0.1")
CURVE = ("response", "--x", "infection_rate", "--y", "Infected:max")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("studies") / "grid"
    sweep(SIR, hw.parse_spec(GRID).spec, place)
    return place


@pytest.fixture(autouse=True)
def few_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MOST_MEASURES", 1)


@pytest.fixture(scope="module")
def zipped(folder: Path) -> Path:
    place = folder.with_suffix(".zip")
    with zipfile.ZipFile(place, "w") as archive:
        for name, content in files_in(folder).items():
            archive.writestr(name, content)
    return place


def test_the_answer_that_fits_the_design_is_printed(folder: Path, capsys: Captured) -> None:
    assert main(["analyze", str(folder), "Infected:max"]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{hw.ResultSet.open(folder).sensitivity('Infected:max')}\n"
    assert printed.out.startswith("main effects on Infected:max\n")
    assert printed.err == ""


def test_without_a_name_the_main_reducers_are_looked_at(folder: Path, capsys: Captured) -> None:
    assert main(["analyze", str(folder)]) == 0
    titles = [line for line in capsys.readouterr().out.splitlines() if line.startswith("main effects")]
    assert titles == [f"main effects on {name}:final" for name in ("Susceptible", "Infected", "Recovered")]
    assert main(["analyze", str(folder), "--at", "10", "--method", "regression"]) == 0
    titles = [line for line in capsys.readouterr().out.splitlines() if line.startswith("regression")]
    assert titles == [f"regression measures of {name} at tick 10" for name in ("Susceptible", "Infected", "Recovered")]


def test_programs_get_json_or_csv(folder: Path, capsys: Captured) -> None:
    table = hw.ResultSet.open(folder).sensitivity("Infected:max")
    assert main(["analyze", str(folder), "Infected:max", "ticks", "--json"]) == 0
    documents = json.loads(capsys.readouterr().out)
    assert documents[0]["title"] == table.title
    assert documents[0]["columns"]["st"] == table["st"].tolist()
    assert documents[0]["lines"] == list(table.lines)
    assert documents[1]["columns"]["s1"] == [None, None]  # ticks never differ: not a number, which JSON has none of
    assert main(["analyze", str(folder), "Infected:max", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [float(row["s1"]) for row in rows] == table["s1"].tolist()


def test_where_nothing_is_to_be_told_apart_it_says_what_the_runs_come_to(folder: Path, capsys: Captured) -> None:
    held = ["--hold", "infection_rate=0.2", "--hold", "recovery_rate=0.05"]
    assert main(["analyze", str(folder), "Infected:max", *held]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("summary of Infected:max by ")
    assert printed.err.startswith("note: ")
    assert main(["analyze", str(folder), "Infected:max", *held, "--method", "regression"]) == 1


def test_values_are_held_as_the_kind_of_their_factor(folder: Path, capsys: Captured) -> None:
    assert main(["analyze", str(folder), "Infected:max", "--hold", "infection_rate=0.1,0.4", "--json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)
    expected = hw.ResultSet.open(folder).sensitivity("Infected:max", held={"infection_rate": [0.1, 0.4]})
    assert (document["title"], document["lines"]) == (expected.title, list(expected.lines))


def test_a_name_with_a_comma_is_one_value() -> None:
    record = record_of(hw.SweepRun.start(ODD_ENTRY, odd_spec(), target=TARGET))
    results = hw.ResultSet.from_files(record.files or {})
    assert held_of(results, "--hold", ["kind=a, b"]) == {"kind": ["a, b"]}
    assert held_of(results, "--hold", ["kind=plain,two"]) == {"kind": ["plain", "two"]}
    assert held_of(results, "--hold", ["kind=plain", "kind=a, b"]) == {"kind": ["plain", "a, b"]}


def test_a_search_says_how_it_stands(tmp_path: Path, capsys: Captured) -> None:
    sweep(HILLS, hills_spec("genetic"), tmp_path / "search")
    assert main(["analyze", str(tmp_path / "search")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "objective: maximize the median of Height:max"
    assert any(line.startswith("best: ") for line in lines)
    assert any(line.startswith("summary of Depth:final") for line in lines)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["Infected:mx"], 1, "did you mean 'Infected:max'"),
        (["ticks", "--csv", "--json"], 2, "--csv: it does not go with --json; give one of them"),
        (["--csv"], 2, "--csv: it prints one table; name one Y"),
        (["--hold", "infection_rate"], 2, "--hold: 'infection_rate' has no =; write FACTOR=VALUE"),
        (
            ["--hold", "infection_rate=0.1,recovery_rate=0.2"],
            2,
            "--hold: 'recovery_rate=0.2' is of a second factor; repeat --hold for it",
        ),
        (["--hold", "infection_rat=1"], 1, "did you mean 'infection_rate'"),
        (["--hold", "infection_rate=high"], 2, "--hold: 'high' is no value of infection_rate; its values are numbers"),
        (["--hold", "infection_rate=0.7"], 1, "its values here: 0.1, 0.2, 0.4"),
    ],
)
def test_a_wrong_question_is_refused(
    arguments: list[str], code: int, said: str, folder: Path, capsys: Captured
) -> None:
    assert main(["analyze", str(folder), *arguments]) == code
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.out == ""


def told(axes: Any, kind: str = "svg") -> bytes:
    """Return what `axes` say and draw, without the time that it takes to lay them out."""
    figure = axes.get_figure()
    texts = [text.get_text() for each in figure.axes for text in each.texts]
    drawn = [line.get_xydata().tolist() for line in axes.lines]
    drawn += [patch.get_bbox().bounds for patch in axes.patches]
    drawn += [
        np.ma.filled(each.get_array(), np.nan).tolist() for each in axes.collections if each.get_array() is not None
    ]
    return repr((str(kind), axes.get_xlabel(), axes.get_ylabel(), texts, drawn)).encode()


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_a_figure_is_the_one_that_a_program_draws(
    kind: str, folder: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "figure_bytes", told)
    file = tmp_path / "new" / f"out.{kind.upper()}"
    assert main(["plot", str(folder), *CURVE, "--by", "recovery_rate", "-o", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}\n"
    axes = hw.ResultSet.open(folder).plot.response("Infected:max", "infection_rate", by=["recovery_rate"])
    assert file.read_bytes() == told(axes, kind)


@pytest.mark.parametrize(
    ("arguments", "drawn"),
    [
        (
            ["bands", "--y", "Infected", "--hold", "recovery_rate=0.2"],
            lambda plot: plot.bands("Infected", held={"recovery_rate": 0.2}),
        ),
        (
            ["heatmap", "--z", "ticks", "--x", "infection_rate", "--y", "recovery_rate", "--bins", "2"],
            lambda plot: plot.heatmap("ticks", "infection_rate", "recovery_rate", bins=2),
        ),
        (["sensitivity", "--y", "Infected", "--at", "10"], lambda plot: plot.sensitivity("Infected", at=10)),
        (
            ["compare", "--y", "Infected:max", "--a", "recovery_rate=0.05", "--b", "recovery_rate=0.2"],
            lambda plot: plot.compare("Infected:max", {"recovery_rate": 0.05}, {"recovery_rate": 0.2}),
        ),
        (["prim", "--condition", "Infected:max > 60"], lambda plot: plot.prim("Infected:max > 60")),
    ],
)
def test_every_kind_of_plot_takes_what_the_call_takes(
    arguments: list[str], drawn: Any, zipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "figure_bytes", told)
    assert main(["plot", str(zipped), *arguments, "-o", str(tmp_path / "out.svg")]) == 0
    assert (tmp_path / "out.svg").read_bytes() == told(drawn(hw.ResultSet.open(zipped).plot))


def test_tick_0_is_a_tick(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "figure_bytes", told)
    file = tmp_path / "out.svg"
    arguments = ["response", "--x", "infection_rate", "--y", "Infected", "--at", "0"]
    assert main(["plot", str(folder), *arguments, "-o", str(file)]) == 0
    plot = hw.ResultSet.open(folder).plot
    assert file.read_bytes() == told(plot.response("Infected", "infection_rate", at=0))
    assert file.read_bytes() != told(plot.response("Infected", "infection_rate", at=10))


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([*CURVE, "-o", "out.jpg"], 2, "--out: '.jpg' is no kind of figure; allowed: .svg, .pdf, .png"),
        ([*CURVE, "-o", "out"], 2, "has no ending that says its kind; allowed: .svg, .pdf, .png"),
        (
            ["response", "--y", "ticks", "-o", "out.svg"],
            2,
            "--x: a plot of response needs it; factors that vary: infection_rate, recovery_rate",
        ),
        (
            [*CURVE, "--method", "sobol", "-o", "out.svg"],
            2,
            "--method: a plot of response has no such option; allowed: --y, --x, --by, --hold, --at, --center, --bins",
        ),
        (
            ["heatmap", "--z", "ticks", "--x", "infection_rate", "-o", "out.svg"],
            2,
            "--y: a plot of heatmap needs it; factors that vary: infection_rate, recovery_rate",
        ),
        (
            [*COMPARED, "--b", "recovery_rate=0.2", "-o", "out.svg"],
            2,
            "--a: 'infection_rate=0.1' is of a second factor; repeat --a for it",
        ),
        (["respons", "-o", "out.svg"], 2, "'respons' is not one of 'response', 'bands'"),
        ([*CURVE[:-1], "Infected:mx", "-o", "out.svg"], 1, "did you mean 'Infected:max'"),
        (["search", "-o", "out.svg"], 1, "the results are of a sweep, not of a search"),
        ([*CURVE, "--bins", "10001", "-o", "out.svg"], 1, "bins is 10001; allowed: a whole number from 1 to 10,000"),
    ],
)
def test_a_wrong_plot_is_refused_before_a_file_is_there(
    arguments: list[str],
    code: int,
    said: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["plot", str(folder), *arguments]) == code
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_stays_unless_it_is_to_be_replaced(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "out.svg"
    file.write_text("mine")
    assert main(["plot", str(folder), *CURVE, "-o", str(file)]) == 1
    assert capsys.readouterr().err == f"error: {file} is there already; --overwrite replaces such files\n"
    assert file.read_text() == "mine"
    assert main(["plot", str(folder), *CURVE, "-o", str(file), "--overwrite"]) == 0
    assert file.read_text().startswith("<?xml")
    assert list(tmp_path.iterdir()) == [file]


def test_a_place_that_cannot_be_written_is_told(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "file").write_text("")
    assert main(["plot", str(folder), *CURVE, "-o", str(tmp_path / "file" / "out.svg")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: cannot write ")
    assert said.endswith("; --out FILE writes elsewhere\n")


@pytest.mark.parametrize("command", [["plot", *CURVE], ["report"]], ids=lambda command: command[0])
def test_a_folder_is_no_file_and_cannot_be_replaced(
    command: list[str], folder: Path, tmp_path: Path, capsys: Captured
) -> None:
    place = tmp_path / "out.svg"
    place.mkdir()
    arguments = [command[0], str(folder), *command[1:], "-o", str(place)]
    for more in ([], ["--overwrite"]):
        assert main([*arguments, *more]) == 2
        assert capsys.readouterr().err == f"error: --out: {place} is a folder; give the name of a file\n"


def test_a_report_stands_beside_its_results(
    folder: Path, zipped: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "inline_svg", lambda axes, title, name: "")
    here = tmp_path / "study"
    shutil.copytree(folder, here)
    assert main(["report", str(here)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'study.html'}\n"
    page = Page((tmp_path / "study.html").read_text(encoding="utf-8"))
    assert page.title == "SIR Epidemic: sweep, complete"
    assert (tmp_path / "study.html").read_text(encoding="utf-8") == hw.ResultSet.open(here).to_html()
    assert sorted(path.name for path in here.iterdir()) == sorted(path.name for path in folder.iterdir())
    assert main(["report", str(here)]) == 1
    assert main(["report", str(zipped), "-o", str(tmp_path / "zip.html")]) == 0
    assert Page((tmp_path / "zip.html").read_text(encoding="utf-8")).title == page.title


def test_a_report_is_about_what_it_is_asked_for(
    folder: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "inline_svg", lambda axes, title, name: "")
    file = tmp_path / "out.html"
    assert main(["report", str(folder), "Infected:mx", "-o", str(file)]) == 1
    assert "did you mean 'Infected:max'" in capsys.readouterr().err
    assert not file.exists()
    assert main(["report", str(folder), "Infected:max", "-o", str(file)]) == 0
    assert file.read_text(encoding="utf-8") == hw.ResultSet.open(folder).to_html(measures=["Infected:max"])
    assert capsys.readouterr().err == ""


def test_a_report_without_matplotlib_is_warned_of(
    folder: Path, tmp_path: Path, capsys: Captured, hide_library: Callable[[str], None]
) -> None:
    hide_library("matplotlib")
    assert main(["report", str(folder), "-o", str(tmp_path / "out.html")]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{tmp_path / 'out.html'}\n"
    assert printed.err.startswith("warning: no figures: a plot needs matplotlib; install it with")


def test_results_without_series_say_so(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    shutil.copytree(folder, tmp_path / "study")
    (tmp_path / "study" / "series.csv").unlink()
    assert main(["analyze", str(tmp_path / "study"), "ticks"]) == 0
    assert capsys.readouterr().err.startswith("note: there is no series.csv")
    assert main(["plot", str(tmp_path / "study"), "bands", "--y", "Infected", "-o", str(tmp_path / "out.svg")]) == 1
