"""What a model hands over is checked when it is taken: a wrong number, text or exception is one clear row.

Mutants that this file was seen to catch: a count that is not checked, columns that are not compared with the declared
ones, a note that is not cut, a `Blame` that keeps only `Exception`.
"""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import henad_web as hw
from henad_web.errors import ModelDefinitionError
from henad_web.model.params import choice
from henad_web.model.schema import Action, Stat
from henad_web.results.verifying import verify_results
from henad_web.targets import PumpedTarget
from tests.shared.hosts import Host
from tests.shared.toy_models import GREY, Toy, entry_of, toy_spec


def rows_of(files: dict[str, bytes]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files["runs.csv"].decode(), newline="")))


def read_back(entry: hw.ModelEntry, files: dict[str, bytes]) -> list[dict[str, str]]:
    """Return the rows of `files` once they have been opened, verified and gone on with, without the last of them."""
    results = hw.ResultSet.from_files(files, models=hw.ModelSet([entry]))
    assert verify_results(results, runs=99).is_equal
    cut = b"".join(files["runs.csv"].splitlines(keepends=True)[:-1])
    killed = files["manifest.json"].replace(b'"status": "complete"', b'"status": "running"')
    host = Host(PumpedTarget())
    for left in (files, {**files, "runs.csv": cut, "manifest.json": killed}):
        resumed = host.record(hw.SweepRun.resume_files(entry, left, target=host.target))
        assert hw.masked(resumed.files or {}) == hw.masked(files)
    return rows_of(files)


class Foreign(BaseException):
    """What a panic of foreign code derives from."""


LEAVES = [SystemExit, GeneratorExit, asyncio.CancelledError, Foreign, MemoryError, RecursionError]


def raising(method: str, error: type[BaseException], from_tick: int = 0) -> type[Toy]:
    """Return a model that raises in `method` from tick `from_tick` on."""

    def raises(self: Toy, *_arguments: object) -> Any:
        if self.tick >= from_tick:
            raise error("enough of this")
        return 8 if method == "population" else {"Ticks": 0.0}

    return type("Raising", (Toy,), {method: property(raises) if method == "population" else raises})


@pytest.mark.parametrize("error", LEAVES)
def test_whatever_a_step_raises_is_a_row(host: Host, error: type[BaseException]) -> None:
    entry = entry_of(raising("before_step", error, 4))
    rows = read_back(entry, host.files(entry, toy_spec(1, 2)))
    assert [row["status"] for row in rows] == ["panicked"] * 4
    assert {row["ticks"] for row in rows} == {"4"}
    assert all(f"while stepping the simulation, {error.__name__} at toy_models.py" in row["note"] for row in rows)


@pytest.mark.parametrize("error", LEAVES)
@pytest.mark.parametrize("method", ["stats", "population", "act"])
def test_whatever_is_raised_elsewhere_is_a_row_too(stepped: Host, method: str, error: type[BaseException]) -> None:
    entry = entry_of(raising(method, error, 4), actions=("mark",))
    spec = toy_spec(1, actions=(hw.ActionSpec(id="mark", tick=5),)) if method == "act" else toy_spec(1)
    rows = read_back(entry, stepped.files(entry, spec))
    assert {(row["status"], row["ticks"]) for row in rows} == {("panicked", "5" if method == "act" else "4")}


def test_only_a_build_can_be_refused(stepped: Host) -> None:
    """A refused run has no samples, and a resume counts on that."""
    entry = entry_of(raising("before_step", hw.RefusedBuild))
    rows = read_back(entry, stepped.files(entry, toy_spec(1)))
    assert {(row["status"], row["ticks"], row["population"]) for row in rows} == {("panicked", "0", "8")}


@pytest.mark.parametrize("error", LEAVES)
def test_a_build_may_raise_anything(stepped: Host, error: type[BaseException]) -> None:
    class Unbuilt(Toy):
        def __init__(self, params: Any, seed: int | None) -> None:
            super().__init__(params, seed)
            if self.value == 0:
                raise error

    entry = entry_of(Unbuilt)
    rows = read_back(entry, stepped.files(entry, toy_spec(0, 1)))
    assert [row["status"] for row in rows] == ["panicked", "panicked", "ok", "ok"]


@pytest.mark.parametrize("built", [None, 7, "text", object()], ids=lambda built: type(built).__name__)
def test_a_factory_that_returns_no_state_is_a_row(stepped: Host, built: Any) -> None:
    entry = entry_of(lambda params, seed: built if params["value"] == 0 else Toy(params, seed))
    run = stepped.start(entry, toy_spec(0, 1))
    for _ in range(1000):
        run.update(0.1, budget_s=0.0)
    rows = read_back(entry, stepped.record(run).files or {})
    assert [row["status"] for row in rows] == ["panicked", "panicked", "ok", "ok"]
    if built is None:
        words = "the factory of model 'toy' returned nothing; it returns the state"
        assert rows[0]["note"].startswith("while building the model, ModelDefinitionError at ")
        assert rows[0]["note"].endswith(words)


def test_an_interrupt_inside_a_model_is_the_user_s_where_frames_are_lent(stepped: Host) -> None:
    run = stepped.start(entry_of(raising("before_step", KeyboardInterrupt, 3)), toy_spec(1))
    with pytest.raises(KeyboardInterrupt):
        stepped.drain(run)
    events = list(iter(run.try_recv, None))
    assert isinstance(events[-1], hw.Failed)
    assert "while running the sweep, KeyboardInterrupt" in events[-1].message
    run.update(0.1)
    assert run.try_recv() is None


WRONG_COUNTS = [-5, 2**63, 2.5, float("nan"), True, np.True_, "many", None, 10**5000, [1]]


@pytest.mark.parametrize("value", WRONG_COUNTS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", ["population", "tick", "heap_bytes", "parallel_jobs"])
def test_a_number_that_is_no_count_is_a_shape_error(stepped: Host, name: str, value: Any) -> None:
    if name == "parallel_jobs" and value is None:
        return  # a model that does not say
    shown = property(lambda self: value, lambda self, given: None)
    entry = entry_of(type("Wrong", (Toy,), {name: shown, "stats": lambda self: {"Ticks": 0.0}}))
    rows = read_back(entry, stepped.files(entry, toy_spec(1, 2)))
    assert {(row["status"], row["stop_reason"], row["ticks"]) for row in rows} == {("shape_error", "fault", "0")}
    assert all(row["note"].startswith(f"the model's {name} is ") for row in rows)
    assert all("; allowed: a whole number from 0 to 2^63 - 1; it was read at tick 0" in row["note"] for row in rows)


@pytest.mark.parametrize("value", [np.int64(7), np.uint8(7), np.float64(7), 7.0, np.array(7)])
def test_numpy_s_numbers_are_counts(stepped: Host, value: Any) -> None:
    entry = entry_of(type("Counted", (Toy,), {"population": value, "heap_bytes": value, "parallel_jobs": value}))
    rows = read_back(entry, stepped.files(entry, toy_spec(1)))
    assert {(row["status"], row["population"]) for row in rows} == {("ok", "7")}


def test_a_count_that_goes_wrong_on_the_way_keeps_the_samples_before_it(stepped: Host) -> None:
    class Sinks(Toy):
        @property
        def population(self) -> int:  # type: ignore[override]
            return 5 - self.tick

    entry = entry_of(Sinks)
    files = stepped.files(entry, toy_spec(1))
    rows = read_back(entry, files)
    assert {(row["ticks"], row["population"]) for row in rows} == {("6", "1")}
    assert files["series.csv"].decode().splitlines()[1:4] == ["0,0,0", "0,2,2", "0,4,4"]


WRONG_STATS: list[tuple[Any, str]] = [
    ({"A": 1.0}, "are not those of its columns at tick 0: expected A, B, got A; missing: 'B'"),
    (
        {"A": 1.0, "B": 2.0, "C": 3.0},
        "are not those of its columns at tick 0: expected A, B, got A, B, C; not expected: 'C'",
    ),
    ({"A": 1.0, "C": 2.0}, "expected A, B, got A, C; missing: 'B'; not expected: 'C'"),
    ({}, "expected A, B, got none; missing: 'A', 'B'"),
    ({"A": 1.0, "B": None}, "the statistic 'B' is None at tick 0, expected a number"),
    ({"A": "6.0", "B": 1.0}, "the statistic 'A' is the text '6.0' at tick 0, expected a number"),
    ({"A": "x" * 140_000, "B": 1.0}, f"the statistic 'A' is the text '{'x' * 79}… at tick 0, expected a number"),
    ({"A": 1.0, "B": [2.0]}, "the statistic 'B' is a value of type list at tick 0, expected a number"),
    ({"A": 1.0, "B": 2j}, "the statistic 'B' is 2j at tick 0, expected a number"),
    (None, "are no dict at tick 0: expected A, B, got NoneType"),
    ([1.0, 2.0], "are no dict at tick 0: expected A, B, got list"),
    ("AB", "are no dict at tick 0: expected A, B, got str"),
    ({"A": 1.0, 3: 2.0}, "expected A, B, got A, 3"),
    ({"A": 1.0, object(): 2.0}, "expected A, B, got A, a name of type object"),
    ({"A": 1.0, "B\ud800": 2.0}, "expected A, B, got A, B"),
]


@pytest.mark.parametrize(("stats", "words"), WRONG_STATS)
def test_statistics_that_are_not_the_declared_ones_are_one_clear_row(stepped: Host, stats: Any, words: str) -> None:
    entry = entry_of(type("Strange", (Toy,), {"stats": lambda self: stats}), stats=("A", "B"))
    files = stepped.files(entry, toy_spec(1, 2))
    rows = read_back(entry, files)
    assert {(row["status"], row["ticks"], row["population"]) for row in rows} == {("shape_error", "0", "0")}
    assert all(words in row["note"] for row in rows), rows[0]["note"]
    assert files["series.csv"] == b"run_id,tick,A,B\n", "no columns but the declared ones"
    assert [name for name in rows[0] if ":" in name][:4] == ["A:final", "A:min", "A:max", "A:mean"]


def test_the_probe_takes_its_columns_from_a_config_whose_statistics_are_the_declared_ones(stepped: Host) -> None:
    class Sometimes(Toy):
        def stats(self) -> dict[str, float]:
            return {"P.x": 1.0, "P.y": 2.0} if self.value == 7 else {"Q": 1.0}

    entry = entry_of(Sometimes, stats=("P",))
    files = stepped.files(entry, toy_spec(1, 7, 2))
    rows = read_back(entry, files)
    assert [row["status"] for row in rows] == ["shape_error"] * 2 + ["ok"] * 2 + ["shape_error"] * 2
    assert files["series.csv"].startswith(b"run_id,tick,P.x,P.y\n")


def test_an_order_of_their_own_is_the_model_s(stepped: Host) -> None:
    entry = entry_of(type("Turned", (Toy,), {"stats": lambda self: {"B": 1.0, "A": 2.0}}), stats=("A", "B"))
    files = stepped.files(entry, toy_spec(1))
    assert {row["status"] for row in read_back(entry, files)} == {"ok"}
    assert files["series.csv"].startswith(b"run_id,tick,B,A\n")


@pytest.mark.parametrize("letters", [140_000, 2_001])
def test_a_long_message_is_cut_with_a_mark(stepped: Host, letters: int) -> None:
    class Chatty(Toy):
        def before_step(self) -> None:
            raise ValueError("x" * letters)

    entry = entry_of(Chatty)
    rows = read_back(entry, stepped.files(entry, toy_spec(1)))
    assert rows[0]["note"].endswith(f": {'x' * 2000}… (cut, {letters} characters)")


def test_a_message_as_long_as_is_allowed_stays_whole(stepped: Host) -> None:
    class Chatty(Toy):
        def before_step(self) -> None:
            raise ValueError("x" * 2000)

    rows = rows_of(stepped.files(entry_of(Chatty), toy_spec(1)))
    assert rows[0]["note"].endswith("x" * 2000)


def test_many_refusals_are_cut_and_the_end_is_still_told(stepped: Host) -> None:
    actions = tuple(hw.ActionSpec(id="mark", tick=1, name=f"mark_{number}") for number in range(500))
    entry = entry_of(raising("before_step", ValueError, 3), actions=("mark",))
    rows = read_back(entry, stepped.files(entry, toy_spec(1, actions=actions)))
    refused, _, fault = rows[0]["note"].partition("… (cut, ")
    assert refused.startswith("model refused action 'mark' at tick 1; model refused")
    assert "while stepping the simulation, ValueError" in fault


def no_text(self: BaseException) -> str:
    raise Foreign


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (type("Mute", (Exception,), {"__str__": no_text}), "its message could not be made (Foreign)"),
        (type("Odd name\n, ", (Exception,), {"__str__": lambda self: "a\ud800\x00\nb"}), "a   b"),
    ],
)
def test_a_strange_exception_is_a_note_of_one_line(stepped: Host, error: type[Exception], told: str) -> None:
    entry = entry_of(raising("before_step", error))
    rows = read_back(entry, stepped.files(entry, toy_spec(1)))
    assert rows[0]["note"].endswith(told)
    assert rows[0]["note"].isprintable()


@pytest.mark.parametrize("grid", ["text", [[1, 2], [3]], np.zeros(4), np.zeros((2, 2, 2)), object(), (1 for _ in "a")])
def test_a_grid_that_is_none_is_not_shown(host: Host, grid: Any) -> None:
    entry = entry_of(type("Askew", (Toy,), {"grid": grid}))
    run = host.start(entry, toy_spec(1, steps=1_000_000_000))
    host.until(run, lambda: run.view() is not None)
    view = run.view()
    assert view is not None
    assert view.grid is None


def test_a_view_is_a_copy_of_the_grid(host: Host) -> None:
    class Shown(Toy):
        @property
        def grid(self) -> NDArray[np.uint8]:
            return np.ones((2, 4), np.uint8)

    run = host.start(entry_of(Shown), toy_spec(1, steps=1_000_000_000))
    host.until(run, lambda: run.view() is not None)
    view = run.view()
    assert view is not None
    assert view.grid is not None
    assert view.grid.tolist() == [[1] * 4] * 2


TOO_LONG = "x" * 201
NAMED: dict[str, Callable[[hw.ModelEntry, str], hw.ModelEntry]] = {
    "the name": lambda entry, name: replace(entry, name=name),
    "the statistic": lambda entry, name: replace(entry, stats=(Stat(name, GREY),)),
    "the action": lambda entry, name: replace(entry, actions=(Action(name, "Burn"),)),
    "the label of action 'burn'": lambda entry, name: replace(entry, actions=(Action("burn", name),)),
    "an option of parameter 'rule'": lambda entry, name: replace(entry, params=(choice("rule", "Rule", ("a", name)),)),
    "the label of parameter 'value'": lambda entry, name: replace(
        entry, params=(replace(entry.params[0], label=name),)
    ),
}


@pytest.mark.parametrize("what", NAMED)
@pytest.mark.parametrize(
    ("name", "wrong"),
    [("x" * 140_000, "has 140000 characters; allowed: up to 200"), ("a\x00b", r"holds the character U\+0000; allowed")],
)
def test_a_name_that_no_table_can_hold_is_refused_at_its_definition(what: str, name: str, wrong: str) -> None:
    with pytest.raises(ModelDefinitionError, match=f"model 'toy': {what} .* {wrong}") as caught:
        NAMED[what](entry_of(Toy), name)
    assert len(str(caught.value)) < 250
    for fine in ("x" * 200, 'a, "b"', "two\nlines", "Größe 木"):
        NAMED[what](entry_of(Toy), fine)


def test_an_id_has_a_length_too() -> None:
    with pytest.raises(ModelDefinitionError, match="is malformed"):
        entry_of(Toy, id="x" * 201)
    assert entry_of(Toy, id="x" * 200).id == "x" * 200
