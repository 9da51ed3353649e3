"""Laws of keeping rows: what a whole series is, which rows stay, and where tables can be cut."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import henad_web as hw
from henad_web.explore.measure import MeasurePlan
from henad_web.explore.outcomes import RunStatus
from henad_web.output import table_reading
from henad_web.output.own_tables import NO_OWN_TABLES
from henad_web.output.record import Counts
from henad_web.output.table_index import RunsIndex, SeriesCadence, SeriesIndex, index_runs, index_series
from henad_web.output.table_rows import TableEnds, TableRows, rows_at, run_groups
from henad_web.output.tables import RunsLayout, RunsTable, SeriesTable, series_header
from henad_web.output.writer import PlanNumbering, copy_groups, copy_rows
from henad_web.resume.kept_runs import rows_to_keep, table_ends, whole_series
from tests.shared.made_results import REDUCERS, STATS, outcome_of, plan_of, series_of
from tests.shared.toy_models import Toy, entry_of

PLAN = plan_of()
CADENCE = SeriesCadence.of(PLAN.spec)
RUNS, SERIES = RunsTable(PLAN, REDUCERS), SeriesTable(STATS)
LAYOUT, HEADER = RunsLayout.of_plan(PLAN, REDUCERS), series_header(STATS)
FULL = (0, 5, 10, 15, 20)


def rows_of(run_id: int, ticks: tuple[int, ...]) -> bytes:
    return SERIES.rows(run_id, series_of(*((tick, 1, 2, 3) for tick in ticks)))


def indexes(
    series: bytes, statuses: tuple[RunStatus, ...] = (RunStatus.OK,) * 4, ticks: int = 20, note: str = ""
) -> tuple[RunsIndex, SeriesIndex]:
    """Return the indexes of four runs with `statuses` and of the table of `series` rows."""
    rows = [
        RUNS.row(outcome_of(PLAN, run_id, status=status, ticks=ticks if status.is_failure else 20, note=note))
        for run_id, status in enumerate(statuses)
    ]
    runs = index_runs(io.BytesIO(RUNS.header + b"".join(rows)), LAYOUT)
    return runs, index_series(io.BytesIO(SERIES.header + series), HEADER, CADENCE)


def whole(series: bytes, *, is_ended: bool = False, **options: object) -> list[bool]:
    runs, found = indexes(series, **options)  # type: ignore[arg-type]
    return [bool(is_whole) for is_whole in whole_series(runs, found, CADENCE, is_ended=is_ended)]


@given(
    st.integers(0, 7), st.integers(0, 40), st.integers(1, 9), st.integers(0, 3), st.integers(0, 60)
)  # fmt: skip
def test_the_cadence_says_which_rows_a_run_leaves(
    warmup: int, steps: int, every: int, series_factor: int, reached: int
) -> None:
    """For a run that ends on any of its samples, the count of rows and the last tick are those the sampler kept."""
    spec = hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(steps=steps, warmup=warmup),
        measure=hw.MeasureSettings(stats_every=every, series_every=every * series_factor),
    )
    measure = MeasurePlan.bind(spec.plan(entry_of(Toy).schema()), ("Ticks",))
    sampler, tick = measure.sampler(), measure.next_sample(-1)
    while tick is not None and tick <= reached:
        sampler.push(tick, {"Ticks": 1.0})
        tick = measure.next_sample(tick)
    series = sampler.finish()[1]
    cadence = SeriesCadence.of(spec)
    last = cadence.last_samples(np.array([min(reached, warmup + steps)]))
    assert cadence.rows(last).tolist() == [len(series)]
    table = SeriesTable(("Ticks",))
    index = index_series(io.BytesIO(table.header + table.rows(7, series)), series_header(("Ticks",)), cadence)
    assert index.rows.tolist() == ([len(series)] if len(series) else [])
    if len(series):
        assert index.last_ticks.tolist() == last.tolist() == [series.ticks[-1]]
        assert index.regular.tolist() == [True]


def test_a_series_lacks_no_row_wherever_one_is_taken_out() -> None:
    every = [rows_of(run_id, FULL) for run_id in range(4)]
    assert whole(b"".join(every)) == [True] * 4
    for run_id in range(4):
        for gone in range(len(FULL)):
            broken = list(every)
            broken[run_id] = rows_of(run_id, FULL[:gone] + FULL[gone + 1 :])
            assert whole(b"".join(broken)) == [place != run_id for place in range(4)]


@pytest.mark.parametrize(
    "ticks",
    [(), (0,), (0, 5, 10, 20), (0, 5, 9, 15, 20), (0, 5, 10, 15, 20, 25), (5, 5, 10, 15, 20), (20, 15, 10, 5, 0)],
)
def test_rows_that_no_run_leaves_are_no_whole_series(ticks: tuple[int, ...]) -> None:
    assert whole(b"".join(rows_of(run_id, FULL) for run_id in range(3)) + rows_of(3, ticks)) == [True] * 3 + [False]


@pytest.mark.parametrize("status", [RunStatus.PANICKED, RunStatus.SHAPE_ERROR])
def test_a_last_run_that_failed_in_its_last_sample_is_whole_once_the_sweep_has_ended(status: RunStatus) -> None:
    """A fault at tick 15 leaves that tick's sample out when it came from taking it, and not when from the next step."""
    before = b"".join(rows_of(run_id, FULL) for run_id in range(3))
    statuses = (RunStatus.OK,) * 3 + (status,)
    held = {
        ticks: [
            whole(before + rows_of(3, ticks), statuses=statuses, ticks=15, is_ended=ended)[3] for ended in (False, True)
        ]
        for ticks in (FULL[:2], FULL[:3], FULL[:4])
    }
    is_shape_error = status is RunStatus.SHAPE_ERROR
    assert held == {
        FULL[:2]: [False, False],
        FULL[:3]: [is_shape_error, True],
        FULL[:4]: [not is_shape_error, True],
    }


def test_rows_of_a_run_in_two_places_are_no_whole_series() -> None:
    apart = rows_of(0, FULL[:2]) + rows_of(1, FULL) + rows_of(0, FULL[2:]) + rows_of(2, FULL) + rows_of(3, FULL)
    assert whole(apart) == [False, True, True, True]
    twice = b"".join(rows_of(run_id, FULL) for run_id in (0, 1, 0, 2, 3))
    assert whole(twice) == [False, True, True, True]


def test_a_run_without_rows_has_none_of_its_neighbours_and_leaves_the_order_as_it_is() -> None:
    statuses = (RunStatus.OK, RunStatus.REFUSED, RunStatus.OK, RunStatus.REFUSED)
    runs, found = indexes(rows_of(0, FULL) + rows_of(2, FULL), statuses=statuses, ticks=0)
    are_whole, (group, _) = whole_series(runs, found, CADENCE, is_ended=True), run_groups(runs, found)
    assert (are_whole.tolist(), group.tolist()) == ([True] * 4, [0, -1, 1, -1])
    every = np.arange(4)
    assert rows_at(runs, found, NO_OWN_TABLES, every, every).is_in_order
    assert not rows_at(runs, found, NO_OWN_TABLES, every, every[::-1]).is_in_order


def test_only_the_end_of_the_file_is_held_against_a_failed_run() -> None:
    """A fault at tick 10 may come before or after its sample: with rows of a later run behind it, both stand."""
    failed = (RunStatus.OK, RunStatus.OK, RunStatus.OK, RunStatus.PANICKED)
    before = b"".join(rows_of(run_id, FULL) for run_id in range(3))
    assert whole(before + rows_of(3, (0, 5, 10)), statuses=failed, ticks=10) == [True] * 4
    assert whole(before + rows_of(3, (0, 5)), statuses=failed, ticks=10) == [True, True, True, False]
    assert whole(before, statuses=failed, ticks=10) == [True, True, True, False]
    first = (RunStatus.PANICKED, RunStatus.OK, RunStatus.OK, RunStatus.OK)
    after = b"".join(rows_of(run_id, FULL) for run_id in (1, 2, 3))
    for ticks in ((0, 5, 10), (0, 5), ()):
        assert whole(rows_of(0, ticks) + after, statuses=first, ticks=10) == [True] * 4
    killed = before + rows_of(3, (0, 5)) + rows_of(9, (0,))
    assert whole(killed, statuses=failed, ticks=10) == [True] * 4, "a later run was being written already"


@pytest.mark.parametrize(
    ("status", "note", "ticks", "left"),
    [
        (RunStatus.PANICKED, "while building the model, ValueError at m.py:1: no", 0, ()),
        (RunStatus.REFUSED, "", 0, ()),
        (RunStatus.REFUSED, "", 10, (0, 5, 10)),
        (RunStatus.SHAPE_ERROR, "", 10, (0, 5)),
        (RunStatus.SHAPE_ERROR, "", 0, ()),
        (RunStatus.PANICKED, "", 7, (0, 5)),
        (RunStatus.PANICKED, "", 0, (0,)),
    ],
)
def test_a_failed_last_run_is_whole_with_the_samples_before_its_fault(
    status: RunStatus, note: str, ticks: int, left: tuple[int, ...]
) -> None:
    failed = (RunStatus.OK, RunStatus.OK, RunStatus.OK, status)
    before = b"".join(rows_of(run_id, FULL) for run_id in range(3))
    assert whole(before + rows_of(3, left), statuses=failed, ticks=ticks, note=note)[3]


def test_what_timed_out_never_stays_and_what_failed_unless_tried_again() -> None:
    statuses = (RunStatus.OK, RunStatus.NON_FINITE, RunStatus.TIMED_OUT, RunStatus.GPU_ERROR)
    runs, _ = indexes(b"", statuses=statuses)
    every = np.ones(4, np.bool_)
    assert rows_to_keep(runs, every, retry_failed=False).tolist() == [True, True, False, True]
    assert rows_to_keep(runs, every, retry_failed=True).tolist() == [True, True, False, False]
    assert rows_to_keep(runs, ~every, retry_failed=False).tolist() == [False] * 4


def kept_of(rows: list[int], run_ids: list[int]) -> tuple[TableRows, TableEnds | None, bytes, bytes]:
    series = b"".join(rows_of(run_id, FULL) for run_id in range(4))
    runs, found = indexes(series)
    positions, ids = np.array(rows, np.int64), np.array(run_ids, np.int64)
    kept = rows_at(runs, found, NO_OWN_TABLES, positions, ids)
    ends = table_ends(runs, found, NO_OWN_TABLES, positions, ids)
    table = RUNS.header + b"".join(RUNS.row(outcome_of(PLAN, run_id)) for run_id in range(4))
    return kept, ends, table, SERIES.header + series


@pytest.mark.parametrize("count", range(5))
def test_tables_are_cut_where_only_their_ends_go(count: int) -> None:
    kept, ends, runs, series = kept_of(list(range(count)), list(range(count)))
    assert ends is not None
    assert runs[: ends.runs].count(b"\n") == 1 + count
    assert series[: ends.series].count(b"\n") == 1 + 5 * count
    assert kept.counts == Counts(rows=count, ok=count)
    assert kept.last_id == count - 1
    assert list(kept.flags(4)) == [1] * count + [0] * (4 - count)
    assert kept.is_in_order


@pytest.mark.parametrize(("rows", "ids"), [([0, 2], [0, 2]), ([1], [1]), ([0, 1], [0, 2]), ([3, 0], [0, 1])])
def test_tables_are_written_anew_where_rows_in_the_middle_go_or_ids_change(rows: list[int], ids: list[int]) -> None:
    kept, ends, runs, series = kept_of(rows, ids)
    assert ends is None
    copied = b"".join(copy_rows(io.BytesIO(runs), rows=kept, numbering=PlanNumbering(replicates=2, first_configs=(0,))))
    assert [line.split(b",")[0] for line in copied.splitlines()] == [b"%d" % run_id for run_id in sorted(ids)]
    of_series = b"".join(copy_groups(io.BytesIO(series), name="series.csv", rows=kept))
    assert [line.split(b",")[0] for line in of_series.splitlines()] == [b"%d" % i for i in sorted(ids) for _ in FULL]


def test_a_row_that_moves_changes_in_its_ids_alone() -> None:
    kept, _, runs, series = kept_of([2], [13])
    (row,) = copy_rows(io.BytesIO(runs), rows=kept, numbering=PlanNumbering(replicates=5, first_configs=(0, 1, 2)))
    assert row.split(b",")[:4] == [b"13", b"2", b"2", b"3"]
    assert row.split(b",")[4:] == RUNS.row(outcome_of(PLAN, 2)).split(b",")[4:]
    (rows,) = copy_groups(io.BytesIO(series), name="series.csv", rows=kept)
    assert rows == rows_of(13, FULL)


@pytest.mark.parametrize("line", [b"0\n", b"0,1\n", b"0,1,2,3,4,5\n", b"x,5,1,2,3\n", b"0,-5,1,2,3\n", b"\n"])
def test_a_torn_middle_of_a_series_is_refused_with_its_place(line: bytes) -> None:
    with pytest.raises(hw.TableDamagedError, match=r"^series\.csv, record 7") as caught:
        indexes(rows_of(0, FULL) + line + rows_of(1, FULL))
    assert (caught.value.table, caught.value.record) == ("series.csv", 7)


@pytest.mark.parametrize("size", [16, 17, 23, 40, 64])
def test_the_index_of_a_series_does_not_depend_on_the_pieces_it_is_read_in(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    groups = [rows_of(0, FULL), rows_of(7, FULL[:2]), rows_of(1, (0, 10, 15)), rows_of(2, FULL), rows_of(3, (0,))]
    forms = [b"".join(groups), b"".join(groups).replace(b"\n", b"\r\n")]
    _, expected = indexes(forms[0])
    assert expected.regular.tolist() == [True, True, False, True, True]
    monkeypatch.setattr(table_reading, "_BLOCK_BYTES", size)
    monkeypatch.setattr(table_reading, "BATCH", size // 16)
    for form in forms:
        _, found = indexes(form)
        for name in ("run_ids", "rows", "last_ticks", "regular"):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name
    with pytest.raises(hw.TableDamagedError, match="record 7,"):
        indexes(rows_of(0, FULL) + b"0,-5,1,2,3\n" + rows_of(1, FULL))


def test_headless_tables_have_no_rows() -> None:
    for content in (b"", b"run_id,ti"):
        index = index_series(io.BytesIO(content), HEADER, CADENCE)
        assert (index.header, len(index.run_ids)) == (None, 0)
        runs = index_runs(io.BytesIO(content), LAYOUT)
        assert (runs.header, len(runs.run_ids)) == (None, 0)
