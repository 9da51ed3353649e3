"""The sentences that the page alone says: plan, state, how a sweep ended, what was opened.

Owns wording only; the words it shares with the terminal are `henad_web.wording`'s. Pure functions of values, so that
they are tested without a browser.
"""

from __future__ import annotations

from collections.abc import Sequence

from henad_web.wording import amount, duration_text, most_text, size_text

__all__ = [
    "GAP_MARK",
    "TIMES",
    "archive_name",
    "archive_text",
    "as_sentence",
    "ended_text",
    "front_text",
    "gap_text",
    "number_text",
    "opened_text",
    "plan_text",
    "ranking_text",
    "search_text",
    "slow_step_text",
    "state_text",
]

TIMES = "\N{MULTIPLICATION SIGN}"

GAP_MARK = "\N{DAGGER}"
"""Behind the reducers of a run that met a value which is not finite, and before the line that counts such runs."""


def as_sentence(line: str) -> str:
    """Return `line` with a capital letter and a full stop."""
    return f"{line[:1].upper()}{line[1:]}."


def plan_text(configs: int, replicates: int, runs: int, ticks: int, *, least: int | None = None) -> str:
    """Return what a plan will run, such as ``6 configs x 3 replicates = 18 runs of 200 ticks``."""
    return f"{size_text(configs, replicates, runs, times=TIMES, least=least)} of {amount(ticks, 'tick')}"


def search_text(algorithm: str, evaluations: int, replicates: int, runs: int, ticks: int) -> str:
    """Return what a search will run, such as ``random search: 9 evaluations x 2 replicates = 18 runs of 5 ticks``."""
    size = size_text(evaluations, replicates, runs, times=TIMES, noun="evaluation")
    return f"{algorithm} search: {size} of {amount(ticks, 'tick')}"


def state_text(*, planned: bool, paused: bool, held: bool, fraction: float | None) -> tuple[str, str]:
    """Return the phase of a sweep that has not ended, and what it does. A pause holds runs alone."""
    if not planned:
        told = "Planning: trying the first configs." if fraction is None else "Planning: fixing every run."
        return "planning", f"{told} The runs wait, since the sweep is paused." if paused else told
    if fraction is not None:
        return "running", "Writing the summary."
    if paused:
        told = "Paused. Resume goes on where the run stands." if held else "Pausing, after the step under way."
        return "paused", told
    return "running", "Running."


def gap_text(line: str) -> str:
    """Return `line`, which counts the runs that met a value which is not finite, with the mark of their rows."""
    return f"{GAP_MARK} {as_sentence(line)}"


def ended_text(
    *,
    aborted: bool,
    rows: int,
    failed: int,
    planned: int,
    elapsed: float,
    kept_files: bool = True,
    is_most: bool = False,
) -> str:
    """Return how a sweep ended: what its files hold, of how many planned runs, after how many seconds."""
    if not kept_files:
        return f"Aborted after {duration_text(elapsed)}, before anything was written."
    kept = f"{amount(rows, 'run')} in {duration_text(elapsed)}"
    if aborted:
        kept = (
            f"Aborted after {duration_text(elapsed)}: the files hold {rows:,} of {most_text(planned, is_most=is_most)}"
        )
        return f"{kept}, {failed:,} failed." if failed else f"{kept}."
    return f"Finished {kept}, {failed:,} failed." if failed else f"Finished {kept}."


def opened_text(*, status: str, rows: int, planned: int, failed: int, is_most: bool = False) -> str:
    """Return what results that were opened hold: their status, and of how many planned runs."""
    text = f"Opened results ({status}): {rows:,} of {most_text(planned, is_most=is_most)}"
    return f"{text}, {failed:,} failed." if failed else f"{text}."


_MOST_LEADERS = 3


def ranking_text(evaluations: int, leaders: Sequence[tuple[int, float, int]]) -> str:
    """Return who leads a search after `evaluations`, of all candidates by rank: id, objective and runs of each."""
    told = [
        f"candidate {id} with {number_text(objective)} over {amount(runs, 'run')}"
        for id, objective, runs in leaders[:_MOST_LEADERS]
    ]
    return f"{amount(evaluations, 'evaluation')}; best: {', '.join(told) or 'none yet'}."


def front_text(evaluations: int, members: int) -> str:
    """Return how many candidates none dominates after `evaluations` of a search for several objectives."""
    return f"{amount(evaluations, 'evaluation')}; a front of {amount(members, 'candidate')}."


def archive_text(evaluations: int, *, filled: int, cells: int, outside: int) -> str:
    """Return how many cells a search for patterns has met after `evaluations`, `outside` of which left the axes."""
    return f"{amount(evaluations, 'evaluation')}; {filled:,} of {amount(cells, 'cell')} met, {outside:,} outside."


def archive_name(model: str) -> str:
    """Return the file name under which the results of a sweep of `model` are saved."""
    return f"{model}-sweep.zip"


def number_text(value: object) -> str:
    """Return a table cell: floats shortened to six digits, None as nothing, everything else as it prints."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def slow_step_text(step_ms: float, budget_ms: float) -> str:
    """Return the line for a model whose single step outlasts a frame's budget (both in milliseconds)."""
    return (
        f"One step of this model takes {step_ms:.0f} ms, more than the {budget_ms:.0f} ms a frame; "
        "the page steps it once a frame."
    )
