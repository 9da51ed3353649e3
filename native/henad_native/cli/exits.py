"""What the command's exit codes mean. A script may rely on them."""

from enum import IntEnum

__all__ = ["ExitCode"]


class ExitCode(IntEnum):
    """How a command ended."""

    FINE = 0
    """Everything was done and every run is ok."""
    ERROR = 1
    """Something stopped the command: a bad spec, an output that cannot be written, an abort."""
    BAD_COMMAND_LINE = 2
    """The command line itself was wrong; nothing was looked at."""
    RUNS_NOT_OK = 3
    """The sweep is complete, and some run of it is not ok."""
