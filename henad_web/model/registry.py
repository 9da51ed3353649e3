"""Models by id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from henad_web.errors import ModelDefinitionError, UnknownModelError, UsageError
from henad_web.model.entry import ModelEntry

__all__ = ["ModelSet", "ModelsGiven"]


class ModelSet(Mapping[str, ModelEntry]):
    """Entries by id, in the order they were inserted.

    Raises:
        ModelDefinitionError: Two entries have one id.
    """

    def __init__(self, entries: Iterable[ModelEntry] = ()) -> None:
        self._entries: dict[str, ModelEntry] = {}
        for entry in entries:
            self.insert(entry)

    def __repr__(self) -> str:
        """Return the facts on one line."""
        return f"<ModelSet: {', '.join(self._entries) or 'empty'}>"

    @classmethod
    def of(cls, models: ModelsGiven | Iterable[ModelEntry]) -> ModelSet:
        """Return the set that `models` is, or one of what it holds: an entry, entries, or entries by id.

        Raises:
            UsageError: It is none of these.
            ModelDefinitionError: Two entries have one id.
        """
        if isinstance(models, ModelSet):
            return models
        if isinstance(models, ModelEntry):
            return cls([models])
        entries = models.values() if isinstance(models, Mapping) else models
        found = list(entries) if isinstance(entries, Iterable) else [entries]
        wrong = next((entry for entry in found if not isinstance(entry, ModelEntry)), None)
        if wrong is not None:
            raise UsageError(f"models is {models!r}; allowed: a ModelSet, a ModelEntry, or several of them")
        return cls(found)

    def insert(self, entry: ModelEntry) -> None:
        """Add `entry` at the end.

        Raises:
            ModelDefinitionError: It is no entry, or the set holds one of that id.
        """
        if not isinstance(entry, ModelEntry):
            raise ModelDefinitionError(f"{entry!r} is no ModelEntry; a model set holds nothing else")
        if entry.id in self._entries:
            raise ModelDefinitionError(f"the set already holds a model '{entry.id}'; give the new one another id")
        self._entries[entry.id] = entry

    def lookup(self, id: str) -> ModelEntry:
        """Return the entry `id`.

        Raises:
            UnknownModelError: The set does not hold it; the message names a near miss.
        """
        entry = self._entries.get(id)
        if entry is None:
            raise UnknownModelError(id, self._entries)
        return entry

    def __getitem__(self, id: str) -> ModelEntry:
        return self._entries[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


ModelsGiven = ModelSet | ModelEntry | Mapping[str, ModelEntry]
"""What stands for a set wherever one is asked for; `ModelSet.of` makes one of it."""
