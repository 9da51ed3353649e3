"""NSGA-II in the plainest way, for its files to be held against: every front peeled, every distance looked for anew."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial

from tests.shared.plain_searches import NSGA2, Asked, Genome, Outputs, PlainSearch

Point = tuple[float, float]


def objectives_of(runs: list[Outputs | None]) -> Point:
    """Return the median height and the mean depth, to be large and to be small; a value that lacks is the worst."""
    heights = sorted(-math.inf if run is None or run[0] is None else run[0] for run in runs)
    depths = [math.inf if run is None or run[1] is None else run[1] for run in runs]
    middle = len(heights) // 2
    height = heights[middle] if len(heights) % 2 else (heights[middle - 1] + heights[middle]) / 2
    return height, sum(depths) / len(depths)


def dominates(one: Point, other: Point) -> bool:
    return one != other and one[0] >= other[0] and one[1] <= other[1]


def fronts_of(points: dict[int, Point]) -> list[list[int]]:
    """Return the ids of each front, in rising order."""
    fronts, left = [], sorted(points)
    while left:
        fronts.append([one for one in left if not any(dominates(points[other], points[one]) for other in left)])
        left = [one for one in left if one not in fronts[-1]]
    return fronts


def distances_of(front: list[int], points: dict[int, Point]) -> dict[int, float]:
    """Return the crowding distance of each of `front`."""
    found = dict.fromkeys(front, 0.0)
    for place, sign in ((0, -1.0), (1, 1.0)):
        costs = [(sign * points[one][place], one) for one in front]
        line = sorted((cost, one) for cost, one in costs if math.isfinite(cost))
        if not line or line[0][0] == line[-1][0]:
            continue
        for at, (_, one) in enumerate(line):
            if at in (0, len(line) - 1):
                found[one] = math.inf
            else:
                found[one] += (line[at + 1][0] - line[at - 1][0]) / (line[-1][0] - line[0][0])
    return found


@dataclass
class PlainFronts(PlainSearch):
    """A search of `Hills` for two objectives, done to its end.

    Attributes:
        rows: Members, size of the first front, and best, median and worst of both objectives, of each generation.
        sizes: Of each batch the size of the first front of the last generation behind it, None before one.
    """

    rows: list[tuple[int, int, list[float]]] = field(default_factory=list)
    sizes: list[int | None] = field(default_factory=list)

    def point(self, subject: int, until: int | None = None) -> Point:
        """Return both objectives of all runs of `subject` among the first `until` candidates."""
        return objectives_of([run for each in self.told[:until] if each.subject == subject for run in each.runs])

    def front(self) -> list[tuple[int, float]]:
        """Return the first front of all that was told with its distances, as it is written."""
        points = {each.subject: self.point(each.subject) for each in self.told}
        first = fronts_of(points)[0]
        distances = distances_of(first, points)
        return sorted(distances.items(), key=lambda each: (-each[1], each[0]))

    def search(self) -> None:
        proposed: list[tuple[int, float, int]] = []
        found = [self.new(self.draw, proposed) for _ in range(NSGA2.population)]
        queue: list[Asked] = [("random", each, (), None) for each in found if isinstance(each, tuple)]
        members: list[tuple[int, float, int]] = []
        while True:
            first = len(self.told)
            while queue and self.left:
                count = min(self.batch, self.left)
                self.evaluate(queue[:count])
                queue = queue[count:]
                self.sizes.append(self.rows[-1][1] if self.rows else None)
            if queue:
                return
            children = {each.id for each in self.told[first:] if each.again is None}
            members = self._left({*(one for *_, one in members), *children, *self.met})
            self.sizes[-1] = self.rows[-1][1]
            if not self.left:
                return
            queue = self._children(members)

    def _left(self, ids: set[int]) -> list[tuple[int, float, int]]:
        """Return who goes on of `ids`: front, distance turned round, id."""
        points = {one: self.point(one) for one in ids}
        keyed = []
        for number, front in enumerate(fronts_of(points)):
            keyed += [(number, -distance, one) for one, distance in distances_of(front, points).items()]
        members = sorted(keyed)[: NSGA2.population]
        bounds = []
        heights = sorted((points[one][0] for *_, one in members), reverse=True)
        depths = sorted(points[one][1] for *_, one in members)
        middle = len(members) // 2
        for place in (0, middle, -1):
            for line in (heights, depths):
                even = place == middle and len(members) % 2 == 0
                bounds.append((line[middle - 1] + line[middle]) / 2 if even else line[place])
        self.rows.append((len(members), sum(number == 0 for number, *_ in members), bounds))
        return members

    def _children(self, members: list[tuple[int, float, int]]) -> list[Asked]:
        queue: list[Asked] = []
        proposed: list[tuple[int, float, int]] = []
        self.met = set()

        def tournament() -> int:
            one, other = (members[self.rng.index(len(members))] for _ in range(2))
            return (other if other[:2] < one[:2] else one)[2]

        for number in range(0, NSGA2.population, 2):
            parents = tournament(), tournament()
            genomes = self.told[parents[0]].genome, self.told[parents[1]].genome
            own: list[tuple[int, ...]] = [parents[:1], parents[1:]]
            origin = "mutation"
            if self.rng.unit() < NSGA2.crossover_rate:
                genomes, origin, own = self._cross(*genomes), "crossover", [parents, parents]
            for genome, its in list(zip(genomes, own, strict=True))[: NSGA2.population - number]:
                found = self.new(partial(self._polynomial, genome), proposed)
                if isinstance(found, tuple):
                    queue.append((origin, found, its, None))
                elif found is not None:
                    self.met.add(found)
                    if found not in [again for *_, again in queue]:
                        queue.append(("reevaluation", self.told[found].genome, (), found))
        return queue

    def _cross(self, first: Genome, second: Genome) -> tuple[Genome, Genome]:
        """Cross with the distribution index 1: square roots."""
        pairs = []
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            if self.rng.unit() >= 0.5:
                pairs.append((one, other))
            elif number == 2:
                pairs.append((other, one))
            elif abs(one - other) <= 1e-14:
                pairs.append((one, other))
            else:
                low, high, drawn = min(one, other), max(one, other), self.rng.unit()
                ends = []
                for room, sign in ((low, -1.0), (1.0 - high, 1.0)):
                    beta = 1.0 + 2.0 * room / (high - low)
                    share = drawn * (2.0 - 1.0 / (beta * beta))
                    spread = math.sqrt(share if share <= 1.0 else 1.0 / (2.0 - share))
                    ends.append(min(max(0.5 * (low + high + sign * spread * (high - low)), 0.0), 1.0))
                pairs.append((ends[1], ends[0]) if self.rng.unit() < 0.5 else (ends[0], ends[1]))
        one_child, other_child = zip(*pairs, strict=True)
        return one_child, other_child

    def _polynomial(self, genome: Genome) -> Genome:
        """Mutate with the distribution index 3: square roots of square roots."""
        genes = list(genome)
        rate = NSGA2.mutation_rate_over(3)
        for number, gene in enumerate(genome):
            if self.rng.unit() >= rate:
                continue
            drawn = self.rng.unit()
            if number == 2:
                genes[number] = drawn
                continue
            room = 1.0 - gene if drawn < 0.5 else gene
            near = (room * room) * (room * room)
            if drawn < 0.5:
                moved = gene + math.sqrt(math.sqrt(2.0 * drawn + (1.0 - 2.0 * drawn) * near)) - 1.0
            else:
                moved = gene + 1.0 - math.sqrt(math.sqrt(2.0 * (1.0 - drawn) + 2.0 * (drawn - 0.5) * near))
            genes[number] = min(max(moved, 0.0), 1.0)
        return genes[0], genes[1], genes[2]
