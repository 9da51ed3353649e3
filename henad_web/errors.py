"""The exception tree of the package, and the problems its messages are built from.

Everything the package raises on purpose derives from `HenadError`::

    HenadError
    ├── SpecError                 a spec file that cannot be read; every problem at once
    ├── PlanError                 a spec that a model refuses; every problem at once
    ├── ParamError                a parameter value or text that is not allowed
    ├── UnknownModelError         a model id that a model set does not hold
    ├── ModelDefinitionError      a model declared wrongly by its author
    ├── ModelMismatchError        a spec for one model given the entry of another
    ├── StatsShapeError           statistics that no longer fit the planned columns
    ├── TickError                 a model that counts its steps otherwise than it is told to take them
    ├── ProbeError                every probed config refused to build
    ├── NeedsNativeError          a thing this target cannot do
    ├── ConcurrencyError          a concurrency that is neither auto nor a count
    ├── ShardError                a shard that does not exist
    ├── OutputError               results that cannot be written
    │   ├── HoldsResultsError     a directory that already holds results
    │   ├── LockedError           a directory that another writer holds
    │   ├── OutputFullError       no room left where results are written; the same write can be tried again
    │   ├── TableChangedError     a table that another program changed while a sweep wrote it
    │   ├── ResumeError           results that cannot be gone on with, with a reason; in `resume/errors.py`
    │   └── MergeError            folders that cannot be merged, with a reason; likewise
    ├── ManifestError             a manifest that cannot be read
    ├── ResultsError              results that cannot be read back; one class a cause in `results/errors.py`
    │   └── TableDamagedError     a table with a record that no sweep writes, whoever reads it
    ├── SweepFailedError          a sweep that ended on its own error (blocking calls only)
    ├── ThreadStartError          the thread of a sweep that the machine has no room for
    ├── SweepInterruptedError     Ctrl-C during a blocking call; the files are written
    └── UsageError                a call that the receiver's state does not allow

This module owns messages and fields. It imports nothing of the package.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

__all__ = [
    "ConcurrencyError",
    "HenadError",
    "HoldsResultsError",
    "LockedError",
    "ManifestError",
    "ModelDefinitionError",
    "ModelMismatchError",
    "NeedsNativeError",
    "OutputError",
    "OutputFullError",
    "ParamError",
    "Place",
    "PlanError",
    "ProbeError",
    "Problem",
    "ResultsError",
    "ShardError",
    "SpecError",
    "StatsShapeError",
    "SweepFailedError",
    "SweepInterruptedError",
    "TableChangedError",
    "TableDamagedError",
    "ThreadStartError",
    "TickError",
    "UnknownModelError",
    "UsageError",
    "counted",
    "describe",
    "near_miss",
]


class HenadError(Exception):
    """Base of every error the package raises on purpose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in a spec a problem stands.

    Attributes:
        table: Path of the table, a key or an index (from 0) a step: `("block", 0, "factors", 1)`; `()` is the top
            level.
        key: Key inside the table, None when the table itself is meant.
        file: Name of the file, None for text that came from no file.
        line: Line in the file, from 1; None when it is not known.
    """

    table: tuple[str | int, ...] = ()
    key: str | None = None
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        """Return the place in words, such as ``sweep.toml, line 7, [run] replicates``; of a whole file its name."""
        if self.file and not self.table and self.key is None and self.line is None:
            return self.file
        parts = [self.file] if self.file else []
        if self.line is not None:
            parts.append(f"line {self.line}")
        name = f"[{_table_name(self.table)}]" if self.table else "top level"
        if self.key is not None:
            name = f"{name} {self.key}" if self.table else self.key
        return ", ".join([*parts, name])


def _table_name(table: Sequence[str | int]) -> str:
    name = ""
    for position, step in enumerate(table):
        if isinstance(step, int):
            # A block has an id, from 0, as in tables and plans; entries of other lists are counted.
            name += f" {step}" if table[:position] == ("block",) else f" #{step + 1}"
        else:
            name += f".{step}" if name else step
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong with a spec.

    Attributes:
        place: Where it stands.
        wrong: What is wrong, one clause without a full stop.
        came: What was found there, as text; None when a key is missing.
        allowed: What is allowed there; None when the clause says it.
        hint: What to do, such as a near miss; None when there is nothing better than `allowed`.
    """

    place: Place
    wrong: str
    came: str | None = None
    allowed: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        """Return the place, then what is wrong, what came, what is allowed and what to do."""
        text = f"{self.place}: {self.wrong}"
        if self.came is not None:
            text += f", got {self.came}"
        if self.allowed is not None:
            text += f"; allowed: {self.allowed}"
        if self.hint is not None:
            text += f"; {self.hint}"
        return text


class _ProblemsError(HenadError):
    """An error made of one or more problems, one a line."""

    problems: tuple[Problem, ...]

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class SpecError(_ProblemsError):
    """A spec file or text that cannot be read. `problems` holds every one found."""


class PlanError(_ProblemsError):
    """A spec that its model refuses. `problems` holds every one found."""


class ParamError(HenadError):
    """A parameter value, or a text for one, that is not allowed.

    Attributes:
        param: Id of the parameter.
        wrong: What is wrong, one clause.
        came: What was given, as text.
        allowed: What is allowed.
        hint: A near miss or None.
    """

    def __init__(self, param: str, wrong: str, *, came: str, allowed: str, hint: str | None = None) -> None:
        self.param, self.wrong, self.came, self.allowed, self.hint = param, wrong, came, allowed, hint
        text = f"parameter '{param}': {wrong}, got {came}; allowed: {allowed}"
        super().__init__(f"{text}; {hint}" if hint else text)


class UnknownModelError(HenadError):
    """A model id that a model set does not hold.

    Attributes:
        model: The id.
        known: Ids of the set.
        wrong: The message without how a caller in Python names models, for hosts that name them otherwise.
        hint: A near miss or None.
    """

    def __init__(self, model: str, known: Iterable[str]) -> None:
        self.model, self.known = model, tuple(known)
        self.hint = near_miss(model, self.known)
        text = f"no model '{model}'; known: {', '.join(self.known) or 'none'}"
        self.wrong = f"{text}; {self.hint}" if self.hint else text
        own = "a model of your own is given as models=, as in hw.ResultSet.open(path, models=MyModel)"
        super().__init__(self.wrong if self.hint else f"{text}; {own}")


class ModelDefinitionError(HenadError):
    """A model declared wrongly by its author; `place` is a file of it and a line, where no frame would tell them."""

    place: tuple[str, int] | None = None


class ModelMismatchError(HenadError):
    """A spec for the model `spec_model`, given the entry of `entry_model`."""

    def __init__(self, spec_model: str, entry_model: str) -> None:
        self.spec_model, self.entry_model = spec_model, entry_model
        super().__init__(
            f"spec is for model '{spec_model}', expected '{entry_model}'; pass the entry of '{spec_model}' or change "
            f"`model` in the spec"
        )


class StatsShapeError(HenadError):
    """Statistics at `tick` that do not fit the `expected` columns; `came` names the columns that were given.

    `wrong` says how: by what they are, or by the names and their order. Of a value that is no number, `value` holds the
    column and what came, in words.
    """

    def __init__(
        self,
        tick: int,
        *,
        expected: Iterable[str],
        came: Iterable[object],
        wrong: str = "changed shape",
        value: tuple[str, str] | None = None,
    ) -> None:
        self.tick, self.expected, self.came = tick, tuple(expected), tuple(map(_name_text, came))
        self.wrong, self.value = wrong, value
        if value is not None:
            column, came_there = value
            super().__init__(f"the statistic '{column}' is {came_there} at tick {tick}, expected a number")
            return
        columns = f"expected {', '.join(self.expected) or 'none'}, got {', '.join(self.came) or 'none'}"
        super().__init__("; ".join([f"statistics {wrong} at tick {tick}: {columns}", *self._differences()]))

    def _differences(self) -> Iterator[str]:
        found = (
            ("missing", [name for name in self.expected if name not in self.came]),
            ("not expected", [name for name in self.came if name not in self.expected]),
        )
        for words, names in found:
            if names:
                more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
                yield f"{words}: {', '.join(map(repr, names[:_MOST_NAMED]))}{more}"


_MOST_NAMED = 3
"""Names, or configs, that a message lists one by one."""


def _name_text(name: object) -> str:
    # The text of any object may hold its address, another in each run.
    return str(name) if isinstance(name, (str, int, float)) else f"a name of type {type(name).__name__}"


class StateValueError(HenadError):
    """A number of a model's state that is none: its `name`, such as population, and what `came`, as text."""

    def __init__(self, name: str, came: str) -> None:
        self.name, self.came = name, came
        super().__init__(f"the model's {name} is {came}; allowed: a whole number from 0 to 2^63 - 1")


class TickError(HenadError):
    """A model whose tick `came` where it must be `expected`: each step counts one, from 0."""

    def __init__(self, *, expected: int, came: object) -> None:
        self.expected, self.came = expected, came
        super().__init__(f"the model's tick is {came!r}, expected {expected}; it starts at 0 and each step adds 1")


class ProbeError(HenadError):
    """No probed config could be built. `faults` holds ``(config_id, text)`` of each one tried."""

    def __init__(self, faults: Iterable[tuple[int, str]]) -> None:
        self.faults = tuple(faults)
        texts = [text for _, text in self.faults]
        alike = {text: f" and {texts.count(text) - 1} more" if texts.count(text) > 1 else "" for text in texts}
        tried = "; ".join(f"config {self.faults[texts.index(text)][0]}{more}: {text}" for text, more in alike.items())
        what_to_do = "put a config that builds first, or filter with `where`"
        super().__init__(f"none of the {len(texts)} configs tried could be built: {tried}; {what_to_do}")


class NeedsNativeError(HenadError):
    """Something that this target cannot do. `what` names it; the message says where it can be done."""

    def __init__(self, what: str, *, instead: str) -> None:
        self.what, self.instead = what, instead
        super().__init__(f"{what} needs a native build; {instead}")


class ConcurrencyError(HenadError):
    """A concurrency that is neither ``auto`` nor a count of at least 1. `came` is what was given."""

    def __init__(self, came: object) -> None:
        self.came = came
        super().__init__(f"concurrency {came!r} cannot be used; allowed: auto, or a whole number from 1")


class ShardError(HenadError):
    """A shard that does not exist. `came` is its text, `wrong` says what is wrong with it."""

    def __init__(self, came: str, wrong: str) -> None:
        self.came, self.wrong = came, wrong
        allowed = "INDEX/COUNT with 0 <= INDEX < COUNT, such as 0/4 for the first of four"
        super().__init__(f"shard '{came}': {wrong}; allowed: {allowed}")


class OutputError(HenadError):
    """Results that cannot be written. `path` is the directory or file, None for memory."""

    def __init__(self, message: str, *, path: str | None = None) -> None:
        self.path = path
        super().__init__(message)


class HoldsResultsError(OutputError):
    """A directory that already holds results; nothing in it was touched.

    Attributes:
        found: Names of the files.
        wrong: Why they cannot be overwritten, None where that was not asked for.
        resume: The command that goes on with them, None where nothing can.
    """

    def __init__(self, path: str, found: Iterable[str], *, wrong: str | None = None, resume: str | None = None) -> None:
        self.found, self.wrong, self.resume = tuple(found), wrong, resume
        held = f"{path} already holds results ({', '.join(self.found)})"
        if wrong is not None:
            todo = f" {wrong}, so nothing there is overwritten; choose an empty or new folder"
        elif resume is None:
            todo = " without a manifest.json that can be read, so they cannot be gone on with; start into a new folder"
        else:
            todo = (
                f"; go on with them by `{resume}`, or with their spec by --resume (resume=True), let a sweep replace "
                f"them by --overwrite (overwrite=True), or choose an empty or new folder"
            )
        super().__init__(held + todo, path=path)


class LockedError(OutputError):
    """A directory that another process writes to. `holder` says which, as far as the lock file tells."""

    def __init__(self, path: str, holder: str) -> None:
        self.holder = holder
        super().__init__(f"{path} is being written by {holder}; wait for it or choose another directory", path=path)


class OutputFullError(OutputError):
    """No room is left where results are written.

    Nothing committed is lost or torn, and what did not fit was taken back: the same call can be made again
    once there is room.
    """


class TableChangedError(OutputError):
    """Something in the directory `path` that another program changed under the sweep. `wrong` says what, one clause."""

    def __init__(self, path: str, wrong: str) -> None:
        self.wrong = wrong
        super().__init__(
            f"another program has changed the results while they were written: {wrong}, so rows may be missing there; "
            f"close that program, then resume the folder {path} (where it is now, if it was moved): what its tables "
            f"lack is run again",
            path=path,
        )


class ManifestError(HenadError):
    """A manifest that cannot be read."""


class ResultsError(HenadError):
    """Results that cannot be read."""


class TableDamagedError(ResultsError):
    """A whole record of a table that no sweep writes; a torn last one is left out and is no damage.

    Attributes:
        table: Name of the table.
        record: Number of the record, from 1, which is the header; the line that an editor shows while no field of the
            table holds a line break.
        column: Name of the column, None where the record as a whole is meant.
        came: What stands there, None where nothing does.
        expected: What may stand there, in words.
    """

    def __init__(self, table: str, record: int, column: str | None = None, *, came: str | None, expected: str) -> None:
        self.table, self.record, self.column, self.came, self.expected = table, record, column, came, expected
        place = "" if column is None else f", column '{column}'"
        repair = "" if record == 1 else ", or take the record out to have its run done again"
        super().__init__(
            f"{table}, record {record}{place}: expected {expected}, got {_quoted(came)}; restore the file{repair}"
        )


_MOST_QUOTED = 60


def _quoted(came: str | None) -> str:
    if came is None:
        return "nothing"
    more = f"... ({len(came)} characters)" if len(came) > _MOST_QUOTED else ""
    return repr(came[:_MOST_QUOTED]) + more


class SweepFailedError(HenadError):
    """A sweep that ended on its own error, outside every run. The message is that of its `Failed` event."""


class ThreadStartError(HenadError):
    """A sweep whose thread cannot be started; nothing was written. `reason` is the machine's word for it."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"cannot start the sweep's thread: {reason}; end other threads or sweeps of this process first"
        )


class SweepInterruptedError(HenadError):
    """Ctrl-C during a blocking run. The sweep was ended in order and its files are written.

    Attributes:
        record: The `SweepRecord` of what was written.
        kept: What is kept and how to go on, one clause.
    """

    def __init__(self, record: object, kept: str) -> None:
        self.record, self.kept = record, kept
        super().__init__(f"the sweep was interrupted; {kept}")


class UsageError(HenadError):
    """A call that the receiver's state does not allow, such as `update` from inside a wake callback."""


@dataclass(slots=True)
class ProblemList:
    """Problems found while checking, so that all are reported at once."""

    problems: list[Problem] = field(default_factory=list)

    def add(
        self,
        table: tuple[str | int, ...],
        key: str | None,
        wrong: str,
        *,
        came: object = None,
        allowed: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Record one problem at `key` of `table`; `came` is shown by `repr` unless it is text already made."""
        shown = came if came is None or isinstance(came, str) else repr(came)
        place = Place(table=table, key=key)
        self.problems.append(Problem(place=place, wrong=wrong, came=shown, allowed=allowed, hint=hint))


def near_miss(name: str, known: Iterable[str]) -> str | None:
    """Return ``did you mean 'x'?`` for the closest of `known` to `name`, None when none is close."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if not close:
        close = [other for other in names if other.lower() == name.lower()]
    return f"did you mean '{close[0]}'?" if close else None


def counted(count: int, noun: str, *, grouped: bool = False) -> str:
    """Return ``1 run`` or ``2000 runs``, and ``2,000 runs`` where digits are `grouped`."""
    number = f"{count:,}" if grouped else str(count)
    return f"{number} {noun}" if count == 1 else f"{number} {noun}s"


def describe(error: BaseException) -> str:
    """Return `error` and its causes, joined by colons, each with its notes behind it."""
    texts: list[str] = []
    current: BaseException | None = error
    while current is not None:
        text = str(current) or type(current).__name__
        if texts and isinstance(current, OSError) and current.strerror and current.strerror in texts[-1]:
            break  # an error of the file system that the error before it tells in words
        if not isinstance(current, HenadError):
            text = f"{type(current).__name__}: {text}" if str(current) else text
        texts.append("; ".join([text, *getattr(current, "__notes__", ())]))
        current = current.__cause__
    return ": ".join(texts)
