"""Models of installed packages, which name them as entry points of the group ``henad_web.models``.

Owns how they are found and what counts as one. Nothing is imported before it is asked for.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from henad_web.errors import ModelDefinitionError, describe
from henad_web.model.decimals import whole_text
from henad_web.model.entry import ModelEntry, ModelSet, entry_of
from henad_web.model.faults import Blame, Phase, one_line

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["GROUP", "InstalledModels", "SkippedModelWarning", "find_installed", "installed_models"]

GROUP = "henad_web.models"
"""Group of entry points; each is a model set, an entry, a class of `hw.Model`, or a function that returns one."""


class SkippedModelWarning(UserWarning):
    """An installed package whose models cannot be used."""


@dataclass(frozen=True, slots=True)
class InstalledModels:
    """What installed packages offer.

    Attributes:
        models: The models, by package and entry point in the order of their names.
        problems: What was skipped and why, a sentence each.
    """

    models: ModelSet
    problems: tuple[str, ...]


def find_installed(known: ModelSet | None = None) -> InstalledModels:
    """Return the models of installed packages behind those `known`, and what is wrong with the others.

    Args:
        known: Models that are there already and keep their ids; none when None.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415 - most programs do without

    models, problems = ModelSet(() if known is None else known.values()), []
    for point in sorted(entry_points(group=GROUP), key=lambda point: (_package_of(point), point.name)):
        skipped = f"the models '{point.name}' of {_package_of(point)} are skipped"
        with Blame(Phase.BUILDING, None) as blame:  # whatever importing a package raises
            for entry in _entries_of(point.load()):
                if entry.id in models:
                    problems.append(
                        f"the model '{entry.id}' of {_package_of(point)} is skipped: there is one of that id"
                    )
                else:
                    models.insert(entry)
        if blame.error is not None:
            problems.append(f"{skipped}: {one_line(describe(blame.error))}")
    return InstalledModels(models, tuple(problems))


def installed_models() -> ModelSet:
    """Return the models of installed packages, found by the entry points of the group ``henad_web.models``.

    Each is a model set, an entry, a class of `hw.Model`, or a function of no arguments that returns one of these. What
    cannot be loaded, and a model whose id is taken, is skipped with a `SkippedModelWarning` that names it.
    """
    found = find_installed()
    for problem in found.problems:
        warnings.warn(problem, SkippedModelWarning, stacklevel=2)
    return found.models


def _package_of(point: EntryPoint) -> str:
    return "a package" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def _entries_of(found: object) -> list[ModelEntry]:
    if callable(found) and not isinstance(found, type):
        found = found()
    entry = entry_of(found)
    if entry is not None:
        return [entry]
    if isinstance(found, ModelSet):
        return list(found.values())
    raise ModelDefinitionError(f"{whole_text(found)} is no model; a ModelSet, a ModelEntry or a hw.Model is needed")
