"""Models by id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from henad_web.errors import ModelDefinitionError, UnknownModelError
from henad_web.model.entry import ModelEntry

__all__ = ["ModelSet"]


class ModelSet(Mapping[str, ModelEntry]):
    """Entries by id, in the order they were inserted.

    Raises:
        ModelDefinitionError: Two entries have one id.
    """

    def __init__(self, entries: Iterable[ModelEntry] = ()) -> None:
        self._entries: dict[str, ModelEntry] = {}
        for entry in entries:
            self.insert(entry)

    def insert(self, entry: ModelEntry) -> None:
        """Add `entry` at the end.

        Raises:
            ModelDefinitionError: The set holds an entry of that id.
        """
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
