"""`henad import`: an experiment of another tool comes out as a spec file that runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import henad_web as hw
from henad_native.cli import main

EXPERIMENT = """\
<experiments>
  <experiment name="first" repetitions="2" runMetricsEveryStep="true">
    <timeLimit steps="20"/>
    <metric>count infected</metric>
    <enumeratedValueSet variable="grid-width"><value value="16"/></enumeratedValueSet>
    <enumeratedValueSet variable="infection-chance"><value value="0.2"/><value value="0.4"/></enumeratedValueSet>
  </experiment>
</experiments>
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "My Model.xml"
    path.write_text(EXPERIMENT, encoding="utf-8")
    return path


def test_what_is_printed_is_a_spec_that_runs(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(file), "--model", "sir", "--map", "infection-chance=infection_rate"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "# - Metric not carried over: count infected." in printed.out
    (tmp_path / "spec.toml").write_text(printed.out, encoding="utf-8")
    assert hw.load_spec(tmp_path / "spec.toml").spec.plan(hw.example_models()["sir"].schema()).run_count == 4
    assert main(["run", str(tmp_path / "spec.toml"), "--out", str(tmp_path / "out"), "--quiet"]) == 0


def test_a_name_that_the_model_does_not_have_is_suggested(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(file), "--model", "sir"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        "error: My Model.xml, line 6, [experiment.first] infection-chance: model 'sir' has no such parameter; allowed: "
        "grid_width, grid_height, infection_rate, recovery_rate, initial_infected_pct; map it with "
        "infection-chance=infection_rate, or leave it out with infection-chance=\n"
    )


def test_without_a_model_names_are_taken_as_they_come(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(file)]) == 0
    printed = capsys.readouterr()
    spec = hw.parse_spec(printed.out).spec
    assert (spec.model, spec.fixed) == ("my_model", (("grid_width", 16),))
    assert printed.err == "note: no --model was named; write the model's id and the ids of its parameters\n"


def test_a_spec_that_its_model_does_not_take_is_printed_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "problem.json"
    path.write_text('{"names": ["infection_rate"], "bounds": [[0, 5]]}')
    assert main(["import", str(path), "--model", "sir", "--design", "lhs", "--samples", "7"]) == 1
    printed = capsys.readouterr()
    assert 'design = "lhs"\nsamples = 7\n' in printed.out
    assert "[block 0.factors #1.range] max: parameter 'infection_rate': out of range" in printed.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--map", "a"], "--map: 'a' is not of the form NAME=PARAM"),
        (["--model", "srr"], "--model: no model 'srr'; known: "),
    ],
)
def test_a_bad_command_line_exits_with_2(
    arguments: list[str], said: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", str(file), *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_file_that_is_not_there_exits_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(tmp_path / "no.xml")]) == 2
    assert "FILE: " in capsys.readouterr().err
