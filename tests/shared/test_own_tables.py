"""Tables of a model's own: which rows a run leaves in them, whoever runs it, and that they change nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

import henad_web as hw
from henad_web.explore.table_sampler import row_texts
from henad_web.model.tables import table_columns
from henad_web.run.control import SliceSize
from henad_web.run.cursor import RunCursor
from henad_web.run.lane_messages import EndedRun
from henad_web.run.requests import RunRequest
from tests.shared.hosts import Host
from tests.shared.table_models import AGENTS, HERD, Herd, HerdRows, UntoldRows, batched, herd_spec
from tests.shared.toy_models import Toy, entry_of

FOUR = ["runs.csv", "series.csv", "summary.csv", "manifest.json"]
OWN = ["tables/agents.csv", "tables/edges.csv", "tables/rows.csv"]


def herd_of(table: Any, base: type[Toy] = Toy) -> hw.ModelEntry:
    """Return a model with the table ``agents`` of one column, where `table` is the state's method."""
    state = type("State", (base,), {"table": table})
    return replace(entry_of(state), tables=(hw.Table("agents", {"wealth": "f64"}),))


def test_rows_stand_at_the_cadence_and_at_the_end_of_a_run(stepped: Host) -> None:
    files = stepped.files(HERD, herd_spec((1, 0)))
    assert list(files) == [*FOUR, *OWN]
    assert files["tables/edges.csv"] == b"run_id,tick,a,b\n0,5,0,1\n1,5,0,1\n"
    assert files["tables/rows.csv"] == b"run_id,agents,edges\n0,7,1\n1,7,1\n2,4,0\n3,4,0\n"
    first, *_ = files["tables/agents.csv"].split(b"\n1,0,0,")
    assert first.decode() == (
        "run_id,tick,id,wealth,age,mood,alive\n"
        "0,0,0,0,0,calm,true\n"
        '0,0,1,0.3333333333333333,0.33333334,"says ""12,\n0,",false\n'
        "0,0,2,,0.6666667,,true\n"
        "0,2,0,0.6666666666666666,0,calm,true\n"
        "0,4,0,1.3333333333333333,0,calm,true\n"
        '0,4,1,1.6666666666666667,0.33333334,"says ""12,\n0,",false\n'
        "0,4,2,,0.6666667,,true"
    )


def test_without_a_cadence_they_stand_at_the_end_of_a_run_alone(stepped: Host) -> None:
    at_end = stepped.files(HERD, herd_spec((1, 0), every=None, steps=6))
    assert at_end["tables/rows.csv"] == b"run_id,agents,edges\n0,1,0\n1,1,0\n2,0,0\n3,0,0\n", "a fault is no end"
    stop = hw.StopSpec(column="Ticks", comparison=">=", threshold=1)
    stopped = stepped.files(HERD, herd_spec((0,), every=None, stop=stop))
    assert stopped["tables/edges.csv"] == b"run_id,tick,a,b\n0,1,0,0\n1,1,0,0\n"


def test_they_change_no_other_result(stepped: Host) -> None:
    without = hw.masked(stepped.files(HERD, herd_spec(tables=(), every=None)))
    assert list(without) == FOUR
    files = hw.masked(stepped.files(HERD, herd_spec()))
    assert [name for name in FOUR if files[name] != without[name]] == ["manifest.json"]
    manifests = [msgspec.json.decode(given["manifest.json"]) for given in (files, without)]
    assert manifests[0]["plan"] == manifests[1]["plan"]
    assert manifests[0]["columns"].pop("tables") == {"agents": dict(AGENTS.columns), "edges": {"a": "i64", "b": "i64"}}
    assert manifests[0]["columns"] == manifests[1]["columns"]
    one = stepped.files(HERD, herd_spec(tables=("edges",)))
    assert (list(one), one["tables/edges.csv"]) == ([*FOUR, *OWN[1:]], files["tables/edges.csv"])


def test_a_model_is_asked_for_no_table_that_no_spec_asks_for(stepped: Host) -> None:
    def table(self: Toy, name: str) -> object:
        raise AssertionError(name)

    assert stepped.record(stepped.start(herd_of(table), herd_spec(tables=(), every=None))).report.counts.ok == 6


@pytest.mark.parametrize("steps", [1, 2, 1000])
def test_every_host_and_slice_leaves_the_same_rows(
    host: Host, stepped: Host, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    whole = hw.masked(stepped.files(HERD, herd_spec()))
    monkeypatch.setattr(SliceSize, "within", lambda self, time_left_s: steps)
    assert hw.masked(host.files(HERD, herd_spec())) == whole


@pytest.mark.parametrize("rows", [HerdRows, UntoldRows])
@pytest.mark.parametrize("stop", [None, hw.StopSpec(column="Ticks", comparison=">=", threshold=3)])
@pytest.mark.parametrize("every", [2, None])
def test_rows_do_not_depend_on_the_batch(
    host: Host, stepped: Host, rows: type[HerdRows], stop: hw.StopSpec | None, every: int | None
) -> None:
    spec = herd_spec(replicates=5, stop=stop, every=every)
    expected = hw.masked(stepped.files(HERD, spec, batches=False))
    assert hw.masked(host.files(batched(rows), spec)) == expected


WRONG = {
    "nothing": (None, "the table 'agents' is None at tick 0, expected a mapping of columns to arrays"),
    "another column": (
        {"welth": [1.0]},
        "the table 'agents' has other columns (missing: 'wealth'; not expected: 'welth') at tick 0, expected wealth",
    ),
    "one more": (
        {"wealth": [1.0], 3: [2]},
        "the table 'agents' has other columns (not expected: '3') at tick 0, expected wealth",
    ),
    "no array": (
        {"wealth": 1.0},
        "the column 'wealth' of the table 'agents' is 1.0 at tick 0, expected numbers, one a row",
    ),
    "two axes": (
        {"wealth": np.zeros((2, 3))},
        "the column 'wealth' of the table 'agents' has the shape (2, 3) at tick 0, expected numbers, one a row",
    ),
    "ragged": (
        {"wealth": [[1.0], [1.0, 2.0]]},
        "the column 'wealth' of the table 'agents' is a value of type list at tick 0, expected numbers, one a row",
    ),
    "texts": (
        {"wealth": ["1"]},
        "the column 'wealth' of the table 'agents' holds str32 values at tick 0, expected numbers, one a row",
    ),
    "complex numbers": (
        {"wealth": np.ones(1, np.complex128)},
        "the column 'wealth' of the table 'agents' holds complex128 values at tick 0, expected numbers, one a row",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_table_is_a_row_that_names_it_and_the_sweep_goes_on(stepped: Host, what: str) -> None:
    came, note = WRONG[what]

    def table(self: Toy, name: str) -> object:
        return came if self.value == 0 else {"wealth": [float(self.tick)]}

    files = stepped.files(herd_of(table), herd_spec((1, 0, 2), tables=("agents",), replicates=1))
    results = hw.ResultSet.from_files(files)
    assert results.runs["status"].tolist() == ["ok", "shape_error", "ok"]
    assert results.runs.run(1).note == note
    assert files["tables/rows.csv"] == b"run_id,agents\n0,4\n1,0\n2,4\n"


KINDS: dict[str, tuple[Any, list[str], Any]] = {
    "f64": ([True, 2, 2.5], ["1", "2", "2.5"], ["a"]),
    "f32": ([0.1, 1e30, 1e300], ["0.1", "1000000000000000000000000000000", ""], [b"a"]),
    "i64": (np.array([0, 7], np.uint64), ["0", "7"], [1.0]),
    "bool": ([True, False], ["true", "false"], [0, 1]),
    "text": (["é", "", 'a"b'], ["é", "", '"a""b"'], ["a", None]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_column_takes_what_it_can_hold(kind: str) -> None:
    right, cells, wrong = KINDS[kind]
    table = hw.Table("agents", {"x": kind})
    nothing: list[Any] = []
    for came in (right, nothing):
        found = row_texts(table, table_columns(table, 4, {"x": came}), 12, 4).decode()
        assert found == "".join(f"12,4,{cell}\n" for cell in cells[: len(came)])
    with pytest.raises(hw.HenadError, match=r"the column 'x' of the table 'agents' .* at tick 4, expected"):
        table_columns(table, 4, {"x": wrong})
    if kind == "i64":
        with pytest.raises(hw.HenadError, match="holds 18446744073709551615"):
            table_columns(table, 4, {"x": np.array([2**64 - 1], np.uint64)})


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(hw.HenadError, match=r"different lengths \('a' 1, 'b' 2\) at tick 3, expected one length"):
        table_columns(hw.Table("edges", {"a": "i64", "b": "i64"}), 3, {"a": [1], "b": [1, 2]})


def test_half_of_a_surrogate_pair_becomes_a_question_mark() -> None:
    table = hw.Table("agents", {"x": "text"})
    assert row_texts(table, table_columns(table, 0, {"x": ["a\ud800"]}), 0, 0) == b"0,0,a?\n"


def test_no_table_of_a_tick_is_taken_where_one_is_wrong(stepped: Host) -> None:
    class Lapses(Herd):
        def table(self, name: str) -> Any:
            return {} if name == "edges" and self.tick == 4 else super().table(name)

    files = stepped.files(replace(entry_of(Lapses), tables=HERD.tables), herd_spec((1,), replicates=1))
    assert files["tables/rows.csv"] == b"run_id,agents,edges\n0,4,0\n"
    row = hw.ResultSet.from_files(files).runs.run(0)
    assert (row.status, row.ticks) == ("shape_error", 4)
    assert row.note.startswith("the table 'edges' has other columns (missing: 'a', 'b') at tick 4")


def test_what_a_table_raises_is_a_fault_of_the_model(stepped: Host) -> None:
    def table(self: Toy, name: str) -> object:
        raise LookupError(name)

    row = hw.ResultSet.from_files(stepped.files(herd_of(table), herd_spec(tables=("agents",)))).runs.run(0)
    assert row.status == "panicked"
    assert "LookupError at test_own_tables.py" in row.note


@pytest.mark.parametrize("rows", [1, 8])
def test_a_state_without_the_method_is_told_so(stepped: Host, rows: int) -> None:
    entry = replace(entry_of(Toy), tables=HERD.tables)
    if rows > 1:
        entry = replace(entry, batches=batched(UntoldRows).batches)
    row = hw.ResultSet.from_files(stepped.files(entry, herd_spec())).runs.run(0)
    wrong = "the table 'agents' is not there: the state of the model has no method table(…) at tick 0"
    assert (row.status, row.note) == ("shape_error", wrong)


def test_a_run_done_again_to_find_its_fault_leaves_its_rows_once(stepped: Host) -> None:
    """The fault of value 0 is in the step from tick 3: a first attempt of five steps at once has told it already."""
    spec = herd_spec((0,), replicates=1)
    spec = msgspec.structs.replace(spec, measure=msgspec.structs.replace(spec.measure, stats_every=2))
    files = stepped.files(HERD, spec)
    assert files["tables/rows.csv"] == b"run_id,agents,edges\n0,4,0\n"


def outcome_of(spec: hw.SweepSpec) -> tuple[hw.RunOutcome, RunCursor, Any]:
    from henad_web.explore.measure import MeasurePlan  # noqa: PLC0415 - only here

    plan = spec.plan(HERD.schema())
    measure = MeasurePlan.bind(plan, ("Ticks",))
    cursor = RunCursor(HERD, measure, RunRequest.of(plan, plan.run(0)), lambda: 0.0)
    while (outcome := cursor.advance(100)) is None:
        pass
    return outcome, cursor, measure


def test_a_lane_elsewhere_sends_them_whole() -> None:
    outcome, cursor, measure = outcome_of(herd_spec())
    assert {id: table.rows for id, table in outcome.tables.items()} == {"agents": 7, "edges": 1}
    assert EndedRun.of(outcome).outcome(cursor.request, measure).tables == outcome.tables


@pytest.mark.parametrize("budget", [0, 10**6])
def test_events_carry_them_as_far_as_the_series_budget_goes(stepped: Host, budget: int) -> None:
    spec = herd_spec((1,), replicates=1)
    spec = msgspec.structs.replace(spec, measure=msgspec.structs.replace(spec.measure, series_every=0))
    events = stepped.drain(stepped.start(HERD, spec, series_budget=budget))
    (finished,) = (event for event in events if isinstance(event, hw.RunFinished))
    assert finished.series_dropped is (budget == 0)
    assert {id: table.rows for id, table in finished.outcome.tables.items()} == (
        {"agents": 7, "edges": 1} if budget else {}
    )
    assert isinstance(events[-1], hw.Finished)
    assert events[-1].record.files is not None
    assert len(events[-1].record.files["tables/agents.csv"]) > 200, "the files keep every row"
    outcome, _, _ = outcome_of(spec)
    assert outcome.byte_count == sum(len(table.data) for table in outcome.tables.values()) > 200


class Finds(Herd):
    """Ends at the tick `value`, which it knows only once it is to step from there, as a generator does."""

    is_over = False

    def step(self, n: int = 1) -> None:
        for _ in range(n):
            self.is_over = self.tick == self.value
            if self.is_over:
                return
            self.tick += 1

    def has_ended(self) -> bool:
        return self.is_over


@pytest.mark.parametrize(
    ("ends_at", "warmup", "ticks"), [(3, 0, [0, 2, 3]), (2, 0, [0, 2]), (1, 4, []), (9, 4, [4, 6, 8, 9])]
)
def test_a_model_that_ends_by_itself_leaves_its_last_rows_once_and_none_of_the_warm_up(
    stepped: Host, monkeypatch: pytest.MonkeyPatch, ends_at: int, warmup: int, ticks: list[int]
) -> None:
    monkeypatch.setattr(SliceSize, "within", lambda self, time_left_s: 1)
    table = hw.Table("agents", {"tick_there": "i64"})
    state = type("State", (Finds,), {"table": lambda self, name: {"tick_there": [self.tick]}})
    spec = herd_spec((ends_at,), tables=("agents",), replicates=1, warmup=warmup)
    files = stepped.files(replace(entry_of(state), tables=(table,)), spec)
    rows = "".join(f"0,{tick},{tick}\n" for tick in ticks)
    assert files["tables/agents.csv"].decode() == f"run_id,tick,tick_there\n{rows}"
