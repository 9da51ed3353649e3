"""`henad analyze`: what the runs of a folder come to, and which factors matter for it.

Also reads what questions on a command line name: runs by the values of their factors.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import henad_web as hw
from henad_native.cli.choices import BadOption
from henad_native.cli.consoles import message_console, print_line
from henad_web.analysis.selection import Held, factor_names, find_factor, main_measures
from henad_web.analysis.sensitivity import Method
from henad_web.analysis.tables import AnalysisTable, Column
from henad_web.errors import UsageError
from henad_web.model.decimals import whole_text
from henad_web.results.facts import search_facts

__all__ = ["At", "Hold", "MAIN_MEASURES", "ResultsPath", "analyze_command", "held_of"]

MAIN_MEASURES = "of each statistic the final value, or where no run differs in it another reducer"
"""Which are taken where none is named, for helps."""

MOST_MEASURES = 4
"""Reducers that are looked at when none is named."""

ResultsPath = Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results, or a zip of one.")]
Hold = Annotated[
    list[str] | None,
    typer.Option("--hold", metavar="FACTOR=VALUE[,...]", help="Only runs with any of these values; may be repeated."),
]
At = Annotated[int | None, typer.Option("--at", metavar="TICK", min=0, help="Take Y, a statistic, at this tick.")]

_WORDS = {"true": True, "false": False}


def analyze_command(
    path: ResultsPath,
    y: Annotated[
        list[str] | None,
        typer.Argument(metavar="[Y]...", help=f"Reducers such as Infected:max; without any {MAIN_MEASURES}."),
    ] = None,
    method: Annotated[
        Method | None, typer.Option("--method", help="How to measure what factors do; else what fits the design.")
    ] = None,
    hold: Hold = None,
    at: At = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the numbers of one Y as CSV.")] = False,
) -> None:
    """Say which factors matter for Y: Sobol' indices, elementary effects, main effects or a regression.

    Where nothing varies, and of a search, it says what the runs come to.
    """
    if as_json and as_csv:
        raise BadOption("--csv", "it does not go with --json; give one of them")
    if as_csv and len(y or ()) != 1:
        raise BadOption("--csv", "it prints one table; name one Y")
    results = hw.ResultSet.open(path)
    names = y or _main(results, at)
    held = held_of(results, "--hold", hold)
    tables = [_answer(results, name, method, held, at) for name in names]
    if as_json:
        sys.stdout.write(json.dumps([_document(table) for table in tables], indent=2) + "\n")
    elif as_csv:
        sys.stdout.writelines(table.to_csv() for table in tables)
    else:
        sys.stdout.write("\n\n".join([*_search_lines(results), *map(str, tables)]) + "\n")
    if results.missing_line is not None:
        print_line(message_console(), f"note: {results.missing_line}")


def held_of(results: hw.ResultSet, option: str, texts: Sequence[str] | None) -> Held:
    """Return the values of factors that `texts`, each ``FACTOR=VALUE`` or ``FACTOR=VALUE,VALUE``, name, all together.

    Raises:
        BadOption: A text is of another form, names a second factor, or a value is none of its factor's kind.
        UsageError: There is no such factor.
    """
    held: dict[str, list[float | int | bool | str]] = {}
    for text in texts or ():
        name, sign, values = text.partition("=")
        if not sign:
            raise BadOption(option, f"{whole_text(text)} has no =; write FACTOR=VALUE")
        levels = find_factor(results, name).values
        # A name may hold a comma.
        parts = [values] if values in levels.tolist() else values.split(",")
        for part in parts:
            if part not in levels.tolist() and part.partition("=")[0] in factor_names(results):
                raise BadOption(option, f"{whole_text(part)} is of a second factor; repeat {option} for it")
        held.setdefault(name, []).extend(_value(option, name, part, levels) for part in parts)
    return held


def _value(option: str, name: str, text: str, levels: Column) -> float | int | bool | str:
    """Return `text` as a value of the kind that `levels` are of."""
    kind = levels.dtype.kind
    if kind == "b" and text in _WORDS:
        return _WORDS[text]
    try:
        if kind == "f":
            return float(text)
        if kind in "iu":
            return int(text)
    except ValueError as error:
        raise BadOption(option, f"{whole_text(text)} is no value of {name}; its values are numbers") from error
    if kind == "b":
        raise BadOption(option, f"{whole_text(text)} is no value of {name}; allowed: true or false")
    return text


def _main(results: hw.ResultSet, at: int | None) -> tuple[str, ...]:
    if at is not None:
        return results.stat_columns[:MOST_MEASURES]
    return main_measures(results, MOST_MEASURES) or ("ticks",)


def _answer(results: hw.ResultSet, y: str, method: Method | None, held: Held, at: int | None) -> AnalysisTable:
    """Return what factors do to `y`; where that was not asked for and cannot be said, what the runs come to."""
    if results.is_search and method is None:
        return results.summarize(y, by=(), held=held, at=at)
    try:
        return results.sensitivity(y, method=method, held=held, at=at)
    except UsageError as error:
        if method is not None:
            raise
        table = results.summarize(y, held=held, at=at)
        print_line(message_console(), f"note: {error}")
        return table


def _search_lines(results: hw.ResultSet) -> Iterator[str]:
    if results.search is not None:
        yield "\n".join(f"{label}: {text}" for label, text in search_facts(results.search) if text)


def _document(table: AnalysisTable) -> dict[str, object]:
    columns = {name: [_plain(value) for value in column.tolist()] for name, column in table.columns().items()}
    return {"title": table.title, "columns": columns, "lines": list(table.lines)}


def _plain(value: object) -> object:
    # JSON has no word for what is not finite.
    return None if isinstance(value, float) and not np.isfinite(value) else value
