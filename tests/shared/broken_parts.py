"""Parts of broken models in a file of their own: what a model inherits and what it calls is its own code, too."""

from __future__ import annotations

import numpy as np

import henad_web as hw

__all__ = ["Decays", "decay"]


def decay(left: float) -> float:
    """Return what is left of `left` a tick later, in a way that is not the same everywhere."""
    return float(np.exp(-left))


class Decays(hw.Model, abstract=True):
    """Something that decays."""

    left = hw.stat()

    def setup(self) -> None:
        """Start with some."""
        self.left = float(self.rng.random())

    def step_once(self) -> None:
        """Lose some."""
        self.left += float(self.rng.f(2, 3))
