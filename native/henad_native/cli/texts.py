"""The sentences the command prints about a sweep, as pure functions of its values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from henad_web.output.record import SweepEnd
from henad_web.wording import amount, counts_text, duration_text, henad_command, most_text

if TYPE_CHECKING:
    from henad_web.explore.outcomes import RunOutcome
    from henad_web.output.record import SweepReport
    from henad_web.resume.merging import MergeReport
    from henad_web.run.outline import SweepOutline
    from henad_web.run.probe import Pilot

__all__ = [
    "failure_line",
    "merged_line",
    "outline_lines",
    "pilot_lines",
    "written_line",
]

_LABEL_WIDTH = 14


def failure_line(outcome: RunOutcome) -> str:
    """Return the line of a run that failed: which one, its status and its note."""
    run = outcome.run
    where = f"run {run.run_id} (config {run.config_id}, rep {run.rep}, seed {run.seed})"
    return f"{where}: {outcome.status}: {outcome.note}" if outcome.note else f"{where}: {outcome.status}"


def outline_lines(name: str, outline: SweepOutline) -> Iterator[str]:
    """Yield what a sweep of the model called `name` is about to do, one line each."""
    yield outline.headline(name)
    yield from (_labelled(label, text) for label, text in outline.facts())


def pilot_lines(pilot: Pilot, outline: SweepOutline) -> Iterator[str]:
    """Yield what one timed run took, and about how long the pending ones of `outline` take."""
    outcome = pilot.outcome
    took = f"{duration_text(pilot.seconds)} for {amount(outcome.ticks, 'tick')}, {outcome.status}"
    yield _labelled("pilot run", f"{took}: {outcome.note}" if outcome.note else took)
    about = "about" if outline.least_replicates is None else "at most about"
    yield _labelled("time", f"{about} {duration_text(pilot.estimated_s(outline))} if every run is like it")


def _labelled(label: str, value: str) -> str:
    return f"  {label:<{_LABEL_WIDTH}}{value}"


UNWRITTEN_LINE = "stopped while the plan was made; nothing was written"
"""What is said of a sweep that was stopped before it had a place to write to."""


def written_line(report: SweepReport, models: str | None = None) -> str:
    """Return what a sweep wrote, where, in which time and with how many runs of each kind; and how it goes on.

    Its model is the one that `models`, the value of ``--models``, named.
    """
    counts, outline = report.counts, report.outline
    line = (
        f"wrote {amount(counts.rows, 'run')} to {report.output_dir} in {duration_text(report.elapsed)}: "
        f"{counts_text(counts)}"
    )
    if outline.skipped:
        line += f"; {outline.skipped:,} kept from before"
    if report.end == SweepEnd.COMPLETE:
        return line
    asked = most_text(outline.skipped + outline.pending, is_most=outline.least_replicates is not None)
    command = henad_command("resume", report.output_dir, models=models)
    return f"{line}; stopped early, with {counts.rows:,} of {asked}: go on with {command}"


def merged_line(report: MergeReport, inputs: int) -> str:
    """Return what a merge wrote, where, out of how many folders and with how many runs of each kind."""
    counts = report.counts
    return (
        f"merged {amount(inputs, 'folder')} with {amount(counts.rows, 'run')} into {report.output_dir}: "
        f"{counts_text(counts)}, {report.missing:,} missing"
    )
