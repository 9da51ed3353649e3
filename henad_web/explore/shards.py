"""Which part of a plan one sweep runs.

Owns the shard and its text. Knows nothing of merging, and of a plan only its number of runs.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import ShardError
from henad_web.model.decimals import MAX_U64, whole_text

__all__ = ["WHOLE", "Shard"]

_TEXT = re.compile(r"([0-9]{1,20})/([0-9]{1,20})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shard:
    """The runs whose id leaves the remainder `index` when divided by `count`; the config's id where runs stay together.

    Attributes:
        index: 0 to ``count - 1``.
        count: Number of shards the plan is spread over, at least 1.

    Raises:
        ShardError: `count` is 0 or beyond 2^64 - 1, `index` is not from 0 to below it, or one is no whole number.
    """

    index: int
    count: int

    def __post_init__(self) -> None:
        for name in ("index", "count"):
            number = getattr(self, name)
            if isinstance(number, bool | np.bool_) or not isinstance(number, Integral):
                raise ShardError(str(self), f"the {name} is no whole number")
            object.__setattr__(self, name, operator.index(number))
        if self.count > MAX_U64:
            raise ShardError(str(self), "the count is beyond 2^64 - 1")
        if self.count < 1:
            raise ShardError(str(self), "the count is 0")
        if not 0 <= self.index < self.count:
            raise ShardError(str(self), f"the index is not 0 to {whole_text(self.count - 1)}")

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the shard written as ``INDEX/COUNT``.

        Raises:
            ShardError: `text` is not of that form, or names a shard that does not exist.
        """
        match = _TEXT.fullmatch(text.strip()) if isinstance(text, str) else None
        if match is None:
            raise ShardError(f"{text}"[:80], "not of the form INDEX/COUNT")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        """Return ``INDEX/COUNT``."""
        return f"{whole_text(self.index)}/{whole_text(self.count)}"

    def holds(self, run_id: int, *, together: int = 1) -> bool:
        """Return whether the run `run_id` is one of this shard's.

        Args:
            run_id: The run.
            together: Neighbouring runs that are never in two shards: those of a config whose replicates are adaptive.
        """
        return run_id // together % self.count == self.index

    def held(self, run_ids: NDArray[np.int64], together: int) -> NDArray[np.bool_]:
        """Return the same of each of `run_ids`, ``(n,)``."""
        inside: NDArray[np.bool_] = run_ids // together % self.count == self.index
        return inside

    def run_count(self, runs: int, *, together: int = 1) -> int:
        """Return how many of the runs 0 to ``runs - 1`` are in this shard, `together` each of its parts."""
        return len(range(self.index, runs // together, self.count)) * together


WHOLE = Shard(0, 1)
"""The shard that is the whole plan."""
