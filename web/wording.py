"""The sentences of the page: plan, progress, state, sizes and times in words.

Owns wording only. Pure functions of values, so that they are tested without a browser.
"""

from __future__ import annotations

__all__ = [
    "GAP_MARK",
    "TIMES",
    "archive_name",
    "byte_text",
    "duration_text",
    "ended_text",
    "gap_text",
    "number_text",
    "opened_text",
    "plan_text",
    "progress_text",
    "as_sentence",
    "slow_step_text",
    "stage_text",
    "state_text",
]

TIMES = "\N{MULTIPLICATION SIGN}"

GAP_MARK = "\N{DAGGER}"
"""Behind the reducers of a run that met a value which is not finite, and before the line that counts such runs."""


def _counted(count: int, noun: str) -> str:
    """Return `count` with its noun, such as ``1 run`` or ``12,000 runs``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def as_sentence(line: str) -> str:
    """Return `line` with a capital letter and a full stop."""
    return f"{line[:1].upper()}{line[1:]}."


def plan_text(configs: int, replicates: int, runs: int, ticks: int) -> str:
    """Return what a plan will run, such as ``6 configs x 3 replicates = 18 runs of 200 ticks``."""
    product = f"{_counted(configs, 'config')} {TIMES} {_counted(replicates, 'replicate')} = {_counted(runs, 'run')}"
    return f"{product} of {_counted(ticks, 'tick')}"


def duration_text(seconds: float) -> str:
    """Return a time span such as ``4.2 s``, ``42 s``, ``3 min 07 s`` or ``2 h 05 min``; never negative."""
    seconds = max(0.0, seconds)
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60:,} h {minutes % 60:02d} min"


def progress_text(*, done: int, total: int, failed: int, remaining: float | None, stage: str = "") -> str:
    """Return counts and time left, such as ``12 of 60 runs · 1 failed · about 16 s left``.

    Args:
        done: Runs with a row.
        total: Runs this sweep executes.
        failed: Runs among `done` that failed.
        remaining: Seconds left, None while there is no estimate.
        stage: How far the work before or behind the runs is, as `stage_text` says it.
    """
    parts = [f"{done:,} of {_counted(total, 'run')}"]
    if stage:
        parts.append(stage)
    if failed:
        parts.append(f"{failed:,} failed")
    if remaining is not None:
        parts.append(f"about {_rounded_time(remaining)} left")
    return " · ".join(parts)


def _rounded_time(seconds: float) -> str:
    # An estimate with a decimal would claim more than it knows.
    return duration_text(seconds) if seconds >= 9.95 else f"{max(1, round(seconds))} s"


def stage_text(*, planned: bool, fraction: float | None) -> str:
    """Return how far planning is, or the summary once it is `planned`; nothing while there is no `fraction`, 0 to 1."""
    if fraction is None:
        return ""
    return f"{'summary' if planned else 'planning'} {int(fraction * 100)} %"


def state_text(*, planned: bool, paused: bool, held: bool, fraction: float | None) -> tuple[str, str]:
    """Return the phase of a sweep that has not ended, and what it does. A pause holds runs alone."""
    if not planned:
        told = "Planning: trying the first configs." if fraction is None else "Planning: fixing every run."
        return "planning", f"{told} The runs wait, since the sweep is paused." if paused else told
    if fraction is not None:
        return "running", "Writing the summary."
    if paused:
        return (
            "paused",
            "Paused. Resume goes on where the run stands." if held else "Pausing, after the step under way.",
        )
    return "running", "Running."


def gap_text(line: str) -> str:
    """Return `line`, which counts the runs that met a value which is not finite, with the mark of their rows."""
    return f"{GAP_MARK} {as_sentence(line)}"


def ended_text(*, aborted: bool, rows: int, failed: int, planned: int, elapsed: float, kept_files: bool = True) -> str:
    """Return how a sweep ended: what its files hold, of how many planned runs, after how many seconds."""
    if not kept_files:
        return f"Aborted after {duration_text(elapsed)}, before anything was written."
    kept = f"{_counted(rows, 'run')} in {duration_text(elapsed)}"
    if aborted:
        kept = f"Aborted after {duration_text(elapsed)}: the files hold {rows:,} of {_counted(planned, 'run')}"
        return f"{kept}, {failed:,} failed." if failed else f"{kept}."
    return f"Finished {kept}, {failed:,} failed." if failed else f"Finished {kept}."


def opened_text(*, status: str, rows: int, planned: int, failed: int) -> str:
    """Return what results that were opened hold: their status, and of how many planned runs."""
    text = f"Opened results ({status}): {rows:,} of {_counted(planned, 'run')}"
    return f"{text}, {failed:,} failed." if failed else f"{text}."


def archive_name(model: str) -> str:
    """Return the file name under which the results of a sweep of `model` are saved."""
    return f"{model}-sweep.zip"


def byte_text(count: int) -> str:
    """Return a size such as ``640 bytes``, ``12 kB`` or ``1.6 MB``."""
    if count < 1000:
        return f"{count} bytes"
    if count < 999_500:
        return f"{count / 1e3:.0f} kB"
    return f"{count / 1e6:.1f} MB" if count < 999_950_000 else f"{count / 1e9:.1f} GB"


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
