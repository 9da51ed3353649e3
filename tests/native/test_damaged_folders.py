"""Damaged folders and odd systems: whatever is wrong, it is told in words, by one of the package's errors."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import henad_web as hw
from henad_native.cli import STOPPED_LINE, main
from henad_native.directory import DirectoryStore
from tests.native.folder_fuzzer import Fuzzer
from tests.native.folders import SIR, SMALL_SIR, masked_in, record_of, resume, start, sweep
from tests.native.laws import ROOT

pytestmark = pytest.mark.usefixtures("quick_disk")

BROKEN = Path("/proc/self/mem")
"""A file that can be opened, and whose first byte cannot be read: it stands for a broken disk."""

CASES = 40
"""Cases of the fuzzer at each run of the suite; `poe fuzz-folders` does more."""


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("six") / "whole"
    sweep(SIR, SMALL_SIR, folder)
    return folder


@pytest.fixture
def folder(six: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(six, tmp_path / "results"))


def opened(folder: Path) -> None:
    hw.ResultSet.open(folder)


def verified(folder: Path) -> None:
    hw.verify(folder)


def resumed(folder: Path) -> None:
    record_of(resume(SIR, folder))


def reused(folder: Path) -> None:
    record_of(start(SIR, SMALL_SIR, folder.parent / "new", reuse=folder))


def merged(folder: Path) -> None:
    hw.merge([folder], folder.parent / "merged")


READERS = (opened, verified, resumed, reused, merged)


def with_manifest(folder: Path, change: Callable[[dict[str, object]], None]) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_bytes())
    change(manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")


def set_in(table: str, key: str, value: object) -> Callable[[dict[str, object]], None]:
    def change(manifest: dict[str, object]) -> None:
        inner = manifest[table]
        assert isinstance(inner, dict)
        inner[key] = value

    return change


def set_rows(*spans: tuple[int, int, int]) -> Callable[[dict[str, object]], None]:
    def change(manifest: dict[str, object]) -> None:
        sessions = manifest["sessions"]
        assert isinstance(sessions, list)
        sessions[0]["rows"] = spans

    return change


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "change",
    [
        set_in("plan", "plan_hash", "493daRl05c4d90f2"),
        set_in("plan", "plan_hash", "0123456789abcdef\n"),
        set_in("plan", "runs", -1),
        set_in("plan", "replicates", 0),
        set_in("plan", "configs", 2**63),
        set_in("shard", "count", 0),
        set_in("shard", "index", 1),
        set_rows((0, 5, 0)),
        set_rows((0, 10**15, 1)),
        set_rows((5, 0, 1)),
    ],
)
def test_a_manifest_that_says_what_cannot_be_is_refused_by_every_reader(
    folder: Path, change: Callable[[dict[str, object]], None], reader: Callable[[Path], None]
) -> None:
    with_manifest(folder, change)
    with pytest.raises(hw.ManifestError, match=r"^manifest\.json of .* cannot be read: "):
        reader(folder)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("content", [b"[" * 200_000, b"\xff\xfe", b'{"format": 9' + b"9" * 5000 + b"}", b""])
def test_a_manifest_that_is_none_is_refused_by_every_reader(
    folder: Path, content: bytes, reader: Callable[[Path], None]
) -> None:
    (folder / "manifest.json").write_bytes(content)
    with pytest.raises(hw.HenadError, match=r"manifest\.json"):
        reader(folder)


def test_a_run_past_the_plan_is_told_with_its_record(folder: Path) -> None:
    table = folder / "runs.csv"
    table.write_bytes(table.read_bytes().replace(b"\n5,2,0,1,", b"\n999,2,0,1,"))
    with pytest.raises(hw.TableDamagedError, match="expected a run of the plan, 0 to 5, got '999'") as caught:
        hw.verify(folder, run_ids=[999])
    assert (caught.value.table, caught.value.record, caught.value.column) == ("runs.csv", 7, "run_id")
    with pytest.raises(hw.MergeError) as refused:
        merged(folder)
    assert refused.value.reason is hw.MergeReason.RUN_ID_DIFFERS


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", ["manifest.json", "runs.csv", "series.csv"])
def test_a_directory_where_a_file_belongs_is_told_in_words(
    folder: Path, name: str, reader: Callable[[Path], None]
) -> None:
    (folder / name).unlink()
    (folder / name).mkdir()
    if name == "series.csv" and reader is opened:
        assert hw.ResultSet.open(folder).missing_line is not None
        return
    with pytest.raises(hw.HenadError, match=name.replace(".", r"\.")):
        reader(folder)


@pytest.mark.parametrize("reader", READERS)
def test_a_folder_that_may_not_be_read_is_told_in_words(
    folder: Path, reader: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ``chmod 000`` leaves it for all but an administrator, and ``chmod 444`` what is in it."""
    for call in ("open", "stat"):
        with monkeypatch.context() as patch:
            patch.setattr(Path, call, refusing(getattr(Path, call), folder))
            with pytest.raises(hw.HenadError, match="Permission denied"):
                reader(folder)


def refusing(real: Callable[..., object], folder: Path) -> Callable[..., object]:
    """Return the method `real` of paths, refused to what is in `folder`."""

    def call(path: Path, *arguments: object, **options: object) -> object:
        if path.parent == folder:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *arguments, **options)

    return call


@pytest.mark.parametrize("reader", READERS)
def test_a_path_that_is_none_is_told_in_words(tmp_path: Path, reader: Callable[[Path], None]) -> None:
    with pytest.raises(hw.HenadError, match="File name too long"):
        reader(tmp_path / ("n" * 300))


def test_commands_tell_of_a_path_that_is_none(
    tmp_path: Path, fast_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = str(tmp_path / ("n" * 300))
    spec = fast_path / "spec.toml"
    spec.write_text(hw.spec_to_toml(SMALL_SIR), encoding="utf-8")
    for arguments in (["resume", name], ["run", str(spec), "--out", name, "--resume"]):
        assert main(arguments) == 1
        assert "File name too long" in capsys.readouterr().err


def test_a_folder_that_goes_after_it_was_opened_is_told_in_words(folder: Path) -> None:
    results = hw.ResultSet.open(folder)
    shutil.rmtree(folder)
    with pytest.raises(hw.ResultsError, match=r"series\.csv cannot be read: No such file"):
        results.series(0)


@pytest.mark.skipif(not BROKEN.exists(), reason="this system has no file that opens and cannot be read")
@pytest.mark.parametrize("table", ["runs.csv", "series.csv"])
def test_a_disk_that_breaks_after_the_folder_was_opened_is_told_in_words(folder: Path, table: str) -> None:
    results, store = hw.ResultSet.open(folder), DirectoryStore(folder)
    (folder / table).unlink()
    (folder / table).symlink_to(BROKEN)
    if table == "series.csv":
        with pytest.raises(hw.ResultsError, match=r"series\.csv cannot be read: Input/output error"):
            results.series(0)
    for read_all in (store.read, lambda name: store.reader(name).readline()):
        with pytest.raises(hw.OutputError, match=rf"cannot read .*{table}: Input/output error"):
            read_all(table)
    with pytest.raises(hw.HenadError, match="Input/output error"):
        hw.ResultSet.open(folder).series(0)


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names there are text")
def test_a_path_with_half_of_a_surrogate_pair_is_refused_in_words(tmp_path: Path, six: Path) -> None:
    odd = str(tmp_path / "a\ud800b")
    for call in (
        lambda: hw.merge([odd], tmp_path / "merged"),
        lambda: hw.merge([six], odd),
        lambda: hw.resume_sweep(SIR, odd),
        lambda: hw.run_spec(SIR, SMALL_SIR, options=hw.SweepRunOptions(reuse=odd)),
        lambda: hw.run_spec(SIR, SMALL_SIR, output=hw.DirectoryOutput(odd)),
    ):
        with pytest.raises(hw.OutputError, match="holds half of a surrogate pair"):
            call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names there are text")
def test_a_folder_whose_name_is_no_text_is_one_like_any_other(tmp_path: Path, six: Path) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    sweep(SIR, SMALL_SIR, odd)
    record_of(resume(SIR, odd))
    assert masked_in(odd) == masked_in(six)
    assert hw.verify(odd).is_equal
    hw.merge([odd], tmp_path / os.fsdecode(b"\xff"))
    merged_from = json.loads((tmp_path / os.fsdecode(b"\xff") / "manifest.json").read_bytes())["merged_shards"]
    assert merged_from == [f"{tmp_path}/caf\\udce9"]


def test_ctrl_c_while_the_command_is_imported_ends_it_without_a_traceback() -> None:
    stopped = """
import sys
class Stops:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Stops())
from henad_native.cli import main
sys.exit(main(["models"]))
"""
    done = subprocess.run([sys.executable, "-c", stopped], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{STOPPED_LINE}\n")


def test_no_damage_of_a_folder_ends_in_anything_but_an_answer_or_an_error_of_the_package(fast_path: Path) -> None:
    fuzzer = Fuzzer(fast_path)
    findings = [finding for case in range(CASES) for finding in fuzzer.run(case)]
    assert "\n".join(map(str, findings)) == ""
    assert fuzzer.outcomes["fine"] > CASES
    assert fuzzer.outcomes["TableDamagedError"] > CASES // 2
