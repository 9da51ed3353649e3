"""Kills a search, again and again, and compares what it comes to with one that nobody disturbed.

``poe kill-searches`` does it with searches of every kind until as many kills as asked for have landed; the suite does a
sample.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from tests.native.study_kills import KilledStudy, Survived
from tests.shared.plain_searches import HILLS, hills_spec

KINDS = ("random", "hill_climb", "genetic", "nsga2", "pse")


def survived(base: Path, *, kills: int, evaluations: int, seed: int) -> Mapping[str, Survived]:
    """Return what came of a share of `kills` for each kind of search."""
    found = {}
    for position, algorithm in enumerate(KINDS):
        folder = base / algorithm
        folder.mkdir()
        spec = hills_spec(algorithm, evaluations=evaluations, batch=7)
        spec = msgspec.structs.replace(spec, measure=msgspec.structs.replace(spec.measure, series_every=1))
        share = kills * (position + 1) // len(KINDS) - kills * position // len(KINDS)
        search = KilledStudy(HILLS, spec, folder, seed=seed + position)
        found[algorithm] = search.survive(share, lambda quiet_s: (0.0, quiet_s / 2))
    return found


def main() -> None:
    """Do what the command line says and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("evaluations", 600), ("kills", 100)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        found = survived(Path(base), kills=asked.kills, evaluations=asked.evaluations, seed=asked.seed)
    for algorithm, report in found.items():
        print(  # noqa: T201 - the command's answer
            f"{algorithm}: {report.kills} kills, {report.while_going_on} of them of a search gone on with; "
            f"{report.finished} finished with equal bytes ({report.quiet_s:.1f} s undisturbed)"
        )
    print(f"seed {asked.seed}: {sum(report.kills for report in found.values())} kills")  # noqa: T201 - as above


if __name__ == "__main__":
    main()
