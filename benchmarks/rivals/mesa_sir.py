"""The epidemic as a Mesa model: a fixed agent a cell, in the two phases of Mesa's Game of Life, run by `batch_run`."""

import mesa
from mesa.batchrunner import batch_run
from mesa.discrete_space import FixedAgent, OrthogonalMooreGrid
from race import INFECTION, INITIAL, RECOVERY, SIDE, STEPS, Race, enter

SUSCEPTIBLE, INFECTED, RECOVERED = range(3)


class Person(FixedAgent):
    """One cell. Its neighbours are looked up once, which is faster than asking for them in each step."""

    def __init__(self, model, cell):
        super().__init__(model)
        self.cell = cell
        self.state = INFECTED if model.random.random() < INITIAL else SUSCEPTIBLE
        self.next_state = self.state

    def meet(self):
        self.neighbours = list(self.cell.neighborhood.agents)

    def determine(self):
        if self.state == SUSCEPTIBLE:
            infected = sum(neighbour.state == INFECTED for neighbour in self.neighbours)
            if infected and self.random.random() >= self.model.escape[infected]:
                self.next_state = INFECTED
        elif self.state == INFECTED and self.random.random() < RECOVERY:
            self.next_state = RECOVERED

    def assume(self):
        self.state = self.next_state


class Epidemic(mesa.Model):
    """A torus of persons; the infected are counted before the first step and behind each."""

    def __init__(self, seed=None):
        super().__init__(seed=seed)
        self.escape = [(1.0 - INFECTION) ** count for count in range(9)]
        self.grid = OrthogonalMooreGrid((SIDE, SIDE), torus=True, capacity=1, random=self.random)
        for cell in self.grid.all_cells:
            Person(self, cell)
        self.agents.do("meet")
        self.datacollector = mesa.DataCollector(model_reporters={"Infected": count_infected})
        self.datacollector.collect(self)

    def step(self):
        self.agents.do("determine")
        self.agents.do("assume")
        self.datacollector.collect(self)


def count_infected(model):
    return sum(agent.state == INFECTED for agent in model.agents)


def run(runs, processes):
    return batch_run(
        Epidemic,
        parameters={"seed": range(runs)},
        number_processes=processes,
        max_steps=STEPS,
        data_collection_period=1,
        display_progress=False,
    )


def infected(rows):
    counts = {}
    for row in rows:
        counts.setdefault(row["RunId"], []).append(row["Infected"])
    return list(counts.values())


if __name__ == "__main__":
    enter(Race(version=mesa.__version__, run=run, infected=infected))
