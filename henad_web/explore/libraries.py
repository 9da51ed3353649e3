"""Libraries that some designs and a search are made by: which, whether they are here, and what is told where not.

They are looked for when a plan needs them, never at import.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

from henad_web.explore.search_spec import SearchAlgorithm
from henad_web.explore.spec import DesignKind, SweepSpec

__all__ = ["LIBRARIES", "is_installed", "lacking_text", "libraries_of"]

LIBRARIES: dict[DesignKind | SearchAlgorithm, str] = {
    DesignKind.SOBOL: "scipy",
    DesignKind.SALTELLI: "scipy",
    DesignKind.MORRIS: "SALib",
    SearchAlgorithm.CMA_ES: "cmaes",
}
"""The library that draws each design, or does the arithmetic of each search; the others need none."""


def libraries_of(spec: SweepSpec) -> tuple[str, ...]:
    """Return the libraries that a plan of `spec` needs, by the names they are imported by."""
    return tuple(dict.fromkeys(LIBRARIES[kind] for kind in _kinds_of(spec) if kind in LIBRARIES))


def _kinds_of(spec: SweepSpec) -> Iterator[DesignKind | SearchAlgorithm]:
    yield from (block.design for block in spec.blocks)
    if spec.search is not None:
        yield spec.search.algorithm


def is_installed(library: str) -> bool:
    """Return whether `library` can be imported here; imports nothing."""
    try:
        return importlib.util.find_spec(library) is not None
    except ValueError:  # a module without a spec, or one that was taken out of the way
        return False


def lacking_text(kind: DesignKind | SearchAlgorithm) -> str | None:
    """Return that a design or a search of `kind` lacks its library here, one clause; None where it lacks nothing."""
    library = LIBRARIES.get(kind)
    if library is None or is_installed(library):
        return None
    noun = "design" if isinstance(kind, DesignKind) else "search"
    return f"a {kind} {noun} needs the library {library}, which is not installed here"
