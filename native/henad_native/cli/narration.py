"""What a terminal hears of a sweep: each piece of news turned into a line or a move of the bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import henad_web as hw
from henad_native.cli.display import Display
from henad_native.cli.texts import failure_line

__all__ = ["Narrator"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrator:
    """Listens to `henad_web.run_spec` and tells a display.

    Attributes:
        display: Where progress and failures are shown.
        on_planned: Called once, with the outline.
    """

    display: Display
    on_planned: Callable[[hw.SweepOutline], None]

    def __call__(self, news: hw.SweepEvent | hw.SweepProgress) -> None:
        """Tell the display what `news` says, if it is for people."""
        match news:
            case hw.SweepProgress():
                self.display.show(news)
            case hw.Planned(outline):
                self.on_planned(outline)
            case hw.Warned(warning):
                self.display.tell(f"warning: {warning}")
            case hw.RunFinished(outcome, _) if outcome.status.is_failure:
                self.display.tell(failure_line(outcome))
