"""A file with problems is told those of its model too, once each and in the order of its lines."""

from __future__ import annotations

import pytest

import henad_web as hw


def told(text: str) -> list[tuple[int | None, str, str | None]]:
    """Return line, what is wrong and key of each problem of `text`."""
    with pytest.raises(hw.SpecError) as caught:
        hw.parse_spec(text, models=hw.example_models())
    return [(problem.place.line, problem.wrong, problem.place.key) for problem in caught.value.problems]


def test_problems_of_the_file_and_of_the_model_come_together() -> None:
    text = """\
model = "sir"
set = { grid_widht = 128, infection_rate = 1.5 }
run = { stesp = 400, replicates = 0 }
[measure]
reducers = [{ column = "Infectd", kinds = ["max"] }]
"""
    assert [(line, key) for line, _, key in told(text)] == [
        (2, "grid_widht"),
        (2, "infection_rate"),
        (3, "stesp"),
        (3, "replicates"),
        (5, "column"),
    ]


def test_a_model_that_does_not_exist_is_told_beside_the_rest() -> None:
    assert told('model = "sri"\n[run]\nstesp = 1\n') == [
        (1, "no such model", "model"),
        (3, "unknown key `stesp`", "stesp"),
    ]


def test_a_missing_model_is_told_once() -> None:
    assert [key for _, _, key in told("[run]\nstesp = 1\n")].count("model") == 1


def test_what_may_only_follow_from_a_problem_is_not_told() -> None:
    """The factor with a misspelt key is left out of the block: that its lists then differ in length is no mistake."""
    text = """\
model = "sir"
[[block]]
design = "zip"
factors = [
  { param = "infection_rate", values = [0.1, 0.2] },
  { param = "recovery_rate", valeus = [0.1, 0.2] },
]
[[block]]
factors = [{ param = "infection_rat", values = [0.1] }]
"""
    problems = told(text)
    assert {line for line, _, _ in problems} == {6, 9}
    assert problems[-1][1:] == ("unknown parameter", "param")


def test_factors_of_an_action_that_could_not_be_read_are_not_told() -> None:
    text = """\
model = "sir"
[[action]]
id = 5
tick = 1
[[block]]
factors = [{ action = "seed_outbreak", values = [1] }]
"""
    assert [line for line, _, _ in told(text)] == [3]


def test_what_follows_from_a_table_that_could_not_be_read_is_not_told_but_what_is_wrong_beside_it_is() -> None:
    text = """\
model = "sir"
action = [
  3,
  { id = "seed_outbreka", tick = 1 },
]
[[block]]
samples = "many"
factors = [{ param = "infection_rate", values = [0.1] }]
[[block]]
design = "zip"
factors = [{ param = "infection_rate", values = [0.1] }, { param = "recovery_rate", values = [0.1, 0.2] }]
"""
    assert [(line, key) for line, _, key in told(text)] == [(3, None), (4, "id"), (7, "samples"), (11, "factors")]


def test_without_models_the_file_alone_is_told() -> None:
    with pytest.raises(hw.SpecError) as caught:
        hw.parse_spec('model = "sir"\nset = { grid_widht = 1 }\nrun = { stesp = 1 }\n')
    assert [problem.place.key for problem in caught.value.problems] == ["stesp"]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('model = "sri"\n', "model"),
        ('model = "sir"\nset = { grid_widht = 1 }\n', "grid_widht"),
        ('model = "sir"\n[[block]]\nwhere = "infection_rate > 2"\n', "where"),
    ],
)
def test_what_the_model_refuses_is_told_of_a_text_that_is_otherwise_right(text: str, key: str) -> None:
    assert [found for _, _, found in told(text)] == [key]
    assert hw.parse_spec(text).plan is None, "without models the text alone is judged"


def test_a_text_that_its_model_takes_comes_with_its_plan() -> None:
    loaded = hw.parse_spec('model = "sir"\n', models=hw.example_models())
    assert loaded.plan is not None
    assert loaded.plan.plan_hash == loaded.spec.plan(hw.example_models()["sir"].schema()).plan_hash


def test_a_wrong_kind_does_not_hide_the_column_it_is_for() -> None:
    text = 'model = "sir"\n[measure]\nreducers = [{ column = "Infectd", kinds = ["mean@9..1"] }]\n'
    assert sorted(str(key) for _, _, key in told(text)) == ["column", "kinds"]


@pytest.mark.parametrize(("design", "others"), [("factorial", []), ("hypercube", ["samples", "design"])])
def test_each_bound_of_a_range_is_judged(design: str, others: list[str]) -> None:
    text = (
        f'model = "sir"\n[[block]]\ndesign = "{design}"\n'
        'factors = [{ param = "infection_rate", range = { min = 0.5, max = 0.1, step = 0 } }]\n'
    )
    assert [key for _, _, key in told(text)] == [*others, "step", "max"]


def test_problems_come_by_line_also_when_a_plan_has_found_them() -> None:
    loaded = hw.parse_spec("""\
model = "sir"
set = { grid_widht = 128 }
measure = { reducers = [{ column = "Infectd", kinds = ["max"] }] }
run = { steps = 5, stop = { condition = "Infectd < 1" } }
""")
    with pytest.raises(hw.PlanError) as caught:
        loaded.spec.plan(hw.example_models()["sir"].schema())
    assert [problem.place.line for problem in loaded.locate(caught.value.problems)] == [2, 3, 4]


def test_problems_of_a_mapping_claim_no_line() -> None:
    document = {"model": "sir", "set": {"grid_widht": 1}, "run": {"stesp": 1}}
    with pytest.raises(hw.SpecError) as caught:
        hw.parse_spec(document, models=hw.example_models())
    assert [(problem.place.line, problem.place.key) for problem in caught.value.problems] == [
        (None, "stesp"),
        (None, "grid_widht"),
    ]


def test_a_wrong_design_hides_nothing_else_of_its_block() -> None:
    text = """\
model = "sir"
[[block]]
design = "lsh"
samples = 0
num_levels = 4
where = "infection_rat < 0.5"
factors = [
  { param = "infection_rate", range = { min = 0.1, max = 7 } },
  { param = "recovery_rat", values = [0.1] },
  { param = "grid_width", values = [-4] },
]
"""
    assert [(line, key) for line, _, key in told(text)] == [
        (3, "design"),
        (4, "samples"),
        (5, "num_levels"),
        (6, "where"),
        (8, "max"),
        (9, "param"),
        (10, "values"),
    ]


def test_beside_a_design_that_nobody_knows_only_what_is_wrong_for_all_is_told() -> None:
    text = """\
model = "sir"
[[block]]
design = "bogus"
samples = 0
num_levels = 3
design_seed = -1
where = "infection_rate <"
factors = [
  { param = "infection_rate", range = { min = 0.1, max = 0.2 } },
  { param = "recovery_rat", values = [0.1] },
]
[[block]]
design = 3
samples = 5
factors = [{ param = "recovery_rate", values = [0.1] }]
"""
    assert [(line, key) for line, _, key in told(text)] == [
        (3, "design"),
        (4, "samples"),
        (5, "num_levels"),
        (6, "design_seed"),
        (7, "where"),
        (10, "param"),
        (13, "design"),
    ]


def test_a_wrong_key_of_a_block_does_not_hide_the_rows_of_its_table() -> None:
    text = 'model = "sir"\n[[block]]\ndesign = "tabel"\nsamples = 3\ntable_text = "infection_rate\\n7\\n"\n'
    assert [(line, key) for line, _, key in told(text)] == [(3, "design"), (4, "samples"), (5, "table_text")]


def test_two_sources_of_a_table_hide_nothing_else() -> None:
    text = 'model = "sir"\n[[block]]\ndesign = "table"\nfile = "a.csv"\ntable_text = "a\\n7\\n"\nsamples = 1\n'
    assert [(line, key) for line, _, key in told(text)] == [(4, "file"), (6, "samples")]
