"""The epidemic written out as loops over a grid that numba compiles: what a model costs without any framework."""

import numba
import numpy
from race import INFECTION, INITIAL, RECOVERY, SIDE, STEPS, Race, enter

SUSCEPTIBLE, INFECTED, RECOVERED = range(3)


@numba.njit(cache=False)
def epidemic(seed, side, steps, infection, recovery, initial):
    numpy.random.seed(seed)
    escape = numpy.empty(9)
    for count in range(9):
        escape[count] = (1.0 - infection) ** count
    old = numpy.zeros((side, side), numpy.uint8)
    new = numpy.zeros((side, side), numpy.uint8)
    counts = numpy.zeros(steps + 1, numpy.int64)
    for row in range(side):
        for column in range(side):
            if numpy.random.random() < initial:
                old[row, column] = INFECTED
                counts[0] += 1
    for step in range(steps):
        total = 0
        for row in range(side):
            above, below = (row or side) - 1, row + 1 if row + 1 < side else 0
            for column in range(side):
                state = old[row, column]
                if state == SUSCEPTIBLE:
                    left, right = (column or side) - 1, column + 1 if column + 1 < side else 0
                    infected = (
                        (old[above, left] == INFECTED)
                        + (old[above, column] == INFECTED)
                        + (old[above, right] == INFECTED)
                        + (old[row, left] == INFECTED)
                        + (old[row, right] == INFECTED)
                        + (old[below, left] == INFECTED)
                        + (old[below, column] == INFECTED)
                        + (old[below, right] == INFECTED)
                    )
                    if infected and numpy.random.random() >= escape[infected]:
                        state = INFECTED
                elif state == INFECTED and numpy.random.random() < recovery:
                    state = RECOVERED
                new[row, column] = state
                total += state == INFECTED
        old, new = new, old
        counts[step + 1] = total
    return counts


def run(runs, processes):
    return [epidemic(seed, SIDE, STEPS, INFECTION, RECOVERY, INITIAL).tolist() for seed in range(runs)]


if __name__ == "__main__":
    enter(Race(version=numba.__version__, run=run, infected=list, is_warmed=True))
