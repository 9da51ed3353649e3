"""The tables of a spec file as types: which keys each has, of which kind, what leaving one out means.

Owns the form alone. `spec_parse` takes its keys from here, `spec_schema` makes the JSON Schema of them; no file is ever
decoded into these types, since a decoder stops at the first mistake. What depends on a model is not in it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from henad_web.explore.blocks import MOST_NUM_LEVELS
from henad_web.explore.conditions import Comparison
from henad_web.explore.intervals import CONFIDENCES, USUAL, IntervalKind
from henad_web.explore.reducers import Kind
from henad_web.explore.search_spec import (
    DISTRIBUTION_INDICES,
    LEAST_SAMPLES,
    MOST_AT_ONCE,
    MOST_MEMBERS,
    MOST_SAMPLES,
    Aggregate,
    CmaEsSettings,
    GeneticSettings,
    Goal,
    HillClimbSettings,
    Nsga2Settings,
    SearchAlgorithm,
)
from henad_web.explore.spec import (
    DesignKind,
    MeasureSettings,
    RunOrder,
    RunSettings,
    SeedScheme,
    SeedSettings,
    StopSpec,
)

__all__ = [
    "ActionForm",
    "AxisForm",
    "BlockForm",
    "CmaEsForm",
    "ExecutionForm",
    "FactorForm",
    "GeneticForm",
    "HillClimbForm",
    "MeasureForm",
    "Nsga2Form",
    "ObjectiveForm",
    "PrecisionForm",
    "PseForm",
    "RangeForm",
    "ReducerForm",
    "RunForm",
    "ReplicatesForm",
    "SCHEMA_KEY",
    "SearchForm",
    "SeedsForm",
    "SpecForm",
    "StopForm",
    "keys_of",
]

SCHEMA_KEY = "$schema"
"""Key by which a spec file names its schema to an editor; it says nothing about the study."""

_NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
_COMPARATOR = f"({'|'.join(sorted(Comparison, key=len, reverse=True))})"
_PLAIN_KINDS = [kind.value for kind in Kind if kind not in (Kind.FIRST, Kind.WINDOW)]
_KIND_RULES: dict[str, Any] = {
    "anyOf": [
        {"enum": _PLAIN_KINDS},
        {"pattern": rf"^\s*(({'|'.join(_PLAIN_KINDS)})|mean@\s*[0-9]+\s*\.\.\s*[0-9]+)\s*$"},
        {"pattern": rf"^\s*first\s*{_COMPARATOR}\s*{_NUMBER}\s*$"},
    ],
    "examples": ["argmax", "first>=100", "mean@200..600"],
}

Whole: TypeAlias = Annotated[int, Meta(ge=0)]
Count: TypeAlias = Annotated[int, Meta(ge=1)]
Seed: TypeAlias = Whole | Annotated[str, Meta(pattern=r"^\s*[0-9]{1,20}\s*$")]
Value: TypeAlias = bool | int | float | str
LongNumber: TypeAlias = Annotated[str, Meta(pattern=r"^\s*[+-]?[0-9]{16,309}\s*$")]
KindText: TypeAlias = Annotated[str, Meta(extra_json_schema=_KIND_RULES)]
_CONDITIONS = ["Infected <= 0", 'Infected <= 0 and not (Recovered < 10 or "Mean age" > 3)']
ConditionText: TypeAlias = Annotated[
    str,
    Meta(pattern=rf"[^<>=!\s]\s*{_COMPARATOR}\s*[^<>=!\s]", extra_json_schema={"examples": _CONDITIONS}),
]

Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Scale: TypeAlias = Annotated[float, Meta(gt=0)]

_RUN, _MEASURE, _SEEDS = RunSettings(), MeasureSettings(), SeedSettings()
DistributionIndex: TypeAlias = Annotated[int, Meta(extra_json_schema={"enum": list(DISTRIBUTION_INDICES)})]
_CLIMB, _GENETIC, _CMA_ES, _NSGA2 = HillClimbSettings(), GeneticSettings(), CmaEsSettings(), Nsga2Settings()


class _Form(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the tables."""


class StopForm(_Form, frozen=True):
    """A condition that ends a run at the first sample that satisfies it.

    Attributes:
        condition: COLUMN CMP NUMBER, with CMP one of < <= > >= == !=, such as "Infected <= 0", or several of these
            with and, or, not, arithmetic and parentheses.
        min_tick: First tick at which it may end a run.
    """

    condition: ConditionText
    min_tick: Whole = StopSpec(column="", comparison="", threshold=0.0).min_tick


class PrecisionForm(_Form, frozen=True):
    """How narrow the interval of the mean of one reducer is to be: one of half_width and relative.

    Attributes:
        column: A column of reducers, such as "Infected:max".
        half_width: Most that half its width may be, in the unit of the column.
        relative: Most that half its width may be as a share of the mean.
        confidence: That of the interval.
        interval: Student's, or Wilson's for a column of zeros and ones.
    """

    column: str
    half_width: Scale | UnsetType = UNSET
    relative: Scale | UnsetType = UNSET
    confidence: Annotated[float, Meta(extra_json_schema={"enum": list(CONFIDENCES)})] = USUAL
    interval: IntervalKind = IntervalKind.STUDENT


class ReplicatesForm(_Form, frozen=True):
    """Replicates that are added to a config in rounds until intervals are narrow enough.

    Attributes:
        min: Replicates of the first round.
        max: Most replicates of a config.
        until: What has to be narrow enough, all of it.
    """

    min: Annotated[int, Meta(ge=2)]
    max: Annotated[int, Meta(ge=2)]
    until: Annotated[list[PrecisionForm], Meta(min_length=1)]


class RunForm(_Form, frozen=True):
    """How long a run is and how many there are.

    Attributes:
        steps: Measured ticks after the warm-up; 0 takes one sample at its end.
        warmup: Ticks before measuring.
        replicates: Runs of each config, or between how many and until when they are added.
        stop: What ends a run early.
        timeout_s: Seconds of stepping and sampling after which a run ends as timed_out; leave it out for none.
        order: depth runs all replicates of a config before the next one, breadth runs replicate 0 of every config
            first; changes no result.
    """

    steps: Whole = _RUN.steps
    warmup: Whole = _RUN.warmup
    replicates: Count | ReplicatesForm = _RUN.most_replicates
    stop: StopForm | UnsetType = UNSET
    timeout_s: Annotated[float, Meta(ge=0)] | UnsetType = UNSET
    order: RunOrder = _RUN.order


class ReducerForm(_Form, frozen=True):
    """Numbers that the samples of one statistic become.

    Attributes:
        column: Label of the statistic.
        kinds: final, min, max, mean, argmax, argmin, first<=NUMBER or mean@START..END.
    """

    column: str
    kinds: list[KindText]


class MeasureForm(_Form, frozen=True):
    """When a run is sampled and what is kept.

    Attributes:
        stats_every: Ticks between two samples.
        series_every: Ticks between two rows of series.csv, a multiple of stats_every; 0 keeps none; left out,
            stats_every.
        default_reducers: Whether every statistic gets final, min, max and mean.
        reducers: What is computed beside these.
        tables: Ids of the model's own tables that are kept; left out, none.
        tables_every: Ticks between two reports of these tables, a multiple of stats_every; the end of a run is one in
            any case, and left out, the only one.
    """

    stats_every: Count = _MEASURE.stats_every
    series_every: Whole | UnsetType = UNSET
    default_reducers: bool = _MEASURE.default_reducers
    reducers: list[ReducerForm] = []
    tables: Annotated[tuple[str, ...], Meta(extra_json_schema={"uniqueItems": True})] = _MEASURE.tables
    tables_every: Count | UnsetType = UNSET


class SeedsForm(_Form, frozen=True):
    """Where the seeds of runs come from.

    Attributes:
        root: 0 to 2^64 - 1; as a text of digits where a number cannot hold it.
        scheme: common gives replicate r the same seed in every config, independent gives every run its own.
        list: The seed of each replicate, the same in every config, instead of a scheme: as many as replicates.
    """

    root: Seed = _SEEDS.root
    scheme: SeedScheme = _SEEDS.scheme
    list: Annotated[tuple[Seed, ...], Meta(min_length=1, extra_json_schema={"uniqueItems": True})] | UnsetType = UNSET


class ActionForm(_Form, frozen=True):
    """A scheduled intervention.

    Attributes:
        id: Action of the model that fires.
        tick: When it fires: 0 before the first step, later ones right after the step that reaches them.
        name: What factors and the column action.NAME call it; left out, its id.
    """

    id: str
    tick: Whole
    name: Annotated[str, Meta(pattern=r"\S")] | UnsetType = UNSET


class RangeForm(_Form, frozen=True):
    """Levels from min to max, both included; a whole number beyond 2^53 as a text of digits where JSON would round it.

    Attributes:
        min: First level.
        max: Last level where the steps land on it, not below min.
        step: Distance of two levels. Left out, a whole number steps by 1 and a sampled design takes the whole range.
    """

    min: int | float | LongNumber
    max: int | float | LongNumber
    step: Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)] | LongNumber | UnsetType = UNSET


class FactorForm(_Form, frozen=True):
    """One thing that varies: one of param and action, with one of values, range and levels.

    Attributes:
        param: Id of the parameter.
        action: Name of the action whose tick varies.
        values: The levels one by one; a single value is one level, a whole number beyond 2^53 may be a text of digits.
        range: The levels from one number to another.
        levels: "all" for every option of a choice, or false and true.
    """

    param: str | UnsetType = UNSET
    action: str | UnsetType = UNSET
    values: list[Value] | bool | int | float | str | UnsetType = UNSET
    range: RangeForm | UnsetType = UNSET
    levels: Literal["all"] | UnsetType = UNSET


class BlockForm(_Form, frozen=True):
    """One design over some factors.

    Attributes:
        design: How levels become configs.
        samples: Size of a sampled design: configs (random, lhs, sobol), points (saltelli) or trajectories (morris).
        design_seed: Seed of a sampled design; left out, it follows from the root.
        second_order: Whether a saltelli design draws what second-order indices need; left out, it does.
        num_levels: Levels of the grid of a morris design, even; left out, 4.
        where: Which configs are kept, such as "rate < 0.5 and (size >= 8 or mode == 'fast')".
        file: Path of the CSV of a table design, beside the spec.
        table_text: The CSV itself.
        factors: What varies, in order.
    """

    design: DesignKind = DesignKind.FACTORIAL
    samples: Count | UnsetType = UNSET
    design_seed: Seed | UnsetType = UNSET
    second_order: bool | UnsetType = UNSET
    num_levels: Annotated[int, Meta(ge=2, le=MOST_NUM_LEVELS, multiple_of=2)] | UnsetType = UNSET
    where: str | UnsetType = UNSET
    file: str | UnsetType = UNSET
    table_text: str | UnsetType = UNSET
    factors: list[FactorForm] = []


class ObjectiveForm(_Form, frozen=True):
    """What a search is for.

    Attributes:
        column: A column of reducers, such as "Infected:max".
        goal: Whether large values are better, or small ones.
        aggregate: How the replicates of a candidate become one number.
    """

    column: str
    goal: Goal
    aggregate: Aggregate = Aggregate.MEDIAN


class HillClimbForm(_Form, frozen=True):
    """Settings of a hill climb with restarts.

    Attributes:
        mutation_scale: How far a neighbour is, as a share of a factor's range.
        patience: Batches without a better neighbour after which it starts anew.
        reevaluate: Whether each batch runs the best so far again, with new seeds.
    """

    mutation_scale: Scale = _CLIMB.mutation_scale
    patience: Count = _CLIMB.patience
    reevaluate: bool = _CLIMB.reevaluate


class GeneticForm(_Form, frozen=True):
    """Settings of a genetic algorithm.

    Attributes:
        population: Candidates of a generation.
        elite_count: How many of the best go on into the next one, fewer than the population.
        tournament_size: Members of which the best becomes a parent.
        crossover_rate: Share of children with two parents.
        mutation_rate: Chance of each factor of a child to change.
        mutation_scale: How far it changes, as a share of its range.
        reevaluate_fraction: Share of the population that runs again each generation, the best first.
    """

    population: Annotated[int, Meta(ge=1, le=MOST_MEMBERS)] = _GENETIC.population
    elite_count: Whole = _GENETIC.elite_count
    tournament_size: Annotated[int, Meta(ge=1, le=MOST_MEMBERS)] = _GENETIC.tournament_size
    crossover_rate: Share = _GENETIC.crossover_rate
    mutation_rate: Share = _GENETIC.mutation_rate
    mutation_scale: Scale = _GENETIC.mutation_scale
    reevaluate_fraction: Share = _GENETIC.reevaluate_fraction


class Nsga2Form(_Form, frozen=True):
    """Settings of NSGA-II, a genetic algorithm for several objectives.

    Attributes:
        population: Candidates of a generation.
        crossover_rate: Share of pairs of parents that are crossed.
        crossover_index: Distribution index of the crossover; the larger, the more children are like their parents.
        mutation_rate: Chance of each factor of a child to change; left out, one factor a child on average.
        mutation_index: Distribution index of the mutation; the larger, the smaller most changes are.
    """

    population: Annotated[int, Meta(ge=2, le=MOST_MEMBERS)] = _NSGA2.population
    crossover_rate: Share = _NSGA2.crossover_rate
    crossover_index: DistributionIndex = _NSGA2.crossover_index
    mutation_rate: Share | UnsetType = UNSET
    mutation_index: DistributionIndex = _NSGA2.mutation_index


class AxisForm(_Form, frozen=True):
    """One axis of the patterns that a pse search tells apart.

    Attributes:
        column: A column of reducers, such as "Infected:max".
        cells: Parts of the axis.
        min: Where it begins; without min and max the range comes from the first samples.
        max: Where it ends.
    """

    column: str
    cells: Count
    min: float | UnsetType = UNSET
    max: float | UnsetType = UNSET


class PseForm(_Form, frozen=True):
    """Settings of a pattern space exploration.

    Attributes:
        x_axis: The first of the two outputs whose combinations it looks for.
        y_axis: The second.
        initial_samples: Random candidates at the start.
        mutation_scale: How far a candidate is from its parent, as a share of a factor's range.
        aggregate: How the replicates of a candidate become one number.
    """

    x_axis: AxisForm
    y_axis: AxisForm
    initial_samples: Whole = 64
    mutation_scale: Scale = 0.1
    aggregate: Aggregate = Aggregate.MEDIAN


class CmaEsForm(_Form, frozen=True):
    """Settings of a covariance matrix adaptation evolution strategy.

    Attributes:
        population: Samples of a generation; left out, 4 + floor(3 ln n) with n factors.
        sigma: Standard deviation of the first samples, as a share of each factor's range.
    """

    population: Annotated[int, Meta(ge=LEAST_SAMPLES, le=MOST_SAMPLES)] | UnsetType = UNSET
    sigma: Annotated[float, Meta(gt=0, le=1)] = _CMA_ES.sigma


class SearchForm(_Form, frozen=True):
    """What makes a study a search: its configs are chosen as it runs.

    Attributes:
        algorithm: How candidates are chosen.
        max_evaluations: Candidates in all, those that are evaluated again included.
        batch_size: Candidates chosen at once.
        space: What may vary; a range without a step is searched whole.
        objective: What the search is for; not of a pse search or an nsga2 search.
        objectives: What an nsga2 search is for, each of a column of its own.
        hill_climb: Settings of a hill climb.
        genetic: Settings of a genetic algorithm.
        pse: Settings of a pattern space exploration.
        cma_es: Settings of a covariance matrix adaptation evolution strategy.
        nsga2: Settings of NSGA-II.
        name: What a custom search calls its searcher, which a program gives.
    """

    algorithm: SearchAlgorithm
    max_evaluations: Count
    batch_size: Annotated[int, Meta(ge=1, le=MOST_AT_ONCE)]
    space: Annotated[list[FactorForm], Meta(min_length=1)]
    objective: ObjectiveForm | UnsetType = UNSET
    objectives: Annotated[list[ObjectiveForm], Meta(min_length=2)] | UnsetType = UNSET
    hill_climb: HillClimbForm | UnsetType = UNSET
    genetic: GeneticForm | UnsetType = UNSET
    pse: PseForm | UnsetType = UNSET
    cma_es: CmaEsForm | UnsetType = UNSET
    nsga2: Nsga2Form | UnsetType = UNSET
    name: Annotated[str, Meta(pattern=r"\S")] | UnsetType = UNSET


class ExecutionForm(_Form, frozen=True):
    """Speed only: enters no hash and no result.

    Attributes:
        concurrent: Runs at once.
        memory: Bytes for all live runs together.
        gpu_memory: The same on a device.
    """

    concurrent: Literal["auto"] | Count = "auto"
    memory: Whole | UnsetType = UNSET
    gpu_memory: Whole | UnsetType = UNSET


class SpecForm(_Form, frozen=True):
    """A parameter study: what is fixed, what varies, how long, how measured, with which seeds.

    Attributes:
        model: Id of the model.
        set: Parameter values that every config shares, by id; a whole number beyond 2^53 may be a text of digits.
        run: Length, replicates, stop, timeout.
        measure: When a run is sampled and what is kept.
        seeds: Where the seeds of runs come from.
        action: Scheduled interventions.
        block: What varies; without a block there is a single config.
        search: What makes it a search; not beside blocks.
        execution: Settings of speed.
    """

    model: str
    set: dict[str, Value] = {}
    run: RunForm = RunForm()
    measure: MeasureForm = MeasureForm()
    seeds: SeedsForm = SeedsForm()
    action: list[ActionForm] = []
    block: list[BlockForm] = []
    search: SearchForm | UnsetType = UNSET
    execution: ExecutionForm = ExecutionForm()


def keys_of(form: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the keys of the table that `form` describes, in order."""
    return form.__struct_encode_fields__
