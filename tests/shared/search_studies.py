"""Searches without models: spaces, functions in place of runs, and a driver that asks and tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from henad_web.explore.levels import ContinuousDomain, Domain, WholeDomain
from henad_web.explore.search_spec import (
    AxisSpec,
    CmaEsSettings,
    GeneticSettings,
    Goal,
    HillClimbSettings,
    Nsga2Settings,
    ObjectiveSpec,
    PseSettings,
    SearchAlgorithm,
    SearchSettings,
    SearchSpec,
)
from henad_web.explore.spec import AllLevels, FactorSpec
from henad_web.model.params import ParamValue
from henad_web.randomness import DesignRng, mix_seed
from henad_web.search.algorithms import searcher_of
from henad_web.search.searcher import Candidate, Evaluation, SteadySearcher, Watched
from henad_web.search.space import SearchSpace

PLANE: tuple[Domain, ...] = (ContinuousDomain(0.0, 1.0), ContinuousDomain(0.0, 1.0))
FIFTEEN: tuple[Domain, ...] = (WholeDomain(1, 5), ("a", "b", "c"))
"""A space of 15 configs."""

MAXIMIZE = ObjectiveSpec(column="value", goal=Goal.MAXIMIZE)
BOTH = (MAXIMIZE, ObjectiveSpec(column="other", goal=Goal.MINIMIZE))
ANY = FactorSpec(param="any", levels=AllLevels())

Run = Callable[[tuple[ParamValue, ...], int, int], Watched]
"""What replicate `rep` of a subject gives of each watched column: by the subject's values, its id and `rep`."""


def noise(candidate_id: int, rep: int) -> float:
    """Return the noise of one run, from -0.5 to 0.5."""
    return DesignRng(mix_seed(candidate_id) ^ rep).unit() - 0.5


def flat(values: tuple[ParamValue, ...], subject: int, rep: int) -> Watched:
    """Return the same for every run."""
    return (0.0,)


def noisy_peak(values: tuple[ParamValue, ...], subject: int, rep: int) -> Watched:
    """Return a peak at 0.7 of every number, with noise."""
    height = 0.1 * noise(subject, rep)
    for value in values:  # one after the other: a sum is compensated in some versions of Python and not in others
        height -= (float(value) - 0.7) * (float(value) - 0.7)
    return (height,)


def noisy_sum(values: tuple[ParamValue, ...], subject: int, rep: int) -> Watched:
    """Return the first number and the letter's position, with noise."""
    number, letter = values
    return (float(number) + "abc".index(str(letter)) + noise(subject, rep),)


def search_spec(
    settings: SearchSettings | None,
    evaluations: int,
    batch: int = 16,
    *,
    objectives: tuple[ObjectiveSpec, ...] = BOTH,
) -> SearchSpec:
    """Return a search with `settings`, None for a random one; for `MAXIMIZE` or `objectives`, as it takes them."""
    kinds: dict[type, str] = {HillClimbSettings: "hill_climb", GeneticSettings: "genetic", PseSettings: "pse"}
    kinds |= {CmaEsSettings: "cma_es", Nsga2Settings: "nsga2", type(None): "random"}
    name = kinds[type(settings)]
    given = {} if settings is None else {name: settings}
    return SearchSpec(
        algorithm=SearchAlgorithm(name),
        max_evaluations=evaluations,
        batch_size=batch,
        space=(ANY,),
        objective=None if name in ("pse", "nsga2") else MAXIMIZE,
        objectives=objectives if name == "nsga2" else (),
        **given,  # type: ignore[arg-type]
    )


def axis(low: float | None = 0.0, high: float | None = 1.0, cells: int = 10) -> AxisSpec:
    return AxisSpec(column="value", cells=cells, min=low, max=high)


def pse(initial: int = 4, x_axis: AxisSpec | None = None, y_axis: AxisSpec | None = None) -> PseSettings:
    return PseSettings(x_axis=x_axis or axis(), y_axis=y_axis or axis(), initial_samples=initial)


@dataclass
class Driver:
    """Asks a search and tells it what a function gives, batch by batch.

    Attributes:
        spec: The search.
        domains: What its factors take.
        run: What one run gives.
        replicates: Runs of each candidate.
        seed: Seed of the search.
        batches: The candidates of each ask.
    """

    spec: SearchSpec
    domains: tuple[Domain, ...] = PLANE
    run: Run = noisy_peak
    replicates: int = 2
    seed: int = 7
    batches: list[tuple[Candidate, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.space = SearchSpace(self.domains)
        self.searcher: SteadySearcher = searcher_of(self.spec, self.space, self.seed)

    def evaluation(self, candidate: Candidate) -> Evaluation:
        values = self.space.values(candidate.genome)
        reps = range(candidate.replicate_offset, candidate.replicate_offset + self.replicates)
        runs = tuple(self.run(values, candidate.subject_id, rep) for rep in reps)
        return Evaluation(candidate.candidate_id, runs)

    def ask(self) -> tuple[Candidate, ...]:
        batch = self.searcher.ask(self.spec.batch_size)
        if batch:
            self.batches.append(batch)
        return batch

    def tell(self, batch: Iterable[Candidate]) -> None:
        self.searcher.tell(map(self.evaluation, batch))

    def drive(self, batches: int | None = None) -> Driver:
        """Ask and tell until the search is over, or `batches` times, and return the driver itself."""
        while batches is None or len(self.batches) < batches:
            batch = self.ask()
            if not batch:
                break
            self.tell(batch)
        return self

    @property
    def sizes(self) -> list[int]:
        return [len(batch) for batch in self.batches]

    @property
    def candidates(self) -> list[Candidate]:
        return [candidate for batch in self.batches for candidate in batch]
