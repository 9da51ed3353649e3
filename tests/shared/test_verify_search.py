"""Verification of searches: runs are done again from their rows, and every table must follow from runs.csv."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pytest

import henad_web as hw
from henad_web.results.differences import Difference, TableDifference, VerifyReport
from henad_web.results.verifying import Verification, verify_results
from henad_web.targets import PumpedTarget
from tests.shared.hosts import Host, ManualClock
from tests.shared.plain_searches import HILLS, REPLICATES, hills_spec
from tests.shared.test_custom_searches import Walk, custom_spec, finished

KINDS = ("random", "hill_climb", "genetic", "pse", "nsga2")
MODELS = hw.ModelSet([HILLS])
Files = dict[str, bytes]
Change = Callable[[list[str]], None]


@pytest.fixture(scope="module")
def searches() -> Iterator[dict[str, Files]]:
    host = Host(PumpedTarget())
    yield {kind: host.files(HILLS, hills_spec(kind)) for kind in KINDS}
    host.close()


def opened(files: Files) -> hw.ResultSet:
    return hw.ResultSet.from_files(files, models=MODELS)


def edited(files: Files, table: str, row: int, column: str, cell: str) -> Files:
    lines = [line.split(",") for line in files[table].decode().splitlines()]
    lines[row][lines[0].index(column)] = cell
    return {**files, table: "".join(",".join(line) + "\n" for line in lines).encode()}


def cut(files: Files, runs: int, status: str = "running") -> Files:
    """Return `files` with no more than the first `runs` rows of runs.csv, all tables of the search as they were."""
    manifest = {**msgspec.json.decode(files["manifest.json"]), "status": status}
    lines = files["runs.csv"].splitlines(keepends=True)
    return {**files, "runs.csv": b"".join(lines[: runs + 1]), "manifest.json": msgspec.json.encode(manifest)}


@pytest.mark.parametrize("kind", KINDS)
def test_an_untouched_search_is_equal_run_by_run_and_table_by_table(searches: dict[str, Files], kind: str) -> None:
    results = opened(searches[kind])
    report = verify_results(results, runs=500)
    assert report.is_equal, str(report)
    search = results.search
    assert search is not None
    assert report.batches == len(search.batches)
    columns = len(results.runs.columns)
    assert report.cells > 120 * (columns - 3) + 120 * 9 + sum(len(search.table(name)) for name in search.table_names)
    head = f"120 runs rerun, a search of {report.batches} batches followed, {report.cells} results compared, 0 differ"
    assert str(report) == head


CELLS: dict[str, dict[str, tuple[str, ...]]] = {
    "evaluations.csv": {
        "random": ("first_parent_id", "replicate_offset", "share", "action.mark", "failed", "objective"),
        "pse": ("origin", "x", "y", "x_index", "y_index", "outside", "new_cell"),
        "genetic": ("second_parent_id", "pooled_objective", "pooled_replicates"),
    },
    "batches.csv": {"random": ("best_candidate_id", "best_objective"), "pse": ("filled_cells",)},
    "generations.csv": {"genetic": ("best", "median", "worst")},
    "best.csv": {
        "nsga2": ("pooled_objective.Depth:final", "crowding_distance"),
        "hill_climb": ("value", "pooled_objective", "pooled_failed", "evaluations", "first_batch"),
    },
    "archive.csv": {"pse": ("x_min", "y_max", "hits", "candidate_id", "value", "x", "y")},
}
TEXTS = {"outside": "true", "new_cell": "true", "origin": "restart", "action.mark": "3"}


@pytest.mark.parametrize(
    ("table", "kind", "column"),
    [(table, kind, column) for table, kinds in CELLS.items() for kind, names in kinds.items() for column in names],
)
def test_any_changed_cell_of_a_table_is_found(searches: dict[str, Files], table: str, kind: str, column: str) -> None:
    files = searches[kind]
    row = 28 if table == "evaluations.csv" else 4
    was = files[table].decode().splitlines()[row].split(",")
    cell = TEXTS.get(column, "0.5" if column in ("x", "y", "objective") else "8")
    assert was[files[table].decode().splitlines()[0].split(",").index(column)] != cell
    report = verify_results(opened(edited(files, table, row, column, cell)), runs=1)
    (found,) = report.table_differences
    assert (found.table, found.record, found.column, found.recorded) == (table, row + 1, column, cell)
    assert not report.is_equal
    assert (
        str(found) == f"{table} record {row + 1}, {column}: recorded {cell}, from the runs {found.expected or 'empty'}"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_value_of_a_run_is_found_by_all_that_follows(searches: dict[str, Files], kind: str) -> None:
    changed = edited(searches[kind], "runs.csv", 9, "Height:max", "77.5")
    report = verify_results(opened(changed), runs=500)
    assert report.differences[0] == Difference(8, "runs.csv", "Height:max", None, "77.5", report.differences[0].rerun)
    assert {found.table for found in report.table_differences} >= {"evaluations.csv"}
    again = verify_results(opened(changed), run_ids=[8])
    assert [one.column for one in again.differences] == ["Height:max"]
    assert (again.batches, again.table_differences) == (None, ())


@pytest.mark.parametrize("column", ["config_id", "block", "rep", "seed", "run_key", "value", "share", "action.mark"])
def test_a_row_of_another_run_than_is_asked_for_is_found(searches: dict[str, Files], column: str) -> None:
    cell = "0" * 16 if column == "run_key" else "0.625" if column == "share" else "3"
    report = verify_results(opened(edited(searches["genetic"], "runs.csv", 9, column, cell)), runs=1)
    assert report.table_differences == ()
    found = [one for one in report.differences if one.column == column]
    assert [(one.run_id, one.table, one.recorded) for one in found] == [(8, "runs.csv", cell)]


def test_a_run_that_is_done_again_has_the_key_of_its_own_row(searches: dict[str, Files]) -> None:
    """Its row is all that tells what a run of a search was, so that its key tells a changed one."""
    report = verify_results(opened(edited(searches["random"], "runs.csv", 9, "action.mark", "9")), run_ids=[8])
    assert "run_key" in [one.column for one in report.differences]


def test_rows_out_of_their_order_end_the_following(searches: dict[str, Files]) -> None:
    lines = searches["random"]["runs.csv"].splitlines(keepends=True)
    lines[9], lines[10] = lines[10], lines[9]
    report = verify_results(opened({**searches["random"], "runs.csv": b"".join(lines)}), runs=1)
    assert report.batches == 0
    assert report.differences[0] == Difference(8, "runs.csv", "run_id", None, "9", "8")
    assert report.remarks[-1].startswith("the search was followed no further")


def test_rows_behind_the_last_run_of_the_search_are_found(searches: dict[str, Files]) -> None:
    files = searches["random"]
    last = files["runs.csv"].splitlines(keepends=True)[-1]
    report = verify_results(opened({**files, "runs.csv": files["runs.csv"] + b"120" + last[3:]}), runs=1)
    assert report.differences == (Difference(120, "runs.csv", "run_id", None, "120", None),)


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_that_lacks_or_has_rows_at_its_end_is_found_once_the_search_has_ended(
    searches: dict[str, Files], kind: str
) -> None:
    files = searches[kind]
    name = "archive.csv" if kind == "pse" else "best.csv"
    rest = {each: content for each, content in files.items() if each != name}
    report = verify_results(opened(rest), runs=1)
    rows = len(files[name].splitlines()) - 1
    assert [found.table for found in report.table_differences] == [name] * rows
    assert report.table_differences[0].recorded is None
    assert str(report).splitlines()[-2 if rows > 3 else -1].startswith(f"  {name}, ")
    assert verify_results(opened(cut(rest, 120)), runs=1).is_equal
    if kind == "genetic":
        more = {**files, "generations.csv": files["generations.csv"] + b"8,1,1,1\n"}
        report = verify_results(opened(more), runs=1)
        assert report.table_differences == (TableDifference("generations.csv", 10, "generation", "8", None),)


@pytest.mark.parametrize("runs", [0, 1, 23, 60, 119])
@pytest.mark.parametrize("kind", ["genetic", "pse"])
def test_a_search_that_was_cut_off_is_followed_as_far_as_its_rows_go(
    searches: dict[str, Files], kind: str, runs: int
) -> None:
    report = verify_results(opened(cut(searches[kind], runs)), runs=2)
    assert report.is_equal, str(report)
    results = opened(searches[kind])
    assert results.search is not None
    assert report.batches == sum(standing.runs <= runs for standing in results.search.batches)
    assert report.batches * 3 * REPLICATES <= runs


def test_what_a_killed_search_had_no_time_to_write_is_no_difference(searches: dict[str, Files]) -> None:
    files = cut(searches["random"], 120)
    for name, rows in (("evaluations.csv", 56), ("batches.csv", 12)):
        files[name] = b"".join(files[name].splitlines(keepends=True)[:rows])
    report = verify_results(opened(files), runs=1)
    assert (report.table_differences, report.batches) == ((), 12)


def test_a_search_by_a_searcher_of_a_program_is_not_followed(stepped: Host) -> None:
    files = finished(stepped, stepped.start(HILLS, custom_spec(), searcher=Walk))
    results = opened(files)
    report = verify_results(results, runs=500)
    assert report.is_equal, str(report)
    assert (len(report.run_ids), report.batches) == (48, None)
    assert report.remarks == ("the search was not followed: its searcher 'mine' is a program's own",)
    assert results.search is not None
    assert len(results.search.ranking) == 24


def test_an_aborted_search_verifies(stepped: Host, clock: ManualClock) -> None:
    clock.tick_s = 0.001
    run = stepped.start(HILLS, hills_spec("genetic"))
    stepped.until(run, lambda: run.progress().runs_done > 30)
    run.abort()
    record = stepped.record(run)
    assert record.files is not None
    results = opened(record.files)
    assert results.status == "aborted"
    report = verify_results(results, runs=500)
    assert report.is_equal, str(report)
    assert 0 < len(report.run_ids) < 120
    assert results.search is not None
    assert report.batches == len(results.search.batches) > 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("search_hash", "0" * 16),
        ("search_seed", 4),
        ("evaluations", 59),
        ("best_candidate_id", 0),
        ("best_objective", None),
        ("watched_columns", ["Depth:final"]),
    ],
)
def test_the_standing_of_the_manifest_is_compared(searches: dict[str, Files], field: str, value: object) -> None:
    manifest = msgspec.json.decode(searches["random"]["manifest.json"])
    manifest["search"][field] = value
    report = verify_results(opened({**searches["random"], "manifest.json": msgspec.json.encode(manifest)}), runs=1)
    (found,) = report.table_differences
    assert (found.table, found.record, found.column) == ("manifest.json", None, f"search.{field}")
    assert found.recorded == msgspec.json.encode(value).decode()


def test_a_search_of_other_settings_is_another_search(searches: dict[str, Files]) -> None:
    manifest = msgspec.json.decode(searches["random"]["manifest.json"])
    manifest["spec"]["seeds"]["root"] = 12
    report = verify_results(opened({**searches["random"], "manifest.json": msgspec.json.encode(manifest)}), runs=1)
    assert {"search.search_seed"} <= {found.column for found in report.table_differences}
    assert not report.is_equal


def test_a_verification_of_a_search_goes_on_in_pieces(searches: dict[str, Files]) -> None:
    verification = Verification(opened(searches["genetic"]), runs=2)
    turns = 0
    while not verification.advance(1):
        turns += 1
    assert turns > 60
    assert verification.advance()
    assert verification.report() == verify_results(opened(searches["genetic"]), runs=2)


def test_a_damaged_table_is_refused_and_not_compared(searches: dict[str, Files]) -> None:
    files = searches["random"]
    lines = files["best.csv"].splitlines(keepends=True)
    lines[5] = b"5,5\n"
    with pytest.raises(hw.TableDamagedError, match=r"best\.csv, record 6"):
        verify_results(opened({**files, "best.csv": b"".join(lines)}), runs=1)


def test_a_report_lists_the_first_differences_of_each_table() -> None:
    found = [
        TableDifference(table, number, "value", "1", "2") for number in range(2, 7) for table in ("b.csv", "a.csv")
    ]
    report = VerifyReport(run_ids=(3,), cells=9, differences=(), batches=1, table_differences=tuple(found))
    assert str(report).splitlines() == [
        "1 run rerun, a search of 1 batch followed, 9 results compared, 10 differ",
        *(f"  a.csv record {number}, value: recorded 1, from the runs 2" for number in (2, 3, 4)),
        "  and 2 more in a.csv",
        *(f"  b.csv record {number}, value: recorded 1, from the runs 2" for number in (2, 3, 4)),
        "  and 2 more in b.csv",
    ]
