"""The genetic search that the reference engine records, run whole: ``poe search-vectors``, a minute on two cores."""

from __future__ import annotations

import time

import henad_web as hw

GENETIC = """
model = "sir"
[set]
grid_width = 64
grid_height = 64
[run]
steps = 800
replicates = 4
stop = { condition = "Infected <= 0", min_tick = 20 }
[measure]
stats_every = 5
series_every = 0
default_reducers = false
reducers = [{ column = "Infected", kinds = ["max", "argmax"] }]
[seeds]
root = 1
[[action]]
id = "seed_outbreak"
name = "second_wave"
tick = 400
[search]
algorithm = "genetic"
max_evaluations = 480
batch_size = 32
objective = { column = "Infected:argmax", goal = "maximize" }
space = [
  { param = "infection_rate", range = { min = 0.05, max = 0.9 } },
  { param = "recovery_rate", range = { min = 0.01, max = 0.3 } },
  { param = "initial_infected_pct", range = { min = 0.001, max = 0.05 } },
  { action = "second_wave", range = { min = 0, max = 400 } },
]
"""

RECORDED = (442, 165.0, 8, 24, 12, 1920)
"""Best candidate, its objective and replicates, batches, generations, runs."""


def main() -> None:
    """Run the search and say whether it came to what is recorded.

    Raises:
        SystemExit: It came to something else.
    """
    started = time.perf_counter()
    record = hw.run_spec(hw.example_models()["sir"], hw.parse_spec(GENETIC))
    report, manifest = record.search, record.manifest
    if report is None or manifest is None or manifest.search is None:
        raise SystemExit("the search has no report")
    best = report.ranking[0]
    standing = manifest.search.batch_count, len(report.generations), record.report.counts.rows
    found = (best.candidate_id, best.objective, best.replicate_count, *standing)
    if found != RECORDED:
        raise SystemExit(f"came to {found}, recorded {RECORDED}")
    words = "candidate {}, {:g} over {} replicates, {} batches, {} generations, {:,} runs".format(*found)
    print(f"{words}, as recorded, in {time.perf_counter() - started:.0f} s")  # noqa: T201 - the command's answer


if __name__ == "__main__":
    main()
