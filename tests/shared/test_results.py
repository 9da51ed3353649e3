"""Result sets read back: files known by content, whatever state they were left in, and what is wrong with others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import henad_web as hw
from henad_web.results.errors import DuplicateFileError, ModelChangedError
from henad_web.results.verifying import verify_results
from henad_web.targets import PumpedTarget
from tests.shared.hosts import Host
from tests.shared.reference_folder import SEEDS, reference_files
from tests.shared.toy_models import Divides, DividesAtBuild, Inverse, Reshapes, Toy, entry_of, toy_spec

COLUMNS = 4
ROWS = 6
RUN_BYTES = ROWS * COLUMNS * 8
"""Series of one run of `small_sir`: ticks 0 to 30 by 6, three statistics and the tick, eight bytes each."""


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    host = Host(PumpedTarget())
    yield host
    host.close()


@pytest.fixture(scope="module")
def files(host: Host) -> dict[str, bytes]:
    return host.files(hw.example_models()["sir"], spec())


def spec() -> hw.SweepSpec:
    levels = (hw.ValueLevels(values=(0.2, 0.4, 0.6)), hw.ValueLevels(values=(6, 12, 18)))
    factors = (
        hw.FactorSpec(param="infection_rate", levels=levels[0]),
        hw.FactorSpec(action="seed_outbreak", levels=levels[1]),
    )
    return hw.SweepSpec(
        model="sir",
        fixed=(("grid_width", 16), ("grid_height", 16)),
        run=hw.RunSettings(steps=30, replicates=2),
        measure=hw.MeasureSettings(stats_every=3, series_every=6),
        seeds=hw.SeedSettings(root=8),
        actions=(hw.ActionSpec(id="seed_outbreak", tick=12),),
        blocks=(hw.BlockSpec(design=hw.DesignKind.ZIP, factors=factors),),
    )


def with_status(files: dict[str, bytes], status: str) -> dict[str, bytes]:
    manifest = json.loads(files["manifest.json"])
    return {**files, "manifest.json": json.dumps({**manifest, "status": status}).encode()}


def test_rows_are_typed_columns_in_the_order_of_the_file(files: dict[str, bytes]) -> None:
    runs = hw.ResultSet.from_files(files).runs
    header = files["runs.csv"].decode().splitlines()[0].split(",")
    assert len(runs) == 6
    assert list(runs.columns) == list(runs.keys()) == header
    assert runs["run_id"].tolist() == [0, 1, 2, 3, 4, 5]
    assert runs["rep"].tolist() == [0, 1, 0, 1, 0, 1]
    assert runs["seed"].dtype == np.uint64
    assert runs["infection_rate"].tolist() == [0.2, 0.2, 0.4, 0.4, 0.6, 0.6]
    assert runs["infection_rate"].dtype == np.float64
    assert runs["action.seed_outbreak"].tolist() == [6, 6, 12, 12, 18, 18]
    assert set(runs["status"].tolist()) == {"ok"}
    assert dict(runs)["Infected:max"].dtype == np.float64


def test_a_row_is_a_record_of_the_planned_run(files: dict[str, bytes]) -> None:
    results = hw.ResultSet.from_files(files)
    for run in results.plan.runs():
        row = results.runs.run(run.run_id)
        assert row.run == run
        assert row.run_key == results.plan.run_key(run)
        assert results.plan.schema.values(row.params) == results.plan.configs[run.config_id].params
        assert tuple(row.action_ticks.values()) == results.plan.configs[run.config_id].action_ticks
    assert [row.run.run_id for row in results.runs] == [0, 1, 2, 3, 4, 5]


def test_spec_and_plan_come_back_as_they_were(files: dict[str, bytes]) -> None:
    results = hw.ResultSet.from_files(files)
    assert results.spec == spec()
    assert results.plan.plan_hash == results.manifest.plan.plan_hash
    assert results.schema_matches
    assert results.is_complete
    assert results.status == "complete"


def test_without_a_spec_that_can_be_read_the_header_tells_what_the_columns_are(files: dict[str, bytes]) -> None:
    document = {**msgspec.json.decode(files["manifest.json"]), "spec": {"modell": "toy"}, "spec_source": None}
    results = hw.ResultSet.from_files({**files, "manifest.json": msgspec.json.encode(document)})
    assert results.runs.columns == hw.ResultSet.from_files(files).runs.columns
    assert "action.seed_outbreak" in results.runs.columns
    with pytest.raises(hw.SpecError, match="unknown key `modell`"):
        _ = results.spec


def test_series_hold_every_row_of_the_file(files: dict[str, bytes]) -> None:
    results = hw.ResultSet.from_files(files)
    lines = files["series.csv"].decode().splitlines()[1:]
    for run_id in range(6):
        series = results.series(run_id)
        rows = [
            f"{run_id},{tick},{','.join(str(int(cell)) for cell in row)}"
            for tick, row in zip(series.ticks.tolist(), series.values.tolist(), strict=True)
        ]
        assert rows == [line for line in lines if line.startswith(f"{run_id},")]
        assert series["Infected"].tolist() == series.values[:, 1].tolist()


def test_files_are_known_by_content_whatever_their_names(files: dict[str, bytes]) -> None:
    renamed = {f"download ({number})": content for number, content in enumerate(files.values())}
    results = hw.ResultSet.from_files({**renamed, "notes.txt": b"hello", ".lock": b'{"pid":1}\n'})
    assert len(results.runs) == 6
    assert len(results.series(5)) == ROWS
    assert len(results.summary) == 3
    assert results.ignored == ("notes.txt", ".lock")


def test_two_tables_of_runs_are_refused_by_name(files: dict[str, bytes]) -> None:
    with pytest.raises(DuplicateFileError, match=r"more than one file is a runs\.csv: runs\.csv, copy") as caught:
        hw.ResultSet.from_files({**files, "copy": files["runs.csv"]})
    assert (caught.value.part, caught.value.names) == ("runs.csv", ("runs.csv", "copy"))


@pytest.mark.parametrize("missing", ["manifest.json", "runs.csv"])
def test_a_missing_part_is_named(files: dict[str, bytes], missing: str) -> None:
    with pytest.raises(hw.MissingFileError) as caught:
        hw.ResultSet.from_files({name: content for name, content in files.items() if name != missing})
    assert caught.value.missing == (missing,)


def test_a_folder_without_series_and_summary_opens(files: dict[str, bytes]) -> None:
    whole = hw.ResultSet.from_files(files)
    results = hw.ResultSet.from_files({name: files[name] for name in ("manifest.json", "runs.csv")})
    assert (results.has_series, results.held_series_count) == (False, 0)
    assert str(results.missing_line).startswith("there is no series.csv: the samples of the runs are not here")
    for ask in (lambda: results.series(0), lambda: results.read_run_series([0]), lambda: list(results.all_series())):
        with pytest.raises(hw.MissingFileError, match=r"no series\.csv"):
            ask()
    with pytest.raises(hw.MissingFileError, match=r"no series\.csv"):
        verify_results(results)
    for name, column in whole.summary.items():
        np.testing.assert_array_equal(results.summary[name], column)


@pytest.mark.parametrize("kept", ["whole", "half", "nothing"])
def test_a_table_of_no_more_than_a_header_has_no_runs(files: dict[str, bytes], kept: str) -> None:
    cut = {}
    for name in ("runs.csv", "series.csv"):
        header = files[name].partition(b"\n")[0] + b"\n"
        cut[name] = {"whole": header, "half": header[:9], "nothing": b""}[kept]
    results = hw.ResultSet.from_files(with_status({**files, **cut}, "running"))
    assert len(results.runs) == 0
    assert list(results.runs) == []
    assert len(results.summary) == 0
    assert results.runs["Infected:max"].shape == (0,)
    assert results.read_run_series([]).held == {}
    assert not results.is_complete


def test_a_writer_that_died_before_its_tables_left_no_runs(files: dict[str, bytes]) -> None:
    results = hw.ResultSet.from_files({"manifest.json": with_status(files, "running")["manifest.json"]})
    assert (results.status, len(results.runs), len(results.summary)) == ("interrupted", 0, 0)
    assert list(results.all_series()) == []


def test_what_a_dead_process_left_running_is_interrupted(files: dict[str, bytes]) -> None:
    results = hw.ResultSet.from_files(with_status(files, "running"))
    assert results.status == "interrupted"
    assert not results.is_complete


def test_a_tail_cut_at_any_byte_costs_only_the_torn_record(files: dict[str, bytes]) -> None:
    runs, series = files["runs.csv"], files["series.csv"]
    last_run, last_sample = runs.rstrip().rfind(b"\n") + 1, series.rstrip().rfind(b"\n") + 1
    running = with_status(files, "running")
    for end in range(last_run, len(runs)):
        results = hw.ResultSet.from_files({**running, "runs.csv": runs[:end]})
        assert results.runs["run_id"].tolist() == [0, 1, 2, 3, 4]
        assert results.runs.torn_bytes == end - last_run
        assert sorted(run_id for run_id, _ in results.all_series()) == [0, 1, 2, 3, 4]
    for end in range(last_sample, len(series)):
        results = hw.ResultSet.from_files({**running, "series.csv": series[:end]})
        assert [len(results.series(run_id)) for run_id in (4, 5)] == [ROWS, ROWS - 1]


def test_a_torn_middle_is_refused_with_its_place(files: dict[str, bytes]) -> None:
    lines = files["runs.csv"].splitlines(keepends=True)
    lines[3] = lines[3][:20] + b"\n"
    with pytest.raises(hw.TableDamagedError) as caught:
        hw.ResultSet.from_files({**files, "runs.csv": b"".join(lines)})
    assert (caught.value.table, caught.value.record) == ("runs.csv", 4)


@pytest.mark.parametrize(
    ("old", "new", "record", "column"),
    [
        (b"ok,steps", b"okay,steps", 2, "status"),
        (b"\n0,0,0,0,", b"\nx,0,0,0,", 2, "run_id"),
        (b"\n1,0,0,1,", b"\n0,0,0,1,", 3, "run_id"),
        (b"Infected:max", b"Infected:most", 1, "Infected:max"),
        (b"infection_rate", b"infection", 1, "infection_rate"),
    ],
)
def test_a_field_that_no_sweep_writes_is_named(
    files: dict[str, bytes], old: bytes, new: bytes, record: int, column: str
) -> None:
    with pytest.raises(hw.TableDamagedError) as caught:
        hw.ResultSet.from_files({**files, "runs.csv": files["runs.csv"].replace(old, new, 1)})
    assert (caught.value.table, caught.value.record, caught.value.column) == ("runs.csv", record, column)


@pytest.mark.parametrize(("old", "new"), [("Infected", "Infested"), ("tick", "time")])
def test_a_renamed_column_of_a_series_is_named(files: dict[str, bytes], old: str, new: str) -> None:
    series = files["series.csv"].replace(old.encode(), new.encode(), 1)
    with pytest.raises(hw.TableDamagedError) as caught:
        hw.ResultSet.from_files({**files, "series.csv": series})
    assert (caught.value.table, caught.value.record) == ("series.csv", 1)
    assert (caught.value.column, caught.value.came) == (old, new)


def test_a_sample_that_is_no_number_is_named_when_series_are_read(files: dict[str, bytes]) -> None:
    lines = files["series.csv"].decode().splitlines(keepends=True)
    lines[8] = lines[8].replace(",", ",x", 2)
    results = hw.ResultSet.from_files({**files, "series.csv": "".join(lines).encode()})
    with pytest.raises(hw.TableDamagedError) as caught:
        results.series(0)
    assert (caught.value.table, caught.value.record, caught.value.column) == ("series.csv", 9, "tick")


def test_rows_of_one_run_in_two_places_are_refused(files: dict[str, bytes]) -> None:
    series = files["series.csv"] + files["series.csv"].splitlines(keepends=True)[1]
    with pytest.raises(hw.TableDamagedError, match="the rows of each run in one place") as caught:
        hw.ResultSet.from_files({**files, "series.csv": series}).series(0)
    assert caught.value.record == 6 * ROWS + 2


@pytest.mark.parametrize(
    ("budget", "held"),
    [(None, 6), (0, 0), (RUN_BYTES - 1, 0), (2 * RUN_BYTES, 2), (3 * RUN_BYTES - 1, 2), (6 * RUN_BYTES, 6)],
)
def test_series_are_kept_run_by_run_while_the_budget_lasts(
    files: dict[str, bytes], budget: int | None, held: int
) -> None:
    results = hw.ResultSet.from_files(files, series_budget=budget)
    assert results.held_series_count == held
    for run_id in range(6):
        series = results.series(run_id)
        assert len(series) == ROWS
        assert (results.series(run_id) is series) == (run_id < held)


def test_reading_some_series_drops_what_the_budget_does_not_reach(files: dict[str, bytes]) -> None:
    results = hw.ResultSet.from_files(files, series_budget=0)
    found = results.read_run_series({4, 1, 2}, budget=2 * RUN_BYTES)
    assert sorted(found.held) == [1, 2]
    assert found.dropped == (4,)
    assert found.held[2].values.tolist() == results.series(2).values.tolist()
    with pytest.raises(hw.UnknownRunError, match="there is no run 9; runs here: 0-5"):
        results.read_run_series({9})


def test_a_value_that_is_not_finite_reads_as_nan(host: Host) -> None:
    text = b"run_id,tick,Ticks\n0,0,0\n0,1,\n0,2,2.5\n"
    study = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=2))
    models = hw.ModelSet([entry_of(Divides)])
    files = host.files(models["toy"], study)
    series = hw.ResultSet.from_files({**files, "series.csv": text}, models=models).series(0)
    np.testing.assert_array_equal(series["Ticks"], [0.0, np.nan, 2.5])


def test_a_failed_run_is_a_row_with_its_note(host: Host) -> None:
    factor = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=(1, 0)))
    study = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=4), blocks=(hw.BlockSpec(factors=(factor,)),))
    models = hw.ModelSet([entry_of(Divides)])
    results = hw.ResultSet.from_files(host.files(models["toy"], study), models=models)
    assert [row.status for row in results.runs] == [hw.RunStatus.OK, hw.RunStatus.PANICKED]
    assert results.runs["note"][1].startswith("while stepping the simulation, ZeroDivisionError")
    assert results.replay(1, at="end").tick == results.runs.run(1).ticks == 0
    assert results.summary["failed"].tolist() == [0, 1]


def test_a_folder_of_the_reference_engine_opens() -> None:
    results = hw.ResultSet.from_files(reference_files())
    assert results.is_complete
    assert results.runs["seed"].tolist() == [SEEDS[0], SEEDS[1]] * 2
    assert results.runs.run(0).run_key == results.plan.run_key(results.plan.run(0))
    assert results.series(2)["Infected"].tolist() == [2, 107, 205, 164, 114]
    assert results.summary["Susceptible:max:ci95_low"].tolist() == [248.146897632] * 2
    assert results.manifest.sessions[0].engine is not None
    assert results.manifest.sessions[0].engine.version == "0.2.0"
    assert results.plan.plan_hash == results.manifest.plan.plan_hash
    assert results.replay(2, at="end").stats() == {"Susceptible": 0, "Infected": 114, "Recovered": 142}


def test_a_byte_order_mark_and_a_manifest_that_is_no_json_are_told_apart(files: dict[str, bytes]) -> None:
    marked = {name: b"\xef\xbb\xbf" + content for name, content in files.items()}
    assert len(hw.ResultSet.from_files(marked).runs) == 6
    with pytest.raises(hw.ManifestError, match=r"manifest\.json cannot be read"):
        hw.ResultSet.from_files({**files, "manifest.json": files["manifest.json"][:100]})


@pytest.mark.parametrize("content", [b"", b"[]\n", b"\xff\xfe\x00\x00", b"nothing\n"])
def test_a_manifest_overwritten_by_something_else_is_named_with_its_folder(
    files: dict[str, bytes], tmp_path: Path, content: bytes
) -> None:
    for name, old in files.items():
        (tmp_path / name).write_bytes(content if name == "manifest.json" else old)
    with pytest.raises(hw.ManifestError, match=f"^manifest.json of {tmp_path} cannot be read: .*; restore it"):
        hw.ResultSet.open(tmp_path)


def test_a_directory_opens_from_its_path_and_prefers_the_usual_names(files: dict[str, bytes], tmp_path: Path) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "runs (copy).csv").write_bytes(files["runs.csv"])
    results = hw.ResultSet.open(tmp_path)
    assert results.path == str(tmp_path)
    assert len(results.runs) == 6
    assert results.ignored == ("runs (copy).csv",)
    (tmp_path / "runs.csv").rename(tmp_path / "rows.csv")
    with pytest.raises(DuplicateFileError):
        hw.ResultSet.open(tmp_path)


def test_staged_tables_count_while_their_marker_is_there(files: dict[str, bytes], tmp_path: Path) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    header = files["runs.csv"].partition(b"\n")[0] + b"\n"
    (tmp_path / "runs.csv.staged").write_bytes(header)
    assert len(hw.ResultSet.open(tmp_path).runs) == 6
    (tmp_path / "tables.staged").write_bytes(b"runs.csv\n")
    assert len(hw.ResultSet.open(tmp_path).runs) == 0


def test_a_path_that_is_neither_folder_nor_zip_is_refused(tmp_path: Path) -> None:
    with pytest.raises(hw.ResultsError, match="there is nothing at"):
        hw.ResultSet.open(tmp_path / "nowhere")
    (tmp_path / "plain").write_bytes(b"text")
    with pytest.raises(hw.ResultsError, match="neither a directory nor a zip"):
        hw.ResultSet.open(tmp_path / "plain")
    with pytest.raises(hw.MissingFileError):
        hw.ResultSet.open(tmp_path)


def test_a_run_asked_for_by_a_text_is_told_that_ids_are_numbers(files: dict[str, bytes]) -> None:
    runs: Any = hw.ResultSet.from_files(files).runs
    with pytest.raises(
        hw.UnknownRunError, match=r"no run '1'; runs here: 0-5; the id of a run is a whole number, not a"
    ):
        runs.run("1")
    with pytest.raises(hw.UnknownRunError, match=r"no run 9; runs here: 0-5$"):
        runs.run(np.int64(9))


def test_a_model_that_changed_or_is_unknown_is_refused_with_its_name(files: dict[str, bytes]) -> None:
    other = entry_of(Divides, id="sir")
    results = hw.ResultSet.from_files(files, models=hw.ModelSet([other]))
    assert not results.schema_matches
    with pytest.raises(ModelChangedError, match="model 'sir' has schema hash"):
        results.replay(0)
    with pytest.raises(hw.UnknownModelError):
        _ = hw.ResultSet.from_files(files, models=hw.ModelSet([])).plan


def test_a_replay_stands_at_the_start_or_at_the_end_of_its_run(files: dict[str, bytes]) -> None:
    results = hw.ResultSet.from_files(files)
    for run_id in range(6):
        start, end = results.replay(run_id), results.replay(run_id, at="end")
        assert (start.tick, end.tick) == (0, 30)
        assert list(end.stats().values()) == results.series(run_id).values[-1].tolist()
        for action in results.schedule(run_id):
            start.step(action.tick - start.tick)
            start.act(action.id)
        start.step(30 - start.tick)
        assert start.stats() == end.stats()
    assert results.replay_of(3).label == "Sweep run 3: config 1, replicate 1"
    assert results.replay_command(3) == "henad verify DIR --run 3"
    with pytest.raises(hw.UsageError, match="allowed: start or end"):
        results.replay(0, at="ends")


def reopened(host: Host, model: type[Toy], again: type[Toy], spec: hw.SweepSpec) -> hw.ResultSet:
    """Return the results of `model`, to be replayed by `again`, which is shaped like it."""
    entries = [entry_of(each, actions=("mark",)) for each in (model, again)]
    return hw.ResultSet.from_files(host.files(entries[0], spec), models=entries[1])


def test_a_replay_raises_what_the_model_raises(host: Host) -> None:
    with pytest.raises(ZeroDivisionError):
        reopened(host, DividesAtBuild, DividesAtBuild, toy_spec(0, 1)).replay(0)
    changed = reopened(host, Toy, Divides, toy_spec(0))
    assert changed.replay(0).tick == 0
    with pytest.raises(ZeroDivisionError) as caught:
        changed.replay(0, at="end")
    assert "before_step" in [frame.name for frame in caught.traceback]


def test_a_run_that_was_stopped_is_replayed_to_its_last_tick(host: Host) -> None:
    stop = hw.StopSpec(column="Ticks", comparison=">=", threshold=4)
    spec = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=9, stop=stop), measure=hw.MeasureSettings(stats_every=2))
    results = reopened(host, Toy, Toy, spec)
    assert results.runs.run(0).stop_reason is hw.StopReason.CONDITION
    assert results.replay(0, at="end").tick == results.runs.run(0).ticks == 4


def test_a_run_that_failed_is_replayed_to_its_last_tick(host: Host) -> None:
    results = reopened(host, Reshapes, Reshapes, toy_spec(4, steps=9))
    assert results.runs.run(0).status is hw.RunStatus.SHAPE_ERROR
    assert results.replay(0, at="end").tick == results.runs.run(0).ticks == 4


def test_a_replay_that_does_not_come_as_far_says_so(host: Host) -> None:
    class Tires(Toy):
        """Fails in its third step, but for the second time it is built."""

        builds = 0

        def __init__(self, params: Any, seed: int | None) -> None:
            super().__init__(params, seed)
            Tires.builds += 1
            self.is_first = Tires.builds == 1

        def before_step(self) -> None:
            if self.tick == 2 and self.is_first:
                raise RuntimeError

    results = reopened(host, Toy, Tires, toy_spec(1, steps=9))
    with pytest.raises(hw.ResultsError, match="replicate 0 did not come to tick 9 again: the run was"):
        results.replay(0, at="end")


def test_runs_whose_reducers_skip_what_is_not_finite_are_marked_and_counted(host: Host) -> None:
    entry = entry_of(Inverse, stats=("Inverse",))
    factor = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=(2, 9, 3)))
    study = hw.SweepSpec(
        model="toy", run=hw.RunSettings(steps=4, replicates=2), blocks=(hw.BlockSpec(factors=(factor,)),)
    )
    results = hw.ResultSet.from_files(host.files(entry, study))
    assert results.runs.is_non_finite.tolist() == [True, True, False, False, True, True]
    assert results.runs["Inverse:final"].tolist() == [1.0, 1.0, 0.2, 0.2, 1.0, 1.0]
    assert results.summary.non_finite.tolist() == [2, 0, 2]
    assert (results.counts.rows, results.counts.ok, results.counts.non_finite) == (6, 2, 4)
    assert str(results.non_finite_line).startswith("4 of 6 runs met a value that is not finite")


def test_runs_that_are_all_finite_are_nothing_to_speak_of(files: dict[str, bytes]) -> None:
    assert hw.ResultSet.from_files(files).non_finite_line is None
