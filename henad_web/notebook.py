"""How far a sweep is, shown in a notebook while it runs: a bar of ipywidgets where they are installed, else text.

Owns the bar and who moves it: the progress of a blocking call, or the notebook's event loop between two cells. Takes no
event from a handle and never waits for one. ipywidgets are an extra, imported when a bar is made.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
import weakref
from typing import TYPE_CHECKING, Any, TypeAlias

from henad_web.channel import SweepEvent, SweepPhase
from henad_web.markup import escaped
from henad_web.wording import progress_text

if TYPE_CHECKING:
    from henad_web.handle import SweepProgress, SweepRun

__all__ = ["ProgressBar", "show_live", "standing_html", "standing_text"]

LOOK_S = 0.2
"""Seconds between two looks of the event loop at a sweep, as a blocking call tells of it."""

_STYLES = {SweepPhase.PAUSED: "warning", SweepPhase.ENDED: "success", SweepPhase.FAILED: "danger"}
"""What ipywidgets call the colour of a bar, by the stage of its sweep."""

_Widget: TypeAlias = Any
"""A widget of ipywidgets, which the type checker does not know."""


class ProgressBar:
    """A bar that a blocking call moves: ``hw.run_spec(entry, spec, progress=hw.ProgressBar())``.

    Without ipywidgets one line of text is written over and over to standard output.

    Attributes:
        widget: The bar with its text as a widget, shown by whoever calls; None without ipywidgets.
    """

    def __init__(self) -> None:
        self.widget: _Widget | None = None
        self._is_shown, self._width = False, 0
        try:
            widgets = importlib.import_module("ipywidgets")
        except ImportError:
            return
        self._bar = widgets.FloatProgress(min=0.0, max=1.0)
        self._label = widgets.Label()
        self.widget = widgets.HBox([self._bar, self._label])

    def __call__(self, news: SweepEvent | SweepProgress) -> None:
        """Move the bar by what a blocking call tells; events do not move it."""
        if isinstance(news, SweepEvent):
            return
        if self.widget is not None and not self._is_shown:
            self._is_shown = True
            _display(self.widget)
        self.show(news)

    def show(self, progress: SweepProgress) -> None:
        """Show how far a sweep is."""
        text = standing_text(progress)
        if self.widget is None:
            # Spaces cover what is left of a longer text.
            sys.stdout.write(f"\r{text:<{self._width}}")
            sys.stdout.flush()
            self._width = len(text)
            return
        self._bar.value, self._label.value = _share(progress), text
        self._bar.bar_style = _STYLES.get(progress.phase, "")


def show_live(run: SweepRun) -> asyncio.Task[None] | None:
    """Show a bar that follows `run` from cell to cell, and return what moves it; None where no event loop runs.

    Raises:
        NotImplementedError: There are no ipywidgets; a notebook shows the handle's HTML then.
    """
    bar = ProgressBar()
    if bar.widget is None:
        # IPython's own word for: show another form of the object.
        raise NotImplementedError("a live bar needs ipywidgets")
    bar.show(run.progress())
    _display(bar.widget)
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return None
    return loop.create_task(_follow(weakref.ref(run), bar))


async def _follow(run: weakref.ref[SweepRun], bar: ProgressBar) -> None:
    # A handle that nobody holds any more aborts its sweep: a bar must not hold it.
    while (followed := run()) is not None:
        progress = followed.progress()
        del followed
        bar.show(progress)
        if progress.phase in (SweepPhase.ENDED, SweepPhase.FAILED):
            return
        await asyncio.sleep(LOOK_S)


def standing_text(progress: SweepProgress) -> str:
    """Return the stage of a sweep and how far it is, such as ``running · 12 of 60 runs``."""
    return f"{progress.end or progress.phase} · {progress_text(progress)}"


def standing_html(progress: SweepProgress) -> str:
    """Return the same as a bar of HTML that stands still."""
    return f'<progress max="1" value="{_share(progress):.4f}"></progress> {escaped(standing_text(progress))}'


def _share(progress: SweepProgress) -> float:
    return progress.runs_stepped / progress.runs_total if progress.runs_total else 1.0


def _display(widget: _Widget) -> None:
    importlib.import_module("IPython.display").display(widget)
