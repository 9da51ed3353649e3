"""The sentences the command prints about a sweep, as pure functions of its values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from henad_web.output.record import SweepEnd
from henad_web.run.layout import layout_text
from henad_web.wording import amount, byte_text, duration_text, henad_command, most_text, size_text

if TYPE_CHECKING:
    from henad_web.explore.outcomes import RunOutcome
    from henad_web.explore.plan import PlannedBlock
    from henad_web.explore.search_spec import ObjectiveSpec
    from henad_web.output.record import Counts, SweepReport
    from henad_web.resume.merging import MergeReport
    from henad_web.run.outline import SearchOutline, SweepOutline
    from henad_web.run.probe import Pilot

__all__ = [
    "failure_line",
    "merged_line",
    "objective_text",
    "outline_lines",
    "pilot_lines",
    "written_line",
]

MANY_SERIES_ROWS = 10_000_000
"""Expected rows of series.csv from which the outline warns."""

_LABEL_WIDTH = 14


def failure_line(outcome: RunOutcome) -> str:
    """Return the line of a run that failed: which one, its status and its note."""
    run = outcome.run
    where = f"run {run.run_id} (config {run.config_id}, rep {run.rep}, seed {run.seed})"
    return f"{where}: {outcome.status}: {outcome.note}" if outcome.note else f"{where}: {outcome.status}"


def outline_lines(name: str, outline: SweepOutline) -> Iterator[str]:
    """Yield what a sweep of the model called `name` is about to do, one line each."""
    size, is_most = amount(outline.runs, "run"), outline.least_replicates is not None
    most = "up to " if is_most else ""
    if outline.configs is not None:
        size = size_text(outline.configs, outline.replicates, outline.runs, least=outline.least_replicates)
    if outline.search is None:
        yield f"sweep of {name} ({outline.model}): {size}"
    else:
        yield from _search_lines(name, outline, outline.search)
    for index, block in enumerate(outline.blocks):
        yield _labelled(f"block {index}", _block_text(block))
        yield from (_labelled("", f"{factor.name}: {factor.levels}") for factor in block.factors)
    if outline.shard.count > 1:
        runs = most_text(outline.skipped + outline.pending, is_most=is_most)
        yield _labelled("shard", f"{outline.shard}: {runs} of them")
    if outline.skipped:
        yield _labelled("resume", f"{outline.skipped:,} skipped, {most}{outline.pending:,} to run")
    yield _labelled("layout", layout_text(outline.layout))
    yield _labelled("memory", f"{byte_text(outline.projected_bytes)} projected for concurrent runs")
    rows = f"{most}{outline.series_rows:,}"
    if outline.series_rows > MANY_SERIES_ROWS:
        rows += "; a larger `series_every` in [measure] keeps fewer"
    yield _labelled("series rows", rows)


def _search_lines(name: str, outline: SweepOutline, search: SearchOutline) -> Iterator[str]:
    size = size_text(search.max_evaluations, outline.replicates, outline.runs, noun="evaluation")
    algorithm = search.algorithm if search.name is None else f"{search.algorithm} '{search.name}'"
    yield f"search of {name} ({outline.model}): {algorithm}, {size}"
    yield _labelled(
        "batch size", f"{amount(search.batch_size, 'candidate')}, at least {search.least_batches:,} of them"
    )
    if search.objective is not None:
        yield _labelled("objective", objective_text(search.objective))
    for number, objective in enumerate(search.objectives):
        yield _labelled("" if number else "objectives", objective_text(objective))
    for letter, axis in zip("xy", search.pattern_axes or (), strict=False):
        ends = "range from the first samples" if axis.min is None else f"{axis.min:g} to {axis.max:g}"
        yield _labelled(f"{letter} axis", f"{axis.column}, {ends}, {amount(axis.cells, 'cell')}")
    for number, factor in enumerate(search.space):
        yield _labelled("" if number else "space", f"{factor.name}: {factor.levels}")
    yield _labelled("search seed", str(search.search_seed))
    if not search.is_portable:
        yield _labelled("portable", "no: another machine may choose other candidates, for its linear algebra differs")


def objective_text(objective: ObjectiveSpec) -> str:
    """Return what a search is for."""
    return f"{objective.goal} the {objective.aggregate} of {objective.column}"


def pilot_lines(pilot: Pilot, outline: SweepOutline) -> Iterator[str]:
    """Yield what one timed run took, and about how long the pending ones of `outline` take."""
    outcome = pilot.outcome
    took = f"{duration_text(pilot.seconds)} for {amount(outcome.ticks, 'tick')}, {outcome.status}"
    yield _labelled("pilot run", f"{took}: {outcome.note}" if outcome.note else took)
    about = "about" if outline.least_replicates is None else "at most about"
    yield _labelled("time", f"{about} {duration_text(pilot.estimated_s(outline))} if every run is like it")


def _labelled(label: str, value: str) -> str:
    return f"  {label:<{_LABEL_WIDTH}}{value}"


def _block_text(block: PlannedBlock) -> str:
    text = f"{block.design}, {amount(block.config_count, 'config')}"
    return text if block.design_seed is None else f"{text}, design seed {block.design_seed}"


UNWRITTEN_LINE = "stopped while the plan was made; nothing was written"
"""What is said of a sweep that was stopped before it had a place to write to."""


def written_line(report: SweepReport, models: str | None = None) -> str:
    """Return what a sweep wrote, where, in which time and with how many runs of each kind; and how it goes on.

    Its model is the one that `models`, the value of ``--models``, named.
    """
    counts, outline = report.counts, report.outline
    line = (
        f"wrote {amount(counts.rows, 'run')} to {report.output_dir} in {duration_text(report.elapsed)}: "
        f"{_counts_text(counts)}"
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
        f"{_counts_text(counts)}, {report.missing:,} missing"
    )


def _counts_text(counts: Counts) -> str:
    return f"{counts.ok:,} ok, {counts.non_finite:,} non-finite, {counts.failed:,} failed"
