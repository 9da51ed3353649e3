"""Searches in the plainest way, for their files to be held against: lists, everything reckoned anew each time.

Written from the rules alone: shares no code with `henad_web.search` and `henad_web.output` but the generator of draws
and the text of a number.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

import henad_web as hw
from henad_web.explore.cell_texts import number_text
from henad_web.model.params import ParamValue, f32
from henad_web.randomness import DesignRng, mix_seed
from tests.shared.toy_models import Toy, entry_of

REPLICATES = 2
ROOT = 11
TICKS = (1, 5)
"""What the tick of the action may be; the second one comes after the end."""

Outputs = tuple[float | None, float | None]


def outputs(value: int, share: float, tick: int, seed: int) -> Outputs | None:
    """Return what a run of `Hills` comes to, None of one that fails."""
    if value % 11 == 10:
        return None
    height = (seed % 1000) / 1000 - abs(value - 30) + share
    depth = value + (10.0 if tick == TICKS[0] else 0.0)
    return (None if value % 7 == 6 else height), depth


class Hills(Toy):
    """Is highest where its value is 30, with noise from its seed; fails at some values and is nowhere at others."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self._share, self._tick = float(str(params["share"])), TICKS[1]

    def act(self, action_id: str) -> bool:
        self._tick = TICKS[0]
        return True

    def before_step(self) -> None:
        if outputs(self.value, 0.0, 0, 0) is None:
            raise ValueError("no hill here")

    def stats(self) -> dict[str, float]:
        height, depth = outputs(self.value, self._share, self._tick, self.seed or 0) or (0.0, 0.0)
        numbers = {"Height": height, "Depth": depth}
        return {name: math.nan if number is None else number for name, number in numbers.items()}


HILLS = entry_of(
    Hills, stats=("Height", "Depth"), actions=("mark",), params=(f32("share", "Share", 0.5, 0.0, 1.0, step=0.01),)
)

GENETIC = hw.GeneticSettings(population=8, elite_count=2, tournament_size=2, mutation_rate=0.02, crossover_rate=0.4)
"""Mutations so rare that children repeat candidates, for all their 16 draws."""
NSGA2 = hw.Nsga2Settings(
    population=9, crossover_rate=0.5, crossover_index=1, mutation_rate=0.05, mutation_index=3
)  # fmt: skip
PSE = hw.PseSettings(
    x_axis=hw.AxisSpec(column="Height:max", cells=5),
    y_axis=hw.AxisSpec(column="Depth:final", cells=4, min=5, max=45),
    initial_samples=12,
)


def hills_spec(algorithm: str, evaluations: int = 60, batch: int = 5) -> hw.SweepSpec:
    """Return a search of `Hills` by `algorithm`."""
    settings = {"genetic": GENETIC, "pse": PSE, "nsga2": NSGA2}.get(algorithm)
    height = hw.ObjectiveSpec(column="Height:max", goal=hw.Goal.MAXIMIZE)
    depth = hw.ObjectiveSpec(column="Depth:final", goal=hw.Goal.MINIMIZE, aggregate=hw.Aggregate.MEAN)
    space = (
        hw.FactorSpec(param="value", levels=hw.RangeLevels(min=0, max=40)),
        hw.FactorSpec(param="share", levels=hw.RangeLevels(min=0.1, max=0.9)),
        hw.FactorSpec(action="mark", levels=hw.ValueLevels(values=TICKS)),
    )
    search = hw.SearchSpec(
        algorithm=hw.SearchAlgorithm(algorithm),
        max_evaluations=evaluations,
        batch_size=batch,
        space=space,
        objective=None if algorithm in ("pse", "nsga2") else height,
        objectives=(height, depth) if algorithm == "nsga2" else (),
        **({} if settings is None else {algorithm: settings}),  # type: ignore[arg-type]
    )
    reducers = (hw.ReducerSpec(column="Height", kind="max"), hw.ReducerSpec(column="Depth", kind="final"))
    return hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(steps=2, replicates=REPLICATES),
        measure=hw.MeasureSettings(default_reducers=False, reducers=reducers),
        seeds=hw.SeedSettings(root=ROOT),
        actions=(hw.ActionSpec(id="mark", tick=9),),
        search=search,
    )


Genome = tuple[float, float, float]
Values = tuple[int, float, int]


def values_of(genome: Genome) -> Values:
    value = min(int(genome[0] * 41), 40)
    share = float(np.clip(np.float32(0.1 + genome[1] * (0.9 - 0.1)), np.float32(0.1), np.float32(0.9)))
    return value, share, TICKS[min(int(genome[2] * 2), 1)]


@dataclass(frozen=True, kw_only=True)
class Evaluated:
    """One candidate with what its runs came to, None of a run that failed."""

    id: int
    batch: int
    genome: Genome
    origin: str
    parents: tuple[int, ...] = ()
    again: int | None = None
    offset: int = 0
    runs: tuple[Outputs | None, ...] = ()

    @property
    def subject(self) -> int:
        return self.id if self.again is None else self.again


Asked = tuple[str, Genome, tuple[int, ...], int | None]
"""Origin, genome, parents and the candidate that is evaluated again."""


@dataclass
class PlainSearch:
    """A search of `Hills`, done to its end.

    Attributes:
        told: Every candidate, in order.
        generations: Best, median and worst of each generation.
        standings: Of each batch its number, the candidates so far and, of patterns, the cells filled so far.
        places: Of each candidate its cells of evaluations.csv from x on, where it looks for patterns.
        cells: The candidates that landed in each cell, in order.
        x_range: Range of the x axis, once it is known.
        met: Candidates that the children bred last repeat.
    """

    algorithm: str
    evaluations: int = 60
    batch: int = 5
    told: list[Evaluated] = field(default_factory=list)
    generations: list[tuple[float, float, float]] = field(default_factory=list)
    standings: list[tuple[int, int, str]] = field(default_factory=list)
    places: dict[int, list[str]] = field(default_factory=dict)
    cells: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    x_range: tuple[float, float] | None = None
    met: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.rng = DesignRng(mix_seed(mix_seed(ROOT ^ 0x005EA6C45EED0001)))
        self.search()

    def search(self) -> None:
        """Do the whole search."""
        {"random": self._random, "genetic": self._genetic, "pse": self._pse}[self.algorithm]()

    @property
    def left(self) -> int:
        return self.evaluations - len(self.told)

    def draw(self) -> Genome:
        return self.rng.unit(), self.rng.unit(), self.rng.unit()

    def mutate(self, genome: Genome, rate: float, scale: float) -> Genome:
        genes = list(genome)
        for number in range(3):
            if self.rng.unit() < rate:
                if number == 2:
                    genes[number] = self.rng.unit()
                else:
                    moved = (genes[number] + scale * self.rng.triangular()) % 2.0
                    genes[number] = 2.0 - moved if moved > 1.0 else moved
        return genes[0], genes[1], genes[2]

    def evaluate(self, asked: Sequence[Asked]) -> None:
        """Evaluate one batch."""
        number = self.standings[-1][0] + 1 if self.standings else 0
        start = len(self.told)
        for origin, genome, parents, again in asked:
            offset = 0 if again is None else REPLICATES * sum(each.subject == again for each in self.told[:start])
            value, share, tick = values_of(genome)
            seeds = [mix_seed(mix_seed(ROOT ^ 0x005EE9005EED0001) + offset + rep) for rep in range(REPLICATES)]
            runs = tuple(outputs(value, share, tick, seed) for seed in seeds)
            self.told.append(
                Evaluated(
                    id=len(self.told), batch=number, genome=genome, origin=origin, parents=parents, again=again,
                    offset=offset, runs=runs,
                )
            )  # fmt: skip
        self.standings.append((number, len(self.told), ""))

    def objective(self, subject: int, until: int | None = None) -> float:
        """Return the median over all runs of `subject` among the first `until` candidates."""
        return median_of([run for each in self.told[:until] if each.subject == subject for run in each.runs])

    def ranked(self, subjects: Sequence[int], until: int | None = None) -> list[int]:
        return sorted(subjects, key=lambda each: (-self.objective(each, until), each))

    def _random(self) -> None:
        while self.left:
            self.evaluate([("random", self.draw(), (), None) for _ in range(min(self.batch, self.left))])

    def new(self, draw: Callable[[], Genome], proposed: list[Values]) -> Genome | int | None:
        """Return a genome that nobody has, the candidate that the first of 16 draws repeats, or None."""
        first = {values_of(each.genome): each.id for each in reversed(self.told) if each.again is None}
        drawn = []
        for _ in range(16):
            genome = draw()
            drawn.append(values_of(genome))
            if drawn[-1] not in first and drawn[-1] not in proposed:
                proposed.append(drawn[-1])
                return genome
        return first.get(drawn[0])

    def _genetic(self) -> None:
        proposed: list[Values] = []
        found = [self.new(self.draw, proposed) for _ in range(GENETIC.population)]
        queue: list[Asked] = [("random", each, (), None) for each in found if isinstance(each, tuple)]
        members: list[int] = []
        while self.left:
            first = len(self.told)
            while queue and self.left:
                count = min(self.batch, self.left)
                self.evaluate(queue[:count])
                queue = queue[count:]
            if queue:
                return
            children = [each.id for each in self.told[first:] if each.again is None]
            elites = self.ranked(members)[: GENETIC.elite_count]
            members = self.ranked([*dict.fromkeys([*elites, *children, *sorted(self.met)])])
            fitness = [self.objective(member) for member in members]
            self.generations.append((fitness[0], statistics.median(fitness), fitness[-1]))
            queue = self._bred(members, fitness)

    def _bred(self, members: list[int], fitness: list[float]) -> list[Asked]:
        again = members[: math.ceil(GENETIC.reevaluate_fraction * GENETIC.population - 1e-9)]
        queue: list[Asked] = [("reevaluation", self.told[each].genome, (), each) for each in again]
        proposed: list[Values] = []
        self.met = set()

        def tournament() -> int:
            winner = self.rng.index(len(members))
            for _ in range(GENETIC.tournament_size - 1):
                other = self.rng.index(len(members))
                winner = other if fitness[other] > fitness[winner] else winner
            return members[winner]

        for _ in range(GENETIC.population - GENETIC.elite_count):
            one = tournament()
            base, origin, parents = self.told[one].genome, "mutation", [one]
            if self.rng.unit() < GENETIC.crossover_rate:
                other = tournament()
                pairs = zip(base, self.told[other].genome, strict=True)
                genes = [mine if self.rng.unit() < 0.5 else theirs for mine, theirs in pairs]
                base, origin, parents = (genes[0], genes[1], genes[2]), "crossover", [one, other]
            found = self.new(partial(self.mutate, base, GENETIC.mutation_rate, GENETIC.mutation_scale), proposed)
            if isinstance(found, tuple):
                queue.append((origin, found, tuple(parents), None))
            elif found is not None:
                self.met.add(found)
                if found not in [again for *_, again in queue]:
                    queue.append(("reevaluation", self.told[found].genome, (), found))
        return queue

    def _pse(self) -> None:
        while len(self.told) < PSE.initial_samples:
            count = min(self.batch, PSE.initial_samples - len(self.told))
            start = len(self.told)
            self.evaluate([("random", self.draw(), (), None) for _ in range(count)])
            if len(self.told) == PSE.initial_samples:
                landed = [place for each in self.told if (place := place_of(each.runs)) is not None]
                xs = [x for x, _ in landed]
                margin = 0.05 * (max(xs) - min(xs))
                self.x_range = min(xs) - margin, max(xs) + margin
                held = self.told
            else:
                held = []
            self._file(held)
            self._place(self.told[start:])
        while self.left:
            cells = sorted(self.cells)
            asked: list[Asked] = []
            for _ in range(min(self.batch, self.left)):
                one, other = (cells[self.rng.index(len(cells))] for _ in range(2))
                rarer = other if len(self.cells[other]) < len(self.cells[one]) else one
                parent = self.cells[rarer][0]
                asked.append(("mutation", self.mutate(self.told[parent].genome, 1.0, 0.1), (parent,), None))
            start = len(self.told)
            self.evaluate(asked)
            self._file(self.told[start:])
            self._place(self.told[start:])

    def _file(self, candidates: Sequence[Evaluated]) -> None:
        for each in candidates:
            place = place_of(each.runs)
            if place is not None:
                self.cells.setdefault(self.cell(*place)[0], []).append(each.id)

    def _place(self, candidates: Sequence[Evaluated]) -> None:
        """Keep the cells of the rows of a batch, and how many cells are filled behind it."""
        for each in candidates:
            place = place_of(each.runs)
            if place is None:
                self.places[each.id] = [""] * 6
            elif self.x_range is None:
                self.places[each.id] = [*map(number_text, place), "", "", "", ""]
            else:
                cell, outside = self.cell(*place)
                flags = [str(flag).lower() for flag in (outside, self.cells[cell][0] == each.id)]
                self.places[each.id] = [*map(number_text, place), *map(str, cell), *flags]
        number, count, _ = self.standings.pop()
        self.standings.append((number, count, str(len(self.cells))))

    def cell(self, x: float, y: float) -> tuple[tuple[int, int], bool]:
        assert self.x_range is not None
        found, outside = [], False
        for value, (low, high), count in ((x, self.x_range, 5), (y, (5.0, 45.0), 4)):
            outside = outside or not low <= value <= high
            found.append(min(max(int((value - low) / (high - low) * count), 0), count - 1))
        return (found[0], found[1]), outside


def median_of(runs: Sequence[Outputs | None]) -> float:
    heights = [run[0] if run is not None and run[0] is not None else -math.inf for run in runs]
    return statistics.median(heights)


def place_of(runs: Sequence[Outputs | None]) -> tuple[float, float] | None:
    xs, ys = ([run[axis] for run in runs if run is not None and run[axis] is not None] for axis in (0, 1))
    known_xs, known_ys = [x for x in xs if x is not None], [y for y in ys if y is not None]
    return (statistics.median(known_xs), statistics.median(known_ys)) if known_xs and known_ys else None
