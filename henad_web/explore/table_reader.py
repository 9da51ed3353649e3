"""Reading the keys of one table of a spec document, with every problem recorded at its place.

Owns kinds of values and their words. Which keys a table has, and what they mean, is `spec_parse`'s business. A value
that is wrong reads as the default, so that one mistake does not hide the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TypeVar

from henad_web.errors import ProblemList
from henad_web.explore.factors import TablePath
from henad_web.explore.spec_kinds import FLAG, NUMBER, TEXT, TOO_LARGE, WHOLE, kind_of
from henad_web.explore.spelling import meant, number_hint, whole_hint
from henad_web.model.decimals import LARGEST_DOUBLE, MAX_U64, parse_long_number, parse_whole

__all__ = ["TableReader"]

_SEED_FORM = "a whole number or a text of digits, 0 to 2^64 - 1"
_Choice = TypeVar("_Choice", bound=StrEnum)


class TableReader:
    """The keys of one table.

    Attributes:
        path: Place of the table.
        problems: Where problems go.
        misspelt: Keys of the table that one of its unknown keys was probably meant to be.
    """

    def __init__(
        self,
        value: object,
        path: TablePath,
        known: Iterable[str],
        problems: ProblemList,
        *,
        homes: Mapping[str, str] | None = None,
    ) -> None:
        """Take `value` as the table at `path`.

        Args:
            value: The table as it came, of whatever kind.
            path: Its place.
            known: Its keys.
            problems: Where problems go.
            homes: For keys of other tables, the table they belong in.
        """
        self.path, self.problems = path, problems
        self._known = tuple(known)
        self._homes = homes or {}
        self._table: Mapping[str, object] = {}
        self.misspelt: set[str] = set()
        if isinstance(value, Mapping):
            self._table = value
            self._check_keys()
        else:
            table, key = _split(path)
            problems.add(table, key, "not a table", came=kind_of(value), allowed="a table")

    def _check_keys(self) -> None:
        for key in self._table:
            if key in self._known:
                continue
            hint = self._home_of(key)
            if hint is None:
                absent = [known for known in self._known if known not in self._table]
                missed = meant(key, absent) or meant(key, self._known)
                hint = None if missed is None else f"did you mean '{missed}'?"
                self.misspelt |= set() if missed is None else {missed}
            self.problems.add(self.path, key, f"unknown key `{key}`", allowed=", ".join(self._known), hint=hint)

    def _home_of(self, key: str) -> str | None:
        home = self._homes.get(key)
        return None if home is None else f"`{key}` belongs in {home}"

    def __contains__(self, key: str) -> bool:
        """Return whether the table has `key`."""
        return key in self._table

    def raw(self, key: str) -> object:
        """Return the value of `key` as it came, None when it is missing."""
        return self._table.get(key)

    def wrong(self, key: str, wrong: str, *, allowed: str | None = None, hint: str | None = None) -> None:
        """Record that `key` is wrong, showing what it holds."""
        came = kind_of(self._table[key]) if key in self._table else None
        self.problems.add(self.path, key, wrong, came=came, allowed=allowed, hint=hint)

    def missing(self, key: str, hint: str) -> None:
        """Record that `key` is not there, unless a misspelt one already was."""
        if key in self.misspelt:
            return
        self.problems.add(self.path, key, "missing key", hint=hint)

    def whole(self, key: str, default: int, *, least: int = 0) -> int:
        """Return the whole number of `key`, 0 to 2^64 - 1; `default` when it is missing or wrong.

        Args:
            key: The key.
            default: What is meant when it is not there.
            least: Numbers below are refused later, and never proposed.
        """
        number = self.optional_whole(key, least=least)
        return default if number is None else number

    def optional_whole(self, key: str, *, least: int = 0, multiple_of: int = 1, allowed: str = WHOLE[1]) -> int | None:
        """Return the whole number of `key` as `whole` does, None when it is missing or wrong."""
        if key not in self._table:
            return None
        value = self._table[key]
        if isinstance(value, bool) or not isinstance(value, int):
            hint = whole_hint(key, value, least=least, multiple_of=multiple_of)
            self.wrong(key, WHOLE[0], allowed=allowed, hint=hint)
            return None
        if not 0 <= value <= MAX_U64:
            self.wrong(key, "below 0" if value < 0 else "too large", allowed=allowed)
            return None
        return value

    def seed(self, key: str, default: int | None) -> int | None:
        """Return the seed of `key`: a whole number, or a text of digits for those above 2^63 - 1."""
        if key not in self._table:
            return default
        value = self._table[key]
        seed = _seed(value)
        if seed is None:
            self.wrong(key, "not a seed", allowed=_SEED_FORM, hint=whole_hint(key, value))
            return default
        return seed

    def seeds(self, key: str) -> tuple[int, ...]:
        """Return the seeds of the list `key`, without those that are wrong."""
        found = []
        for position, (_, value) in enumerate(self.items(key, hint=f"write {key} = [{self.raw(key)}]")):
            seed = _seed(value)
            if seed is None:
                wrong = f"entry #{position + 1} is not a seed"
                self.problems.add(self.path, key, wrong, came=kind_of(value), allowed=_SEED_FORM)
            else:
                found.append(seed)
        return tuple(found)

    def number(
        self, key: str, *, least: float | None = None, allowed: str = NUMBER[1], takes_long_texts: bool = False
    ) -> float | int | None:
        """Return the number of `key` as it came, None when it is missing or wrong.

        Args:
            key: The key.
            least: Numbers below are refused later, and never proposed; None for none.
            allowed: What may stand there, for messages.
            takes_long_texts: Whether a text of digits stands for a whole number beyond 2^53, which JSON may round.
        """
        if key not in self._table:
            return None
        value = self._table[key]
        long_number = parse_long_number(value) if takes_long_texts else None
        if long_number is not None:
            value = long_number
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.wrong(key, NUMBER[0], allowed=allowed, hint=number_hint(key, value, least))
            return None
        if isinstance(value, int) and abs(value) > (LARGEST_DOUBLE if takes_long_texts else MAX_U64):
            self.wrong(key, TOO_LARGE[0], allowed=TOO_LARGE[1])
            return None
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Return the bool of `key`; `default` when it is missing or wrong."""
        value = self._table.get(key, default)
        if not isinstance(value, bool):
            words = {"true": "true", "yes": "true", "on": "true", "1": "true"}
            words |= {"false": "false", "no": "false", "off": "false", "0": "false"}
            word = words.get(str(value).lower())
            hint = None if word is None else f"write {key} = {word}"
            self.wrong(key, FLAG[0], allowed=FLAG[1], hint=hint)
            return default
        return value

    def text(self, key: str) -> str | None:
        """Return the text of `key`, None when it is missing or wrong."""
        if key not in self._table:
            return None
        value = self._table[key]
        if not isinstance(value, str):
            is_scalar = isinstance(value, bool | int | float)
            hint = f'write {key} = "{str(value).lower() if isinstance(value, bool) else value}"' if is_scalar else None
            self.wrong(key, TEXT[0], allowed=TEXT[1], hint=hint)
            return None
        return value

    def choice(self, key: str, default: _Choice) -> _Choice:
        """Return the word of `key` as one of the words of `default`'s type; `default` when it is missing.

        A word that is wrong reads as the one that was probably meant, so that what follows is looked at in its light.
        """
        words = {word.value: word for word in type(default)}
        value = self._table.get(key, default.value)
        if isinstance(value, str) and value in words:
            return words[value]
        missed = meant(value, words) if isinstance(value, str) else None
        hint = None if missed is None else f"did you mean '{missed}'?"
        self.wrong(key, "no such word", allowed=", ".join(f'"{word}"' for word in words), hint=hint)
        return default if missed is None else words[missed]

    def items(self, key: str, *, hint: str | None = None) -> list[tuple[TablePath, object]]:
        """Return the entries of the list `key` with their places; empty when it is missing or no list."""
        value = self._table.get(key, [])
        if not isinstance(value, list | tuple):
            self.wrong(key, "not a list", allowed="a list", hint=hint)
            return []
        return [((*self.path, key, position), entry) for position, entry in enumerate(value)]


def _seed(value: object) -> int | None:
    seed = parse_whole(value) if isinstance(value, int | str) else None
    return seed if seed is not None and 0 <= seed <= MAX_U64 else None


def _split(path: TablePath) -> tuple[TablePath, str | None]:
    last = path[-1] if path else None
    return (path[:-1], last) if isinstance(last, str) else (path, None)
