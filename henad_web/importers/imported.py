"""What an importer gives: a spec, and everything the original said that a spec cannot say.

Owns the notes and their form as comments. Nothing of an original is dropped without a note.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field

from henad_web.explore.spec import ExecutionSettings, SweepSpec
from henad_web.explore.spec_document import spec_to_toml

__all__ = ["ImportedSpec", "Notes"]

_COMMENT_WIDTH = 100


@dataclass(slots=True)
class Notes:
    """Notes in the order they were made."""

    lines: list[str] = field(default_factory=list)

    def add(self, note: str) -> None:
        """Add `note`, one sentence, once; blanks and control characters become single blanks."""
        line = _one_line(note)
        if line not in self.lines:
            self.lines.append(line)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSpec:
    """An experiment of another tool as a spec.

    Attributes:
        spec: The spec.
        execution: Settings of speed.
        origin: What it was made from, such as ``sweep.nlogo, a NetLogo experiment 'first'``.
        notes: What was changed or could not be carried over, one sentence each.
    """

    spec: SweepSpec
    origin: str
    notes: tuple[str, ...]
    execution: ExecutionSettings = field(default_factory=ExecutionSettings)

    def toml(self) -> str:
        """Return the text of a spec file, with the origin and the notes as comments at its top."""
        head = [_one_line(f"Imported from {self.origin}.")]
        lines = [*_comments(head), *(line for note in self.notes for line in _comments([note], bullet="- "))]
        return "".join(f"{line}\n" for line in lines) + spec_to_toml(self.spec, execution=self.execution)


def _one_line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _comments(texts: Iterable[str], *, bullet: str = "") -> list[str]:
    first, rest = f"# {bullet}", f"# {' ' * len(bullet)}"
    return [
        line
        for text in texts
        for line in textwrap.wrap(text, _COMMENT_WIDTH, initial_indent=first, subsequent_indent=rest)
    ]
