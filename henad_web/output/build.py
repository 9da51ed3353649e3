"""Which build of a program made some results.

Owns the record of a build. Compares nothing and looks nothing up.
"""

from __future__ import annotations

import msgspec

from henad_web.version import VERSION

__all__ = ["BuildRecord", "this_build"]


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


def this_build() -> BuildRecord:
    """Return the record of this package. It says its name and version and claims nothing it does not know."""
    return BuildRecord(name="henad-web", version=VERSION)
