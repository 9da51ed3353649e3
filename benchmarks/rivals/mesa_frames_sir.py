"""The epidemic as a Mesa-frames model: a row a cell, all stepped at once by expressions of Polars.

Its grid, asked for the neighbourhoods of all cells, tells every cell as the neighbour of one other only; so the rows of
a cell's neighbours are computed here, once a run.
"""

import importlib.metadata

import polars
from mesa_frames import AgentSetPolars, ModelDF
from race import INFECTION, INITIAL, RECOVERY, SIDE, STEPS, Race, enter

SUSCEPTIBLE, INFECTED, RECOVERED = range(3)
NEIGHBOURS = [f"neighbour_{position}" for position in range(8)]
OFFSETS = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]
CELLS = SIDE * SIDE


class Persons(AgentSetPolars):
    """All cells, in rows from the top left, each with the rows of its neighbours."""

    def __init__(self, model):
        super().__init__(model)
        frame = polars.DataFrame(
            {"unique_id": range(CELLS), "state": (model.random.random(CELLS) < INITIAL).astype("uint8")}
        )
        row, column = polars.col("unique_id") // SIDE, polars.col("unique_id") % SIDE
        self.add(
            frame.with_columns(
                ((row + down + SIDE) % SIDE * SIDE + (column + right + SIDE) % SIDE).cast(polars.UInt32).alias(name)
                for name, (down, right) in zip(NEIGHBOURS, OFFSETS, strict=True)
            )
        )

    def step(self):
        state, draw = polars.col("state"), polars.Series(self.random.random(CELLS))
        is_infected = (state == INFECTED).cast(polars.UInt8)
        infected = polars.sum_horizontal(is_infected.gather(polars.col(name)) for name in NEIGHBOURS)
        escape = polars.lit(1.0 - INFECTION).pow(infected)
        self.agents = self.agents.with_columns(
            polars.when((state == SUSCEPTIBLE) & (infected > 0) & (draw >= escape))
            .then(polars.lit(INFECTED, polars.UInt8))
            .when((state == INFECTED) & (draw < RECOVERY))
            .then(polars.lit(RECOVERED, polars.UInt8))
            .otherwise(state)
            .alias("state")
        )

    def infected_count(self):
        return int((self.agents["state"] == INFECTED).sum())


class Epidemic(ModelDF):
    """A torus of persons."""

    def __init__(self, seed):
        super().__init__(seed)
        self.persons = Persons(self)
        self.agents += self.persons

    def step(self):
        self.agents.do("step")


def run(runs, processes):
    counts = []
    for seed in range(runs):
        model = Epidemic(seed)
        infected = [model.persons.infected_count()]
        for _ in range(STEPS):
            model.step()
            infected.append(model.persons.infected_count())
        counts.append(infected)
    return counts


if __name__ == "__main__":
    enter(Race(version=importlib.metadata.version("mesa-frames"), run=run, infected=list, is_warmed=True))
