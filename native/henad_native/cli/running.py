"""`henad run`: one spec file swept into one folder, and what a terminal hears of it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from select import select
from typing import TYPE_CHECKING, Annotated, Self, TextIO, cast

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
    Overwrite,
    Quiet,
    RetryFailed,
    Reuse,
    ShardText,
    given_options,
)
from henad_native.cli.consoles import ExitCode, message_console, print_line, result_console
from henad_native.cli.display import Display, choose_display
from henad_native.cli.executors import ExecutorName, made_executor
from henad_native.cli.model_sets import load_models
from henad_native.cli.search_summary import coverage_lines, ranking_table, ranking_title
from henad_native.cli.summary import TITLE, summary_table, written_files
from henad_native.cli.texts import UNWRITTEN_LINE, failure_line, outline_lines, written_line
from henad_native.stopping import ending_signals
from henad_native.target import NativeTarget
from henad_web.output.names import BEST, MANIFEST, SUMMARY
from henad_web.output.record import SweepReport, non_finite_line
from henad_web.wording import henad_command, search_standing_text

if TYPE_CHECKING:
    from rich.console import Console

    from henad_web.run.outline import SearchOutline

__all__ = [
    "Narrator",
    "TerminalHold",
    "exit_code",
    "report",
    "run_command",
    "swept",
    "told_when_stopped",
]


class Narrator:
    """Listens to `henad_web.run_spec` and tells a display.

    Args:
        display: Where progress and failures are shown.
        on_planned: Called once, with the outline.
    """

    def __init__(self, display: Display, on_planned: Callable[[hw.SweepOutline], None]) -> None:
        self._display, self._on_planned = display, on_planned
        self._search: SearchOutline | None = None
        self._standing = ""

    def __call__(self, news: hw.SweepEvent | hw.SweepProgress) -> None:
        """Tell the display what `news` says, if it is for people."""
        match news:
            case hw.SweepProgress():
                self._display.show(news, self._standing)
            case hw.Planned(outline):
                self._search = outline.search
                self._on_planned(outline)
            case hw.SearchBatchTold(hw.SearchUpdate() as update) if self._search is not None:
                self._standing = search_standing_text(self._search, update)
            case hw.Warned(warning):
                self._display.tell(f"warning: {warning}")
            case hw.RunFinished(outcome, _) if outcome.status.is_failure:
                self._display.tell(failure_line(outcome))


def run_command(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="The spec file (TOML or JSON).")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="An empty or new folder for the results.")],
    concurrent: Concurrent = None,
    lanes: Lanes = LaneChoice.AUTO,
    memory: Memory = None,
    models: Models = None,
    shard: ShardText = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with results in DIR, if there are any; SPEC may raise replicates.")
    ] = False,
    overwrite: Overwrite = False,
    retry_failed: RetryFailed = False,
    reuse: Reuse = None,
    force: Force = False,
    on_full: OnFullDisk = hw.OnFull.WAIT,
    batches: Batches = True,
    executor: ExecutorName = None,
    quiet: Quiet = False,
) -> None:
    """Run every run of SPEC and write runs.csv, series.csv, summary.csv and manifest.json into DIR."""
    _refuse_conflicts(resume=resume, overwrite=overwrite, starts_anew=retry_failed and not resume and reuse is None)
    given = given_options(
        concurrent, memory, shard, reuse, lanes, retry_failed=retry_failed, force=force, on_full=on_full
    )
    with told_when_stopped(out, models):
        known = load_models(models)
        loaded = hw.load_spec(spec, models=known)
        entry, output = known.lookup(loaded.spec.model), hw.DirectoryOutput(str(out), overwrite=overwrite)
        try:
            with made_executor(executor, lanes) as lent:
                options = hw.SweepRunOptions.from_loaded(loaded, batches=batches, executor=lent, **given)
                sweep = partial(hw.run_spec, entry, loaded, output=output, options=options, resume=resume)
                record = swept(entry, sweep, quiet=quiet)
        except hw.PlanError as error:
            raise hw.PlanError(loaded.locate(error.problems)) from error
        report(record, models, quiet=quiet)
    raise typer.Exit(exit_code(record.report))


def _refuse_conflicts(*, resume: bool, overwrite: bool, starts_anew: bool) -> None:
    if starts_anew:
        raise BadOption("--retry-failed", "there are no earlier runs; it needs --resume or --reuse")
    if overwrite and resume:
        raise BadOption("--overwrite", "results are gone on with or overwritten; leave --resume or this out")


def exit_code(report: SweepReport) -> ExitCode:
    """Return the exit code of a sweep that ended as `report` says."""
    if report.end != hw.SweepEnd.COMPLETE:
        return ExitCode.ERROR
    return ExitCode.FINE if report.counts.ok == report.counts.rows else ExitCode.RUNS_NOT_OK


def swept(entry: hw.ModelEntry, sweep: Callable[..., hw.SweepRecord], *, quiet: bool) -> hw.SweepRecord:
    """Return the record of `sweep`, which is given `progress` and `target`, with its news shown; also when stopped."""
    display = choose_display(message_console(), quiet=quiet)

    def show_outline(outline: hw.SweepOutline) -> None:
        if not quiet:
            for line in outline_lines(entry.name, outline):
                display.tell(line)

    narrator = Narrator(display, show_outline)
    try:
        with _ends_as_sigint(), display:
            return sweep(progress=narrator, target=NativeTarget(hold=TerminalHold.of(sys.stdin, display)))
    except hw.SweepInterruptedError as interrupted:
        return cast(hw.SweepRecord, interrupted.record)


class TerminalHold:
    """Somebody at a terminal: the first Ctrl-C holds the sweep, Enter lets it go on.

    Args:
        keys: Where the keys come from, a terminal.
        display: Where it is told.
    """

    def __init__(self, keys: TextIO, display: Display) -> None:
        self._keys, self._display = keys, display

    @classmethod
    def of(cls, keys: TextIO | None, display: Display) -> Self | None:
        """Return who is at the terminal, None where `keys` are of none or what is shown is not."""
        is_usable = os.name == "posix" and display.is_on_terminal and keys is not None and keys.isatty()
        return cls(keys, display) if is_usable and keys is not None else None

    def is_there(self) -> bool:
        """Return whether the terminal is this command's own now: a job in the background must not read from it."""
        return os.tcgetpgrp(self._keys.fileno()) == os.getpgrp()

    def begin(self) -> None:
        """Tell that the sweep is held; keys that were pressed before do not count."""
        self.is_over()
        self._display.tell("paused: Enter goes on, Ctrl-C ends the sweep and keeps what is written")

    def is_over(self) -> bool:
        """Return whether Enter has been pressed since the last look."""
        number, is_pressed = self._keys.fileno(), False
        while select([number], [], [], 0)[0] and os.read(number, 4096):
            is_pressed = True
        return is_pressed


@contextmanager
def told_when_stopped(folder: Path, models: str | None) -> Iterator[None]:
    """Say what is kept and how to go on after a Ctrl-C outside a sweep, or a second one, and end with `ERROR`.

    A sweep takes the first one itself: it ends in order, and is reported.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        command = henad_command("resume", str(folder), models=models)
        line = f"stopped before anything was written to {folder}; the same command starts it"
        if (folder / MANIFEST).exists():
            line = f"stopped at once; what is written in {folder} is kept: go on with {command}"
        print_line(message_console(), line)
        raise typer.Exit(ExitCode.ERROR) from error


@contextmanager
def _ends_as_sigint() -> Iterator[None]:
    """Let what ends a process end a sweep as Ctrl-C does: aborted, with its files written. What is ignored stays so."""
    before = {number: signal.getsignal(number) for number in ending_signals()}
    for number in before:
        signal.signal(number, lambda number, frame: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _print_outcome(console: Console, folder: Path, record: hw.SweepRecord) -> None:
    """Print the table of configs, or the ranking of a search, or the cells that it met."""
    search = record.report.outline.search
    if search is not None and record.search is not None and search.pattern_axes is not None:
        for line in coverage_lines(record.search.archive, search.pattern_axes):
            print_line(console, line)
        return
    if search is None:
        title, table = TITLE, summary_table((folder / SUMMARY).read_text(encoding="utf-8"))
    else:
        title, table = ranking_title(search), ranking_table((folder / BEST).read_text(encoding="utf-8"), search)
    if table is not None:
        print_line(console, title)
        console.print(table)


def report(record: hw.SweepRecord, models: str | None, *, quiet: bool) -> None:
    """Print what a sweep left: a table of its configs, its files and the closing line, which names its `models`."""
    console = result_console()
    if record.manifest is None:
        print_line(console, UNWRITTEN_LINE)
        return
    if record.files is not None:  # it was to overwrite results, and had none of its own to do it with
        print_line(console, f"no run was finished: {record.report.output_dir} keeps the results it had")
        return
    if not quiet:
        folder = Path(str(record.report.output_dir))
        _print_outcome(console, folder, record)
        line = non_finite_line(record.report.counts)
        if line is not None:
            print_line(console, line)
        for line in written_files(folder):
            print_line(console, line)
    print_line(console, written_line(record.report, models))
