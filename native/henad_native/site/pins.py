"""The pinned list of files that the page is made of, as `web/vendor.json` holds it.

This module owns the list's types and reading; it fetches nothing.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import msgspec

from henad_native.site.errors import PinError

__all__ = ["Bytecode", "Group", "PinnedFile", "PinnedPackage", "pinned_files"]


class Group(StrEnum):
    """What a pinned file is for."""

    PAGE = "page"
    TESTS = "tests"


class Bytecode(StrEnum):
    """Whether a wheel is compiled for the page, and what becomes of its sources."""

    NONE = "none"
    BESIDE = "beside"
    INSTEAD = "instead"


class PinnedPackage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the package lock says of a pinned wheel.

    Attributes:
        name: Normalised name, by which pages load it.
        version: Version.
        imports: Names that it makes importable.
        depends: Names of the packages that are loaded with it.
        bytecode: Whether it is compiled; beside its sources if it is one that reads or shows them.
    """

    name: str
    version: str
    imports: tuple[str, ...]
    depends: tuple[str, ...] = ()
    bytecode: Bytecode = Bytecode.NONE


class PinnedFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file, settled by its hash, and where it can be had.

    Attributes:
        path: Path inside the site's vendor folder, a folder and a name.
        group: Whether the page needs it or only the tests.
        sha256: Hash of its content, 64 lower hex digits.
        bytes: Size of its content.
        sources: Names of sources in the order to try, see `henad_native.site.sources`.
        package: What the package lock says of it when it is a wheel, else None.
    """

    path: str
    group: Group
    sha256: str
    bytes: int
    sources: tuple[str, ...]
    package: PinnedPackage | None = None

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The folder inside the site's vendor folder, such as ``pyodide-314.0.3``."""
        return self.path.rpartition("/")[0]


class _PinnedList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    files: tuple[PinnedFile, ...]


def pinned_files(path: Path) -> tuple[PinnedFile, ...]:
    """Read a pinned list.

    Args:
        path: The list's file, `web/vendor.json`.

    Returns:
        Its files in the list's order.

    Raises:
        PinError: If the list is missing, is no such list, or names a path twice.
    """
    try:
        files = msgspec.json.decode(path.read_bytes(), type=_PinnedList).files
    except (OSError, msgspec.DecodeError) as error:
        raise PinError(str(path), f"no pinned list: {error}") from error
    paths = [file.path for file in files]
    twice = sorted({name for name in paths if paths.count(name) > 1})
    if twice:
        raise PinError(str(path), f"these paths stand there twice: {', '.join(twice)}")
    return files
