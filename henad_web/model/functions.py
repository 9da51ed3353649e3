"""A model that is a function: it yields a row of statistics a tick, or returns the only one.

The function is called at the build, and a generator goes on where it left off at each step. A state is never pickled:
it is built anew wherever it is needed, from parameters and seed.
"""

from __future__ import annotations

import functools
import inspect
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from henad_web.errors import ModelDefinitionError, StatsShapeError
from henad_web.model.decimals import whole_text
from henad_web.model.declarations import Parameter, Statistic, shown_name
from henad_web.model.definition import first_paragraph
from henad_web.model.entry import Backend, ModelEntry, ModelMetadata, Topology, call_problem
from henad_web.model.params import Param, ParamValue
from henad_web.model.schema import Stat
from henad_web.model.state import StateDefaults, shown_value, size_of

__all__ = ["from_function"]


def from_function(
    function: Callable[[dict[str, Any], Any], object],
    *,
    params: Iterable[Param] | Mapping[str, Parameter[Any]] = (),
    stats: Iterable[str | Stat],
    id: str | None = None,
    name: str | None = None,
    description: str | None = None,
    topology: Topology = Topology.AGENTS,
    replays_exactly: bool = True,
    portable: bool = True,
) -> ModelEntry:
    """Return the entry of the model that `function` is.

    It is called as ``function(params, seed)`` with a canonical value for each parameter by id and a seed, 0 to 2^64 - 1
    or None, and yields a row a tick, the first of which is tick 0; where it ends, the run ends at its last row, with a
    sample there and the stop reason ``condition``. Or it returns the only row, which is tick 0. A row is a sequence of
    numbers in the order of `stats`, a mapping of them by label, or, of one statistic, the number. It is looked at when
    its tick is sampled; a wrong one ends the run with the status ``shape_error``.

    Args:
        function: What it does must follow from its arguments alone.
        params: Parameters, ``{"rate": hw.f32(0.3, min=0, max=1)}``, or those of an entry.
        stats: Labels of the statistics, or statistics with their colours.
        id: The function's name when None.
        name: Made from the id when None.
        description: The first paragraph of the function's docstring when None.
        topology: How the parts of the model lie to each other.
        replays_exactly: Whether equal inputs give equal results on one machine.
        portable: Whether equal inputs give equal results on every machine.

    Raises:
        ModelDefinitionError: The function cannot be called so, or its name is no id; a parameter or a statistic cannot
            be declared so.

    Example:
        >>> import henad_web as hw
        >>> def decay(params, seed):
        ...     left = 8.0
        ...     while left > 1.0:
        ...         yield [left]
        ...         left *= params["kept"]
        >>> entry = hw.from_function(decay, params={"kept": hw.f64(0.5, min=0, max=1)}, stats=["left"])
        >>> state = entry.build()
        >>> state.step(10)
        >>> state.tick, state.stats()
        (2, {'left': 2.0})
    """
    named: Any = function.func if isinstance(function, functools.partial) else function
    _check_function(function, named)
    usual = str(getattr(named, "__name__", ""))
    if id is None and not usual.isidentifier():
        raise ModelDefinitionError(f"the function {usual or named} has no name that could be an id; give it one: id=")
    model_id = usual if id is None else id
    declared = tuple(_declared_stats(stats))
    return ModelEntry(
        id=model_id,
        name=name or shown_name(model_id),
        description=description or first_paragraph(named),
        params=tuple(_declared_params(params)),
        stats=declared,
        actions=(),
        metadata=ModelMetadata(
            backend=Backend.CPU,
            palette=((0, 0, 0),),
            topology=topology,
            replays_exactly=replays_exactly,
            portable=portable,
        ),
        factory=_FunctionFactory(function, tuple(stat.label for stat in declared)),
        source_module=getattr(named, "__module__", None),
    )


def _check_function(function: object, named: object) -> None:
    wrong = call_problem(function)
    if wrong is None and (inspect.iscoroutinefunction(named) or inspect.isasyncgenfunction(named)):
        wrong = f"{getattr(named, '__name__', named)} is async, so calling it does nothing"
    if wrong is not None:
        raise ModelDefinitionError(f"the function {wrong}; it is called as function(params, seed) and yields rows")


def _declared_params(params: Iterable[Param] | Mapping[str, Parameter[Any]]) -> Iterator[Param]:
    for each in params.items() if isinstance(params, Mapping) else params:
        id, declared = each if isinstance(each, tuple) else (None, each)
        if id is not None and isinstance(declared, Parameter):
            yield declared.param(id)
        elif id is None and isinstance(declared, Param):
            yield declared
        else:
            form = '{"rate": hw.f32(0.3, min=0, max=1)}, or [hw.f32("rate", "Rate", 0.3, 0, 1)]'
            raise ModelDefinitionError(f"the parameter {whole_text(id or declared)} is none; write params={form}")


def _declared_stats(stats: Iterable[str | Stat]) -> Iterator[Stat]:
    if isinstance(stats, str) or not isinstance(stats, Iterable):
        raise ModelDefinitionError(f"stats is {whole_text(stats)}; allowed: a list of labels or of hw.Stat")
    for position, each in enumerate(stats):
        if not isinstance(each, str | Stat):
            raise ModelDefinitionError(f"the statistic {whole_text(each)} is neither a label nor a hw.Stat")
        yield each if isinstance(each, Stat) else Statistic(label=each).stat(each, position)


@dataclass(frozen=True, slots=True)
class _FunctionFactory:
    """Builds the states of a function whose rows have `labels`."""

    function: Callable[[dict[str, Any], Any], object]
    labels: tuple[str, ...]

    def __call__(self, params: Mapping[str, ParamValue], seed: int | None) -> _FunctionState:
        return _FunctionState(self.function(dict(params), seed), self.labels)


class _NoRow:
    """Stands for a row that a function did not yield."""


class _FunctionState(StateDefaults):
    """A function under way, at the row it gave last."""

    def __init__(self, made: object, labels: tuple[str, ...]) -> None:
        self._labels = labels
        self._rows = made if isinstance(made, Iterator) else iter((made,))
        self._row: object = next(self._rows, _NoRow)
        self._is_over = self._row is _NoRow  # whether there is another one shows when it is asked for

    @property
    def heap_bytes(self) -> int:
        """Bytes that the row and the variables of a generator hold, as `size_of` guesses them."""
        variables = inspect.getgeneratorlocals(self._rows) if inspect.isgenerator(self._rows) else {}
        return size_of(self, (self._row, *variables.values()))

    def step(self, n: int = 1) -> None:
        """Take the next `n` rows, fewer where there are no more."""
        for _ in range(n):
            row = _NoRow if self._is_over else next(self._rows, _NoRow)
            if row is _NoRow:
                self._is_over = True
                return
            self._row = row
            self.tick += 1

    def has_ended(self) -> bool:
        """Return whether there was no further row."""
        return self._is_over

    def stats(self) -> dict[str, float]:
        """Return the row of the tick reached, by label.

        Raises:
            StatsShapeError: It is no row, or one of another length.
        """
        row: Any = self._row
        if isinstance(row, Mapping):
            is_usual = row.keys() == set(self._labels)
            return {label: row[label] for label in self._labels} if is_usual else dict(row)
        is_column = isinstance(row, np.ndarray) and row.ndim == 1
        if is_column or (isinstance(row, Sequence) and not isinstance(row, str | bytes)):
            if len(row) == len(self._labels):
                return dict(zip(self._labels, row, strict=True))
            raise self._wrong(f"are a row of {len(row)} in place of {len(self._labels)}")
        if isinstance(row, numbers.Real | np.ndarray) and len(self._labels) == 1:
            return {self._labels[0]: row}  # type: ignore[dict-item]  # an array is told as one
        raise self._wrong("have no row" if row is _NoRow else f"are {shown_value(row)}, which is no row")

    def _wrong(self, wrong: str) -> StatsShapeError:
        return StatsShapeError(self.tick, expected=self._labels, came=(), wrong=wrong)
