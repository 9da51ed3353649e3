"""Models that the page does not offer, for tests: `sweep_page.opened` runs this file in the page before it starts.

Owns no test. It stands alone, since the page has it as text and no other file of the tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import henad_web as hw
from henad_web.model.params import Apply, ParamValue

__all__ = ["MODELS"]


class Trouble:
    """A grid of 4 x 2 cells that counts its steps, and meets at tick `fails_at` or `gap_at` what its name says."""

    heap_bytes = 1000
    parallel_jobs: int | None = None
    population = 8

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        self.tick = 0
        self._fails_at, self._gap_at = int(params["fails_at"]), int(params["gap_at"])

    @property
    def grid(self) -> NDArray[np.uint8]:
        return np.full((2, 4), self.tick % 2, np.uint8)

    def step(self, n: int = 1) -> None:
        for _ in range(n):
            if self.tick + 1 == self._fails_at:
                raise ValueError(f"trouble at tick {self.tick + 1}")
            self.tick += 1

    def stats(self) -> dict[str, float]:
        has_gap = 0 < self._gap_at <= self.tick
        return {"Level": float("nan") if has_gap else float(self.tick)}

    def act(self, action_id: str) -> bool:
        return False

    def set_param(self, id: str, value: ParamValue) -> bool:
        return False


class Wide(Trouble):
    """Counts its steps on top of what its wide parameters say."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__({"fails_at": 0, "gap_at": 0}, seed)
        self._start = float(params["level"]) + int(params["offset"]) % 1000 + len(str(params["rule"]))

    def stats(self) -> dict[str, float]:
        return {"Level": self._start + self.tick}


class Reporting(Trouble):
    """Reports who is there: one more at each tick, with names that a table has to quote."""

    def table(self, name: str) -> Mapping[str, object]:
        ids = np.arange(self.tick)
        return {"id": ids, "name": [f'"{id}",\n1,2,x' for id in ids], "share": ids / 3.0, "old": ids < 2}


GRID = hw.ModelMetadata(backend=hw.Backend.CPU, palette=((21, 21, 21), (0, 230, 118)), topology=hw.Topology.GRID)
LEVEL = (hw.Stat("Level", (0, 128, 255, 255)),)

TROUBLE = hw.ModelEntry(
    id="trouble",
    name="Trouble",
    description="Counts its steps until something goes wrong.",
    params=(
        hw.u32("fails_at", "Fails at", 0, 0, 1_000_000, apply=Apply.RELOAD),
        hw.u32("gap_at", "Not a number from", 0, 0, 1_000_000, apply=Apply.RELOAD),
    ),
    stats=LEVEL,
    actions=(),
    metadata=GRID,
    factory=Trouble,
)

WIDE = hw.ModelEntry(
    id="wide",
    name="Wide",
    description="Has a parameter of each wide kind.",
    params=(
        hw.f64("level", "Level", 0.1, -1e300, 1e300, apply=Apply.RELOAD),
        hw.i64("offset", "Offset", -7, -(2**63), 2**63 - 1, apply=Apply.RELOAD),
        hw.text("rule", "Rule", "B3/S23", apply=Apply.RELOAD),
        hw.f32("share", "Share", 0.4, -1000.0, 1000.0, apply=Apply.RELOAD),
    ),
    stats=LEVEL,
    actions=(),
    metadata=GRID,
    factory=Wide,
)

REPORTING = replace(
    TROUBLE,
    id="reporting",
    name="Reporting",
    factory=Reporting,
    tables=(hw.Table("present", {"id": "i64", "name": "text", "share": "f64", "old": "bool"}),),
)

MODELS = hw.ModelSet([*hw.example_models().values(), TROUBLE, WIDE, REPORTING])
