"""What a run leaves behind: its identity, status, stop reason, reducers and series.

Owns the closed vocabularies of a run's row. Knows nothing of how a run is driven or where it is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from henad_web.explore.plan import Config

__all__ = ["PlannedRun", "RunOutcome", "RunStatus", "RunTable", "Series", "StopReason"]


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run of a plan.

    Attributes:
        run_id: Position in plan order, from 0; ``config_id * replicates + rep``.
        config_id: Position of its config, from 0.
        rep: Replicate of the config, from 0.
        seed: Seed the model is built with, 1 to 2^64 - 1.
    """

    run_id: int
    config_id: int
    rep: int
    seed: int


class RunStatus(StrEnum):
    """How a run ended."""

    OK = "ok"
    NON_FINITE = "non_finite"
    PANICKED = "panicked"
    GPU_ERROR = "gpu_error"
    REFUSED = "refused"
    SHAPE_ERROR = "shape_error"
    TIMED_OUT = "timed_out"

    @property
    def is_failure(self) -> bool:
        """Whether the run counts as failed: every status but `OK` and `NON_FINITE`."""
        return self not in (RunStatus.OK, RunStatus.NON_FINITE)


class StopReason(StrEnum):
    """Why a run took no further step."""

    STEPS = "steps"
    CONDITION = "condition"
    FAULT = "fault"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Samples kept of one run.

    Attributes:
        ticks: Tick of each row, ascending, int64 ``(n,)``.
        values: Value of each stat column at it, float64 ``(n, columns)``.
    """

    ticks: NDArray[np.int64]
    values: NDArray[np.float64]

    def __repr__(self) -> str:
        """Return the facts on one line."""
        return f"<Series of {self.values.shape[0]} samples x {self.values.shape[1]} statistics>"

    @classmethod
    def empty(cls, columns: int) -> Series:
        """Return a series of no rows and `columns` columns."""
        return cls(np.zeros(0, np.int64), np.zeros((0, columns), np.float64))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.ticks)

    @property
    def byte_count(self) -> int:
        """Size that counts against a series budget: ``rows * (columns + 1) * 8`` bytes."""
        return int(self.values.size + self.ticks.size) * 8


@dataclass(frozen=True, slots=True)
class RunTable:
    """What one run reported of a table of its model's own.

    Attributes:
        data: Its rows as they stand in the table's file, in tick order.
        rows: How many there are.
    """

    data: bytes
    rows: int

    def __repr__(self) -> str:
        """Return the facts on one line."""
        return f"<RunTable of {self.rows} rows, {len(self.data)} bytes>"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """One finished run, as its row and series say it.

    Attributes:
        run: Which run of the plan.
        config: What it was built from.
        run_key: 16 hex digits that identify its results.
        status: How it ended.
        stop_reason: Why it stepped no further.
        ticks: Last tick reached; 0 after a failed build.
        population: Population at the latest sample; 0 after a failed build.
        build_ms: Time the build took, milliseconds.
        wall_ms: Time stepping and sampling took, milliseconds, pauses left out.
        reducers: Reducer column to its value, None for a reducer no sample qualified for.
        series: The samples kept.
        tables: What it reported of its model's own tables, by id; empty where the spec asks for none.
        note: One line for the row, empty when there is nothing to say.
        traceback: Traceback of a fault for the event, never written to a file; None without a fault.
    """

    run: PlannedRun
    config: Config
    run_key: str
    status: RunStatus
    stop_reason: StopReason
    ticks: int
    population: int
    build_ms: float
    wall_ms: float
    reducers: Mapping[str, float | None]
    series: Series
    tables: Mapping[str, RunTable] = field(default_factory=dict)
    note: str = ""
    traceback: str | None = None

    def __repr__(self) -> str:
        """Return the facts on one line."""
        note = f": {self.note}" if self.note else ""
        ended = f"{self.status} by {self.stop_reason} after {self.ticks} ticks{note}"
        return f"<RunOutcome of run {self.run.run_id}, config {self.run.config_id}, rep {self.run.rep}: {ended}>"

    @property
    def byte_count(self) -> int:
        """Size of series and tables that counts against a series budget."""
        return self.series.byte_count + sum(len(table.data) for table in self.tables.values())

    @property
    def steps_per_s(self) -> float:
        """Ticks a second of `wall_ms`; 0 when no time was measured."""
        return self.ticks * 1000.0 / self.wall_ms if self.wall_ms > 0 else 0.0
