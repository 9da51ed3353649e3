"""Verification: recorded runs are run again, and every cell that is a result is compared."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest

import henad_web as hw
from henad_web.results.differences import Difference, VerifyReport
from henad_web.results.verifying import Verification, chosen_runs, verify_results
from tests.shared.hosts import Host
from tests.shared.reference_folder import reference_files
from tests.shared.toy_models import Divides, Inverse, Toy, entry_of

Files = dict[str, bytes]


@pytest.fixture
def files(stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec) -> Files:
    return stepped.files(models["sir"], small_sir)


def changed(files: Files, table: str, change: Callable[[list[str]], None], record: int) -> Files:
    lines = [line.split(",") for line in files[table].decode().splitlines()]
    change(lines[record])
    return {**files, table: "".join(",".join(line) + "\n" for line in lines).encode()}


def column(files: Files, table: str, name: str) -> int:
    return files[table].decode().splitlines()[0].split(",").index(name)


def test_untouched_results_are_equal_cell_by_cell(files: Files) -> None:
    report = verify_results(hw.ResultSet.from_files(files), runs=99)
    assert report.run_ids == (0, 1, 2, 3, 4, 5)
    assert report.is_equal
    columns = len(files["runs.csv"].decode().splitlines()[0].split(","))
    assert report.cells == 6 * (columns - 3 + 6 * 3)
    assert str(report) == f"6 runs rerun, {report.cells} results compared, 0 differ"


@pytest.mark.parametrize("name", ["seed", "run_key", "ticks", "population", "Infected:max", "note", "stop_reason"])
def test_any_changed_result_of_a_row_is_found(files: Files, name: str) -> None:
    place = column(files, "runs.csv", name)
    value = {"run_key": "0" * 16, "stop_reason": "condition"}.get(name, "7")

    def change(fields: list[str]) -> None:
        fields[place] = value

    report = verify_results(hw.ResultSet.from_files(changed(files, "runs.csv", change, 3)), runs=6)
    (difference,) = report.differences
    assert (difference.run_id, difference.table, difference.column) == (2, "runs.csv", name)
    assert difference.recorded == value
    assert not report.is_equal
    assert report.remarks == (
        "model 'sir' may depend on more than its parameters, seed, actions and steps: "
        "henad check, or henad_web.testing.check_model, tells",
    )


def test_timings_are_no_results(files: Files) -> None:
    def change(fields: list[str]) -> None:
        for name in ("build_ms", "wall_ms", "steps_per_s"):
            fields[column(files, "runs.csv", name)] = "1.000"

    assert verify_results(hw.ResultSet.from_files(changed(files, "runs.csv", change, 1)), runs=6).is_equal


def test_a_changed_sample_is_found_with_its_tick(files: Files) -> None:
    def change(fields: list[str]) -> None:
        fields[3] = "99.5"

    report = verify_results(hw.ResultSet.from_files(changed(files, "series.csv", change, 9)), run_ids=[1, 1])
    (difference,) = report.differences
    assert (difference.run_id, difference.column, difference.tick) == (1, "Infected", 12)
    assert difference.recorded == "99.5"
    assert str(difference) == f"run 1, Infected at tick 12: recorded 99.5, rerun {difference.rerun}"


def test_a_sample_that_is_a_number_once_and_none_once_is_found(stepped: Host, files: Files) -> None:
    def change(fields: list[str]) -> None:
        fields[3] = ""

    report = verify_results(hw.ResultSet.from_files(changed(files, "series.csv", change, 9)), run_ids=[1])
    assert [(one.run_id, one.column, one.tick) for one in report.differences] == [(1, "Infected", 12)]

    class Endless(Toy):
        def stats(self) -> dict[str, float]:
            return {"Ticks": float("inf") if self.tick == 2 else float(self.tick)}

    study = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=4))
    recorded = stepped.files(entry_of(Toy), study)
    report = verify_results(hw.ResultSet.from_files(recorded, models=hw.ModelSet([entry_of(Endless)])))
    assert [one.tick for one in report.differences if one.table == "series.csv"] == [2]


def test_a_lost_sample_is_found(files: Files) -> None:
    lines = files["series.csv"].splitlines(keepends=True)
    del lines[9]
    report = verify_results(hw.ResultSet.from_files({**files, "series.csv": b"".join(lines)}), run_ids=[1])
    assert [str(difference) for difference in report.differences] == [
        "run 1, series at tick 12: recorded nothing, rerun a row"
    ]


def test_the_choice_follows_from_plan_and_rows_alone(files: Files) -> None:
    results = hw.ResultSet.from_files(files)
    assert [chosen_runs(results, count) for count in (1, 3, 5)] == [
        chosen_runs(hw.ResultSet.from_files(files), count) for count in (1, 3, 5)
    ]
    assert len(set(chosen_runs(results, 5))) == 5
    assert chosen_runs(results, 6) == chosen_runs(results, 600) == (0, 1, 2, 3, 4, 5)
    manifest = json.loads(files["manifest.json"])
    choices = set()
    for number in range(40):
        manifest["plan"]["plan_hash"] = f"{number:016x}"
        other = {**files, "manifest.json": json.dumps(manifest).encode()}
        choices.add(chosen_runs(hw.ResultSet.from_files(other), 2))
    assert len(choices) > 7
    with pytest.raises(hw.UsageError, match="runs is 0"):
        chosen_runs(results, 0)


def test_failed_and_non_finite_runs_verify_too(stepped: Host) -> None:
    factor = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=(1, 0, 3)))
    study = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=4), blocks=(hw.BlockSpec(factors=(factor,)),))
    for toy, labels in ((Divides, ("Ticks",)), (Inverse, ("Inverse",))):
        models = hw.ModelSet([entry_of(toy, stats=labels)])
        results = hw.ResultSet.from_files(stepped.files(models["toy"], study), models=models)
        report = verify_results(results)
        assert report.is_equal, str(report)
        assert report.run_ids == (0, 1, 2)


def test_a_model_that_came_to_do_otherwise_is_found(stepped: Host) -> None:
    class Skips(Toy):
        def stats(self) -> dict[str, float]:
            return {"Ticks": float(self.tick + self.value)}

    study = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=4))
    before, after = entry_of(Divides), entry_of(Skips)
    results = hw.ResultSet.from_files(stepped.files(before, study), models=hw.ModelSet([after]))
    report = verify_results(results)
    assert {difference.table for difference in report.differences} == {"runs.csv", "series.csv"}
    assert len([one for one in report.differences if one.table == "series.csv"]) == 5
    more = len(report.differences) - 3
    assert str(report).splitlines()[1:] == [f"  {one}" for one in report.differences[:3]] + [
        f"  and {more} more in run 0",
        "  note: model 'toy' may depend on more than its parameters, seed, actions and steps: "
        "henad check, or henad_web.testing.check_model, tells",
    ]


def test_a_report_lists_the_first_differences_of_the_first_runs() -> None:
    found = [Difference(run_id, "runs.csv", "ticks", None, "1", "2") for run_id in range(12) for _ in range(2)]
    report = VerifyReport(run_ids=tuple(range(12)), cells=99, differences=tuple(found))
    assert str(report).splitlines() == [
        "12 runs rerun, 99 results compared, 24 differ",
        *(f"  run {run_id}, ticks: recorded 1, rerun 2" for run_id in range(10) for _ in range(2)),
        "  and 4 more in 2 other runs",
    ]


def test_a_verification_goes_on_in_pieces(files: Files) -> None:
    verification = Verification(hw.ResultSet.from_files(files), run_ids=[0, 4])
    turns = 0
    while not verification.advance(1):
        turns += 1
    assert turns >= 59
    assert verification.report() == verify_results(hw.ResultSet.from_files(files), run_ids=[0, 4])


def test_runs_that_timed_out_are_left_out(stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec) -> None:
    spec = msgspec.structs.replace(small_sir, run=msgspec.structs.replace(small_sir.run, timeout_s=0.0))
    results = hw.ResultSet.from_files(stepped.files(models["sir"], spec))
    report = verify_results(results)
    assert report.run_ids == ()
    assert report.remarks == ("6 runs that timed out were left out of the choice",)


def test_a_folder_of_the_reference_engine_verifies() -> None:
    report = verify_results(hw.ResultSet.from_files(reference_files()))
    assert report.is_equal, str(report)
    assert report.run_ids == (0, 1, 2, 3)
