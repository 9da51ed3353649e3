"""Adaptive replicates in a spec: both text forms, every mistake at its place, and which hashes they enter."""

from __future__ import annotations

import json
import re

import msgspec
import pytest

import henad_web as hw
from henad_web.explore.intervals import IntervalKind
from tests.shared.adaptive_studies import CHANCE, HIT, SIZE, adaptive, chance_spec

UNTIL = 'until = [{ column = "Hit:final", half_width = 0.1 }]'


def replaced(spec: hw.SweepSpec, replicates: object) -> hw.SweepSpec:
    return msgspec.structs.replace(spec, run=msgspec.structs.replace(spec.run, replicates=replicates))


def text_of(replicates: str, more: str = "") -> str:
    return f'model = "toy"\n[run]\nreplicates = {replicates}\n{more}'


def problems_of(replicates: str, more: str = "") -> list[str]:
    """Return what is wrong with a text, with the model's own part where nothing else is."""
    try:
        spec = hw.parse_spec(text_of(replicates, more)).spec
        spec.plan(CHANCE.schema())
    except (hw.SpecError, hw.PlanError) as error:
        return [str(problem) for problem in error.problems]
    return []


def test_a_text_says_all_of_it() -> None:
    spec = hw.parse_spec(
        text_of(
            """{ min = 10, max = 200, until = [
  { column = "Hit:final", half_width = 0.05, confidence = 0.99, interval = "wilson" },
  { column = "Size:mean", relative = 1 },
] }"""
        )
    ).spec
    assert spec.run.replicates == hw.AdaptiveReplicates(
        min=10,
        max=200,
        until=(
            hw.Precision(column="Hit:final", half_width=0.05, confidence=0.99, interval=IntervalKind.WILSON),
            hw.Precision(column="Size:mean", relative=1.0),
        ),
    )
    assert spec.run.adaptive is spec.run.replicates
    assert (spec.run.least_replicates, spec.run.most_replicates) == (10, 200)
    for text in (hw.spec_to_toml(spec), hw.spec_to_json(spec)):
        assert hw.parse_spec(text).spec == spec
        assert hw.spec_hash(hw.parse_spec(text)) == hw.spec_hash(spec)


def test_a_program_may_give_one_precision_and_words() -> None:
    one = hw.AdaptiveReplicates(min=2, max=9, until=hw.Precision(column="Hit:max", relative=1, interval="wilson"))  # type: ignore[arg-type]
    assert one.until == (hw.Precision(column="Hit:max", relative=1.0, interval=IntervalKind.WILSON),)
    with pytest.raises(hw.SpecError, match=r"interval: no such word, got 'wilsen'.*did you mean 'wilson'"):
        hw.Precision(column="Hit:max", relative=0.1, interval="wilsen")  # type: ignore[arg-type]
    with pytest.raises(hw.SpecError, match="replicates: not a whole number, got the text '10'"):
        hw.RunSettings(replicates="10")  # type: ignore[arg-type]
    with pytest.raises(hw.SpecError, match="until: another type"):
        hw.AdaptiveReplicates(min=2, max=3, until=("Hit:max",))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("replicates", "wrong"),
    [
        (f"{{ max = 20, {UNTIL} }}", "min: missing key; add the replicates of the first round, such as min = 10"),
        (f"{{ min = 10, {UNTIL} }}", "max: missing key; add the most replicates of a config, such as max = 200"),
        ("{ min = 10, max = 20 }", "until: missing key; add what is to be narrow"),
        ("{ min = 10, max = 20, until = [] }", "until: no interval is to be narrow; add one"),
        (f"{{ min = 1, max = 20, {UNTIL} }}", "min: too few for an interval, got 1; allowed: at least 2"),
        (f"{{ min = 10, max = 9, {UNTIL} }}", "max: below min, which is 10, got 9; allowed: at least min"),
        (f"{{ min = 2.0, max = 9, {UNTIL} }}", "min: not a whole number, got the number 2.0.*write min = 2"),
        (f"{{ min = 2, maximum = 9, {UNTIL} }}", "unknown key `maximum`.*did you mean 'max'"),
        ('{ min = 2, max = 9, until = "x" }', "until: not a list, got the text 'x'.*write until = "),
        ('{ min = 2, max = 9, until = ["x"] }', "not a table, got the text 'x'"),
        ("{ min = 2, max = 9, until = [{ half_width = 1 }] }", "column: missing key; add a column of reducers"),
        ('{ min = 2, max = 9, until = [{ column = "Hit:final" }] }', "exactly one of .*, got none of them"),
        (
            '{ min = 2, max = 9, until = [{ column = "Hit:final", half_width = 1, relative = 1 }] }',
            "relative: .*exactly one of `half_width` and `relative`, got half_width and relative",
        ),
        (
            '{ min = 2, max = 9, until = [{ column = "Hit:final", half_width = 0 }] }',
            "half_width: not a width, got 0.0; allowed: a finite number above 0",
        ),
        ('{ min = 2, max = 9, until = [{ column = "Hit:final", relative = inf }] }', "relative: not a width, got inf"),
        ('{ min = 2, max = 9, until = [{ column = "Hit:final", width = 1 }] }', "did you mean 'half_width'"),
        (
            '{ min = 2, max = 9, until = [{ column = "Hit:final", half_width = 1, confidence = 95 }] }',
            "confidence: no such confidence, got 95.0; allowed: 0.9, 0.95, 0.99; 95 % is written 0.95",
        ),
        (
            '{ min = 2, max = 9, until = [{ column = "Hit:final", half_width = 1, interval = "wilsn" }] }',
            "interval: no such word, got the text 'wilsn'.*did you mean 'wilson'",
        ),
        (
            '{ min = 2, max = 9, until = [{ column = "Hit:final", half_width = 1 }, '
            '{ column = "Hit:final", relative = 1 }] }',
            "#2. column: a column given twice, got 'Hit:final'",
        ),
        (
            '{ min = 2, max = 9, until = [{ column = "Hit:finl", half_width = 1 }] }',
            "column: no such column of reducers, got 'Hit:finl'.*did you mean 'Hit:final'",
        ),
        (
            '{ min = 2, max = 9, until = [{ column = "Hit:argmax", half_width = 1 }] }',
            r"column: no such column.*add \{ column = \"Hit\", kinds = \[\"argmax\"\] \} to the reducers",
        ),
        (f"{{ min = 2, max = 20000000, {UNTIL} }}", "replicates: 20 000 000 runs, the limit is 16 777 216"),
    ],
)
def test_a_mistake_is_told_once_with_its_place(replicates: str, wrong: str) -> None:
    found = problems_of(replicates)
    assert len(found) == 1, found
    assert re.search(wrong, found[0]), found[0]
    assert "[run" in found[0]


def test_a_mistake_of_a_program_s_spec_is_told_by_its_plan() -> None:
    twice = adaptive(HIT, msgspec.structs.replace(HIT, half_width=-1.0), least=1, most=0)
    with pytest.raises(hw.PlanError) as caught:
        chance_spec(replicates=twice).plan(CHANCE.schema())
    assert [problem.place.key for problem in caught.value.problems] == ["min", "max", "half_width", "column"]


def test_what_does_not_go_with_it_is_refused() -> None:
    whole = f"{{ min = 2, max = 9, {UNTIL} }}"
    assert problems_of(whole) == []
    (order,) = problems_of(whole, 'order = "breadth"\n')
    assert "order: adaptive replicates have an order of their own" in order
    (seeds,) = problems_of(whole, "[seeds]\nlist = [1, 2, 3]\n")
    assert "not as many seeds as replicates, got 3 seeds for 9 replicates; write max = 3 in [run]" in seeds
    search = (
        '[search]\nalgorithm = "random"\nmax_evaluations = 4\nbatch_size = 2\n'
        'space = [{ param = "value", range = { min = 1, max = 9 } }]\n'
        'objective = { column = "Hit:final", goal = "maximize" }\n'
    )
    (searched,) = problems_of(whole, search)
    assert "replicates: a search takes a number of replicates" in searched
    assert "write replicates = 2" in searched


def test_a_part_of_a_vector_that_is_not_there_is_told_once_the_model_was_built() -> None:
    spec = chance_spec(replicates=adaptive(hw.Precision(column="Hit.x:final", half_width=1.0)))
    spec.plan(CHANCE.schema())
    with pytest.raises(hw.PlanError, match=r"until #1. column: no such column of reducers, got 'Hit.x:final'"):
        hw.plan_spec(CHANCE, spec)


def test_all_but_the_most_enters_the_plan_s_hash_and_nothing_a_run_s() -> None:
    schema = CHANCE.schema()
    plain, base = chance_spec(replicates=40).plan(schema), chance_spec().plan(schema)
    assert base.results_fingerprint == plain.results_fingerprint
    assert [base.run_key(run) for run in base.runs()] == [plain.run_key(run) for run in plain.runs()]
    assert chance_spec(replicates=adaptive(most=90)).plan(schema).plan_hash == base.plan_hash
    others = (
        adaptive(least=5),
        adaptive(HIT),
        adaptive(SIZE, HIT),
        adaptive(msgspec.structs.replace(HIT, half_width=0.3), SIZE),
        adaptive(msgspec.structs.replace(HIT, half_width=None, relative=0.2), SIZE),
        adaptive(msgspec.structs.replace(HIT, confidence=0.9), SIZE),
        adaptive(msgspec.structs.replace(HIT, interval=IntervalKind.STUDENT), SIZE),
        adaptive(msgspec.structs.replace(HIT, column="Hit:max"), SIZE),
    )
    hashes = [chance_spec(replicates=each).plan(schema).plan_hash for each in others]
    assert len({plain.plan_hash, base.plan_hash, *hashes}) == len(others) + 2
    assert base.plan_hash == "b64452a9747f7a28"
    assert hw.spec_hash(chance_spec()) == "24e0ae611e91577a"


def test_a_plan_and_a_manifest_say_up_to() -> None:
    plan = chance_spec(1, 2).plan(CHANCE.schema())
    assert repr(plan) == "<Plan of 'toy': 2 configs x 4 to 40 replicates = up to 80 runs>"
    assert (plan.least_replicates, plan.replicates, plan.run_count) == (4, 40, 80)
    assert chance_spec(replicates=3).plan(CHANCE.schema()).least_replicates is None
    outline = hw.plan_spec(CHANCE, chance_spec(1, 2))
    assert (outline.least_replicates, outline.replicates, outline.runs, outline.pending) == (4, 40, 80, 80)
    assert repr(outline).startswith("<SweepOutline of 'toy': up to 80 runs, 0 kept")
    assert json.loads(hw.spec_to_json(chance_spec()))["run"]["replicates"]["until"][0] == {
        "column": "Hit:final",
        "half_width": 0.13,
        "confidence": 0.95,
        "interval": "wilson",
    }
