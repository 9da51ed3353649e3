"""Models that the page does not offer, for tests: `page_with_models` runs this file inside the page before it starts.

Owns no test. It stands alone, since the page has it as text and no other file of the tests.
"""

from __future__ import annotations

from collections.abc import Mapping

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


TROUBLE = hw.ModelEntry(
    id="trouble",
    name="Trouble",
    description="Counts its steps until something goes wrong.",
    params=(
        hw.u32("fails_at", "Fails at", 0, 0, 1_000_000, apply=Apply.RELOAD),
        hw.u32("gap_at", "Not a number from", 0, 0, 1_000_000, apply=Apply.RELOAD),
    ),
    stats=(hw.Stat("Level", (0, 128, 255, 255)),),
    actions=(),
    metadata=hw.ModelMetadata(backend=hw.Backend.CPU, palette=((21, 21, 21), (0, 230, 118)), topology=hw.Topology.GRID),
    factory=Trouble,
)

MODELS = hw.ModelSet([*hw.example_models().values(), TROUBLE])
