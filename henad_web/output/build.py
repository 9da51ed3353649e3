"""Which build of a program made some results.

Owns the record of a build and what this package can say of its own: version, and a hash over its own sources that is
the same wherever the same sources are installed. Compares nothing and runs no program; who can ask a version control
adds the commit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from henad_web.version import VERSION

if TYPE_CHECKING:
    from henad_web.model.entry import ModelEntry

__all__ = ["STAMP", "BuildRecord", "BuildStamp", "model_source", "source_hash", "this_build"]

STAMP = "build_stamp.json"
"""File of the package that says what its sources were, where the package is shipped without them."""

_HASH_DIGITS = 16


class BuildRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One build, as far as it is known.

    Attributes:
        name: Name of the distribution.
        version: Its version.
        commit: Commit it was made from, None when it is not known.
        commit_date: Date of the commit, RFC 3339.
        dirty: Whether the sources differed from the commit.
        source_hash: Hash of the sources.
        debug_build: Whether checks of a debugging build were on.
    """

    name: str
    version: str
    commit: str | None = None
    commit_date: str | None = None
    dirty: bool | None = None
    source_hash: str | None = None
    debug_build: bool | None = None


class BuildStamp(msgspec.Struct, frozen=True, kw_only=True):
    """What `STAMP` holds: fields of a `BuildRecord` that a shipped package cannot find out."""

    commit: str | None = None
    commit_date: str | None = None
    dirty: bool | None = None
    source_hash: str | None = None


@cache
def this_build() -> BuildRecord:
    """Return the record of this package, as it is installed. It claims nothing it does not know.

    The first call reads the package's files, a few milliseconds; the answer is kept.
    """
    root = files("henad_web")
    stamp = _stamp(root)
    return BuildRecord(
        name="henad-web",
        version=VERSION,
        commit=stamp.commit,
        commit_date=stamp.commit_date,
        dirty=stamp.dirty,
        source_hash=stamp.source_hash or source_hash(root),
    )


def model_source(entry: ModelEntry) -> str | None:
    """Return the name and hash of the file of a model's own module; None for a model of this package or of no file."""
    path = entry.source_file
    if path is None or (entry.source_module or entry.factory.__module__).partition(".")[0] == "henad_web":
        return None
    try:
        content = Path(path).read_bytes().replace(b"\r\n", b"\n")
    except OSError:
        return None
    return f"{Path(path).name} {hashlib.sha256(content).hexdigest()[:_HASH_DIGITS]}"


def source_hash(root: Traversable) -> str | None:
    """Return 16 hex digits over the Python sources of the package at `root`, None where there are none.

    SHA-256 over the path and content of each file, both with their lengths, in order of the paths; the kind of line end
    does not count, so that a checkout with CRLF is the same build.
    """
    digest = hashlib.sha256()
    found = sorted(_sources(root, ""))
    for name, content in found:
        for part in (name.encode(), content.replace(b"\r\n", b"\n")):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    return digest.hexdigest()[:_HASH_DIGITS] if found else None


def _sources(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.name.endswith(".py"):
            yield f"{prefix}{entry.name}", entry.read_bytes()
        elif entry.name != "__pycache__" and entry.is_dir():
            yield from _sources(entry, f"{prefix}{entry.name}/")


def _stamp(root: Traversable) -> BuildStamp:
    try:
        return msgspec.json.decode(root.joinpath(STAMP).read_bytes(), type=BuildStamp)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return BuildStamp()
