"""Known functions of factors for scenario discovery: which cases are of interest, and where the box lies.

The cases are drawn by the project's own generator, the same on every target.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.peeling import Kind, Side
from henad_web.randomness import DesignRng

MODES = ("slow", "fast", "idle")

Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class Known:
    """A function of some factors.

    Attributes:
        cases: How many cases are drawn.
        holds: Whether a case is of interest, or how much it is worth, given the factors' values.
        threshold: From where on a case is of interest.
    """

    cases: int
    holds: Callable[[Columns], NDArray[Any]]
    threshold: float = 0.5

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the factors' values: three numbers, a whole one, names."""
        rng = DesignRng(self.cases)
        numbers = {name: np.round(rng.units(self.cases), 6) for name in ("a", "b", "c")}
        size = (rng.units(self.cases) * 10).astype(np.int64)
        mode = np.array(MODES)[(rng.units(self.cases) * 3).astype(np.int64)]
        return {**numbers, "size": size, "mode": mode}

    def y(self) -> NDArray[np.float64]:
        """Return what is to be high in each case."""
        return np.asarray(self.holds(self.columns()), np.float64)

    def sides(self) -> list[Side]:
        """Return the factors as the search sees them."""
        columns = self.columns()
        codes = np.array([MODES.index(name) for name in columns["mode"].tolist()], np.float64)
        numbers = [Side(kind=Kind.NUMBER, values=columns[name]) for name in ("a", "b", "c")]
        size = Side(kind=Kind.WHOLE, values=columns["size"].astype(np.float64))
        return [*numbers, size, Side(kind=Kind.NAME, values=codes, names=len(MODES))]


def _scattered(columns: Columns) -> NDArray[np.bool_]:
    """Return a condition that holds nearly always within a box and seldom beyond."""
    inside = (columns["a"] > 0.3) & (columns["a"] < 0.8) & (columns["b"] < 0.5)
    return np.where(inside, columns["c"] * 7 % 1 < 0.9, columns["c"] * 11 % 1 < 0.1)


KNOWN = {
    "corner": Known(cases=1000, holds=lambda x: (x["a"] > 0.6) & (x["b"] < 0.4)),
    "mixed": Known(cases=1200, holds=lambda x: (x["a"] < 0.7) & (x["size"] >= 6) & (x["mode"] != "idle")),
    "scattered": Known(cases=800, holds=_scattered),
    "slope": Known(cases=600, holds=lambda x: (x["a"] * 4 + x["b"] * x["b"] * 2 - x["c"] + 1) / 7, threshold=0.5),
}
