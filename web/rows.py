"""The rows of the finished runs as text: columns, cells and markup.

Owns no element. `table` puts what this makes into the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from study import Study
from wording import number_text

from henad_web.explore.outcomes import RunOutcome

__all__ = ["Columns", "head_markup", "row_markup"]

MOST_REDUCERS = 4


@dataclass(frozen=True, slots=True)
class Columns:
    """What the table shows of each run beside its ids and status: factor names and reducer columns."""

    factors: tuple[str, ...]
    reducers: tuple[str, ...]

    @classmethod
    def of(cls, study: Study, reducer_columns: Sequence[str]) -> Columns:
        """Choose the final values of the statistics, then the reducers a spec asks for."""
        finals = tuple(name for name in reducer_columns if name.endswith(":final"))
        asked = tuple(name for name in reducer_columns if name.rpartition(":")[2] not in _DEFAULTS)
        return cls(study.factors, (*finals, *asked)[:MOST_REDUCERS])


_DEFAULTS = ("final", "min", "max", "mean")


def head_markup(columns: Columns) -> str:
    """Return the head row as markup."""
    numbers = ("Run", "Config", "Rep", *columns.factors, *columns.reducers, "Ticks", "Time, ms")
    cells = [f'<th scope="col">{escape(name)}</th>' for name in numbers]
    cells += [f'<th scope="col" class="words">{name}</th>' for name in ("Status", "Ended by", "Note")]
    return f"<tr>{''.join(cells)}</tr>"


def row_markup(outcome: RunOutcome, study: Study, columns: Columns) -> str:
    """Return one run as a row of markup; its run id is in ``data-run`` of the row."""
    run = outcome.run
    numbers: list[object] = [run.config_id, run.rep]
    numbers += [study.level(run.config_id, factor) for factor in columns.factors]
    numbers += [outcome.reducers.get(name) for name in columns.reducers]
    numbers += [outcome.ticks, f"{outcome.wall_ms:.1f}"]
    cells = [f'<td><button type="button">{run.run_id}</button></td>']
    cells += [f"<td>{escape(number_text(value))}</td>" for value in numbers]
    cells += [f'<td class="words">{escape(text)}</td>' for text in (outcome.status, outcome.stop_reason)]
    cells.append(f'<td class="note">{escape(outcome.note)}</td>')
    kind = "failed" if outcome.status.is_failure else "good"
    return f'<tr data-run="{run.run_id}" class="{kind}">{"".join(cells)}</tr>'
