"""Errors of the command line itself."""

from henad_web.errors import HenadError

__all__ = ["BadOption"]


class BadOption(HenadError):
    """A value on the command line that cannot be used. Carries the `option` it stood at."""

    def __init__(self, option: str, wrong: str) -> None:
        self.option = option
        super().__init__(f"{option}: {wrong}")
