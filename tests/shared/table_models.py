"""Models with tables of their own for tests: each shows one way a table can go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import henad_web as hw
from tests.shared.toy_models import Toy, entry_of

AGENTS = hw.Table("agents", {"id": "i64", "wealth": "f64", "age": "f32", "mood": "text", "alive": "bool"})
EDGES = hw.Table("edges", {"a": "i64", "b": "i64"})


class Herd(Toy):
    """As many agents as its tick, `value` and seed have it, none at all at times, and edges between some of them.

    The moods hold what a table has to quote. It fails in the step from tick 3 where `value` is 0.
    """

    def before_step(self) -> None:
        if self.tick == 3:
            1 // self.value

    def table(self, name: str) -> Mapping[str, Any]:
        if name == "edges":
            count = self.tick % 2
            return {"a": np.arange(count), "b": np.full(count, self.value)}
        ids = np.arange((self.tick + int(self.seed or 0)) % 4)
        moods = ["calm", 'says "12,\n0,', "", "line\nbreak"]
        return {
            "id": ids,
            "wealth": np.where(ids == 2, np.inf, (ids + self.tick) / 3.0),
            "age": (ids / 3).astype(np.float32),
            "mood": [moods[id] for id in ids],
            "alive": ids % 2 == 0,
        }


class HerdRows:
    """Several herds on one axis, each as it is alone."""

    def __init__(self, params: Mapping[str, hw.ParamValue], seeds: Sequence[int]) -> None:
        self.herds = [Herd(params, seed) for seed in seeds]

    @property
    def tick(self) -> int:
        return self.herds[0].tick

    @property
    def populations(self) -> NDArray[np.int64]:
        return np.full(len(self.herds), 8, np.int64)

    def step(self, n: int = 1) -> None:
        for herd in self.herds:
            herd.step(n)

    def stats(self) -> dict[str, NDArray[np.float64]]:
        return {"Ticks": np.array([float(herd.tick) for herd in self.herds])}

    def act(self, action_id: str) -> NDArray[np.bool_]:
        return np.zeros(len(self.herds), np.bool_)

    def keep(self, rows: NDArray[np.intp]) -> None:
        self.herds = [self.herds[row] for row in rows.tolist()]

    def grid_of(self, row: int) -> NDArray[np.uint8] | None:
        return None

    def table_of(self, name: str, row: int) -> Mapping[str, Any]:
        return self.herds[row].table(name)


class UntoldRows(HerdRows):
    """Herds that offer no table together."""

    table_of = None  # type: ignore[assignment]


HERD = replace(entry_of(Herd), tables=(AGENTS, EDGES))
"""Its id is ``toy``, its parameter `value`, its one statistic ``Ticks``."""


def batched(rows: type[HerdRows]) -> hw.ModelEntry:
    """Return the herds with `rows` stepped together."""
    return replace(HERD, batches=hw.BatchOffer(build=rows, rows=lambda params: 8))


def herd_spec(
    values: tuple[int, ...] = (1, 0, 2),
    *,
    tables: tuple[str, ...] = ("agents", "edges"),
    every: int | None = 2,
    steps: int = 5,
    replicates: int = 2,
    **run: Any,
) -> hw.SweepSpec:
    """Return a sweep of herds: one config a value."""
    factor = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=values))
    return hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(steps=steps, replicates=replicates, **run),
        measure=hw.MeasureSettings(stats_every=1, series_every=2, tables=tables, tables_every=every),
        blocks=(hw.BlockSpec(factors=(factor,)),),
    )
