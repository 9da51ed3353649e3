"""Sweeps with adaptive replicates: files are what the rule says, however they are done, cut short and gone on with."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest

import henad_web as hw
from henad_web.explore.replication import NotBinaryError
from henad_web.explore.shards import WHOLE
from henad_web.output.store import MemoryStore
from henad_web.resume.kept_runs import reused_runs
from tests.shared.adaptive_studies import CHANCE, HIT, SIZE, adaptive, chance_spec, naive_counts
from tests.shared.hosts import Host, ManualClock
from tests.shared.lane_bench import Bench

SPEC = chance_spec()
COUNTS = naive_counts(SPEC)
ROWS = [(config_id, rep) for config_id, (count, _) in COUNTS.items() for rep in range(count)]


def results_of(files: dict[str, bytes]) -> hw.ResultSet:
    return hw.ResultSet.from_files(files, models=CHANCE)


def rows_of(files: dict[str, bytes]) -> list[tuple[int, int]]:
    runs = results_of(files).runs
    assert (runs["run_id"] == runs["config_id"] * 40 + runs["rep"]).all()
    return list(zip(runs["config_id"].tolist(), runs["rep"].tolist(), strict=True))


def with_replicates(spec: hw.SweepSpec, replicates: object) -> hw.SweepSpec:
    return msgspec.structs.replace(spec, run=msgspec.structs.replace(spec.run, replicates=replicates))


def resumed(host: Host, files: dict[str, bytes], spec: hw.SweepSpec | None = None, **options: object) -> hw.SweepRun:
    chosen = hw.SweepRunOptions(**options)  # type: ignore[arg-type]
    return hw.SweepRun.resume_files(CHANCE, files, chosen, spec=spec, target=host.target)


def gone_on(
    host: Host, files: dict[str, bytes], spec: hw.SweepSpec | None = None, **options: object
) -> dict[str, bytes]:
    found = host.record(resumed(host, files, spec, **options)).files
    assert found is not None
    return found


def without_rows(files: dict[str, bytes], drop: Callable[[int, int], bool]) -> dict[str, bytes]:
    """Return `files` of a sweep that was killed, without the rows of which `drop` is true of config and replicate."""
    header, *lines = files["runs.csv"].splitlines(keepends=True)
    kept = [line for line in lines if not drop(*map(int, (line.split(b",")[1], line.split(b",")[3])))]
    manifest = files["manifest.json"].replace(b'"status": "complete"', b'"status": "running"')
    return {**files, "runs.csv": b"".join([header, *kept]), "manifest.json": manifest}


@pytest.fixture(scope="module")
def whole() -> dict[str, bytes]:
    bench = Bench(ManualClock(), entry=CHANCE, spec=SPEC)
    return files_of(bench, lambda held: held[0])


def files_of(bench: Bench, choose: Callable[[list[int]], int]) -> dict[str, bytes]:
    """Let the lanes of `bench` end the run that `choose` names of those they hold, until all is done."""
    bench.pump()
    while bench.lanes.held:
        bench.end([choose(list(bench.lanes.held))])
    last = bench.events[-1]
    assert isinstance(last, hw.Finished), last
    assert last.record.files is not None
    return last.record.files


def test_the_rows_are_those_of_the_rule_in_plan_order(host: Host) -> None:
    assert len({count for count, _ in COUNTS.values()}) > 2
    assert {narrow for _, narrow in COUNTS.values()} == {True, False}
    files = host.files(CHANCE, SPEC)
    assert rows_of(files) == ROWS
    series = [int(line.split(b",")[0]) for line in files["series.csv"].splitlines()[1:]]
    assert list(dict.fromkeys(series)) == [config_id * 40 + rep for config_id, rep in ROWS]
    manifest = json.loads(files["manifest.json"])
    assert (manifest["status"], manifest["results"]["rows"], manifest["plan"]["runs"]) == ("complete", len(ROWS), 200)


def test_the_summary_says_what_was_reached_and_with_which_intervals(whole: dict[str, bytes]) -> None:
    summary = results_of(whole).summary
    assert summary.columns[-5:] == (
        "Hit:final:until_low",
        "Hit:final:until_high",
        "Size:final:until_low",
        "Size:final:until_high",
        "until_reached",
    )
    assert summary["until_reached"].tolist() == [narrow for _, narrow in COUNTS.values()]
    assert summary["runs"].tolist() == [count for count, _ in COUNTS.values()]
    half = (summary["Hit:final:until_high"] - summary["Hit:final:until_low"]) / 2
    relative = (summary["Size:final:until_high"] - summary["Size:final:until_low"]) / 2 / summary["Size:final:mean"]
    assert ((half <= 0.13) & (relative <= 0.12)).tolist() == summary["until_reached"].tolist()
    assert summary["failed"].sum() > 0
    plain = results_of(files_of(Bench(ManualClock(), entry=CHANCE, spec=chance_spec(replicates=3)), min)).summary
    assert not any("until" in column for column in plain.columns)


@pytest.mark.parametrize("choose", [lambda held: held[-1], lambda held: held[len(held) // 2], max, min])
def test_the_files_do_not_depend_on_which_run_ends_first(
    whole: dict[str, bytes], choose: Callable[[list[int]], int]
) -> None:
    assert hw.masked(files_of(Bench(ManualClock(), entry=CHANCE, spec=SPEC), choose)) == hw.masked(whole)


def test_tables_grow_in_one_order_on_any_lanes() -> None:
    written = []
    for choose in (min, max):
        bench = Bench(ManualClock(), entry=CHANCE, spec=SPEC)
        files_of(bench, choose)
        written.append(bench.written())
    assert written[0] == written[1] != sorted(written[0])


def test_results_that_are_complete_are_told_from_those_that_are_not(whole: dict[str, bytes]) -> None:
    results = results_of(whole)
    assert (results.is_complete, results.expected_runs) == (True, len(ROWS))
    cut_files = without_rows(whole, lambda config_id, rep: (config_id, rep) == (4, 3))
    cut = results_of(cut_files)
    assert (cut.is_complete, cut.expected_runs) == (False, 200)
    assert cut.summary["until_reached"].tolist()[4] is False
    assert not results_of({**whole, "runs.csv": cut_files["runs.csv"]}).is_complete
    report = hw.verify_results(results, runs=6)
    assert len(report.run_ids) == 6
    assert report.differences == ()


def test_progress_begins_with_the_most_and_ends_with_what_there_is(host: Host) -> None:
    run = host.start(CHANCE, SPEC)
    totals, bounds = [], []
    while not run.is_ended:
        host.next_event(run)
        totals.append(run.progress().runs_total)
        bounds.append(run.progress().total_is_most)
    assert totals[0] == 200
    assert totals == sorted(totals, reverse=True)
    assert (totals[-1], run.progress().runs_done) == (len(ROWS), len(ROWS))
    assert (bounds[0], bounds[-1]) == (True, False)


@pytest.mark.parametrize("rows", [0, 9, 21, 70])
def test_an_aborted_sweep_goes_on_to_the_bytes_of_a_whole_one(host: Host, whole: dict[str, bytes], rows: int) -> None:
    bench = Bench(ManualClock(), entry=CHANCE, spec=SPEC)
    bench.pump()
    while len(bench.written()) < rows:
        bench.end([max(bench.lanes.held)])
    bench.control.abort()
    bench.pump()
    last = bench.events[-1]
    assert isinstance(last, hw.Finished)
    assert last.record.files is not None
    assert rows <= len(rows_of(last.record.files)) < len(ROWS)
    assert hw.masked(gone_on(host, last.record.files)) == hw.masked(whole)


@pytest.mark.parametrize("lost", [(0, 0), (1, 4), (3, 5), (4, 39)])
def test_a_run_that_is_lost_in_any_round_is_done_again_with_those_decided_on_behind_it(
    stepped: Host, whole: dict[str, bytes], lost: tuple[int, int]
) -> None:
    if lost not in ROWS:
        lost = max(row for row in ROWS if row <= lost)
    files = without_rows(whole, lambda config_id, rep: (config_id, rep) == lost)
    run = resumed(stepped, files)
    ran = [event.outcome.run for event in stepped.drain(run) if isinstance(event, hw.RunFinished)]
    ends = [4, 5, 7, 9, 12, 15, 19, 24, 30, 38, 40]
    behind = next(end for end in ends if end > lost[1])
    again = {lost, *((config_id, rep) for config_id, rep in ROWS if config_id == lost[0] and rep >= behind)}
    assert {(each.config_id, each.rep) for each in ran} == again
    assert hw.masked(gone_on(stepped, files)) == hw.masked(whole)


def test_half_of_the_rows_in_any_order_are_enough_to_go_on(stepped: Host, whole: dict[str, bytes]) -> None:
    files = without_rows(whole, lambda config_id, rep: (7 * config_id + rep) % 3 == 0)
    header, *lines = files["runs.csv"].splitlines(keepends=True)
    files = {**files, "runs.csv": b"".join([header, *reversed(lines)])}
    assert hw.masked(gone_on(stepped, files)) == hw.masked(whole)


def test_rows_count_in_whatever_order_they_stand(stepped: Host, whole: dict[str, bytes]) -> None:
    header, *lines = without_rows(whole, lambda config_id, rep: False)["runs.csv"].splitlines(keepends=True)
    run = resumed(stepped, {**whole, "runs.csv": b"".join([header, *reversed(lines)])})
    assert not any(isinstance(event, hw.RunFinished) for event in stepped.drain(run))


def test_failed_runs_are_tried_again_to_the_same_end(stepped: Host, whole: dict[str, bytes]) -> None:
    assert hw.masked(gone_on(stepped, whole, retry_failed=True)) == hw.masked(whole)


def test_the_most_may_be_raised_and_not_lowered(stepped: Host, whole: dict[str, bytes]) -> None:
    more = with_replicates(SPEC, adaptive(most=100))
    wider = gone_on(stepped, whole, more)
    assert hw.masked(wider) == hw.masked(stepped.files(CHANCE, more))
    assert len(results_of(wider).runs) > len(ROWS)
    with pytest.raises(hw.ResumeError) as caught:
        resumed(stepped, whole, with_replicates(SPEC, adaptive(most=39)))
    assert caught.value.reason is hw.ResumeReason.REPLICATES_LOWERED


@pytest.mark.parametrize("replicates", [40, adaptive(HIT), adaptive(least=5), adaptive(SIZE, HIT)])
def test_another_rule_is_refused_in_the_same_place(stepped: Host, whole: dict[str, bytes], replicates: object) -> None:
    with pytest.raises(hw.ResumeError, match="differs in more than the number of replicates") as caught:
        resumed(stepped, whole, with_replicates(SPEC, replicates))
    assert caught.value.reason is hw.ResumeReason.PLAN_CHANGED


def test_rows_that_the_rule_would_not_have_made_are_refused(stepped: Host, whole: dict[str, bytes]) -> None:
    many = stepped.files(CHANCE, with_replicates(SPEC, 40))
    settled = next(config_id for config_id, (count, _) in COUNTS.items() if count < 40)
    files = {**many, "manifest.json": whole["manifest.json"]}
    with pytest.raises(hw.ResumeError) as caught:
        resumed(stepped, files)
    error, rep = caught.value, COUNTS[settled][0]
    assert error.reason is hw.ResumeReason.SUPERFLUOUS_RUN
    assert (error.run_id, error.config_id, error.rep) == (settled * 40 + rep, settled, rep)
    assert f"the row of run {error.run_id} (config {settled}, rep {rep}) is behind the round" in str(error)


def kept_of(files: dict[str, bytes], spec: hw.SweepSpec, shard: hw.Shard = WHOLE) -> list[int]:
    plan = spec.plan(CHANCE.schema())
    kept = reused_runs(MemoryStore(files), plan, shard, retry_failed=False)
    rule = spec.run.adaptive
    assert (kept.told is None) == (rule is None)
    return [int(run_id) for run_id in kept.tables.rows.run_ids]


def test_a_reuse_takes_what_the_rule_asks_for_as_far_as_it_can_be_decided(
    stepped: Host, whole: dict[str, bytes]
) -> None:
    expected = [config_id * 40 + rep for config_id, rep in ROWS]
    assert kept_of(whole, SPEC) == expected
    odd = [run_id for run_id in expected if run_id // 40 % 2 == 1]
    assert kept_of(whole, SPEC, hw.Shard(1, 2)) == odd
    assert kept_of(stepped.files(CHANCE, with_replicates(SPEC, 40)), SPEC) == expected
    assert kept_of(stepped.files(CHANCE, with_replicates(SPEC, 5)), SPEC) == [
        config_id * 40 + rep for config_id, (count, _) in COUNTS.items() for rep in range(min(5, count))
    ]
    assert kept_of(whole, with_replicates(SPEC, 3)) == list(range(15))


def test_a_column_that_is_no_share_ends_a_sweep_that_asks_for_wilson_s_interval(
    host: Host, whole: dict[str, bytes]
) -> None:
    wrong = msgspec.structs.replace(HIT, column="Size:final")
    spec = with_replicates(SPEC, adaptive(wrong))
    events = host.drain(host.start(CHANCE, spec))
    last = events[-1]
    assert isinstance(last, hw.Failed)
    assert "config 0, rep 1: column 'Size:final' is" in last.message
    assert 'interval = "student"' in last.message


def test_a_folder_whose_values_are_no_shares_is_refused(stepped: Host, whole: dict[str, bytes]) -> None:
    column = whole["runs.csv"].split(b"\n")[0].split(b",").index(b"Hit:final")
    header, failed, ok, *lines = whole["runs.csv"].splitlines(keepends=True)
    cells = ok.split(b",")
    cells[column] = b"0.25"
    files = {**whole, "runs.csv": b"".join([header, failed, b",".join(cells), *lines])}
    with pytest.raises(NotBinaryError, match=r"column 'Hit:final' is 0\.25"):
        resumed(stepped, files)
    assert results_of(files).summary["until_reached"].dtype == bool
