"""A study of optuna chooses what a model runs: its sampler is asked for candidates, and told what they came to.

Run it with ``python examples/optuna_search.py``, where the extra `optuna` is installed.
"""

from __future__ import annotations

import optuna

import henad_web as hw
from henad_web.search import Candidate, Evaluation, SearchPlan, asking

SPEC = """
model = "sir"
set = { grid_width = 32, grid_height = 32 }
run = { steps = 60, replicates = 2 }
[search]
algorithm = "random"
max_evaluations = 20
batch_size = 5
objective = { column = "Infected:max", goal = "minimize" }
space = [
  { param = "infection_rate", range = { min = 0.1, max = 0.9 } },
  { param = "recovery_rate", range = { min = 0.01, max = 0.3 } },
]
"""


def most_infected(entry: hw.ModelEntry, plan: SearchPlan, candidate: Candidate) -> Evaluation:
    """Return the most cells that are infected at once in each run of `candidate`."""
    names = [param.id for param in plan.base.schema.params]
    replicates = []
    for run in plan.runs(candidate):
        state = entry.build(dict(zip(names, plan.config(candidate).params, strict=True)), run.seed)
        peak = 0.0
        for _ in range(60):
            state.step(1)
            peak = max(peak, state.stats()["Infected"])
        replicates.append((peak,))
    return Evaluation(candidate.candidate_id, tuple(replicates))


def main() -> None:
    """Ask and tell until the budget is spent, and print the best config."""
    entry = hw.example_models()["sir"]
    plan = SearchPlan.of(hw.parse_spec(SPEC).spec, entry.schema())
    # A seed that follows from the spec's: the same study again asks for the same.
    sampler = optuna.samplers.TPESampler(seed=plan.search_seed % 2**32)
    study = optuna.create_study(direction="minimize", sampler=sampler)
    searcher = asking(
        study,
        plan.space,
        objective=hw.ObjectiveSpec(column="Infected:max", goal=hw.Goal.MINIMIZE),
        max_evaluations=plan.search.max_evaluations,
        names=["infection_rate", "recovery_rate"],
    )
    while batch := searcher.ask(plan.search.batch_size):
        searcher.tell(most_infected(entry, plan, candidate) for candidate in batch)
    best = searcher.ranking()[0]
    print(f"candidate {best.candidate_id}: {best.objective:g} infected at most, with {study.best_params}")


if __name__ == "__main__":
    main()
