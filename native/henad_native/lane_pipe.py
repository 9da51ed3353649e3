"""How a lane's process speaks to its sweep: whole messages, of which the sweep never waits for the rest.

Owns the form of what goes through the pipe on this way; the sweep's orders go as `multiprocessing` has it.
"""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from henad_web.run.lane_messages import WorkerMessage

__all__ = ["Arrivals", "say"]

_SIZE = struct.Struct("!Q")
_READ_BYTES = 1 << 20


def say(pipe_number: int, message: WorkerMessage) -> None:
    """Send `message` through the open pipe `pipe_number`; raises as `os.write` does."""
    text = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    rest = memoryview(_SIZE.pack(len(text)) + text)
    while rest:
        rest = rest[os.write(pipe_number, rest) :]


class Arrivals:
    """What came through the pipe of one lane, up to the message that is not whole yet."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def read(self, pipe_number: int) -> Iterator[WorkerMessage]:
        """Take what has arrived, which must be something or the end, and yield the messages that are whole.

        Raises:
            EOFError: The pipe has ended.
            OSError: It is broken.
            Exception: What arrived is no message: whatever `pickle` raises.
        """
        came = os.read(pipe_number, _READ_BYTES)
        if not came:
            raise EOFError
        self._bytes += came
        while len(self._bytes) >= _SIZE.size:
            end = _SIZE.size + _SIZE.unpack_from(self._bytes)[0]
            if len(self._bytes) < end:
                return
            message: WorkerMessage = pickle.loads(memoryview(self._bytes)[_SIZE.size : end].tobytes())
            del self._bytes[:end]
            yield message
