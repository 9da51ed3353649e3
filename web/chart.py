"""One run's series as a line chart on a canvas.

Owns the canvas. Geometry comes from `axes`, colours from the model's statistics and the style sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from axes import Scale, axis_ticks, line_path, thinned, tick_text
from dom import by_id, drawing_context, style_token, window, write
from handlers import listen
from numpy.typing import NDArray

__all__ = ["Chart", "Line", "Picture"]

MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, MARGIN_BOTTOM = 52, 18, 34, 40
LEGEND_TOP, LEGEND_LINE = 10, 15
"""Middle of the legend's first line and the way to its second; two lines fit above the plot."""

FONT = "12px system-ui, sans-serif"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One column: its label, its colour (red, green, blue, alpha; 0 to 255) and values ``(n,)``."""

    label: str
    colour: Sequence[int]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What the chart shows: lines over common `ticks` ``(n,)`` int64, and a caption."""

    caption: str
    ticks: NDArray[np.int64]
    lines: tuple[Line, ...]


class Chart:
    """Draws a `Picture`, and draws it again when the window or the theme changes."""

    def __init__(self) -> None:
        self._canvas, self._caption = by_id("chart"), by_id("chart-caption")
        self._context = drawing_context(self._canvas)
        self._picture: Picture | None = None
        listen(window, "resize", self._redraw)
        listen(window.matchMedia("(prefers-color-scheme: dark)"), "change", self._redraw)

    def show(self, picture: Picture | None, caption: str = "") -> None:
        """Show `picture`, or nothing but `caption`."""
        self._picture = picture
        write(self._caption, picture.caption if picture else caption)
        self._canvas.classList.toggle("blank", picture is None)
        labels = ", ".join(line.label for line in picture.lines) if picture else "nothing yet"
        self._canvas.setAttribute("aria-label", f"Series over ticks: {labels}")
        self._redraw()

    def _redraw(self, *_: object) -> None:
        width, height = self._canvas.clientWidth, self._canvas.clientHeight
        ratio = window.devicePixelRatio or 1
        self._canvas.width, self._canvas.height = round(width * ratio), round(height * ratio)
        self._context.setTransform(ratio, 0, 0, ratio, 0, 0)
        self._context.font = FONT
        if self._picture is not None and len(self._picture.ticks):
            self._draw(self._picture, width, height)

    def _draw(self, picture: Picture, width: int, height: int) -> None:
        finite = [line.values[np.isfinite(line.values)] for line in picture.lines]
        kept = [values for values in finite if len(values)]
        low = min((float(values.min()) for values in kept), default=0.0)
        high = max((float(values.max()) for values in kept), default=1.0)
        rows = axis_ticks(min(low, 0.0) if low < 0.5 * high else low, high, max(2, height // 60))
        columns = axis_ticks(float(picture.ticks[0]), float(picture.ticks[-1]), max(2, width // 90))
        last = max(float(picture.ticks[-1]), float(picture.ticks[0]) + 1)
        x = Scale(float(picture.ticks[0]), last, MARGIN_LEFT, width - MARGIN_RIGHT)
        y = Scale(rows[0], rows[-1], height - MARGIN_BOTTOM, MARGIN_TOP)
        self._axes(x, y, columns, rows)
        for line in picture.lines:
            ticks, values = thinned(picture.ticks, line.values, max(1, width))
            self._stroke(line_path(x.pixels(ticks.astype(np.float64)), y.pixels(values)), _css(line.colour), 1.75)
        self._legend(picture.lines, width)

    def _axes(self, x: Scale, y: Scale, columns: list[float], rows: list[float]) -> None:
        context, grid, muted = self._context, style_token("--line"), style_token("--muted")
        context.fillStyle = muted
        context.textAlign, context.textBaseline = "right", "middle"
        for value in rows:
            top = y.pixel(value)
            self._stroke(f"M{x.start} {top:.1f}H{x.stop}", grid, 1)
            context.fillText(tick_text(value), x.start - 8, top)
        context.textAlign, context.textBaseline = "center", "top"
        for value in columns:
            if x.low <= value <= x.high:
                left = x.pixel(value)
                self._stroke(f"M{left:.1f} {y.start}v5", muted, 1)
                context.fillText(tick_text(value), left, y.start + 8)
        self._stroke(f"M{x.start} {y.start}H{x.stop}", muted, 1)
        context.fillText("tick", (x.start + x.stop) / 2, y.start + 24)

    def _legend(self, lines: Sequence[Line], width: int) -> None:
        context = self._context
        context.textAlign, context.textBaseline = "left", "middle"
        left, top = float(MARGIN_LEFT), LEGEND_TOP
        for line in lines:
            length = float(context.measureText(line.label).width)
            if left + 24 + length > width and left > MARGIN_LEFT:
                if top > LEGEND_TOP:
                    break
                left, top = float(MARGIN_LEFT), LEGEND_TOP + LEGEND_LINE
            self._stroke(f"M{left:.1f} {top}h16", _css(line.colour), 3)
            context.fillStyle = style_token("--text")
            context.fillText(line.label, left + 22, top)
            left += length + 42

    def _stroke(self, path: str, colour: str, thickness: float) -> None:
        self._context.strokeStyle, self._context.lineWidth = colour, thickness
        # One call for a whole line: a call a point costs about a microsecond each.
        self._context.stroke(window.Path2D.new(path))


def _css(colour: Sequence[int]) -> str:
    red, green, blue = colour[:3]
    return f"rgb({red} {green} {blue})"
