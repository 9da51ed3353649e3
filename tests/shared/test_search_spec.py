"""`[search]` in a spec: what it says, both ways, and what is told of each mistake."""

from __future__ import annotations

import sys

import msgspec
import pytest

import henad_web as hw
from henad_web.errors import PlanError, Problem, SpecError
from henad_web.explore.libraries import libraries_of
from henad_web.explore.search_spec import SETTINGS
from henad_web.explore.spec_file import spec_document
from tests.shared.schemas import SCHEMA

GENETIC = """\
model = "study"

[run]
steps = 20
replicates = 4

[measure]
reducers = [{ column = "Alive", kinds = ["argmax"] }]

[[action]]
id = "pulse"
tick = 4

[search]
algorithm = "genetic"
max_evaluations = 480
batch_size = 32
objective = { column = "Alive:argmax", goal = "maximize" }
space = [
  { param = "rate", range = { min = 0.05, max = 0.9 } },
  { param = "mode", levels = "all" },
  { action = "pulse", range = { min = 0, max = 20 } },
]

[search.genetic]
population = 24
"""

PSE = """\
model = "study"

[search]
algorithm = "pse"
max_evaluations = 1200
batch_size = 64
space = [{ param = "rate", range = { min = 0.05, max = 0.9 } }]

[search.pse]
x_axis = { column = "Alive:max", min = 0, max = 4096, cells = 32 }
y_axis = { column = "Dead:mean", cells = 20 }
initial_samples = 256
"""

NSGA2 = """\
model = "study"

[search]
algorithm = "nsga2"
max_evaluations = 2000
batch_size = 40
objectives = [
  { column = "Alive:max", goal = "maximize" },
  { column = "Dead:final", goal = "minimize", aggregate = "mean" },
]
space = [
  { param = "rate", range = { min = 0.05, max = 0.9 } },
  { param = "mode", levels = "all" },
]

[search.nsga2]
population = 40
"""

CLIMB = GENETIC.replace('"genetic"', '"hill_climb"').replace(
    "[search.genetic]\npopulation = 24", "[search.hill_climb]\npatience = 3"
)


CMA_ES = """\
model = "study"

[search]
algorithm = "cma_es"
max_evaluations = 200
batch_size = 16
objective = { column = "Alive:max", goal = "minimize" }
space = [{ param = "rate", range = { min = 0.05, max = 0.9 } }, { param = "size", range = { min = 1, max = 8 } }]

[search.cma_es]
population = 12
"""


CUSTOM = CMA_ES[: CMA_ES.index("[search.cma_es]")].replace('"cma_es"', '"custom"\nname = "mine"')


def search_of(text: str) -> hw.SearchSpec:
    search = hw.parse_spec(text).spec.search
    assert search is not None
    return search


def problems_in(text: str) -> tuple[Problem, ...]:
    try:
        loaded = hw.parse_spec(text, name="search.toml")
    except SpecError as error:
        return error.problems
    try:
        loaded.spec.plan(SCHEMA)
    except PlanError as error:
        return loaded.locate(error.problems)
    return ()


@pytest.mark.parametrize("text", [GENETIC, PSE, CLIMB, CMA_ES, CUSTOM, NSGA2])
def test_the_good_ones_are_good(text: str) -> None:
    assert problems_in(text) == ()


def test_a_search_says_what_is_written_and_the_rest_has_defaults() -> None:
    search = search_of(GENETIC)
    assert (search.algorithm, search.max_evaluations, search.batch_size) == (hw.SearchAlgorithm.GENETIC, 480, 32)
    assert search.objective == hw.ObjectiveSpec(column="Alive:argmax", goal=hw.Goal.MAXIMIZE)
    assert search.objective.aggregate is hw.Aggregate.MEDIAN
    assert search.settings == hw.GeneticSettings(
        population=24,
        elite_count=2,
        tournament_size=3,
        crossover_rate=0.9,
        mutation_rate=0.2,
        mutation_scale=0.1,
        reevaluate_fraction=0.25,
    )
    climb = search_of(CLIMB.replace("[search.hill_climb]\npatience = 3", ""))
    assert climb.settings == hw.HillClimbSettings(mutation_scale=0.1, patience=5, reevaluate=False)
    pse = search_of(PSE)
    assert pse.pse is not None
    assert (pse.pse.mutation_scale, pse.pse.aggregate, pse.pse.initial_samples) == (0.1, hw.Aggregate.MEDIAN, 256)
    assert pse.pse.y_axis.is_automatic
    assert pse.watched_columns == ("Alive:max", "Dead:mean")
    assert search_of(CMA_ES).settings == hw.CmaEsSettings(population=12, sigma=0.3)
    assert search_of(CMA_ES[: CMA_ES.index("[search.cma_es]")]).settings == hw.CmaEsSettings()
    several = search_of(NSGA2)
    assert several.objectives == (
        hw.ObjectiveSpec(column="Alive:max", goal=hw.Goal.MAXIMIZE),
        hw.ObjectiveSpec(column="Dead:final", goal=hw.Goal.MINIMIZE, aggregate=hw.Aggregate.MEAN),
    )
    assert several.watched_columns == ("Alive:max", "Dead:final")
    assert several.settings == hw.Nsga2Settings(
        population=40, crossover_rate=0.9, crossover_index=15, mutation_rate=None, mutation_index=15
    )
    assert several.nsga2 is not None
    assert several.nsga2.mutation_rate_over(4) == 0.25, "one factor a child"


@pytest.mark.parametrize("text", [GENETIC, PSE, CLIMB, CMA_ES, NSGA2])
def test_a_search_is_written_back_in_full_in_both_forms(text: str) -> None:
    spec = hw.parse_spec(text).spec
    again = hw.parse_spec(hw.spec_to_toml(spec)).spec
    assert hw.parse_spec(hw.spec_to_json(spec)).spec == again
    assert spec_document(again) == spec_document(spec)
    assert hw.spec_hash(again) == hw.spec_hash(spec)
    assert again.search is not None
    assert spec.search is not None
    assert again.search.settings == spec.search.settings
    written = spec_document(spec)["search"]
    assert isinstance(written, dict)
    name = spec.search.algorithm.value
    assert set(written[name]) >= {field.name for field in msgspec.structs.fields(SETTINGS[spec.search.algorithm])} - {
        "min",
        "mutation_rate" if name == "nsga2" else "",  # follows from the space
    }


def test_the_name_of_a_searcher_is_written_in_both_forms_and_hashed() -> None:
    spec = hw.parse_spec(CUSTOM).spec
    assert hw.parse_spec(hw.spec_to_toml(spec)).spec == hw.parse_spec(hw.spec_to_json(spec)).spec
    assert search_of(hw.spec_to_toml(spec)).name == "mine"
    assert hw.spec_hash(spec) != hw.spec_hash(hw.parse_spec(CUSTOM.replace("mine", "yours")))


def test_settings_that_are_left_out_are_written_back_too() -> None:
    bare = GENETIC.replace("[search.genetic]\npopulation = 24", "")
    written = spec_document(hw.parse_spec(bare).spec)["search"]
    assert isinstance(written, dict)
    assert written["genetic"] == {
        "population": 32,
        "elite_count": 2,
        "tournament_size": 3,
        "crossover_rate": 0.9,
        "mutation_rate": 0.2,
        "mutation_scale": 0.1,
        "reevaluate_fraction": 0.25,
    }
    default = bare + "[search.genetic]\n"
    assert hw.spec_hash(hw.parse_spec(bare)) == hw.spec_hash(hw.parse_spec(default))


def test_the_hash_of_a_spec_takes_what_its_search_says() -> None:
    hashes = {
        hw.spec_hash(hw.parse_spec(text))
        for text in (
            GENETIC,
            GENETIC.replace("480", "481"),
            GENETIC.replace("= 24", "= 25"),
            GENETIC.replace('"max', '"min'),
        )
    }
    assert len(hashes) == 4
    spelt_out = GENETIC.replace("population = 24", "population = 24\nelite_count = 2")
    assert hw.spec_hash(hw.parse_spec(spelt_out)) == hw.spec_hash(hw.parse_spec(GENETIC))


AXIS = "min = 0, max = 4096, cells = 32"
NO_LEVELS = "a cma_es search takes no listed levels: it draws from ranges, which have an order"
NO_LEVELS_HINT = 'write range = { min = .., max = .. } without a step, or algorithm = "genetic"'
MISTAKES = [
    (GENETIC, '"genetic"\n', '"genetc"\n', "algorithm", "no such word", "did you mean 'genetic'?"),
    (GENETIC, 'algorithm = "genetic"', 'algoritm = "genetic"', "algoritm", "unknown key `algoritm`",
     "did you mean 'algorithm'?"),
    (GENETIC, 'algorithm = "genetic"\n', "", "algorithm", "missing key", 'add one, such as algorithm = "genetic"'),
    (GENETIC, "max_evaluations = 480\n", "", "max_evaluations", "missing key",
     "add the number of candidates in all, such as max_evaluations = 500"),
    (GENETIC, "= 480", "= 0", "max_evaluations", "max_evaluations must be from 1 to 2^64 - 1, got 0", None),
    (GENETIC, "= 480", '= "480"', "max_evaluations", "not a whole number",
     "write max_evaluations = 480, without quotes"),
    (GENETIC, "= 480", "= 480.5", "max_evaluations", "not a whole number", None),
    (GENETIC, "= 480", "= -1", "max_evaluations", "below 0", None),
    (GENETIC, "= 480", "= 9000000000000000000", "max_evaluations", "more than 2^64 - 1 runs", "use a smaller budget"),
    (GENETIC, "batch_size = 32\n", "", "batch_size", "missing key",
     "add the number of candidates chosen at once, such as batch_size = 32"),
    (GENETIC, "= 32\n", "= 0\n", "batch_size", "batch_size must be from 1 to 16 777 216, got 0", None),
    (GENETIC, "= 32\n", "= 16777217\n", "batch_size", "batch_size must be from 1 to 16 777 216, got 16777217", None),
    (GENETIC, "= 32\n", "= 16777216\n", "batch_size", "67 108 864 runs in a batch, the limit is 16 777 216",
     "use a smaller batch or fewer replicates"),
    (GENETIC, 'objective = { column = "Alive:argmax", goal = "maximize" }\n', "", "objective",
     "a genetic search needs an objective",
     'add objective = { column = "LABEL:KIND", goal = "maximize" } to [search]'),
    (GENETIC, '{ column = "Alive:argmax", goal = "maximize" }', '"Alive:argmax"', "objective", "not a table", None),
    (GENETIC, ', goal = "maximize"', "", "goal", "missing key", 'add goal = "maximize" or goal = "minimize"'),
    (GENETIC, '"maximize"', '"maximise"', "goal", "no such word", "did you mean 'maximize'?"),
    (GENETIC, '"maximize" }', '"maximize", aggregate = "averge" }', "aggregate", "no such word", None),
    (GENETIC, 'column = "Alive:argmax", goal', "goal", "column", "missing key",
     'add a column of reducers, such as column = "Infected:max"'),
    (GENETIC, '"Alive:argmax"', '"Alive:argmx"', "column", "no such column of reducers",
     "did you mean 'Alive:argmax'?"),
    (GENETIC, '"Alive:argmax"', '"Dead:argmax"', "column", "no such column of reducers",
     'add { column = "Dead", kinds = ["argmax"] } to the reducers of [measure]'),
    (GENETIC, '"Alive:argmax"', '"Alive"', "column", "no such column of reducers", "did you mean 'Alive:final'?"),
    (GENETIC, '"Alive:argmax"', '"Aliv:max"', "column", "no such column of reducers", "did you mean 'Alive:max'?"),
    (GENETIC, GENETIC[GENETIC.index("space = ["):GENETIC.index("[search.genetic]")], "\n", "space",
     "a genetic search needs at least one factor",
     'add what may vary, such as { param = "ID", range = { min = 0.0, max = 1.0 } }'),
    (GENETIC, 'param = "rate"', 'param = "rat"', "param", "unknown parameter", "did you mean 'rate'?"),
    (GENETIC, 'param = "rate"', 'parm = "rate"', "parm", "unknown key `parm`", "did you mean 'param'?"),
    (GENETIC, 'action = "pulse", range', 'action = "pulze", range', "action", "unknown action name",
     "did you mean 'pulse'?"),
    (GENETIC, 'param = "mode", levels = "all"', 'param = "rate", values = [0.5]', "param",
     "parameter 'rate' is varied twice in one search", "factor #1 varies it already; remove one of them"),
    (GENETIC, "max = 0.9", "max = 9.0", "max", "parameter 'rate': out of range", None),
    (GENETIC, "max = 0.9", "max = 0.01", "max", "parameter 'rate': reversed range, min is above max", "swap them"),
    (GENETIC, "[run]", "[set]\nrate = 0.5\n[run]", "param", "parameter 'rate' is fixed in [set] and varied here",
     "remove 'rate' from [set], or this factor"),
    (GENETIC, "[search.genetic]", "[search.genetics]", "genetics", "unknown key `genetics`",
     "did you mean 'genetic'?"),
    (GENETIC, "[search.genetic]\npopulation = 24", "[search.hill_climb]\npatience = 2", "hill_climb",
     "[search.hill_climb] applies to a hill_climb search", 'remove it, or write algorithm = "hill_climb"'),
    (GENETIC, "population = 24", "populaton = 24", "populaton", "unknown key `populaton`",
     "did you mean 'population'?"),
    (GENETIC, "= 24", "= 0", "population", "genetic.population must be from 1 to 65 536, got 0", None),
    (GENETIC, "= 24", "= 65537", "population", "genetic.population must be from 1 to 65 536, got 65537", None),
    (GENETIC, "= 24", "= 24\nelite_count = 24", "elite_count",
     "genetic.elite_count must be below the population, which is 24, got 24", None),
    (GENETIC, "= 24", "= 24\ntournament_size = 0", "tournament_size",
     "genetic.tournament_size must be from 1 to 65 536, got 0", None),
    (GENETIC, "= 24", "= 24\ncrossover_rate = 1.5", "crossover_rate",
     "genetic.crossover_rate must be from 0 to 1, got 1.5", None),
    (GENETIC, "= 24", "= 24\nmutation_rate = -0.1", "mutation_rate",
     "genetic.mutation_rate must be from 0 to 1, got -0.1", None),
    (GENETIC, "= 24", "= 24\nreevaluate_fraction = nan", "reevaluate_fraction",
     "genetic.reevaluate_fraction must be from 0 to 1, got nan", None),
    (GENETIC, "= 24", "= 24\nmutation_scale = 0", "mutation_scale",
     "genetic.mutation_scale must be above 0 and finite, got 0.0", None),
    (CLIMB, "patience = 3", "patience = 0", "patience", "hill_climb.patience must be from 1 to 2^64 - 1, got 0", None),
    (CLIMB, "patience = 3", "mutation_scale = inf", "mutation_scale",
     "hill_climb.mutation_scale must be above 0 and finite, got inf", None),
    (CLIMB, "patience = 3", 'reevaluate = "yes"', "reevaluate", "neither true nor false", "write reevaluate = true"),
    (PSE, PSE[PSE.index("[search.pse]"):], "", "pse", "a pse search needs a [search.pse] table with x_axis and y_axis",
     None),
    (PSE, 'y_axis = { column = "Dead:mean", cells = 20 }\n', "", "y_axis",
     "a pse search needs a [search.pse] table with x_axis and y_axis", None),
    (PSE, "batch_size = 64", 'batch_size = 64\nobjective = { column = "Alive:max", goal = "maximize" }', "objective",
     "a pse search takes no objective", "remove it: the axes in [search.pse] say what it looks for"),
    (PSE, AXIS, "min = 0, cells = 32", "min", "x_axis needs both min and max, or neither",
     "add max, or remove min for a range from the first samples"),
    (PSE, AXIS, "max = 9, cells = 32", "max", "x_axis needs both min and max, or neither",
     "add min, or remove max for a range from the first samples"),
    (PSE, AXIS, "min = 5, max = 5, cells = 32", "max", "pse.x_axis.max must be above min, which is 5.0, got 5.0",
     None),
    (PSE, AXIS, "min = -inf, max = 5, cells = 32", "min", "pse.x_axis.min must be a finite number, got -inf", None),
    (PSE, AXIS, "min = 0, max = 5, cells = 0", "cells", "pse.x_axis.cells must be from 1 to 2^64 - 1, got 0", None),
    (PSE, PSE[PSE.index("[search.pse]"):], "pse = 3", "pse", "not a table", None),
    (PSE, AXIS, "min = 0, max = 5", "cells", "missing key", "add the number of its parts, such as cells = 20"),
    (PSE, AXIS, 'min = "0", max = 5, cells = 2', "min", "not a number", "write min = 0, without quotes"),
    (PSE, "= 256", "= 0", "initial_samples",
     "pse.initial_samples must be at least 1 where an axis has no range, got 0", None),
    (PSE, '"Dead:mean"', '"Deed:mean"', "column", "no such column of reducers", "did you mean 'Dead:mean'?"),
    (CMA_ES, "= 12", "= 3", "population", "cma_es.population must be from 4 to 4 096, got 3", None),
    (CMA_ES, "= 12", "= 4097", "population", "cma_es.population must be from 4 to 4 096, got 4097", None),
    (CMA_ES, "= 12", '= "12"', "population", "not a whole number", "write population = 12, without quotes"),
    (CMA_ES, "population = 12", "popluation = 12", "popluation", "unknown key `popluation`",
     "did you mean 'population'?"),
    (CMA_ES, "population = 12", "sigma = 0", "sigma", "cma_es.sigma must be above 0 and at most 1, got 0.0", None),
    (CMA_ES, "population = 12", "sigma = 1.5", "sigma", "cma_es.sigma must be above 0 and at most 1, got 1.5", None),
    (CMA_ES, "population = 12", "sigma = nan", "sigma", "cma_es.sigma must be above 0 and at most 1, got nan", None),
    (CMA_ES, '"cma_es"', '"cmaes"', "algorithm", "no such word", "did you mean 'cma_es'?"),
    (CMA_ES, "[search.cma_es]\npopulation", "[search.genetic]\npopulation", "genetic",
     "[search.genetic] applies to a genetic search", 'remove it, or write algorithm = "genetic"'),
    (CMA_ES, 'objective = { column = "Alive:max", goal = "minimize" }\n', "", "objective",
     "a cma_es search needs an objective", None),
    (CMA_ES, "max = 0.9 }", "max = 0.9, step = 0.1 }", "range", NO_LEVELS, NO_LEVELS_HINT),
    (CMA_ES, "range = { min = 0.05, max = 0.9 }", "values = [0.1, 0.2]", "values", NO_LEVELS, NO_LEVELS_HINT),
    (CMA_ES, 'param = "rate", range = { min = 0.05, max = 0.9 }', 'param = "mode", levels = "all"', "levels",
     NO_LEVELS, NO_LEVELS_HINT),
    (CMA_ES, "range = { min = 0.05, max = 0.9 }", "valus = [0.1]", "valus", "unknown key `valus`",
     "did you mean 'values'?"),
    (CUSTOM, 'name = "mine"\n', "", "name", "a custom search needs the name of its searcher",
     'add what your program calls its searcher, such as name = "my_search"'),
    (CUSTOM, '"mine"', '" "', "name", "a custom search needs the name of its searcher", None),
    (CUSTOM, '"mine"', "3", "name", "not a text", None),
    (CUSTOM, "name =", "nam =", "nam", "unknown key `nam`", "did you mean 'name'?"),
    (CUSTOM, '"custom"', '"random"', "name", "name applies to a custom search",
     'remove it, or write algorithm = "custom"'),
    (CUSTOM, 'objective = { column = "Alive:max", goal = "minimize" }\n', "", "objective",
     "a custom search needs an objective", None),
    (PSE, "[search]", "[[block]]\nfactors = []\n[search]", None, "a search takes no blocks: it chooses configs itself",
     "remove the blocks; what may vary stands in the space of [search]"),
    (PSE, "[search]", '[run]\norder = "breadth"\n[search]', "order",
     "a search has its runs in the order of its candidates", "remove it"),
    (PSE, "[search]", "[seeds]\nlist = [1]\n[search]", "list",
     "a search needs a scheme of seeds: a candidate that is evaluated again takes replicates past any list",
     "remove it, and write root and scheme"),
]  # fmt: skip


@pytest.mark.parametrize(("good", "right", "mistake", "key", "wrong", "hint"), MISTAKES)
def test_a_mistake_is_told_once_with_its_line(
    good: str, right: str, mistake: str, key: str | None, wrong: str, hint: str | None
) -> None:
    see_mistake(good, right, mistake, key, wrong, hint)


def see_mistake(good: str, right: str, mistake: str, key: str | None, wrong: str, hint: str | None) -> None:
    """See that `good` with `mistake` in place of `right` is told as one problem, in these words, at its line."""
    assert good.count(right) >= 1, "the text has the place"
    (problem,) = problems_in(good.replace(right, mistake, 1))
    assert (problem.place.key, problem.wrong) == (key, wrong)
    assert problem.hint == hint or hint is None
    assert problem.place.file == "search.toml"
    assert problem.place.line is not None or problem.wrong == "missing key" or "needs" in problem.wrong


def test_a_search_that_is_no_table_is_told_as_one_mistake() -> None:
    (problem,) = problems_in('model = "study"\nsearch = "genetic"\n')
    assert (problem.place.key, problem.wrong) == ("search", "not a table")


def test_a_search_made_in_python_is_checked_by_its_plan() -> None:
    factor = hw.FactorSpec(param="rate", levels=hw.RangeLevels(min=0.0, max=1.0))
    axis = hw.AxisSpec(column="Alive:max", cells=4, min=0, max=1)
    search = hw.SearchSpec(
        algorithm="pse",  # type: ignore[arg-type]
        max_evaluations=10,
        batch_size=5,
        space=factor,  # type: ignore[arg-type]
        pse=hw.PseSettings(x_axis=axis, y_axis=msgspec.structs.replace(axis, max=-1)),
    )
    assert search.space == (factor,)
    with pytest.raises(PlanError, match=r"pse\.y_axis\.max must be above min, which is 0.0, got -1.0"):
        hw.SweepSpec(model="study", search=search).plan(SCHEMA)
    objective = hw.ObjectiveSpec(column="Alive:max", goal=hw.Goal.MAXIMIZE)
    one = hw.SearchSpec(
        algorithm=hw.SearchAlgorithm.NSGA2,
        max_evaluations=10,
        batch_size=5,
        space=factor,  # type: ignore[arg-type]
        objectives=objective,  # type: ignore[arg-type]
    )
    assert one.objectives == (objective,)
    with pytest.raises(PlanError, match="an nsga2 search needs two objectives or more, got one"):
        hw.SweepSpec(model="study", search=one).plan(SCHEMA)
    with pytest.raises(SpecError, match="did you mean 'random'"):
        hw.SearchSpec(algorithm="randon", max_evaluations=1, batch_size=1, space=())  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="did you mean 'minimize'"):
        hw.ObjectiveSpec(column="Alive:max", goal="minimise")  # type: ignore[arg-type]


def test_a_cma_es_takes_as_many_factors_as_its_linear_algebra_is_quick_for() -> None:
    factor = '{ param = "rate", range = { min = 0.05, max = 0.9 } }'
    with pytest.raises(
        SpecError, match=r"too many factors of a cma_es search, .* got 101; allowed: at most 100; write"
    ):
        hw.parse_spec(CMA_ES.replace(factor, ", ".join([factor] * 100)))
    hw.parse_spec(CMA_ES.replace(factor, ", ".join([factor] * 99)))


def test_a_missing_library_is_told_by_the_plan_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = hw.parse_spec(CMA_ES)
    assert libraries_of(loaded.spec) == ("cmaes",)
    assert libraries_of(hw.parse_spec(GENETIC).spec) == ()
    monkeypatch.setitem(sys.modules, "cmaes", None)
    with pytest.raises(PlanError) as refused:
        loaded.spec.plan(SCHEMA)
    (problem,) = refused.value.problems
    assert (problem.place.table, problem.place.key) == (("search",), "algorithm")
    assert problem.wrong == "a cma_es search needs the library cmaes, which is not installed here"
    assert problem.hint is not None
    assert 'pip install "henad-web[search]"' in problem.hint
    hw.parse_spec(GENETIC).spec.plan(SCHEMA)


def test_the_plan_of_a_search_is_that_of_the_one_config_that_all_share() -> None:
    plan = hw.parse_spec(GENETIC).spec.plan(SCHEMA)
    assert (plan.config_count, plan.run_count) == (1, 4)
    assert plan.search_space is not None
    assert [target.column for target in plan.search_space.targets] == ["rate", "mode", "action.pulse"]
    sweep = hw.parse_spec(GENETIC[: GENETIC.index("[search]")]).spec.plan(SCHEMA)
    assert plan.plan_hash == sweep.plan_hash
    assert sweep.search_space is None


def test_an_action_whose_tick_is_searched_is_not_warned_of() -> None:
    late = GENETIC.replace("tick = 4", "tick = 400")
    assert hw.parse_spec(late).spec.plan(SCHEMA).warnings() == ()
    assert (
        len(
            hw.parse_spec(late.replace('{ action = "pulse", range = { min = 0, max = 20 } },', ""))
            .spec.plan(SCHEMA)
            .warnings()
        )
        == 1
    )
