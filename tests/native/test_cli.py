"""`henad run` and `henad models`: what they print, write and exit with."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import henad_web as hw
from henad_native.cli import STOPPED_LINE, main
from henad_native.cli.summary import TITLE
from tests.native.laws import ROOT

TOYS = "tests.native.cli_models:TOYS"
RESULTS = ["manifest.json", "runs.csv", "series.csv", "summary.csv"]
SIR = """
model = "sir"
[set]
grid_width = 16
grid_height = 16
[run]
steps = 20
replicates = 2
[measure]
stats_every = 5
[[block]]
factors = [{ param = "infection_rate", values = [0.2, 0.4] }]
"""

Write = Callable[[str], str]


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep tables and lines from being wrapped."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "dumb")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a spec file and return its path."""

    def write(text: str) -> str:
        path = tmp_path / "sweep.toml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder that is not there yet."""
    return tmp_path / "results"


def toy_spec(model: str, *, values: str = "[1]", steps: int = 10) -> str:
    return f"""
model = "{model}"
[run]
steps = {steps}
[measure]
stats_every = 2
[[block]]
factors = [{{ param = "value", values = {values} }}]
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_a_sweep_writes_its_four_files_and_says_so(write: Write, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", write(SIR), "--out", str(out)]) == 0
    printed, told = capsys.readouterr()
    last = printed.splitlines()[-1]
    assert last.startswith(f"wrote 4 runs to {out} in ")
    assert last.endswith("s: 4 ok, 0 non-finite, 0 failed")
    assert names(out) == RESULTS
    assert all(f"  {name}" in printed for name in RESULTS)
    assert "(sir): 2 configs x 2 replicates = 4 runs" in told.splitlines()[0]


def test_the_summary_shows_what_varies_and_the_statistics_of_the_file(
    write: Write, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", write(SIR), "--out", str(out)])
    printed = capsys.readouterr().out
    assert TITLE in printed.splitlines(), "it is no wider for a wider table"
    assert "infection_rate" in printed
    assert "grid_width" not in printed
    assert "Infected:final" in printed


def test_a_spec_is_planned_once(write: Write, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[hw.Plan] = []
    plan_of = hw.Plan.of

    def counted(*given: Any, **named: Any) -> hw.Plan:
        made.append(plan_of(*given, **named))
        return made[-1]

    monkeypatch.setattr(hw.Plan, "of", counted)
    assert main(["run", write(SIR), "--out", str(out), "--concurrent", "auto"]) == 0
    assert len(made) == 1


def test_quiet_prints_the_closing_line_alone(write: Write, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", write(SIR), "--out", str(out), "--quiet"]) == 0
    printed, told = capsys.readouterr()
    assert len(printed.splitlines()) == 1
    assert told == ""


def test_a_failing_run_is_told_and_the_sweep_goes_on(
    write: Write, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = write(toy_spec("divides", values="[1, 0, 2]"))
    assert main(["run", spec, "--out", str(out), "--models", TOYS]) == 3
    printed, told = capsys.readouterr()
    (failure,) = [line for line in told.splitlines() if line.startswith("run ")]
    assert failure.startswith("run 1 (config 1, rep 0, seed ")
    assert "): panicked: while stepping the simulation, ZeroDivisionError at toy_models.py:" in failure
    assert printed.splitlines()[-1].endswith(": 2 ok, 0 non-finite, 1 failed")
    assert json.loads((out / "manifest.json").read_bytes())["status"] == "complete"


def test_a_non_finite_run_is_not_ok(write: Write, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = write(toy_spec("inverse", values="[4]"))
    assert main(["run", spec, "--out", str(out), "--models", TOYS]) == 3
    assert capsys.readouterr().out.splitlines()[-1].endswith(": 0 ok, 1 non-finite, 0 failed")


@pytest.mark.parametrize("model", ["presses_ctrl_c", "terminates"])
def test_a_stop_signal_aborts_and_writes_the_files(
    model: str, write: Write, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = write(toy_spec(model, steps=2**40))
    assert main(["run", spec, "--out", str(out), "--models", TOYS]) == 1
    assert names(out) == RESULTS
    assert json.loads((out / "manifest.json").read_bytes())["status"] == "aborted"
    closing = capsys.readouterr().out.splitlines()[-1]
    assert closing.startswith(f"wrote 0 runs to {out} in ")
    assert closing.endswith(f"with 0 of 1 run: go on with henad resume {out} --models {TOYS}")


def test_a_second_stop_signal_ends_at_once_and_says_what_is_kept(
    write: Write, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = write(toy_spec("presses_ctrl_c_twice", steps=2**40))
    assert main(["run", spec, "--out", str(out), "--models", TOYS]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    how = f"go on with henad resume {out} --models {TOYS}"
    assert last == f"stopped at once; what is written in {out} is kept: {how}"
    assert json.loads((out / ".lock").read_bytes())["released"], "it ended in order"


def interrupts(*_given: object, **_named: object) -> None:
    raise KeyboardInterrupt


def test_an_interrupt_before_the_sweep_says_that_nothing_was_written(
    write: Write, out: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hw, "load_spec", interrupts)
    assert main(["run", write(SIR), "--out", str(out)]) == 1
    assert capsys.readouterr().err == f"stopped before anything was written to {out}; the same command starts it\n"


@pytest.mark.parametrize(("command", "owner", "call"), [("plan", hw, "load_spec"), ("verify", hw.ResultSet, "open")])
def test_an_interrupt_of_any_other_command_is_told(
    command: str, owner: object, call: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, call, interrupts)
    assert main([command, "there"]) == 1
    assert capsys.readouterr() == ("", f"{STOPPED_LINE}\n")


def test_an_interrupt_within_a_text_that_is_run_leaves_the_exit_code_alone(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text('exec("raise KeyboardInterrupt")\n')
    command = [sys.executable, "-m", "henad_web", "models", "--models", str(tmp_path / "own.py")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{STOPPED_LINE}\n")


def test_lines_to_go_on_with_name_the_models_as_they_were_given(
    write: Write, out: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["run", write(toy_spec("divides")), "--out", str(out), "--models", TOYS]
    for program, models in (("/bin/henad", f" --models {TOYS}"), ("study.py", " --models FILE")):
        monkeypatch.setattr(sys, "argv", [program, *command])
        assert main([*command, "--overwrite"]) == 0
        assert hw.ResultSet.open(out).replay_command(0) == f"henad verify {out} --run 0{models}"
        capsys.readouterr()
        assert main(command) == 1
        assert f"go on with them by `henad resume {out}{models}`, or " in capsys.readouterr().err


def test_a_folder_that_is_not_there_cannot_be_resumed_and_a_neighbour_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "first").mkdir()
    assert main(["resume", str(tmp_path / "frst")]) == 1
    assert capsys.readouterr().err == f"error: there is no folder {tmp_path}/frst; did you mean 'first'?\n"


def test_every_problem_of_a_spec_is_one_line_with_its_place(
    write: Write, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = write(SIR.replace("replicates = 2", "replicate = 2").replace("stats_every", "stat_every"))
    assert main(["run", spec, "--out", str(out)]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("error: sweep.toml, line 8, [run] replicate: ")
    assert "did you mean 'replicates'?" in first
    assert second.startswith("error: sweep.toml, line 10, [measure] stat_every: ")
    assert "did you mean 'stats_every'?" in second
    assert not out.exists()


def test_a_spec_that_its_model_refuses_names_the_line_too(
    write: Write, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = write(SIR.replace('"infection_rate"', '"infection_rat"'))
    assert main(["run", spec, "--out", str(out)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "error: sweep.toml, line 12, [block 0.factors #1] param: " in line
    assert "did you mean 'infection_rate'?" in line
    assert not out.exists()


def test_an_unknown_model_of_a_spec_is_named(write: Write, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", write('model = "sirr"'), "--out", str(out)]) == 1
    told = "model: no such model, got 'sirr'; allowed: sir, game_of_life; did you mean 'sir'?\n"
    assert capsys.readouterr().err == f"error: sweep.toml, line 1, {told}"
    assert main(["run", write('model = "forest"'), "--out", str(out)]) == 1
    assert capsys.readouterr().err.endswith(
        "; one of your own is given as models=, to the command as --models FILE.py\n"
    )
    assert not out.exists()


def test_a_model_of_one_s_own_is_named_by_the_option(
    write: Write, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", write(toy_spec("divides")), "--out", str(out), "--models", TOYS, "--quiet"]) == 0
    assert main(["resume", str(out)]) == 1
    how = f"name the file of this one: `henad resume {out} --models FILE`"
    assert capsys.readouterr().err == f"error: no model 'divides'; known: sir, game_of_life; {how}\n"


def test_a_folder_that_holds_results_is_refused_untouched(
    write: Write, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out.mkdir()
    (out / "runs.csv").write_text("mine")
    assert main(["run", write(SIR), "--out", str(out)]) == 1
    told = "without a manifest.json that can be read, so they cannot be gone on with; start into a new folder"
    assert capsys.readouterr().err == f"error: {out} already holds results (runs.csv) {told}\n"
    assert [path.name for path in out.iterdir()] == ["runs.csv"]
    assert (out / "runs.csv").read_text() == "mine"


def test_a_spec_that_is_not_there_is_an_error(tmp_path: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(tmp_path / "no.toml"), "--out", str(out)]) == 1
    assert capsys.readouterr().err == f"error: {tmp_path / 'no.toml'}: the spec file does not exist\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--concurrent", "0"],
        ["--concurrent", "many"],
        ["--memory", "-1"],
        ["--memory", "2GB"],
        ["--models", "nowhere"],
        ["--models", "no_such_module:NAME"],
        ["--models", "tests.native.cli_models:NOTHING"],
        ["--models", "tests.native.cli_models:NEITHER"],
        ["--models", "tests.native.cli_models:Terminates"],
        ["--models", "cli_models.py:TOYS"],
        ["--no-such-option"],
    ],
)
def test_a_bad_command_line_exits_with_2_before_anything_is_written(
    arguments: list[str], write: Write, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", write(SIR), "--out", str(out), *arguments]) == 2
    assert arguments[0] in capsys.readouterr().err
    assert not out.exists()


def test_a_command_line_without_an_output_exits_with_2(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", write(SIR)]) == 2
    assert "--out" in capsys.readouterr().err


@pytest.mark.parametrize("concurrent", ["1", "2", "auto"])
def test_how_many_run_at_once_changes_no_result(concurrent: str, write: Write, out: Path) -> None:
    main(["run", write(SIR), "--out", str(out), "--concurrent", concurrent, "--memory", "1000000000"])
    rows = (out / "series.csv").read_text().splitlines()
    assert len(rows) == 1 + 4 * 5
    manifest = json.loads((out / "manifest.json").read_bytes())
    asked = concurrent if concurrent == "auto" else int(concurrent)
    assert manifest["execution"]["concurrency"] == asked
    assert manifest["execution"]["memory_budget"] == 1_000_000_000


@pytest.mark.parametrize("name", ["TOYS", "DIVIDES", "make_toys"])
def test_models_are_a_set_an_entry_or_a_function_of_them(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--json", "--models", f"tests.native.cli_models:{name}"]) == 0
    documents = json.loads(capsys.readouterr().out)
    assert documents[0]["id"] == "divides"


def test_models_lists_each_with_its_kind_and_actions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if " sir " in line]
    assert " grid " in line
    assert " cpu " in line
    assert "seed_outbreak" in line


def test_one_model_is_shown_with_its_ranges(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "sir"]) == 0
    printed = capsys.readouterr().out
    (line,) = [line for line in printed.splitlines() if "infection_rate" in line]
    assert "0 to 1" in line
    assert "statistics: Susceptible, Infected, Recovered" in printed
    assert "seed_outbreak" in printed


def test_one_model_as_json_is_its_schema_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "sir", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["kind"] == "params"
    assert document["schema_hash"] == "6ff1dc3971fd0a96"


def test_an_unknown_model_on_the_command_line_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "sirr"]) == 2
    assert "did you mean 'sir'?" in capsys.readouterr().err


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    printed = "".join(capsys.readouterr())
    assert all(command in printed for command in ("run", "models", "serve", "page"))
