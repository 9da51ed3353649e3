"""What a running model offers to whoever steps it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from henad_web.model.params import ParamValue

__all__ = ["ModelState"]


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
