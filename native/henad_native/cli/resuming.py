"""`henad resume`, `verify` and `merge`: what is done with folders of results, or zips of them, that are there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import henad_web as hw
from henad_native.cli.choices import (
    BadOption,
    Batches,
    Concurrent,
    Force,
    LaneChoice,
    Lanes,
    Memory,
    Models,
    OnFullDisk,
    Quiet,
    RetryFailed,
    given_options,
)
from henad_native.cli.consoles import ExitCode, message_console, print_line, result_console
from henad_native.cli.executors import ExecutorName, made_executor
from henad_native.cli.model_sets import load_models
from henad_native.cli.running import exit_code, report, swept, told_when_stopped
from henad_native.cli.texts import merged_line
from henad_native.directory import DirectoryStore
from henad_native.unpacking import default_directory, is_archive_file, unpack_results
from henad_web.output.manifest import Manifest
from henad_web.output.names import RUNS, SERIES
from henad_web.results.recorded import MISSING_SERIES
from henad_web.resume.checks import read_manifest
from henad_web.wording import henad_command, models_named

__all__ = [
    "merge_command",
    "resume_command",
    "verify_command",
]


def merge_command(
    inputs: Annotated[list[Path], typer.Argument(metavar="DIR...", help="The folders of the shards, in any order.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="An empty or new folder for the whole.")],
    force: Force = False,
) -> None:
    """Merge shards of one sweep into the folder that the whole sweep would have left.

    Exits 3 when runs are missing; `henad resume` on the new folder runs them.
    """
    console = message_console()
    report = hw.merge(
        inputs,
        out,
        options=hw.SweepRunOptions(force=force),
        progress=lambda warning: print_line(console, f"warning: {warning}"),
    )
    print_line(result_console(), merged_line(report, len(inputs)))
    is_whole = not report.missing and report.counts.ok == report.counts.rows
    raise typer.Exit(ExitCode.FINE if is_whole else ExitCode.RUNS_NOT_OK)


def verify_command(
    path: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results, or a zip of one.")],
    runs: Annotated[int, typer.Option("--runs", metavar="N", min=1, help="How many runs; the plan decides which.")] = 5,
    run_ids: Annotated[
        list[int] | None, typer.Option("--run", metavar="ID", min=0, help="This run instead; may be repeated.")
    ] = None,
    models: Models = None,
) -> None:
    """Run some recorded runs of DIR again and compare every result; exits 1 when one differs."""
    results = hw.ResultSet.open(path, models=load_models(models))
    _found(lambda: results.entry, results.manifest, "verify", path)
    report = hw.verify_results(results, runs=runs, run_ids=run_ids or None)
    print(report)
    raise typer.Exit(ExitCode.FINE if report.is_equal else ExitCode.ERROR)


def resume_command(
    path: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of results, or a zip of one.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="For a zip: an empty or new folder; else one beside it, of its name."
        ),
    ] = None,
    retry_failed: RetryFailed = False,
    concurrent: Concurrent = None,
    lanes: Lanes = LaneChoice.AUTO,
    memory: Memory = None,
    models: Models = None,
    force: Force = False,
    on_full: OnFullDisk = hw.OnFull.WAIT,
    batches: Batches = True,
    executor: ExecutorName = None,
    quiet: Quiet = False,
) -> None:
    """Run the runs that the results in DIR lack, so that it becomes what an uninterrupted sweep leaves.

    A zip, such as the page saves, is unpacked into a folder first and stays as it is.

    Runs that timed out are done again, runs that failed with --retry-failed. For more replicates or another timeout,
    change the spec file and use `henad run SPEC --out DIR --resume`.
    """
    given = given_options(concurrent, memory, lanes=lanes, retry_failed=retry_failed, force=force, on_full=on_full)
    with told_when_stopped(path if out is None else out, models):
        known = load_models(models)
        directory = _unpacked(path, out)
        store = DirectoryStore(directory, force=force)
        store.check_existing()
        manifest = read_manifest(store)
        entry = _found(lambda: known.lookup(manifest.model.id), manifest, "resume", directory)
        if store.holds(RUNS) and not store.holds(SERIES):
            print_line(message_console(), f"{path}: {MISSING_SERIES}")
        with made_executor(executor, lanes) as lent:
            options = hw.SweepRunOptions(batches=batches, executor=lent, **given)
            record = swept(entry, partial(hw.resume_sweep, entry, directory, options=options), quiet=quiet)
        report(record, models, quiet=quiet)
    raise typer.Exit(exit_code(record.report))


def _found(look: Callable[[], hw.ModelEntry], manifest: Manifest, verb: str, path: Path) -> hw.ModelEntry:
    """Return the model that `look` finds.

    Raises:
        UsageError: It is none of those known; the message has the command that names its file as the sweep did.
    """
    try:
        return look()
    except hw.UnknownModelError as error:
        command = henad_command(verb, str(path), models=models_named(manifest) or "FILE")
        raise hw.UsageError(f"{error.wrong}; name the file of this one: `{command}`") from error


def _unpacked(path: Path, out: Path | None) -> Path:
    """Return the folder to go on with: `path`, or where the zip there was unpacked to."""
    if is_archive_file(path):
        return unpack_results(path, out or default_directory(path))
    if out is not None:
        raise BadOption("--out", f"{path} is no zip; a folder is gone on with where it is")
    return path
