"""Names of another tool's variables as ids of a model's parameters.

Owns the rules: a name that was mapped is what it was mapped to, an id of the model is itself, a name that is an id but
for its punctuation is that id, and everything else is a problem with a suggestion.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from henad_web.errors import ProblemList, near_miss
from henad_web.importers.imported import Notes
from henad_web.model.params import Param
from henad_web.model.schema import ModelSchema

__all__ = ["NameMap", "Place"]

Place = tuple[str | int, ...]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


class NameMap:
    """The parameters that the variables of one experiment stand for."""

    def __init__(
        self, given: Mapping[str, str], schema: ModelSchema | None, problems: ProblemList, notes: Notes
    ) -> None:
        """Take what is known.

        Args:
            given: Parameter ids by name; an empty id leaves the variable out.
            schema: The model, None when it is not known; then any name is taken.
            problems: Where problems go.
            notes: Where changed and dropped names are told.
        """
        self._given, self._schema, self._problems, self._notes = given, schema, problems, notes
        self._found: dict[str, str | None] = {}

    @property
    def _ids(self) -> tuple[str, ...]:
        return () if self._schema is None else tuple(param.id for param in self._schema.params)

    def param(self, name: str) -> Param | None:
        """Return the parameter that `name`, found before, stands for; None when the model is not known."""
        found = self._found.get(name)
        return next((param for param in self._schema.params if param.id == found), None) if self._schema else None

    def find(self, name: str, place: Place) -> str | None:
        """Return the id that `name` stands for; None when it is left out or, with a problem recorded, unknown."""
        if name not in self._found:
            self._found[name] = self._unique(name, self._search(name, place), place)
        return self._found[name]

    def _unique(self, name: str, found: str | None, place: Place) -> str | None:
        other = next((other for other, taken in self._found.items() if taken == found and taken is not None), None)
        if other is None:
            return found
        hint = f"map one of them to another parameter, or leave it out with {name}="
        self._problems.add(place, name, f"stands for parameter '{found}', and so does '{other}'", hint=hint)
        return None

    def _search(self, name: str, place: Place) -> str | None:
        if name in self._given:
            return self._mapped(name, self._given[name], place)
        plain = _plain(name)
        by_plain = {_plain(known): known for known in self._ids}
        if name in self._ids:
            return name
        if not plain and self._schema is None:
            self._problems.add(place, name, "a name without a letter is no id", hint=f"map it with {name}=PARAMETER")
            return None
        if self._schema is None or plain in by_plain:
            found = by_plain.get(plain, plain)
            if found != name:
                self._notes.add(f"'{name}' became '{found}'.")
            return found
        missed = near_miss(plain, by_plain)
        guess = "PARAMETER" if missed is None else by_plain[missed.split("'")[1]]
        hint = f"map it with {name}={guess}, or leave it out with {name}="
        wrong = f"model '{self._schema.model}' has no such parameter"
        self._problems.add(place, name, wrong, allowed=", ".join(self._ids), hint=hint)
        return None

    def _mapped(self, name: str, found: str, place: Place) -> str | None:
        if not found:
            self._notes.add(f"'{name}' was left out, as asked.")
            return None
        if self._schema is not None and found not in self._ids:
            wrong = f"mapped to '{found}', which model '{self._schema.model}' does not have"
            hint = near_miss(found, self._ids)
            self._problems.add(place, name, wrong, allowed=", ".join(self._ids), hint=hint)
            return None
        if found != name:
            self._notes.add(f"'{name}' became '{found}'.")
        return found

    def check_all_used(self) -> None:
        """Record names that were mapped and that the experiment does not have."""
        for name in self._given:
            if name not in self._found:
                hint = near_miss(name, self._found)
                allowed = ", ".join(self._found) or "none, it varies and fixes nothing"
                self._problems.add((), None, f"'{name}' is mapped, and the experiment has no such variable",
                                   allowed=allowed, hint=hint)  # fmt: skip
