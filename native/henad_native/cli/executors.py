"""Finding the executor that a command line names, and ending it with the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, cast

import typer

from henad_native.cli.choices import BadOption, LaneChoice
from henad_native.cli.model_sets import module_of, told_error
from henad_native.executor_lanes import NotAnExecutorError, RenewedExecutor
from henad_web.errors import near_miss
from henad_web.model.faults import Blame, Phase

if TYPE_CHECKING:
    from henad_web.run.options import Executor

__all__ = ["ExecutorName", "made_executor"]

ExecutorName = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="MODULE:FACTORY",
        help="Step runs on the workers of the concurrent.futures executor that FACTORY() returns.",
    ),
]


@contextmanager
def made_executor(name: str | None, lanes: LaneChoice) -> Iterator[RenewedExecutor | None]:
    """Lend the executor that the factory called `name` makes, None for None, and shut it down afterwards.

    Args:
        name: A file, such as ``cluster/pool.py``, or a module, looked for in the current folder first, and behind it
            ``:FACTORY``, a function of no arguments.
        lanes: The lanes that were asked for.

    Raises:
        BadOption: Nothing is there, it cannot be loaded, the factory fails or makes no executor, or `lanes` are given.
    """
    if name is None:
        yield None
        return
    if lanes is not LaneChoice.AUTO:
        wrong = "its workers step runs in processes of their own"
        raise BadOption("--executor", f"{wrong}; leave --lanes {lanes} or this out")
    executor = _made(name)
    try:
        yield executor
    finally:
        executor.close()


def _made(name: str) -> RenewedExecutor:
    where, _, attribute = name.rpartition(":")
    if not (where and attribute.isidentifier()):
        raise BadOption("--executor", f"'{name}' names no function; allowed: MODULE:FACTORY or FILE.py:FACTORY")
    made: RenewedExecutor | None = None
    with Blame(Phase.BUILDING, None) as blame:  # whatever a factory raises, it is that of the command line
        made = RenewedExecutor(_factory(module_of(where, option="--executor"), name, attribute))
    if isinstance(blame.error, BadOption):
        raise blame.error
    if isinstance(blame.error, NotAnExecutorError):
        raise BadOption("--executor", f"'{name}' {blame.error}") from blame.error
    if made is None:
        error = blame.error or RuntimeError("nothing was made")
        raise BadOption("--executor", f"cannot make '{name}': {told_error(error, where)}") from error
    return made


def _factory(module: object, name: str, attribute: str) -> Callable[[], Executor]:
    found: object = vars(module).get(attribute)
    if found is None:
        functions = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        hint = near_miss(attribute, functions)
        raise BadOption("--executor", f"'{name}': there is no {attribute}{f'; {hint}' if hint else ''}")
    if not callable(found):
        kind = type(found).__name__
        raise BadOption("--executor", f"'{name}' is a {kind}; a function of no arguments that returns one is needed")
    return cast("Callable[[], Executor]", found)
