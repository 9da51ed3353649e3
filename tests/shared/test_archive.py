"""One zip for a result set: equal files give equal bytes, and no archive writes where it should not."""

from __future__ import annotations

import io
import warnings
import zipfile
from pathlib import Path

import pytest

import henad_web as hw
from henad_web.results.archive import ArchiveLimits, pack, unpack
from tests.shared.reference_folder import reference_files
from tests.shared.table_forms import FORMS, in_form


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
    apart = zip_of(("a/runs.csv", b""), ("b/runs.csv", b""))
    assert list(unpack(apart)) == ["a/runs.csv", "b/runs.csv"]


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


RUNS = reference_files()["runs.csv"]


def test_an_archive_larger_than_allowed_is_refused_whatever_it_claims() -> None:
    small = ArchiveLimits(total_bytes=1000)
    bomb = pack({"runs.csv": RUNS + b"0" * 100_000})
    size = len(RUNS) + 100_000
    with pytest.raises(hw.ArchiveError, match=f"come to {size} bytes, at most 1000 are allowed$"):
        unpack(bomb, limits=small)
    claimed = bomb.replace(size.to_bytes(4, "little"), (10).to_bytes(4, "little"))
    with pytest.raises(hw.ArchiveError, match="is damaged"):
        unpack(claimed, limits=small)
    with pytest.raises(hw.ArchiveError, match="1001 files"):
        unpack(zip_of(*[(f"{number}", b"") for number in range(1001)]))


def test_an_archive_that_holds_too_much_for_its_size_is_refused_before_it_is_unpacked() -> None:
    """A megabyte of zeros a kilobyte: no table of results comes near. The caller may know better."""
    bomb = pack({**reference_files(), "series.csv": reference_files()["series.csv"] + b"0" * (1 << 20)})
    tight = ArchiveLimits(free_bytes=1 << 19, ratio=100)
    with pytest.raises(hw.ArchiveError, match=r"at most [0-9]+ are allowed, 100 for each byte of the archive"):
        unpack(bomb, limits=tight)
    assert len(unpack(bomb, limits=ArchiveLimits(free_bytes=1 << 19, ratio=1032))["series.csv"]) > 1 << 20
    assert len(unpack(bomb)["series.csv"]) > 1 << 20, "so little is harmless whatever the ratio"


def test_members_that_are_no_part_of_results_are_skipped_and_count_for_nothing() -> None:
    files = reference_files()
    other = {"readme.txt": b"hello", "film.mp4": b"0" * (1 << 20), "notes.csv": b"a,b\n1,2\n" + b"0" * (1 << 20)}
    archive = pack({**files, **other})
    limits = ArchiveLimits(total_bytes=sum(map(len, files.values())))
    assert unpack(archive, limits=limits) == files


def test_a_member_that_is_skipped_is_not_unpacked() -> None:
    """What follows its first bytes may be damaged."""
    archive = zip_of(("film.mp4", b"0123456789" * 10_000), *reference_files().items())
    place = archive.index(b"0123456789" * 50) + 90_000
    damaged = archive[:place] + b"x" + archive[place + 1 :]
    assert unpack(damaged) == reference_files()


def test_a_table_in_another_form_is_still_a_part() -> None:
    for form in FORMS.values():
        files = in_form(reference_files(), form)
        assert unpack(pack(files)) == files


class Nameless(zipfile.ZipInfo):
    """A member that zipfile would not write."""

    def is_dir(self) -> bool:
        return False


@pytest.mark.parametrize("name", ["", ".", "\0"])
def test_a_file_without_a_name_is_refused(name: str) -> None:
    member = Nameless("x")
    member.filename = name
    with pytest.raises(hw.ArchiveError, match="a file without a name" if name != "\0" else "leaves its folder"):
        unpack(zip_of((member, b"x"), *reference_files().items()))


def test_a_way_of_packing_that_not_every_platform_knows_is_refused() -> None:
    archive = bytearray(zip_of(*reference_files().items()))
    central = archive.index(b"PK\x01\x02")
    archive[central + 10 : central + 12] = (14).to_bytes(2, "little")
    with pytest.raises(hw.ArchiveError, match="packed by method 14; allowed: stored"):
        unpack(bytes(archive))


def test_an_encrypted_member_is_refused() -> None:
    archive = bytearray(zip_of(*reference_files().items()))
    central = archive.index(b"PK\x01\x02")
    archive[central + 8] |= 1
    with pytest.raises(hw.ArchiveError, match="it is encrypted"):
        unpack(bytes(archive))


def test_an_archive_without_series_says_so(tmp_path: Path) -> None:
    path = tmp_path / "results.zip"
    path.write_bytes(pack({name: data for name, data in reference_files().items() if name != "series.csv"}))
    results = hw.ResultSet.open(path)
    assert str(results.missing_line).startswith("there is no series.csv")
    with pytest.raises(hw.MissingFileError, match=rf"{path} holds no series\.csv"):
        results.series(0)


def test_a_damaged_archive_is_refused_in_words() -> None:
    whole = pack(reference_files())
    for damaged in (b"", b"not a zip", whole[:-30], whole[:100] + b"\0" * 60 + whole[160:]):
        with pytest.raises(hw.ArchiveError, match="the archive cannot be opened"):
            unpack(damaged)
