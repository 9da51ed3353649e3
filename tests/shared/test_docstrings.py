"""Examples in docstrings do what they show, on each target alike."""

from __future__ import annotations

import doctest
import io
import pkgutil
from collections.abc import Iterator
from importlib import import_module

import pytest

import henad_web as hw


def examples() -> Iterator[doctest.DocTest]:
    """Yield the examples of every docstring of the package."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for found in pkgutil.walk_packages(hw.__path__, "henad_web."):
        if not found.name.endswith("__main__"):
            module = import_module(found.name)
            yield from (test for test in finder.find(module, extraglobs={}) if test.examples)


EXAMPLES = list(examples())


def test_what_a_newcomer_calls_first_has_an_example() -> None:
    named = {test.name for test in EXAMPLES}
    assert named >= {"henad_web.model.entry.ModelEntry.build", "henad_web.handle.SweepRun.start"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_prints_what_it_shows(example: doctest.DocTest) -> None:
    told = io.StringIO()
    example.globs.clear()
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example, out=told.write)
    assert told.getvalue() == ""
