"""`henad check`: whether a model keeps the rules by which equal studies have equal results."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from henad_native.cli.choices import BadOption, Models
from henad_native.cli.consoles import ExitCode, print_line, result_console
from henad_native.cli.model_sets import load_entry
from henad_native.other_process import follow_elsewhere
from henad_web.errors import ParamError, UsageError
from henad_web.testing import check_model

__all__ = ["check_command"]


def check_command(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model's id, or MODULE:NAME, or a file.")],
    models: Models = None,
    values: Annotated[
        list[str] | None, typer.Option("--set", metavar="PARAM=VALUE", help="A value to check with; may be repeated.")
    ] = None,
    exempt: Annotated[
        list[str] | None,
        typer.Option("--exempt", metavar="RULE=REASON", help="A rule it is to break, and why; may be repeated."),
    ] = None,
    ticks: Annotated[int, typer.Option("--ticks", metavar="N", help="Length of a run.")] = 20,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Seed of the run that others are compared with.")
    ] = 1,
    fingerprint: Annotated[
        str | None, typer.Option("--fingerprint", metavar="HEX", help="That of a check on another target, to equal.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Check whether MODEL keeps the rules by which equal studies have equal results; exit code 1 if it does not."""
    try:
        report = check_model(
            load_entry(model, models),
            params=_pairs("--set", values),
            ticks=ticks,
            seed=seed,
            exempt=_pairs("--exempt", exempt),
            fingerprint=fingerprint,
            other_process=follow_elsewhere,
        )
    except (ParamError, UsageError) as error:
        raise BadOption("henad check", str(error)) from error
    console = result_console()
    if as_json:
        print_line(console, msgspec.json.format(msgspec.json.encode(report), indent=2).decode())
    else:
        print_line(console, str(report))
        print_line(console, f"  fingerprint: {report.fingerprint or 'none'}")
    raise typer.Exit(ExitCode.FINE if report.is_ok else ExitCode.ERROR)


def _pairs(option: str, given: list[str] | None) -> dict[str, str]:
    pairs = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not sign:
            raise BadOption(option, f"'{text}' has no =; write NAME=VALUE")
        pairs[name.strip()] = value
    return pairs
