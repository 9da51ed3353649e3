"""Options that more than one command has, and what they say together.

Owns their names, helps and conflicts, and the error of a value that cannot be used. Runs nothing.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import henad_web as hw
from henad_web.errors import ConcurrencyError, HenadError, ShardError
from henad_web.run.layout import LaneKind, parse_concurrency

__all__ = [
    "BadOption",
    "Batches",
    "Concurrent",
    "Force",
    "LaneChoice",
    "Lanes",
    "Memory",
    "Models",
    "OnFullDisk",
    "Overwrite",
    "Quiet",
    "RetryFailed",
    "Reuse",
    "ShardText",
    "given_options",
]


class BadOption(HenadError):
    """A value on the command line that cannot be used. Carries the `option` it stood at."""

    def __init__(self, option: str, wrong: str) -> None:
        self.option = option
        super().__init__(f"{option}: {wrong}")


Batches = Annotated[
    bool, typer.Option("--batches/--no-batches", help="Step replicates of a config together where the model offers it.")
]
Concurrent = Annotated[
    str | None, typer.Option("--concurrent", metavar="N|auto", help="Runs at once; else the spec's, else auto.")
]


class LaneChoice(StrEnum):
    """Where lanes step their runs: one of the kinds, or whatever suits the sweep."""

    AUTO = "auto"
    PROCESS = LaneKind.PROCESS.value
    THREAD = LaneKind.THREAD.value
    IN_CALLER = LaneKind.IN_CALLER.value


Lanes = Annotated[
    LaneChoice, typer.Option("--lanes", help="Where lanes step their runs; in processes, a crash costs a row at most.")
]
Memory = Annotated[
    int | None, typer.Option("--memory", metavar="BYTES", min=1, help="Memory for all live runs together.")
]
Models = Annotated[
    str | None,
    typer.Option("--models", metavar="FILE.py|MODULE[:NAME]", help="Where the model is; else examples and packages."),
]
OnFullDisk = Annotated[
    hw.OnFull, typer.Option("--on-full", help="On a full disk: wait until there is room, or fail with exit code 1.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Let a sweep in DIR give way to this one, once this one has its first row.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only failures and the closing line.")]
ShardText = Annotated[
    str | None, typer.Option("--shard", metavar="I/N", help="Run only part I, from 0, of N; `henad merge` joins them.")
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Run the runs that failed again.")]
Reuse = Annotated[
    Path | None, typer.Option("--reuse", metavar="OLD_DIR", help="Copy the runs that OLD_DIR has instead of running.")
]
Force = Annotated[
    bool, typer.Option("--force", help="Take over a lock that a process on another host did not give back.")
]


def given_options(
    concurrent: str | None = None,
    memory: int | None = None,
    shard: str | None = None,
    reuse: Path | None = None,
    lanes: LaneChoice = LaneChoice.AUTO,
    *,
    retry_failed: bool = False,
    force: bool = False,
    on_full: hw.OnFull = hw.OnFull.WAIT,
) -> dict[str, Any]:
    """Return the fields of `henad_web.SweepRunOptions` that a command line sets.

    Raises:
        BadOption: A value cannot be used.
    """
    given: dict[str, Any] = {"retry_failed": retry_failed, "force": force, "reuse": reuse, "on_full": on_full}
    given["lanes"] = str(lanes)
    if concurrent is not None:
        try:
            given["concurrency"] = parse_concurrency(concurrent)
        except ConcurrencyError as error:
            raise BadOption("--concurrent", str(error)) from error
    if shard is not None:
        try:
            given["shard"] = hw.Shard.parse(shard)
        except ShardError as error:
            raise BadOption("--shard", str(error)) from error
    if memory is not None:
        given["memory_budget"] = memory
    return given
