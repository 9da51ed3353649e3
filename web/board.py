"""The run in progress on a canvas.

Owns the canvas and its caption. It looks at a `RunView` now and then and never at the model behind it.
"""

from __future__ import annotations

from collections.abc import Callable

from colours import Painter
from dom import Element, by_id, drawing_context, window, write
from pacing import picture_gap
from wording import TIMES

from henad_web.run.lanes import RunView

__all__ = ["Board"]

MOST_CELLS = 512
"""Cells a side that are drawn at most; of larger grids every second, third, … row and column, as they would be on
a board a few hundred pixels wide anyway."""


class Board:
    """Draws views at a pace that leaves the frames to the sweep."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._canvas, self._caption = by_id("board"), by_id("board-caption")
        self._context = drawing_context(self._canvas)
        self._made_for: tuple[object, tuple[int, int]] | None = None
        self._painter: Painter
        self._image: Element = None
        self._image_data: Element = None
        self._due = 0.0
        self._shown = ""

    def clear(self, caption: str) -> None:
        """Show an empty board with `caption`."""
        self._context.clearRect(0, 0, self._canvas.width, self._canvas.height)
        write(self._caption, caption)
        self._due, self._shown = 0.0, ""

    def rest(self) -> None:
        """Say that the picture stays as it was last drawn."""
        if self._shown:
            write(self._caption, f"Last drawn: {self._shown}")
        else:
            write(self._caption, "The runs ended before one could be drawn.")

    def draw_if_due(self, look: Callable[[], RunView | None]) -> None:
        """Draw what `look` returns, if enough time has passed since the last picture; `look` copies."""
        start = self._clock()
        if start < self._due:
            return
        try:
            view = look()
            if view is not None:
                self.draw(view)
        finally:
            end = self._clock()
            self._due = end + picture_gap(end - start)

    def draw(self, view: RunView) -> None:
        """Draw `view` now, or say where it stands when its model has no grid."""
        self._shown = f"run {view.run_id:,} · tick {view.tick:,}"
        if view.grid is None:
            write(self._caption, f"In progress: {self._shown} · this model has no grid")
            return
        height, width = view.grid.shape
        stride = -(-max(height, width) // MOST_CELLS)
        grid = view.grid[::stride, ::stride]
        shape = (grid.shape[0], grid.shape[1])
        if self._made_for != (view.palette, shape):
            self._prepare(view.palette, shape)
        self._painter.paint(grid)
        # A copy into the image's own buffer: a view on Python's memory comes loose when that memory grows.
        self._image_data.assign(self._painter.pixels)
        self._context.putImageData(self._image, 0, 0)
        write(self._caption, f"In progress: {self._shown} · {width} {TIMES} {height} cells")

    def _prepare(self, palette: tuple[tuple[int, int, int], ...], shape: tuple[int, int]) -> None:
        self._made_for = (palette, shape)
        self._painter = Painter(palette, shape)
        self._canvas.height, self._canvas.width = shape
        self._image = window.ImageData.new(shape[1], shape[0])
        self._image_data = self._image.data
