"""Names of columns: those that every table of a sweep has, and which stat column a spec means or gets reducers.

No other module spells a header.

A scalar statistic is one column named by its label; a vector is ``Label.x``, ``Label.y``,
``Label.magnitude``; a histogram is ``Label.total`` and one column a bucket (reference engine, section 3.5).
Values are not looked at here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = [
    "ACTION",
    "FILE_COLUMNS",
    "LEADING",
    "MEASURED",
    "NOTE",
    "SERIES_LEADING",
    "STATISTICS",
    "SUMMARY_COUNTS",
    "SUMMARY_LEADING",
    "SUMMARY_TICKS",
    "TIMINGS",
    "default_columns",
    "names_a_statistic",
    "resolve_column",
]

LEADING = ("run_id", "config_id", "block", "rep", "seed", "run_key")
"""Columns of runs.csv before the parameters."""

TIMINGS = ("build_ms", "wall_ms", "steps_per_s")
"""Columns that differ from one execution to the next."""

MEASURED = ("status", "stop_reason", "ticks", "population", *TIMINGS)
"""Columns between the actions and the reducers."""

NOTE = "note"
"""The last column of runs.csv."""

SERIES_LEADING = ("run_id", "tick")
"""Columns of series.csv before the statistics."""

SUMMARY_LEADING = LEADING[1:3]
"""Columns of summary.csv before the parameters."""

SUMMARY_COUNTS = ("runs", "ok", "failed")
"""Columns of summary.csv behind the actions, before the mean of the ticks."""

STATISTICS = ("mean", "sd", "n", "ci95_low", "ci95_high")
"""What summary.csv says of each reducer, as ``REDUCER:mean`` and so on."""

SUMMARY_TICKS = "ticks:mean"
"""Column of summary.csv before the reducers."""

ACTION = "action."
"""Beginning of the column that holds the tick of an action, before its name."""

FILE_COLUMNS = (*LEADING, *MEASURED, NOTE, *SUMMARY_COUNTS, SUMMARY_TICKS)
"""Columns that the tables of runs and of configs have beside parameters, actions and reducers."""


def resolve_column(name: str, columns: Sequence[str]) -> str | None:
    """Return the column of `columns` that `name` means, None when there is none.

    The exact name wins; a bare vector label means its magnitude, a bare histogram label its total.
    """
    for candidate in (name, f"{name}.magnitude", f"{name}.total"):
        if candidate in columns:
            return candidate
    return None


def default_columns(columns: Sequence[str], labels: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that get the default reducers: all but the buckets of histograms, in order.

    Args:
        columns: Every stat column.
        labels: Labels of the model's statistics.
    """
    histograms = [label for label in labels if f"{label}.total" in columns]
    return tuple(
        column
        for column in columns
        if not any(column.startswith(f"{label}.") and column != f"{label}.total" for label in histograms)
    )


def names_a_statistic(name: str, labels: Iterable[str]) -> bool:
    """Return whether `name` can name a column of one of the statistics `labels`, as far as labels tell."""
    return any(name == label or name.startswith(f"{label}.") for label in labels)
