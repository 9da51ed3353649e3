"""Generators of other libraries, started from a run's seed: numpy's and the standard library's.

Which of their draws are equal on every target is measured in `tests/shared/test_generators.py` and listed in
`docs/randomness.md`. Neither is ever seeded from the machine.
"""

from __future__ import annotations

import random

import numpy as np

from henad_web.errors import UsageError
from henad_web.randomness.scalar import initial_state

__all__ = ["generator", "py_random"]

_UNSEEDED = 0x6A09E667F3BCC908
"""State of a build without a seed: the fraction of the square root of two."""


def generator(seed: int | None, *, stream: int = 0) -> np.random.Generator:
    """Return a numpy generator (PCG64) that is a function of `seed` and `stream` alone.

    Its entropy is the number ``mix_seed(seed) + stream * 2^64``, which numpy's own SeedSequence mixes once more. So the
    seeds of a plan, and all streams of one seed, give generators that have nothing in common.

    Args:
        seed: Seed of the run, any whole number (taken modulo 2^64); None is a fixed start of its own.
        stream: Which of the seed's generators, 0 to 2^64 - 1: one a purpose, so that draws for one shift no other's.

    Raises:
        UsageError: `stream` is out of range.

    Example:
        >>> import henad_web as hw
        >>> hw.generator(42).integers(0, 100, 5).tolist()
        [70, 16, 15, 46, 83]
    """
    return np.random.Generator(np.random.PCG64(_entropy(seed, stream)))


def py_random(seed: int | None, *, stream: int = 0) -> random.Random:
    """Return a generator of the standard library that is a function of `seed` and `stream` alone, as `generator` does.

    Args:
        seed: Seed of the run, any whole number (taken modulo 2^64); None is a fixed start of its own.
        stream: Which of the seed's generators, 0 to 2^64 - 1.

    Raises:
        UsageError: `stream` is out of range.

    Example:
        >>> import henad_web as hw
        >>> hw.py_random(42).choice("abc")
        'a'
    """
    return random.Random(_entropy(seed, stream))


def _entropy(seed: int | None, stream: int) -> int:
    if not 0 <= stream < 2**64:
        raise UsageError(f"stream is {stream}; allowed: a whole number from 0 to 2^64 - 1")
    return initial_state(seed, _UNSEEDED) + (stream << 64)
