"""A study of optuna chooses what a sweep runs: its sampler is asked for candidates, and told what they came to.

Run it with ``python examples/optuna_search.py``, where the extra `optuna` is installed.
"""

from __future__ import annotations

import optuna

import henad_web as hw
from henad_web.search import SearchPlan, asking
from henad_web.search.optuna_study import StudySearch

SPEC = """
model = "sir"
set = { grid_width = 32, grid_height = 32 }
run = { steps = 60, replicates = 2 }
[search]
algorithm = "custom"
name = "tpe"
max_evaluations = 20
batch_size = 5
objective = { column = "Infected:max", goal = "minimize" }
space = [
  { param = "infection_rate", range = { min = 0.1, max = 0.9 } },
  { param = "recovery_rate", range = { min = 0.01, max = 0.3 } },
]
"""
OBJECTIVE = hw.ObjectiveSpec(column="Infected:max", goal=hw.Goal.MINIMIZE)


def tpe(plan: SearchPlan) -> StudySearch:
    """Return the searcher of `plan`, the same each time: its seed follows from that of the spec."""
    sampler = optuna.samplers.TPESampler(seed=plan.search_seed % 2**32)
    study = optuna.create_study(direction="minimize", sampler=sampler)
    names = [str(factor.param) for factor in plan.search.space]
    budget = plan.search.max_evaluations
    return asking(study, plan.space, objective=OBJECTIVE, max_evaluations=budget, names=names)


def main() -> None:
    """Run the search and print its best config."""
    record = hw.run_spec(hw.example_models()["sir"], hw.parse_spec(SPEC), searcher=tpe)
    if record.search is not None and record.files is not None:
        best, columns = record.search.ranking[0], record.files["best.csv"].decode().splitlines()
        print(f"candidate {best.candidate_id}: {best.objective:g} infected at most")
        print(columns[0], columns[1], sep="\n")


if __name__ == "__main__":
    main()
