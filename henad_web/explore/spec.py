"""The types of a sweep spec: what is fixed, what varies, how long, how measured, with which seeds.

Immutable values and nothing else: no reading of files (`spec_file`), no checking against a model (`plan`).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import structs

from henad_web.errors import Place, Problem, ProblemList, SpecError, UsageError
from henad_web.explore.adaptive_spec import AdaptiveReplicates, Precision
from henad_web.explore.search_spec import SearchSpec
from henad_web.explore.spec_table import (
    AllLevels,
    FactorSpec,
    LevelSpec,
    RangeLevels,
    SpecTable,
    SpecValue,
    ValueLevels,
)
from henad_web.model.decimals import whole_text

if TYPE_CHECKING:
    from henad_web.explore.plan import Plan
    from henad_web.model.schema import ModelSchema

__all__ = [
    "ActionSpec",
    "AdaptiveReplicates",
    "AllLevels",
    "BlockSpec",
    "DesignKind",
    "ExecutionSettings",
    "FactorSpec",
    "LevelSpec",
    "MeasureSettings",
    "Precision",
    "RangeLevels",
    "ReducerSpec",
    "RunOrder",
    "RunSettings",
    "SearchSpec",
    "SeedScheme",
    "SeedSettings",
    "SpecValue",
    "StopExpression",
    "StopSpec",
    "SweepSpec",
    "ValueLevels",
    "spec_of",
]


class DesignKind(StrEnum):
    """How a block turns factors into configs."""

    FACTORIAL = "factorial"
    ZIP = "zip"
    RANDOM = "random"
    LHS = "lhs"
    TABLE = "table"
    SOBOL = "sobol"
    SALTELLI = "saltelli"
    MORRIS = "morris"


class RunOrder(StrEnum):
    """Which run comes next: all replicates of a config, or replicate 0 of every config first."""

    DEPTH = "depth"
    BREADTH = "breadth"


class SeedScheme(StrEnum):
    """How a run's seed follows from the root.

    `COMMON` gives replicate r of every config the same seed (common random numbers), `INDEPENDENT` one of its
    own.
    """

    COMMON = "common"
    INDEPENDENT = "independent"


class BlockSpec(SpecTable, frozen=True, kw_only=True):
    """One design over some factors.

    Attributes:
        design: How levels become configs.
        factors: What varies, in order; empty for a table.
        samples: Size of a sampled design, None for the others: its configs (random, lhs, sobol), its points
            (saltelli) or its trajectories (morris).
        design_seed: Seed of a sampled design, None to derive it from the root.
        second_order: Whether a saltelli design draws what second-order indices need; None means yes, and stands for
            the other designs.
        num_levels: Levels of the grid of a morris design, even; None means 4, and stands for the other designs.
        where: Expression that a config has to satisfy to be kept; None keeps all.
        table_text: The CSV text of a table design, None for the others.
        file: Path of the table beside the spec, as written; None for inline text.
    """

    design: DesignKind = DesignKind.FACTORIAL
    factors: tuple[FactorSpec, ...] = ()
    samples: int | None = None
    design_seed: int | None = None
    second_order: bool | None = None
    num_levels: int | None = None
    where: str | None = None
    table_text: str | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        """Make values plain, and `design` a word.

        Raises:
            SpecError: There is no such design.
        """
        SpecTable.__post_init__(self)
        self.make_word("design", DesignKind)


class StopSpec(SpecTable, frozen=True, kw_only=True):
    """A condition that ends a run at a sample: ``COLUMN CMP NUMBER``, not before `min_tick`."""

    path = ("run", "stop")

    column: str
    comparison: str
    threshold: float
    min_tick: int = 0


class StopExpression(SpecTable, frozen=True, kw_only=True):
    """A condition of several comparisons that ends a run at a sample, not before `min_tick`.

    Attributes:
        condition: An expression over columns in the grammar of a block's `where`, such as
            ``not (Infected > 0 or Recovered < 10)``; columns that are no plain words stand in quotes.
        min_tick: First tick at which it may end a run.
    """

    path = ("run", "stop")

    condition: str
    min_tick: int = 0


class RunSettings(SpecTable, frozen=True, kw_only=True):
    """Length, number and order of runs. `steps` and `warmup` in ticks, `timeout_s` in seconds.

    `order` changes no result and no file of a finished sweep: it enters no hash. A `stop` that ends in a comparator and
    a number is a `StopSpec`, however it was given: a file cannot tell whether a column is called like an expression.
    `replicates` are so many of each config, or as many as their intervals ask for.
    """

    path = ("run",)

    steps: int = 1000
    warmup: int = 0
    replicates: int | AdaptiveReplicates = 1
    stop: StopSpec | StopExpression | None = None
    timeout_s: float | None = None
    order: RunOrder = RunOrder.DEPTH

    def __post_init__(self) -> None:
        """Make values plain, `order` a word, and `stop` what its text is read as.

        Raises:
            SpecError: There is no such order, or the stop's text is no condition.
        """
        SpecTable.__post_init__(self)
        self.make_word("order", RunOrder)
        if isinstance(self.stop, StopExpression):
            from henad_web.explore.conditions import read_condition  # noqa: PLC0415 - conditions need these types

            problems = ProblemList()
            stop = read_condition(self.stop.condition, self.stop.min_tick, problems, ("run", "stop"))
            if problems.problems:
                raise SpecError(problems.problems)
            structs.force_setattr(self, "stop", stop)

    @property
    def adaptive(self) -> AdaptiveReplicates | None:
        """What decides how many replicates a config has; None where all have as many."""
        return self.replicates if isinstance(self.replicates, AdaptiveReplicates) else None

    @property
    def most_replicates(self) -> int:
        """Most runs of a config."""
        return self.replicates.max if isinstance(self.replicates, AdaptiveReplicates) else self.replicates

    @property
    def least_replicates(self) -> int:
        """Fewest runs of a config."""
        return self.replicates.min if isinstance(self.replicates, AdaptiveReplicates) else self.replicates

    @property
    def is_in_plan_order(self) -> bool:
        """Whether a sweep has its runs in the order of their ids."""
        return self.order is RunOrder.DEPTH and self.adaptive is None

    @property
    def runs_together(self) -> int:
        """Neighbouring runs of a plan that are in one shard: single ones, or those of a config that is decided on."""
        return 1 if self.adaptive is None else self.most_replicates


class ReducerSpec(SpecTable, frozen=True, kw_only=True):
    """One reducer of one stat column; `kind` in its canonical text, such as ``max`` or ``first<=10``."""

    column: str
    kind: str


class MeasureSettings(SpecTable, frozen=True, kw_only=True):
    """When a run is sampled and what is kept. Cadences in ticks; `series_every` 0 keeps no series.

    `series_every` None means `stats_every`; a spec read from a file has it resolved. `tables` are the ids of tables of
    the model's own that are kept; `tables_every` None asks for them at the end of each run alone.
    """

    path = ("measure",)

    stats_every: int = 1
    series_every: int | None = None
    default_reducers: bool = True
    reducers: tuple[ReducerSpec, ...] = ()
    tables: tuple[str, ...] = ()
    tables_every: int | None = None

    @property
    def series_cadence(self) -> int:
        """Cadence of the series in ticks, 0 for none."""
        return self.stats_every if self.series_every is None else self.series_every


SCHEME_BESIDE_LIST = "a list of seeds is a scheme of its own"
"""What is wrong with a list of seeds and a scheme together."""


class SeedSettings(SpecTable, frozen=True, kw_only=True):
    """Where seeds come from.

    Attributes:
        root: 0 to 2^64 - 1; the seeds of runs and of designs follow from it.
        scheme: How those of runs do.
        list: The seed of each replicate, the same in every config, instead of a scheme: as many as replicates, 0 to
            2^64 - 1. None follows the scheme. More can be added later, as replicates can.
    """

    path = ("seeds",)

    root: int = 0
    scheme: SeedScheme = SeedScheme.COMMON
    list: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Make values plain, and `scheme` a word.

        Raises:
            SpecError: There is no such scheme, or one beside a list.
        """
        SpecTable.__post_init__(self)
        self.make_word("scheme", SeedScheme)
        if self.list is not None and self.scheme is not SeedScheme.COMMON:
            place = Place(table=("seeds",), key="scheme")
            hint = "remove it, or the list"
            raise SpecError([Problem(place=place, wrong=SCHEME_BESIDE_LIST, came=f"'{self.scheme}'", hint=hint)])


class ActionSpec(SpecTable, frozen=True, kw_only=True):
    """A scheduled intervention: action `id` fired at `tick`; factors call it `name`, or its id when None."""

    id: str
    tick: int
    name: str | None = None

    @property
    def label(self) -> str:
        """Name that factors and the column ``action.NAME`` use."""
        return self.id if self.name is None else self.name


class ExecutionSettings(SpecTable, frozen=True, kw_only=True):
    """Speed only; enters no hash and no result. Budgets in bytes."""

    concurrent: int | str = "auto"
    memory: int | None = None
    gpu_memory: int | None = None


class SweepSpec(SpecTable, frozen=True, kw_only=True):
    """A whole study.

    Attributes:
        model: Id of the model.
        fixed: Values shared by every config, ``(parameter id, value)`` in the order given (a file's `[set]`).
        run: Length, replicates, stop, timeout.
        measure: Sampling and reducers.
        seeds: Root and scheme.
        actions: Scheduled interventions.
        blocks: Designs, in order; none means one config.
        search: What makes it a search, whose configs are chosen as it runs; not beside blocks.
    """

    model: str
    fixed: tuple[tuple[str, SpecValue], ...] = ()
    run: RunSettings = RunSettings()
    measure: MeasureSettings = MeasureSettings()
    seeds: SeedSettings = SeedSettings()
    actions: tuple[ActionSpec, ...] = ()
    blocks: tuple[BlockSpec, ...] = ()
    search: SearchSpec | None = None

    def __post_init__(self) -> None:
        """Make values plain, a mapping at `fixed` its pairs, and one block or action a tuple of it.

        Raises:
            SpecError: A table is not of its type.
        """
        if isinstance(self.fixed, Mapping):
            structs.force_setattr(self, "fixed", tuple(self.fixed.items()))
        for name in ("actions", "blocks"):
            if isinstance(getattr(self, name), ActionSpec | BlockSpec):
                structs.force_setattr(self, name, (getattr(self, name),))
        SpecTable.__post_init__(self)

    def plan(self, schema: ModelSchema) -> Plan:
        """Return the plan of this spec over the model that `schema` describes.

        Raises:
            PlanError: The model refuses the spec; every problem is in it.
        """
        from henad_web.explore.plan import Plan  # noqa: PLC0415 - the plan module needs these types

        return Plan.of(self, schema)


def spec_of(given: object) -> SweepSpec:
    """Return the spec that `given` is, or that it carries as what `load_spec` and `parse_spec` return does.

    Raises:
        UsageError: It is neither.
    """
    spec = given if isinstance(given, SweepSpec) else getattr(given, "spec", None)
    if isinstance(spec, SweepSpec):
        return spec
    shown = whole_text(given)
    came = shown if len(shown) <= 60 else f"{type(given).__name__} {shown[:60]}…"
    raise UsageError(
        f"the spec is {came}; allowed: a SweepSpec or what hw.load_spec(path), hw.parse_spec(text or mapping) return"
    )
