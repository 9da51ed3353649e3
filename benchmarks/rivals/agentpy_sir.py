"""The epidemic as an AgentPy model: an agent a cell of a torus, run by `Experiment`."""

import agentpy
from race import INFECTION, INITIAL, RECOVERY, SIDE, STEPS, Race, enter

SUSCEPTIBLE, INFECTED, RECOVERED = range(3)


class Person(agentpy.Agent):
    """One cell. Its neighbours are looked up once, which is faster than asking for them in each step."""

    def setup(self):
        self.random = self.model.random
        self.state = INFECTED if self.random.random() < INITIAL else SUSCEPTIBLE
        self.next_state = self.state

    def meet(self):
        self.neighbours = list(self.model.grid.neighbors(self))

    def determine(self):
        if self.state == SUSCEPTIBLE:
            infected = sum(neighbour.state == INFECTED for neighbour in self.neighbours)
            if infected and self.random.random() >= self.model.escape[infected]:
                self.next_state = INFECTED
        elif self.state == INFECTED and self.random.random() < RECOVERY:
            self.next_state = RECOVERED

    def assume(self):
        self.state = self.next_state


class Epidemic(agentpy.Model):
    """A torus of persons; AgentPy calls `update` before the first step and behind each."""

    def setup(self):
        self.escape = [(1.0 - INFECTION) ** count for count in range(9)]
        self.persons = agentpy.AgentList(self, SIDE * SIDE, Person)
        self.grid = agentpy.Grid(self, (SIDE, SIDE), torus=True)
        self.grid.add_agents(self.persons, [(row, column) for row in range(SIDE) for column in range(SIDE)])
        self.persons.meet()

    def step(self):
        self.persons.determine()
        self.persons.assume()

    def update(self):
        self.record("Infected", sum(person.state == INFECTED for person in self.persons))


def run(runs, processes):
    sample = agentpy.Sample({"steps": STEPS})
    experiment = agentpy.Experiment(Epidemic, sample, iterations=runs, record=True)
    return experiment.run(n_jobs=processes, display=False)


def infected(results):
    counts = results.variables.Epidemic["Infected"].tolist()
    return [counts[first : first + STEPS + 1] for first in range(0, len(counts), STEPS + 1)]


if __name__ == "__main__":
    enter(Race(version=agentpy.__version__, run=run, infected=infected))
