"""Searches on every kind of lanes, into memory and folders: the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

import henad_web as hw
from tests.native.executor_pools import processes
from tests.native.folders import files_in

SIR = hw.example_models()["sir"]
HEAD = """
model = "sir"
set = { grid_width = 16, grid_height = 16 }
run = { steps = 20, replicates = 3 }
measure = { stats_every = 5 }
action = [{ id = "seed_outbreak", tick = 4 }]
[search]
max_evaluations = 24
batch_size = 5
space = [
  { param = "infection_rate", range = { min = 0.05, max = 0.9 } },
  { action = "seed_outbreak", range = { min = 0, max = 15 } },
]
"""
OBJECTIVE = 'objective = { column = "Infected:max", goal = "maximize" }\n'
OBJECTIVES = """objectives = [
  { column = "Infected:max", goal = "minimize" },
  { column = "Recovered:final", goal = "maximize", aggregate = "mean" },
]
"""
AXES = """[search.pse]
initial_samples = 8
x_axis = { column = "Infected:max", cells = 6 }
y_axis = { column = "Recovered:final", cells = 6, min = 0, max = 256 }
"""
SPECS = {
    "genetic": f'{HEAD}algorithm = "genetic"\n{OBJECTIVE}genetic = {{ population = 6 }}\n',
    "hill_climb": f'{HEAD}algorithm = "hill_climb"\n{OBJECTIVE}hill_climb = {{ reevaluate = true }}\n',
    "pse": f'{HEAD}algorithm = "pse"\n{AXES}',
    "nsga2": f'{HEAD}algorithm = "nsga2"\n{OBJECTIVES}nsga2 = {{ population = 6 }}\n',
}


def files(algorithm: str, **options: Any) -> dict[str, bytes]:
    record = hw.run_spec(SIR, hw.parse_spec(SPECS[algorithm]), options=hw.SweepRunOptions(**options))
    assert record.files is not None
    return hw.masked(record.files)


@pytest.mark.parametrize(
    ("algorithm", "lanes"),
    [
        ("genetic", {"lanes": "process", "concurrency": 2}),
        ("hill_climb", {"lanes": "thread", "concurrency": 7}),
        ("pse", {"lanes": "thread", "concurrency": 3, "batches": False}),
        ("nsga2", {"lanes": "thread", "concurrency": 2}),
    ],
)
def test_lanes_leave_the_bytes_of_none_in_memory_and_in_a_folder(
    algorithm: str, lanes: dict[str, Any], tmp_path: Path
) -> None:
    alone = files(algorithm, lanes="in_caller", batches=not lanes.get("batches", True))
    assert len(alone["evaluations.csv"].splitlines()) == 25
    folder = tmp_path / "results"
    options = hw.SweepRunOptions(**lanes)
    hw.run_spec(SIR, hw.parse_spec(SPECS[algorithm]), output=hw.DirectoryOutput(folder), options=options)
    assert hw.masked(files_in(folder)) == alone


def test_an_executor_leaves_the_bytes_of_one_machine() -> None:
    with processes(2) as executor:
        assert files("genetic", executor=executor, concurrency=3) == files("genetic", lanes="in_caller")


def test_a_search_may_take_the_place_of_a_sweep_and_a_sweep_that_of_a_search(tmp_path: Path) -> None:
    search = hw.parse_spec(SPECS["pse"]).spec
    sweep = msgspec.structs.replace(search, search=None)
    place = hw.DirectoryOutput(tmp_path / "results", overwrite=True)
    found = []
    for spec in (search, sweep, search):
        hw.run_spec(SIR, spec, output=place)
        found.append(hw.masked(files_in(tmp_path / "results")))
    assert found[0] == found[2]
    assert set(found[0]) - set(found[1]) == {"evaluations.csv", "batches.csv", "archive.csv"}
