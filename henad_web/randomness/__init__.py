"""The random streams of the package: plain integers in scalar form, whole columns of streams in array form.

`scalar` holds the definitions, `streams` walks many streams at once and moves one ahead without walking it, `design` is
the generator of designs and searches. Every result is a function of integers alone and the same on every little-endian
machine. Nothing here knows what a model, a plan or a run is.
"""

from henad_web.randomness.design import DesignRng, units_of
from henad_web.randomness.scalar import (
    MASK64,
    action_state,
    below,
    choice3,
    chunk_seed,
    initial_state,
    mix_seed,
    next_base,
    next_bits,
    next_float,
    next_index,
    pcg_hash,
    random_float,
    reservoir_accept,
    threshold,
    xorshift64,
)
from henad_web.randomness.streams import (
    Jump,
    chunk_factors,
    chunk_seeds,
    jump_of,
    many_bits,
    row_words,
    stream_bits,
    xorshift64_array,
)

__all__ = [
    "MASK64",
    "DesignRng",
    "Jump",
    "action_state",
    "below",
    "choice3",
    "chunk_factors",
    "chunk_seed",
    "chunk_seeds",
    "initial_state",
    "jump_of",
    "many_bits",
    "mix_seed",
    "next_base",
    "next_bits",
    "next_float",
    "next_index",
    "pcg_hash",
    "random_float",
    "reservoir_accept",
    "row_words",
    "stream_bits",
    "threshold",
    "units_of",
    "xorshift64",
    "xorshift64_array",
]
