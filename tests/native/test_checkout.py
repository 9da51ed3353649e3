"""The build that a manifest records: the same for the page as for the checkout it was built from."""

from __future__ import annotations

import io
import subprocess
import zipfile
from pathlib import Path

import msgspec

import henad_web as hw
from henad_native.checkout import checkout_stamp, installed_build
from henad_native.site.wheel import package_wheel
from henad_web.output.build import STAMP, BuildStamp, source_hash, this_build
from tests.native.laws import PORTABLE, ROOT


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def project(folder: Path) -> Path:
    """Return a repository that looks like this project's."""
    for name in ("henad_web", "native/henad_native"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("", encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    return folder


def test_a_checkout_tells_its_commit_and_whether_files_differ(tmp_path: Path) -> None:
    root = project(tmp_path)
    head = git(root, "rev-parse", "HEAD")
    stamp = checkout_stamp(root)
    assert (stamp.commit, stamp.dirty) == (head, False)
    assert stamp.commit_date is not None
    (root / "notes").write_text("x", encoding="utf-8")
    git(root, "add", ".")
    git(root, "commit", "-qm", "two")
    assert checkout_stamp(root) == stamp
    (root / "henad_web" / "new.py").write_text("", encoding="utf-8")
    assert checkout_stamp(root).dirty is True


def test_an_environment_inside_somebody_s_repository_is_no_checkout(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert checkout_stamp(tmp_path) == BuildStamp()
    assert checkout_stamp(tmp_path / "missing") == BuildStamp()


def test_the_hash_of_sources_sees_every_change_but_line_ends(tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "part").mkdir(parents=True)
    (package / "a.py").write_bytes(b"x = 1\n")
    (package / "part" / "b.py").write_bytes(b"y = 2\n")
    first = source_hash(package)
    (package / "a.py").write_bytes(b"x = 1\r\n")
    (package / "data.txt").write_bytes(b"no source")
    assert source_hash(package) == first
    (package / "a.py").write_bytes(b"x = 2\n")
    changed = source_hash(package)
    assert changed != first
    (package / "part" / "b.py").rename(package / "b.py")
    assert source_hash(package) not in (first, changed)
    assert source_hash(tmp_path / "package" / "part") is None


def test_the_page_says_of_itself_what_the_checkout_says(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(package_wheel().content)) as wheel:
        stamp = msgspec.json.decode(wheel.read(f"henad_web/{STAMP}"), type=BuildStamp)
        wheel.extractall(tmp_path)
    build = installed_build()
    assert (stamp.commit, stamp.dirty, stamp.source_hash) == (build.commit, build.dirty, build.source_hash)
    assert source_hash(tmp_path / "henad_web") == stamp.source_hash == this_build().source_hash


def test_a_manifest_records_build_platform_and_rows_of_its_session() -> None:
    spec = hw.SweepSpec(
        model="sir", fixed=(("grid_width", 16), ("grid_height", 16)), run=hw.RunSettings(steps=2, replicates=3)
    )
    manifest = hw.run_spec(hw.example_models()["sir"], spec).manifest
    assert manifest is not None
    (session,) = manifest.sessions
    assert session.engine == manifest.engine == installed_build()
    assert session.engine.source_hash == source_hash(PORTABLE)
    assert session.runtime == manifest.runtime
    assert manifest.runtime.target == "native"
    assert [list(span) for span in session.rows or ()] == [[0, 1, 2]]
    assert (ROOT / "henad_web") == PORTABLE
