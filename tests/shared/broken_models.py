"""Models that each break one rule of `henad_web.testing`, and one that keeps all."""

from __future__ import annotations

import datetime
import math
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import henad_web as hw
from tests.shared.broken_parts import Decays, decay

COLOURS = ((0, 0, 0), (255, 255, 255))


class Walker(hw.Model, abstract=True, palette=COLOURS):
    """A walker on a small grid that does not walk yet."""

    stride = hw.u32(3, min=1, max=9, apply=hw.Apply.LIVE)
    side = hw.u32(4, min=2, max=8)
    place = hw.stat()
    total = hw.stat()

    def setup(self) -> None:
        self.place, self.total = 0, 0
        self.population = self.side**2

    @property
    def grid(self) -> NDArray[np.uint8]:
        cells = np.zeros(self.side**2, np.uint8)
        cells[int(self.place)] = 1
        return cells.reshape(self.side, self.side)

    @hw.action()
    def home(self) -> None:
        """Take the walker home, and forget its way."""
        self.place, self.total = 0, -1


class Sound(Walker):
    """The walker, with everything that a model may have, and no rule broken."""

    def draw(self) -> int:
        """Return how far the walker goes."""
        return int(self.rng.integers(1, self.stride + 1))

    def step_once(self) -> None:
        self.place = (self.place + self.draw()) % self.side**2
        self.total += self.place


class Bare(hw.Model, portable=False):
    """Throws of a coin, with nothing that a model need not have."""

    heads = hw.stat()

    def setup(self) -> None:
        self.heads = 0

    def step_once(self) -> None:
        self.heads += self.rng.normal() > 0


class RaisesAtTheBuild(Sound):
    def setup(self) -> None:
        raise RuntimeError("no start")


class RaisesInAStep(Sound):
    def step_once(self) -> None:
        super().step_once()
        self.total //= 3 - self.tick


class ReportsNoNumber(Sound):
    def stats(self) -> Any:
        return {"place": self.place, "total": "many"}


class CountsWrong(Sound):
    @property
    def heap_bytes(self) -> int:
        return -1


class StartsAnywhereUnseeded(Sound):
    def setup(self) -> None:
        super().setup()
        if self.seed is None:
            self.total = int(np.random.default_rng().integers(1 << 40))


class ReportsAnother(Sound):
    def stats(self) -> dict[str, float]:
        found = super().stats()
        return found if self.tick < 5 else dict(reversed(found.items()))


class ReportsMore(Sound):
    def stats(self) -> dict[str, float]:
        return {**super().stats(), "extra": 1.0}


class DrawsFractions(Sound):
    @property
    def grid(self) -> Any:
        return super().grid / 2


class DrawsPastThePalette(Sound):
    @property
    def grid(self) -> NDArray[np.uint8]:
        return super().grid * 7


class GivesItsGridAway(hw.GridModel, palette=COLOURS, width=8, height=8):
    ones = hw.stat(lambda self: int(self.cells.sum()))

    def setup(self) -> None:
        self.cells = self.rng.integers(0, 2, self.shape).astype(np.uint8)

    def step_once(self) -> None:
        self.cells = np.roll(self.cells, 1, axis=0)

    @property
    def grid(self) -> NDArray[np.uint8]:
        return self.cells


class TakesEveryParameter(Sound):
    def set_param(self, id: str, value: Any) -> bool:
        return True


class TakesNoParameter(Sound):
    def set_param(self, id: str, value: Any) -> bool:
        return False


class ActsOnAnything(Sound):
    def act(self, action_id: str) -> bool:
        return True


class ActsInVain(Sound):
    @hw.action()
    def wave(self) -> None:
        """Change nothing."""


class DrawsFromTheSystem(Sound):
    def draw(self) -> int:
        return int(np.random.default_rng().integers(1 << 30))


class DrawsNothing(Sound):
    def draw(self) -> int:
        return 1


class StepsInLeaps(Walker):
    def step(self, n: int = 1) -> None:
        self.place = (self.place + n * n) % 16
        self.total = self.seed or 0


class StepsOnZero(Walker):
    def step(self, n: int = 1) -> None:
        for _ in range(n):
            self.place = (self.place + int(self.rng.integers(1, 4))) % 16
        self.total += n == 0


class ReadingMoves(Sound):
    def stats(self) -> dict[str, float]:
        self.total += 1
        return super().stats()


class SharesAPlace(Sound):
    shared: ClassVar[list[int]] = [0]

    def setup(self) -> None:
        super().setup()
        self.shared[0] = 0

    def step_once(self) -> None:
        self.shared[0] += self.draw()
        self.place = self.shared[0] % self.side**2


class Rows:
    """A batch of `Sound` models, a row each."""

    def __init__(self, params: Mapping[str, Any], seeds: Sequence[int]) -> None:
        self.states: list[Any] = [Sound(params, seed) for seed in seeds]

    @property
    def tick(self) -> int:
        return int(self.states[0].tick)

    @property
    def populations(self) -> NDArray[np.int64]:
        return np.array([state.population for state in self.states], np.int64)

    def step(self, n: int = 1) -> None:
        for state in self.states:
            state.step(n)

    def stats(self) -> dict[str, NDArray[np.float64]]:
        rows = [state.stats() for state in self.states]
        return {name: np.array([row[name] for row in rows], np.float64) for name in rows[0]}

    def act(self, action_id: str) -> NDArray[np.bool_]:
        return np.array([state.act(action_id) for state in self.states])

    def keep(self, rows: NDArray[np.intp]) -> None:
        self.states = [self.states[row] for row in rows]

    def grid_of(self, row: int) -> NDArray[np.uint8] | None:
        grid: NDArray[np.uint8] = self.states[row].grid
        return grid


class KeepsOthers(Rows):
    def keep(self, rows: NDArray[np.intp]) -> None:
        self.states = self.states[: len(rows)]


class DrawsTogether(Rows):
    def step(self, n: int = 1) -> None:
        for state in self.states:
            state._rng = self.states[0].rng
        super().step(n)


class RefusesActions(Rows):
    def act(self, action_id: str) -> NDArray[np.bool_]:
        return np.zeros(len(self.states), np.bool_)


class LosesItsGrids(Rows):
    def grid_of(self, row: int) -> NDArray[np.uint8] | None:
        return None


def as_many(rows: int, params: Mapping[str, Any]) -> int:
    """Return `rows`, whatever the parameters."""
    return rows


def in_batches(build: Callable[[Mapping[str, Any], Sequence[int]], Any], rows: int = 4) -> hw.ModelEntry:
    """Return the sound model with batches made by `build`."""
    return replace(Sound.entry(), batches=hw.BatchOffer(build=build, rows=partial(as_many, rows)))


class SeedsNumpy(Sound):
    def setup(self) -> None:
        super().setup()
        np.random.seed(7)


class SeedsRandom(Sound):
    def setup(self) -> None:
        super().setup()
        random.seed(self.seed)


class SetsTheEnvironment(Sound):
    def setup(self) -> None:
        super().setup()
        os.environ["HENAD_BROKEN_MODEL"] = str(self.seed)


runs_built = 0


class CountsRuns(Sound):
    def setup(self) -> None:
        super().setup()
        global runs_built
        runs_built += 1


class AsksTheTime(Sound):
    started = hw.stat()

    def setup(self) -> None:
        super().setup()
        self.started = 0 * time.time()


class AsksTheDate(Sound):
    def step_once(self) -> None:
        super().step_once()
        self.total += 0 * datetime.datetime.now().year


class DrawsFromRandom(Sound):
    def draw(self) -> int:
        state = random.getstate()
        random.seed(self.seed)
        random.randint(1, 3)
        random.setstate(state)
        return super().draw()


class DrawsFromNumpysGlobal(Sound):
    def draw(self) -> int:
        np.random.random()
        return super().draw()


class UsesTheNamesOfDistributions(Walker):
    """Breaks nothing: a parameter may be called as a distribution is, and a method, too."""

    f = hw.u32(1, min=1, max=3)
    beta = hw.u32(2, min=1, max=3)

    def power(self, number: int) -> int:
        """Return a number as it is."""
        return number

    def step_once(self) -> None:
        self.place = (self.place + self.power(int(self.rng.integers(self.f, 3 + self.beta)))) % 16


class Inherits(Decays):
    """Steps as its base does, which stands in another file."""


class CallsAnotherFile(Sound):
    def draw(self) -> int:
        return super().draw() + int(decay(9.0))


class ReportsALogarithm(Sound):
    @hw.stat
    def grown(self) -> float:
        return math.log1p(self.population)


class UsesMath(Sound):
    def draw(self) -> int:
        return super().draw() + int(math.exp(0))


class UsesANameOfMath(Sound):
    def draw(self) -> int:
        def deeper() -> float:
            return log(1.0)

        return super().draw() + int(deeper())


class UsesNumpy(Sound):
    def draw(self) -> int:
        return super().draw() + helper(0.0)


def helper(number: float) -> int:
    """Return 1, in a way that is not the same everywhere."""
    return int(np.exp(number))


class UsesADistribution(Sound):
    def draw(self) -> int:
        return 1 + int(abs(self.rng.normal()) * 100)


class Multiplies(Sound):
    def draw(self) -> int:
        return super().draw() + int((np.ones((2, 2)) @ np.ones(2))[0])


class UsesLinearAlgebra(Sound):
    def draw(self) -> int:
        return super().draw() + int(np.linalg.det(np.eye(2)))


class UsesRandomsGauss(Sound):
    def draw(self) -> int:
        return super().draw() + int(hw.py_random(self.seed).gauss(0, 1e-9))


@dataclass
class Forgetful:
    """A factory that comes back from a pickle with another stride."""

    stride: int = 3

    def __call__(self, params: Mapping[str, Any], seed: int | None) -> Sound:
        return Sound({**params, "stride": self.stride}, seed)

    def __reduce__(self) -> tuple[type[Forgetful], tuple[int]]:
        return Forgetful, (9,)


class NeedsASmallSeed(Sound):
    def setup(self) -> None:
        super().setup()
        if self.seed is not None and self.seed >= 1 << 32:
            raise OverflowError("seed must be between 0 and 2**32 - 1")
