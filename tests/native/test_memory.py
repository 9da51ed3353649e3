"""A sweep of any length keeps to its memory: nothing is held of a run once it is written and its event received."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

import henad_web as hw
from henad_web.output.record import Counts
from tests.native.folders import AT_LENGTH, TARGET, TOY

pytestmark = pytest.mark.usefixtures("quick_disk")

RUNS = 100_000 if AT_LENGTH else 20_000
FIRST = 1_000
GROWTH_BYTES = 200 * RUNS
STATM = Path("/proc/self/statm")


def resident_bytes() -> int:
    """Return the memory this process has in RAM; where only its peak is told, that."""
    if STATM.exists():
        return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def drain(run: hw.SweepRun) -> tuple[int, hw.SweepEvent]:
    """Pump `run` to its end, receiving every event; return how memory grew after `FIRST`, and the last event."""
    at_first, largest, last = 0, 0, None
    while not run.is_ended:
        run.update(0.0, budget_s=0.02)
        while (event := run.try_recv()) is not None:
            last = event
        if not at_first and run.progress().runs_done >= FIRST:
            at_first = resident_bytes()
        elif at_first:
            largest = max(largest, resident_bytes())
    assert last is not None
    return largest - at_first, last


@pytest.mark.timeout(240)
def test_any_number_of_runs_stays_within_two_hundred_bytes_a_run(fast_path: Path) -> None:
    factor = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=tuple(range(1, 101))))
    spec = hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(steps=1, replicates=RUNS // 100),
        measure=hw.MeasureSettings(series_every=0, default_reducers=False),
        blocks=(hw.BlockSpec(factors=(factor,)),),
    )
    run = hw.SweepRun.start(TOY, spec, hw.DirectoryOutput(fast_path / "results"), target=TARGET)
    growth, last = drain(run)
    assert isinstance(last, hw.Finished), last
    assert last.record.report.counts == Counts(rows=RUNS, ok=RUNS)
    assert growth < GROWTH_BYTES
