"""One zip for a result set: equal files give equal bytes, and no archive writes where it should not."""

from __future__ import annotations

import io
import warnings
import zipfile
from pathlib import Path

import pytest

import henad_web as hw
from henad_web.results.archive import pack, unpack
from tests.shared.reference_folder import reference_files


def zip_of(*entries: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # zipfile warns of the very names that are written here
        for name, content in entries:
            archive.writestr(name, content)
    return buffer.getvalue()


def test_equal_files_give_equal_archives_that_hold_them() -> None:
    files = reference_files()
    assert pack(files) == pack(dict(files))
    assert unpack(pack(files)) == files
    assert list(unpack(pack(files))) == list(files)
    assert len(pack(files)) < sum(map(len, files.values()))


def test_a_zip_opens_like_the_folder_it_came_from(tmp_path: Path) -> None:
    path = tmp_path / "results.zip"
    path.write_bytes(pack(reference_files()))
    results = hw.ResultSet.open(path)
    assert results.is_complete
    assert results.path == str(path)
    assert results.series(0)["Infected"].tolist() == [2, 30, 159, 193, 135]


def test_one_folder_around_all_files_is_taken_off() -> None:
    files = {f"results/{name}": content for name, content in reference_files().items()}
    assert unpack(pack(files)) == reference_files()
    assert list(unpack(zip_of(("a/x", b""), ("b/x", b"")))) == ["a/x", "b/x"]


@pytest.mark.parametrize(
    "name", ["../runs.csv", "a/../../runs.csv", "/etc/passwd", "C:\\runs.csv", "..\\runs.csv", "\\\\host\\share\\x"]
)
def test_a_name_that_leaves_the_folder_is_refused(name: str) -> None:
    with pytest.raises(hw.ArchiveError, match="leaves its folder"):
        unpack(zip_of(("runs.csv", b""), (name, b"")))


@pytest.mark.parametrize("second", ["runs.csv", "RUNS.CSV"])
def test_a_name_given_twice_is_refused(second: str) -> None:
    with pytest.raises(hw.ArchiveError, match="a name twice"):
        unpack(zip_of(("runs.csv", b"1"), (second, b"2")))


def test_a_link_is_refused() -> None:
    link = zipfile.ZipInfo("runs.csv")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    with pytest.raises(hw.ArchiveError, match="no plain file"):
        unpack(zip_of((link, b"/etc/passwd")))


def test_an_archive_larger_than_allowed_is_refused_whatever_it_claims() -> None:
    bomb = pack({"runs.csv": b"0" * 100_000})
    with pytest.raises(hw.ArchiveError, match="come to 100000 bytes, at most 1000"):
        unpack(bomb, largest_bytes=1000)
    claimed = bomb.replace((100_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    with pytest.raises(hw.ArchiveError):
        unpack(claimed, largest_bytes=1000)
    with pytest.raises(hw.ArchiveError, match="1001 files"):
        unpack(zip_of(*[(f"{number}", b"") for number in range(1001)]))


def test_a_damaged_archive_is_refused_in_words() -> None:
    whole = pack(reference_files())
    for damaged in (b"", b"not a zip", whole[:-30], whole[:100] + b"\0" * 60 + whole[160:]):
        with pytest.raises(hw.ArchiveError, match="the archive cannot be opened"):
            unpack(damaged)
