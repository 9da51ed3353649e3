"""What a running model offers to whoever steps it, what it may leave unsaid, and what of it is taken for a count."""

from __future__ import annotations

import numbers
import operator
import sys
from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import Protocol, SupportsIndex, cast

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import ModelDefinitionError, StateValueError
from henad_web.model.params import ParamValue

__all__ = [
    "BatchState",
    "MayEnd",
    "ModelState",
    "StateDefaults",
    "checked_count",
    "has_ended",
    "shown_value",
    "size_of",
]

_LARGEST_COUNT = 2**63 - 1
"""Readers of tables hold counts in 64 bits with a sign."""


class ModelState(Protocol):
    """A model under way. Its course is a function of its parameters, seed, actions and steps alone."""

    @property
    def tick(self) -> int:
        """Steps done so far."""
        ...

    @property
    def population(self) -> int:
        """Cells, agents or live nodes there are now."""
        ...

    @property
    def heap_bytes(self) -> int:
        """Bytes of memory the state holds."""
        ...

    @property
    def parallel_jobs(self) -> int | None:
        """Parts a step could be split into, None when that is not known."""
        ...

    @property
    def grid(self) -> NDArray[np.uint8] | None:
        """State of each cell as an index into the palette, ``(height, width)``; None for a model without a grid.

        A fresh array or a read-only view: writing to it never changes the model.
        """
        ...

    def step(self, n: int = 1) -> None:
        """Do `n` steps, 0 or more."""
        ...

    def stats(self) -> dict[str, float]:
        """Return a number for each column, in column order, for the tick reached."""
        ...

    def act(self, action_id: str) -> bool:
        """Do the action; False when the model refuses or does not know it."""
        ...

    def set_param(self, id: str, value: ParamValue) -> bool:
        """Give a live parameter a canonical value from the next step on; False when the model does not take it."""
        ...


class MayEnd(Protocol):
    """What a state offers besides, where the model may come to an end before the run's last step."""

    def has_ended(self) -> bool:
        """Return whether the model has ended at the tick reached: no further step would be one.

        Asked behind every call of `step`, behind the actions of that tick, and at tick 0. A `step(n)` in whose course
        the model ends stops there, so `tick` has risen by less than n; one of an ended model does nothing.
        """
        ...


def has_ended(state: object) -> bool:
    """Return whether `state` says that it has ended; one that says nothing of it has not.

    Raises:
        ModelDefinitionError: Its `has_ended` is no method.
    """
    ask = getattr(state, "has_ended", None)
    if ask is None:
        return False
    if not callable(ask):
        wrong = f"has_ended is {shown_value(ask)}, and it is a method: def has_ended(self) -> bool"
        raise ModelDefinitionError(f"the model's {wrong}")
    return bool(ask())


class StateDefaults:
    """What a state says of itself where its model has nothing to say.

    Attributes:
        tick: Steps done so far.
        population: Cells, agents or live nodes there are now; 0 where there is nothing to count.
        parallel_jobs: Parts a step could be split into, None when that is not known.
    """

    tick: int = 0
    population: int = 0
    parallel_jobs: int | None = None

    @property
    def heap_bytes(self) -> int:
        """Bytes of memory the attributes hold, as `size_of` guesses them."""
        return size_of(self, vars(self).values())

    @property
    def grid(self) -> NDArray[np.uint8] | None:
        """State of each cell as an index into the palette, ``(height, width)``; None: there is no grid."""
        return None

    def act(self, action_id: str) -> bool:
        """Do the action; False: there is none."""
        return False

    def set_param(self, id: str, value: ParamValue) -> bool:
        """Give a live parameter a value; False: each is read at the build."""
        return False


def size_of(owner: object, held: Iterable[object]) -> int:
    """Return about how many bytes `held` takes: exact of arrays; of collections by the first few of what they hold.

    What is met twice counts once, and `owner`, which agents as a rule know, not at all.
    """
    seen = {id(owner)}
    return sum(_size(each, seen, 3) for each in held)


def _size(thing: object, seen: set[int], depth: int) -> int:
    if id(thing) in seen:
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    size = sys.getsizeof(thing, 64)
    if not depth or isinstance(thing, (str, bytes)):
        return size
    if isinstance(thing, Collection):
        members = thing.values() if isinstance(thing, Mapping) else thing
        first = list(islice(members, _LOOKED_AT))
        return size + sum(_size(each, seen, depth - 1) for each in first) * len(thing) // max(1, len(first))
    return size + sum(_size(each, seen, depth - 1) for each in getattr(thing, "__dict__", {}).values())


_LOOKED_AT = 8
"""Members of a collection that stand for all: a list of a million agents is not walked."""


class BatchState(Protocol):
    """Several replicates of one config under way together, a row each; every row goes the way it goes alone.

    What one row does or draws never depends on which others there are. A fault in any row may be raised as it comes:
    the runs are then done one by one. A model that may end by itself (`MayEnd`) offers no batches.
    """

    @property
    def tick(self) -> int:
        """Steps done so far, the same for every row."""
        ...

    @property
    def populations(self) -> NDArray[np.int64]:
        """Cells, agents or live nodes of each row, int64 ``(rows,)``."""
        ...

    def step(self, n: int = 1) -> None:
        """Do `n` steps of every row, 0 or more."""
        ...

    def stats(self) -> dict[str, NDArray[np.float64]]:
        """Return the numbers of each column, in column order, float64 ``(rows,)`` each."""
        ...

    def act(self, action_id: str) -> NDArray[np.bool_]:
        """Do the action in every row; False for each that refuses or does not know it, bool ``(rows,)``."""
        ...

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Go on with `rows` alone, which rise; they are numbered anew, from 0."""
        ...

    def grid_of(self, row: int) -> NDArray[np.uint8] | None:
        """Return the grid of one row, as `ModelState.grid` has it."""
        ...


def checked_count(name: str, value: object) -> int:
    """Return the count that a model gave as its `name`: a whole number, numpy's own included.

    Raises:
        StateValueError: `value` is no whole number, negative or past 2^63 - 1.
    """
    if type(value) is int and 0 <= value <= _LARGEST_COUNT:  # what a model gives at every tick, as a rule
        return value
    if not isinstance(value, (bool, np.bool_)):
        if isinstance(value, (float, np.floating)) and value.is_integer():
            value = int(value)
        try:
            count = operator.index(cast("SupportsIndex", value))
        except TypeError:
            count = -1
        if 0 <= count <= _LARGEST_COUNT:
            return count
    raise StateValueError(name, shown_value(value))


def shown_value(value: object) -> str:
    """Return `value`, which a model handed over, as messages show it: short, and the same in every run."""
    if not (value is None or isinstance(value, (str, bytes, numbers.Number, np.generic))):
        return f"a value of type {type(value).__name__}"  # its text may hold an address, another in each run
    try:
        text = repr(value)
    except Exception as error:  # an integer past 4,300 digits has no text, and a class of the model may do anything
        return f"a {type(value).__name__} without a text ({type(error).__name__})"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


_LONGEST_SHOWN = 80
