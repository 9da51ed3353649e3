"""Names of stat columns: which one a spec means, and which ones get reducers by default.

A scalar statistic is one column named by its label; a vector is ``Label.x``, ``Label.y``,
``Label.magnitude``; a histogram is ``Label.total`` and one column a bucket (reference engine, section 3.5).
Values are not looked at here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["default_columns", "names_a_statistic", "resolve_column"]


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
