"""The sweep in progress on a terminal: a bar, and a line for each run that failed.

Owns what is drawn while a sweep runs. Reads events and progress; changes nothing.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from henad_native.cli.consoles import print_line
from henad_web.wording import progress_text

if TYPE_CHECKING:
    from henad_web.handle import SweepProgress

__all__ = ["BarDisplay", "Display", "LineDisplay", "QuietDisplay", "choose_display"]

LINE_EVERY_S = 5.0
"""Seconds of sweeping between two lines where there is no terminal to draw a bar on."""


class Display(Protocol):
    """What shows a sweep while it runs. Entered before the first call and left after the last."""

    def __enter__(self) -> Self:
        """Begin to show."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop showing."""

    def show(self, progress: SweepProgress) -> None:
        """Show how far the sweep is."""

    def tell(self, line: str) -> None:
        """Print one line that stays."""


class QuietDisplay:
    """Shows no progress, only the lines that must be told."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __enter__(self) -> Self:
        """Begin to show."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop showing."""

    def show(self, progress: SweepProgress) -> None:
        """Show nothing."""

    def tell(self, line: str) -> None:
        """Print `line`."""
        print_line(self._console, line)


class LineDisplay(QuietDisplay):
    """Prints a line now and then, for logs and pipes."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._next_s = LINE_EVERY_S

    def show(self, progress: SweepProgress) -> None:
        """Print how far the sweep is, at most once in `LINE_EVERY_S` seconds of sweeping."""
        if progress.elapsed >= self._next_s:
            self._next_s = progress.elapsed + LINE_EVERY_S
            self.tell(f"  {progress_text(progress)}")


class BarDisplay(QuietDisplay):
    """Draws a bar that is rewritten in place."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._bar = Progress(
            SpinnerColumn(),
            BarColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task("probing", total=None)

    def __enter__(self) -> Self:
        """Draw the bar."""
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Take the bar away."""
        self._bar.stop()

    def show(self, progress: SweepProgress) -> None:
        """Move the bar by the finished runs and the finished part of those in progress."""
        done, total = progress.runs_stepped, progress.runs_total
        self._bar.update(self._task, total=total, completed=done, description=progress_text(progress))


def choose_display(console: Console, *, quiet: bool) -> Display:
    """Return the display that suits `console`: a bar on a terminal, lines elsewhere, neither when `quiet`."""
    if quiet:
        return QuietDisplay(console)
    return BarDisplay(console) if console.is_terminal else LineDisplay(console)
