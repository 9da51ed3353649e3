"""Geometry of a line chart: ranges, ticks and paths, in numbers and text.

Owns no canvas. `chart` draws what this computes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scale", "axis_ticks", "line_path", "thinned", "tick_text"]


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear map from data (`low` to `high`) to pixels (`start` to `stop`)."""

    low: float
    high: float
    start: float
    stop: float

    def pixels(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the pixel positions of `values` (any shape)."""
        return self.start + (values - self.low) * ((self.stop - self.start) / (self.high - self.low))

    def pixel(self, value: float) -> float:
        """Return the pixel position of one value."""
        return self.start + (value - self.low) * ((self.stop - self.start) / (self.high - self.low))


def axis_ticks(low: float, high: float, count: int) -> list[float]:
    """Return about `count` round values (1, 2 or 5 times a power of ten apart) that cover `low` to `high`.

    The first is at most `low`, the last at least `high`; an empty range is widened to 1.
    """
    if not high > low:
        high = low + 1.0
    raw = (high - low) / max(1, count)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [index * step for index in range(first, last + 1)]


def tick_text(value: float) -> str:
    """Return the label of an axis tick: thousands as ``12k``, millions as ``1.5M``, no trailing zeros."""
    size = abs(value)
    if size >= 1e6:
        return f"{value / 1e6:.4g}M"
    return f"{value / 1e3:.4g}k" if size >= 1e4 else f"{value:.4g}"


def thinned(
    ticks: NDArray[np.int64], values: NDArray[np.float64], limit: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return at most about ``2 * limit`` points of a line, keeping the lowest and highest of every stretch.

    Args:
        ticks: Position of each point, ``(n,)``.
        values: Value of each point, ``(n,)``.
        limit: Stretches to keep, usually the chart's width in pixels.
    """
    if len(ticks) <= 2 * limit:
        return ticks, values
    width = -(-len(ticks) // limit)
    kept = {0, len(ticks) - 1}
    for start in range(0, len(ticks), width):
        part = values[start : start + width]
        if not np.isnan(part).all():
            kept.update((start + int(np.nanargmin(part)), start + int(np.nanargmax(part))))
    index = np.array(sorted(kept))
    return ticks[index], values[index]


def line_path(x: NDArray[np.float64], y: NDArray[np.float64]) -> str:
    """Return SVG path data through the points (pixels, ``(n,)`` each), broken where a value is not finite."""
    parts, pen = [], "M"
    for left, top in zip(x.tolist(), y.tolist(), strict=True):
        if math.isfinite(top):
            parts.append(f"{pen}{left:.1f} {top:.1f}")
            pen = "L"
        else:
            pen = "M"
    return "".join(parts)
