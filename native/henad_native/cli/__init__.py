"""The command `henad`.

Owns arguments, texts on a terminal and exit codes. Everything it does, a program can do through `henad_web`.
"""

import importlib
import sys
from collections.abc import Sequence

__all__ = ["STOPPED_LINE", "main"]

STOPPED_LINE = "stopped before it was done; the same command starts again"
"""What is said of Ctrl-C wherever no sweep has begun."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that `arguments` say, those of the process when None, and return its exit code.

    What the commands need is imported here and not with this module: it takes a moment, in which Ctrl-C must not end
    in a traceback.
    """
    try:
        code = int(importlib.import_module("henad_native.cli.app").main(arguments))
    except KeyboardInterrupt:
        print(STOPPED_LINE, file=sys.stderr)
        code = 1
    # Python remembers an interrupt that came inside a text being run, as dataclasses do, and would end the process by
    # the signal although it was caught; running another text makes it forget.
    exec("")
    return code
