"""Standard output and standard error that may fail without a command failing over it.

Owns what a full disk behind ``>``, a closed stream and a reader that has gone mean for a command: they are kept, told
where they can be, and weighed once the command is done. Prints nothing of its own before that.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from henad_native.cli.consoles import ExitCode

__all__ = ["OutputStream", "Streams", "standard_streams"]

FOLDER_COMMANDS = frozenset({"run", "resume", "merge"})
"""Commands whose work is a folder of results, and done whatever becomes of what they print."""


class OutputStream(io.TextIOBase):
    """A text stream that keeps its first failure and drops what comes after.

    Args:
        stream: Where the text goes; None for one that was closed before the program began.
        name: What messages call it.

    Attributes:
        failure: The failure, None while there is none.
    """

    def __init__(self, stream: TextIO | None, name: str) -> None:
        self._stream = None if stream is None or stream.closed else stream
        self._name = name
        self.failure: OSError | None = None

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream."""
        return getattr(self._stream, "encoding", None) or "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        """How a letter is written that the encoding lacks."""
        return "backslashreplace"

    @property
    def has_failed(self) -> bool:
        """Whether text was lost that somebody wanted: a reader that closed its pipe had enough."""
        return self.failure is not None and self.failure.errno != errno.EPIPE

    @property
    def sentence(self) -> str:
        """What there is to say of the failure."""
        return f"{self._name} could not be written: {self.failure and self.failure.strerror}"

    def write(self, text: str) -> int:
        """Write `text`, unless the stream has failed."""
        if not isinstance(text, str):
            raise TypeError(f"{self._name} takes text, got {type(text).__name__}")
        if self.failure is None and text:
            with self._kept_failure():
                self._open_stream().write(text.encode(self.encoding, self.errors).decode(self.encoding))
        return len(text)

    def flush(self) -> None:
        """Hand what was written on, unless the stream has failed."""
        if self.failure is None and self._stream is not None:
            with self._kept_failure():
                self._stream.flush()

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self._stream is not None and self._stream.isatty()

    def fileno(self) -> int:
        """Return the number of the stream's file."""
        return self._open_stream().fileno()

    def writable(self) -> bool:
        """Return True."""
        return True

    def silence(self) -> None:
        """Send what a stream that has failed still holds nowhere: the interpreter flushes it once more at its end."""
        if self.failure is None or self._stream is None:
            return
        with suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), self._stream.fileno())

    def _open_stream(self) -> TextIO:
        if self._stream is None:
            raise OSError(errno.EBADF, "it is closed")
        return self._stream

    @contextmanager
    def _kept_failure(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.failure = error
        except ValueError as error:  # somebody has closed the stream meanwhile
            self.failure = OSError(errno.EBADF, str(error))


class Streams:
    """The two streams of a command, and which command it is once its name is known."""

    def __init__(self, out: OutputStream, err: OutputStream) -> None:
        self.out, self.err = out, err
        self.command: str | None = None

    def weighed(self, code: int) -> int:
        """Tell what failed where it can be told, and return the exit code of a command that ended with `code`.

        A command whose work is a folder keeps its code; any other has not delivered what it was asked for.
        """
        self.out.flush()
        self.err.flush()
        keeps_code = self.command in FOLDER_COMMANDS
        if self.out.has_failed:
            print(f"error: {self.out.sentence}", file=self.err)
        if self.err.has_failed and keeps_code:
            print(f"error: {self.err.sentence}; progress, warnings and failures are missing there", file=self.out)
        for stream in (self.out, self.err):
            stream.flush()
            stream.silence()
        has_failed = self.out.has_failed or self.err.has_failed
        return ExitCode.ERROR if has_failed and not keeps_code and code == ExitCode.FINE else code


@contextmanager
def standard_streams() -> Iterator[Streams]:
    """Let the standard streams keep their failures while the block runs."""
    before = sys.stdout, sys.stderr
    if None in (sys.stdin, *before):
        _occupy_closed()
    streams = Streams(OutputStream(sys.stdout, "standard output"), OutputStream(sys.stderr, "standard error"))
    sys.stdout, sys.stderr = streams.out, streams.err
    try:
        yield streams
    finally:
        sys.stdout, sys.stderr = before


def _occupy_closed() -> None:
    """Open nothing in place of closed standard streams: the next file to be opened, a table, would get their place."""
    while (file := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(file)
