"""What the browser needs of the repository: the shared tests, what they may read, and pytest's configuration."""

from __future__ import annotations

from pathlib import Path

from henad_native.site.wheel import deterministic_zip

__all__ = ["repository_bundle"]

FOLDERS = ("tests/shared", "examples", "benchmarks")
FILES = ("pyproject.toml", "tests/pyodide_host/inside.py", "tests/pyodide_host/profile.py")


def repository_bundle(root: Path) -> bytes:
    """Return a zip of the parts of the repository at `root` that run inside the browser, at their own paths."""
    found = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.is_file()]
    kept = [path for path in found if "__pycache__" not in path.parts]
    paths = [*(root / name for name in FILES), *kept]
    return deterministic_zip({path.relative_to(root).as_posix(): path.read_bytes() for path in paths})
