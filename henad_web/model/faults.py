"""What a failing model leaves behind: what went wrong, in which phase, at which line of the model.

Owns what counts as the fault of a model, and the turning of one into data.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath
from types import TracebackType
from typing import Self

from henad_web.errors import HenadError, ModelDefinitionError

__all__ = ["FAULTS", "NOTE_LIMIT", "Blame", "Fault", "Phase", "RefusedBuild", "fault_of", "one_line"]

FAULTS = (Exception, SystemExit)
"""What is caught of code that is no model's: a callback of the host, the sweep itself. `Blame` stands around models."""

NOTE_LIMIT = 2000
"""Letters that are kept of a text a model hands over; readers of tables stop at 131,072 in a field."""

_LONGEST_NAME = 200
_NOT_OF_A_NAME = re.compile(r"[^\w.<>]")


class Phase(StrEnum):
    """What was being done when a model failed."""

    BUILDING = "building the model"
    STEPPING = "stepping the simulation"
    SWEEPING = "running the sweep"


class RefusedBuild(HenadError):
    """Raised by a model's factory for parameter values that are each allowed but make no model together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One failure of a model.

    Attributes:
        phase: What was being done.
        exception: Name of the exception's class.
        file: Base name of the file it came from, None when there is no frame.
        line: Line in that file, None when there is no frame.
        message: The exception's own message on one line, may be empty.
        traceback: The whole traceback as text.
        is_refusal: Whether the model refused to be built rather than failed.
        error: The exception itself, for whoever debugs the model.
    """

    phase: Phase
    exception: str
    file: str | None
    line: int | None
    message: str
    traceback: str
    is_refusal: bool = False
    error: BaseException | None = field(default=None, repr=False, compare=False)

    @property
    def text(self) -> str:
        """The fault as one line: ``while PHASE, CLASS at FILE:LINE: MESSAGE``, a long message cut."""
        text = f"while {self.phase}, {self.exception}"
        if self.file is not None:
            text += f" at {self.file}:{self.line}"
        return f"{text}: {self.message}" if self.message else text


class Blame:
    """A ``with`` block around code of a model: whatever it raises ends the block and is kept here.

    Every exception counts, those that do not derive from `Exception` too: a cancelled coroutine, a panic of foreign
    code. Only an interrupt is the user's and passes, unless the block runs where no user's interrupt can arrive.

    Attributes:
        error: What was raised, None when nothing was.

    Args:
        phase: What is being done.
        module_file: File of the model's module, for the place of the fault.
        takes_interrupts: Whether an interrupt here can only be the model's doing.
    """

    def __init__(self, phase: Phase, module_file: str | None, *, takes_interrupts: bool = False) -> None:
        self.error: BaseException | None = None
        self._phase, self._module_file, self._takes_interrupts = phase, module_file, takes_interrupts

    def __enter__(self) -> Self:
        """Return the block's record."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        """Keep `error`, unless it is the user's."""
        if error is None or (isinstance(error, KeyboardInterrupt) and not self._takes_interrupts):
            return False
        self.error = error
        return True

    @property
    def fault(self) -> Fault | None:
        """The fault that `error` stands for, None without one."""
        return None if self.error is None else fault_of(self._phase, self.error, self._module_file)


def one_line(text: str, limit: int = NOTE_LIMIT) -> str:
    """Return `text` with spaces for what cannot be printed; past `limit` letters it is cut, and a mark says so."""
    line = text[:limit]
    if not line.isprintable():
        line = "".join(character if character.isprintable() else " " for character in line)
    return line if len(text) <= limit else f"{line}… (cut, {len(text)} characters)"


def fault_of(phase: Phase, exc: BaseException, module_file: str | None) -> Fault:
    """Return the fault that the caught `exc` stands for.

    Args:
        phase: What was being done.
        exc: The exception, with its traceback.
        module_file: File of the model's module. The place is the innermost frame in it, so that an error raised
            inside a library shows the line of the model that called it; otherwise that which the exception brings, or
            the innermost frame of all.
    """
    file, line = _place(exc, module_file)
    return Fault(
        phase=phase,
        exception=_NOT_OF_A_NAME.sub("_", type(exc).__name__)[:_LONGEST_NAME],
        file=file,
        line=line,
        message=_message(exc),
        traceback=_traceback(exc),
        is_refusal=phase is Phase.BUILDING and isinstance(exc, RefusedBuild),
        error=exc,
    )


def _place(exc: BaseException, module_file: str | None) -> tuple[str | None, int | None]:
    frames = exc.__traceback__
    own = exc.place if isinstance(exc, ModelDefinitionError) else None
    innermost: tuple[str | None, int | None] = (None, None)
    while frames is not None:
        frame = frames.tb_frame
        innermost = (frame.f_code.co_filename, frames.tb_lineno)
        # Precompiled modules may carry another path in their code than the one they were loaded from.
        files = (frame.f_code.co_filename, frame.f_globals.get("__file__"))
        if module_file is not None and module_file in files:
            own = innermost
        frames = frames.tb_next
    file, line = own or innermost
    return None if file is None else one_line(PurePath(file).name, _LONGEST_NAME), line


def _message(exc: BaseException) -> str:
    return one_line(_made_by(lambda: str(exc), "message"))


def _traceback(exc: BaseException) -> str:
    return _made_by(lambda: "".join(traceback.format_exception(exc)), "traceback")


def _made_by(make: Callable[[], str], what: str) -> str:
    # Printing an exception runs code of its class, which may do anything.
    with Blame(Phase.SWEEPING, None, takes_interrupts=True) as blame:
        return make()
    return f"its {what} could not be made ({type(blame.error).__name__})"
