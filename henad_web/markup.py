"""HTML of what shows itself in a notebook or a report: facts, tables and notes.

Owns how they look and that every text in them is escaped: names, notes and paths come from users and models. What is
said is the business of whoever calls.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

from numpy.typing import NDArray

from henad_web.errors import counted

__all__ = ["SHOWN_COLUMNS", "SHOWN_ROWS", "escaped", "facts_html", "notes_html", "seen", "short_text", "table_html"]

SHOWN_ROWS = 40
"""Rows of a table that are shown; the rest is counted."""

SHOWN_COLUMNS = 40
"""Columns of a table that are shown; the rest is counted."""

_CAPTION = '<caption style="caption-side: top; text-align: left; font-weight: bold">'
_LEFT = ' style="text-align: left"'
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
"""What no document may hold: control characters, and halves of pairs that UTF-8 cannot write."""


def escaped(text: object) -> str:
    """Return `text` as HTML shows it as it is, in an element or in a quoted attribute."""
    return html.escape(seen(text))


def seen(text: object) -> str:
    """Return `text` with a sign in the place of each character that no document may hold."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", str(text))


def facts_html(title: str, facts: Iterable[tuple[str, str]], notes: Iterable[str] = ()) -> str:
    """Return a table of `facts`, each a label and what it says; a text of several lines keeps them.

    Args:
        title: What they are about.
        facts: Labels and texts; a fact without text is left out.
        notes: Sentences below.
    """
    rows = "".join(
        f'<tr><th scope="row"{_LEFT}>{escaped(label)}</th>'
        f'<td style="text-align: left; white-space: pre-wrap">{escaped(text)}</td></tr>'
        for label, text in facts
        if text
    )
    return f"<table>{_CAPTION}{escaped(title)}</caption><tbody>{rows}</tbody></table>{notes_html(notes)}"


def table_html(title: str, names: Sequence[str], columns: Sequence[NDArray[Any]], *, notes: Iterable[str] = ()) -> str:
    """Return a table of the first `SHOWN_ROWS` rows and `SHOWN_COLUMNS` columns; what is more is counted below.

    Args:
        title: What it is about.
        names: Names of the columns.
        columns: Their values, each ``(rows,)``.
        notes: Sentences below.
    """
    rows = zip(*(map(short_text, column[:SHOWN_ROWS].tolist()) for column in columns[:SHOWN_COLUMNS]), strict=True)
    head = "".join(f'<th scope="col">{escaped(name)}</th>' for name in names[:SHOWN_COLUMNS])
    body = "".join(f"<tr>{''.join(f'<td>{escaped(cell)}</td>' for cell in row)}</tr>" for row in rows)
    table = f"<table>{_CAPTION}{escaped(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    left = ((len(columns[0]) - SHOWN_ROWS, "more row"), (len(names) - SHOWN_COLUMNS, "more column"))
    more = [f"and {counted(number, what, grouped=True)}" for number, what in left if number > 0]
    return f"{table}{notes_html((*more, *notes))}"


def short_text(value: object) -> str:
    """Return a value of a table as it is shown: five digits of a fraction, nothing for NaN."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.5g}"
    return str(value)


def notes_html(notes: Iterable[str]) -> str:
    """Return a paragraph for each of `notes`."""
    return "".join(f"<p>{escaped(note)}</p>" for note in notes)
