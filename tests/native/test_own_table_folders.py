"""Tables of a model's own in folders: killed, merged, reused, overwritten and unpacked like all that is there."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import henad_web as hw
from henad_native import staging
from henad_native.cli import main
from henad_native.staging import StagedTables
from henad_native.unpacking import unpack_results
from henad_web.results.archive import pack
from tests.native.folders import (
    TARGET,
    files_in,
    hash_of,
    masked_in,
    ran_ids,
    record_of,
    resume,
    start,
    sweep,
    with_run,
)
from tests.native.table_fuzzer import TableFuzzer, study
from tests.native.table_kills import survived
from tests.native.test_kill import Scenario, Scene
from tests.shared.table_models import HERD, herd_spec

pytestmark = pytest.mark.usefixtures("quick_disk")

SPEC = herd_spec()
SMALL = herd_spec((1, 0), replicates=1, steps=3)
OWN = ["tables/agents.csv", "tables/edges.csv", "tables/rows.csv"]


def nothing(_: Path) -> None:
    """Leave the folder missing."""


def goes_on(folder: Path, spec: hw.SweepSpec, **options: object) -> None:
    """Do `spec` in `folder`, or what is left of it."""
    is_begun = (folder / "manifest.json").exists()
    record_of(resume(HERD, folder) if is_begun else start(HERD, spec, folder, **options))


def new_sweep(folder: Path, base: Path) -> Scene:
    act = partial(goes_on, folder, SMALL)
    return Scene(prepare=nothing, act=act, finish=act, expect=partial(sweep, HERD, SMALL))


def raised_replicates(folder: Path, base: Path) -> Scene:
    more = with_run(SMALL, replicates=2)

    def act() -> None:
        record_of(resume(HERD, folder, more))

    return Scene(prepare=partial(sweep, HERD, SMALL), act=act, finish=act, expect=partial(sweep, HERD, more))


def breadth_first(folder: Path, base: Path) -> Scene:
    spec = with_run(SMALL, order="breadth")
    act = partial(goes_on, folder, spec)
    return Scene(prepare=nothing, act=act, finish=act, expect=partial(sweep, HERD, spec))


def reused_runs(folder: Path, base: Path) -> Scene:
    wider = herd_spec((3, 1), replicates=1, steps=3)
    sweep(HERD, SMALL, base / "old")
    act = partial(goes_on, folder, wider, reuse=base / "old")
    return Scene(prepare=nothing, act=act, finish=act, expect=partial(sweep, HERD, wider))


def overwritten(new: hw.SweepSpec, old: hw.SweepSpec) -> Callable[[Path, Path], Scene]:
    def scene(folder: Path, base: Path) -> Scene:
        def act() -> None:
            record_of(hw.SweepRun.start(HERD, new, hw.DirectoryOutput(folder, overwrite=True), target=TARGET))

        def finish() -> None:
            results = hw.ResultSet.open(folder, models=HERD)
            if results.plan.plan_hash != new.plan(HERD.schema()).plan_hash:
                assert results.is_complete
                assert results.missing_line is None
                act()
            else:
                record_of(resume(HERD, folder))

        return Scene(prepare=partial(sweep, HERD, old), act=act, finish=finish, expect=partial(sweep, HERD, new))

    return scene


OTHERS = herd_spec((4,), replicates=1, steps=3, tables=("edges",), every=None)
WITHOUT = herd_spec((4,), replicates=1, steps=3, tables=(), every=None)

SCENES: dict[str, Callable[[Path, Path], Scene]] = {
    "a new sweep": new_sweep,
    "raised replicates": raised_replicates,
    "breadth first": breadth_first,
    "reused runs": reused_runs,
    "overwritten by other tables": overwritten(OTHERS, SMALL),
    "overwritten by none": overwritten(WITHOUT, SMALL),
    "overwritten where there were none": overwritten(SMALL, WITHOUT),
}


@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", SCENES)
def test_every_call_to_the_file_system_may_be_the_last(fast_path: Path, name: str) -> None:
    Scenario(name, fast_path, SCENES[name]).kill_at_calls()


def test_a_directory_holds_the_bytes_of_memory_at_any_lanes(tmp_path: Path) -> None:
    expected = hw.masked(record_of(hw.SweepRun.start(HERD, SPEC, target=TARGET)).files or {})
    for lanes in (1, 2, 3):
        folder = tmp_path / str(lanes)
        hw.run_spec(HERD, SPEC, output=hw.DirectoryOutput(folder), options=hw.SweepRunOptions(concurrency=lanes))
        assert masked_in(folder) == expected


@pytest.mark.parametrize("renamed", range(4))
def test_results_that_take_the_place_of_others_are_whole_wherever_their_renaming_was_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renamed: int
) -> None:
    old = dict.fromkeys(("runs.csv", *OWN, "manifest.json"), b"run_id,tick,old\n")
    new = dict.fromkeys(("runs.csv", OWN[0], OWN[2], "manifest.json"), b"run_id,tick,new\n")
    (tmp_path / "tables").mkdir()
    for name, content in old.items():
        (tmp_path / name).write_bytes(content)
    assert sum(map(len, new.values())) == sum(
        StagedTables(tmp_path).writing({name: [text] for name, text in new.items()})
    )
    left = iter(range(renamed))

    def cut(source: Path, target: Path) -> None:
        if next(left, None) is None:
            raise OSError("cut")
        source.replace(target)

    with monkeypatch.context() as patched:
        patched.setattr(staging, "rename_over", cut)
        with pytest.raises(OSError, match="cut"):
            StagedTables(tmp_path).finish()
    StagedTables(tmp_path).finish()
    assert files_in(tmp_path) == new


def test_a_folder_of_that_name_may_hold_anything_else(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    (folder / "tables").mkdir(parents=True)
    mine = {"tables/levels.csv": b"value\n1\n", "tables/notes.txt": b"run_id,tick,\n"}
    for name, content in mine.items():
        (folder / name).write_bytes(content)
    sweep(HERD, SPEC, folder)
    record_of(hw.SweepRun.start(HERD, WITHOUT, hw.DirectoryOutput(folder, overwrite=True), target=TARGET))
    files = files_in(folder)
    assert {name: files[name] for name in mine} == mine
    assert not [name for name in OWN if name in files]
    assert hw.ResultSet.open(folder, models=HERD).is_complete


def a_link(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir()
    (folder.parent / "elsewhere" / "edges.csv").write_bytes(b"run_id,tick,a,b\n")
    (folder / "tables").symlink_to(folder.parent / "elsewhere")


def a_file_for_the_folder(folder: Path) -> None:
    (folder / "tables").write_bytes(b"run_id,tick,")


def a_file(name: str, content: bytes) -> Callable[[Path], None]:
    def put(folder: Path) -> None:
        (folder / "tables").mkdir()
        (folder / "tables" / name).write_bytes(content)

    return put


def a_linked_file(folder: Path) -> None:
    (folder / "tables").mkdir()
    (folder.parent / "agents.csv").write_bytes(b"run_id,tick,x\n")
    (folder / "tables" / "agents.csv").symlink_to(folder.parent / "agents.csv")


IN_THE_WAY: dict[str, tuple[Callable[[Path], None], str]] = {
    "a link for the folder": (a_link, r"tables is a link, which is never followed"),
    "a file for the folder": (a_file_for_the_folder, r"tables is no folder; take it out of the results"),
    "a table of somebody else's": (a_file("agents.csv", b"name,age\n"), r"tables/agents\.csv is no table of a sweep"),
    "counts of somebody else's": (a_file("rows.csv", b"a\n"), r"tables/rows\.csv is no table of a sweep"),
    "an empty file": (a_file("edges.csv", b""), r"tables/edges\.csv is no table of a sweep"),
    "a folder": (lambda folder: (folder / "tables" / "edges.csv").mkdir(parents=True), r"edges\.csv is no file"),
    "a link": (a_linked_file, r"agents\.csv is a link, which is never followed"),
}


@pytest.mark.parametrize("what", IN_THE_WAY)
def test_what_is_in_the_way_of_a_table_is_refused_before_anything_is_written(tmp_path: Path, what: str) -> None:
    put, told = IN_THE_WAY[what]
    free, held, shards = tmp_path / "a" / "free", tmp_path / "b" / "held", [tmp_path / str(index) for index in (0, 1)]
    free.mkdir(parents=True)
    put(free)
    before = hash_of(tmp_path)
    with pytest.raises(hw.OutputError, match=told):
        hw.run_spec(HERD, SPEC, output=hw.DirectoryOutput(free))
    assert hash_of(tmp_path) == before
    for index, shard in enumerate(shards):
        sweep(HERD, SPEC, shard, shard=hw.Shard(index, 2))
    sweep(HERD, WITHOUT, held)
    if what != "an empty file":  # beside a manifest it is the beginning of a table
        put(held)
    before, before_held = hash_of(free), hash_of(held)
    with pytest.raises(hw.OutputError, match=told):
        hw.merge(shards, free)
    if what != "an empty file":
        with pytest.raises(hw.OutputError, match=told):
            hw.run_spec(HERD, SPEC, output=hw.DirectoryOutput(held, overwrite=True))
    assert (hash_of(free), hash_of(held)) == (before, before_held)
    sweep(HERD, WITHOUT, free)
    assert hw.ResultSet.open(free, models=HERD).is_complete, "it is in nobody's way without tables"


def test_a_table_that_is_empty_or_saved_by_another_program_is_still_one_of_the_sweep(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    sweep(HERD, SPEC, folder)
    whole = masked_in(folder)
    edges = folder / "tables" / "edges.csv"
    edges.write_bytes(b'\xef\xbb\xbf"run_id","tick","a","b"\r\n' + edges.read_bytes().partition(b"\n")[2])
    record_of(resume(HERD, folder))
    assert masked_in(folder) == whole
    edges.write_bytes(b"")  # as a sweep leaves it that is killed before the header is there
    record_of(resume(HERD, folder))
    assert masked_in(folder) == whole
    edges.write_bytes(b"\xef\xbb\xbf" + edges.read_bytes())
    record_of(hw.SweepRun.start(HERD, WITHOUT, hw.DirectoryOutput(folder, overwrite=True), target=TARGET))
    assert not edges.exists()


def test_tables_without_a_manifest_are_no_free_place(tmp_path: Path) -> None:
    sweep(HERD, SPEC, tmp_path / "study")
    for name in ("runs.csv", "series.csv", "summary.csv", "manifest.json"):
        (tmp_path / "study" / name).unlink()
    with pytest.raises(hw.HoldsResultsError, match=r"tables/agents\.csv, tables/edges\.csv, tables/rows\.csv"):
        hw.run_spec(HERD, SPEC, output=hw.DirectoryOutput(tmp_path / "study"))


def test_a_table_changed_under_the_sweep_is_noticed(tmp_path: Path) -> None:
    run = start(HERD, herd_spec(replicates=50), tmp_path / "study")
    while run.progress().runs_done < 5:
        run.update(0.0, budget_s=0.0)
    assert run.progress().runs_done < 50
    with (tmp_path / "study" / "tables" / "edges.csv").open("ab") as table:
        table.write(b"9,9,9,9\n")
    events = []
    while not run.is_ended:
        run.update(0.0)
        event = run.try_recv()
        events += [] if event is None else [event]
    assert isinstance(events[-1], hw.Failed)
    assert "edges.csv has" in events[-1].message


def test_shards_merge_to_the_whole_and_others_are_refused(tmp_path: Path) -> None:
    sweep(HERD, SPEC, tmp_path / "whole")
    for index in range(3):
        sweep(HERD, SPEC, tmp_path / str(index), shard=hw.Shard(index, 3))
    hw.merge([tmp_path / str(index) for index in (2, 0, 1)], tmp_path / "merged")
    assert masked_in(tmp_path / "merged") == masked_in(tmp_path / "whole")
    lost = tmp_path / "0" / "tables" / "rows.csv"
    lost.write_bytes(lost.read_bytes()[:-3])
    report = hw.merge([tmp_path / str(index) for index in range(3)], tmp_path / "lacking")
    assert (report.missing, report.first_missing) == (1, (3,))
    assert ran_ids(resume(HERD, tmp_path / "lacking")) == [3]
    whole, again = masked_in(tmp_path / "whole"), masked_in(tmp_path / "lacking")
    assert {name: again[name] for name in OWN} == {name: whole[name] for name in OWN}
    sweep(HERD, herd_spec(every=4), tmp_path / "other", shard=hw.Shard(1, 3))
    with pytest.raises(
        hw.MergeError, match=r"its tables of the model's own is agents.id i64, .* every 4 ticks"
    ) as told:
        hw.merge([tmp_path / "0", tmp_path / "other"], tmp_path / "refused")
    assert told.value.reason is hw.MergeReason.PLAN_DIFFERS
    assert not (tmp_path / "refused").exists()
    edges = tmp_path / "1" / "tables" / "edges.csv"
    edges.write_bytes(edges.read_bytes().replace(b"a,b", b"a,c", 1))
    with pytest.raises(hw.MergeError, match=r"the columns of its tables/edges\.csv are"):
        hw.merge([tmp_path / "0", tmp_path / "1"], tmp_path / "refused")


def test_rows_that_another_program_saved_are_copied_as_a_sweep_writes_them(tmp_path: Path) -> None:
    sweep(HERD, herd_spec((1, 2)), tmp_path / "old")
    for name in OWN:
        table = tmp_path / "old" / name
        table.write_bytes(table.read_bytes().replace(b"\n2,", b"\r\n2,"))
    sweep(HERD, herd_spec((2,)), tmp_path / "new")
    sweep(HERD, herd_spec((2,)), tmp_path / "copied", reuse=tmp_path / "old")
    assert masked_in(tmp_path / "copied") == masked_in(tmp_path / "new")


def test_a_zip_becomes_a_folder_that_goes_on(tmp_path: Path) -> None:
    sweep(HERD, SPEC, tmp_path / "whole")
    files = {name: content for name, content in files_in(tmp_path / "whole").items() if name != ".lock"}
    rows = files["tables/rows.csv"].splitlines(keepends=True)
    (tmp_path / "study.zip").write_bytes(pack({**files, "tables/rows.csv": b"".join(rows[:-2])}))
    assert unpack_results(tmp_path / "study.zip") == tmp_path / "study"
    assert len(hw.ResultSet.open(tmp_path / "study.zip", models=HERD).table("agents")) == 36
    assert ran_ids(resume(HERD, tmp_path / "study")) == [4, 5]
    assert masked_in(tmp_path / "study") == masked_in(tmp_path / "whole")


def test_frames_hold_every_row_with_its_config(tmp_path: Path) -> None:
    sweep(HERD, SPEC, tmp_path / "study")
    table = hw.ResultSet.open(tmp_path / "study", models=HERD).table("agents")
    frame = table.to_pandas()
    columns = ["run_id", "config_id", "rep", "tick", "id", "wealth", "age", "mood", "alive"]
    assert list(frame.columns) == table.to_arrow().schema.names == columns
    assert frame.groupby("config_id").size().tolist() == [14, 8, 14]
    assert frame["wealth"].isna().sum() == 10
    assert frame.attrs["model"] == "toy"
    table.to_parquet(tmp_path / "agents.parquet")
    import pandas  # noqa: PLC0415 - an extra

    back = pandas.read_parquet(tmp_path / "agents.parquet")
    assert back.equals(frame)
    with pytest.raises(hw.UsageError, match=r"'series'; did you mean 'agents'\?$"):
        hw.ResultSet.open(tmp_path / "study", models=HERD).to_arrow("agnts")
    with pytest.raises(hw.UsageError, match=r"'series'; one of the model's own is results\.table\('agents'\)$"):
        hw.ResultSet.open(tmp_path / "study", models=HERD).to_parquet(tmp_path / "x", table="agents")


def test_the_command_verifies_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "study"
    sweep(HERD, SPEC, folder)
    models = "tests.shared.table_models:HERD"
    assert main(["verify", str(folder), "--runs", "6", "--models", models]) == 0
    edges = folder / "tables" / "edges.csv"
    edges.write_bytes(edges.read_bytes().replace(b"1,5,0,1", b"1,5,0,3"))
    capsys.readouterr()
    assert main(["verify", str(folder), "--runs", "6", "--models", models]) != 0
    assert "run 1, b at tick 5: recorded 3, rerun 1" in capsys.readouterr().out


@pytest.mark.timeout(240)
def test_a_sweep_of_agents_killed_again_and_again_comes_to_the_bytes_of_a_quiet_one(fast_path: Path) -> None:
    """A sample of what ``poe kill-tables`` does at length."""
    report = survived(fast_path, runs=20, agents=50, kills=5, seed=7)
    assert report.kills >= 5
    assert report.grown_bytes < 100_000_000


@pytest.mark.timeout(240)
def test_studies_made_by_chance_leave_the_same_files_whichever_way_they_are_done(fast_path: Path) -> None:
    """A sample of what ``poe fuzz-tables`` does at length."""
    TableFuzzer(base=fast_path, seed=7).run(8)
    kinds = [study(random.Random(f"7 {case}")) for case in range(8)]
    assert {spec.run.order for spec in kinds} == {"depth", "breadth"}
    assert {bool(spec.run.stop) for spec in kinds} == {bool(spec.run.warmup) for spec in kinds} == {True, False}
    assert len({spec.measure.tables for spec in kinds}) > 2
