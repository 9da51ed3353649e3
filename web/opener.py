"""Opens a zip of results that the visitor chooses.

Owns the button and the file input behind it. What is in the file is decided by the callback it is given.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from dom import Event, by_id, chosen_file
from handlers import listen, show_failure

__all__ = ["Opener"]


class Opener:
    """Reads the file that is chosen; `on_content` is called with its bytes."""

    def __init__(self, on_content: Callable[[bytes], None]) -> None:
        self._on_content = on_content
        self._button, self._input = by_id("open"), by_id("open-file")
        self._reading: asyncio.Future[None] | None = None
        listen(self._button, "click", lambda _event: self._input.click())
        listen(self._input, "change", self._chosen)

    def allow(self, ready: bool) -> None:
        """Say whether results can be opened now."""
        self._button.disabled = not ready

    def _chosen(self, _event: Event) -> None:
        file = chosen_file(self._input)
        if file is not None and not self._button.disabled:
            self._reading = asyncio.ensure_future(self._read(file))

    async def _read(self, file: object) -> None:
        try:
            buffer = await file.arrayBuffer()  # type: ignore[attr-defined]
            # The same file can be chosen again, after it was saved anew.
            self._input.value = ""
            self._on_content(buffer.to_bytes())
        except Exception as error:
            show_failure("The file could not be read", error)
            raise
