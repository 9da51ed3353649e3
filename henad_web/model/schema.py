"""What a model looks like from outside: parameters, statistics and actions, and the hash that names that shape.

An action at tick 0 fires before the first step; a later one right after the step that reaches its tick, before the
sample of that tick. One past the last tick never fires.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING

from henad_web.errors import ParamError, near_miss
from henad_web.model.decimals import f32_text, whole_text
from henad_web.model.fnv import KIND_TAGS, Fnv1a64
from henad_web.model.params import Param, ParamKind, ParamValue

if TYPE_CHECKING:
    from henad_web.model.tables import Table

__all__ = [
    "Action",
    "ID_RULE",
    "LONGEST_NAME",
    "ModelSchema",
    "Rgb",
    "Rgba",
    "Schedule",
    "ScheduledAction",
    "Stat",
    "are_declared",
    "cut_name",
    "is_color",
    "is_id",
    "name_problem",
    "param_hint",
    "schedule_of",
]


@dataclass(frozen=True, slots=True)
class Action:
    """Something that can be done to a running model.

    Attributes:
        id: Name in specs.
        label: Name shown to people.
    """

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class ScheduledAction:
    """One firing of an action.

    Attributes:
        tick: Tick it is due at, from 0.
        id: Id of the action.
        name: Name of this firing in the spec; the action's id unless the spec gives one.
    """

    tick: int
    id: str
    name: str


Schedule = tuple[ScheduledAction, ...]
"""Actions of one run by tick; those of one tick in the order they were given."""


def schedule_of(actions: Iterable[ScheduledAction]) -> Schedule:
    """Return `actions` sorted by tick, those of one tick in the order given."""
    return tuple(sorted(actions, key=lambda action: action.tick))


LONGEST_NAME = 200
"""Letters of the longest name of a statistic, an option or an action: a table's column, read by people."""

_ID = re.compile(rf"[a-z][a-z0-9_]{{,{LONGEST_NAME - 1}}}")
ID_RULE = f"a lower-case letter, then lower-case letters, digits, underscores, up to {LONGEST_NAME} of all"


def is_id(id: object) -> bool:
    """Return whether `id` can name a model, a parameter or a table in specs and files."""
    return isinstance(id, str) and _ID.fullmatch(id) is not None


def cut_name(name: object) -> str:
    """Return `name`, whatever it is, as messages show it: a long one cut."""
    is_long = isinstance(name, str) and len(name) > _LONGEST_SHOWN
    return repr(f"{name[:_LONGEST_SHOWN]}…") if isinstance(name, str) and is_long else whole_text(name)


_LONGEST_SHOWN = 40

Rgb = tuple[int, int, int]
Rgba = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Stat:
    """One statistic.

    Attributes:
        label: Name of its column.
        color: Red, green, blue and opacity, each 0 to 255.
    """

    label: str
    color: Rgba


def is_color(value: object, parts: int) -> bool:
    """Return whether `value` is a colour of `parts` whole numbers, each 0 to 255."""
    if not isinstance(value, Sequence) or len(value) != parts:
        return False
    return all(isinstance(part, Integral) and 0 <= int(part) <= 0xFF for part in value)


def param_hint(name: str, known: Iterable[str], constants: Sequence[str]) -> str | None:
    """Return what may be meant by `name`, which is none of the parameters `known`; None where nothing comes near."""
    if name in constants:
        return f"the model's class has a plain '{name}'; declare it, such as {name} = hw.f64(0.5, min=0, max=1)"
    return near_miss(name, known)


def name_problem(name: str) -> str | None:
    """Return what is wrong with `name` as the name of a column, an option or an action; None when nothing is.

    Line feeds and tabs are allowed, since tables quote them; other control characters and halves of surrogate pairs
    are not.
    """
    if len(name) > LONGEST_NAME:
        return f"has {len(name)} characters; allowed: up to {LONGEST_NAME}"
    for character in name:
        if unicodedata.category(character) in _UNUSABLE and character not in "\n\t":
            return f"holds the character U+{ord(character):04X}; allowed: letters, signs, spaces, line feeds and tabs"
    return None


_UNUSABLE = ("Cc", "Cs")
"""Unicode's categories of control characters and of halves of surrogate pairs."""


def are_declared(columns: Iterable[object], labels: Sequence[str]) -> bool:
    """Return whether `columns` are those of the statistics declared as `labels`, in any order.

    A statistic of several columns, such as a vector, calls each of them its label, a point and more.
    """
    found: set[str] = set()
    for column in columns:
        if not isinstance(column, str) or name_problem(column) is not None:
            return False
        owner = next((label for label in labels if column == label), None)
        owner = owner or next((label for label in labels if column.startswith(f"{label}.")), None)
        if owner is None:
            return False
        found.add(owner)
    return len(found) == len(labels)


@dataclass(frozen=True, kw_only=True)
class ModelSchema:
    """The shape of one model.

    Attributes:
        model: Id of the model.
        name: Name shown to people.
        backend: ``cpu`` or ``gpu``.
        params: Parameters; a config's values stand in this order.
        stats: Statistics in the order they are reported.
        actions: Actions the model knows.
        tables: Tables of its own; they change nothing else that a run leaves, and enter no hash.
        constants: Names in the model's class that hold a plain value, no declaration; no spec can vary them.
    """

    model: str
    name: str
    backend: str
    params: tuple[Param, ...]
    stats: tuple[Stat, ...]
    actions: tuple[Action, ...]
    tables: tuple[Table, ...] = ()
    constants: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the facts on one line."""
        held = f"{len(self.params)} parameters, {len(self.stats)} statistics, {len(self.actions)} actions"
        return f"<ModelSchema of '{self.model}': {held}>"

    @cached_property
    def schema_hash(self) -> str:
        """Hash of everything that can change a result, 16 hex digits.

        Ids, kinds, bounds, defaults and orders enter; labels of parameters, colours, slider steps, formats and
        live or reload do not.
        """
        hash = Fnv1a64().text("henad.schema.1").text(self.model).u64(len(self.params))
        for param in self.params:
            _write_param(hash.text(param.id), param)
        hash.u64(len(self.stats))
        for label in self.stat_labels:
            hash.text(label)
        hash.u64(len(self.actions))
        for action_id in self.action_ids:
            hash.text(action_id)
        return hash.hex()

    @property
    def defaults(self) -> tuple[ParamValue, ...]:
        """Canonical default of each parameter, in order."""
        return tuple(param.default for param in self.params)

    @property
    def stat_labels(self) -> tuple[str, ...]:
        """Label of each statistic, in order."""
        return tuple(stat.label for stat in self.stats)

    @property
    def action_ids(self) -> tuple[str, ...]:
        """Id of each action, in order."""
        return tuple(action.id for action in self.actions)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {param.id: position for position, param in enumerate(self.params)}

    def index(self, id: str) -> int:
        """Return the position of the parameter `id`.

        Raises:
            ParamError: The model has no such parameter.
        """
        position = self._positions.get(id)
        if position is None:
            allowed = f"one of {', '.join(self._positions)}" if self.params else "none"
            raise ParamError(
                id,
                f"model '{self.model}' has no such parameter",
                came=repr(id),
                allowed=allowed,
                hint=param_hint(id, self._positions, self.constants),
            )
        return position

    def param(self, id: str) -> Param:
        """Return the parameter `id`.

        Raises:
            ParamError: The model has no such parameter.
        """
        return self.params[self.index(id)]

    def values(self, given: Mapping[str, object]) -> tuple[ParamValue, ...]:
        """Return canonical values in schema order: those `given`, defaults for the rest.

        Raises:
            ParamError: A parameter is unknown, or a value is not allowed for it.
        """
        values = list(self.defaults)
        for id, value in given.items():
            position = self.index(id)
            values[position] = self.params[position].coerce(value)
        return tuple(values)

    def document(self, stat_columns: Sequence[str] | None = None) -> dict[str, object]:
        """Return the schema as JSON builtins, as a manifest stores it.

        Args:
            stat_columns: Columns a sample of the model gives; left out when they are not known.
        """
        document: dict[str, object] = {
            "schema_version": 1,
            "model": self.model,
            "name": self.name,
            "backend": self.backend,
            "schema_hash": self.schema_hash,
            "params": [_param_document(index, param) for index, param in enumerate(self.params)],
            "stats": [{"label": stat.label, "color": list(stat.color)} for stat in self.stats],
        }
        if stat_columns is not None:
            document["stat_columns"] = list(stat_columns)
        document["actions"] = [
            {"index": index, "id": action.id, "label": action.label} for index, action in enumerate(self.actions)
        ]
        if self.tables:
            document["tables"] = [{"id": table.id, "columns": dict(table.columns)} for table in self.tables]
        document["seed"] = {"type": "u64"}
        return document


def _write_param(hash: Fnv1a64, param: Param) -> None:
    hash.byte(KIND_TAGS[param.kind])
    if param.min is not None and param.max is not None:
        hash.bare_value(param, param.min).bare_value(param, param.max)
    if param.kind is ParamKind.CHOICE:
        hash.u64(len(param.options))
        for option in param.options:
            hash.text(option)
    hash.bare_value(param, param.default)


def _param_document(index: int, param: Param) -> dict[str, object]:
    document: dict[str, object] = {
        "index": index,
        "id": param.id,
        "label": param.label,
        "kind": str(param.kind),
        "apply": str(param.apply),
        "format": str(param.format),
        "default": _number(param, param.default),
    }
    if param.min is not None and param.max is not None:
        document |= {"min": _number(param, param.min), "max": _number(param, param.max)}
    if param.step is not None:
        document["step"] = _number(param, param.step)
    if param.kind is ParamKind.CHOICE:
        document |= {"options": list(param.options), "default_index": param.options.index(str(param.default))}
    return document


def _number(param: Param, value: ParamValue) -> ParamValue:
    # The double with the shortest text of the single, so that 0.05 is written as 0.05.
    return float(f32_text(float(value))) if param.kind is ParamKind.F32 else value
