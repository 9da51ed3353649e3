"""What a sweep hands over at its end.

Owns the values only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from henad_web.explore.outcomes import RunStatus

if TYPE_CHECKING:
    from henad_web.output.manifest import Manifest
    from henad_web.run.outline import SweepOutline

__all__ = ["Counts", "SweepEnd", "SweepRecord", "SweepReport"]


class SweepEnd(StrEnum):
    """Why a sweep ended. `PLANNED` is the end of a dry run."""

    COMPLETE = "complete"
    ABORTED = "aborted"
    DEVICE_LOST = "device_lost"
    PLANNED = "planned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Rows of runs.csv: all, those that are ok, those with a value that is not finite, failures."""

    rows: int = 0
    ok: int = 0
    non_finite: int = 0
    failed: int = 0

    def plus(self, status: RunStatus) -> Counts:
        """Return the counts with one more row of `status`."""
        return Counts(
            rows=self.rows + 1,
            ok=self.ok + (status is RunStatus.OK),
            non_finite=self.non_finite + (status is RunStatus.NON_FINITE),
            failed=self.failed + status.is_failure,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport:
    """How a sweep went.

    Attributes:
        end: Why it ended.
        counts: Rows there are now, kept ones included.
        elapsed: Seconds it took, pauses left out.
        output_dir: Where the files are, None in memory or after a dry run.
        outline: What it set out to do.
    """

    end: SweepEnd
    counts: Counts
    elapsed: float
    output_dir: str | None
    outline: SweepOutline


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRecord:
    """The whole of a finished sweep.

    Attributes:
        report: How it went.
        manifest: Its manifest as last written, None after a dry run.
        files: Name to bytes in the order runs.csv, series.csv, summary.csv, manifest.json; None in a
            directory.
    """

    report: SweepReport
    manifest: Manifest | None
    files: dict[str, bytes] | None
