"""Where the results of a sweep go, as plain values.

Opening a place is a target's business: a browser has memory only.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from henad_web.errors import UsageError

__all__ = ["DirectoryOutput", "MemoryOutput", "OutputPlace", "checked_place"]


@dataclass(frozen=True, slots=True)
class MemoryOutput:
    """Keep the files in memory; the record of the sweep carries them."""


@dataclass(frozen=True, slots=True)
class DirectoryOutput:
    """Write the files into the directory `path`, made if it is missing. It must hold no results yet.

    With `overwrite` it may hold those of another sweep. They stay as they are until the new one has its first row, and
    give way to it then all at once; a sweep that never has one leaves them, and its record carries its files. Other
    files stay in any case.

    Raises:
        UsageError: `path` is no path.
    """

    path: str | os.PathLike[str]
    overwrite: bool = False

    def __post_init__(self) -> None:
        """Refuse what no file system could take for a path."""
        if not isinstance(self.path, (str, os.PathLike)):
            raise UsageError(f"the path of DirectoryOutput is {self.path!r}; allowed: text or a pathlib.Path")


OutputPlace = MemoryOutput | DirectoryOutput


def checked_place(output: object) -> OutputPlace:
    """Return the place that `output` is, memory when None.

    Raises:
        UsageError: It is something else, such as a bare path, whose results would not go where it says.
    """
    if output is None:
        return MemoryOutput()
    if isinstance(output, (MemoryOutput, DirectoryOutput)):
        return output
    instead = f"DirectoryOutput({output!r})" if isinstance(output, (str, os.PathLike)) else "MemoryOutput()"
    raise UsageError(f"output is {output!r}; allowed: MemoryOutput() or DirectoryOutput(path); use {instead}")
