"""The reference stream in scalar form: xorshift64 states, seeds made from seeds, draws made from words.

Formulas and constants are those of the reference engine, sections 2.3 and 2.4. Words have 32 bits, states 64.
"""

from __future__ import annotations

import numpy as np

__all__ = [
    "MASK64",
    "action_state",
    "below",
    "choice3",
    "chunk_seed",
    "initial_state",
    "mix_seed",
    "next_base",
    "next_bits",
    "next_float",
    "next_index",
    "pcg_hash",
    "random_float",
    "reservoir_accept",
    "threshold",
    "xorshift64",
]

MASK32 = 2**32 - 1
MASK64 = 2**64 - 1
MIX_INCREMENT = 0x73475CB40A568E8D
TICK_FACTOR = 0x9E3779B97F4A7C15
CHUNK_FACTOR = 0xBF58476D1CE4E5B9
ACTION_SALT = 0x00AC71045EED0001


def xorshift64(state: int) -> int:
    """Return the state after `state`. Zero maps to itself, so a stream never starts there."""
    state ^= (state << 13) & MASK64
    state ^= state >> 7
    return state ^ ((state << 17) & MASK64)


def mix_seed(seed: int) -> int:
    """Return a well-mixed 64-bit number made from `seed` (taken modulo 2^64), never zero."""
    mixed = (seed + MIX_INCREMENT) & MASK64
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK64
    return (mixed ^ (mixed >> 31)) or MIX_INCREMENT


def next_bits(state: int) -> tuple[int, int]:
    """Return the next state, and the 32-bit word it gives: its upper half."""
    state = xorshift64(state)
    return state, state >> 32


def random_float(bits: int, maximum: float = 1.0) -> float:
    """Return the single-precision number in [0, maximum) that the upper 24 bits of the word `bits` stand for."""
    return float(np.float32(bits >> 8) / np.float32(16777216) * np.float32(maximum))


def next_float(state: int, maximum: float = 1.0) -> tuple[int, float]:
    """Return the next state, and the number in [0, maximum) it gives."""
    state, bits = next_bits(state)
    return state, random_float(bits, maximum)


def next_index(state: int, count: int) -> tuple[int, int]:
    """Return the next state, and an unbiased index in [0, count) (Lemire's method); `count` below 2^32.

    A count of 0 gives 0 and still takes one word. Words that would bias the index are drawn again.
    """
    state, bits = next_bits(state)
    product = bits * count
    if product & MASK32 < count:
        floor = (2**32 - count) % count
        while product & MASK32 < floor:
            state, bits = next_bits(state)
            product = bits * count
    return state, product >> 32


def threshold(probability: float) -> int:
    """Return the word below which a draw succeeds with `probability`, 0 to 1, in single-precision arithmetic.

    Probability 1 gives 2^32 - 1: the single-precision factor rounds up to 2^32 and the result is capped.
    """
    product = float(np.float32(probability) * np.float32(MASK32))
    return min(max(int(product), 0), MASK32)


def below(bits: int, limit: int) -> bool:
    """Return whether the word `bits` is under `limit`, made by `threshold`."""
    return bits < limit


def choice3(bits: int) -> int:
    """Return -1, 0 or 1 from the word `bits`."""
    return bits % 3 - 1


def reservoir_accept(bits: int, count: int) -> bool:
    """Return whether the `count`-th item seen, from 1, replaces the one kept, so that each is kept equally often."""
    return random_float(bits) < float(np.float32(1) / np.float32(count))


def chunk_seed(base: int, tick: int, chunk: int) -> int:
    """Return the state that the stream of `chunk` (a row of a grid) starts from in the step at `tick`."""
    return xorshift64((base ^ (tick * TICK_FACTOR & MASK64) ^ (chunk * CHUNK_FACTOR & MASK64)) | 1)


def next_base(base: int, tick: int) -> int:
    """Return the base of the tick streams after the step at `tick`."""
    return xorshift64(base ^ tick)


def initial_state(seed: int | None, unseeded: int) -> int:
    """Return the state that building a model starts from; `unseeded` is the one of a build without a seed."""
    return unseeded if seed is None else mix_seed(seed)


def action_state(seed: int | None) -> int:
    """Return the state that the stream of a build's actions starts from."""
    return mix_seed((seed or 0) ^ ACTION_SALT)


def pcg_hash(number: int) -> int:
    """Return the 32-bit PCG hash of the 32-bit `number`."""
    state = (number * 747796405 + 2891336453) & MASK32
    word = (((state >> ((state >> 28) + 4)) ^ state) * 277803737) & MASK32
    return (word >> 22) ^ word
