"""What a failing model leaves behind: what went wrong, in which phase, at which line of the model.

Owns the turning of a caught exception into data. Never catches anything itself.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from types import TracebackType

from henad_web.errors import HenadError

__all__ = ["FAULTS", "Fault", "Phase", "RefusedBuild", "fault_of"]

FAULTS = (Exception, SystemExit)
"""What counts as the fault of a model. Nothing wider: an interrupt is the user's."""


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
    """

    phase: Phase
    exception: str
    file: str | None
    line: int | None
    message: str
    traceback: str
    is_refusal: bool = False

    @property
    def text(self) -> str:
        """The fault as one line: ``while PHASE, CLASS at FILE:LINE: MESSAGE``."""
        text = f"while {self.phase}, {self.exception}"
        if self.file is not None:
            text += f" at {self.file}:{self.line}"
        return f"{text}: {self.message}" if self.message else text


def fault_of(phase: Phase, exc: BaseException, module_file: str | None) -> Fault:
    """Return the fault that the caught `exc` stands for.

    Args:
        phase: What was being done.
        exc: The exception, with its traceback.
        module_file: File of the model's module. The place is the innermost frame in it, so that an error raised
            inside a library shows the line of the model that called it; the innermost frame of all otherwise.
    """
    file, line = _place(exc.__traceback__, module_file)
    return Fault(
        phase=phase,
        exception=type(exc).__name__,
        file=file,
        line=line,
        message=_message(exc),
        traceback="".join(traceback.format_exception(exc)),
        is_refusal=isinstance(exc, RefusedBuild),
    )


def _place(frames: TracebackType | None, module_file: str | None) -> tuple[str | None, int | None]:
    own: tuple[str | None, int | None] | None = None
    innermost: tuple[str | None, int | None] = (None, None)
    while frames is not None:
        frame = frames.tb_frame
        innermost = (PurePath(frame.f_code.co_filename).name, frames.tb_lineno)
        # Precompiled modules may carry another path in their code than the one they were loaded from.
        files = (frame.f_code.co_filename, frame.f_globals.get("__file__"))
        if module_file is not None and module_file in files:
            own = innermost
        frames = frames.tb_next
    return own or innermost


def _message(exc: BaseException) -> str:
    try:
        text = str(exc)
    except Exception as broken:
        text = f"its message could not be made ({type(broken).__name__})"
    return "".join(character if character.isprintable() else " " for character in text)
