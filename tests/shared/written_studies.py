"""Results of studies that nobody ran: any rows of runs and samples, below the manifest of a small one.

So a test says what each run came to: failed, stopped early, without a value, not done at all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

import henad_web as hw
from henad_web.explore.cell_texts import number_text
from henad_web.model.entry import ModelSet
from henad_web.output.first_manifest import Author, first_manifest
from henad_web.output.manifest import Manifest, RuntimeRecord, layout_of
from henad_web.output.table_index import SeriesIndex
from henad_web.output.tables import series_header
from tests.shared.made_results import STARTED_S, outline_of

__all__ = [
    "EVERY",
    "WARMUP",
    "KINDS",
    "LAST",
    "STEPS",
    "Run",
    "Still",
    "give_series",
    "row_of",
    "run_values",
    "study_of_lines",
    "tiled",
    "written_study",
]

KINDS = ("small", "medium", "large")
STEPS, EVERY, WARMUP = 24, 5, 2
LAST = WARMUP + STEPS
"""Ticks 2, 7, 12, 17, 22 and 26 are sampled."""


class Still(hw.Model):
    """Does nothing."""

    rate = hw.f64(0.5, min=0.0, max=1.0, label="Rate")
    size = hw.u32(1, min=0, max=10_000_000, label="Size")
    wild = hw.boolean(False, label="Wild")
    kind = hw.choice(KINDS, label="Kind")

    def setup(self) -> None:
        self.population = 1

    def step_once(self) -> None:
        """Do nothing."""

    @hw.action
    def stir(self) -> None:
        """Do nothing."""

    @hw.stat
    def level(self) -> float:
        return 0.0

    @hw.stat
    def other(self) -> float:
        return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One row, and its samples.

    Attributes:
        config: Its config.
        params: Values of its parameters; what is missing is the default.
        value: Its reducer ``level:max``, NaN for an empty cell.
        other: Its reducer ``other:final``.
        status: How it ended.
        ticks: Its last tick.
        samples: Tick and value of ``level`` of each sample; ``other`` is its negative.
    """

    config: int
    params: Mapping[str, object] = field(default_factory=dict)
    value: float = 1.0
    other: float = 0.0
    status: str = "ok"
    ticks: int = LAST
    samples: Sequence[tuple[int, float]] = ()


SPEC = f"""
model = "still"
run = {{ steps = {STEPS}, warmup = {WARMUP} }}
measure = {{ stats_every = 1, series_every = {EVERY}, default_reducers = false, reducers = [
    {{ column = "level", kinds = ["max"] }}, {{ column = "other", kinds = ["final"] }}
] }}
action = [{{ id = "stir", tick = 3 }}]
"""


@cache
def _manifest() -> Manifest:
    entry = ModelSet.of(Still)["still"]
    plan = hw.parse_spec(SPEC).spec.plan(entry.schema())
    stats, reducers = ("level", "other"), ("level:max", "other:final")
    runtime = RuntimeRecord(os="here", arch="any", logical_cpus=2, worker_threads=1)
    return first_manifest(
        plan=plan,
        entry=entry,
        outline=outline_of(plan, model="still", stat_columns=stats, reducer_columns=reducers),
        options=hw.SweepRunOptions(),
        author=Author(runtime=runtime, wall_clock=lambda: STARTED_S, argv=()),
    )


def written_study(runs: Iterable[Run], *, planned: int | None = None, **options: Any) -> hw.ResultSet:
    """Return the results that hold `runs`, of a plan of as many or of `planned`."""
    lines, samples = [], []
    for run_id, run in enumerate(runs):
        lines.append(row_of(run_id, run))
        samples += [f"{run_id},{tick},{_cell(value)},{_cell(-value)}" for tick, value in run.samples]
    return study_of_lines(lines, samples, planned=planned, **options)


def study_of_lines(
    rows: Sequence[str], samples: Sequence[str], *, planned: int | None = None, **options: Any
) -> hw.ResultSet:
    """Return the results that hold rows of runs and samples as they stand in the tables."""
    manifest = _manifest()
    document = json.loads(manifest.to_bytes())
    count = len(rows) if planned is None else planned
    document["plan"] |= {"runs": count, "configs": count}
    document["status"] = "complete"
    tables = {
        "runs.csv": (layout_of(manifest).header, rows),
        "series.csv": (series_header(("level", "other")), samples),
    }
    files = {name: "\n".join([",".join(header), *lines, ""]).encode() for name, (header, lines) in tables.items()}
    return hw.ResultSet.from_files({**files, "manifest.json": json.dumps(document).encode()}, models=Still, **options)


def row_of(run_id: int, run: Run) -> str:
    params = {"rate": 0.5, "size": 1, "wild": False, "kind": "small", **run.params}
    values = ",".join(str(value).lower() if isinstance(value, bool) else _cell(value) for value in params.values())
    leading = f"{run_id},{run.config},0,0,{run_id + 1},{run_id:016x},{values},3"
    reason = "fault" if run.status in ("panicked", "refused") else "steps" if run.ticks == LAST else "condition"
    return f"{leading},{run.status},{reason},{run.ticks},1,0.100,1.000,10.000,{_cell(run.value)},{_cell(run.other)},"


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return number_text(value) if math.isfinite(value) else ""


def run_values(results: hw.ResultSet, column: str = "level:max") -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the values of the runs that count, in the order of the table."""
    values = results.runs.reducer(column)
    is_in = np.isin(results.runs["status"], ["ok", "non_finite"]) & np.isfinite(values)
    return values[is_in]


def tiled(results: hw.ResultSet, count: int, values: Mapping[str, np.ndarray[Any, Any]]) -> hw.ResultSet:
    """Make `results` of one run `count` runs, with other `values` of some columns: no text could be read so fast."""
    runs = results.runs
    places = {name: runs.columns.index(name) for name in values}
    runs._data = [np.resize(column, count) for column in runs._data]
    for name, column in {"run_id": np.arange(count), **values}.items():
        runs._data[places.get(name, 0)] = column
    runs._rows = dict(zip(range(count), range(count), strict=True))
    return results


def give_series(results: hw.ResultSet, ticks: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
    """Give each run of `results` samples of ``level`` at `ticks`, as if they were read: `values`, ``(runs, ticks)``."""
    runs = len(results.runs)
    series, rows = results._series, np.full(runs, len(ticks), np.int64)
    places = np.cumsum(rows)
    series.__dict__["index"] = SeriesIndex(
        header=None,
        header_end=0,
        is_canonical=True,
        run_ids=results.runs["run_id"],
        rows=rows,
        last_ticks=np.full(runs, ticks[-1]),
        regular=np.ones(runs, np.bool_),
        starts=places - rows,
        ends=places,
    )
    series._ticks, series._kept = np.tile(ticks, runs), {"level": values.reshape(-1)}
