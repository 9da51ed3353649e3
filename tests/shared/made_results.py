"""A small plan and hand-made outcomes for it, and whatever else a writer of results needs.

The plan has four runs: two infection rates, two replicates each. Nothing of it is ever stepped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from henad_web.explore.outcomes import RunOutcome, RunStatus, Series, StopReason
from henad_web.explore.plan import Plan
from henad_web.explore.shards import WHOLE
from henad_web.explore.spec_file import SpecSource, parse_spec
from henad_web.model.entry import Backend
from henad_web.models import example_models
from henad_web.output.first_manifest import Author, first_manifest
from henad_web.output.manifest import RuntimeRecord
from henad_web.output.store import FileStore
from henad_web.output.writer import ResultsWriter
from henad_web.run.layout import ExecutionLayout
from henad_web.run.options import SweepRunOptions
from henad_web.run.outline import SweepOutline

SPEC = """
model = "sir"

[set]
grid_width = 16
grid_height = 16
initial_infected_pct = 0.01
recovery_rate = 0.05

[run]
steps = 20
replicates = 2

[measure]
stats_every = 5
default_reducers = false
reducers = [{ column = "Infected", kinds = ["max", "mean"] }]

[seeds]
root = 7

[[action]]
id = "seed_outbreak"
tick = 5

[[block]]
factors = [{ param = "infection_rate", values = [0.2, 0.4] }]
"""

STATS = ("Susceptible", "Infected", "Recovered")
REDUCERS = ("Infected:max", "Infected:mean")
STARTED_S = 1_700_000_000.25
ENTRY = example_models()["sir"]


def plan_of(text: str = SPEC) -> Plan:
    return parse_spec(text).spec.plan(ENTRY.schema())


def outline_of(plan: Plan, **changes: Any) -> SweepOutline:
    fields: dict[str, Any] = {
        "model": "sir",
        "backend": Backend.CPU,
        "configs": plan.config_count,
        "replicates": plan.replicates,
        "runs": plan.run_count,
        "blocks": plan.blocks,
        "shard": WHOLE,
        "skipped": 0,
        "pending": plan.run_count,
        "layout": ExecutionLayout(cpu_lanes=1, threads_per_lane=1),
        "projected_bytes": 4096,
        "series_rows": 20,
        "stat_columns": STATS,
        "reducer_columns": REDUCERS,
    }
    return SweepOutline(**{**fields, **changes})


def writer_of(
    store: FileStore,
    plan: Plan,
    *,
    wall_clock: Callable[[], float] = lambda: STARTED_S,
    outline: SweepOutline | None = None,
    argv: tuple[str, ...] = (),
    **options: Any,
) -> ResultsWriter:
    """Return the writer of a sweep that the first `wall_clock` says has begun, with `options` of a sweep."""
    manifest = first_manifest(
        plan=plan,
        entry=ENTRY,
        outline=outline or outline_of(plan),
        options=SweepRunOptions(**{"spec_source": SpecSource(path="sweep.toml", toml=SPEC), **options}),
        author=Author(
            runtime=RuntimeRecord(os="here", arch="any", logical_cpus=2, worker_threads=1),
            wall_clock=wall_clock,
            argv=argv,
        ),
    )
    return ResultsWriter(store, plan=plan, entry=ENTRY, manifest=manifest, wall_clock=wall_clock)


def series_of(*rows: tuple[float, ...]) -> Series:
    """Return a series of `rows`, each a tick and the values of the stat columns."""
    return Series(np.array([row[0] for row in rows], np.int64), np.array([row[1:] for row in rows], np.float64))


def outcome_of(
    plan: Plan,
    run_id: int,
    *,
    reducers: Mapping[str, float | None] | None = None,
    series: Series | None = None,
    **changes: Any,
) -> RunOutcome:
    run = plan.run(run_id)
    fields: dict[str, Any] = {
        "status": RunStatus.OK,
        "stop_reason": StopReason.STEPS,
        "ticks": 20,
        "population": 256,
        "build_ms": 0.25,
        "wall_ms": 10.0,
    }
    return RunOutcome(
        run=run,
        config=plan.configs[run.config_id],
        run_key=plan.run_key(run),
        reducers={"Infected:max": 193.0, "Infected:mean": 77.2} if reducers is None else reducers,
        series=series_of((0, 254, 2, 0), (5, 223, 30, 3)) if series is None else series,
        **{**fields, **changes},
    )
