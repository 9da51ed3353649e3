"""The epidemic as a rule of CellPyLib, called with the neighbourhood of a cell; the infected are counted at the end."""

import random

import cellpylib
import numpy
from race import INFECTION, INITIAL, RECOVERY, SIDE, STEPS, Race, enter

SUSCEPTIBLE, INFECTED, RECOVERED = range(3)
ESCAPE = [(1.0 - INFECTION) ** count for count in range(9)]


def rule(neighbourhood, place, step):
    state = neighbourhood[1, 1]
    if state == SUSCEPTIBLE:
        infected = numpy.count_nonzero(neighbourhood == INFECTED)
        return INFECTED if infected and random.random() >= ESCAPE[infected] else SUSCEPTIBLE
    if state == INFECTED and random.random() < RECOVERY:
        return RECOVERED
    return state


def run(runs, processes):
    counts = []
    for seed in range(runs):
        random.seed(seed)
        start = [[INFECTED if random.random() < INITIAL else SUSCEPTIBLE for _ in range(SIDE)] for _ in range(SIDE)]
        states = cellpylib.evolve2d(numpy.array([start]), timesteps=STEPS + 1, apply_rule=rule, neighbourhood="Moore")
        counts.append([int(numpy.count_nonzero(state == INFECTED)) for state in states])
    return counts


if __name__ == "__main__":
    enter(Race(version=cellpylib.__version__, run=run, infected=list))
