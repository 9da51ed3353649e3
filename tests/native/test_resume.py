"""Laws of a resume: it runs what is missing and nothing else, and the folder becomes the uninterrupted one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import henad_web as hw
from henad_web.output.manifest import ManifestStatus
from tests.native.folders import (
    DIVIDES,
    SIR,
    SMALL_SIR,
    TOY,
    events_of,
    hash_of,
    manifest_of,
    masked_in,
    ran_ids,
    record_of,
    resume,
    sessions_of,
    start,
    sweep,
    toy_spec,
    with_run,
)
from tests.shared.toy_models import DividesAtBuild, Inverse, Toy, entry_of

pytestmark = pytest.mark.usefixtures("quick_disk")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the six runs of the small epidemic."""
    directory = tmp_path_factory.mktemp("whole") / "results"
    sweep(SIR, SMALL_SIR, directory)
    return directory


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy of `whole` to work on."""
    return Path(shutil.copytree(whole, tmp_path / "My Runs é"))


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def keep_lines(path: Path, count: int, more: bytes = b"") -> None:
    """Leave the header and `count` lines of the table at `path`, and `more`."""
    path.write_bytes(b"".join(lines_of(path)[: count + 1]) + more)


def test_a_killed_process_costs_the_runs_it_had_not_written(whole: Path, folder: Path) -> None:
    """Rows 0 and 1 and 20 bytes of row 2 are left, and a partial line of its series."""
    torn = lines_of(folder / "runs.csv")[3][:20]
    keep_lines(folder / "runs.csv", 2, torn)
    keep_lines(folder / "series.csv", 13, b"2,6,2")
    run = resume(SIR, folder)
    first, *rest = events_of(run)
    assert isinstance(first, hw.Planned)
    assert (first.outline.skipped, first.outline.pending) == (2, 4)
    assert [event.outcome.run.run_id for event in rest if isinstance(event, hw.RunFinished)] == [2, 3, 4, 5]
    progress = run.progress()
    assert (progress.runs_skipped, progress.runs_total, progress.runs_done) == (2, 4, 4)
    assert masked_in(folder) == masked_in(whole)
    assert sessions_of(folder) == [(0, 6), (2, 4)]
    assert manifest_of(folder).results == manifest_of(whole).results
    assert ran_ids(resume(SIR, folder)) == []
    assert sessions_of(folder) == [(0, 6), (2, 4), (6, 0)]
    assert masked_in(folder) == masked_in(whole)


def test_an_aborted_sweep_goes_on(whole: Path, tmp_path: Path) -> None:
    runs: list[hw.SweepRun] = []

    def wake() -> None:
        if runs[0].progress().runs_done == 2:
            runs[0].abort()

    runs.append(start(SIR, SMALL_SIR, tmp_path / "results", wake=wake))
    assert record_of(runs[0]).report.counts.rows == 2
    assert manifest_of(tmp_path / "results").status is ManifestStatus.ABORTED
    assert ran_ids(resume(SIR, tmp_path / "results")) == [2, 3, 4, 5]
    assert masked_in(tmp_path / "results") == masked_in(whole)
    assert sessions_of(tmp_path / "results") == [(0, 2), (2, 4)]


def test_a_blocking_resume_starts_what_is_not_there_and_goes_on_with_what_is(whole: Path, tmp_path: Path) -> None:
    output = hw.DirectoryOutput(tmp_path / "results")
    with pytest.raises(hw.ResumeError, match=r"no manifest\.json; start the sweep into a new folder instead") as caught:
        hw.resume_sweep(SIR, _made(tmp_path / "results"))
    assert caught.value.reason is hw.ResumeReason.NO_RESULTS
    for ran in (6, 0):
        record = hw.run_spec(SIR, SMALL_SIR, output=output, resume=True)
        assert (record.report.outline.pending, record.report.counts.rows) == (ran, 6)
    assert hw.resume_sweep(SIR, tmp_path / "results").report.outline.skipped == 6
    assert masked_in(tmp_path / "results") == masked_in(whole)
    with pytest.raises(hw.HoldsResultsError):
        hw.run_spec(SIR, SMALL_SIR, output=output)


def _made(directory: Path) -> Path:
    directory.mkdir()
    return directory


def test_a_dry_run_counts_what_a_resume_would_skip(folder: Path) -> None:
    keep_lines(folder / "runs.csv", 4)
    before = hash_of(folder)
    outline = hw.plan_spec(SIR, SMALL_SIR, output=hw.DirectoryOutput(folder), resume=True)
    assert (outline.skipped, outline.pending, outline.dry_run) == (4, 2, True)
    with pytest.raises(hw.HoldsResultsError):
        hw.plan_spec(SIR, SMALL_SIR, output=hw.DirectoryOutput(folder))
    assert hash_of(folder) == before


def test_replicates_may_be_raised_and_only_the_new_ones_run(folder: Path, tmp_path: Path) -> None:
    more = with_run(SMALL_SIR, replicates=3)
    assert ran_ids(resume(SIR, folder, more)) == [2, 5, 8]
    sweep(SIR, more, tmp_path / "fresh")
    assert masked_in(folder) == masked_in(tmp_path / "fresh")
    rows = [line.split(b",") for line in lines_of(folder / "runs.csv")[1:]]
    assert [int(row[3]) for row in rows] == [0, 1, 2] * 3
    plan = manifest_of(folder).plan
    assert (plan.replicates, plan.runs) == (3, 9)
    spans = [session.rows for session in manifest_of(folder).sessions]
    assert [sorted(id for span in rows or () for id in span) for rows in spans] == [[0, 1, 3, 4, 6, 7], [2, 5, 8]]


def test_a_killed_raise_of_replicates_can_still_be_gone_on_with(folder: Path, tmp_path: Path) -> None:
    """Whichever of tables and manifest a kill left old, rows are told by config and replicate."""
    more = with_run(SMALL_SIR, replicates=3)
    old = {name: (folder / name).read_bytes() for name in ("manifest.json", "runs.csv", "series.csv")}
    record_of(resume(SIR, folder, more))
    finished = masked_in(folder)
    (folder / "manifest.json").write_bytes(old["manifest.json"])
    assert ran_ids(resume(SIR, folder, more)) == []
    assert masked_in(folder) == finished
    for name in ("runs.csv", "series.csv"):
        (folder / name).write_bytes(old[name])
    assert ran_ids(resume(SIR, folder)) == [2, 5, 8]
    assert masked_in(folder) == finished


@pytest.mark.parametrize("removed", [(1,), (0, 3), (5,), (0, 1, 2, 3, 4, 5)])
def test_rows_are_told_by_key_not_by_place(whole: Path, folder: Path, removed: tuple[int, ...]) -> None:
    lines = lines_of(folder / "runs.csv")
    (folder / "runs.csv").write_bytes(b"".join(line for row, line in enumerate(lines, -1) if row not in removed))
    assert ran_ids(resume(SIR, folder)) == list(removed)
    assert masked_in(folder) == masked_in(whole)


def test_rows_in_another_order_are_kept_and_brought_into_plan_order(whole: Path, folder: Path) -> None:
    header, *rows = lines_of(folder / "runs.csv")
    (folder / "runs.csv").write_bytes(header + b"".join(reversed(rows)))
    assert ran_ids(resume(SIR, folder)) == []
    assert masked_in(folder) == masked_in(whole)


@pytest.mark.parametrize("run_id", [0, 3, 5])
def test_a_run_whose_series_is_not_whole_runs_again(whole: Path, folder: Path, run_id: int) -> None:
    lines = lines_of(folder / "series.csv")
    last = max(place for place, line in enumerate(lines) if line.startswith(b"%d," % run_id))
    (folder / "series.csv").write_bytes(b"".join(lines[:last] + lines[last + 1 :]))
    assert ran_ids(resume(SIR, folder)) == [run_id]
    assert masked_in(folder) == masked_in(whole)


@pytest.mark.parametrize("missing", [("series.csv",), ("runs.csv",), ("runs.csv", "series.csv"), ("summary.csv",)])
def test_a_missing_table_is_made_again(whole: Path, folder: Path, missing: tuple[str, ...]) -> None:
    for name in missing:
        (folder / name).unlink()
    assert ran_ids(resume(SIR, folder)) == ([] if missing == ("summary.csv",) else [0, 1, 2, 3, 4, 5])
    assert masked_in(folder) == masked_in(whole)


def test_the_timeout_is_no_part_of_the_plan(folder: Path) -> None:
    assert ran_ids(resume(SIR, folder, with_run(SMALL_SIR, timeout_s=600.0))) == []
    assert manifest_of(folder).spec["run"]["timeout_s"] == 600.0  # type: ignore[index]


def test_runs_that_timed_out_run_again(whole: Path, tmp_path: Path) -> None:
    hurried = with_run(SMALL_SIR, timeout_s=0.0)
    sweep(SIR, hurried, tmp_path / "results")
    rows = lines_of(tmp_path / "results" / "runs.csv")[1:]
    assert all(b",timed_out,timeout," in row and b"timed out after 0 s at tick " in row for row in rows)
    assert ran_ids(resume(SIR, tmp_path / "results", SMALL_SIR)) == [0, 1, 2, 3, 4, 5]
    assert masked_in(tmp_path / "results") == masked_in(whole)
    assert sessions_of(tmp_path / "results") == [(0, 6), (0, 6)]


def test_failed_runs_are_kept_unless_they_are_to_be_tried_again(tmp_path: Path) -> None:
    spec = toy_spec((1, 0, 2))
    sweep(DIVIDES, spec, tmp_path / "results")
    before = masked_in(tmp_path / "results")
    assert ran_ids(resume(DIVIDES, tmp_path / "results")) == []
    assert masked_in(tmp_path / "results") == before
    assert ran_ids(resume(DIVIDES, tmp_path / "results", retry_failed=True)) == [2, 3]
    assert sessions_of(tmp_path / "results") == [(0, 6), (6, 0), (4, 2)]
    assert masked_in(tmp_path / "results") == before
    assert manifest_of(tmp_path / "results").status is ManifestStatus.COMPLETE


@pytest.mark.parametrize("model", [DividesAtBuild, Inverse])
def test_the_last_run_is_kept_however_it_ended(tmp_path: Path, model: type[Toy]) -> None:
    entry, spec = entry_of(model, stats=("Ticks",) if model is DividesAtBuild else ("Inverse",)), toy_spec((1, 2, 0))
    sweep(entry, spec, tmp_path / "results")
    assert ran_ids(resume(entry, tmp_path / "results")) == []


def test_a_failing_model_can_be_mended_and_tried_again(tmp_path: Path) -> None:
    spec = toy_spec((1, 0, 2))
    sweep(DIVIDES, spec, tmp_path / "results")
    assert ran_ids(resume(TOY, tmp_path / "results", retry_failed=True)) == [2, 3]
    sweep(TOY, spec, tmp_path / "fresh")
    assert masked_in(tmp_path / "results") == masked_in(tmp_path / "fresh")


def test_a_directory_in_place_of_the_summary_fails_a_resume_and_not_its_rows(whole: Path, folder: Path) -> None:
    keep_lines(folder / "runs.csv", 3)
    (folder / "summary.csv").unlink()
    (folder / "summary.csv").mkdir()
    *_, last = events_of(resume(SIR, folder))
    assert isinstance(last, hw.Failed)
    manifest = manifest_of(folder)
    assert (manifest.status, manifest.results) == (ManifestStatus.FAILED, None)
    assert manifest.timestamps.finished is not None
    (folder / "summary.csv").rmdir()
    assert ran_ids(resume(SIR, folder)) == []
    assert masked_in(folder) == masked_in(whole)


def test_staged_tables_are_finished_when_marked_and_dropped_when_not(whole: Path, folder: Path) -> None:
    tables = {name: (folder / name).read_bytes() for name in ("runs.csv", "series.csv")}
    for name, content in tables.items():
        (folder / f"{name}.staged").write_bytes(b"torn" if name == "series.csv" else content)
    assert ran_ids(resume(SIR, folder)) == []
    assert masked_in(folder) == masked_in(whole)
    for name, content in tables.items():
        (folder / f"{name}.staged").write_bytes(content)
    (folder / "runs.csv").write_bytes(b"old and torn")
    (folder / "series.csv").unlink()
    (folder / "series.csv.staged").replace(folder / "series.csv")  # killed between the two renames
    (folder / "tables.staged").write_bytes(b"")
    assert ran_ids(resume(SIR, folder)) == []
    assert masked_in(folder) == masked_in(whole)


Change = Callable[[Path], object]


def _edit(name: str, old: bytes, new: bytes, count: int = 1) -> Change:
    def change(folder: Path) -> None:
        content = (folder / name).read_bytes()
        assert old in content
        (folder / name).write_bytes(content.replace(old, new, count))

    return change


def _twice(folder: Path) -> None:
    keep_lines(folder / "runs.csv", 6, lines_of(folder / "runs.csv")[3])


def nothing(folder: Path) -> None:
    """Change nothing in the folder."""


OTHER_ROOT = msgspec.structs.replace(SMALL_SIR, seeds=hw.SeedSettings(root=9))
Reason = hw.ResumeReason
Refusal = Reason | type[hw.HenadError]
REFUSALS: dict[str, tuple[Change, hw.SweepSpec | None, dict[str, object], Refusal, str]] = {
    "steps": (nothing, with_run(SMALL_SIR, steps=31), {}, Reason.PLAN_CHANGED, r"recorded [0-9a-f]{16}, current"),
    "root": (nothing, OTHER_ROOT, {}, Reason.PLAN_CHANGED, "the plan hash is another one"),
    "shard": (nothing, None, {"shard": hw.Shard(1, 2)}, Reason.SHARD_CHANGED, "recorded 0/1, current 1/2"),
    "replicates": (nothing, with_run(SMALL_SIR, replicates=1), {}, Reason.REPLICATES_LOWERED, "recorded 2, current 1"),
    "mode": (_edit("manifest.json", b'"mode": "sweep"', b'"mode": "search"'), None, {}, Reason.MODE_CHANGED,
             "recorded search, current sweep"),
    "model": (_edit("manifest.json", b'"id": "sir"', b'"id": "sis"'), None, {}, hw.ModelMismatchError, "'sis'"),
    "schema": (_edit("manifest.json", b'"schema_hash": "6', b'"schema_hash": "0'), None, {}, Reason.SCHEMA_CHANGED,
               "schema of the model 'sir' has changed: recorded 0"),
    "unknown": (_edit("runs.csv", b"\n5,2,0,1,", b"\n5,3,0,1,"), None, {}, Reason.UNPLANNED_RUN,
                "run 5 .config 3, rep 1. is of no run of the plan"),
    "rep": (_edit("runs.csv", b"\n5,2,0,1,", b"\n5,2,0,2,"), None, {}, Reason.UNPLANNED_RUN, "config 2, rep 2"),
    "duplicate": (_twice, None, {}, Reason.DUPLICATE_RUN, "two rows of run 2"),
    "moved": (_edit("runs.csv", b",2,0,1,1", b",2,0,0,1"), None, {}, Reason.DUPLICATE_RUN, "two rows of run 4"),
    "run columns": (_edit("runs.csv", b"Infected:max", b"Infected:top"), None, {}, Reason.COLUMNS_CHANGED, "runs.csv"),
    "stat columns": (_edit("series.csv", b"Infected", b"Infested"), None, {}, Reason.COLUMNS_CHANGED, "series.csv"),
    "torn middle": (_edit("runs.csv", b"\n3,1,0,1,", b"\n3,1\n3,1,0,1,"), None, {}, hw.TableDamagedError,
                    "record 5: expected 32 fields and not 2"),
    "torn series": (_edit("series.csv", b"\n3,12,", b"\n3,1\n3,12,"), None, {}, hw.TableDamagedError, "series.csv"),
    "manifest": (_edit("manifest.json", b'"format_version": 1', b'"format_version": 9'), None, {}, hw.ManifestError,
                 "version 9"),
    "no manifest": (lambda folder: (folder / "manifest.json").unlink(), None, {}, Reason.NO_RESULTS, "no manifest"),
    "no folder": (shutil.rmtree, None, {}, hw.OutputError, "there is no folder"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal_leaves_the_folder_untouched_and_says_why(folder: Path, case: str) -> None:
    change, spec, options, refusal, message = REFUSALS[case]
    change(folder)
    before = hash_of(folder)
    with pytest.raises(refusal if isinstance(refusal, type) else hw.ResumeError, match=message) as caught:
        resume(SIR, folder, spec, **options)
    assert refusal in (type(caught.value), getattr(caught.value, "reason", None))
    assert hash_of(folder) == before


def test_a_key_that_the_plan_does_not_give_is_refused(folder: Path) -> None:
    row = lines_of(folder / "runs.csv")[4].split(b",")
    _edit("runs.csv", row[5], b"00000000000000ff")(folder)
    before = hash_of(folder)
    with pytest.raises(hw.ResumeError, match="recorded 00000000000000ff, current ") as caught:
        resume(SIR, folder)
    assert caught.value.reason is hw.ResumeReason.RUN_KEY_CHANGED
    assert (caught.value.run_id, caught.value.current) == (3, row[5].decode())
    assert hash_of(folder) == before


def test_columns_that_the_model_no_longer_gives_end_a_resume_before_it_writes(folder: Path) -> None:
    for name in ("manifest.json", "runs.csv", "series.csv"):
        _edit(name, b"Infected", b"Infested", 100)(folder)
    before = hash_of(folder)
    _edit("manifest.json", b'"label": "Infested"', b'"label": "Infected"')(folder)
    before = hash_of(folder)
    *_, last = events_of(resume(SIR, folder))
    assert isinstance(last, hw.Failed)
    assert "the columns of series.csv differ: recorded Susceptible, Infested, Recovered, current Susc" in last.message
    assert hash_of(folder) == before


def test_links_in_place_of_tables_are_never_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "runs.csv").rename(tmp_path / "elsewhere.csv")
    (folder / "runs.csv").symlink_to(tmp_path / "elsewhere.csv")
    before = (hash_of(folder), (tmp_path / "elsewhere.csv").read_bytes())
    with pytest.raises(hw.OutputError, match="is a link, which is never followed"):
        resume(SIR, folder)
    assert (hash_of(folder), (tmp_path / "elsewhere.csv").read_bytes()) == before


def test_somebody_who_wrote_between_the_checks_and_the_lock_ends_the_resume(folder: Path) -> None:
    run = resume(SIR, folder)
    keep_lines(folder / "runs.csv", 3)
    before = (folder / "runs.csv").read_bytes()
    *_, last = events_of(run)
    assert isinstance(last, hw.Failed)
    assert "somebody else has written into it meanwhile; resume it again" in last.message
    assert (folder / "runs.csv").read_bytes() == before
    assert ran_ids(resume(SIR, folder)) == [3, 4, 5]
