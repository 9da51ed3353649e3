"""Seeds of runs, designs and searches, all derived from the root of a spec.

Owns the salts and the formulas. Draws nothing: a seed is a pure function of numbers (reference engine,
section 5.3).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.spec import SeedScheme, SeedSettings
from henad_web.randomness import mix_seed

__all__ = [
    "SEED_FORMULAS",
    "derived_design_seed",
    "run_seed",
    "scheme_text",
    "search_seed",
    "seed_formula",
    "seed_of",
    "seeds_of",
]

_SWEEP_SALT = 0x005EE9005EED0001
_CONFIG_SALT = 0x00C04F165EED0001
_DESIGN_SALT = 0x00DE51605EED0001
_SEARCH_SALT = 0x005EA6C45EED0001
_MASK = 0xFFFF_FFFF_FFFF_FFFF

SEED_FORMULAS = {
    SeedScheme.COMMON: "mix_seed(mix_seed(root ^ SWEEP_SALT) + rep)",
    SeedScheme.INDEPENDENT: ("mix_seed(mix_seed((mix_seed(root ^ CONFIG_SALT) + config_id) ^ SWEEP_SALT) + rep)"),
}
"""How a run's seed follows from the root, as the manifest states it."""


_LIST_SCHEME, _LIST_FORMULA = "list", "list[rep]"


def scheme_text(seeds: SeedSettings) -> str:
    """Return the name of where the runs' seeds come from, as hashes and manifests write it."""
    return seeds.scheme.value if seeds.list is None else _LIST_SCHEME


def seed_formula(seeds: SeedSettings) -> str:
    """Return how a run's seed follows from `seeds`, as the manifest states it."""
    return SEED_FORMULAS[seeds.scheme] if seeds.list is None else _LIST_FORMULA


def seed_of(seeds: SeedSettings, config_id: int, rep: int) -> int:
    """Return the seed of replicate `rep` of config `config_id`, 0 to 2^64 - 1."""
    return run_seed(seeds.scheme, seeds.root, config_id, rep) if seeds.list is None else seeds.list[rep]


def seeds_of(seeds: SeedSettings, config_ids: NDArray[np.int64], reps: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return `seed_of` of each pair of `config_ids` and `reps`, ``(n,)`` each."""
    if seeds.list is None and seeds.scheme is SeedScheme.INDEPENDENT:
        pairs = zip(config_ids.tolist(), reps.tolist(), strict=True)
        return np.fromiter((seed_of(seeds, config_id, rep) for config_id, rep in pairs), np.uint64, len(reps))
    # No config counts: each replicate has one seed.
    entries, positions = np.unique(reps, return_inverse=True)
    return np.array([seed_of(seeds, 0, rep) for rep in entries.tolist()], np.uint64)[positions]


def run_seed(scheme: SeedScheme, root: int, config_id: int, rep: int) -> int:
    """Return the seed of replicate `rep` of config `config_id`, 1 to 2^64 - 1.

    The common scheme ignores `config_id`: replicate r of every config shares its random numbers.
    """
    if scheme is SeedScheme.INDEPENDENT:
        root = (mix_seed((root ^ _CONFIG_SALT) & _MASK) + config_id) & _MASK
    return mix_seed((mix_seed(root ^ _SWEEP_SALT) + rep) & _MASK)


def derived_design_seed(root: int, block: int) -> int:
    """Return the seed of the sampled design in block `block` (from 0) that names none itself."""
    return mix_seed((mix_seed(root ^ _DESIGN_SALT) + block) & _MASK)


def search_seed(root: int) -> int:
    """Return the seed of a search's algorithm."""
    return mix_seed(mix_seed(root ^ _SEARCH_SALT))
