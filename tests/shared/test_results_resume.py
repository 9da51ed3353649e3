"""A result set in memory, such as a page exports and opens: it goes on wherever it is opened, to the same bytes."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

import henad_web as hw
from henad_web.explore.shards import WHOLE
from henad_web.output.store import MemoryStore
from henad_web.results.archive import pack, unpack
from henad_web.resume.kept_runs import reused_runs
from henad_web.resume.provenance import BuildChanged, PlatformChanged
from tests.shared.hosts import Host
from tests.shared.reference_folder import reference_files
from tests.shared.toy_models import Toy, entry_of


def interrupted(host: Host, entry: hw.ModelEntry, spec: hw.SweepSpec, runs: int) -> dict[str, bytes]:
    """Return the files of a sweep that was aborted once at least `runs` runs were written."""
    run = host.start(entry, spec)
    host.until(run, lambda: run.progress().runs_done >= runs)
    run.abort()
    files = host.record(run).files
    assert files is not None
    return files


def finished(host: Host, run: hw.SweepRun) -> dict[str, bytes]:
    files = host.record(run).files
    assert files is not None
    return files


@pytest.mark.parametrize("runs", [0, 2])
def test_an_aborted_sweep_goes_on_from_its_zip_to_the_bytes_of_a_whole_one(
    host: Host, stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec, runs: int
) -> None:
    archive = pack(interrupted(stepped, models["sir"], small_sir, runs))
    assert len(hw.ResultSet.from_files(unpack(archive)).runs) >= runs
    run = hw.SweepRun.resume_files(models["sir"], unpack(archive), target=host.target)
    assert hw.masked(finished(host, run)) == hw.masked(stepped.files(models["sir"], small_sir))


def test_names_do_not_count_and_the_files_given_stay_as_they_are(
    stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec
) -> None:
    files = interrupted(stepped, models["sir"], small_sir, 1)
    renamed = {f"({number}) {name}": content for number, (name, content) in enumerate(files.items())}
    before = dict(renamed)
    run = hw.SweepRun.resume_files(models["sir"], {**renamed, "notes": b""}, target=stepped.target)
    assert list(finished(stepped, run)) == ["runs.csv", "series.csv", "summary.csv", "manifest.json"]
    assert renamed == before


@pytest.mark.parametrize("cut", [{"runs.csv": 7}, {"series.csv": 3}, {"runs.csv": 7, "series.csv": 3}])
def test_a_torn_tail_is_repaired(
    stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec, cut: dict[str, int]
) -> None:
    whole = stepped.files(models["sir"], small_sir)
    torn = {**whole, **{name: whole[name][:-size] for name, size in cut.items()}}
    run = hw.SweepRun.resume_files(models["sir"], torn, target=stepped.target)
    assert hw.masked(finished(stepped, run)) == hw.masked(whole)


def test_more_replicates_reuse_the_rows_there_are(stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec) -> None:
    more = msgspec.structs.replace(small_sir, run=msgspec.structs.replace(small_sir.run, replicates=3))
    run = hw.SweepRun.resume_files(
        models["sir"], stepped.files(models["sir"], small_sir), spec=more, target=stepped.target
    )
    events = stepped.drain(run)
    ran = [event.outcome.run.run_id for event in events if isinstance(event, hw.RunFinished)]
    assert ran == [2, 5, 8]
    last = events[-1]
    assert isinstance(last, hw.Finished)
    assert last.record.files is not None
    assert hw.masked(last.record.files) == hw.masked(stepped.files(models["sir"], more))


def with_seeds(spec: hw.SweepSpec, *seeds: int) -> hw.SweepSpec:
    run = msgspec.structs.replace(spec.run, replicates=len(seeds))
    return msgspec.structs.replace(spec, run=run, seeds=hw.SeedSettings(root=8, list=seeds))


def test_a_longer_list_of_seeds_runs_the_new_replicates_alone(
    stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec
) -> None:
    files, more = (
        stepped.files(models["sir"], with_seeds(small_sir, 5, 2**64 - 1)),
        with_seeds(small_sir, 5, 2**64 - 1, 9),
    )
    seeds = hw.ResultSet.from_files(files).manifest.seeds
    assert (seeds.root, seeds.scheme, seeds.formula) == (8, "list", "list[rep]")
    run = hw.SweepRun.resume_files(models["sir"], files, spec=more, target=stepped.target)
    events = stepped.drain(run)
    assert [event.outcome.run.run_id for event in events if isinstance(event, hw.RunFinished)] == [2, 5, 8]
    last = events[-1]
    assert isinstance(last, hw.Finished)
    assert last.record.files is not None
    assert hw.masked(last.record.files) == hw.masked(stepped.files(models["sir"], more))
    assert hw.ResultSet.from_files(last.record.files).runs["seed"].tolist() == [5, 2**64 - 1, 9] * 3


def test_another_seed_of_a_run_that_is_there_is_refused(
    stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec
) -> None:
    files = stepped.files(models["sir"], with_seeds(small_sir, 5, 6))
    with pytest.raises(hw.ResumeError) as caught:
        hw.SweepRun.resume_files(models["sir"], files, spec=with_seeds(small_sir, 5, 7, 9), target=stepped.target)
    assert caught.value.reason is hw.ResumeReason.RUN_KEY_CHANGED


@pytest.mark.parametrize("is_given", [False, True])
def test_results_of_a_model_that_has_changed_are_refused_whatever_spec_is_given(
    stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec, is_given: bool
) -> None:
    files = stepped.files(models["sir"], small_sir)
    current = models["sir"].schema().schema_hash
    manifest = files["manifest.json"].replace(f'"schema_hash": "{current}"'.encode(), b'"schema_hash": "%016x"' % 7)
    with pytest.raises(hw.ResumeError) as caught:
        hw.SweepRun.resume_files(
            models["sir"],
            {**files, "manifest.json": manifest},
            spec=small_sir if is_given else None,
            target=stepped.target,
        )
    assert (caught.value.reason, caught.value.current) == (hw.ResumeReason.SCHEMA_CHANGED, current)


@pytest.mark.parametrize(
    ("table", "old", "new"), [("runs.csv", "Infected:max", "Infected:top"), ("series.csv", "Infected", "Infested")]
)
def test_no_row_is_reused_of_a_table_with_other_columns(
    stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec, table: str, old: str, new: str
) -> None:
    files = stepped.files(models["sir"], small_sir)
    plan = small_sir.plan(models["sir"].schema())
    assert reused_runs(MemoryStore(files), plan, WHOLE, retry_failed=False).count == plan.run_count
    renamed = {**files, table: files[table].replace(old.encode(), new.encode(), 1)}
    with pytest.raises(hw.TableDamagedError) as caught:
        reused_runs(MemoryStore(renamed), plan, WHOLE, retry_failed=False)
    assert (caught.value.table, caught.value.column, caught.value.came) == (table, old, new)


def test_an_id_that_two_rows_bear_is_refused_though_their_runs_are_two(
    stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec
) -> None:
    files = stepped.files(models["sir"], small_sir)
    twice = {**files, "runs.csv": files["runs.csv"].replace(b"\n3,1,0,1,", b"\n2,1,0,1,")}
    assert twice != files
    with pytest.raises(hw.ResumeError, match="there are two rows of run 2"):
        hw.SweepRun.resume_files(models["sir"], twice, target=stepped.target)


@pytest.mark.parametrize("reason", [*hw.ResumeReason, *hw.MergeReason])
def test_every_refusal_says_what_is_wrong_and_what_to_do_by_its_fields(
    reason: hw.ResumeReason | hw.MergeReason,
) -> None:
    row = {"run_id": 7, "config_id": 3, "rep": 1, "shard": "1/2", "table": "runs.csv"}
    error: hw.ResumeError | hw.MergeError
    if isinstance(reason, hw.ResumeReason):
        error = hw.ResumeError(reason, "here", recorded=("a", "b"), current="c", model="toy", **row)  # type: ignore[arg-type]
        assert f"{error.wrong}: recorded a, b, current c; " in str(error)
    else:
        error = hw.MergeError(reason, "here", other="there", field="plan", expected="c", found=("a", "b"), **row)  # type: ignore[arg-type]
        assert f"cannot merge here: {error.wrong}; " in str(error)
    assert (error.reason, error.path) == (reason, "here")
    assert "None" not in str(error)
    assert "{" not in str(error)
    assert "('a'" not in error.wrong


def killed(files: dict[str, bytes], rows: int) -> dict[str, bytes]:
    """Return `files` as a session leaves them that was killed once `rows` runs stood there."""
    manifest = msgspec.json.decode(files["manifest.json"])
    manifest["status"] = "running"
    manifest["sessions"][-1]["ran"] = 0
    table = b"".join(files["runs.csv"].splitlines(keepends=True)[: rows + 1])
    return {**files, "runs.csv": table, "manifest.json": msgspec.json.encode(manifest)}


def test_a_session_that_was_killed_is_told_by_the_rows_it_left(
    stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec
) -> None:
    files = stepped.files(models["sir"], small_sir)
    for rows in (4, 5):
        files = finished(stepped, hw.SweepRun.resume_files(models["sir"], killed(files, rows), target=stepped.target))
    sessions = hw.ResultSet.from_files(files).manifest.sessions
    assert [(session.skipped, session.ran) for session in sessions] == [(0, 4), (4, 1), (5, 1)]


def test_a_folder_of_the_reference_engine_goes_on_and_says_that_another_build_began_it(
    stepped: Host, models: hw.ModelSet
) -> None:
    files = reference_files()
    cut = {**files, "runs.csv": b"".join(files["runs.csv"].splitlines(keepends=True)[:3])}
    run = hw.SweepRun.resume_files(models["sir"], cut, target=stepped.target)
    events = stepped.drain(run)
    warned = [event.warning for event in events if isinstance(event, hw.Warned)]
    assert [warning.role for warning in warned if isinstance(warning, BuildChanged)] == ["engine"]
    last = events[-1]
    assert isinstance(last, hw.Finished)
    assert last.record.report.warnings == tuple(warned)
    assert [str(event) for event in events if isinstance(event, hw.Warned)] == [str(warning) for warning in warned]
    assert str(warned[0]).startswith("earlier rows come from another build of the engine: ")
    assert last.record.files is not None
    results = hw.ResultSet.from_files(last.record.files)
    assert results.is_complete
    old = hw.ResultSet.from_files(files)
    for name in ("run_key", "seed", "Infected:final", "Susceptible:max", "ticks"):
        assert results.runs[name].tolist() == old.runs[name].tolist()
    assert last.record.files["series.csv"] == files["series.csv"]
    assert [(session.skipped, session.ran) for session in results.manifest.sessions] == [(0, 4), (2, 2)]


@pytest.mark.parametrize("portable", [True, False])
def test_rows_of_another_platform_are_named_when_the_model_is_not_portable(stepped: Host, portable: bool) -> None:
    entry = entry_of(Toy)
    entry = dataclasses.replace(entry, metadata=dataclasses.replace(entry.metadata, portable=portable))
    factor = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=(1, 2, 3, 4)))
    spec = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=2), blocks=(hw.BlockSpec(factors=(factor,)),))
    files = stepped.files(entry, spec)
    here = msgspec.json.decode(files["manifest.json"])["runtime"]["os"]
    cut = {
        **files,
        "runs.csv": b"".join(files["runs.csv"].splitlines(keepends=True)[:3]),
        "manifest.json": files["manifest.json"].replace(f'"os": "{here}"'.encode(), b'"os": "elsewhere"'),
    }
    run = hw.SweepRun.resume_files(entry, cut, target=stepped.target)
    warned = [event.warning for event in stepped.drain(run) if isinstance(event, hw.Warned)]
    (changed,) = [warning for warning in warned if isinstance(warning, PlatformChanged)]
    assert changed.portable is portable
    assert changed.recorded.startswith("elsewhere ")
    assert changed.rows == (() if portable else ((changed.recorded, "0-1"),))
