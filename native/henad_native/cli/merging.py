"""`henad merge`: folders of shards joined into one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import henad_web as hw
from henad_native.cli.choices import Force
from henad_native.cli.consoles import message_console, print_line, result_console
from henad_native.cli.exits import ExitCode
from henad_native.cli.texts import merged_line

__all__ = ["merge_command"]


def merge_command(
    inputs: Annotated[list[Path], typer.Argument(metavar="DIR...", help="The folders of the shards, in any order.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="An empty or new folder for the whole.")],
    force: Force = False,
) -> None:
    """Merge shards of one sweep into the folder that the whole sweep would have left.

    Exits 3 when runs are missing; `henad resume` on the new folder runs them.
    """
    console = message_console()
    report = hw.merge(inputs, out, lambda warning: print_line(console, f"warning: {warning}"), force=force)
    print_line(result_console(), merged_line(report, len(inputs)))
    is_whole = not report.missing and report.counts.ok == report.counts.rows
    raise typer.Exit(ExitCode.FINE if is_whole else ExitCode.RUNS_NOT_OK)
