"""The command `henad`.

Owns arguments, texts on a terminal and exit codes. Everything it does, a program can do through `henad_web`.
"""

import importlib
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that `arguments` say, those of the process when None, and return its exit code.

    What the commands need is imported here and not with this module: it takes a moment, in which Ctrl-C must not end
    in a traceback.
    """
    try:
        app = importlib.import_module("henad_native.cli.app")
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 1
    return int(app.main(arguments))
