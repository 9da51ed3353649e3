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


def test_without_models_the_file_alone_is_told() -> None:
    with pytest.raises(hw.SpecError) as caught:
        hw.parse_spec('model = "sir"\nset = { grid_widht = 1 }\nrun = { stesp = 1 }\n')
    assert [problem.place.key for problem in caught.value.problems] == ["stesp"]


def test_a_text_without_problems_is_not_planned() -> None:
    """Planning is the caller's: an unknown model or parameter of a well-formed text is no problem of the file."""
    loaded = hw.parse_spec('model = "sri"\n', models=hw.example_models())
    assert loaded.spec.model == "sri"
