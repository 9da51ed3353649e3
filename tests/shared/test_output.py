"""Laws of the written tables: exact bytes, in the order in which nothing is lost."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from henad_web.errors import HoldsResultsError, OutputFullError
from henad_web.explore.outcomes import RunStatus, RunTable, Series, StopReason
from henad_web.output.masking import masked
from henad_web.output.record import Counts, SweepEnd
from henad_web.output.store import MemoryStore
from henad_web.output.tables import RunsTable, SeriesTable
from tests.shared.made_results import (
    REDUCERS,
    SPEC,
    STATS,
    outcome_of,
    outline_of,
    plan_of,
    series_of,
    writer_of,
)

PLAN = plan_of()
HEADER = (
    "run_id,config_id,block,rep,seed,run_key,grid_width,grid_height,infection_rate,recovery_rate,"
    "initial_infected_pct,action.seed_outbreak,status,stop_reason,ticks,population,build_ms,wall_ms,steps_per_s,"
    "Infected:max,Infected:mean,note\n"
)


def written(*run_ids: int, end: SweepEnd = SweepEnd.COMPLETE) -> dict[str, bytes]:
    store = MemoryStore()
    writer = writer_of(store, PLAN)
    writer.begin()
    for run_id in run_ids:
        writer.write_run(outcome_of(PLAN, run_id))
    writer.finish(end)
    return store.files()


def test_the_header_of_runs_has_parameters_in_schema_order_then_actions_then_reducers() -> None:
    assert RunsTable(PLAN, REDUCERS).header.decode() == HEADER


def test_a_row_of_runs_has_exactly_these_bytes() -> None:
    row = RunsTable(PLAN, REDUCERS).row(outcome_of(PLAN, 0))
    key = PLAN.run_key(PLAN.run(0))
    assert row.decode() == (
        f"0,0,0,0,11389263990721755462,{key},16,16,0.2,0.05,0.01,5,ok,steps,20,256,0.250,10.000,2000.000,193,77.2,\n"
    )


def test_rows_follow_their_own_config() -> None:
    table = RunsTable(PLAN, REDUCERS)
    rates = [table.row(outcome_of(PLAN, run_id)).split(b",")[8] for run_id in (0, 1, 2, 3, 0)]
    assert rates == [b"0.2", b"0.2", b"0.4", b"0.4", b"0.2"]


@pytest.mark.parametrize(
    ("value", "cell"),
    [(None, ""), (-0.0, "0"), (math.nan, ""), (math.inf, ""), (1e-7, "0.0000001"), (1e15, "1000000000000000")],
)
def test_a_reducer_is_a_cell_of_its_own_form(value: float | None, cell: str) -> None:
    row = RunsTable(PLAN, REDUCERS).row(outcome_of(PLAN, 0, reducers={"Infected:max": value}))
    assert row.decode().rstrip("\n").split(",")[-3:] == [cell, "", ""]


def test_a_run_that_took_no_time_has_no_speed() -> None:
    row = RunsTable(PLAN, REDUCERS).row(outcome_of(PLAN, 0, wall_ms=0.0))
    assert b",0.000,0.000,193," in row


@pytest.mark.parametrize(
    "note", ["plain", 'a "b", c', "while stepping the simulation, KeyError at m.py:3: 'x, y'", "Ünïcode ☃"]
)
def test_a_note_reads_back_as_it_was(note: str) -> None:
    row = RunsTable(PLAN, REDUCERS).row(outcome_of(PLAN, 0, note=note))
    (record,) = csv.reader(io.StringIO(row.decode(), newline=""), strict=True)
    assert record[-1] == note


def test_half_a_surrogate_pair_in_a_note_costs_a_letter_and_not_the_sweep() -> None:
    row = RunsTable(PLAN, REDUCERS).row(outcome_of(PLAN, 0, note="bad \ud800 letter"))
    assert row.endswith(b",bad ? letter\n")


def test_a_failed_build_has_a_row_with_empty_reducers() -> None:
    outcome = outcome_of(
        PLAN,
        2,
        status=RunStatus.PANICKED,
        stop_reason=StopReason.FAULT,
        ticks=0,
        population=0,
        wall_ms=0.0,
        reducers={},
        series=Series.empty(3),
        note="while building the model, ValueError at m.py:1: no",
    )
    row = RunsTable(PLAN, REDUCERS).row(outcome)
    assert row.endswith(
        b',panicked,fault,0,0,0.250,0.000,0.000,,,"while building the model, ValueError at m.py:1: no"\n'
    )
    assert SeriesTable(STATS).rows(2, outcome.series) == b""


def test_series_rows_have_exactly_these_bytes() -> None:
    table = SeriesTable(("S", "a,b", "C"))
    assert table.header == b'run_id,tick,S,"a,b",C\n'
    series = series_of((0, 254, 0.1, -0.0), (2**40, math.nan, math.inf, 1e-7), (2**40 + 1, 1e15, 1e300, 3))
    assert table.rows(12, series).decode().splitlines() == [
        "12,0,254,0.1,0",
        "12,1099511627776,,,0.0000001",
        f"12,1099511627777,1000000000000000,1{'0' * 300},3",
    ]


def test_a_model_without_statistics_has_ticks_alone() -> None:
    series = Series(np.array([0, 5]), np.zeros((2, 0)))
    assert SeriesTable(()).rows(3, series) == b"3,0\n3,5\n"


def test_the_files_come_in_the_order_of_a_record() -> None:
    assert list(written(0)) == ["runs.csv", "series.csv", "summary.csv", "manifest.json"]


def test_a_whole_sweep_has_exactly_these_tables() -> None:
    files = written(0, 1, 2, 3)
    assert files["series.csv"].decode() == "run_id,tick,Susceptible,Infected,Recovered\n" + "".join(
        f"{run},0,254,2,0\n{run},5,223,30,3\n" for run in range(4)
    )
    assert [line.split(",")[:4] for line in files["runs.csv"].decode().splitlines()[1:]] == [
        ["0", "0", "0", "0"],
        ["1", "0", "0", "1"],
        ["2", "1", "0", "0"],
        ["3", "1", "0", "1"],
    ]
    names = [f"{column}:{part}" for column in REDUCERS for part in ("mean", "sd", "n", "ci95_low", "ci95_high")]
    columns = "config_id,block,grid_width,grid_height,infection_rate,recovery_rate,initial_infected_pct"
    assert files["summary.csv"].decode().splitlines() == [
        f"{columns},action.seed_outbreak,runs,ok,failed,ticks:mean,{','.join(names)}",
        "0,0,16,16,0.2,0.05,0.01,5,2,2,0,20,193,0,2,193,193,77.2,0,2,77.2,77.2",
        "1,0,16,16,0.4,0.05,0.01,5,2,2,0,20,193,0,2,193,193,77.2,0,2,77.2,77.2",
    ]


def test_an_aborted_sweep_keeps_the_rows_it_has() -> None:
    files = written(0, 1, 2, end=SweepEnd.ABORTED)
    manifest = json.loads(files["manifest.json"])
    assert manifest["status"] == "aborted"
    assert manifest["results"] == {"rows": 3, "ok": 3, "non_finite": 0, "failed": 0}
    assert len(files["runs.csv"].splitlines()) == 4
    assert len(files["summary.csv"].splitlines()) == 3


def test_a_sweep_of_no_rows_has_headers_alone() -> None:
    files = written(end=SweepEnd.ABORTED)
    assert [len(files[name].splitlines()) for name in ("runs.csv", "series.csv", "summary.csv")] == [1, 1, 1]


def test_rows_are_counted_by_what_became_of_them() -> None:
    writer = writer_of(MemoryStore(), PLAN)
    writer.begin()
    statuses = [RunStatus.OK, RunStatus.NON_FINITE, RunStatus.PANICKED, RunStatus.TIMED_OUT]
    for run_id, status in enumerate(statuses):
        writer.write_run(outcome_of(PLAN, run_id, status=status))
    assert writer.counts == Counts(rows=4, ok=1, non_finite=1, failed=2)


def test_two_sweeps_at_other_times_have_one_masked_form() -> None:
    forms = []
    for wall_ms, clock in ((10.0, lambda: 1e9), (99.0, lambda: 2e9)):
        store = MemoryStore()
        writer = writer_of(store, PLAN, wall_clock=clock)
        writer.begin()
        writer.write_run(outcome_of(PLAN, 0, wall_ms=wall_ms))
        writer.finish(SweepEnd.COMPLETE)
        forms.append(masked(store.files()))
    assert forms[0] == forms[1]
    assert set(forms[0]) == {"runs.csv", "series.csv", "summary.csv", "manifest.json"}


class _JournalStore(MemoryStore):
    """Remembers what was asked of it, in order; refuses the calls a test names, once each."""

    def __init__(self, *full_at: str) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.full_at = list(full_at)

    def _note(self, call: str) -> None:
        self.calls.append(call)
        if call in self.full_at:
            self.full_at.remove(call)
            self._appended.clear()
            raise OutputFullError("no room left")

    def append(self, name: str, data: bytes) -> None:
        super().append(name, data)
        self.calls.append(f"append {name}")

    def flush(self) -> None:
        self._note("flush")
        super().flush()

    def sync(self) -> None:
        self._note("sync")

    def replacing(self, name: str, chunks: Iterable[bytes]) -> Iterator[int]:
        self._note(f"replace {name}")
        return super().replacing(name, chunks)


def test_series_go_before_their_row_and_the_summary_before_the_manifest() -> None:
    store = _JournalStore()
    writer = writer_of(store, PLAN)
    writer.begin()
    assert store.calls == ["replace manifest.json", "sync"]
    store.calls.clear()
    writer.write_run(outcome_of(PLAN, 0))
    assert store.calls == ["append series.csv", "append runs.csv", "flush"]
    store.calls.clear()
    for name in ("tables/agents.csv", "tables/edges.csv", "tables/rows.csv"):
        store.create(name, b"")
    tables = {"agents": RunTable(b"1,0,7\n", 1), "edges": RunTable(b"1,0,7\n", 1)}
    writer.write_run(replace(outcome_of(PLAN, 1), tables=tables))
    own = ["append tables/agents.csv", "append tables/edges.csv", "append tables/rows.csv"]
    assert store.calls == [*own, "append series.csv", "append runs.csv", "flush"]
    store.calls.clear()
    writer.finish(SweepEnd.COMPLETE)
    assert store.calls == ["sync", "replace summary.csv", "replace manifest.json"]


def test_what_found_no_room_can_be_done_again_and_is_done_once() -> None:
    store = _JournalStore("replace manifest.json", "flush", "replace summary.csv")
    writer = writer_of(store, PLAN)
    with pytest.raises(OutputFullError):
        writer.begin()
    writer.begin()
    with pytest.raises(OutputFullError):
        writer.write_run(outcome_of(PLAN, 0))
    assert writer.counts.rows == 0
    for run_id in range(4):
        writer.write_run(outcome_of(PLAN, run_id))
    store.full_at.append("replace manifest.json")
    for _ in range(2):
        with pytest.raises(OutputFullError):
            writer.finish(SweepEnd.COMPLETE)
    writer.finish(SweepEnd.COMPLETE)
    assert store.files() == written(0, 1, 2, 3)


def test_a_place_that_could_not_be_taken_is_left_alone_when_the_sweep_fails() -> None:
    class Taken(MemoryStore):
        def open(self) -> tuple[str, ...]:
            raise HoldsResultsError("there", ["runs.csv"])

    store = Taken()
    writer = writer_of(store, PLAN)
    with pytest.raises(HoldsResultsError):
        writer.begin()
    writer.fail()
    assert store.files() == {}


def test_a_shard_and_an_action_of_the_same_id_have_columns_of_their_names() -> None:
    plan = plan_of(SPEC + '\n[[action]]\nid = "seed_outbreak"\ntick = 9\nname = "again"\n')
    table = RunsTable(plan, ())
    assert b",action.seed_outbreak,action.again,status," in table.header
    assert b",0.01,5,9,ok," in table.row(outcome_of(plan, 0))
    assert outline_of(plan).runs == 4
