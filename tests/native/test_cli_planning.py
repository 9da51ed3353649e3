"""`henad plan`: counts, warnings, the table of runs, a timed run and a frozen spec."""

from __future__ import annotations

from pathlib import Path

import pytest

import henad_web as hw
from henad_native.cli import main

SOBOL = """
model = "sir"
[set]
grid_width = 16
grid_height = 16
[run]
steps = 20
replicates = 2
stop = { condition = "Infected >= 0", min_tick = 0 }
[measure]
stats_every = 5
[[action]]
id = "seed_outbreak"
tick = 80
[[block]]
design = "sobol"
samples = 8
where = "infection_rate < 0.8"
factors = [{ param = "infection_rate", range = { min = 0.1, max = 0.9 } }]
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(SOBOL)
    return path


def test_a_plan_is_told_before_anything_runs(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(spec)]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[0] == "sweep of SIR Epidemic (sir): 7 configs x 2 replicates = 14 runs"
    assert "  block 0       sobol, 7 configs, design seed 11629814477949246596" in told.out
    assert "  series rows   70" in told.out
    assert "memory" in told.out
    assert "warning: action 'seed_outbreak' is scheduled as late as tick 80" in told.err
    assert "warning: the stop condition 'Infected >= 0' holds at tick 0 of config 0 already" in told.err
    assert list(spec.parent.iterdir()) == [spec]


def test_a_pilot_run_is_timed(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(spec), "--pilot"]) == 0
    *_, pilot, time = capsys.readouterr().out.splitlines()
    assert pilot.startswith("  pilot run     ")
    assert pilot.endswith("s for 0 ticks, ok")
    assert time.startswith("  time          about ")


SEARCH = """
model = "sir"
[set]
grid_width = 16
grid_height = 16
[run]
steps = 20
replicates = 4
[seeds]
root = 1
[[action]]
id = "seed_outbreak"
tick = 5
[search]
algorithm = "genetic"
max_evaluations = 480
batch_size = 32
objective = { column = "Infected:max", goal = "maximize" }
space = [
  { param = "infection_rate", range = { min = 0.05, max = 0.9 } },
  { action = "seed_outbreak", range = { min = 0, max = 20 } },
]
"""


def test_the_plan_of_a_search_says_size_batches_budget_and_time(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec.write_text(SEARCH)
    assert main(["plan", str(spec), "--pilot", "--concurrent", "1"]) == 0
    told = capsys.readouterr()
    lines = told.out.splitlines()
    assert lines[:6] == [
        "search of SIR Epidemic (sir): genetic, 480 evaluations x 4 replicates = 1,920 runs",
        "  batch size    32 candidates, at least 15 of them",
        "  objective     maximize the median of Infected:max",
        "  space         infection_rate: 0.05 to 0.9",
        "                action.seed_outbreak: 0 to 20",
        "  search seed   18174148693273609575",
    ]
    assert "  series rows   40,320" in lines
    assert lines[-1].startswith("  time          about ")
    assert told.err == ""
    assert list(spec.parent.iterdir()) == [spec]


def test_the_lanes_of_a_search_are_for_the_runs_of_a_batch(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec.write_text(SEARCH.replace("batch_size = 32", "batch_size = 2").replace("replicates = 4", "replicates = 1"))
    assert main(["plan", str(spec), "--concurrent", "3"]) == 0
    assert "  layout        2 process lanes" in capsys.readouterr().out


def test_the_plan_says_of_a_search_that_is_not_portable_that_it_is_not(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec.write_text(SEARCH.replace('"genetic"', '"cma_es"'))
    assert main(["plan", str(spec)]) == 0
    lines = capsys.readouterr().out.splitlines()
    place = lines.index("  search seed   18174148693273609575")
    assert lines[place + 1] == (
        "  portable      no: another machine may choose other candidates, for its linear algebra differs"
    )


def test_the_plan_of_an_nsga2_search_shows_its_objectives(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    objective = 'objective = { column = "Infected:max", goal = "maximize" }\n'
    several = 'objectives = [{ column = "Infected:max", goal = "minimize" }, '
    several += '{ column = "Recovered:final", goal = "maximize", aggregate = "mean" }]\n'
    spec.write_text(SEARCH.replace('"genetic"', '"nsga2"').replace(objective, several))
    assert main(["plan", str(spec)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "search of SIR Epidemic (sir): nsga2, 480 evaluations x 4 replicates = 1,920 runs"
    place = lines.index("  objectives    minimize the median of Infected:max")
    assert lines[place + 1] == "                maximize the mean of Recovered:final"


def test_the_plan_of_a_pse_search_shows_its_axes(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    axes = 'x_axis = { column = "Infected:max", min = 0, max = 256, cells = 32 }\n'
    axes += 'y_axis = { column = "Recovered:final", cells = 20 }\n'
    objective = 'objective = { column = "Infected:max", goal = "maximize" }\n'
    spec.write_text(SEARCH.replace('"genetic"', '"pse"').replace(objective, "") + f"[search.pse]\n{axes}")
    assert main(["plan", str(spec)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  x axis        Infected:max, 0 to 256, 32 cells" in lines
    assert "  y axis        Recovered:final, range from the first samples, 20 cells" in lines


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["plan", "--runs", "-"], 2, "a search chooses its runs as it goes"),
        (["plan", "--shard", "0/2"], 1, "a search has no shards, came 0/2"),
        (["run", "--out", "results", "--shard", "0/2"], 1, "a search has no shards, came 0/2"),
        (["run", "--out", "results", "--reuse", "."], 1, "a search reuses no rows of other results"),
    ],
)
def test_what_a_search_cannot_do_is_refused_before_anything_is_written(
    spec: Path, capsys: pytest.CaptureFixture[str], words: list[str], status: int, told: str
) -> None:
    spec.write_text(SEARCH)
    command, *more = [str(spec.parent / word) if word == "results" else word for word in words]
    assert main([command, str(spec), *more]) == status
    assert told in " ".join(capsys.readouterr().err.split())
    assert list(spec.parent.iterdir()) == [spec]


def test_runs_are_listed_whole_or_from_the_head(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = spec.parent / "runs.csv"
    assert main(["plan", str(spec), "--runs", str(table)]) == 0
    capsys.readouterr()
    lines = table.read_text().splitlines()
    assert len(lines) == 15
    assert lines[0].startswith("run_id,config_id,block,rep,seed,run_key,grid_width,")
    assert main(["plan", str(spec), "--runs", "-", "--limit", "3"]) == 0
    assert capsys.readouterr().out.splitlines() == lines[:4]
    assert main(["plan", str(spec), "--runs", "-", "--shard", "1/7"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [lines[2], lines[9]]


def test_a_frozen_spec_runs_the_same(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("frozen.toml", "frozen.json"):
        frozen = spec.parent / name
        assert main(["plan", str(spec), "--freeze", str(frozen)]) == 0
        assert f"froze 1 block in {frozen}" in capsys.readouterr().err
        schema = hw.example_models()["sir"].schema()
        plans = [hw.load_spec(path).spec.plan(schema) for path in (spec, frozen)]
        assert [plan.blocks[0].design for plan in plans] == ["sobol", "table"]
        first, second = ([plan.run_key(run) for run in plan.runs()] for plan in plans)
        assert first == second


def test_a_file_that_is_there_is_not_frozen_over(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(spec), "--freeze", str(spec)]) == 2
    assert "cannot write" in capsys.readouterr().err
    assert spec.read_text() == SOBOL


def test_a_limit_needs_runs(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(spec), "--limit", "3"]) == 2
    assert "it goes with --runs" in capsys.readouterr().err


def test_what_is_wrong_is_told_with_its_line(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec.write_text(SOBOL.replace("infection_rate <", "infection_rat <"))
    assert main(["plan", str(spec)]) == 1
    line = SOBOL.splitlines().index('where = "infection_rate < 0.8"') + 1
    assert f"study.toml, line {line}, [block 0] where: character 1 of the expression" in capsys.readouterr().err


def test_thirty_binary_factors_are_answered_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wide.toml"
    names = ", ".join(f'{{ action = "a{number}", values = [1, 2] }}' for number in range(30))
    actions = "".join(f'[[action]]\nid = "seed_outbreak"\nname = "a{number}"\ntick = 1\n' for number in range(30))
    path.write_text(f'model = "sir"\n{actions}[[block]]\nfactors = [{names}]\n')
    assert main(["plan", str(path)]) == 1
    assert "1 073 741 824 configs, the limit is 16 777 216" in capsys.readouterr().err
