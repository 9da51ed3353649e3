"""The types of a sweep spec: what is fixed, what varies, how long, how measured, with which seeds.

Immutable values and nothing else: no reading of files (`spec_file`), no checking against a model (`plan`).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

import msgspec
import numpy as np
from msgspec import structs

from henad_web.errors import Place, Problem, ProblemList, SpecError, UsageError, near_miss
from henad_web.explore.spec_kinds import kind_of, wrong_kinds
from henad_web.model.decimals import whole_text

if TYPE_CHECKING:
    from henad_web.explore.plan import Plan
    from henad_web.model.schema import ModelSchema

__all__ = [
    "ActionSpec",
    "AllLevels",
    "BlockSpec",
    "DesignKind",
    "ExecutionSettings",
    "FactorSpec",
    "LevelSpec",
    "MeasureSettings",
    "RangeLevels",
    "ReducerSpec",
    "RunOrder",
    "RunSettings",
    "SeedScheme",
    "SeedSettings",
    "SpecValue",
    "StopExpression",
    "StopSpec",
    "SweepSpec",
    "ValueLevels",
    "spec_of",
]

SpecValue = int | float | bool | str
"""A value as a spec gives it, before a parameter's own type is known."""


_MOST_SHOWN = 12


def _shown(value: object) -> str:
    """Return `value` as its `repr` shows it, long texts and tuples cut."""
    if isinstance(value, str) and len(value) > 5 * _MOST_SHOWN:
        return f"{value[: 5 * _MOST_SHOWN]!r}… ({len(value)} letters)"
    if isinstance(value, tuple):
        more = f", … {len(value)} in all" if len(value) > _MOST_SHOWN else "," if len(value) == 1 else ""
        return f"({', '.join(map(_shown, value[:_MOST_SHOWN]))}{more})"
    return whole_text(value)


class _Spec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the spec's tables. Numpy's scalars and arrays, lists and ranges become Python's own values and tuples.

    Attributes:
        path: Place of the table in a file, where there is one.
    """

    path: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Make every value plain, which is all that hashes and files can hold.

        Raises:
            SpecError: A value is of another kind than its field.
        """
        for name in self.__struct_fields__:
            value = getattr(self, name)
            plain = _plain(value)
            if plain is not value:
                structs.force_setattr(self, name, plain)
        problems = wrong_kinds(self, self.path)
        if problems:
            raise SpecError(problems)

    def __repr__(self) -> str:
        """Return the fields that are not at their default, on one line; what is long is cut."""
        names, last = self.__struct_fields__, self.__struct_defaults__
        defaults = dict(zip(names[len(names) - len(last) :], last, strict=True))
        given = {name: getattr(self, name) for name in names}
        shown = [
            f"{name}={_shown(value)}" for name, value in given.items() if value != defaults.get(name, msgspec.UNSET)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _make_word(self, name: str, words: type[StrEnum]) -> None:
        """Make the text at field `name` one of `words`: code compares these by identity.

        Raises:
            SpecError: It is none of them.
        """
        value = getattr(self, name)
        if not isinstance(value, str) or value not in list(words):
            problem = Problem(
                place=Place(key=name),
                wrong="no such word",
                came=repr(value) if isinstance(value, str) else kind_of(value),
                allowed=", ".join(f"'{word}'" for word in words),
                hint=near_miss(str(value), list(words)),
            )
            raise SpecError([problem])
        structs.force_setattr(self, name, words(value))


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple | range):
        return tuple(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value


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


class ValueLevels(_Spec, frozen=True, kw_only=True):
    """Levels listed one by one, in order; a single value, also a text, is one level."""

    values: tuple[SpecValue, ...]

    def __post_init__(self) -> None:
        """Make values plain, and one value a list of one: a text is never taken apart into its letters."""
        plain = _plain(self.values)
        structs.force_setattr(self, "values", plain if isinstance(plain, tuple) else (plain,))
        _Spec.__post_init__(self)


class RangeLevels(_Spec, frozen=True, kw_only=True):
    """Levels from `min` to `max`, both included, `step` apart.

    `step` None leaves it to the design or the kind: 1 for whole numbers, the whole domain in a sampled design.
    """

    min: float | int
    max: float | int
    step: float | int | None = None


class AllLevels(_Spec, frozen=True, kw_only=True):
    """Every option of a choice, or false then true of a bool."""


LevelSpec = ValueLevels | RangeLevels | AllLevels


class FactorSpec(_Spec, frozen=True, kw_only=True):
    """One thing that varies: exactly one of `param` (a parameter id) and `action` (an action's name) is set."""

    levels: ValueLevels | RangeLevels | AllLevels
    param: str | None = None
    action: str | None = None


class BlockSpec(_Spec, frozen=True, kw_only=True):
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
        _Spec.__post_init__(self)
        self._make_word("design", DesignKind)


class StopSpec(_Spec, frozen=True, kw_only=True):
    """A condition that ends a run at a sample: ``COLUMN CMP NUMBER``, not before `min_tick`."""

    path = ("run", "stop")

    column: str
    comparison: str
    threshold: float
    min_tick: int = 0


class StopExpression(_Spec, frozen=True, kw_only=True):
    """A condition of several comparisons that ends a run at a sample, not before `min_tick`.

    Attributes:
        condition: An expression over columns in the grammar of a block's `where`, such as
            ``not (Infected > 0 or Recovered < 10)``; columns that are no plain words stand in quotes.
        min_tick: First tick at which it may end a run.
    """

    path = ("run", "stop")

    condition: str
    min_tick: int = 0


class RunSettings(_Spec, frozen=True, kw_only=True):
    """Length, number and order of runs. `steps` and `warmup` in ticks, `timeout_s` in seconds.

    `order` changes no result and no file of a finished sweep: it enters no hash. A `stop` that ends in a comparator and
    a number is a `StopSpec`, however it was given: a file cannot tell whether a column is called like an expression.
    """

    path = ("run",)

    steps: int = 1000
    warmup: int = 0
    replicates: int = 1
    stop: StopSpec | StopExpression | None = None
    timeout_s: float | None = None
    order: RunOrder = RunOrder.DEPTH

    def __post_init__(self) -> None:
        """Make values plain, `order` a word, and `stop` what its text is read as.

        Raises:
            SpecError: There is no such order, or the stop's text is no condition.
        """
        _Spec.__post_init__(self)
        self._make_word("order", RunOrder)
        if isinstance(self.stop, StopExpression):
            from henad_web.explore.conditions import read_condition  # noqa: PLC0415 - conditions need these types

            problems = ProblemList()
            stop = read_condition(self.stop.condition, self.stop.min_tick, problems, ("run", "stop"))
            if problems.problems:
                raise SpecError(problems.problems)
            structs.force_setattr(self, "stop", stop)


class ReducerSpec(_Spec, frozen=True, kw_only=True):
    """One reducer of one stat column; `kind` in its canonical text, such as ``max`` or ``first<=10``."""

    column: str
    kind: str


class MeasureSettings(_Spec, frozen=True, kw_only=True):
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


class SeedSettings(_Spec, frozen=True, kw_only=True):
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
        _Spec.__post_init__(self)
        self._make_word("scheme", SeedScheme)
        if self.list is not None and self.scheme is not SeedScheme.COMMON:
            place = Place(table=("seeds",), key="scheme")
            hint = "remove it, or the list"
            raise SpecError([Problem(place=place, wrong=SCHEME_BESIDE_LIST, came=f"'{self.scheme}'", hint=hint)])


class ActionSpec(_Spec, frozen=True, kw_only=True):
    """A scheduled intervention: action `id` fired at `tick`; factors call it `name`, or its id when None."""

    id: str
    tick: int
    name: str | None = None

    @property
    def label(self) -> str:
        """Name that factors and the column ``action.NAME`` use."""
        return self.id if self.name is None else self.name


class ExecutionSettings(_Spec, frozen=True, kw_only=True):
    """Speed only; enters no hash and no result. Budgets in bytes."""

    concurrent: int | str = "auto"
    memory: int | None = None
    gpu_memory: int | None = None


class SweepSpec(_Spec, frozen=True, kw_only=True):
    """A whole study.

    Attributes:
        model: Id of the model.
        fixed: Values shared by every config, ``(parameter id, value)`` in the order given (a file's `[set]`).
        run: Length, replicates, stop, timeout.
        measure: Sampling and reducers.
        seeds: Root and scheme.
        actions: Scheduled interventions.
        blocks: Designs, in order; none means one config.
    """

    model: str
    fixed: tuple[tuple[str, SpecValue], ...] = ()
    run: RunSettings = RunSettings()
    measure: MeasureSettings = MeasureSettings()
    seeds: SeedSettings = SeedSettings()
    actions: tuple[ActionSpec, ...] = ()
    blocks: tuple[BlockSpec, ...] = ()

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
        _Spec.__post_init__(self)

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
