"""A function as a model: what it yields is a run, and what is wrong with it is told.

Mutants seen red: the first row is tick 1; a generator is asked for the row behind the last step; a mapping is taken in
its own order; a row of the wrong length is cut; the end is not told; a first row that is wrong fails the probe.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import henad_web as hw
from henad_web.errors import ModelDefinitionError, StatsShapeError
from tests.shared.hosts import Host
from tests.shared.test_cursor import comparable, cursor_of, forever, run_in_slices
from tests.shared.test_handed_over import rows_of

PARAMS: Mapping[str, Any] = {"kept": hw.f64(0.5, min=0, max=1), "rows": hw.u32(4, min=0, max=100)}


def decay(params: dict[str, Any], seed: int | None) -> Iterator[list[float]]:
    """A number that is halved.

    It begins at 8.
    """
    left = 8.0
    for row in range(params["rows"]):
        yield [left, float(row)]
        left *= params["kept"]


DECAY = hw.from_function(decay, params=PARAMS, stats=["left", "row"])


def spec_of(*rows: int, id: str = "decay", steps: int = 10, every: int = 2) -> hw.SweepSpec:
    factor = hw.FactorSpec(param="rows", levels=hw.ValueLevels(values=rows))
    return hw.SweepSpec(
        model=id,
        run=hw.RunSettings(steps=steps),
        measure=hw.MeasureSettings(stats_every=every, series_every=every),
        blocks=(hw.BlockSpec(factors=(factor,)),),
    )


def outcome_of(function: Callable[[dict[str, Any], Any], object], *stats: str, every: int = 2) -> hw.RunOutcome:
    """Return the outcome of a run of ten steps, having made sure that it is the same in all slices."""
    entry = hw.from_function(function, params=PARAMS, stats=stats, id="decay")
    first, *others = (
        run_in_slices(cursor_of(entry, spec_of(4, every=every), stats), forever(*sizes))
        for sizes in ((1,), (1000,), (3, 2))
    )
    assert all(comparable(other) == comparable(first) for other in others)
    return first


def test_an_entry_is_made_of_the_function() -> None:
    assert (DECAY.id, DECAY.name, DECAY.description) == ("decay", "Decay", "A number that is halved.")
    assert [param.id for param in DECAY.params] == ["kept", "rows"]
    assert DECAY.schema().stat_labels == ("left", "row")
    red = hw.Stat("left", (255, 0, 0, 255))
    named = hw.from_function(
        functools.partial(lambda more, params, seed: more, (1.0,)),
        id="named",
        name="A name",
        description="What it is.",
        stats=[red],
        params=[hw.u32("size", "Size", 3, 1, 9)],
        portable=False,
    )
    assert (named.id, named.name, named.description, named.stats) == ("named", "A name", "What it is.", (red,))
    assert named.params == (hw.u32("size", "Size", 3, 1, 9),)
    assert not named.metadata.portable
    assert named.build().stats() == {"left": 1.0}


@pytest.mark.parametrize(
    ("rows", "ticks", "reason"),
    [
        (1, [0], "condition"),
        (4, [0, 2, 3], "condition"),
        (5, [0, 2, 4], "condition"),
        (11, [*range(0, 11, 2)], "steps"),
    ],
)
def test_the_first_row_is_tick_0_and_the_last_one_the_end(host: Host, rows: int, ticks: list[int], reason: str) -> None:
    results = hw.ResultSet.from_files(host.files(DECAY, spec_of(rows, rows + 30)), models=DECAY)
    run, longer = results.runs.run(0), results.runs.run(1)
    assert (run.ticks, run.status, run.stop_reason) == (ticks[-1], hw.RunStatus.OK, hw.StopReason(reason))
    assert (longer.ticks, longer.stop_reason) == (10, hw.StopReason.STEPS)
    series = results.series(0)
    assert series.ticks.tolist() == ticks
    assert series.values.tolist() == [[8.0 * 0.5**tick, float(tick)] for tick in ticks]
    state = results.replay(0, "end")
    assert (state.tick, state.stats()["row"]) == (ticks[-1], float(ticks[-1]))
    assert hw.verify_results(results, runs=2).is_equal


def test_no_row_is_asked_for_behind_the_last_step() -> None:
    asked: list[int] = []

    def endless(params: Mapping[str, Any], seed: int | None) -> Iterator[float]:
        while True:
            asked.append(1)
            yield 1.0

    assert outcome_of(endless, "one").ticks == 10
    assert len(asked) == 3 * 11


def given(row: object, params: Mapping[str, Any], seed: int | None) -> object:
    return row


def test_what_is_returned_is_tick_0() -> None:
    for row in ([1.5, 2], (1.5, 2), {"b": 2, "a": 1.5}, np.array([1.5, 2.0])):
        outcome = outcome_of(functools.partial(given, row), "a", "b")
        assert (outcome.ticks, outcome.stop_reason) == (0, hw.StopReason.CONDITION)
        assert (outcome.reducers["a:final"], outcome.reducers["b:final"]) == (1.5, 2.0)
    for number in (3, 3.0, np.float32(3), np.int64(3)):
        assert outcome_of(functools.partial(given, number), "a").reducers["a:final"] == 3.0


def test_a_row_may_be_one_list_that_changes() -> None:
    def counts(params: Mapping[str, Any], seed: int | None) -> Iterator[list[int]]:
        row = [0]
        while True:
            yield row
            row[0] += 1

    outcome = outcome_of(counts, "count")
    assert outcome.series.values[:, 0].tolist() == [0, 2, 4, 6, 8, 10]


def test_columns_of_a_statistic_come_by_name() -> None:
    def moves(params: Mapping[str, Any], seed: int | None) -> Iterator[dict[str, float]]:
        yield from ({"place.x": float(x), "place.y": 2.0} for x in range(20))

    entry = hw.from_function(moves, params=PARAMS, stats=["place"], id="decay")
    cursor = cursor_of(entry, spec_of(1), ("place.x", "place.y"))
    assert run_in_slices(cursor, forever(3)).reducers["place.x:max"] == 10.0


def rows_then(*rows: object) -> Callable[[dict[str, Any], Any], object]:
    """Return a function whose first two rows are right and the rest `rows`."""

    def yields(params: Mapping[str, Any], seed: int | None) -> Iterator[object]:
        yield from ([1.0, 2.0], [1.0, 2.0], *rows, [1.0, 2.0])

    return yields


WRONG = {
    "short": ([1.0], "statistics are a row of 1 in place of 2 at tick 2: expected a, b, got none"),
    "long": ([1, 2, 3], "statistics are a row of 3 in place of 2 at tick 2: expected a, b, got none"),
    "other names": ({"a": 1, "c": 2}, "statistics changed shape at tick 2: expected a, b, got a, c; missing: 'b'; not"),
    "nothing": (None, "statistics are None, which is no row at tick 2"),
    "a text": ("12", "statistics are '12', which is no row at tick 2"),
    "a number of two": (1.0, "statistics are 1.0, which is no row at tick 2"),
    "no number": ([1.0, "x"], "the statistic 'b' is the text 'x' at tick 2, expected a number"),
    "a table": (np.zeros((2, 2)), "statistics are a value of type ndarray, which is no row at tick 2"),
}


@pytest.mark.parametrize(("row", "note"), WRONG.values(), ids=list(WRONG))
def test_a_wrong_row_is_told_with_its_tick(row: object, note: str) -> None:
    outcome = outcome_of(rows_then(row), "a", "b")
    assert (outcome.status, outcome.ticks, outcome.stop_reason) == (hw.RunStatus.SHAPE_ERROR, 2, hw.StopReason.FAULT)
    assert outcome.note.startswith(note)


def test_a_first_row_that_is_wrong_is_a_row_of_the_sweep_too(host: Host) -> None:
    entry = hw.from_function(lambda params, seed: iter([[1.0]]), stats=["a", "b"], id="short")
    (row,) = rows_of(host.files(entry, hw.SweepSpec(model="short", run=hw.RunSettings(steps=3))))
    assert row["status"] == hw.RunStatus.SHAPE_ERROR
    assert row["note"].startswith("statistics are a row of 1 in place of 2 at tick 0")


def test_a_row_that_nobody_samples_is_not_looked_at() -> None:
    assert outcome_of(rows_then(None), "a", "b", every=3).status is hw.RunStatus.OK


def test_a_generator_without_a_row_is_told() -> None:
    outcome = outcome_of(lambda params, seed: iter(()), "a")
    assert (outcome.status, outcome.ticks) == (hw.RunStatus.SHAPE_ERROR, 0)
    assert outcome.note.startswith("statistics have no row at tick 0")
    with pytest.raises(StatsShapeError, match="have no row"):
        DECAY.build({"rows": 0}).stats()


def test_an_error_between_rows_has_the_place_in_the_function(host: Host) -> None:
    def fails(params: Mapping[str, Any], seed: int | None) -> Iterator[list[float]]:
        yield from ([1.0], [1.0], [1.0])
        raise ValueError("no more")

    entry = hw.from_function(fails, params=PARAMS, stats=["a"], id="decay")
    results = hw.ResultSet.from_files(host.files(entry, spec_of(1)), models=entry)
    run = results.runs.run(0)
    assert (run.status, run.ticks) == (hw.RunStatus.PANICKED, 2)
    assert run.note.startswith("while stepping the simulation, ValueError at test_functions.py:")


def test_memory_is_that_of_a_generators_variables() -> None:
    def holds(params: Mapping[str, Any], seed: int | None) -> Iterator[float]:
        cells = np.zeros(100_000, np.uint8)
        while True:
            yield float(cells.sum())

    assert 100_000 < hw.from_function(holds, stats=["sum"]).build().heap_bytes < 110_000


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no function": ({"function": 7}, "the function is 7, which cannot be called"),
    "one argument": ({"function": lambda params: 1}, "does not take them: too many positional arguments; it is called"),
    "no name": ({"function": lambda params, seed: 1}, "<lambda> has no name that could be an id; give it one: id="),
    "an id that is none": ({"id": "My model"}, "model id 'My model' is malformed"),
    "one text": ({"stats": "left"}, "stats is 'left'; allowed: a list of labels or of hw.Stat"),
    "a statistic that is none": ({"stats": ["left", 3]}, "the statistic 3 is neither a label nor a hw.Stat"),
    "a statistic twice": ({"stats": ["left", "left"]}, "declares the statistic 'left' twice"),
    "a value for a parameter": ({"params": {"kept": 0.5}}, "the parameter 'kept' is none; write params={"),
    "a parameter without its id": ({"params": [hw.f64(0.5, 0, 1)]}, "is none; write params={"),
    "a default out of range": ({"params": {"kept": hw.f64(2, 0, 1)}}, "parameter 'kept': default 2.0 is not within"),
}


@pytest.mark.parametrize(("changes", "wrong"), REFUSED.values(), ids=list(REFUSED))
def test_a_function_that_is_no_model_is_refused(changes: dict[str, Any], wrong: str) -> None:
    given: dict[str, Any] = {"function": decay, "stats": ["left"], "params": PARAMS, **changes}
    with pytest.raises(ModelDefinitionError) as caught:
        hw.from_function(given.pop("function"), **given)
    assert wrong in str(caught.value)


def test_a_coroutine_is_refused() -> None:
    async def later(params: Mapping[str, Any], seed: int | None) -> list[float]:
        return [1.0]

    async def rows(params: Mapping[str, Any], seed: int | None) -> Any:
        yield [1.0]

    for function in (later, rows):
        with pytest.raises(ModelDefinitionError, match="is async, so calling it does nothing"):
            hw.from_function(function, stats=["a"])
