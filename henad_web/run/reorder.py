"""Outcomes that finish out of order, handed out in plan order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

__all__ = ["ReorderBuffer"]

Item = TypeVar("Item")


class ReorderBuffer(Generic[Item]):
    """Holds items until every earlier one has been handed out.

    Args:
        order: The ids of all items to come, in the order they are handed out.
    """

    def __init__(self, order: Iterator[int]) -> None:
        self._order = order
        self._next = next(order, None)
        self._held: dict[int, Item] = {}

    @property
    def is_done(self) -> bool:
        """Whether every item has been handed out."""
        return self._next is None

    def insert(self, item_id: int, item: Item) -> None:
        """Hold `item` until its turn."""
        self._held[item_id] = item

    def pop_ready(self) -> Item | None:
        """Return the next item in order, None when it has not arrived."""
        if self._next is None or self._next not in self._held:
            return None
        item = self._held.pop(self._next)
        self._next = next(self._order, None)
        return item

    def clear(self) -> None:
        """Forget the items held, as an abort does."""
        self._held.clear()
