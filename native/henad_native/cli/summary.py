"""What a finished sweep prints of its results: a small table of the configs; and the files, a search's too.

Reads summary.csv as text. Computes no statistic: those in the file are the ones shown.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table

from henad_web.explore.columns import SUMMARY_COUNTS, SUMMARY_LEADING, main_reducers
from henad_web.output.record import non_finite_runs
from henad_web.wording import byte_text

__all__ = ["TITLE", "short_number", "summary_table", "written_files"]

TITLE = "summary: mean ± standard deviation over the replicates"
"""The line above the table, which a title would wrap to the table's width."""

MAX_ROWS = 24
"""Configs shown; the file has them all."""

MAX_REDUCERS = 4
"""Reducers shown; the file has them all."""

FILES = {
    "runs.csv": "one row a run: its parameters, seed, status and reducers",
    "series.csv": "the samples of every run",
    "summary.csv": "one row a config: means, deviations and intervals over its runs",
    "manifest.json": "the spec, the plan and where this ran",
    "evaluations.csv": "one row a candidate that was tried: where it came from, what it came to",
    "batches.csv": "one row a batch: where the search stood behind it",
    "generations.csv": "one row a generation: its best, median and worst",
    "best.csv": "the ranking",
    "archive.csv": "one row a cell that was met: its hits and its first candidate",
}


def summary_table(text: str) -> Table | None:
    """Return a table of the configs in `text`, the content of a summary.csv; None when no config has a run.

    Shown are what varies between the configs, the runs, and the mean and standard deviation of a few
    reducers: the final values where the sweep has them, else the first ones.
    """
    header, *rows = csv.reader(io.StringIO(text))
    if not rows:
        return None
    table = Table(box=SIMPLE_HEAD)
    varying = [index for index in _identity_columns(header) if len({row[index] for row in rows}) > 1]
    reducers = _shown_reducers(header)
    counted = _counted(header, rows)
    for name in [*(header[index] for index in varying), *counted, *reducers]:
        table.add_column(name, justify="right", overflow="fold")  # a narrow terminal must not cut numbers
    for position, row in enumerate(rows[:MAX_ROWS]):
        cells = dict(zip(header, row, strict=True))
        shown = [_shortened(cells[f"{name}:mean"], cells[f"{name}:sd"]) for name in reducers]
        counts = [str(numbers[position]) for numbers in counted.values()]
        table.add_row(*(row[index] for index in varying), *counts, *shown)
    if len(rows) > MAX_ROWS:
        table.caption = f"and {len(rows) - MAX_ROWS} more configs in summary.csv"
    return table


def _identity_columns(header: Sequence[str]) -> range:
    """Return the columns of the parameters and actions: between the block and the counts."""
    for index in range(len(SUMMARY_LEADING), len(header)):
        if tuple(header[index : index + len(SUMMARY_COUNTS)]) == SUMMARY_COUNTS:
            return range(len(SUMMARY_LEADING), index)
    return range(0)


def _counted(header: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, list[int]]:
    """Return the counts that are shown, by name: runs that met a value which is not finite only where there are any."""
    start = _identity_columns(header).stop
    counts = [[int(cell) for cell in row[start : start + len(SUMMARY_COUNTS)]] for row in rows]
    runs, failed = [count[0] for count in counts], [count[2] for count in counts]
    non_finite = [non_finite_runs(*count) for count in counts]
    return {"runs": runs, "failed": failed} | ({"non-finite": non_finite} if any(non_finite) else {})


def _shown_reducers(header: Sequence[str]) -> list[str]:
    names = [name.removesuffix(":ci95_low") for name in header if name.endswith(":ci95_low")]
    return list(main_reducers(names, MAX_REDUCERS))


def _shortened(mean: str, deviation: str) -> str:
    if not mean:
        return ""
    return f"{short_number(mean)} ± {short_number(deviation)}" if deviation else short_number(mean)


def short_number(text: str) -> str:
    """Return a number of a file with four digits, or as many as stand before its point.

    Raises:
        ValueError: `text` is no number.
    """
    value = float(text)
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def written_files(folder: Path) -> Iterator[str]:
    """Yield a line for each result file of `folder`: its path, its size and what is in it."""
    found = [name for name in FILES if (folder / name).is_file()]
    width = max(map(len, found), default=0)
    for name in found:
        path, meaning = folder / name, FILES[name]
        yield f"  {name:<{width}}  {byte_text(path.stat().st_size):>10}  {meaning}"
