"""The base class of batches: several replicates of a model stepped on arrays with a leading axis, a row a run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence, Sized
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import ModelDefinitionError

__all__ = ["Batch", "counted"]


def counted(step: Callable[[Any, int], None]) -> Callable[[Any, int], None]:
    """Return the `step` of a model or a batch such that it counts, and ends where a model does."""

    @functools.wraps(step)
    def counting(self: Any, n: int = 1) -> None:  # noqa: ANN401 - a model or a batch
        may_end = self._may_end
        for stride in [1] * n if may_end else [n]:
            if may_end and self.has_ended():
                break
            end = self.tick + stride
            step(self, stride)
            self.tick = end

    counting.counts = True  # type: ignore[attr-defined]
    return counting


class Batch:
    """Several replicates of one config under way together; what a batch need not say itself.

    Write `setup`, which gets the models of the rows at tick 0, and `step_once`, which does one step of all rows, or
    ``step(n)``. Every statistic of the model is an attribute or a method without arguments of the same name that gives
    a number a row, every action a method of the same name; a model offers the batch on its class line,
    ``class Fire(hw.Model, batch=Fires)``. Rows go the ways their runs go alone: whatever one draws may not depend on
    those beside it. What raises ends the batch, and its runs are done one by one.

    Attributes:
        per_row: Names of the arrays ``(rows, ...)`` and lists with a row a run, from which it is taken when that ends.
        tick: Steps done so far; the base class counts them.
        populations: Cells, agents or live nodes of each row, int64 ``(rows,)``; assign them where they change.

    Args:
        rows: The models, one a row.

    Raises:
        ModelDefinitionError: When the class is made: it has no step, or `per_row` names nothing.

    Example:
        >>> import henad_web as hw
        >>> import numpy as np
        >>> class Walks(hw.Batch):
        ...     per_row = ("rngs", "place")
        ...     def setup(self, rows):
        ...         self.rngs = [row.rng for row in rows]
        ...         self.place = np.array([row.place for row in rows])
        ...     def step_once(self):
        ...         self.place += [rng.random() - 0.5 for rng in self.rngs]
        >>> class Walk(hw.Model, batch=Walks):
        ...     place = hw.stat()
        ...     def setup(self):
        ...         self.place = 0.0
        ...     def step_once(self):
        ...         self.place += self.rng.random() - 0.5
        >>> walks = Walk.entry().build_many({}, seeds=[1, 2, 3])
        >>> walks.step(10)
        >>> walk = Walk(seed=2)
        >>> walk.step(10)
        >>> walks.stats()["place"][1] == walk.stats()["place"]
        np.True_
    """

    per_row: ClassVar[tuple[str, ...]] = ()
    _may_end: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        """Refuse a class that is no batch."""
        super().__init_subclass__()
        own = [name for name in ("step_once", "step") if getattr(cls, name) is not getattr(Batch, name)]
        if not own:
            raise _refusal(cls, "it has no step; write step_once(self), or step(self, n=1) which does n of them")
        if len(own) > 1:
            raise _refusal(cls, "it has both step_once and step; keep one, either does")
        names = cls.per_row
        if not (isinstance(names, tuple) and names and all(isinstance(name, str) for name in names)):
            form = 'per_row = ("cells",)'
            raise _refusal(cls, f"per_row is {names!r}; it names the arrays and lists that have a row a run: {form}")
        if cls.step is not Batch.step and not hasattr(cls.step, "counts"):
            cls.step = counted(cls.step)  # type: ignore[method-assign, assignment]

    def __init__(self, rows: Sequence[Any]) -> None:
        self.tick = 0
        self.populations: NDArray[np.int64] = np.array([row.population for row in rows], np.int64)
        self._columns: tuple[tuple[str, str], ...] = type(rows[0]).columns()
        self._row_count = len(rows)
        self.setup(rows)
        self._check_rows()

    def setup(self, rows: Sequence[Any]) -> None:
        """Make the arrays out of the models of the rows, each at tick 0."""

    def step_once(self) -> None:
        """Do one step of every row."""
        raise _refusal(type(self), "it has no step_once of its own: step(n) does its steps")

    def step(self, n: int = 1) -> None:
        """Do `n` steps of every row, 0 or more."""
        for _ in range(n):
            self.step_once()
            self.tick += 1

    def stats(self) -> dict[str, NDArray[np.float64]]:
        """Return the numbers of each column, float64 ``(rows,)`` each."""
        return {label: np.asarray(self._given(name), np.float64) for label, name in self._columns}

    def _given(self, name: str) -> object:
        value = getattr(self, name)
        return value() if callable(value) else value

    def act(self, action_id: str) -> NDArray[np.bool_]:
        """Do the action in every row; False for each whose model refuses it, bool ``(rows,)``."""
        done = getattr(self, action_id)()
        return np.broadcast_to(np.asarray(done is None or done, np.bool_), (self._row_count,))

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Go on with `rows` alone."""
        self.populations = self.populations[rows]
        for name in self.per_row:
            held = getattr(self, name)
            setattr(self, name, held[rows] if isinstance(held, np.ndarray) else [held[row] for row in rows])
        self._row_count = len(rows)

    def grid_of(self, row: int) -> NDArray[np.uint8] | None:
        """Return the grid of one row; None: there is none."""
        return None

    def _check_rows(self) -> None:
        for name in self.per_row:
            held: object = getattr(self, name, None)
            if not isinstance(held, Sized) or len(held) != self._row_count:
                came = f"has {len(held)}" if isinstance(held, Sized) else f"is {type(held).__name__}"
                raise _refusal(type(self), f"{name} {came} where there are {self._row_count} rows; setup makes it")


def _refusal(cls: type, wrong: str) -> ModelDefinitionError:
    return ModelDefinitionError(f"batch class {cls.__name__}: {wrong}")
