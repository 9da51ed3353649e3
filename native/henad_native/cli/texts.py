"""The sentences the command prints about a sweep, as pure functions of its values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from henad_web.channel import SweepPhase
from henad_web.errors import counted
from henad_web.model.quantities import byte_text
from henad_web.output.record import SweepEnd
from henad_web.results.commands import henad_command
from henad_web.run.layout import layout_text

if TYPE_CHECKING:
    from henad_web.explore.outcomes import RunOutcome
    from henad_web.explore.plan import PlannedBlock
    from henad_web.handle import SweepProgress
    from henad_web.output.record import SweepReport
    from henad_web.resume.merging import MergeReport
    from henad_web.run.outline import SweepOutline
    from henad_web.run.probe import Pilot

__all__ = [
    "counted",
    "duration_text",
    "failure_line",
    "merged_line",
    "outline_lines",
    "pilot_lines",
    "progress_text",
    "written_line",
]

MANY_SERIES_ROWS = 10_000_000
"""Expected rows of series.csv from which the outline warns."""

_LABEL_WIDTH = 14


def duration_text(seconds: float) -> str:
    """Return `seconds` as ``4.2s``, ``42s``, ``3m 07s`` or ``2h 05m``."""
    if round(seconds, 1) < 10:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}m {rest:02d}s"
    return f"{minutes // 60}h {minutes % 60:02d}m"


def progress_text(progress: SweepProgress) -> str:
    """Return ``12 of 60 runs · 1 failed · about 16s left``, the parts that are known."""
    parts = [f"{progress.runs_done} of {counted(progress.runs_total, 'run')}"]
    if progress.runs_skipped:
        parts.append(f"{progress.runs_skipped} kept")
    if progress.runs_failed:
        parts.append(f"{progress.runs_failed} failed")
    if progress.fraction is not None:
        stage = "summary" if progress.phase is SweepPhase.RUNNING else "planning"
        parts.append(f"{stage} {int(progress.fraction * 100)} %")
    if progress.remaining is not None:
        parts.append(f"about {duration_text(progress.remaining)} left")
    return " · ".join(parts)


def failure_line(outcome: RunOutcome) -> str:
    """Return the line of a run that failed: which one, its status and its note."""
    run = outcome.run
    where = f"run {run.run_id} (config {run.config_id}, rep {run.rep}, seed {run.seed})"
    return f"{where}: {outcome.status}: {outcome.note}" if outcome.note else f"{where}: {outcome.status}"


def outline_lines(name: str, outline: SweepOutline) -> Iterator[str]:
    """Yield what a sweep of the model called `name` is about to do, one line each."""
    size = counted(outline.runs, "run")
    if outline.configs is not None:
        size = f"{counted(outline.configs, 'config')} x {counted(outline.replicates, 'replicate')} = {size}"
    yield f"sweep of {name} ({outline.model}): {size}"
    for index, block in enumerate(outline.blocks):
        yield _labelled(f"block {index}", _block_text(block))
        yield from (_labelled("", f"{factor.name}: {factor.levels}") for factor in block.factors)
    if outline.shard.count > 1:
        yield _labelled("shard", f"{outline.shard}: {counted(outline.skipped + outline.pending, 'run')} of them")
    if outline.skipped:
        yield _labelled("resume", f"{outline.skipped} skipped, {outline.pending} to run")
    yield _labelled("layout", layout_text(outline.layout))
    yield _labelled("memory", f"{byte_text(outline.projected_bytes)} projected for concurrent runs")
    rows = f"{outline.series_rows}"
    if outline.series_rows > MANY_SERIES_ROWS:
        rows += "; a larger `series_every` in [measure] keeps fewer"
    yield _labelled("series rows", rows)


def pilot_lines(pilot: Pilot, outline: SweepOutline) -> Iterator[str]:
    """Yield what one timed run took, and about how long the pending ones of `outline` take."""
    outcome = pilot.outcome
    took = f"{duration_text(pilot.seconds)} for {counted(outcome.ticks, 'tick')}, {outcome.status}"
    yield _labelled("pilot run", f"{took}: {outcome.note}" if outcome.note else took)
    yield _labelled("time", f"about {duration_text(pilot.estimated_s(outline))} if every run is like it")


def _labelled(label: str, value: str) -> str:
    return f"  {label:<{_LABEL_WIDTH}}{value}"


def _block_text(block: PlannedBlock) -> str:
    text = f"{block.design}, {counted(block.config_count, 'config')}"
    return text if block.design_seed is None else f"{text}, design seed {block.design_seed}"


UNWRITTEN_LINE = "stopped while the plan was made; nothing was written"
"""What is said of a sweep that was stopped before it had a place to write to."""


def written_line(report: SweepReport, models: str | None = None) -> str:
    """Return what a sweep wrote, where, in which time and with how many runs of each kind; and how it goes on.

    Its model is the one that `models`, the value of ``--models``, named.
    """
    counts, outline = report.counts, report.outline
    line = (
        f"wrote {counted(counts.rows, 'run')} to {report.output_dir} in {duration_text(report.elapsed)}: "
        f"{counts.ok} ok, {counts.non_finite} non-finite, {counts.failed} failed"
    )
    if outline.skipped:
        line += f"; {outline.skipped} kept from before"
    if report.end == SweepEnd.COMPLETE:
        return line
    asked = counted(outline.skipped + outline.pending, "run")
    command = henad_command("resume", report.output_dir, models=models)
    return f"{line}; stopped early, with {counts.rows} of {asked}: go on with {command}"


def merged_line(report: MergeReport, inputs: int) -> str:
    """Return what a merge wrote, where, out of how many folders and with how many runs of each kind."""
    counts = report.counts
    return (
        f"merged {counted(inputs, 'folder')} with {counted(counts.rows, 'run')} into {report.output_dir}: "
        f"{counts.ok} ok, {counts.non_finite} non-finite, {counts.failed} failed, {report.missing} missing"
    )
