"""The sentences of the page: plan, progress, state, sizes and times in words.

Owns wording only. Pure functions of values, so that they are tested without a browser.
"""

from __future__ import annotations

__all__ = [
    "TIMES",
    "archive_name",
    "byte_text",
    "duration_text",
    "ended_text",
    "number_text",
    "opened_text",
    "plan_text",
    "progress_text",
    "slow_step_text",
]

TIMES = "\N{MULTIPLICATION SIGN}"


def _counted(count: int, noun: str) -> str:
    """Return `count` with its noun, such as ``1 run`` or ``12,000 runs``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


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


def progress_text(*, done: int, total: int, failed: int, remaining: float | None) -> str:
    """Return counts and time left, such as ``12 of 60 runs · 1 failed · about 16 s left``.

    Args:
        done: Runs with a row.
        total: Runs this sweep executes.
        failed: Runs among `done` that failed.
        remaining: Seconds left, None while there is no estimate.
    """
    parts = [f"{done:,} of {_counted(total, 'run')}"]
    if failed:
        parts.append(f"{failed:,} failed")
    if remaining is not None:
        parts.append(f"about {_rounded_time(remaining)} left")
    return " · ".join(parts)


def _rounded_time(seconds: float) -> str:
    # An estimate with a decimal would claim more than it knows.
    return duration_text(seconds) if seconds >= 9.95 else f"{max(1, round(seconds))} s"


def ended_text(*, aborted: bool, rows: int, failed: int, planned: int, elapsed: float) -> str:
    """Return how a sweep ended: what its files hold, of how many planned runs, after how many seconds."""
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
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def slow_step_text(step_ms: float, budget_ms: float) -> str:
    """Return the line for a model whose single step outlasts a frame's budget (both in milliseconds)."""
    return (
        f"One step of this model takes {step_ms:.0f} ms, more than the {budget_ms:.0f} ms a frame; "
        "the page steps it once a frame."
    )
