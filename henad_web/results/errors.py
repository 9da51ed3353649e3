"""What can be wrong with results that are read back; every error says which file and which field."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import SupportsIndex

from henad_web.errors import ResultsError
from henad_web.model.decimals import whole_text

__all__ = [
    "ArchiveError",
    "DuplicateFileError",
    "MissingColumnError",
    "MissingFileError",
    "ModelChangedError",
    "NeedsExtraError",
    "UnknownRunError",
    "install_hint",
]


class DuplicateFileError(ResultsError):
    """Two files that are the same part of a result set. `part` is its usual name, `names` are theirs."""

    def __init__(self, part: str, names: Iterable[str]) -> None:
        self.part, self.names = part, tuple(names)
        super().__init__(
            f"more than one file is a {part}: {', '.join(self.names)}; give the files of one result set only"
        )


class MissingFileError(ResultsError):
    """Parts of a result set that are not there. `missing` holds their usual names, `came` what there is."""

    def __init__(self, missing: Iterable[str], came: Iterable[str], where: str | None = None) -> None:
        self.missing, self.came = tuple(missing), tuple(came)
        found = ", ".join(self.came) or "nothing"
        place = f"{where} holds" if where else "the files given hold"
        super().__init__(
            f"{place} no {' and no '.join(self.missing)}; found {found}; files are known by "
            f"their content, whatever their names"
        )


class MissingColumnError(ResultsError):
    """A table without a column that it must have. Carries `table` and `column`."""

    def __init__(self, table: str, column: str, came: Iterable[str]) -> None:
        self.table, self.column, self.came = table, column, tuple(came)
        super().__init__(f"{table} has no column '{column}'; its columns are {', '.join(self.came) or 'none'}")


class UnknownRunError(ResultsError):
    """A run that the results do not hold. Carries `run_id`."""

    def __init__(self, run_id: object, held: str) -> None:
        self.run_id = run_id
        is_whole = isinstance(run_id, SupportsIndex)
        shown = operator.index(run_id) if isinstance(run_id, SupportsIndex) else run_id
        hint = "" if is_whole else f"; the id of a run is a whole number, not a {type(run_id).__name__}"
        super().__init__(f"there is no run {whole_text(shown)}; runs here: {held}{hint}")


class ModelChangedError(ResultsError):
    """A model that is not the one that wrote the results. Carries `model`, `recorded` and `current` schema hashes."""

    def __init__(self, model: str, recorded: str, current: str) -> None:
        self.model, self.recorded, self.current = model, recorded, current
        super().__init__(
            f"model '{model}' has schema hash {current}, the results were written by one with {recorded}; give the "
            f"models that wrote them, as models="
        )


class NeedsExtraError(ResultsError):
    """A conversion whose library is not installed. Carries the `library` and the `extra` that brings it."""

    def __init__(self, what: str, library: str, extra: str = "data") -> None:
        self.what, self.library, self.extra = what, library, extra
        super().__init__(f"{what} needs {library}; {install_hint(extra)}")


def install_hint(extra: str) -> str:
    """Return how to install what the extra `extra` of this package brings."""
    return f"install it with: python -m pip install -e '.[{extra}]' in a clone, 'henad-web[{extra}]' elsewhere"


class ArchiveError(ResultsError):
    """An archive that is no zip of results, or one that could do harm. Carries the `member`, None for the whole."""

    def __init__(self, wrong: str, *, member: str | None = None) -> None:
        self.member = member
        super().__init__(f"the archive cannot be opened: {wrong}" + ("" if member is None else f" ('{member}')"))
