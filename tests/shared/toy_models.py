"""Small models for tests: each shows one way a run can go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import henad_web as hw
from henad_web.model.entry import Backend, ModelEntry, ModelMetadata, Topology
from henad_web.model.faults import RefusedBuild
from henad_web.model.params import Param, ParamValue, u32
from henad_web.model.schema import Action, Stat

GREY = (128, 128, 128, 255)


class Toy:
    """A grid of 4 x 2 cells that counts its steps; subclasses say what goes wrong, and when."""

    heap_bytes = 1000
    parallel_jobs: int | None = None
    population = 8

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        self.tick = 0
        self.value = int(params["value"])
        self.seed = seed

    @property
    def grid(self) -> NDArray[np.uint8] | None:
        return np.full((2, 4), self.tick % 2, np.uint8)

    def step(self, n: int = 1) -> None:
        for _ in range(n):
            self.before_step()
            self.tick += 1

    def before_step(self) -> None:
        """Do nothing: the model only counts."""

    def stats(self) -> dict[str, float]:
        return {"Ticks": float(self.tick)}

    def act(self, action_id: str) -> bool:
        return False

    def set_param(self, id: str, value: ParamValue) -> bool:
        return False


class Divides(Toy):
    """Fails at its first step when `value` is 0."""

    def before_step(self) -> None:
        1 // self.value


class DividesAtBuild(Toy):
    """Fails at its build when `value` is 0."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        1 // self.value


class Refuses(Toy):
    """Refuses to be built when `value` is 0."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        if self.value == 0:
            raise RefusedBuild("a value of 0 makes no model")


class Exits(Toy):
    """Calls for the end of the program at tick `value`."""

    def before_step(self) -> None:
        if self.tick == self.value:
            raise SystemExit("enough\nof this")


class Inverse(Toy):
    """Reports 1 / (value - tick): not finite at tick `value`, and from there on."""

    def stats(self) -> dict[str, float]:
        left = self.value - self.tick
        return {"Inverse": 1.0 / left if left > 0 else float("inf")}


class Reshapes(Toy):
    """Reports one statistic more from tick `value` on."""

    def stats(self) -> dict[str, float]:
        return {"Ticks": float(self.tick)} | ({"More": 1.0} if self.tick >= self.value else {})


class Logs(Toy):
    """Knows the action ``mark``, which it refuses at tick `value`."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self.marks = 0

    def act(self, action_id: str) -> bool:
        if self.tick == self.value:
            return False
        self.marks += 1
        return True

    def stats(self) -> dict[str, float]:
        return {"Ticks": float(self.tick), "Marks": float(self.marks)}


class ToyRows:
    """Several toys on one axis, which leave whatever a toy does to a toy."""

    def __init__(self, toys: Sequence[Toy]) -> None:
        self.toys = list(toys)

    @property
    def tick(self) -> int:
        return self.toys[0].tick

    @property
    def populations(self) -> NDArray[np.int64]:
        return np.array([toy.population for toy in self.toys], np.int64)

    def step(self, n: int = 1) -> None:
        for toy in self.toys:
            toy.step(n)

    def stats(self) -> dict[str, NDArray[np.float64]]:
        stats = [toy.stats() for toy in self.toys]
        return {column: np.array([found[column] for found in stats]) for column in stats[0]}

    def act(self, action_id: str) -> NDArray[np.bool_]:
        return np.array([toy.act(action_id) for toy in self.toys])

    def keep(self, rows: NDArray[np.intp]) -> None:
        self.toys = [self.toys[row] for row in rows]

    def grid_of(self, row: int) -> NDArray[np.uint8] | None:
        return self.toys[row].grid


def entry_of(
    model: Callable[[Mapping[str, ParamValue], int | None], Toy],
    *,
    id: str = "toy",
    stats: tuple[str, ...] = ("Ticks",),
    actions: tuple[str, ...] = (),
    params: tuple[Param, ...] = (),
    backend: Backend = Backend.CPU,
) -> ModelEntry:
    """Return the entry of a toy, with a parameter `value` from 0 to 1000 that is 1 by default, then `params`."""
    return ModelEntry(
        id=id,
        name="Toy",
        description="A toy.",
        params=(u32("value", "Value", 1, 0, 1000), *params),
        stats=tuple(Stat(label, GREY) for label in stats),
        actions=tuple(Action(action, action.title()) for action in actions),
        metadata=ModelMetadata(
            backend=backend, palette=((0, 0, 0), (255, 255, 255)), topology=Topology.GRID, portable=True
        ),
        factory=model,
        source_module=__name__,
    )


def toy_spec(*values: int, steps: int = 10, **changes: Any) -> hw.SweepSpec:
    """Return a study of a toy: two runs for each of `values`, sampled every other tick."""
    factor = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=values))
    return hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(steps=steps, replicates=2),
        measure=hw.MeasureSettings(stats_every=2),
        blocks=(hw.BlockSpec(factors=(factor,)),),
        **changes,
    )
