"""How a command answers: results on standard output, everything else on standard error, and an exit code.

A script may rely on the codes.
"""

from __future__ import annotations

import sys
from enum import IntEnum

from rich.console import Console

__all__ = [
    "ExitCode",
    "message_console",
    "print_line",
    "result_console",
]


class ExitCode(IntEnum):
    """How a command ended."""

    FINE = 0
    """Everything was done and every run is ok."""
    ERROR = 1
    """Something stopped the command: a bad spec, an output that cannot be written, an abort."""
    BAD_COMMAND_LINE = 2
    """The command line itself was wrong; nothing was looked at."""
    RUNS_NOT_OK = 3
    """The sweep is complete, and some run of it is not ok."""


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
