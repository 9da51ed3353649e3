"""A model with whatever a search may meet: values of every kind, noise, runs that fail, and numbers that are none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import henad_web as hw
from henad_web.model.params import ParamValue, boolean, choice, f32, f64
from henad_web.randomness import mix_seed
from tests.shared.toy_models import Toy, ToyRows, entry_of

ODD_HEIGHTS = (math.nan, math.inf, -math.inf, -0.0, 1e308, -1e308, 5e-324, 1 / 3)
"""What a height is at some values: no number, not finite, zero from below, and where sums overflow."""

CROWD = hw.Table("crowd", {"id": "i64", "height": "f64"})


class Rough(Toy):
    """Fails at build or in a step at some values; is nowhere, infinitely high or a plain hill at others."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        if self.value % 13 == 12:
            raise ValueError("nothing is built here")
        self._share, self._fine = float(str(params["share"])), float(str(params["fine"]))
        self._bonus = ("low", "mid", "high").index(str(params["mode"])) + (4 if params["flag"] else 0)
        self._marks = 0

    def act(self, action_id: str) -> bool:
        self._marks += 1 + self.tick
        return True

    def before_step(self) -> None:
        if self.value % 11 == 10 and self.tick == 1:
            raise ValueError("no step from here")

    def stats(self) -> dict[str, float]:
        noise = mix_seed((self.seed or 0) ^ self.tick) % 1000 / 1000.0
        height = noise - abs(self.value - 30) + self._share + self._bonus + self._marks - self._fine
        if self.value % 5 == 4:
            height = ODD_HEIGHTS[(self.value + (self.seed or 0)) % len(ODD_HEIGHTS)]
        depth = math.nan if self.value % 7 == 6 else self._fine + self.value - self._bonus + self.tick
        return {"Height": height, "Depth": depth, "Ticks": float(self.tick)}

    def table(self, name: str) -> Mapping[str, Any]:
        ids = np.arange((self.tick + (self.seed or 0)) % 3)
        return {"id": ids, "height": ids / 3.0 + self.value}


class RoughRows(ToyRows):
    """Several of them stepped together; one that fails costs all of them their batch."""

    def __init__(self, params: Mapping[str, ParamValue], seeds: Any) -> None:
        super().__init__([Rough(params, seed) for seed in seeds])

    def table_of(self, name: str, row: int) -> Mapping[str, Any]:
        toy = self.toys[row]
        assert isinstance(toy, Rough)
        return toy.table(name)


ROUGH = replace(
    entry_of(
        Rough,
        stats=("Height", "Depth", "Ticks"),
        actions=("mark",),
        params=(
            f32("share", "Share", 0.5, 0.0, 1.0, step=0.01),
            f64("fine", "Fine", 0.0, -5.0, 5.0),
            choice("mode", "Mode", ("low", "mid", "high")),
            boolean("flag", "Flag", False),
        ),
    ),
    tables=(CROWD,),
    batches=hw.BatchOffer(build=RoughRows, rows=lambda params: 4),
)
