"""Names of columns: those that the tables of sweeps and searches have, and which stat column a spec means or reduces.

No other module spells a header.

A scalar statistic is one column named by its label; a vector is ``Label.x``, ``Label.y``,
``Label.magnitude``; a histogram is ``Label.total`` and one column a bucket (reference engine, section 3.5).
Values are not looked at here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = [
    "ACTION",
    "ARCHIVE_LEADING",
    "ARCHIVE_OUTPUTS",
    "BATCH_ARCHIVE",
    "BATCH_BEST",
    "BATCH_FRONT",
    "BATCH_LEADING",
    "BEST_LEADING",
    "BEST_OBJECTIVE",
    "BEST_MEMBER",
    "BEST_SCORE",
    "EVALUATION_LEADING",
    "EVALUATION_OBJECTIVES",
    "EVALUATION_SCORE",
    "EVALUATION_PLACE",
    "FILE_COLUMNS",
    "FRONT_GENERATION_EACH",
    "FRONT_GENERATION_LEADING",
    "GENERATION",
    "LEADING",
    "MEASURED",
    "NOTE",
    "REACHED",
    "SERIES_LEADING",
    "STATISTICS",
    "SUMMARY_COUNTS",
    "SUMMARY_LEADING",
    "SUMMARY_TICKS",
    "TIMINGS",
    "UNTIL",
    "default_columns",
    "each_column",
    "main_reducers",
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

UNTIL = ("until_low", "until_high")
"""What summary.csv says of each column that adaptive replicates go by, as ``REDUCER:until_low`` and so on."""

REACHED = "until_reached"
"""Last column of summary.csv where replicates are adaptive."""

SUMMARY_TICKS = "ticks:mean"
"""Column of summary.csv before the reducers."""

ACTION = "action."
"""Beginning of the column that holds the tick of an action, before its name."""

EVALUATION_LEADING = (
    *("candidate_id", "batch", "origin", "first_parent_id", "second_parent_id", "reevaluated_id"),
    *("replicate_offset", "replicates"),
)
"""Columns of evaluations.csv before the parameters."""

EVALUATION_SCORE = ("failed", "objective", "pooled_objective", "pooled_replicates")
"""Columns of evaluations.csv behind the actions, of a search for an objective."""

EVALUATION_OBJECTIVES = ("objective", "pooled_objective")
"""What `EVALUATION_SCORE` has once, and a search for several objectives for each of them."""

EVALUATION_PLACE = ("failed", "x", "y", "x_index", "y_index", "outside", "new_cell")
"""The same of a search for patterns."""

BATCH_LEADING = ("batch", "evaluations", "runs")
"""Columns of batches.csv that every search has."""

BATCH_BEST = ("best_candidate_id", "best_objective")
"""Columns of batches.csv behind them, of a search for an objective."""

BATCH_FRONT = ("front_size",)
"""The same of a search for several objectives."""

BATCH_ARCHIVE = ("filled_cells",)
"""The same of a search for patterns."""

GENERATION = ("generation", "best", "median", "worst")
"""Columns of generations.csv."""

FRONT_GENERATION_LEADING = ("generation", "members", "front_size")
"""The same of a search for several objectives."""

FRONT_GENERATION_EACH = ("best", "median", "worst")
"""What follows them for each objective."""

BEST_LEADING = ("rank", "candidate_id")
"""Columns of best.csv before the parameters."""

BEST_SCORE = ("pooled_objective", "pooled_replicates", "pooled_failed", "evaluations", "first_batch")
"""Columns of best.csv behind the actions."""

BEST_OBJECTIVE = "pooled_objective"
BEST_MEMBER = ("crowding_distance", "pooled_replicates", "pooled_failed", "evaluations", "first_batch")
"""The same of a search for several objectives: the first for each of them, then the others."""

ARCHIVE_LEADING = ("x_index", "y_index", "x_min", "x_max", "y_min", "y_max", "hits", "candidate_id")
"""Columns of archive.csv before the parameters."""

ARCHIVE_OUTPUTS = ("x", "y")
"""Columns of archive.csv behind the actions."""

FILE_COLUMNS = (*LEADING, *MEASURED, NOTE, *SUMMARY_COUNTS, SUMMARY_TICKS, REACHED)
"""Columns that the tables of runs and of configs have beside parameters, actions and reducers."""


def resolve_column(name: str, columns: Sequence[str]) -> str | None:
    """Return the column of `columns` that `name` means, None when there is none.

    The exact name wins; a bare vector label means its magnitude, a bare histogram label its total.
    """
    for candidate in (name, f"{name}.magnitude", f"{name}.total"):
        if candidate in columns:
            return candidate
    return None


def each_column(name: str, columns: Iterable[str]) -> tuple[str, ...]:
    """Return ``name.COLUMN`` for each of the objectives' `columns`."""
    return tuple(f"{name}.{column}" for column in columns)


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


def main_reducers(names: Sequence[str], most: int) -> tuple[str, ...]:
    """Return the first of the reducer columns `names` that stand for all where there is room for `most`.

    These are final values where there are any.
    """
    final = [name for name in names if name.endswith(":final")]
    return tuple((final or list(names))[:most])


def names_a_statistic(name: str, labels: Iterable[str]) -> bool:
    """Return whether `name` can name a column of one of the statistics `labels`, as far as labels tell."""
    return any(name == label or name.startswith(f"{label}.") for label in labels)
