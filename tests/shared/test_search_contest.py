"""What searches find of the noisy function of `benchmarks.searches`, in a sample of its seeds, at a smaller budget."""

from __future__ import annotations

import pytest

from benchmarks.searches import found_by

SEEDS = (0, 1, 2)


@pytest.mark.parametrize("algorithm", ["genetic", "cma_es"])
def test_of_twenty_noisy_parameters_they_find_better_values_than_random_search(algorithm: str) -> None:
    for seed in SEEDS:
        assert found_by(algorithm, seed, 300).height < found_by("random", seed, 300).height
