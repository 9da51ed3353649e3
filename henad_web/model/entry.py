"""How a model is declared (its description, its metadata and the function that builds it), and sets of models by id."""

from __future__ import annotations

import inspect
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Protocol

from henad_web.errors import ModelDefinitionError, ParamError, UnknownModelError, UsageError
from henad_web.model.decimals import whole_text
from henad_web.model.params import Param, ParamValue
from henad_web.model.schema import ID_RULE, Action, ModelSchema, Rgb, Stat, cut_name, is_color, is_id, name_problem
from henad_web.model.state import BatchState, ModelState
from henad_web.model.tables import Table

__all__ = [
    "Backend",
    "BatchOffer",
    "EntryGiven",
    "Factory",
    "GivesEntry",
    "ModelEntry",
    "ModelMetadata",
    "ModelSet",
    "ModelsGiven",
    "Topology",
    "call_problem",
    "checked_entry",
    "entry_of",
]

Factory = Callable[[Mapping[str, ParamValue], int | None], ModelState]
"""Builds a model from a canonical value for each parameter and a seed, 0 to 2^64 - 1, or None."""


class Backend(StrEnum):
    """What a model runs on."""

    CPU = "cpu"
    GPU = "gpu"


class Topology(StrEnum):
    """How the parts of a model lie to each other."""

    GRID = "grid"
    AGENTS = "agents"
    NETWORK = "network"
    FIELD = "field"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMetadata:
    """What a model promises besides its schema.

    Attributes:
        backend: What it runs on.
        palette: Colour of each state of a cell, red, green and blue each 0 to 255.
        topology: How its parts lie to each other.
        replays_exactly: Equal inputs give equal results on one machine.
        portable: Equal inputs give equal results on every machine.
        inner_threads: A step uses more than one thread.
        releases_lock: A step leaves the interpreter to other threads for most of its time, as compiled code may: lanes
            are threads then.
    """

    backend: Backend
    palette: tuple[Rgb, ...]
    topology: Topology
    replays_exactly: bool = True
    portable: bool = True
    inner_threads: bool = False
    releases_lock: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no palette of colours."""
        colours: object = self.palette
        is_listed = isinstance(colours, Sequence) and not isinstance(colours, str) and bool(colours)
        wrong = [each for each in self.palette if not is_color(each, 3)] if is_listed else [colours]
        if wrong:
            allowed = "red, green and blue each 0 to 255, palette=((21, 21, 21), (0, 230, 118))"
            raise ModelDefinitionError(f"the palette holds {whole_text(wrong[0])}; allowed: {allowed}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOffer:
    """How a model steps several replicates of one config together.

    Attributes:
        build: Builds them from a canonical value for each parameter and the seed of each row.
        rows: How many are worth stepping together with such values, 1 for none; a batch holds no more.
    """

    build: Callable[[Mapping[str, ParamValue], Sequence[int]], BatchState]
    rows: Callable[[Mapping[str, ParamValue]], int]


@dataclass(frozen=True, kw_only=True)
class ModelEntry:
    """One model of a set.

    Attributes:
        id: Name in specs: a lower-case letter, then lower-case letters, digits and underscores.
        name: Name shown to people.
        description: What it models, one or two sentences.
        params: Parameters, in the order of a config's values.
        stats: Statistics, in the order they are reported.
        actions: Actions the model knows.
        metadata: What it promises besides.
        factory: Builds it.
        source_module: Name of the module that is the model's own, for the place of a fault; the factory's by default.
        batches: How it steps several replicates together, None where it does not.
        tables: Tables of its own that specs may ask for; its state offers them by `TableState.table`.

    Raises:
        ModelDefinitionError: The id or that of a parameter is malformed, an id or label is used twice, a name has more
            than 200 characters or one that no table can hold, or the factory cannot be called with parameters and a
            seed.
    """

    id: str
    name: str
    description: str
    params: tuple[Param, ...]
    stats: tuple[Stat, ...]
    actions: tuple[Action, ...]
    metadata: ModelMetadata
    factory: Factory
    source_module: str | None = None
    batches: BatchOffer | None = None
    tables: tuple[Table, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a declaration that specs or files could not name."""
        if not is_id(self.id):
            raise ModelDefinitionError(f"model id {cut_name(self.id)} is malformed: {ID_RULE}")
        for param in self.params:
            if not is_id(param.id):
                raise ModelDefinitionError(
                    f"model '{self.id}': parameter id {cut_name(param.id)} is malformed: {ID_RULE}"
                )
        for what, name in self._names():
            problem = name_problem(name) if isinstance(name, str) else "is no text"
            if problem is not None:
                raise ModelDefinitionError(f"model '{self.id}': {what} {cut_name(name)} {problem}")
        for what, names in (
            ("parameter", [param.id for param in self.params]),
            ("statistic", [stat.label for stat in self.stats]),
            ("action", [action.id for action in self.actions]),
            ("table", [table.id for table in self._checked_tables()]),
        ):
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise ModelDefinitionError(f"model '{self.id}' declares the {what} '{twice}' twice")
        why = call_problem(self.factory)
        if why is not None:
            raise ModelDefinitionError(
                f"model '{self.id}': the factory {why}; it is called as factory(params, seed) and returns the state"
            )

    def _checked_tables(self) -> tuple[Table, ...]:
        tables: object = self.tables
        wrong = [table for table in tables if not isinstance(table, Table)] if isinstance(tables, tuple) else [tables]
        if wrong:
            allowed = 'a tuple of tables such as hw.Table("agents", {"wealth": "f64"})'
            raise ModelDefinitionError(f"model '{self.id}': tables holds {whole_text(wrong[0])}; allowed: {allowed}")
        return self.tables

    def _names(self) -> Iterator[tuple[str, str]]:
        """Yield every name that people read and files may hold, and what it is the name of."""
        yield "the name", self.name
        for param in self.params:
            yield f"the label of parameter '{param.id}'", param.label
            for option in param.options:
                yield f"an option of parameter '{param.id}'", option
        for stat in self.stats:
            yield "the statistic", stat.label
        for action in self.actions:
            yield "the action", action.id
            yield f"the label of action '{action.id}'", action.label

    def __repr__(self) -> str:
        """Return the facts on one line."""
        held = f"{len(self.params)} parameters, {len(self.stats)} statistics, {len(self.actions)} actions"
        return f"<ModelEntry '{self.id}': {held}>"

    @property
    def source_file(self) -> str | None:
        """File of the model's own module, None when it has none (typed into a console, say)."""
        module = sys.modules.get(self.source_module or self.factory.__module__)
        return getattr(module, "__file__", None)

    def schema(self) -> ModelSchema:
        """Return the model's shape."""
        return self._schema

    @cached_property
    def _schema(self) -> ModelSchema:
        return ModelSchema(
            model=self.id,
            name=self.name,
            backend=str(self.metadata.backend),
            params=self.params,
            stats=self.stats,
            actions=self.actions,
            tables=self.tables,
            constants=_constants(self.factory),
        )

    def build(
        self, params: Mapping[str, object] | tuple[ParamValue, ...] | None = None, seed: int | None = None
    ) -> ModelState:
        """Return the model at tick 0.

        Args:
            params: Values by id, where defaults stand for those not given; or canonical values of all parameters in
                schema order, which are taken as they are.
            seed: 0 to 2^64 - 1; None is the model's own fixed start.

        Raises:
            ParamError: A parameter is unknown, a value or the seed is not allowed, or a tuple has another length.

        Example:
            >>> import henad_web as hw
            >>> state = hw.example_models()["sir"].build({"grid_width": 64, "grid_height": 64}, seed=42)
            >>> state.step(10)
            >>> state.tick, state.population
            (10, 4096)
            >>> state.stats()
            {'Susceptible': 334.0, 'Infected': 2959.0, 'Recovered': 803.0}
        """
        return self.factory(self.values(params), None if seed is None else _checked_seed(seed))

    def build_many(
        self, params: Mapping[str, object] | tuple[ParamValue, ...] | None, seeds: Sequence[int]
    ) -> BatchState:
        """Return replicates of one config at tick 0, to be stepped together.

        Args:
            params: Values, as `build` takes them.
            seeds: Seed of each row, 0 to 2^64 - 1; at most `batch_rows` of them.

        Raises:
            UsageError: The model does not offer it.
            ParamError: A parameter is unknown, or a value or a seed is not allowed.
        """
        if self.batches is None:
            raise UsageError(f"model '{self.id}' steps its runs one by one; it declares no batches=hw.BatchOffer(…)")
        return self.batches.build(self.values(params), [_checked_seed(seed) for seed in seeds])

    def batch_rows(self, params: Mapping[str, object] | tuple[ParamValue, ...] | None) -> int:
        """Return how many replicates of a config are worth stepping together, 1 where the model offers no batches."""
        return 1 if self.batches is None else self.batches.rows(self.values(params))

    def values(self, params: Mapping[str, object] | tuple[ParamValue, ...] | None = None) -> dict[str, ParamValue]:
        """Return the canonical value of every parameter by id, of what `build` takes.

        Raises:
            ParamError: A parameter is unknown, a value is not allowed for it, or a tuple has another length.
        """
        schema = self._schema
        values = params if isinstance(params, tuple) else schema.values(params or {})
        if len(values) != len(schema.params):
            raise ParamError("params", "wrong number of values", came=str(len(values)), allowed=str(len(schema.params)))
        return {param.id: value for param, value in zip(schema.params, values, strict=True)}


def _constants(factory: object) -> tuple[str, ...]:
    """Return the names in the body of a model's class that hold a number or a text and are no declaration."""
    body = vars(factory) if isinstance(factory, type) else {}
    return tuple(name for name, value in body.items() if isinstance(value, int | float | str) and name[0] != "_")


def call_problem(factory: object) -> str | None:
    """Return why `factory` cannot be called with parameters and a seed, None when it can or nobody can tell."""
    if not callable(factory):
        return f"is {whole_text(factory)}, which cannot be called"
    try:
        signature = inspect.signature(factory)
    except (ValueError, TypeError):  # some of those written in C say nothing of themselves
        return None
    try:
        signature.bind({}, None)
    except TypeError as error:
        return f"{getattr(factory, '__name__', repr(factory))}{signature} does not take them: {error}"
    return None


def _checked_seed(seed: int) -> int:
    allowed = "a whole number, 0 to 2^64 - 1, or None"
    try:
        number = operator.index(seed)
    except TypeError:
        raise ParamError("seed", "not a whole number", came=whole_text(seed), allowed=allowed) from None
    if not 0 <= number < 2**64:
        raise ParamError("seed", "out of range", came=whole_text(number), allowed=allowed)
    return number


class GivesEntry(Protocol):
    """A class that is a model, such as one made from `hw.Model`: it has an entry of its own."""

    @classmethod
    def entry(cls) -> ModelEntry:
        """Return the entry of the class."""
        ...


EntryGiven = ModelEntry | type[GivesEntry]
"""What stands for a model wherever one is asked for: an entry, or a class that has one."""


def entry_of(given: object) -> ModelEntry | None:
    """Return the entry that `given` is or has, None for anything else."""
    if isinstance(given, type) and inspect.ismethod(made := getattr(given, "entry", None)):
        given = made()
    return given if isinstance(given, ModelEntry) else None


class ModelSet(Mapping[str, ModelEntry]):
    """Entries by id, in the order they were inserted.

    Raises:
        ModelDefinitionError: Two entries have one id.
    """

    def __init__(self, entries: Iterable[EntryGiven] = ()) -> None:
        self._entries: dict[str, ModelEntry] = {}
        for entry in entries:
            self.insert(entry)

    def __repr__(self) -> str:
        """Return the facts on one line."""
        return f"<ModelSet: {', '.join(self._entries) or 'empty'}>"

    @classmethod
    def of(cls, models: ModelsGiven | Iterable[EntryGiven]) -> ModelSet:
        """Return the set that `models` is, or one of what it holds: a model, models, or models by id.

        Raises:
            UsageError: It is none of these.
            ModelDefinitionError: Two entries have one id.
        """
        if isinstance(models, ModelSet):
            return models
        entries = models.values() if isinstance(models, Mapping) else models
        given = list(entries) if isinstance(entries, Iterable) else [entries]
        found = [entry for entry in map(entry_of, given) if entry is not None]
        if len(found) < len(given):
            allowed = "a ModelSet, a ModelEntry or hw.Model, or several of them"
            raise UsageError(f"models is {whole_text(models)}; allowed: {allowed}")
        return cls(found)

    def insert(self, entry: EntryGiven) -> None:
        """Add `entry` at the end.

        Raises:
            ModelDefinitionError: It is no entry and has none, or the set holds one of that id.
        """
        new = entry_of(entry)
        if new is None:
            raise ModelDefinitionError(f"{whole_text(entry)} is no ModelEntry; a model set holds nothing else")
        if new.id in self._entries:
            raise ModelDefinitionError(f"the set already holds a model '{new.id}'; give the new one another id")
        self._entries[new.id] = new

    def lookup(self, id: str) -> ModelEntry:
        """Return the entry `id`.

        Raises:
            UnknownModelError: The set does not hold it; the message names a near miss.
        """
        entry = self._entries.get(id)
        if entry is None:
            raise UnknownModelError(id, self._entries)
        return entry

    def __getitem__(self, id: str) -> ModelEntry:
        return self._entries[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


ModelsGiven = ModelSet | EntryGiven | Mapping[str, ModelEntry] | Mapping[str, type[GivesEntry]]
"""What stands for a set wherever one is asked for; `ModelSet.of` makes one of it."""


def checked_entry(entry: object) -> ModelEntry:
    """Return `entry` where a call takes the model of a study.

    Raises:
        UsageError: It is something else, such as the model's id or the set that holds it.
    """
    found = entry_of(entry)
    if found is not None:
        return found
    hint = 'a set gives one by its id: hw.example_models()["sir"]'
    raise UsageError(f"the model is {whole_text(entry)}; allowed: a ModelEntry; {hint}")
