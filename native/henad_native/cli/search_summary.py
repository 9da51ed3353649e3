"""What a finished search prints of its results: the ranking, the front, or which cells were met.

Reads best.csv as text and the archive as the record has it. Computes no objective: those in the file are shown.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table

from henad_native.cli.summary import short_number
from henad_web.explore.columns import BEST_LEADING, BEST_MEMBER, BEST_OBJECTIVE, BEST_SCORE
from henad_web.wording import amount, objective_text

if TYPE_CHECKING:
    from henad_web.explore.search_spec import AxisSpec
    from henad_web.run.outline import SearchOutline
    from henad_web.search.pattern import ArchiveEntry

__all__ = ["coverage_lines", "ranking_table", "ranking_title"]

MAX_CANDIDATES = 12
"""Candidates shown; the file has them all."""

MAX_CELLS = 64
"""Cells of an axis that a terminal has room for; two axes with more are counted alone."""

MAX_HITS = 9
"""Hits of a cell that a digit tells."""


def ranking_title(search: SearchOutline) -> str:
    """Return the line above the ranking: what it is by."""
    kind, objectives = ("front", search.objectives) if search.objectives else ("ranking", (search.objective,))
    by = ", ".join(objective_text(objective) for objective in objectives if objective is not None)
    return f"{kind}: {by}" if by else kind


def ranking_table(text: str, search: SearchOutline) -> Table | None:
    """Return a table of the leaders in `text`, the content of a best.csv; None where no candidate was told.

    Shown are what the search varied, and what the candidates came to.
    """
    header, *rows = csv.reader(io.StringIO(text))
    if not rows:
        return None
    table = Table(box=SIMPLE_HEAD)
    trailing = len(search.objectives) + len(BEST_MEMBER) if search.objectives else len(BEST_SCORE)
    scores = range(len(header) - trailing, len(header))
    varied = {factor.name for factor in search.space}
    configs = [column for column in range(len(BEST_LEADING), scores.start) if header[column] in varied]
    columns = [*range(len(BEST_LEADING)), *configs, *scores]
    for column in columns:
        table.add_column(_title(header[column]), justify="right", overflow="fold")
    for row in rows[:MAX_CANDIDATES]:
        table.add_row(*(_cell(row[column]) for column in columns))
    if len(rows) > MAX_CANDIDATES:
        table.caption = f"and {amount(len(rows) - MAX_CANDIDATES, 'more candidate')} in best.csv"
    return table


def coverage_lines(archive: Sequence[ArchiveEntry], axes: tuple[AxisSpec, AxisSpec]) -> Iterator[str]:
    """Yield how many cells of `archive` were met, and a map of them where a terminal has room for one.

    Args:
        archive: The cells that were met.
        axes: The axis to the right, and the one upwards.
    """
    x_axis, y_axis = axes
    cells = x_axis.cells * y_axis.cells
    yield f"archive: {len(archive):,} of {amount(cells, 'cell')} met ({100.0 * len(archive) / cells:.1f} %)"
    if max(x_axis.cells, y_axis.cells) > MAX_CELLS:
        return
    hits = {entry.cell: entry.hits for entry in archive}
    for y in reversed(range(y_axis.cells)):
        yield "  " + "".join(_mark(hits.get((x, y))) for x in range(x_axis.cells))
    yield f"  to the right {x_axis.column}, upwards {y_axis.column}; hits of a cell, + for more than {MAX_HITS}"


def _title(column: str) -> str:
    return column.removeprefix(f"{BEST_OBJECTIVE}.").removeprefix("pooled_").removesuffix("_id").replace("_", " ")


def _cell(text: str) -> str:
    """Return a cell as the file has it, with fewer digits where it is a fraction."""
    try:
        return text if text.lstrip("-").isdecimal() else short_number(text)
    except ValueError:
        return text


def _mark(hits: int | None) -> str:
    if hits is None:
        return "."
    return str(hits) if hits <= MAX_HITS else "+"
