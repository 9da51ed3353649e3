"""`henad resume`: a folder of results, or a zip of one, gone on with by its own spec."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import henad_web as hw
from henad_native.cli.choices import Concurrent, Force, Memory, Models, OnFullDisk, Quiet, RetryFailed, given_options
from henad_native.cli.consoles import message_console, print_line
from henad_native.cli.errors import BadOption
from henad_native.cli.model_sets import load_models
from henad_native.cli.running import exit_code, report, swept, told_when_stopped
from henad_native.directory import DirectoryStore
from henad_native.unpacking import default_directory, is_archive_file, unpack_results
from henad_web.output.names import RUNS, SERIES
from henad_web.results.recorded import MISSING_SERIES
from henad_web.resume.checks import read_manifest

__all__ = ["resume_command"]


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
    memory: Memory = None,
    models: Models = None,
    force: Force = False,
    on_full: OnFullDisk = hw.OnFull.WAIT,
    quiet: Quiet = False,
) -> None:
    """Run the runs that the results in DIR lack, so that it becomes what an uninterrupted sweep leaves.

    A zip, such as the page saves, is unpacked into a folder first and stays as it is.

    Runs that timed out are done again, runs that failed with --retry-failed. For more replicates or another timeout,
    change the spec file and use `henad run SPEC --out DIR --resume`.
    """
    given = given_options(concurrent, memory, retry_failed=retry_failed, force=force, on_full=on_full)
    with told_when_stopped(path if out is None else out, models):
        known = load_models(models)
        directory = _unpacked(path, out)
        store = DirectoryStore(directory, force=force)
        store.check_existing()
        entry = known.lookup(read_manifest(store).model.id)
        if store.holds(RUNS) and not store.holds(SERIES):
            print_line(message_console(), f"{path}: {MISSING_SERIES}")
        options = hw.SweepRunOptions(**given)
        record = swept(
            entry,
            lambda progress: hw.resume_directory(entry, directory, options=options, progress=progress),
            quiet=quiet,
        )
        report(record, models, quiet=quiet)
    raise typer.Exit(exit_code(record.report))


def _unpacked(path: Path, out: Path | None) -> Path:
    """Return the folder to go on with: `path`, or where the zip there was unpacked to."""
    if is_archive_file(path):
        return unpack_results(path, out or default_directory(path))
    if out is not None:
        raise BadOption("--out", f"{path} is no zip; a folder is gone on with where it is")
    return path
