"""The rows of the finished runs as text: columns, cells and markup.

Owns no element. `table` puts what this makes into the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from study import Study
from wording import GAP_MARK, number_text

from henad_web.explore.outcomes import RunOutcome, RunStatus

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
    cells = [_head_cell(name) for name in ("Run", "Config", "Rep")]
    cells.append(_head_cell("Status", "words"))
    cells += [_head_cell(name) for name in (*columns.factors, *columns.reducers, "Ticks")]
    cells += [_head_cell("Ended by", "words"), _head_cell("Time, ms"), _head_cell("Note", "words")]
    return f"<tr>{''.join(cells)}</tr>"


def row_markup(outcome: RunOutcome, study: Study, columns: Columns) -> str:
    """Return one run as a row of markup; its run id is in ``data-run`` of the row."""
    run = outcome.run
    mark = GAP_MARK if outcome.status is RunStatus.NON_FINITE else ""
    numbers = [study.level(outcome.config, factor) for factor in columns.factors]
    numbers += [f"{text}{mark}" if text else "" for text in _reduced(outcome, columns)]
    cells = [f'<td><button type="button">{run.run_id}</button></td>', _cell(run.config_id), _cell(run.rep)]
    cells.append(_cell(outcome.status, "words"))
    cells += [_cell(number) for number in (*numbers, outcome.ticks)]
    cells += [_cell(outcome.stop_reason, "words"), _cell(f"{outcome.wall_ms:.1f}"), _cell(outcome.note, "note")]
    kind = "failed" if outcome.status.is_failure else "gap" if mark else "good"
    return f'<tr data-run="{run.run_id}" class="{kind}">{"".join(cells)}</tr>'


def _reduced(outcome: RunOutcome, columns: Columns) -> list[str]:
    return [number_text(outcome.reducers.get(name)) for name in columns.reducers]


def _head_cell(name: str, kind: str = "number") -> str:
    # Long names may break after their separators, so that the table fits.
    text = escape(name).replace("_", "_<wbr>").replace(":", ":<wbr>")
    return f'<th scope="col" class="{kind}">{text}</th>'


def _cell(value: object, kind: str = "number") -> str:
    return f'<td class="{kind}">{escape(str(value))}</td>'
