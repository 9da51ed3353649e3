"""Experiments of other tools become specs that mean the same, and say what they could not carry over."""

from __future__ import annotations

import json

import pytest

import henad_web as hw
from henad_web.errors import SpecError
from henad_web.explore.spec import (
    BlockSpec,
    DesignKind,
    ExecutionSettings,
    FactorSpec,
    MeasureSettings,
    RangeLevels,
    RunOrder,
    ValueLevels,
)
from henad_web.explore.spec_file import parse_spec
from henad_web.importers.behavior_space import parse_literal, stepped_values
from henad_web.importers.imported import ImportedSpec
from henad_web.importers.importing import ImportOptions, import_spec
from tests.shared.schemas import SCHEMA


def imported(text: str, *, names: dict[str, str] | None = None, experiment: str | None = None) -> ImportedSpec:
    options = ImportOptions(model="study", schema=SCHEMA, names=names or {}, experiment=experiment, file="x")
    found = import_spec(text, options)
    assert parse_spec(found.toml()).spec.plan(SCHEMA).plan_hash == found.spec.plan(SCHEMA).plan_hash
    return found


def refused(text: str, *, names: dict[str, str] | None = None, experiment: str | None = None) -> list[str]:
    with pytest.raises(SpecError) as caught:
        imported(text, names=names, experiment=experiment)
    return [str(problem) for problem in caught.value.problems]


def unchecked(text: str) -> ImportedSpec:
    return import_spec(text, ImportOptions(model="anything"))


SIX = """\
<?xml version="1.0" encoding="us-ascii"?>
<!DOCTYPE experiments SYSTEM "behaviorspace.dtd">
<experiments>
  <experiment name="first" repetitions="10" sequentialRunOrder="false" runMetricsEveryStep="false">
    <setup>setup</setup>
    <go>go</go>
    <timeLimit steps="500"/>
    <metric>count turtles
  with [alive?]</metric>
    <enumeratedValueSet variable="size">
      <value value="64"/>
    </enumeratedValueSet>
    <steppedValueSet variable="rate" first="0.1" step="0.1" last="0.5"/>
    <enumeratedValueSet variable="mode">
      <value value="&quot;fast&quot;"/>
      <value value="&quot;slow&quot;"/>
    </enumeratedValueSet>
    <enumeratedValueSet variable="wrap">
      <value value="false"/>
    </enumeratedValueSet>
  </experiment>
  <experiment name="second" repetitions="1" runMetricsEveryStep="true">
    <exitCondition>ticks &gt;= 30</exitCondition>
    <steppedValueSet variable="size" first="30" step="-10" last="10"/>
  </experiment>
</experiments>
"""

SEVEN = """\
<?xml version="1.0" encoding="utf-8"?>
<model version="NetLogo 7.0.0" snapToGrid="true">
  <code><![CDATA[to setup end <experiments>]]></code>
  <experiments>
    <experiment name="first" repetitions="10" sequentialRunOrder="false" runMetricsEveryStep="false" timeLimit="500">
      <setup>setup</setup>
      <go>go</go>
      <metrics>
        <metric>count turtles with [alive?]</metric>
      </metrics>
      <constants>
        <enumeratedValueSet variable="size"><value value="64"></value></enumeratedValueSet>
        <steppedValueSet variable="rate" first="0.1" step="0.1" last="0.5"></steppedValueSet>
        <enumeratedValueSet variable="mode">
          <value value="&quot;fast&quot;"></value>
          <value value="&quot;slow&quot;"></value>
        </enumeratedValueSet>
        <enumeratedValueSet variable="wrap"><value value="false"></value></enumeratedValueSet>
      </constants>
    </experiment>
  </experiments>
</model>
"""

OLD_MODEL = 'to go\n  print "<experiments>"\nend\n@#$#@#$#@\n1\n@#$#@#$#@\nNetLogo 6.4.0\n@#$#@#$#@\n{}@#$#@#$#@\n'


def experiment(inside: str, attributes: str = "") -> str:
    return f'<experiments>\n<experiment name="e" {attributes}>\n{inside}\n</experiment>\n</experiments>'


def enumerated(name: str, *values: str) -> str:
    inside = "".join(f'<value value="{value}"/>' for value in values)
    return f'<enumeratedValueSet variable="{name}">{inside}</enumeratedValueSet>'


@pytest.mark.parametrize("text", [SIX, SEVEN, OLD_MODEL.format(SIX.split('dtd">\n')[1]), "\ufeff" + SEVEN])
def test_an_experiment_of_any_netlogo_becomes_the_same_spec(text: str) -> None:
    found = imported(text, experiment="first")
    assert found.spec == hw.SweepSpec(
        model="study",
        fixed=(("size", 64), ("wrap", False)),
        run=hw.RunSettings(steps=500, replicates=10, order=RunOrder.BREADTH),
        measure=MeasureSettings(series_every=0),
        blocks=(
            BlockSpec(
                factors=(
                    FactorSpec(param="rate", levels=RangeLevels(min=0.1, max=0.5, step=0.1)),
                    FactorSpec(param="mode", levels=ValueLevels(values=("fast", "slow"))),
                )
            ),
        ),
    )
    assert found.spec.plan(SCHEMA).run_count == 5 * 2 * 10
    assert found.notes == (
        "Metric not carried over: count turtles with [alive?]. The model's own statistics are recorded.",
    )
    assert found.toml().startswith(
        "# Imported from x, the NetLogo experiment 'first'.\n"
        "# - Metric not carried over: count turtles with [alive?]. The model's own statistics are recorded.\n"
        'model = "study"\n'
    )


def test_a_falling_step_and_a_limit_of_ticks() -> None:
    found = imported(SIX, experiment="second")
    assert found.spec.run.steps == 30
    assert found.spec.measure.series_every == 1
    assert found.spec.blocks[0].factors[0].levels == ValueLevels(values=(30, 20, 10))
    assert found.notes == ("Exit condition 'ticks >= 30' became steps = 30.",)


def test_sub_experiments_are_blocks_that_change_what_they_name() -> None:
    text = experiment(
        enumerated("size", "8") + enumerated("rate", "0.1", "0.2") + enumerated("loss", "1")
        + f"<subExperiment>{enumerated('size', '16')}</subExperiment>"
        + f"<subExperiment>{enumerated('rate', '0.5')}</subExperiment>"
    )  # fmt: skip
    plan = imported(text).spec.plan(SCHEMA)
    rows = [(config.block, config.params[0], round(float(config.params[1]), 3)) for config in plan.configs]
    assert rows == [(0, 16, 0.1), (0, 16, 0.2), (1, 8, 0.5)]
    assert imported(text).spec.fixed == (("loss", 1),)


def test_seeds_of_netlogo_are_told() -> None:
    found = imported(experiment(enumerated("random-seed", "7", "8", "9") + enumerated("size", "8"), 'repetitions="2"'))
    assert (found.spec.seeds.root, found.spec.run.replicates) == (7, 6)
    assert any("random-seed 7, 8, 9" in note for note in found.notes)


def test_a_seed_that_is_none_is_told_and_not_written() -> None:
    found = imported(experiment(enumerated("random-seed", "true")))
    assert found.spec.seeds.root == 0
    assert "random-seed True: the first is no whole number from 0 on, so 0 became the root" in found.notes[0]


def test_a_limit_of_ticks_that_no_run_reaches_stays_a_note() -> None:
    found = imported(experiment(f"<exitCondition>ticks = {'9' * 5000}</exitCondition>"))
    assert found.notes[0].startswith("Exit condition not carried over: ticks = 999")


def test_what_no_spec_file_can_say_is_refused() -> None:
    (problem,) = refused(experiment(f'<timeLimit steps="{10**20}"/>'))
    assert problem.startswith("x, [run] steps: too large, got the number 100000000000000000000")


def test_wide_bounds_of_salib_are_read_back() -> None:
    found = import_spec(repr(PROBLEM | {"bounds": [[0, 10**30], [-1e300, 1e300]]}), ImportOptions(model="any"))
    ranges = [factor.levels for factor in found.spec.blocks[0].factors]
    assert ranges == [RangeLevels(min=0, max=1e30), RangeLevels(min=-1e300, max=1e300)]
    assert parse_spec(found.toml()).spec.blocks == found.spec.blocks


def test_a_name_without_a_letter_is_asked_for() -> None:
    with pytest.raises(SpecError, match="a name without a letter is no id; map it with %=PARAMETER"):
        unchecked(experiment(enumerated("%", "1")))


def test_nothing_is_dropped_without_a_note() -> None:
    text = experiment(
        "<preExperiment>reset-timer</preExperiment><setup>setup set x 1</setup><postRun>export</postRun>"
        "<exitCondition>not any? turtles</exitCondition><runMetricsCondition>ticks mod 2 = 0</runMetricsCondition>"
        "<metric>a</metric><metric>b</metric><novel/>"
    )
    notes = "\n".join(imported(text).notes)
    for piece in ("reset-timer", "setup set x 1", "export", "not any? turtles", "ticks mod 2 = 0", "<novel>",
                  "carried over: a.", "carried over: b.", "no time limit; steps = 1000 is a guess"):  # fmt: skip
        assert piece in notes
    assert imported(text).toml().count("\n# - ") == 9


def test_a_note_cannot_leave_its_comment() -> None:
    text = experiment("<metric>a\nmodel = 'b'&#13;[run]\u2028\u0085\t#</metric>")
    assert parse_spec(imported(text).toml()).spec.model == "study"
    named = text.replace('name="e"', 'name="e&#x7f;&#10;[run]"')
    assert imported(named).toml().startswith("# Imported from x, the NetLogo experiment 'e [run]'.\n# - Metric")


def test_names_are_mapped_suggested_and_left_out() -> None:
    text = experiment(enumerated("Loss?", "1") + enumerated("infection-rat", "0.1", "0.2") + enumerated("shade", "9"))
    assert refused(text) == [
        "x, line 3, [experiment.e] infection-rat: model 'study' has no such parameter; allowed: size, rate, loss, "
        "wrap, mode; map it with infection-rat=PARAMETER, or leave it out with infection-rat=",
        "x, line 3, [experiment.e] shade: model 'study' has no such parameter; allowed: size, rate, loss, wrap, mode; "
        "map it with shade=PARAMETER, or leave it out with shade=",
    ]
    found = imported(text, names={"infection-rat": "rate", "shade": ""})
    assert found.spec.fixed == (("loss", 1),)
    assert found.spec.blocks[0].factors[0].param == "rate"
    assert found.notes[:3] == (
        "'Loss?' became 'loss'.",
        "'infection-rat' became 'rate'.",
        "'shade' was left out, as asked.",
    )


def test_a_near_miss_is_suggested() -> None:
    (problem,) = refused(experiment(enumerated("Sise", "8")))
    assert problem.endswith("map it with Sise=size, or leave it out with Sise=")


def test_wrong_maps_are_refused() -> None:
    text = experiment(enumerated("a", "8") + enumerated("size", "9"))
    assert "mapped to 'sizee', which model 'study' does not have" in refused(text, names={"a": "sizee"})[0]
    assert "stands for parameter 'size', and so does 'a'" in refused(text, names={"a": "size"})[0]
    assert "'b' is mapped, and the experiment has no such variable" in refused(text, names={"a": "", "b": "rate"})[0]


def test_values_that_the_model_does_not_take_are_told_together() -> None:
    text = experiment(
        enumerated("size", "0", "8.5") + enumerated("mode", "&quot;fats&quot;") + enumerated("rate", "[1 2]")
    )
    assert refused(text) == [
        "x, line 3, [experiment.e] size: parameter 'size': out of range, got 0; allowed: 1 to 1000",
        "x, line 3, [experiment.e] size: parameter 'size': not a whole number, got 8.5; allowed: 1 to 1000",
        "x, line 3, [experiment.e] mode: parameter 'mode': no such option, got 'fats'; allowed: one of fast, slow, "
        "exact; did you mean 'fast'?",
        "x, line 3, [experiment.e] rate: a list is not a value of a parameter; leave it out with rate=",
    ]


def test_which_experiment_is_asked_for() -> None:
    assert refused(SIX) == ["x: 2 experiments in it; allowed: 'first', 'second'; name one of them"]
    assert "no experiment 'frist'" in refused(SIX, experiment="frist")[0]
    assert "did you mean 'first'?" in refused(SIX, experiment="frist")[0]
    assert "no BehaviorSpace experiment in it" in refused("<experiments/>")[0]
    assert "no BehaviorSpace experiment in it" in refused(OLD_MODEL.format(""))[0]


def test_experiments_of_one_name_are_all_listed_and_each_is_addressed() -> None:
    names = ("a", "b", "a", "a#1", "a")
    inside = "".join(f'<experiment name="{name}" repetitions="{place + 1}"/>' for place, name in enumerate(names))
    text = f"<experiments>{inside}</experiments>"
    listed = "'a#1#', 'b', 'a#2', 'a#1', 'a#3'"
    assert refused(text) == [f"x: 5 experiments in it; allowed: {listed}; name one of them"]
    assert refused(text, experiment="a") == [
        "x: 3 experiments 'a' in it; allowed: 'a#1#', 'a#2', 'a#3'; name one of them by its number"
    ]
    for place, label in enumerate(("a#1#", "b", "a#2", "a#1", "a#3")):
        found = imported(text, experiment=label)
        assert (found.spec.run.replicates, found.origin) == (place + 1, f"x, the NetLogo experiment '{label}'")
    assert "no experiment 'a#4'" in refused(text, experiment="a#4")[0]


def test_a_variable_given_twice_is_told_with_both_lines() -> None:
    twice = enumerated("size", "8") + "\n" + enumerated("rate", "0.1") + "\n" + enumerated("size", "16")
    for text in (experiment(twice), experiment(f"<constants>{twice}</constants>")):
        found = imported(text)
        assert found.spec.fixed == (("size", 16), ("rate", 0.1))
        assert found.notes[0] == "'size' is given twice, in lines 3 and 5; the last was taken, as NetLogo sets it last."


LIMIT, CONDITION = '<timeLimit steps="500"/>\n', "<exitCondition>ticks &gt;= 30</exitCondition>\n"


@pytest.mark.parametrize(
    ("inside", "steps", "note"),
    [
        (
            LIMIT + CONDITION, 30,
            "A run ends by the time limit (line 3, 500 ticks) and the exit condition 'ticks >= 30' (line 4, 30 ticks), "
            "whichever comes first: steps = 30.",
        ),
        (
            CONDITION + '<timeLimit steps="20"/>', 20,
            "A run ends by the time limit (line 4, 20 ticks) and the exit condition 'ticks >= 30' (line 3, 30 ticks), "
            "whichever comes first: steps = 20.",
        ),
        (
            LIMIT + "<exitCondition>not any? turtles</exitCondition>", 500,
            "Exit condition not carried over: not any? turtles (line 4); the time limit (line 3) alone ends a run. "
            'Where a statistic says the same, write [run] stop = { condition = "STATISTIC <= 0" }.',
        ),
        (
            CONDITION.replace("&gt;=", "&gt;"), 31, "Exit condition 'ticks > 30' became steps = 31.",
        ),
        (
            LIMIT + '<timeLimit steps="40"/>', 40,
            "A run ends by the time limit (line 3, 500 ticks) and the time limit (line 4, 40 ticks), whichever comes "
            "first: steps = 40.",
        ),
    ],
)  # fmt: skip
def test_what_ends_a_run_is_told_with_both_lines(inside: str, steps: int, note: str) -> None:
    found = imported(experiment(inside))
    assert (found.spec.run.steps, found.notes) == (steps, (note,))


BOMB = '<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;&b;">]><experiments>&d;</experiments>'
FILE = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><experiments>&b;</experiments>'
OUTSIDE = '<!DOCTYPE a SYSTEM "a.dtd"><experiments>&b;</experiments>'


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (BOMB, "the entity 'b', which experiments never need"),
        (FILE, "the entity 'b', which experiments never need"),
        (OUTSIDE, "the entity 'b', which experiments never need"),
        ("<a>" * 5000, "more than 64 elements inside one another"),
        ("<experiments>\n<experiment>\n</experiments>", "not well-formed XML: mismatched tag"),
        ("<experiments", "not well-formed XML: unclosed token"),
        ("<experiments>\ud800</experiments>", "line 1, top level: half of a surrogate pair, which is no character"),
    ],
)
def test_xml_that_is_broken_or_hostile_is_refused(text: str, wrong: str) -> None:
    (problem,) = refused(text)
    assert wrong in problem


def test_the_line_of_a_model_file_is_told() -> None:
    (problem,) = refused(OLD_MODEL.format("<experiments>\n<experiment>\n</experiments>\n"))
    assert problem.startswith("x, line 11, ")


@pytest.mark.parametrize(
    ("text", "value"),
    [("64", 64), ("64.0", 64), ("-0.5", -0.5), (".5", 0.5), ("1e3", 1000), ("true", True), ("FALSE", False),
     ('"a \\"b\\"\\n"', 'a "b"\n'), ('"64"', "64"), ("9007199254740993", 2**53 + 1),
         ("-1E18", -(10**18)), ("1e19", 1e19)],
)  # fmt: skip
def test_values_of_netlogo(text: str, value: object) -> None:
    found = parse_literal(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["", "[1 2]", "nobody", "1e999", "0x1", "random 5", '"open'])
def test_what_is_no_value_of_netlogo(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any wording will do
        parse_literal(text)


def test_steps_are_counted_in_decimals() -> None:
    assert stepped_values("0.2", "0.025", "0.3") == [0.2, 0.225, 0.25, 0.275, 0.3]
    assert len(stepped_values("0", "0.1", "1")) == 11
    for wrong in (("0", "0", "1"), ("0", "-1", "1"), ("0", "1e-9", "1")):
        with pytest.raises(ValueError):  # noqa: PT011 - any wording will do
            stepped_values(*wrong)


BATCH = {
    "parameters": {"size": 10, "rate": [0.1, 0.2, 0.3], "mode": "fast", "wrap": (True, False), "loss": [2]},
    "iterations": 3,
    "max_steps": 100,
    "data_collection_period": 5,
    "number_processes": None,
    "display_progress": True,
    "rng": [1, 2],
}


@pytest.mark.parametrize("text", [repr(BATCH), json.dumps(BATCH), f"import mesa\nbatch = {BATCH!r}\nprint(batch)\n"])
def test_a_batch_run_of_mesa(text: str) -> None:
    found = imported(text)
    assert found.spec == hw.SweepSpec(
        model="study",
        fixed=(("size", 10), ("mode", "fast"), ("loss", 2)),
        run=hw.RunSettings(steps=100, replicates=3),
        measure=MeasureSettings(stats_every=5, series_every=5),
        blocks=(
            BlockSpec(
                factors=(
                    FactorSpec(param="rate", levels=ValueLevels(values=(0.1, 0.2, 0.3))),
                    FactorSpec(param="wrap", levels=ValueLevels(values=(True, False))),
                )
            ),
        ),
    )
    assert found.spec.plan(SCHEMA).run_count == 3 * 2 * 3
    told = [note for note in found.notes if not note.startswith("Read from the dict 'batch' alone")]
    assert told == ["rng = [1, 2] was not carried over; seeds follow from [seeds] root."]


def test_parameters_of_mesa_alone() -> None:
    found = imported("{'size': [1, 2]}")
    assert (found.spec.run.steps, found.spec.run.replicates, found.spec.measure.series_every) == (1000, 1, 0)
    assert found.notes == ("No max_steps is given; steps = 1000 is Mesa's own default.",)
    processes = imported("{'parameters': {'size': 1}, 'number_processes': 4, 'max_steps': 1, 'x': 2}")
    assert processes.execution == ExecutionSettings(concurrent=4)
    assert processes.spec.blocks == ()
    assert processes.notes == ("Argument x = 2 was not carried over.",)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("{'size': []}", "size: no levels, got []; allowed: at least one value"),
        ("{'size': {1, 2}}", "size: a set has no order, got a set; write a list, which has an order"),
        ("{'size': None}", "size: not a value of a parameter, got nothing; leave it out with size="),
        ("{'size': [[1], 2]}", "size: not a value of a parameter, got a list; leave it out with size="),
        ("{'size': range(n)}", "something that has to be computed, got range(n); write its values out"),
        ("{'size': __import__('os').getpid()}", "something that has to be computed"),
        ("{'size': [1] * 3}", "something that has to be computed"),
        ("{'parameters': {'size': 1}, 'iterations': 0}", "iterations: not a whole number, got 0"),
        ("{1: 2}", "not a dict with texts as keys"),
        ("[1]", "not a dict with texts as keys, got a list"),
        ("{'size': ", "neither JSON nor Python in line 1"),
        ("a = {}\nb = {}", "which dict is meant?; allowed: a, b"),
        ("print()\nx = 1", "which dict is meant?; allowed: none, it assigns no dict to a name"),
        ("(" * 300 + ")" * 300, "neither JSON nor Python"),
        ("{'parameters': {'size': 1}, 'max_steps': 10**400}", "something that has to be computed"),
        (f"{{'parameters': {{'size': 1}}, 'max_steps': {2**64}}}", "[run] steps: too large, got the number 184467"),
        (f"{{'size': 1{'0' * 400}}}", "parameter 'size': out of range, got about 2^1328"),
        ('{"size": 1, "mode": "\\ud800"}', "parameter 'mode': no such option"),
    ],
)
def test_a_batch_run_that_cannot_be_carried_over(text: str, wrong: str) -> None:
    assert wrong in refused(text)[0]


def test_one_of_several_dicts_is_picked_by_name() -> None:
    text = "a = {'size': 1}\nb = {'size': 2}"
    assert imported(text, experiment="b").spec.fixed == (("size", 2),)
    assert "no dict 'c'" in refused(text, experiment="c")[0]


PROBLEM = {"num_vars": 2, "names": ["rate", "size"], "bounds": [[0.1, 0.9], [1.0, 9.0]], "dists": ["unif", "unif"]}


def test_a_problem_of_salib() -> None:
    found = imported(json.dumps({**PROBLEM, "groups": ["g", "h"], "outputs": ["Y"]}))
    assert found.spec == hw.SweepSpec(
        model="study",
        blocks=(
            BlockSpec(
                design=DesignKind.RANDOM,
                samples=128,
                factors=(
                    FactorSpec(param="rate", levels=RangeLevels(min=0.1, max=0.9)),
                    FactorSpec(param="size", levels=RangeLevels(min=1, max=9)),
                ),
            ),
        ),
    )
    assert found.notes == (
        "Groups were not carried over: ['g', 'h']. Every factor is sampled on its own.",
        "'outputs' was not carried over: ['Y'].",
        "A problem has no length: steps = 1000 and samples = 128 are guesses.",
    )
    saltelli = import_spec(repr(PROBLEM), ImportOptions(model="study", design=DesignKind.SALTELLI, samples=64))
    assert (saltelli.spec.blocks[0].design, saltelli.spec.blocks[0].samples) == (DesignKind.SALTELLI, 64)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"dists": ["unif", "norm"]}, "[dists] size: not a uniform distribution, got 'norm'; allowed: unif"),
        ({"bounds": [[0.1, 0.9]]}, "names: names, bounds and num_vars differ, got 2 names, 1 bounds, num_vars 2"),
        ({"num_vars": 3}, "names: names, bounds and num_vars differ"),
        ({"bounds": [[0.9, 0.1], [1, 9]]}, "[bounds] rate: not a lower and a higher number, got [0.9, 0.1]"),
        ({"bounds": [[1, 1], [1, 9]]}, "[bounds] rate: not a lower and a higher number"),
        ({"bounds": "ab"}, "bounds: not a list, got a str"),
        ({"bounds": [[0, 10**400], [1, 9]]}, "[bounds] rate: not a lower and a higher number"),
        ({"bounds": [[float("nan"), 1], [1, 9]]}, "[bounds] rate: not a lower and a higher number"),
    ],
)
def test_a_problem_that_cannot_be_carried_over(change: dict[str, object], wrong: str) -> None:
    assert wrong in refused(json.dumps(PROBLEM | change))[0]


def test_a_model_that_is_not_known_takes_names_as_they_come() -> None:
    found = unchecked(experiment(enumerated("infection-chance", "1", "2")))
    assert found.spec.model == "anything"
    assert found.spec.blocks[0].factors[0].param == "infection_chance"
    assert found.notes[0] == "'infection-chance' became 'infection_chance'."
