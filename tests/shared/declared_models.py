"""Models made from the base classes, for tests: a forest fire, a walk, and what they have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

import henad_web as hw


class ForestFire(hw.GridModel, width=24, height=16):
    """A forest that burns from its left edge.

    Fire goes to the four neighbours of a burning tree.
    """

    density = hw.f32(0.6, min=0, max=1, format=hw.Format.PERCENT)

    def setup(self) -> None:
        self.cells = (self.rng.random(self.shape) < self.density).astype(np.uint8)
        self.light()

    def step_once(self) -> None:
        burning = np.pad(self.cells == 2, 1)
        near = burning[:-2, 1:-1] | burning[2:, 1:-1] | burning[1:-1, :-2] | burning[1:-1, 2:]
        self.cells = np.where(self.cells == 2, 3, np.where((self.cells == 1) & near, 2, self.cells)).astype(np.uint8)

    def has_ended(self) -> bool:
        return self.burning == 0

    @hw.stat
    def burning(self) -> int:
        return int(np.count_nonzero(self.cells == 2))

    @hw.stat(label="Burnt trees", color=(120, 60, 30))
    def burnt(self) -> int:
        return int(np.count_nonzero(self.cells == 3))

    @hw.action
    def light(self) -> None:
        self.cells[:, 0] = np.where(self.cells[:, 0] == 1, 2, self.cells[:, 0])


class Walk(hw.Model, portable=False):
    """A walker on a line."""

    drift = hw.f64(0.25, min=-1, max=1, apply=hw.Apply.LIVE)
    start = hw.i64(0, min=-10, max=10)
    place = hw.stat()

    def setup(self) -> None:
        self.place = float(self.start)
        self.population = 1

    def step(self, n: int = 1) -> None:
        self.place += n * self.drift

    @hw.action(label="Go home")
    def go_home(self) -> bool:
        is_away = self.place != 0.0
        self.place = 0.0
        return is_away


def study_of(model: type[hw.Model], steps: int = 20, **fields: Any) -> hw.SweepSpec:
    """Return a study of `model` with two replicates, sampled every third tick."""
    fields.setdefault("measure", hw.MeasureSettings(stats_every=3, series_every=3))
    return hw.SweepSpec(model=model.entry().id, run=hw.RunSettings(steps=steps, replicates=2), **fields)
