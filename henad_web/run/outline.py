"""What a sweep is about to do, known once it has been probed.

Owns the outline as a value. Computes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from henad_web.explore.plan import PlannedBlock
    from henad_web.explore.shards import Shard
    from henad_web.explore.warnings import PlanWarning
    from henad_web.model.entry import Backend
    from henad_web.run.layout import ExecutionLayout

__all__ = ["SweepOutline"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOutline:
    """The size and shape of a sweep.

    Attributes:
        model: Id of the model.
        backend: Where it steps.
        configs: Configs of the whole plan, None for a search.
        replicates: Runs of each config.
        runs: Runs of the whole plan, all shards together.
        blocks: The plan's blocks, in order.
        shard: The part of the plan this sweep runs.
        skipped: Runs kept from an earlier session.
        pending: Runs this session has to do.
        layout: Lanes and tracks.
        projected_bytes: Bytes of all live runs together, host or device.
        series_rows: Rows series.csv is expected to gain; stop conditions and faults may leave fewer.
        stat_columns: Columns of series.csv after the tick.
        reducer_columns: Reducer columns of runs.csv.
        dry_run: Whether the sweep only plans and probes.
        warnings: What is allowed and probably not meant.
    """

    model: str
    backend: Backend
    configs: int | None
    replicates: int
    runs: int
    blocks: tuple[PlannedBlock, ...]
    shard: Shard
    skipped: int
    pending: int
    layout: ExecutionLayout
    projected_bytes: int
    series_rows: int
    stat_columns: tuple[str, ...]
    reducer_columns: tuple[str, ...]
    dry_run: bool = False
    warnings: tuple[PlanWarning, ...] = ()

    def __repr__(self) -> str:
        """Return the facts on one line."""
        size = f"{self.runs} runs, {self.skipped} kept, {self.pending} to run, {len(self.warnings)} warnings"
        return f"<SweepOutline of '{self.model}': {size}>"
