"""Finding the set of models that a command line names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import henad_web as hw
from henad_native.cli.errors import BadOption

__all__ = ["load_models"]


def load_models(name: str | None) -> hw.ModelSet:
    """Return the models that `name` means, the examples for None.

    Args:
        name: ``package.module:NAME``; the module is looked for in the current folder first, and NAME is a
            model set, a model entry, or a function of no arguments that returns either.

    Raises:
        BadOption: The text has another form, nothing is there, or what is there is none of these.
    """
    if name is None:
        return hw.example_models()
    module_name, colon, attribute = name.partition(":")
    if not (module_name and colon and attribute):
        raise BadOption("--models", f"'{name}' is not of the form module:NAME, such as own_model:RULES")
    try:
        with _current_folder_first():
            found = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise BadOption("--models", f"cannot load '{name}': {error}{_file_hint(module_name)}") from error
    is_factory = callable(found) and not isinstance(found, type | hw.ModelEntry)
    return _as_models(name, found() if is_factory else found)


def _file_hint(module_name: str) -> str:
    if module_name.endswith(".py"):
        return f"; a module is named without .py: {module_name.removesuffix('.py')}"
    return ""


def _as_models(name: str, found: object) -> hw.ModelSet:
    if isinstance(found, hw.ModelSet):
        return found
    if isinstance(found, hw.ModelEntry):
        models = hw.ModelSet()
        models.insert(found)
        return models
    kind = "class" if isinstance(found, type) else type(found).__name__
    raise BadOption("--models", f"'{name}' is a {kind}; a ModelSet or a ModelEntry is needed")


@contextmanager
def _current_folder_first() -> Iterator[None]:
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
