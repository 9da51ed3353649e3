"""The example specs that are served beside the page, and the drafts a visitor makes of them.

Owns the picker. Texts are fetched once.
"""

from __future__ import annotations

from collections.abc import Callable

from dom import Event, by_id, fetch_text, make
from handlers import listen

__all__ = ["EXAMPLES", "Picker"]

EXAMPLES = (
    ("sir_sweep.toml", "SIR: infection and recovery rates"),
    ("life_density.toml", "Game of Life: initial density"),
    ("sir_fixture.toml", "SIR: a small fixed case"),
)
"""File under ``examples/`` and the name the picker shows."""


class Picker:
    """Loads an example into the editor; edits of one are kept while another is looked at.

    `load` puts a text into the editor, `current` returns the editor's text.
    """

    def __init__(self, load: Callable[[str], None], current: Callable[[], str]) -> None:
        self._load, self._current = load, current
        self._select, self._restore = by_id("example"), by_id("restore")
        self._originals: dict[str, str] = {}
        self._drafts: dict[str, str] = {}
        self._shown = EXAMPLES[0][0]
        for file, name in EXAMPLES:
            option = make("option", name)
            option.value = file
            self._select.append(option)
        listen(self._select, "change", self._picked)
        listen(self._restore, "click", self._restored)

    async def open(self) -> None:
        """Fetch every example, and show the first.

        Raises:
            OSError: An example could not be fetched.
        """
        for file, _ in EXAMPLES:
            self._originals[file] = await fetch_text(f"examples/{file}")
        self._select.disabled = False
        self._load(self._originals[self._shown])

    def note_edit(self, text: str) -> None:
        """Say whether there is something to restore, now that the editor holds `text`."""
        self._restore.disabled = text == self._originals.get(self._shown)

    def _picked(self, _event: Event) -> None:
        self._drafts[self._shown] = self._current()
        self._shown = str(self._select.value)
        self._load(self._drafts.get(self._shown, self._originals[self._shown]))

    def _restored(self, _event: Event) -> None:
        self._load(self._originals[self._shown])
