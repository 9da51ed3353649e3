"""The types of a search: which algorithm, how many evaluations, over what, for what.

Immutable values and nothing else. What each algorithm does with its settings is the business of `henad_web.search`, and
what they may be that of `search_checks`.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import structs

from henad_web.explore.spec_table import FactorSpec, SpecTable

__all__ = [
    "LEAST_SAMPLES",
    "DISTRIBUTION_INDICES",
    "MOST_AT_ONCE",
    "MOST_MEMBERS",
    "MOST_SAMPLED_FACTORS",
    "MOST_SAMPLES",
    "SETTINGS",
    "Aggregate",
    "AxisSpec",
    "CmaEsSettings",
    "GeneticSettings",
    "Goal",
    "HillClimbSettings",
    "Nsga2Settings",
    "ObjectiveSpec",
    "PseSettings",
    "SearchAlgorithm",
    "SearchSettings",
    "SearchSpec",
]


MOST_AT_ONCE = 2**24
"""Most candidates of a batch, and most runs of one."""

MOST_MEMBERS = 2**16
"""Most members of a population, and of a tournament."""

DISTRIBUTION_INDICES = (0, 1, 3, 7, 15, 31, 63)
"""Distribution indices of crossover and mutation: one less than a power of two, whose roots are the same everywhere."""

LEAST_SAMPLES, MOST_SAMPLES = 4, 2**12
"""Samples of a CMA-ES generation: of fewer no second one has a weight, and of more an update takes seconds."""

MOST_SAMPLED_FACTORS = 100
"""Most factors of a CMA-ES, whose work grows with their cube: of 100 the longest piece took 21 ms in Chromium."""


class SearchAlgorithm(StrEnum):
    """How a search chooses what to run next."""

    RANDOM = "random"
    HILL_CLIMB = "hill_climb"
    GENETIC = "genetic"
    PSE = "pse"
    NSGA2 = "nsga2"
    CMA_ES = "cma_es"
    CUSTOM = "custom"

    @property
    def is_portable(self) -> bool:
        """Whether it asks for the same candidates on every machine when it is told the same."""
        return self is not SearchAlgorithm.CMA_ES


class Goal(StrEnum):
    """Which end of an objective is the better one."""

    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"


class Aggregate(StrEnum):
    """How the replicates of a candidate become one number."""

    MEDIAN = "median"
    MEAN = "mean"


class ObjectiveSpec(SpecTable, frozen=True, kw_only=True):
    """What a search is for: the largest or the smallest value of a reducer, ``Infected:max``, over a candidate's runs.

    Attributes:
        column: A column of reducers, ``LABEL:KIND``.
        goal: Whether large values are better, or small ones.
        aggregate: How replicates become one number; a run that failed counts as the worst value there is.
    """

    path = ("search", "objective")

    column: str
    goal: Goal
    aggregate: Aggregate = Aggregate.MEDIAN

    def __post_init__(self) -> None:
        """Make values plain, `goal` and `aggregate` words.

        Raises:
            SpecError: There is no such word.
        """
        SpecTable.__post_init__(self)
        self.make_word("goal", Goal)
        self.make_word("aggregate", Aggregate)


class HillClimbSettings(SpecTable, frozen=True, kw_only=True):
    """Settings of a hill climb with restarts.

    Attributes:
        mutation_scale: How far a neighbour is from the best so far, as a share of a factor's range; above 0.
        patience: Batches without a better neighbour after which it starts anew, at least 1.
        reevaluate: Whether each batch runs the best so far again, with new seeds.
    """

    path = ("search", "hill_climb")

    mutation_scale: float = 0.1
    patience: int = 5
    reevaluate: bool = False


class GeneticSettings(SpecTable, frozen=True, kw_only=True):
    """Settings of a genetic algorithm.

    Attributes:
        population: Candidates of a generation, 1 to 65,536.
        elite_count: How many of the best go on into the next generation; less than `population`.
        tournament_size: Members of which the best becomes a parent, 1 to 65,536.
        crossover_rate: Share of children with two parents, 0 to 1.
        mutation_rate: Chance of each factor of a child to change, 0 to 1.
        mutation_scale: How far it changes, as a share of its range; above 0.
        reevaluate_fraction: Share of the population that runs again each generation, the best first; 0 to 1.
    """

    path = ("search", "genetic")

    population: int = 32
    elite_count: int = 2
    tournament_size: int = 3
    crossover_rate: float = 0.9
    mutation_rate: float = 0.2
    mutation_scale: float = 0.1
    reevaluate_fraction: float = 0.25


class Nsga2Settings(SpecTable, frozen=True, kw_only=True):
    """Settings of NSGA-II, a genetic algorithm for several objectives.

    Attributes:
        population: Candidates of a generation, 2 to 65,536.
        crossover_rate: Share of pairs of parents that are crossed, 0 to 1.
        crossover_index: Distribution index of the crossover, one of `DISTRIBUTION_INDICES`: the larger, the more
            children are like their parents.
        mutation_rate: Chance of each factor of a child to change, 0 to 1; None for one factor a child on average.
        mutation_index: Distribution index of the mutation, one of `DISTRIBUTION_INDICES`: the larger, the smaller most
            changes are.
    """

    path = ("search", "nsga2")

    population: int = 100
    crossover_rate: float = 0.9
    crossover_index: int = 15
    mutation_rate: float | None = None
    mutation_index: int = 15

    def mutation_rate_over(self, factors: int) -> float:
        """Return the chance of each of so many factors to change."""
        return 1.0 / factors if self.mutation_rate is None else self.mutation_rate


class AxisSpec(SpecTable, frozen=True, kw_only=True):
    """One axis of the patterns that a pse search tells apart.

    Attributes:
        column: A column of reducers, ``LABEL:KIND``.
        cells: Parts of the axis, at least 1.
        min: Where it begins; None, together with `max`, takes its range from the first samples.
        max: Where it ends, above `min`.
    """

    column: str
    cells: int
    min: float | None = None
    max: float | None = None

    @property
    def is_automatic(self) -> bool:
        """Whether its range comes from the first samples."""
        return self.min is None


class PseSettings(SpecTable, frozen=True, kw_only=True):
    """Settings of a pattern space exploration.

    Attributes:
        x_axis: The first of the two outputs whose combinations it looks for.
        y_axis: The second.
        initial_samples: Random candidates at the start; at least 1 where an axis has no range.
        mutation_scale: How far a candidate is from its parent, as a share of a factor's range; above 0.
        aggregate: How replicates become one number; runs without one are left out.
    """

    path = ("search", "pse")

    x_axis: AxisSpec
    y_axis: AxisSpec
    initial_samples: int = 64
    mutation_scale: float = 0.1
    aggregate: Aggregate = Aggregate.MEDIAN

    def __post_init__(self) -> None:
        """Make values plain, `aggregate` a word.

        Raises:
            SpecError: There is no such word.
        """
        SpecTable.__post_init__(self)
        self.make_word("aggregate", Aggregate)

    @property
    def axes(self) -> tuple[AxisSpec, AxisSpec]:
        """Both axes, x first."""
        return self.x_axis, self.y_axis


class CmaEsSettings(SpecTable, frozen=True, kw_only=True):
    """Settings of a covariance matrix adaptation evolution strategy.

    Attributes:
        population: Samples of a generation, 4 to 4,096; None for ``4 + floor(3 ln n)`` with n factors.
        sigma: Standard deviation of the first samples, as a share of each factor's range; above 0, at most 1.
    """

    path = ("search", "cma_es")

    population: int | None = None
    sigma: float = 0.3


SearchSettings = HillClimbSettings | GeneticSettings | PseSettings | CmaEsSettings | Nsga2Settings

SETTINGS: dict[SearchAlgorithm, type[SearchSettings]] = {
    SearchAlgorithm.HILL_CLIMB: HillClimbSettings,
    SearchAlgorithm.GENETIC: GeneticSettings,
    SearchAlgorithm.PSE: PseSettings,
    SearchAlgorithm.CMA_ES: CmaEsSettings,
    SearchAlgorithm.NSGA2: Nsga2Settings,
}
"""The type of the settings of each algorithm that has any; they stand under its name."""

_DEFAULTS: dict[SearchAlgorithm, SearchSettings] = {
    SearchAlgorithm.HILL_CLIMB: HillClimbSettings(),
    SearchAlgorithm.GENETIC: GeneticSettings(),
    SearchAlgorithm.CMA_ES: CmaEsSettings(),
    SearchAlgorithm.NSGA2: Nsga2Settings(),
}
"""The settings of algorithms that need none to be given."""


class SearchSpec(SpecTable, frozen=True, kw_only=True):
    """What makes a spec a search.

    Attributes:
        algorithm: How it chooses what to run next.
        max_evaluations: Candidates in all, those that are evaluated again included; at least 1.
        batch_size: Candidates chosen at once, 1 to 2^24; their runs are done before the next ones are chosen.
        space: What may vary, in order; a range without a step is searched whole.
        objective: What it is for; None for a pse search and for one with several objectives.
        objectives: What an nsga2 search is for, two or more of different columns; empty for the others.
        hill_climb: Settings of a hill climb, None for the defaults.
        genetic: Settings of a genetic algorithm, None for the defaults.
        pse: Settings of a pattern space exploration, which has to have them.
        cma_es: Settings of a CMA-ES, None for the defaults.
        nsga2: Settings of NSGA-II, None for the defaults.
        name: What a custom search calls its searcher, which a program gives; None for the others.
    """

    path = ("search",)

    algorithm: SearchAlgorithm
    max_evaluations: int
    batch_size: int
    space: tuple[FactorSpec, ...]
    objective: ObjectiveSpec | None = None
    objectives: tuple[ObjectiveSpec, ...] = ()
    hill_climb: HillClimbSettings | None = None
    genetic: GeneticSettings | None = None
    pse: PseSettings | None = None
    cma_es: CmaEsSettings | None = None
    nsga2: Nsga2Settings | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        """Make values plain, one factor or one of several objectives a tuple of it, `algorithm` a word.

        Raises:
            SpecError: A table is not of its type, or there is no such algorithm.
        """
        if isinstance(self.space, FactorSpec):
            structs.force_setattr(self, "space", (self.space,))
        if isinstance(self.objectives, ObjectiveSpec):
            structs.force_setattr(self, "objectives", (self.objectives,))
        SpecTable.__post_init__(self)
        self.make_word("algorithm", SearchAlgorithm)

    @property
    def settings(self) -> SearchSettings | None:
        """The settings of its algorithm, in full; None for one that has none, or lacks those it needs."""
        given: SearchSettings | None = getattr(self, self.algorithm.value, None)
        return _DEFAULTS.get(self.algorithm) if given is None else given

    @property
    def all_objectives(self) -> tuple[ObjectiveSpec, ...]:
        """What it is for, whether it is one objective or several; none for a pse search."""
        return self.objectives if self.objective is None else (self.objective, *self.objectives)

    @property
    def watched_columns(self) -> tuple[str, ...]:
        """The reducer columns that its algorithm is told of: the objectives', or those of both axes."""
        if self.algorithm is SearchAlgorithm.PSE:
            return () if self.pse is None else tuple(axis.column for axis in self.pse.axes)
        return tuple(objective.column for objective in self.all_objectives)
