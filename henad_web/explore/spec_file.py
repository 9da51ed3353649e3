"""Spec files: reading them from text and from disk, checking them against the models there are, and writing them back.

Owns the bytes around a document: encoding, syntax, lines of problems, design tables beside the file, and the record of
what was read; and which problems of a model only follow from those of the file. What the keys mean is `spec_parse`'s
business.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath, PureWindowsPath

import msgspec
import numpy as np

from henad_web.errors import Place, PlanError, Problem, ProblemList, SpecError, UsageError, counted, near_miss
from henad_web.explore.plan import Plan
from henad_web.explore.positions import Positions
from henad_web.explore.spec import ExecutionSettings, SweepSpec
from henad_web.explore.spec_document import spec_document, spec_hash, spec_to_json, spec_to_toml
from henad_web.explore.spec_parse import ReadTable, parse_document, parse_spec_document
from henad_web.explore.spec_text import SpecFormat, format_of, normalized, read_document
from henad_web.model.decimals import whole_text
from henad_web.model.entry import ModelEntry, ModelSet, ModelsGiven
from henad_web.model.fnv import fnv1a64

__all__ = [
    "LoadedSpec",
    "SpecFormat",
    "SpecSource",
    "TableSource",
    "load_spec",
    "parse_spec",
    "parse_spec_document",
    "plan_or_problems",
    "spec_document",
    "spec_hash",
    "spec_to_json",
    "spec_to_toml",
]


class TableSource(msgspec.Struct, frozen=True, kw_only=True):
    """A design table that was read.

    Attributes:
        path: Its path as the spec gives it.
        fnv1a64: Hash of its text, 16 hex digits; a byte-order mark and the kind of line end do not count.
    """

    path: str
    fnv1a64: str


class SpecSource(msgspec.Struct, frozen=True, kw_only=True):
    """Where a spec came from, for the record.

    Attributes:
        path: Path of its file, None for text.
        toml: Its text, lines ending in LF; for a spec in JSON, the TOML that says the same; None for a spec that was
            made in Python.
        tables: Design tables read beside it, in order.
    """

    path: str | None = None
    toml: str | None = None
    tables: tuple[TableSource, ...] = ()

    def __repr__(self) -> str:
        """Return the facts on one line."""
        text = "no text" if self.toml is None else f"{len(self.toml)} letters"
        where, tables = "in memory" if self.path is None else self.path, counted(len(self.tables), "table")
        return f"<SpecSource {where}: {text}, {tables}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSpec:
    """A spec with what came with it.

    Attributes:
        spec: The spec.
        source: Where it came from.
        execution: The file's settings of speed, which are no part of the spec.
        file: Name of the file for messages, None for text.
        positions: Lines of its keys.
        reducer_entries: For each reducer of the spec, the position of the entry of the file it came from.
        plan: Its plan, made with the `models` that were given to check it; None without models.
    """

    spec: SweepSpec
    source: SpecSource
    execution: ExecutionSettings
    file: str | None
    positions: Positions
    reducer_entries: tuple[int, ...] = ()
    plan: Plan | None = None

    def __repr__(self) -> str:
        """Return the facts on one line."""
        place = "text" if self.file is None else self.file
        return f"<LoadedSpec of '{self.spec.model}' from {place}: {counted(len(self.spec.blocks), 'block')}>"

    def locate(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """Return `problems` of this spec, such as a `PlanError` holds, by line, with file and line in their places."""
        located = (
            _located(problem, self.file, self.positions, self._entry_of(problem.place.table)) for problem in problems
        )
        # What two reducers of one entry share is one mistake in the file.
        return tuple(sorted(dict.fromkeys(located), key=_line_of))

    def _entry_of(self, table: tuple[str | int, ...]) -> tuple[str | int, ...]:
        # A file groups reducers by column, a spec lists them one by one.
        match table:
            case ("measure", "reducers", int(position), *rest) if position < len(self.reducer_entries):
                return ("measure", "reducers", self.reducer_entries[position], *rest)
        return table


def parse_spec(
    text: str | Mapping[str, object],
    *,
    name: str | None = None,
    format: str | None = None,
    models: ModelsGiven | None = None,
) -> LoadedSpec:
    """Return the spec that `text` says. It cannot name files; a design table is given as `table_text`.

    Args:
        text: The text; a byte-order mark and the kind of line end do not count. Or the document itself, as a mapping
            with the keys of a file.
        name: What messages call it.
        format: ``toml`` or ``json``; None takes what the text looks like.
        models: Models to check the text with: what they refuse is told as well, and the plan is made.

    Raises:
        SpecError: The text is not valid, or not a spec; every problem is in it.
        UsageError: `text` is neither text nor a mapping.
    """
    is_mapping = isinstance(text, Mapping)
    if isinstance(text, Mapping):
        text, format = _json_of(text), SpecFormat.JSON
    if not isinstance(text, str):
        raise UsageError(f"parse_spec takes text or a mapping, got {whole_text(text)}; hw.load_spec(path) reads a file")
    text = normalized(text)
    form = format_of(text, given=format)
    return _parse(text, file=name, path=None, tables=None, form=form, models=models, has_lines=not is_mapping)


def load_spec(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    models: ModelsGiven | None = None,
) -> LoadedSpec:
    """Return the spec in the file at `path`, with the design tables beside it.

    Args:
        path: The file. A name that ends in ``.toml`` or ``.json`` says its form.
        format: ``toml`` or ``json`` whatever the name ends in.
        models: Models to check the file with: what they refuse is told as well, and the plan is made.

    Raises:
        SpecError: The file cannot be read, is not valid, or not a spec; every problem is in it.
        UsageError: `path` is no path.
    """
    if not isinstance(path, str | os.PathLike):
        raise UsageError(
            f"load_spec takes the path of a file, got {whole_text(path)}; hw.parse_spec takes text or a mapping"
        )
    file = Path(path)
    try:
        text = _read_text(file)
    except ValueError as error:
        problem = Problem(place=Place(file=str(file)), wrong=f"the spec {error}")
        raise SpecError([problem]) from error
    form = format_of(text, path=file, given=format)
    tables = _TableFolder(file.parent)
    return _parse(text, file=file.name, path=str(path), tables=tables, form=form, models=models)


def _json_of(document: Mapping[str, object]) -> str:
    def plain(value: object) -> object:
        if isinstance(value, np.generic | np.ndarray):
            return value.tolist()
        raise TypeError(f"a value of the type {type(value).__name__} cannot stand in a spec")

    try:
        return msgspec.json.encode(document, enc_hook=plain).decode()
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise SpecError([Problem(place=Place(), wrong=f"the mapping is no document: {error}")]) from error


def _read_text(path: Path) -> str:
    try:
        return normalized(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        raise ValueError("file does not exist") from None
    except OSError as error:
        raise ValueError(f"file cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"file is not UTF-8 text: byte {error.start} cannot be decoded") from error


class _TableFolder:
    """Reads design tables below one folder and keeps a record of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.sources: list[TableSource] = []

    def read(self, path: str) -> str:
        """Return the text of the table at `path`.

        Raises:
            ValueError: The path leaves the folder, or its file cannot be read.
        """
        parts = (*PurePosixPath(path).parts, *PureWindowsPath(path).parts)
        if PurePosixPath(path).is_absolute() or PureWindowsPath(path).anchor:
            raise ValueError("an absolute path of a design table")
        if ".." in parts:
            raise ValueError("a path of a design table that leaves the spec's folder")
        text = _read_text(self._folder / path)
        self.sources.append(TableSource(path=path, fnv1a64=f"{fnv1a64(text.encode()):016x}"))
        return text


def _parse(
    text: str,
    *,
    file: str | None,
    path: str | None,
    tables: _TableFolder | None,
    form: SpecFormat,
    models: ModelsGiven | None,
    has_lines: bool = True,
) -> LoadedSpec:
    read = read_document(text, form, file)
    positions = read.positions if has_lines else Positions()
    problems = ProblemList()
    read_table: ReadTable | None = None if tables is None else tables.read
    parsed = parse_document(read.document, problems, read_table=read_table)
    found = _once_a_place(read.problems.problems, problems.problems)
    is_kept_as_it_is = bool(found) or form is SpecFormat.TOML
    loaded = LoadedSpec(
        spec=parsed.spec,
        source=SpecSource(
            path=path,
            toml=text if is_kept_as_it_is else spec_to_toml(parsed.spec, execution=parsed.execution),
            tables=() if tables is None else tuple(tables.sources),
        ),
        execution=parsed.execution,
        file=file,
        positions=positions,
        reducer_entries=parsed.reducer_entries,
    )
    planned = () if models is None else plan_or_problems(parsed.spec, ModelSet.of(models), found)
    refused = () if isinstance(planned, Plan) else loaded.locate(planned)
    told = [_located(problem, file, positions, problem.place.table) for problem in found]
    if told or refused:
        raise SpecError(sorted([*told, *refused], key=_line_of))
    return replace(loaded, plan=planned) if isinstance(planned, Plan) else loaded


def _line_of(problem: Problem) -> int:
    return problem.place.line or 0


def _once_a_place(of_form: list[Problem], of_meaning: list[Problem]) -> list[Problem]:
    # A value that its form forbids has no meaning either; to say so twice would help nobody.
    told = {(problem.place.table, problem.place.key) for problem in of_form}
    return of_form + [problem for problem in of_meaning if (problem.place.table, problem.place.key) not in told]


def _located(problem: Problem, file: str | None, positions: Positions, table: tuple[str | int, ...]) -> Problem:
    line = positions.line(table, problem.place.key)
    return replace(problem, place=Place(table=table, key=problem.place.key, file=file, line=line))


def plan_or_problems(
    spec: SweepSpec, models: Mapping[str, ModelEntry], told: Sequence[Problem]
) -> Plan | tuple[Problem, ...]:
    """Return the plan of `spec`, or what its model refuses without what may only follow from the problems `told`.

    Args:
        spec: What could be read; defaults stand where the file is wrong.
        models: The models there are.
        told: Problems of the file, with the places of their tables and keys.
    """
    entry = models.get(spec.model)
    if entry is None:
        return _unknown_model(spec.model, models)
    try:
        return Plan.of(spec, entry.schema())
    except PlanError as error:
        places = [(problem.place.table, problem.place.key) for problem in told]
        return tuple(problem for problem in error.problems if not _may_follow(problem, places))


def _unknown_model(model: str, models: Mapping[str, ModelEntry]) -> tuple[Problem, ...]:
    if not model:  # a missing, wrong or empty key, which the file's problems tell
        return ()
    hint = near_miss(model, models) or "one of your own is given as models=, to the command as --models FILE.py"
    place = Place(key="model")
    return (Problem(place=place, wrong="no such model", came=f"'{model}'", allowed=", ".join(models), hint=hint),)


_Told = tuple[tuple[str | int, ...], str | None]


def _may_follow(problem: Problem, told: Sequence[_Told]) -> bool:
    """Whether `problem` may come of one told: of its own key, of its factor or block, of a wrong action."""
    place = problem.place
    if (place.table, place.key) in told:
        return True
    if place.table[:1] != ("block",):
        return place.key is None or any(table == place.table and key is None for table, key in told)
    if place.key in _NAMES_ACTIONS and any(table[:1] == ("action",) for table, _ in told):
        return True
    in_block = [(table, key) for table, key in told if table[:2] == place.table[:2]]
    if place.key in ("where", "design"):
        return False
    if place.key in ("file", "table_text"):
        return any(key in (None, "file", "table_text") for _, key in in_block)
    if place.table[2:3] != ("factors",):
        return bool(in_block)
    # A factor means the same whatever its block's other keys say, but for a range without a step, which some designs
    # take whole.
    lacks_step = place.key == "step" and problem.came is None
    return any(
        table[:4] == place.table[:4] or (len(table) == 2 and (key in (None, "factors") or lacks_step))
        for table, key in in_block
    )


_NAMES_ACTIONS = ("action", "where", "file", "table_text")
"""Keys of a block and its factors that may name an action."""
