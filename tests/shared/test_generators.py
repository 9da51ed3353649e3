"""Generators from a run's seed: independent, never of the machine, and what of their draws is equal on every target.

The lists here are those of `docs/randomness.md`. Each hash is of one generator's draws; those of `EXACT` and `PYTHON`
are made of integers, `+ - * /` and `sqrt`, `MEASURED` of `log` and `exp` too: no more than measured.
Mutants seen red: the seed is taken as it is, the stream does not count, no seed is a start of the machine's.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import henad_web as hw
from henad_web.errors import UsageError
from henad_web.randomness import mix_seed

N = 20_000
MANY = range(5000)


def shuffled(generator: Any, items: Any) -> Any:
    generator.shuffle(items)
    return items


EXACT: dict[str, tuple[Callable[[np.random.Generator], object], str]] = {
    "random": (lambda g: g.random(N), "f35d4b79cf3d8bfc"),
    "random in single precision": (lambda g: g.random(N, dtype=np.float32), "ca6be3003756d7dc"),
    "integers": (lambda g: g.integers(0, 1000, N), "e6f91f3836cb3201"),
    "integers of 8 bits": (lambda g: g.integers(0, 7, N, dtype=np.uint8), "2671dc0019341d5a"),
    "integers of 63 bits": (lambda g: g.integers(-(2**62), 2**62, N), "f3932e1ab1efea6a"),
    "uniform": (lambda g: g.uniform(-1, 3, N), "500adedd9456e95b"),
    "triangular": (lambda g: g.triangular(0, 1, 3, N), "7ad92d3ecdfea615"),
    "choice": (lambda g: g.choice(1000, N), "e6f91f3836cb3201"),
    "choice without replacement": (lambda g: g.choice(N, 100, replace=False), "7305b3aef0fb86e9"),
    "choice of most": (lambda g: g.choice(1000, 900, replace=False), "d7e72eea0cca533f"),
    "choice by weight": (lambda g: g.choice(4, N, p=[0.1, 0.2, 0.3, 0.4]), "d9908ceb61571f7d"),
    "permutation": (lambda g: g.permutation(N), "5239352bf1192497"),
    "permuted": (lambda g: g.permuted(np.arange(N).reshape(100, -1), axis=1), "a3a46d3e23a271ba"),
    "shuffle": (lambda g: shuffled(g, np.arange(N)), "5239352bf1192497"),
    "shuffle of a list": (lambda g: shuffled(g, list(range(1000))), "28a9de3468c6eca5"),
    "bytes": (lambda g: np.frombuffer(g.bytes(N), np.uint8), "ccc6e828b90176e3"),
}

MEASURED: dict[str, tuple[Callable[[np.random.Generator], object], str]] = {
    "normal": (lambda g: g.normal(0, 1, N), "e24d77c373a8250e"),
    "normal in single precision": (lambda g: g.standard_normal(N, dtype=np.float32), "3f741f54d828385a"),
    "exponential": (lambda g: g.exponential(2, N), "65ad637969b5bfa4"),
    "poisson": (lambda g: g.poisson(3.5, N), "0469a9e88bcacdff"),
    "poisson of a large mean": (lambda g: g.poisson(50, N), "b5afa0cffdc82b1e"),
    "binomial": (lambda g: g.binomial(10, 0.3, N), "466111fa3d31336b"),
    "binomial of many": (lambda g: g.binomial(1000, 0.3, N), "58ec659e1443744e"),
    "multinomial": (lambda g: g.multinomial(20, [0.2, 0.3, 0.5], 2000), "69b6ec92f4b141a5"),
    "geometric": (lambda g: g.geometric(0.1, N), "b14308137ce144a2"),
    "gamma": (lambda g: g.gamma(2.5, 1, N), "43238b29c7964191"),
    "beta": (lambda g: g.beta(2, 3, N), "3879801b4b278438"),
    "chisquare": (lambda g: g.chisquare(3, N), "373f9e8ec432f048"),
    "dirichlet": (lambda g: g.dirichlet([1.5, 2, 3], 2000), "f54353b3b89a7733"),
    "hypergeometric": (lambda g: g.hypergeometric(15, 15, 15, N), "f0e8db9e220bac97"),
    "negative_binomial": (lambda g: g.negative_binomial(3, 0.4, N), "a702cb92d0e354e6"),
    "zipf": (lambda g: g.zipf(2.5, N), "78b9d101c0032a28"),
    "logseries": (lambda g: g.logseries(0.6, N), "1967343af6190b04"),
    "rayleigh": (lambda g: g.rayleigh(1, N), "65429ce046dc8573"),
    "standard_cauchy": (lambda g: g.standard_cauchy(N), "40fd80765a138898"),
}

PYTHON: dict[str, tuple[Callable[[random.Random], object], str]] = {
    "random": (lambda r: [r.random() for _ in MANY], "6b24f97c0f7894a3"),
    "uniform": (lambda r: [r.uniform(-1, 3) for _ in MANY], "7226d19ce8a2db8c"),
    "triangular": (lambda r: [r.triangular(0, 3, 1) for _ in MANY], "003714244284b052"),
    "randrange": (lambda r: [r.randrange(1000) for _ in MANY], "c57204921756883f"),
    "randint": (lambda r: [r.randint(-5, 10**12) for _ in MANY], "7bd91fb423da23d3"),
    "getrandbits": (lambda r: [r.getrandbits(60) for _ in MANY], "5169709c3ae1036a"),
    "choice": (lambda r: [r.choice(range(17)) for _ in MANY], "67bedb6864be8f83"),
    "choices": (lambda r: r.choices(range(17), k=5000), "f97350378ac2dd5f"),
    "choices by weight": (lambda r: r.choices(range(3), [0.2, 0.3, 0.5], k=5000), "9d64672dea302167"),
    "sample": (lambda r: r.sample(range(10000), 500), "cfb1e8f4d5636230"),
    "shuffle": (lambda r: shuffled(r, list(range(1000))), "7d232f369c39f995"),
}


def digest(values: object) -> str:
    """Return a hash of numbers, the same whatever the widths of a target's integers are."""
    array = np.asarray(values)
    array = array.astype("<f8" if array.dtype.kind == "f" else "<i8")
    return hashlib.sha256(repr(array.shape).encode() + array.tobytes()).hexdigest()[:16]


@pytest.mark.parametrize(("draw", "recorded"), [*EXACT.values(), *MEASURED.values()], ids=[*EXACT, *MEASURED])
def test_draws_of_numpy_that_are_listed_are_equal_on_every_target(
    draw: Callable[[np.random.Generator], object], recorded: str
) -> None:
    assert digest(draw(hw.generator(42))) == recorded


@pytest.mark.parametrize(("draw", "recorded"), PYTHON.values(), ids=list(PYTHON))
def test_draws_of_the_standard_library_that_are_listed_are_equal_on_every_target(
    draw: Callable[[random.Random], object], recorded: str
) -> None:
    assert digest(draw(hw.py_random(42))) == recorded


def test_a_generator_follows_from_seed_and_stream_alone() -> None:
    for make in (hw.generator, hw.py_random):
        first = [make(seed, stream=stream).random() for seed in (0, 1, 2**64 - 1, None) for stream in (0, 1, 2**64 - 1)]
        assert first == [
            make(seed, stream=stream).random() for seed in (0, 1, 2**64 - 1, None) for stream in (0, 1, 2**64 - 1)
        ]
        assert len(set(first)) == len(first)
        assert make(3).random() == make(3, stream=0).random()


def test_the_entropy_is_the_mixed_seed_and_the_stream_above_it() -> None:
    entropy = mix_seed(7) + (5 << 64)
    assert hw.generator(7, stream=5).random() == np.random.Generator(np.random.PCG64(entropy)).random()
    assert hw.py_random(7, stream=5).random() == random.Random(entropy).random()


def test_near_seeds_have_nothing_in_common() -> None:
    draws = np.array([hw.generator(seed).random(500) for seed in range(40)])
    others = np.abs(np.corrcoef(draws)[~np.eye(40, dtype=bool)])
    assert others.max() < 0.2
    assert len(np.unique(draws)) == draws.size


@pytest.mark.parametrize("stream", [-1, 2**64])
def test_a_stream_that_there_is_not_is_refused(stream: int) -> None:
    for make in (hw.generator, hw.py_random):
        with pytest.raises(UsageError, match=re.escape(f"stream is {stream}; allowed: a whole number from 0")):
            make(1, stream=stream)


def test_the_generator_of_a_model_is_that_of_its_seed() -> None:
    class Draws(hw.Model):
        """Draws a number a step."""

        last = hw.stat()

        def setup(self) -> None:
            self.last = self.rng.random()

        def step_once(self) -> None:
            self.last = self.rng.random()

    expected = hw.generator(9)
    model = Draws(seed=9)
    assert model.last == expected.random()
    model.step(1)
    assert model.last == expected.random()
    assert Draws().last == hw.generator(None).random()
