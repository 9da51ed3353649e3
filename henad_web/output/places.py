"""Where the results of a sweep go, as plain values.

Opening a place is a target's business: a browser has memory only.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

__all__ = ["DirectoryOutput", "MemoryOutput", "OutputPlace"]


@dataclass(frozen=True, slots=True)
class MemoryOutput:
    """Keep the files in memory; the record of the sweep carries them."""


@dataclass(frozen=True, slots=True)
class DirectoryOutput:
    """Write the files into the directory `path`, made if it is missing. It must hold no results yet."""

    path: str | os.PathLike[str]


OutputPlace = MemoryOutput | DirectoryOutput
