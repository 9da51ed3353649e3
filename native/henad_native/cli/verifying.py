"""`henad verify`: some recorded runs run again and compared with what was written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import henad_web as hw
from henad_native.cli.choices import Models
from henad_native.cli.exits import ExitCode
from henad_native.cli.model_sets import load_models

__all__ = ["verify_command"]


def verify_command(
    path: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results, or a zip of one.")],
    runs: Annotated[int, typer.Option("--runs", metavar="N", min=1, help="How many runs; the plan decides which.")] = 5,
    run_ids: Annotated[
        list[int] | None, typer.Option("--run", metavar="ID", min=0, help="This run instead; may be repeated.")
    ] = None,
    models: Models = None,
) -> None:
    """Run some recorded runs of DIR again and compare every result; exits 1 when one differs."""
    report = hw.verify(path, runs, load_models(models), run_ids=run_ids or None)
    print(report)
    raise typer.Exit(ExitCode.FINE if report.is_equal else ExitCode.ERROR)
