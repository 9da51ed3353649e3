"""Several objectives in a spec: what is told of each mistake in them and in the settings of NSGA-II."""

from __future__ import annotations

import pytest

from tests.shared.test_search_spec import GENETIC, NSGA2, PSE, see_mistake

OBJECTIVES = NSGA2[NSGA2.index("objectives = [") : NSGA2.index("space = [")]
MISTAKES = [
    (NSGA2, '"nsga2"\n', '"nsga"\n', "algorithm", "no such word", "did you mean 'nsga2'?"),
    (NSGA2, "objectives = [", "objectivs = [", "objectivs", "unknown key `objectivs`", "did you mean 'objectives'?"),
    (GENETIC, "objective =", "objectve =", "objectve", "unknown key `objectve`", "did you mean 'objective'?"),
    (NSGA2, OBJECTIVES, "", "objectives",
     "an nsga2 search needs two objectives or more",
     'add objectives = [{ column = "LABEL:KIND", goal = "maximize" }, { .. }] to [search]'),
    (NSGA2, '  { column = "Alive:max", goal = "maximize" },\n', "", "objectives",
     "an nsga2 search needs two objectives or more",
     'write objectives = [{ .. }, { .. }], or algorithm = "genetic" for one objective'),
    (NSGA2, OBJECTIVES,
     'objective = { column = "Alive:max", goal = "maximize" }\n', "objective",
     "an nsga2 search needs two objectives or more",
     'write objectives = [{ .. }, { .. }], or algorithm = "genetic" for one objective'),
    (NSGA2, "batch_size = 40", 'batch_size = 40\nobjective = { column = "Alive:max", goal = "maximize" }', "objectives",
     "[search] takes objective or objectives, not both", "remove objective"),
    (GENETIC, "batch_size = 32", 'batch_size = 32\nobjectives = [{ column = "Alive:max", goal = "maximize" }]',
     "objectives", "[search] takes objective or objectives, not both", "remove objectives"),
    (GENETIC, 'objective = { column = "Alive:argmax", goal = "maximize" }',
     'objectives = [{ column = "Alive:max", goal = "maximize" }, { column = "Dead:max", goal = "minimize" }]',
     "objectives", "a genetic search has one objective", 'write one as objective = { .. }, or algorithm = "nsga2"'),
    (PSE, "batch_size = 64", 'batch_size = 64\nobjectives = [{ column = "Alive:max", goal = "maximize" }]',
     "objectives", "a pse search takes no objectives", "remove it: the axes in [search.pse] say what it looks for"),
    (NSGA2, '"Dead:final"', '"Alive:max"', "column", "two objectives of column 'Alive:max'",
     "objective #1 has it already; remove one of them"),
    (NSGA2, '"Dead:final"', '"Dead:finl"', "column", "no such column of reducers", "did you mean 'Dead:final'?"),
    (NSGA2, ', goal = "maximize"', "", "goal", "missing key", 'add goal = "maximize" or goal = "minimize"'),
    (NSGA2, '"minimize"', '"minimise"', "goal", "no such word", "did you mean 'minimize'?"),
    (NSGA2, 'column = "Dead:final", ', "", "column", "missing key",
     'add a column of reducers, such as column = "Infected:max"'),
    (NSGA2, '{ column = "Alive:max", goal = "maximize" }', '"Alive:max"', None, "not a table", None),
    (NSGA2, OBJECTIVES, 'objectives = "Alive:max"\n', "objectives",
     "not a list", "write objectives = [{ .. }, { .. }]"),
    (NSGA2, "[search.nsga2]", "[search.nsga]", "nsga", "unknown key `nsga`", "did you mean 'nsga2'?"),
    (NSGA2, "[search.nsga2]\npopulation = 40", "[search.genetic]\npopulation = 40", "genetic",
     "[search.genetic] applies to a genetic search", 'remove it, or write algorithm = "genetic"'),
    (GENETIC, "[search.genetic]", "[search.nsga2]", "nsga2", "[search.nsga2] applies to an nsga2 search",
     'remove it, or write algorithm = "nsga2"'),
    (NSGA2, "population = 40", "populaton = 40", "populaton", "unknown key `populaton`", "did you mean 'population'?"),
    (NSGA2, "population = 40", "population = 1", "population", "nsga2.population must be from 2 to 65 536, got 1",
     None),
    (NSGA2, "population = 40", "crossover_rate = 1.5", "crossover_rate",
     "nsga2.crossover_rate must be from 0 to 1, got 1.5", None),
    (NSGA2, "population = 40", "mutation_rate = -0.5", "mutation_rate",
     "nsga2.mutation_rate must be from 0 to 1, got -0.5", None),
    (NSGA2, "population = 40", "crossover_index = 20", "crossover_index",
     "nsga2.crossover_index must be one of 0, 1, 3, 7, 15, 31, 63, got 20",
     "write crossover_index = 15, the nearest of them"),
    (NSGA2, "population = 40", "mutation_index = 50", "mutation_index",
     "nsga2.mutation_index must be one of 0, 1, 3, 7, 15, 31, 63, got 50",
     "write mutation_index = 63, the nearest of them"),
    (NSGA2, "population = 40", "mutation_index = 7.5", "mutation_index", "not a whole number", None),
]  # fmt: skip


@pytest.mark.parametrize(("good", "right", "mistake", "key", "wrong", "hint"), MISTAKES)
def test_a_mistake_in_objectives_is_told_once_with_its_line(
    good: str, right: str, mistake: str, key: str | None, wrong: str, hint: str | None
) -> None:
    see_mistake(good, right, mistake, key, wrong, hint)
