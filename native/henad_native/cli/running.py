"""`henad run`: one spec file swept into one folder."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, cast

import typer

import henad_web as hw
from henad_native.cli.consoles import message_console, print_line, result_console
from henad_native.cli.display import choose_display
from henad_native.cli.errors import BadOption
from henad_native.cli.exits import ExitCode
from henad_native.cli.model_sets import load_models
from henad_native.cli.narration import Narrator
from henad_native.cli.summary import summary_table, written_files
from henad_native.cli.texts import outline_lines, written_line

__all__ = ["exit_code", "run_command"]


def run_command(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="The spec file (TOML).")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="An empty or new folder for the results.")],
    concurrent: Annotated[
        str | None, typer.Option("--concurrent", metavar="N|auto", help="Runs at once; else the spec's, else auto.")
    ] = None,
    memory: Annotated[
        int | None, typer.Option("--memory", metavar="BYTES", min=1, help="Memory for all live runs together.")
    ] = None,
    models: Annotated[
        str | None, typer.Option("--models", metavar="MODULE:NAME", help="Where the model is; else the examples.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only failures and the closing line.")] = False,
) -> None:
    """Run every run of SPEC and write runs.csv, series.csv, summary.csv and manifest.json into DIR."""
    known = load_models(models)
    given = _given_options(concurrent, memory)
    loaded = hw.load_spec(spec)
    options = hw.SweepRunOptions.from_loaded(loaded, **given)
    record = _sweep(known.lookup(loaded.spec.model), loaded, out, options, quiet=quiet)
    _report(record, quiet=quiet)
    raise typer.Exit(exit_code(record.report))


def exit_code(report: hw.SweepReport) -> ExitCode:
    """Return the exit code of a sweep that ended as `report` says."""
    if report.end != hw.SweepEnd.COMPLETE:
        return ExitCode.ERROR
    return ExitCode.FINE if report.counts.ok == report.counts.rows else ExitCode.RUNS_NOT_OK


def _given_options(concurrent: str | None, memory: int | None) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if concurrent is not None:
        try:
            given["concurrency"] = hw.parse_concurrency(concurrent)
        except hw.ConcurrencyError as error:
            raise BadOption("--concurrent", str(error)) from error
    if memory is not None:
        given["memory_budget"] = memory
    return given


def _sweep(
    entry: hw.ModelEntry, loaded: hw.LoadedSpec, out: Path, options: hw.SweepRunOptions, *, quiet: bool
) -> hw.SweepRecord:
    display = choose_display(message_console(), quiet=quiet)

    def show_outline(outline: hw.SweepOutline) -> None:
        if not quiet:
            for line in outline_lines(entry.name, outline):
                display.tell(line)

    output = hw.DirectoryOutput(str(out))
    narrator = Narrator(display=display, on_planned=show_outline)
    try:
        with _sigterm_as_sigint(), display:
            return hw.run_spec(entry, loaded.spec, output=output, options=options, progress=narrator)
    except hw.PlanError as error:
        raise hw.PlanError(loaded.locate(error.problems)) from error
    except hw.SweepInterruptedError as interrupted:
        return cast(hw.SweepRecord, interrupted.record)


@contextmanager
def _sigterm_as_sigint() -> Iterator[None]:
    """Let SIGTERM end a sweep as Ctrl-C does: aborted, with its files written."""
    before = signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _report(record: hw.SweepRecord, *, quiet: bool) -> None:
    console = result_console()
    if not quiet:
        folder = Path(str(record.report.output_dir))
        table = summary_table((folder / "summary.csv").read_text(encoding="utf-8"))
        if table is not None:
            console.print(table)
        for line in written_files(folder):
            print_line(console, line)
    print_line(console, written_line(record.report))
