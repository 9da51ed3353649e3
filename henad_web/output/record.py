"""What a sweep hands over at its end.

Owns the values only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import counted
from henad_web.explore.outcomes import RunStatus
from henad_web.markup import facts_html
from henad_web.wording import byte_text, counts_text, duration_text

if TYPE_CHECKING:
    from henad_web.channel import SweepWarning
    from henad_web.output.manifest import Manifest
    from henad_web.run.outline import SweepOutline
    from henad_web.search.genetic import Generation
    from henad_web.search.log import RankedCandidate
    from henad_web.search.nsga2 import FrontGeneration, RankedMember
    from henad_web.search.pattern import ArchiveEntry

__all__ = ["Counts", "SearchReport", "SweepEnd", "SweepRecord", "SweepReport", "non_finite_line", "non_finite_runs"]


Whole = TypeVar("Whole", int, NDArray[np.int64])


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


def non_finite_runs(runs: Whole, ok: Whole, failed: Whole) -> Whole:
    """Return how many runs met a value that is not finite, by the counts `runs`, `ok` and `failed` of summary.csv."""
    return runs - ok - failed


def non_finite_line(counts: Counts) -> str | None:
    """Return the sentence that page, terminal and notebook show of runs that met a value which is not finite.

    Their reducers skip such samples, so that each value comes from what is left: `final`, for one, from before the
    first of them. None when there is no such run.
    """
    if not counts.non_finite:
        return None
    who = f"{counts.non_finite} of {counts.rows} runs" if counts.rows > 1 else "the run"
    return (
        f"{who} met a value that is not finite (status non_finite): the reducers skip such samples, so that a final "
        f"value may come from before it; the note of the run says where it began"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport:
    """How a sweep went.

    Attributes:
        end: Why it ended.
        counts: Rows there are now, kept ones included.
        elapsed: Seconds it took, pauses left out.
        output_dir: Where the files are, None in memory, after a dry run or where nothing was written; the directory
            that keeps its results where a sweep had no row to overwrite them with.
        outline: What it set out to do.
        warnings: Every warning of the sweep, in order; ``str`` of one is its sentence.
    """

    end: SweepEnd
    counts: Counts
    elapsed: float
    output_dir: str | None
    outline: SweepOutline
    warnings: tuple[SweepWarning, ...] = ()

    def __repr__(self) -> str:
        """Return the facts on one line."""
        counts = self.counts
        rows = f"{counts.ok} ok, {counts.non_finite} non-finite, {counts.failed} failed"
        place = "memory" if self.output_dir is None else self.output_dir
        return f"<SweepReport {self.end}: {counted(counts.rows, 'run')} in {place}, {rows}, {self.elapsed:.1f} s>"

    def _repr_html_(self) -> str:
        return facts_html(f"sweep of {self.outline.model}: {self.end}", self.facts(), self.notes())

    def facts(self) -> Iterator[tuple[str, str]]:
        """Yield how it went, for people: labels and texts."""
        yield "runs", f"{self.counts.rows:,}: {counts_text(self.counts)}"
        yield "kept", f"{self.outline.skipped:,} from before" if self.outline.skipped else ""
        yield "time", duration_text(self.elapsed)
        yield "place", self.output_dir or "memory"

    def notes(self) -> Iterator[str]:
        """Yield what to know of it: its warnings, and runs that met a value which is not finite."""
        yield from (f"warning: {warning}" for warning in self.warnings)
        line = non_finite_line(self.counts)
        if line is not None:
            yield line


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchReport:
    """What a search came to.

    Attributes:
        ranking: Every candidate that it was told of, the best first; empty unless it has one objective.
        front: Those that none of all it was told of dominates, the least crowded first; empty unless it has several
            objectives.
        generations: The generations that are complete, in order; empty unless it breeds some for one objective.
        front_generations: The same of several objectives.
        archive: The cells that were met, by x and then y; empty unless it looks for patterns.
    """

    ranking: tuple[RankedCandidate, ...] = ()
    front: tuple[RankedMember, ...] = ()
    generations: tuple[Generation, ...] = ()
    front_generations: tuple[FrontGeneration, ...] = ()
    archive: tuple[ArchiveEntry, ...] = ()

    def __repr__(self) -> str:
        """Return the facts on one line."""
        counts = (
            *((self.ranking, "candidate"), (self.front, "candidate"), (self.generations, "generation")),
            *((self.front_generations, "generation"), (self.archive, "cell")),
        )
        return f"<SearchReport: {', '.join(counted(len(found), name) for found, name in counts if found) or 'nothing'}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRecord:
    """The whole of a finished sweep.

    Attributes:
        report: How it went.
        manifest: Its manifest as last written, None after a dry run or an abort before anything was written.
        files: Name to bytes in the order runs.csv, series.csv, summary.csv, manifest.json, then those of a search;
            None in a directory, unless a sweep that was to overwrite results there had no row to do it with.
        search: What a search came to, None of a sweep.
    """

    report: SweepReport
    manifest: Manifest | None
    files: dict[str, bytes] | None
    search: SearchReport | None = None

    def __repr__(self) -> str:
        """Return the facts on one line."""
        size = sum(map(len, (self.files or {}).values()))
        files = "" if self.files is None else f", {len(self.files)} files of {size} bytes"
        return f"<SweepRecord of {self.report!r}{files}>"

    def _repr_html_(self) -> str:
        files = [f"{name}, {byte_text(len(content))}" for name, content in (self.files or {}).items()]
        found = "" if self.search is None else repr(self.search).strip("<>").removeprefix("SearchReport: ")
        facts = (*self.report.facts(), ("files", "\n".join(files)), ("search", found))
        return facts_html(f"sweep of {self.report.outline.model}: {self.report.end}", facts, self.report.notes())
