"""Which build of a program made some results.

Owns the record of a build and what this package can say of its own: version, and a hash over its own sources that is
the same wherever the same sources are installed. Compares nothing and runs no program; who can ask a version control
adds the commit.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import msgspec

from henad_web.version import VERSION

if TYPE_CHECKING:
    from henad_web.model.entry import ModelEntry

__all__ = [
    "STAMP",
    "BuildRecord",
    "BuildStamp",
    "files_of_source",
    "model_source",
    "own_modules",
    "source_hash",
    "this_build",
]

STAMP = "build_stamp.json"
"""File of the package that says what its sources were, where the package is shipped without them."""

_HASH_DIGITS = 16
_OWN = "henad_web"
_INSTALLED = frozenset({"site-packages", "dist-packages"})
"""Folders of packages that are installed: what stands below one is no part of a study around it."""

_NOT_THE_MODELS = sys.stdlib_module_names | {_OWN, "henad_native", "__main__", "__mp_main__"}
"""Outermost names of modules that no model's own code consists of; a script that is run imports the model, and
is there twice once something has imported `multiprocessing`."""

_SOURCE = re.compile(r"(?P<name>.+?) (?P<digest>[0-9a-f]+)(?:, |$)")


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
    root = files(_OWN)
    stamp = _stamp(root)
    return BuildRecord(
        name="henad-web",
        version=VERSION,
        commit=stamp.commit,
        commit_date=stamp.commit_date,
        dirty=stamp.dirty,
        source_hash=stamp.source_hash or source_hash(root),
    )


def model_source(entry: ModelEntry, known: str | None = None, names: Iterable[str] = ()) -> str | None:
    """Return the names and hashes of the files of a model's own code, the file of its module first.

    These are the files of all modules imported by now that stand in the package of the model's module, or in its folder
    where it is in none; those below a folder of installed packages are others'. A module that is imported as a run
    goes on is seen by the next call, or is among the `names`; one that stands elsewhere is not seen.

    Args:
        entry: The model.
        known: What an earlier call returned: its files keep the hashes they had then.
        names: Files that count although nothing may have imported them yet, such as an earlier session has recorded.

    Returns:
        ``NAME HASH, NAME HASH``, names relative to the package or folder; None for a model of this package or of no
        file.
    """
    module, path = entry.source_module or entry.factory.__module__, entry.source_file
    if path is None or module.partition(".")[0] == _OWN:
        return known
    own = Path(os.path.abspath(path))
    root = _root_of(module, own)
    before = dict(files_of_source(known)) if known is not None else {}
    found: dict[str, str] = {}
    others = {*(name for _, name in _imported_below(root)), *_inside(names)} - before.keys()
    for name in (own.relative_to(root).as_posix(), *sorted(others, key=lambda name: name.split("/"))):
        if name not in before and name not in found:
            content = _content(root / name)
            if content is not None:
                found[name] = hashlib.sha256(content).hexdigest()[:_HASH_DIGITS]
    return ", ".join(f"{name} {digest}" for name, digest in (before | found).items()) or None


def files_of_source(text: str) -> tuple[tuple[str, str], ...]:
    """Return name and hash of each file that `text`, written by `model_source`, lists."""
    return tuple((found["name"], found["digest"]) for found in _SOURCE.finditer(text))


def _root_of(module: str, file: Path) -> Path:
    """Return the folder of the outermost package that `module` at `file` is in, or the file's own."""
    steps = module.split(".")
    inner = file.parent if file.stem == "__init__" else file.with_suffix("")
    if inner.parts[-len(steps) :] != tuple(steps):  # it was loaded under a name that says nothing of its place
        return file.parent
    return inner.parents[len(steps) - 2] if len(steps) > 1 else file.parent


def own_modules(entry: ModelEntry) -> frozenset[str]:
    """Return the names of the modules that hold the model's own code, as `model_source` counts files.

    Of a model of this package they are those of its folder.
    """
    module, path = entry.source_module or entry.factory.__module__, entry.source_file
    if path is None:
        return frozenset({module})
    if module.partition(".")[0] == _OWN:
        folder = module.rpartition(".")[0]
        return frozenset(name for name in sys.modules if name.startswith(f"{folder}."))
    root = _root_of(module, Path(os.path.abspath(path)))
    return frozenset({module, *(name for name, _ in _imported_below(root))})


def _imported_below(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the name of each imported module below `root` that is not installed there, and of its file in `root`."""
    # A virtual environment often stands in the folder of a study; a study may also stand in one.
    prefixes = [Path(prefix) for prefix in (sys.prefix, sys.base_prefix) if not root.is_relative_to(prefix)]
    below, elsewhere = _folder_text(root), tuple(map(_folder_text, prefixes))
    for name, module in tuple(sys.modules.items()):
        file = getattr(module, "__dict__", {}).get("__file__")
        if not isinstance(file, str):
            continue
        place, compared = _place(file)
        if not compared.startswith(below) or compared.startswith(elsewhere):
            continue
        steps = place[len(below) :].split(os.sep)
        if name.partition(".")[0] not in _NOT_THE_MODELS and _INSTALLED.isdisjoint((root.name, *steps)):
            yield name, "/".join(steps)


@cache
def _place(file: str) -> tuple[str, str]:
    """Return where the file of a module is, and that as texts of places are compared: there are thousands of them."""
    place = os.path.abspath(file)
    return place, os.path.normcase(place)


def _folder_text(folder: Path) -> str:
    return os.path.normcase(os.path.join(folder, ""))


def _inside(names: Iterable[str]) -> Iterator[str]:
    paths = map(PurePath, names)
    return (path.as_posix() for path in paths if not (path.is_absolute() or ".." in path.parts))


def _content(file: Path) -> bytes | None:
    try:
        return file.read_bytes().replace(b"\r\n", b"\n")
    except (OSError, ValueError):  # a recorded name may be anything
        return None


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
