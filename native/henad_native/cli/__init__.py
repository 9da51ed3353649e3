"""The command `henad`.

Owns arguments, texts on a terminal and exit codes. Everything it does, a program can do through `henad_web`.
"""

from henad_native.cli.app import main

__all__ = ["main"]
