"""A model of another library as a state of this package, where its statistics are read, and the entry made of it.

Owns what all such models have in common: an object that steps, and says by `running` whether it goes on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sized
from numbers import Real
from typing import Any

import numpy as np

from henad_web.adapters.arguments import free_name
from henad_web.errors import ModelDefinitionError, StatsShapeError, describe, near_miss
from henad_web.model.decimals import whole_text
from henad_web.model.declarations import Statistic, shown_name
from henad_web.model.definition import first_paragraph, model_id
from henad_web.model.entry import Backend, Factory, ModelEntry, ModelMetadata, Topology
from henad_web.model.params import Param
from henad_web.model.schema import Stat
from henad_web.model.state import StateDefaults, size_of

__all__ = ["AdaptedState", "Columns", "Source", "StatsGiven", "adapted_entry", "columns_of", "columns_seen"]

Source = str | Callable[[Any], object]
"""Where a column comes from: what the model collects under a name, its attribute of that name, or a function of it."""

Columns = tuple[tuple[Stat, Source], ...]
"""Statistics in order, each with its source."""

StatsGiven = Iterable[str] | Mapping[str, Source]
"""Names of statistics, which are their sources as well, or sources by label."""


class AdaptedState(StateDefaults, ABC):
    """A model of another library under way."""

    def __init__(self, model: object, columns: Columns) -> None:
        self.model: Any = model
        self._columns = columns
        self._count()

    @abstractmethod
    def step_once(self) -> None:
        """Do one step of the model."""

    @abstractmethod
    def collected(self) -> Mapping[str, object]:
        """Return what the model itself collected at the tick reached, by name: NaN for what it collects at others."""

    @property
    def heap_bytes(self) -> int:
        """Bytes of memory the attributes of the model hold, as `size_of` guesses them."""
        return size_of(self.model, vars(self.model).values())

    def step(self, n: int = 1) -> None:
        """Do `n` steps, 0 or more; fewer where the model ends."""
        for _ in range(n):
            if self.has_ended():
                return
            self.step_once()
            self.tick += 1
            self._count()

    def _count(self) -> None:
        agents = getattr(self.model, "agents", ())
        self.population = len(agents) if isinstance(agents, Sized) else 0

    def has_ended(self) -> bool:
        """Return whether the model is no longer running."""
        return not self.model.running

    def stats(self) -> dict[str, Any]:
        """Return each statistic at the tick reached, by its label.

        Raises:
            StatsShapeError: The model has nothing of the name that is a source.
        """
        collected = self.collected()
        return {stat.label: self._read(stat.label, source, collected) for stat, source in self._columns}

    def _read(self, label: str, source: Source, collected: Mapping[str, object]) -> object:
        if not isinstance(source, str):
            return source(self.model)
        if source in collected:
            return collected[source]
        try:
            return getattr(self.model, source)
        except AttributeError as error:
            if error.obj is not self.model or error.name != source:
                raise
            known = [*collected, *(name for name, value in vars(self.model).items() if not callable(value))]
            hint = near_miss(source, known)
            missing = f"missing (the model has no '{source}'{f'; {hint}' if hint else ''})"
            labels = [stat.label for stat, _ in self._columns]
            raise StatsShapeError(self.tick, expected=labels, came=(), value=(label, missing)) from error


def columns_of(stats: StatsGiven, params: Iterable[Param]) -> Columns:
    """Return the columns that are given as `stats`.

    A name that is that of a parameter or of a file column gets ``stat_`` in front.

    Raises:
        ModelDefinitionError: There is none, or something is neither a name nor a function.
    """
    if isinstance(stats, str) or not isinstance(stats, Iterable):
        raise ModelDefinitionError(f"stats is {whole_text(stats)}; allowed: names, or names and functions by label")
    pairs: Iterable[tuple[str, Source]] = (
        stats.items() if isinstance(stats, Mapping) else [(each, each) for each in stats]
    )
    ids, found = [param.id for param in params], []
    for position, (label, source) in enumerate(pairs):
        if not (isinstance(label, str) and (isinstance(source, str) or callable(source))):
            wrong = f"the statistic {whole_text(label)} is read from {whole_text(source)}"
            raise ModelDefinitionError(f"{wrong}; allowed: a name, or a function of the model")
        found.append((Statistic[float](label=free_name(label, ids, "stat")).stat(label, position), source))
    if not found:
        raise ModelDefinitionError("stats is empty; a model has at least one column")
    return tuple(found)


def columns_seen(name: str, build: Callable[[], AdaptedState], params: Iterable[Param]) -> Columns:
    """Return what a model collects, as its build with the defaults shows.

    Args:
        name: Of its class.
        build: Builds it.
        params: Its parameters.

    Raises:
        ModelDefinitionError: It cannot be built, collects nothing, or something that is no number.
    """
    try:
        collected = build().collected()
    except Exception as error:  # whatever a class of the model raises
        wrong = f"{name} cannot be built with its defaults, to see what it collects: {describe(error)}"
        raise ModelDefinitionError(f'{wrong}; give other defaults in params, or name columns: stats=["…"]') from error
    if not collected:
        form = 'stats={"agents": lambda model: len(model.agents)}'
        raise ModelDefinitionError(f"{name} collects nothing; name attributes of it or functions as columns: {form}")
    numbers = [name for name, value in collected.items() if isinstance(value, (Real, np.bool_))]
    for other in collected.keys() - set(numbers):
        kind = type(collected[other]).__name__
        wrong = f"{name} collects a {kind} as '{other}', which is no number"
        raise ModelDefinitionError(f"{wrong}; name the columns to take: stats={whole_text(numbers)}")
    return columns_of(numbers, params)


def adapted_entry(
    model_class: type, factory: Factory, params: Iterable[Param], columns: Columns, id: str | None, portable: bool
) -> ModelEntry:
    """Return the entry of a class of another library: its id and what people read are made of the class."""
    model = id or model_id(model_class.__name__)
    return ModelEntry(
        id=model,
        name=shown_name(model),
        description=first_paragraph(model_class),
        params=tuple(params),
        stats=tuple(stat for stat, _ in columns),
        actions=(),
        metadata=ModelMetadata(backend=Backend.CPU, palette=((0, 0, 0),), topology=Topology.AGENTS, portable=portable),
        factory=factory,
        source_module=model_class.__module__,
    )
