"""What a model's class lacks, has twice or has misspelled is told as it is made, in words that say what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import henad_web as hw
from henad_web.errors import ModelDefinitionError
from henad_web.model.definition import model_id
from tests.shared.declared_models import Walk

Body = dict[str, Any]


def method(*names: str) -> Callable[..., Any]:
    """Return a function that takes `names` and returns 1."""
    scope: Body = {}
    exec(f"def made({', '.join(names)}): return 1", scope)
    made: Callable[..., Any] = scope["made"]
    return made


def body(**members: Any) -> Body:
    """Return the body of a model that is whole, with `members` in place of its own; None takes one away."""
    whole = {"__module__": __name__, "step_once": method("self"), "value": hw.stat(method("self"))}
    return {name: value for name, value in (whole | members).items() if value is not None}


def made(members: Body, base: type = hw.Model, **keywords: Any) -> type:
    """Return the class ``Made`` of `members`."""
    return type(base)("Made", (base,), members, **keywords)


async def coroutine(self: object) -> None:
    """Do nothing."""


def generator(self: object) -> Any:
    yield 1


WRONG: dict[str, tuple[Body, str]] = {
    "no step": (
        body(step_once=None),
        "it has no step; write step_once(self), which does one step, or step(self, n=1), which does n of them",
    ),
    "a misspelled step": (body(step_once=None, setp_once=method("self")), "; did you mean 'step_once'?"),
    "both steps": (
        body(step=method("self", "n=1")),
        "it has both step_once (of Made) and step (of Made); keep one, either does",
    ),
    "no statistic": (
        body(value=None),
        "it declares no statistic; put @hw.stat over a method that returns a number",
    ),
    "a misspelled setup": (
        body(set_up=method("self")),
        "it has a method set_up, which nothing calls; did you mean 'setup'? A helper may begin with _",
    ),
    "a misspelled property": (
        body(heap_byte=property(method("self"))),
        "it has a method heap_byte, which nothing calls; did you mean 'heap_bytes'? A helper may begin with _",
    ),
    "a step that takes too much": (
        body(step_once=method("self", "n", "m")),
        "step_once(self, n, m) cannot be called as step_once(self): missing a required argument: 'n'",
    ),
    "steps that take nothing": (
        body(step_once=None, step=method("self")),
        "step(self) takes no count; call it step_once, or write step(self, n=1), which does n steps",
    ),
    "a step without itself": (body(step_once=method()), "step_once() lacks self; write def step_once(self)"),
    "a statistic without itself": (body(value=hw.stat(method())), "value() lacks self; write def value(self)"),
    "colours by name": (
        body(value=hw.stat(color="red")(method("self"))),  # type: ignore[call-overload]
        "statistic 'value': its color is 'red'; allowed: red, green and blue each 0 to 255, color=(0, 230, 118)",
    ),
    "a live value without its id": (
        body(set_param=method("self", "value")),
        "set_param(self, value) cannot be called as set_param(self, id, value): too many positional arguments",
    ),
    "a statistic with arguments": (
        body(value=hw.stat(method("self", "tick"))),
        "value(self, tick) cannot be called as value(self): missing a required argument: 'tick'",
    ),
    "a statistic of no method": (
        body(value=hw.stat(7)),  # type: ignore[call-overload]
        "value is a int; it must be a method: def value(self, …)",
    ),
    "an action with arguments": (
        body(burn=hw.action(method("self", "where"))),
        "burn(self, where) cannot be called as burn(self): missing a required argument: 'where'",
    ),
    "a static step": (
        body(step_once=staticmethod(method())),
        "step_once is a staticmethod; it must be a method: def step_once(self, …)",
    ),
    "an end that is no method": (
        body(has_ended=False),
        "has_ended is a bool; it must be a method: def has_ended(self, …)",
    ),
    "a step with a yield": (
        body(step_once=generator),
        "step_once has a yield in it, so calling it does nothing; write a plain method",
    ),
    "a coroutine": (body(setup=coroutine), "setup is async, so calling it does nothing; write a plain method"),
    "a parameter like a member": (
        body(seed=hw.u32(1, min=0, max=9)),
        "the parameter 'seed' has the name of a member that every model has; give it another one",
    ),
    "a statistic like a member": (
        body(population=hw.stat(method("self"))),
        "the statistic 'population' has the name of a member that every model has; give it another one",
    ),
    "an action like a member": (
        body(setup=hw.action(method("self"))),
        "the action 'setup' has the name of a member that every model has; give it another one",
    ),
    "a comma": (
        body(rate=(hw.f32(0.5, min=0, max=1),)),
        "'rate' has a comma behind it, which makes it a tuple; take it away",
    ),
    "the form of an entry's parameter": (
        body(rate=hw.f32("rate", "Rate", 0.5, 0, 1)),
        "'rate' is a Param, which belongs into an entry; a class declares it by hw.f32(0.3, min=0, max=1)",
    ),
    "the form of an entry's statistic": (
        body(other=hw.Stat("other", (0, 0, 0, 0))),
        "'other' is a Stat, which belongs into an entry; a class declares it by @hw.stat",
    ),
    "the form of an entry's action": (
        body(burn=hw.Action("burn", "Burn")),
        "'burn' is a Action, which belongs into an entry; a class declares it by @hw.action",
    ),
    "an own start": (
        body(__init__=method("self", "params", "seed")),
        "it has an __init__; write setup(self), when parameters, seed and rng are attributes already",
    ),
    "batches of an instance": (
        body(build_many=method("self", "params", "seeds")),
        "build_many is no class method; put @classmethod over it",
    ),
    "batches of what may end": (
        body(build_many=classmethod(method("cls", "params", "seeds")), has_ended=method("self")),
        "it has has_ended and offers batches; a model that may end by itself is stepped alone",
    ),
}


@pytest.mark.parametrize(("members", "wrong"), WRONG.values(), ids=list(WRONG))
def test_what_is_wrong_with_a_class_is_told_as_it_is_made(members: Body, wrong: str) -> None:
    with pytest.raises(ModelDefinitionError) as caught:
        made(members)
    assert str(caught.value).startswith("model class Made: ")
    assert str(caught.value).endswith(wrong)


ENTRIES: dict[str, tuple[Body, str]] = {
    "a default out of range": (
        body(rate=hw.f32(2, min=0, max=1)),
        "model class Made: parameter 'rate': default 2.0 is not within 0.0 to 1.0",
    ),
    "labels used twice": (
        body(a=hw.stat(label="A"), b=hw.stat(label="A")),
        "model 'made' declares the statistic 'A' twice",
    ),
    "a parameter that no spec can name": (body(Rate=hw.f32(1, min=0, max=1)), "parameter id 'Rate' is malformed"),
}


@pytest.mark.parametrize(("members", "wrong"), ENTRIES.values(), ids=list(ENTRIES))
def test_what_no_entry_may_have_no_class_may_have(members: Body, wrong: str) -> None:
    with pytest.raises(ModelDefinitionError, match=re.escape(wrong)):
        made(members)


def test_the_class_line_is_checked_too() -> None:
    with pytest.raises(ModelDefinitionError, match=r"its class line says portabel; allowed: abstract, .* 'portable'\?"):
        made(body(), portabel=False)
    with pytest.raises(ModelDefinitionError, match=r"widht; allowed: .*, width, height; did you mean 'width'\?"):
        made(body(), hw.GridModel, widht=3)
    with pytest.raises(ModelDefinitionError, match="model id 'Big Fire' is malformed"):
        made(body(), id="Big Fire")


def test_arguments_of_a_declaration_are_checked_at_its_line() -> None:
    declare: Any = hw
    for wrong, call in (
        ("f32(…) lacks max; needed: hw.f32(default, min, max)", lambda: declare.f32(0.3, min=0)),
        ("u32(…) lacks min, max; needed: hw.u32(default, min, max)", lambda: declare.u32(64)),
        ("u32(…) lacks default, max; needed: hw.u32(default, min, max)", lambda: declare.u32(min=1)),
        ("choice(…) lacks options; needed: hw.choice(options)", lambda: declare.choice()),
        ("i64(…) lacks max; needed: hw.i64(id, label, default, min, max)", lambda: declare.i64("n", "N", 1, 0)),
        ("u32(…) got an unexpected keyword argument 'maximum'", lambda: declare.u32(3, 0, 4, maximum=4)),
        ("text(…) lacks default; needed: hw.text(default)", lambda: declare.text()),
    ):
        with pytest.raises(ModelDefinitionError, match=re.escape(wrong)):
            call()  # type: ignore[no-untyped-call]


def test_a_method_in_place_of_what_was_declared_is_refused() -> None:
    for name, kind in (("drift", "a parameter"), ("place", "a statistic"), ("go_home", "an action")):
        with pytest.raises(ModelDefinitionError, match=f"'{name}' takes the place of {kind} of the same name"):
            made({"__module__": __name__, name: method("self")}, Walk)


def test_a_heir_cannot_step_in_two_ways() -> None:
    with pytest.raises(ModelDefinitionError, match=re.escape("both step_once (of Made) and step (of Walk)")):
        made({"__module__": __name__, "step_once": method("self")}, Walk)


@pytest.mark.parametrize("helper", ["spread", "step_twice", "neighbours", "_set_up", "state_of", "grow", "reset"])
def test_a_helper_of_another_name_is_left_alone(helper: str) -> None:
    assert issubclass(made(body(**{helper: method("self")})), hw.Model)


def test_a_value_that_is_not_there_yet_is_told() -> None:
    model = made(body(late=hw.stat()))()
    wrong = "the statistic 'late' has no value; assign self.late in setup"
    with pytest.raises(ModelDefinitionError, match=re.escape(wrong)):
        model.stats()


def test_a_value_that_is_not_there_yet_is_told_with_the_line_of_the_start() -> None:
    class Late(hw.Model):
        """Forgets its statistic."""

        late = hw.stat()

        def setup(self) -> None:
            self.other = 1

        def step_once(self) -> None:
            """Do nothing."""

    with pytest.raises(hw.ProbeError) as caught:
        hw.plan_spec(Late, hw.SweepSpec(model="late"))
    line = Late.setup.__code__.co_firstlineno
    assert f"ModelDefinitionError at test_model_definitions.py:{line}: model class Late: the stat" in str(caught.value)


def test_values_by_keyword_are_told_as_they_are_to_be_given() -> None:
    with pytest.raises(hw.UsageError, match=re.escape('are a mapping: Walk({"drift": 0.5, "odd": 1})')):
        Walk(drift=0.5, odd=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("palette", [("brown", "red"), ((1, 2),), ((1, 2, 300),), ((0.5, 0, 0),), "red", (), 7])
def test_a_palette_of_no_colours_is_refused(palette: Any) -> None:
    with pytest.raises(ModelDefinitionError, match=r"the palette holds .*; allowed: red, green and blue each 0 to 255"):
        made(body(), palette=palette)


def test_a_plain_value_of_the_class_is_no_parameter_and_said_to_be_none() -> None:
    model: Any = made(body(p=0.02, rate=hw.f64(0.5, min=0, max=1)))
    hint = r"the model's class has a plain 'p'; declare it, such as p = hw.f64\(0.5, min=0, max=1\)"
    for spec in (
        {"fixed": (("p", 0.1),)},
        {"blocks": (hw.BlockSpec(factors=(hw.FactorSpec(param="p", levels=hw.ValueLevels(values=(0.1, 0.2))),)),)},
    ):
        with pytest.raises(hw.PlanError, match=f"unknown parameter.*{hint}"):
            hw.SweepSpec(model="made", **spec).plan(model.entry().schema())
    with pytest.raises(hw.ParamError, match=hint):
        model({"p": 0.1})
    with pytest.raises(hw.ParamError, match="did you mean 'rate'"):
        model({"rat": 0.1})


CELLS = {
    "bool (3, 4)": lambda shape: np.zeros(shape, bool),
    "int64 (3, 4)": lambda shape: np.full(shape, 300, np.int64),
    "float64 (3, 4)": np.zeros,
    "uint8 (4, 3)": lambda shape: np.zeros(shape[::-1], np.uint8),
    "a list": lambda shape: [[0] * shape[1]] * shape[0],
}


@pytest.mark.parametrize(("came", "make"), CELLS.items(), ids=list(CELLS))
def test_cells_that_hold_no_places_of_the_palette_are_refused_wherever_they_are_looked_at(
    came: str, make: Callable[..., Any]
) -> None:
    class Cells(hw.GridModel, width=4, height=3):
        """Assigns its cells in its start, or later."""

        late = hw.boolean(False)

        def setup(self) -> None:
            self.cells = self.cells if self.late else make(self.shape)

        def step_once(self) -> None:
            self.cells = make(self.shape)

        @hw.stat
        def one(self) -> int:
            return 1

    wrong = re.escape(
        f"model class Cells: self.cells is {came}; allowed: uint8 (3, 4); fill it in place, self.cells[:]"
    )
    with pytest.raises(ModelDefinitionError, match=wrong):
        Cells()
    model = Cells({"late": True})
    assert np.array_equal(model.grid, np.zeros((3, 4)))  # type: ignore[arg-type]
    model.step()
    with pytest.raises(ModelDefinitionError, match=wrong):
        model.stats()
    with pytest.raises(ModelDefinitionError, match=wrong):
        _ = model.grid


@pytest.mark.parametrize(
    ("name", "id"),
    [("ForestFire", "forest_fire"), ("SIR", "sir"), ("SIRModel", "sir_model"), ("Life3D", "life3_d"), ("_Own", "own")],
)
def test_an_id_is_made_of_the_name_of_the_class(name: str, id: str) -> None:
    assert model_id(name) == id
