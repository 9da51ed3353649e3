"""The two places the command prints to: results on standard output, everything else on standard error."""

from __future__ import annotations

import sys

from rich.console import Console

__all__ = ["message_console", "print_line", "result_console"]

PIPE_WIDTH = 160
"""Columns of a table that goes to a file or a pipe, which have no width of their own."""


def result_console() -> Console:
    """Return the console of what was asked for.

    A table's cells are printed as they are: a text of a model or a study may hold brackets and colons.
    """
    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, markup=False, emoji=False)


def message_console() -> Console:
    """Return the console of progress, warnings and failures."""
    return Console(stderr=True)


def print_line(console: Console, line: str) -> None:
    """Print `line` as it is: unwrapped, its brackets and numbers left alone."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)
