"""What is kept of a failing model: phase, class, place in the model, message."""

from __future__ import annotations

import numpy as np
import pytest

from henad_web.model.faults import FAULTS, Fault, Phase, fault_of


def caught(raise_it: BaseException | None = None) -> BaseException:
    try:
        if raise_it is None:
            np.array([1, 2]).reshape(3)
        else:
            raise raise_it
    except FAULTS as fault:
        return fault
    raise AssertionError("nothing was raised")


def line_of(needle: str) -> int:
    with open(__file__, encoding="utf-8") as source:
        return next(number for number, line in enumerate(source, 1) if needle in line)


def test_a_fault_names_phase_class_place_and_message() -> None:
    fault = fault_of(Phase.STEPPING, caught(ZeroDivisionError("division by zero")), __file__)
    line = line_of("raise raise_it")
    assert fault.text == (
        f"while stepping the simulation, ZeroDivisionError at test_models_faults.py:{line}: division by zero"
    )
    assert (fault.file, fault.line) == ("test_models_faults.py", line)
    assert "ZeroDivisionError: division by zero" in fault.traceback


def test_the_place_is_the_models_own_line_and_not_one_inside_a_library() -> None:
    def key(number: int) -> int:
        return 1 // number

    try:
        sorted([1, 0], key=key)
    except ZeroDivisionError as error:
        inner = error
    assert fault_of(Phase.BUILDING, inner, __file__).line == line_of("return 1 // number")
    assert fault_of(Phase.BUILDING, inner, "elsewhere.py").line == line_of("return 1 // number")


def test_the_innermost_frame_serves_where_the_model_has_none() -> None:
    fault = fault_of(Phase.SWEEPING, caught(ValueError("no")), None)
    assert fault.line == line_of("raise raise_it")
    assert fault.text.startswith("while running the sweep, ValueError at ")


def test_library_frames_below_the_model_are_passed_over() -> None:
    try:
        np.broadcast_shapes((2,), (3,))
    except ValueError as error:
        fault = fault_of(Phase.STEPPING, error, __file__)
        anywhere = fault_of(Phase.STEPPING, error, None)
    assert fault.file == "test_models_faults.py"
    assert anywhere.file != "test_models_faults.py"


def test_an_exception_without_frames_has_no_place() -> None:
    fault = fault_of(Phase.BUILDING, KeyError("x"), __file__)
    assert (fault.file, fault.line) == (None, None)
    assert fault.text == "while building the model, KeyError: 'x'"


def test_a_message_stays_on_one_line() -> None:
    fault = fault_of(Phase.STEPPING, ValueError("a\nb\tc\x1b[0m"), None)
    assert fault.message == "a b c [0m"


def test_an_empty_message_leaves_the_place_at_the_end() -> None:
    assert fault_of(Phase.STEPPING, ValueError(), None).text == "while stepping the simulation, ValueError"


def test_a_message_that_cannot_be_made_is_no_second_fault() -> None:
    class Broken(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    fault = fault_of(Phase.STEPPING, Broken(), None)
    assert fault.message == "its message could not be made (RuntimeError)"


@pytest.mark.parametrize(
    ("error", "counts"), [(SystemExit(3), True), (MemoryError(), True), (KeyboardInterrupt(), False)]
)
def test_faults_are_exceptions_and_exits_but_no_interrupt(error: BaseException, counts: bool) -> None:
    assert isinstance(error, FAULTS) == counts


def test_faults_compare_by_value() -> None:
    fields = {"phase": Phase.STEPPING, "exception": "E", "file": "f", "line": 1, "message": "m", "traceback": "t"}
    assert Fault(**fields) == Fault(**fields)  # type: ignore[arg-type]
