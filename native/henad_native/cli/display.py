"""The sweep in progress on a terminal: a bar, and a line for each run that failed.

Owns what is drawn while a sweep runs. Reads events and progress; changes nothing.
"""

from __future__ import annotations

from itertools import zip_longest
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn

from henad_native.cli.consoles import print_line
from henad_web.channel import SweepPhase
from henad_web.wording import progress_text

if TYPE_CHECKING:
    from henad_web.handle import SweepProgress

__all__ = ["BarDisplay", "Display", "LineDisplay", "QuietDisplay", "choose_display"]

MAX_RUNS_SHOWN = 16
"""Runs in progress that a terminal has lines for."""

LINE_EVERY_S = 5.0
"""Seconds of sweeping between two lines where there is no terminal to draw a bar on."""


class Display(Protocol):
    """What shows a sweep while it runs. Entered before the first call and left after the last."""

    @property
    def is_on_terminal(self) -> bool:
        """Whether somebody looks at it as it runs."""

    def __enter__(self) -> Self:
        """Begin to show."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop showing."""

    def show(self, progress: SweepProgress, standing: str = "") -> None:
        """Show how far the sweep is, and where a search stands."""

    def tell(self, line: str) -> None:
        """Print one line that stays."""


class QuietDisplay:
    """Shows no progress, only the lines that must be told."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @property
    def is_on_terminal(self) -> bool:
        """Whether the console is one."""
        return self._console.is_terminal

    def __enter__(self) -> Self:
        """Begin to show."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop showing."""

    def show(self, progress: SweepProgress, standing: str = "") -> None:
        """Show nothing."""

    def tell(self, line: str) -> None:
        """Print `line`."""
        print_line(self._console, line)


class LineDisplay(QuietDisplay):
    """Prints a line now and then, for logs and pipes."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._next_s = LINE_EVERY_S

    def show(self, progress: SweepProgress, standing: str = "") -> None:
        """Print how far the sweep is, at most once in `LINE_EVERY_S` seconds of sweeping."""
        if progress.elapsed >= self._next_s:
            self._next_s = progress.elapsed + LINE_EVERY_S
            self.tell(f"  {_shown_text(progress, standing)}")


class BarDisplay(QuietDisplay):
    """Draws a bar that is rewritten in place, and one below it for each run in progress."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._bars = Progress(
            SpinnerColumn(),
            BarColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
        )
        self._sweep = self._bars.add_task("probing", total=None)
        self._runs: list[TaskID] = []

    def __enter__(self) -> Self:
        """Draw the bars."""
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Take the bars away."""
        self._bars.stop()

    def show(self, progress: SweepProgress, standing: str = "") -> None:
        """Move the bar by the finished runs and the finished part of those in progress; show what each lane does."""
        done, total = progress.runs_stepped, progress.runs_total
        text = _shown_text(progress, standing)
        if progress.phase is SweepPhase.PAUSED:
            text = f"paused · {text}"
        self._bars.update(self._sweep, total=total, completed=done, description=text)
        shown = progress.active_runs[:MAX_RUNS_SHOWN]
        while len(self._runs) < len(shown):
            self._runs.append(self._bars.add_task("", total=None))
        for bar, run in zip_longest(self._runs, shown):
            if run is None:
                self._bars.update(bar, visible=False)
            else:
                text = f"run {run.run.run_id} · tick {run.tick:,} of {run.end_tick:,}"
                self._bars.update(bar, visible=True, total=run.end_tick, completed=run.tick, description=text)


def _shown_text(progress: SweepProgress, standing: str) -> str:
    return " · ".join(filter(None, (progress_text(progress), standing)))


def choose_display(console: Console, *, quiet: bool) -> Display:
    """Return the display that suits `console`: a bar on a terminal, lines elsewhere, neither when `quiet`."""
    if quiet:
        return QuietDisplay(console)
    return BarDisplay(console) if console.is_terminal else LineDisplay(console)
