"""Models of Mesa's kind that do what its examples do not."""

from __future__ import annotations

from typing import Any, Literal

import mesa

Form = Literal["ring", "line"]


class Walkers(mesa.Model):
    """Agents on a line that step to either side."""

    def __init__(
        self,
        N: int = 5,
        width: float = 10,
        form: Form = "ring",
        is_fast: bool = False,
        name: str = "walk",
        population: int = 3,
        place: Any = None,
        seed: Any = None,
    ) -> None:
        super().__init__(seed=seed)
        self.given = (N, width, form, is_fast, name, population, place)
        for _ in range(N):
            mesa.Agent(self)
        self.place, self.ids = 0.0, [agent.unique_id for agent in self.agents]
        self.datacollector = mesa.DataCollector(
            model_reporters={"place": "place", "ids": lambda model: sum(model.ids)},
            agent_reporters={"id": "unique_id", "half": lambda agent: agent.unique_id / 2},
        )
        self.datacollector.collect(self)

    def step(self) -> None:
        self.place += self.random.random() - 0.5
        if self.steps % 2 == 0:
            self.datacollector.collect(self)
        self.running = self.steps < 7


class Listing(mesa.Model):
    """Collects a list beside a number, and only where asked for, goes wrong."""

    def __init__(self, fails: bool = False, rng: Any = None) -> None:
        super().__init__(rng=rng)
        mesa.Agent(self)
        self.datacollector = mesa.DataCollector(model_reporters={"one": lambda model: 1, "several": lambda model: [1]})
        self.datacollector.collect(self)
        if fails:
            raise ValueError("as asked")


class Unseeded(mesa.Model):
    """Takes no seed."""

    def __init__(self, size: int = 3) -> None:
        super().__init__()


class AnyArguments(mesa.Model):
    """Passes on what it does not know, and reports nothing."""

    def __init__(self, size: int, /, share: float = 0.5, **others: Any) -> None:
        super().__init__(**{name: value for name, value in others.items() if name in ("seed", "rng")})
        self.size, self.share, self.others = size, share, others
        self.draw = self.random.random()
