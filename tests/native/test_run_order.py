"""A breadth-first sweep in a folder: killed or aborted, it goes on and becomes the folder of any other order."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import henad_web as hw
from tests.native.folders import SIR, SMALL_SIR, masked_in, ran_ids, record_of, resume, start, sweep, with_run

pytestmark = pytest.mark.usefixtures("quick_disk")

BREADTH = with_run(SMALL_SIR, order=hw.RunOrder.BREADTH)
TABLES = ("runs.csv", "series.csv", "summary.csv")


def tables_in(directory: Path) -> list[bytes]:
    masked = masked_in(directory)
    return [masked[name] for name in TABLES]


def rows_of(directory: Path) -> list[int]:
    return [int(line.split(",")[0]) for line in (directory / "runs.csv").read_text().splitlines()[1:]]


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """What a breadth-first sweep leaves that is killed after four of its six runs."""
    runs: list[hw.SweepRun] = []

    def wake() -> None:
        if runs[0].progress().runs_done == 4 and not (tmp_path / "killed").exists():
            shutil.copytree(tmp_path / "running", tmp_path / "killed")

    runs.append(start(SIR, BREADTH, tmp_path / "running", wake=wake))
    record_of(runs[0])
    return tmp_path / "killed"


@pytest.mark.parametrize("spec", [None, SMALL_SIR, BREADTH], ids=["recorded", "depth", "breadth"])
def test_a_killed_sweep_goes_on_in_any_order(killed: Path, tmp_path: Path, spec: hw.SweepSpec | None) -> None:
    sweep(SIR, SMALL_SIR, tmp_path / "whole")
    assert rows_of(killed) == [0, 2, 4, 1]
    assert ran_ids(resume(SIR, killed, spec)) == [3, 5]
    assert tables_in(killed) == tables_in(tmp_path / "whole")


def test_more_replicates_follow_breadth_first(killed: Path, tmp_path: Path) -> None:
    more = with_run(BREADTH, replicates=3)
    sweep(SIR, with_run(SMALL_SIR, replicates=3), tmp_path / "whole")
    assert ran_ids(resume(SIR, killed, more)) == [4, 7, 2, 5, 8]
    assert tables_in(killed) == tables_in(tmp_path / "whole")
