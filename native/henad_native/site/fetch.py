"""Bring the pinned files: from the cache folder if they are there, else from their sources, and the hash decides.

This module owns the cache folder. It never returns a file whose content is not the pinned one, and a second
build with the same pins touches no network.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from henad_native.site.errors import FetchError, SourceError
from henad_native.site.pins import PinnedFile
from henad_native.site.sources import Sources

__all__ = ["cache_folder", "fetch_files"]


def cache_folder() -> Path:
    """Return the folder that keeps fetched files.

    It is `HENAD_WEB_CACHE` if that is set, else ``henad-web`` in the user's cache folder (`XDG_CACHE_HOME`, else
    ``~/.cache``). It need not exist.
    """
    chosen = os.environ.get("HENAD_WEB_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "henad-web"


def fetch_files(files: Iterable[PinnedFile], *, cache: Path | None = None) -> dict[str, Path]:
    """Bring `files` into the cache.

    Args:
        files: The pinned files wanted.
        cache: The cache folder, `cache_folder()` by default.

    Returns:
        For each pinned path the file in the cache that holds its content.

    Raises:
        FetchError: If no source gives the content of a file; what was brought before it stays in the cache.
    """
    folder = (cache or cache_folder()) / "files"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="henad-web-") as scratch:
        sources = Sources(scratch=Path(scratch))
        return {file.path: _fetch_file(file, folder, sources) for file in files}


def store_content(folder: Path, name: str, content: bytes) -> Path:
    """Write `content` as `name` into `folder` so that no reader ever sees half of it; return its path."""
    target = folder / name
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as partial:
        partial.write(content)
    os.chmod(partial.name, 0o644)
    os.replace(partial.name, target)
    return target


def _fetch_file(file: PinnedFile, folder: Path, sources: Sources) -> Path:
    cached = folder / file.sha256
    if cached.is_file() and _sha256(cached.read_bytes()) == file.sha256:
        return cached
    failures: list[SourceError] = []
    for source in file.sources:
        try:
            content = sources.read(source, file)
        except SourceError as error:
            failures.append(error)
            continue
        came = _sha256(content)
        if came == file.sha256:
            return store_content(folder, file.sha256, content)
        failures.append(SourceError(source, f"sha256 {came} and {len(content)} bytes came, {file.bytes} are pinned"))
    raise FetchError(file.path, file.sha256, failures)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
