"""Scripts that call Mesa's batch_run: read and never run, with every argument carried over or told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import henad_web as hw
from henad_web.explore.spec import RangeLevels, SpecValue, ValueLevels
from henad_web.importers.imported import ImportedSpec
from henad_web.importers.importing import ImportOptions, import_spec
from tests.shared.wide_values import SCHEMA

SCRIPT = """\
import numpy as np
import pandas as pd
from mesa.batchrunner import batch_run
from model import Wide

SEEDS = 4
params = {
    "share": np.linspace(0, 1, 11),
    "level": np.arange(-0.3, 0.3, 0.1),
    "offset": range(-3, 9, 3),
    "rule": ["B3/S23", "B36/S23"],
    "wrap": True,
}

if __name__ == "__main__":
    results = batch_run(
        Wide,
        parameters=params,
        iterations=SEEDS,
        max_steps=250,
        number_processes=None,
        data_collection_period=10,
        display_progress=True,
    )
    pd.DataFrame(results).to_csv("out.csv")
"""


def imported(text: str, experiment: str | None = None) -> ImportedSpec:
    return import_spec(text, ImportOptions(model="wide", schema=SCHEMA, experiment=experiment, file="run.py"))


def refused(text: str, experiment: str | None = None) -> list[str]:
    with pytest.raises(hw.SpecError) as caught:
        imported(text, experiment)
    return [str(problem) for problem in caught.value.problems]


def levels(call: str) -> tuple[SpecValue, ...]:
    """Return what `call` gives a parameter, as its plan has it."""
    spec = imported(f"{{'level': {call}, 'value': [1, 2]}}").spec
    return tuple(dict.fromkeys(float(config.params[2]) for config in spec.plan(SCHEMA).configs))


def test_a_script_becomes_a_spec_with_everything_it_asks_for() -> None:
    found = imported(SCRIPT)
    spec = found.spec
    assert (spec.run.steps, spec.run.replicates, spec.measure.series_every) == (250, 4, 10)
    assert spec.fixed == (("wrap", True),)
    assert {factor.param: factor.levels for factor in spec.blocks[0].factors} == {
        "share": ValueLevels(values=(0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)),
        "level": RangeLevels(min=-0.3, max=0.2, step=0.1),
        "offset": RangeLevels(min=-3, max=6, step=3),
        "rule": ValueLevels(values=("B3/S23", "B36/S23")),
    }
    plan = hw.parse_spec(found.toml()).spec.plan(SCHEMA)
    assert plan.run_count == 11 * 6 * 4 * 2 * 4
    assert plan.warnings() == ()
    assert found.notes == (
        "Read from the call of batch_run in line 16; nothing of the script was run.",
        "'share': np.linspace(0, 1, 11) became 11 values.",
        "'level': np.arange(-0.3, 0.3, 0.1) became 6 values.",
        "'offset': range(-3, 9, 3) became 4 values.",
    )


@pytest.mark.parametrize(
    "script",
    [
        "import mesa\nmesa.batch_run(M, {'offset': range(3)}, max_steps=5, iterations=2)",
        "from mesa.batchrunner import batch_run as go\ndef f():\n    go(M, dict(offset=range(3)), 1, 2, -1, 5)\nf()",
        "args = {'parameters': {'offset': range(3)}, 'iterations': 2}\nx = batch_run(model_cls=M, max_steps=5, **args)",
        "from numpy import arange as a\nN: int = 5\nbatch_run(M, {'offset': a(3)}, iterations=2, max_steps=N)",
        "import numpy\nbatch_run(M, {'offset': list(numpy.arange(0, 3))}, iterations=2, max_steps=+5)",
        "p = {}\np['offset'] = range(3)\nbatch_run(M, p, iterations=2, max_steps=5)\np['offset'] = [9]",
    ],
)
def test_a_call_is_found_however_it_is_written(script: str) -> None:
    spec = imported(script).spec
    assert (spec.run.replicates, spec.run.steps, spec.measure.series_every) == (2, 5, 0)
    assert spec.blocks[0].factors[0].levels in (RangeLevels(min=0, max=2, step=1), ValueLevels(values=(0, 1, 2)))


@pytest.mark.parametrize(
    ("call", "numbers"),
    [
        ("range(5, 0, -2)", (5, 3, 1)),
        ("np.arange(0, 1, 0.25)", (0, 0.25, 0.5, 0.75)),
        ("np.arange(1, 1.3, 0.1)", (1, 1.1, 1.2, 1.3)),
        ("np.arange(stop=2, start=-1.5)", (-1.5, -0.5, 0.5, 1.5)),
        ("np.arange(1.0)", (0,)),
        ("np.linspace(0, 1, num=3, endpoint=False)", (0, 1 / 3, 2 / 3)),
        ("np.linspace(1, -1, 3).tolist()", (1, 0, -1)),
        ("np.linspace(2, 9, 1)", (2,)),
        ("[*range(2), 7]", (0, 1, 7)),
        ("np.array([0.5, -1])", (0.5, -1)),
    ],
)
def test_a_call_of_a_range_has_the_values_that_numpy_gives(call: str, numbers: tuple[float, ...]) -> None:
    assert levels(call) == numbers
    assert np.allclose(np.array(eval(call, {"np": np}), float), numbers, rtol=1e-15)


@given(start=st.integers(-50, 50), count=st.integers(2, 40), step=st.sampled_from(["0.1", "0.25", "3", "0.07", "1e-3"]))
def test_arange_is_counted_as_numpy_counts(start: int, count: int, step: str) -> None:
    stop = start + count * float(step)
    expected = np.arange(start, stop, float(step))
    assert np.allclose(levels(f"np.arange({start}, {stop!r}, {step})"), expected, rtol=1e-12, atol=1e-12)
    assert len(levels(f"np.arange({start}, {stop!r}, {step})")) == len(expected)
    assert len(levels(f"np.linspace({start}, {stop!r}, {count})")) == count


def test_a_script_that_calls_twice_lists_and_addresses_both() -> None:
    script = "batch_run(M, {'offset': [1, 2]}, max_steps=1)\nbatch_run(M, {'offset': [3, 4]}, max_steps=2)\n"
    assert refused(script) == [
        "run.py: 2 calls of batch_run in it; allowed: 'batch_run#1' in line 1, 'batch_run#2' in line 2; "
        "name one of them"
    ]
    assert imported(script, "batch_run#2").spec.run.steps == 2
    assert "no call 'batch_run#3'" in refused(script, "batch_run#3")[0]
    assert "no dict 'other'; allowed: batch_run#1, batch_run#2" in refused(script, "other")[0]


def test_what_has_to_be_computed_is_refused_with_its_line() -> None:
    script = (
        "n = 3\nn += 1\nbatch_run(M, {'level': [x / 2 for x in y], 'offset': range(n), 'rule': names()},\n"
        "  iterations=2 * 5, max_steps=1, rng=make())\n"
    )
    assert refused(script) == [
        "run.py, iterations: line 4: something that has to be computed, got 2 * 5; write its values out; code in the "
        "text is never run",
        *(
            f"run.py, [parameters] {name}: line 3: something that has to be computed, got {code}; write its values "
            "out; code in the text is never run"
            for name, code in (("level", "[x / 2 for x in y]"), ("offset", "range(n)"), ("rule", "names()"))
        ),
    ]


def test_nothing_of_a_script_is_lost_without_a_note() -> None:
    script = (
        "p = {'offset': [1, 2],\n 'offset': [3, 4]}\np['value'] = 5\np.update(more)\nS = 1\nS = 2\n"
        "batch_run(M, p, max_steps=S, rng=make(), extra=[1])\nS = 3\n"
    )
    found = imported(script)
    assert (found.spec.fixed, found.spec.run.steps) == ((("value", 5),), 2)
    assert found.notes == (
        "'offset' is given twice, in lines 1 and 2; the last was taken.",
        "Line 3 sets 'value' of 'p', which was taken.",
        "Line 4 changes 'p' and was not run: p.update(more).",
        "'S' is assigned in lines 5, 6, 8; what line 6 assigns was taken.",
        "Read from the call of batch_run in line 7; nothing of the script was run.",
        "rng = make() was not carried over; seeds follow from [seeds] root.",
        "Argument extra = [1] was not carried over.",
    )
    assert all(f"# - {note}" in found.toml().replace("\n#   ", " ") for note in found.notes)


@pytest.mark.parametrize(
    ("script", "wrong"),
    [
        ("batch_run(M, *args)", "line 1: an argument without a name, got *args"),
        ("batch_run(M, **args)", "line 1: something that has to be computed, got **args"),
        ("\nbatch_run(M, iterations=1)", "line 2: batch_run is given no parameters"),
        ("batch_run(M, params)", "parameters: line 1: something that has to be computed, got params"),
        ("a = b\nb = a\nbatch_run(M, a)", "something that has to be computed, got"),
        ("def range(n): ...\nbatch_run(M, {'offset': range(3)})", "something that has to be computed, got range(3)"),
        ("batch_run(M, {'level': np.linspace(0, 1, 10**9)})", "something that has to be computed"),
        ("batch_run(M, {'level': np.linspace(0, 1, 100000)})", "level: 100000 values, got np.linspace(0, 1, 100000)"),
        ("batch_run(M, {'offset': range(10, -99999999, -1)})", "offset: 100000009 values"),
        ("batch_run(M, {'offset': range(0)})", "offset: no levels"),
        ("batch_run(M, {'level': np.arange(0, 1, 0)})", "something that has to be computed"),
        ("batch_run(M, {'level': np.arange(0, 1e308, 1e-308)})", "something that has to be computed"),
        ("batch_run(M, {'offset': [1]}, iterations=range(3))", "iterations: not a whole number, got range(3)"),
        ("batch_run(M, {'offset': '''", "neither JSON nor Python in line 1"),
        ("batch_run(M, {'rule': [8]})", "parameter 'rule': not a text, got 8"),
    ],
)
def test_a_script_that_cannot_be_carried_over_is_refused_in_words(script: str, wrong: str) -> None:
    assert any(wrong in each for each in refused(script)), refused(script)


@pytest.mark.parametrize(
    "change", ["p['level'].append(0.9)", "p['level'][0] = 5", "del p['level'][0]", "x, p['level'] = (0, 1)"]
)
def test_changes_of_a_part_are_told_and_not_made(change: str) -> None:
    found = imported(f"p = {{'level': [0.1, 0.2]}}\n{change}\nbatch_run(M, p, max_steps=1)\n")
    assert found.spec.blocks[0].factors[0].levels == ValueLevels(values=(0.1, 0.2))
    assert found.notes[0] == f"Line 2 changes 'p' and was not run: {change}."


def test_what_only_names_a_value_changes_nothing_of_it() -> None:
    found = imported("p = {'level': [0.1, 0.2]}\nother[p['level'][0]] = p['level'][1]\nbatch_run(M, p, max_steps=1)\n")
    assert len(found.notes) == 1


def test_a_call_that_is_not_there_is_refused_with_those_that_are() -> None:
    assert refused("batch_run(M, {'offset': [1]})", "batch_run#2") == [
        "run.py: no call 'batch_run#2'; allowed: 'batch_run#1' in line 1; name one of them"
    ]


def test_a_dict_of_a_script_is_told_to_be_all_that_was_read() -> None:
    found = imported("p = {'level': [0.1, 0.2]}\nFixedBatchRunner(M, p, iterations=5)\n")
    assert found.notes[0] == "Read from the dict 'p' alone; nothing else of the text was carried over or run."


def test_what_was_taken_twice_is_told_once() -> None:
    found = imported("N = 5\nN = 6\nbatch_run(M, {'offset': [N, 1]}, iterations=N, max_steps=1)\n")
    assert found.notes[0] == "'N' is assigned in lines 1, 2; what line 2 assigns was taken."
    assert len(found.notes) == 2


def test_a_key_given_twice_in_json_is_told_with_both_lines() -> None:
    found = imported('{"parameters": {"offset": [1, 2],\n "offset": [3, 4]},\n"max_steps": 1, "max_steps": 2}')
    assert found.spec.blocks[0].factors[0].levels == ValueLevels(values=(3, 4))
    assert found.notes == (
        "'offset' is given twice, in lines 1 and 2; the last was taken.",
        "'max_steps' is given twice, in lines 3 and 3; the last was taken.",
    )
