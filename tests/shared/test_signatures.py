"""How the public calls are called: what may be left out goes by keyword, and a word means the same in each of them."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import henad_web as hw

BY_POSITION = {
    ("GridModel", "seed"),
    ("Model", "seed"),
    ("ModelEntry.build", "seed"),
    ("ResultSet.replay", "at"),
    ("SweepRun.resume_directory", "options"),
    ("SweepRun.resume_files", "options"),
    ("SweepRun.start", "options"),
    ("SweepRun.start", "output"),
    ("choice", "default"),
    ("grid_params", "height"),
}
"""What may be left out and still has a position, beside the matter of a call, which comes first."""

PLATFORM_CALLS = {
    "ResultSet.open",
    "SweepRun.resume_directory",
    "SweepRun.resume_files",
    "SweepRun.start",
    "merge",
    "plan_spec",
    "resume_sweep",
    "run_spec",
    "verify",
}


def public_calls() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield everything of the package that is called by a user, errors and words left out, by its name."""
    for name in hw.__all__:
        thing = getattr(hw, name)
        if not callable(thing) or getattr(thing, "__module__", "") == "typing":
            continue
        if not inspect.isclass(thing):
            yield name, thing
        elif not issubclass(thing, BaseException | enum.Enum) and not getattr(thing, "_is_protocol", False):
            yield name, thing
            for member, method in inspect.getmembers(thing, lambda it: inspect.isfunction(it) or inspect.ismethod(it)):
                if not member.startswith("_") and method.__module__.startswith("henad_web"):
                    yield f"{name}.{member}", method


def parameters_of(call: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of `call`, without the object it is called on."""
    return [each for each in inspect.signature(call).parameters.values() if each.name != "self"]


CALLS = dict(public_calls())


def test_the_calls_are_all_there() -> None:
    assert {"SweepRun.start", "ResultSet.open", "SweepSpec", "ModelEntry.build", "f32", "masked"} <= CALLS.keys()
    assert len(CALLS) > 120


def test_a_declaration_shows_how_it_stands_in_a_class() -> None:
    assert str(inspect.signature(hw.u32)).startswith("(default: 'int', min: 'int', max: 'int', *, label: 'str | None'")
    assert list(inspect.signature(hw.f64).parameters) == ["default", "min", "max", "label", "step", "apply", "format"]
    assert inspect.signature(hw.text).parameters["apply"].default is hw.Apply.RELOAD
    assert list(inspect.signature(hw.choice).parameters) == ["options", "default", "label", "apply"]


def test_what_may_be_left_out_goes_by_keyword() -> None:
    optional = {
        (name, each.name)
        for name, call in CALLS.items()
        for each in parameters_of(call)[1:]
        if each.default is not each.empty and each.kind is not each.KEYWORD_ONLY
    }
    assert optional == BY_POSITION


def test_a_target_is_the_last_word_of_every_call_that_reaches_a_platform() -> None:
    told = {name for name, call in CALLS.items() if any(each.name == "target" for each in parameters_of(call))}
    assert told == PLATFORM_CALLS
    for name in told:
        *_, last = parameters_of(CALLS[name])
        assert (last.name, last.kind, last.default) == ("target", last.KEYWORD_ONLY, None), name


def test_force_is_an_option_and_nothing_else() -> None:
    told = {name for name, call in CALLS.items() if any(each.name == "force" for each in parameters_of(call))}
    assert told == {"SweepRunOptions"}


def test_options_are_called_so_wherever_they_are_taken() -> None:
    for name, call in CALLS.items():
        for each in parameters_of(call):
            if "SweepRunOptions" in str(each.annotation):
                assert (each.name, each.default) == ("options", None), name
