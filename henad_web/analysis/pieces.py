"""Analyses in bounded pieces, so that a page can go on drawing while one is made.

Owns the two ways to have an answer: whole, in one call, and piece by piece. Measures no time: whoever takes pieces
decides how many fit into a frame.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from henad_web.errors import UsageError

__all__ = ["PIECE_ROWS", "Analysis", "Piecewise", "Pieces", "piecewise", "stretches"]

PIECE_ROWS = 1 << 15
"""Rows that a piece looks at: a few operations over as many numbers take 1 to 3 ms in a page."""

Answer = TypeVar("Answer")
Asked = ParamSpec("Asked")
Others = ParamSpec("Others")

Pieces = Generator[None, None, Answer]
"""Yields between two bounded pieces of work and returns the answer."""


class Analysis(Generic[Answer]):
    """One question being answered: call `advance` until it is true, then read `answer`.

    Args:
        pieces: The work; such as ``analysis.response.pieces(results, "Infected:max", "infection_rate")``.
    """

    def __init__(self, pieces: Pieces[Answer]) -> None:
        self._pieces = pieces
        self._answer: list[Answer] = []

    def __repr__(self) -> str:
        """Return the facts on one line."""
        return f"<Analysis, {'answered' if self._answer else 'under way'}>"

    @property
    def is_answered(self) -> bool:
        """Whether the answer is there."""
        return bool(self._answer)

    def advance(self) -> bool:
        """Do one piece; return whether the answer is there.

        Raises:
            HenadError: What the question itself raises, such as a column that is not there.
        """
        if not self._answer:
            try:
                next(self._pieces)
            except StopIteration as stop:
                self._answer.append(stop.value)
        return self.is_answered

    @property
    def answer(self) -> Answer:
        """The answer.

        Raises:
            UsageError: It is not there yet.
        """
        if not self._answer:
            raise UsageError("the analysis is under way; call advance() until it returns True")
        return self._answer[0]


class Piecewise(Generic[Asked, Answer]):
    """A question that is answered whole when it is called, and in pieces by `pieces`.

    In a class it is a method: ``results.response(...)``, and ``results.response.pieces(...)``.
    """

    def __init__(self, question: Callable[Asked, Pieces[Answer]]) -> None:
        functools.update_wrapper(self, question)
        self._question = question

    def __repr__(self) -> str:
        """Return the facts on one line."""
        return f"<analysis '{self._question.__name__}'>"

    def __call__(self, *args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
        """Return the answer."""
        analysis = Analysis(self._question(*args, **kwargs))
        while not analysis.advance():
            pass
        return analysis.answer

    def __get__(
        self: Piecewise[Concatenate[Any, Others], Answer], instance: object, owner: type | None = None
    ) -> Piecewise[Others, Answer]:
        """Return the question as a method: of the results that it is asked of."""
        bound: Any = functools.partial(self._question, instance)
        for name in ("__name__", "__doc__"):
            setattr(bound, name, getattr(self._question, name))
        return Piecewise(bound)

    def pieces(self, *args: Asked.args, **kwargs: Asked.kwargs) -> Pieces[Answer]:
        """Return the same work in pieces, none of it done yet."""
        return self._question(*args, **kwargs)


def piecewise(question: Callable[Asked, Pieces[Answer]]) -> Piecewise[Asked, Answer]:
    """Make a generator that works in pieces a question."""
    return Piecewise(question)


def stretches(count: int, each: int = PIECE_ROWS) -> Iterator[slice]:
    """Yield the slices that cut `count` rows into pieces of `each`; none of no rows."""
    for first in range(0, count, each):
        yield slice(first, min(first + each, count))
