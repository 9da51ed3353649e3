"""The controls of a sweep: its buttons, progress bar, state and notices.

Owns those elements. What a button does is decided by the callbacks it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dom import by_id, make, reveal, write
from handlers import listen
from pacing import Pace
from wording import as_sentence

import henad_web as hw
from henad_web.run.layout import ExecutionLayout, layout_text
from henad_web.wording import duration_text, progress_text, runs_text

__all__ = ["Actions", "Controls"]

PACE_TEXT = {
    Pace.FRAMES: "",
    Pace.HIDDEN: "This tab is in the background: the sweep goes on from a timer, more slowly.",
    Pace.STALLED: "The browser draws no frames at the moment: the sweep goes on from a timer.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """What the buttons do."""

    run: Callable[[], None]
    pause: Callable[[], None]
    resume: Callable[[], None]
    abort: Callable[[], None]
    go_on: Callable[[], None]


class Controls:
    """Shows where a sweep stands and which buttons make sense."""

    def __init__(self, actions: Actions) -> None:
        self._run, self._pause, self._resume, self._abort = map(by_id, ("run", "pause", "resume", "abort"))
        self._bar, self._text, self._elapsed = by_id("progress"), by_id("progress-text"), by_id("elapsed")
        self._state, self._pace, self._warnings = by_id("state"), by_id("pace"), by_id("warnings")
        self._layout, self._rest = by_id("layout"), by_id("go-on")
        self._ready = self._active = False
        for button, action in (
            (self._run, actions.run),
            (self._pause, actions.pause),
            (self._resume, actions.resume),
            (self._abort, actions.abort),
            (self._rest, actions.go_on),
        ):
            listen(button, "click", _pressed(action))

    def allow_run(self, ready: bool) -> None:
        """Say whether the editor's spec can run."""
        self._ready = ready
        self._run.disabled = self._active or not ready

    def show_active(self, active: bool, *, paused: bool = False) -> None:
        """Enable the buttons that make sense while a sweep is `active`, and `paused` or not."""
        self._active = active
        self._run.disabled = active or not self._ready
        self._pause.disabled = not active or paused
        self._resume.disabled = not (active and paused)
        self._abort.disabled = not active

    def offer_rest(self, offered: bool) -> None:
        """Offer to run what opened results lack, or do not."""
        reveal(self._rest, offered)

    def show_progress(self, progress: hw.SweepProgress) -> None:
        """Show counts, time left and time passed; until the sweep is planned, the bar shows how far planning is."""
        if progress.is_planned:
            self._bar.max = max(1, progress.runs_total)
            self._bar.value = progress.runs_stepped
        else:
            self._bar.max, self._bar.value = 1, progress.fraction or 0.0
        self._say_progress(progress_text(progress))
        write(self._elapsed, f"{duration_text(progress.elapsed)} elapsed")

    def show_layout(self, layout: ExecutionLayout) -> None:
        """Say how many runs go on at once, and why."""
        write(self._layout, as_sentence(layout_text(layout)))

    def show_recorded(self, *, rows: int, planned: int, failed: int, is_most: bool) -> None:
        """Show the counts of results that were opened: nothing runs, so no time passes."""
        self._bar.max, self._bar.value = max(1, planned), rows
        self._say_progress(runs_text(rows, planned, failed=failed, is_most=is_most))
        write(self._elapsed, "")
        write(self._layout, "")

    def _say_progress(self, sentence: str) -> None:
        write(self._text, sentence)
        self._bar.setAttribute("aria-valuetext", sentence)

    def show_state(self, phase: str, sentence: str, *, failed: bool = False) -> None:
        """Say in words where the sweep stands; `phase` and whether any run has `failed` choose the colour."""
        self._state.dataset.phase = phase
        self._state.toggleAttribute("data-failed", failed)
        write(self._state, sentence)

    def show_pace(self, pace: Pace, slow_step: str) -> None:
        """Say what drives the sweep where that is not plain frames, or that one step is too slow for them."""
        write(self._pace, PACE_TEXT[pace] or slow_step)

    def clear_warnings(self) -> None:
        """Forget the warnings of the last sweep."""
        self._warnings.replaceChildren()

    def add_warning(self, sentence: str) -> None:
        """Add a warning of the sweep."""
        self._warnings.append(make("li", sentence))


def _pressed(action: Callable[[], None]) -> Callable[[object], None]:
    return lambda _event: action()
