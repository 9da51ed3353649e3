"""Finding the set of models that a command line names."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import cast

import henad_web as hw
from henad_native.cli.choices import BadOption
from henad_native.cli.consoles import message_console, print_line
from henad_web.errors import near_miss
from henad_web.model.entry import entry_of
from henad_web.model.faults import Blame, Phase, fault_of
from henad_web.models.installed import find_installed
from henad_web.wording import henad_command

__all__ = ["load_entry", "load_models", "models_by_name", "module_of", "told_error"]


def load_models(name: str | None) -> hw.ModelSet:
    """Return the models that `name` means; for None the examples and those of installed packages.

    Args:
        name: A file, such as ``studies/own_model.py``, or a module, looked for in the current folder first; behind it
            ``:NAME`` of a model set, a model entry, or a function of no arguments that returns either. Without a name
            the only one there is.

    Raises:
        BadOption: Nothing is there, it cannot be loaded, or it is none of these.
    """
    if name is None:
        installed = find_installed(hw.example_models())
        for problem in installed.problems:
            print_line(message_console(), f"warning: {problem}")
        return installed.models
    where, colon, attribute = name.rpartition(":")
    if not (colon and attribute.isidentifier()):  # a drive of Windows has a colon too
        where, attribute = name, ""
    found, known = cast("object", None), None
    with Blame(Phase.BUILDING, None) as blame:  # as in a run, whatever a model raises is its fault
        module = module_of(where)
        found = getattr(module, attribute) if attribute in vars(module) else _only_one(module, name, attribute)
        if callable(found) and not isinstance(found, type | hw.ModelEntry):
            found = found()
        known = found if isinstance(found, hw.ModelSet) else entry_of(found)
    if isinstance(blame.error, BadOption):
        raise blame.error
    if blame.error is not None:
        raise BadOption("--models", f"cannot load '{name}': {told_error(blame.error, where)}") from blame.error
    if known is None:
        kind = "class" if isinstance(found, type) else type(found).__name__
        raise BadOption("--models", f"'{name}' is a {kind}; a ModelSet, a ModelEntry or a hw.Model is needed")
    return hw.ModelSet.of(known)


def models_by_name(name: str | None) -> dict[str, hw.ModelSet]:
    """Return the sets that `name` may mean, by what ``--models`` names each: several where a file holds several.

    Raises:
        BadOption: As `load_models` says, but for several.
    """
    try:
        return {name or "": load_models(name)}
    except _SeveralError as error:
        return {f"{name}:{key}": hw.ModelSet.of(value) for key, value in error.held.items()}


def load_entry(name: str, models: str | None, *, verb: str = "check") -> hw.ModelEntry:
    """Return the model that `name` means: an id among `models`, or what ``--models`` takes where it holds one model.

    Args:
        name: What was given.
        models: What ``--models`` says.
        verb: The command that is to be shown where there are several.

    Raises:
        BadOption: There is no such model, or several.
    """
    try:
        return load_models(models).lookup(name)
    except hw.UnknownModelError as error:
        if models is not None or not _is_place(name):
            raise BadOption("MODEL", error.wrong) from error
    known = load_models(name)
    if len(known) > 1:
        ids = list(known.keys())
        command = henad_command(verb, ids[0], models=name)
        raise BadOption("MODEL", f"'{name}' holds {', '.join(ids)}; choose one, such as `{command}`")
    return next(iter(known.values()))


def _is_place(name: str) -> bool:
    return any(sign in name for sign in (":", ".", "/", os.sep))


class _SeveralError(BadOption):
    """Several sets or entries of a module, `held` by name, where one is meant."""

    def __init__(self, name: str, held: dict[str, hw.ModelSet | hw.ModelEntry]) -> None:
        self.held = held
        one = next(iter(held))
        super().__init__("--models", f"'{name}' holds several: {', '.join(held)}; choose one with {name}:{one}")


def module_of(where: str, *, option: str = "--models") -> ModuleType:
    """Return the module that `where` names, the path of a file or a name; whatever it raises is raised on.

    Raises:
        BadOption: There is no such file, or it is none of Python; at `option`.
    """
    is_path = where.endswith(".py") or ".py:" in where or "/" in where or os.sep in where
    if is_path:
        return _module_at(Path(os.path.abspath(where)), option)
    with _searched_first(Path.cwd()):
        return importlib.import_module(where)


def _module_at(path: Path, option: str) -> ModuleType:
    """Return the module of the file at `path`, which may be part of a package."""
    if path.is_dir():
        path = path / "__init__.py"
    if not path.is_file():
        there = [other.name for other in path.parent.glob("*.py")] if path.parent.is_dir() else []
        hint = near_miss(path.name, there)
        raise BadOption(option, f"there is no file {path}{f'; {hint}' if hint else ''}")
    if path.suffix != ".py":
        raise BadOption(option, f"{path} is not a .py file; name the file in which it is defined")
    folder = path.parent
    names = [] if path.name == "__init__.py" else [path.stem]
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    with _searched_first(folder):
        name = ".".join(names)
        if _file_of(sys.modules.get(name)) in (None, path):
            module = importlib.import_module(name)
            if _file_of(module) == path:
                return module
        return _module_beside(path, name, option)


def _module_beside(path: Path, name: str, option: str) -> ModuleType:
    """Return the module of the file at `path`, whose `name` is another module's here."""
    name = f"{name}_at_{path}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise BadOption(option, f"{path} is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def _file_of(module: ModuleType | None) -> Path | None:
    file = getattr(module, "__file__", None)
    if module is not None and file is None:
        return Path()  # it comes from no file, as those that are built in do
    return None if file is None else Path(os.path.abspath(file))


def _only_one(module: ModuleType, name: str, attribute: str) -> hw.ModelSet | hw.ModelEntry:
    """Return the model set or entry that `module` holds: entries of unequal ids are a set, or go with one of theirs."""
    held = {key: known for key, value in vars(module).items() if (known := _known(module, value)) is not None}
    within = [entry for value in held.values() if isinstance(value, hw.ModelSet) for entry in value.values()]
    chosen = [value for value in held.values() if not any(value is entry for entry in within)]
    names = ", ".join(held)
    if attribute:
        hint = near_miss(attribute, held)
        there = f"it holds {names or 'no ModelSet, no ModelEntry and no hw.Model'}"
        raise BadOption("--models", f"'{name}': there is no {attribute}; {there}{f'; {hint}' if hint else ''}")
    if not chosen:
        raise BadOption(
            "--models", f"'{name}' holds no ModelSet, no ModelEntry and no hw.Model; :NAME may be a function, too"
        )
    entries = {value.id: value for value in chosen if isinstance(value, hw.ModelEntry)}
    if all(entries.get(getattr(value, "id", "")) is value for value in chosen):
        return hw.ModelSet(entries.values())
    if any(value is not chosen[0] for value in chosen):
        raise _SeveralError(name, {key: value for key, value in held.items() if any(value is one for one in chosen)})
    return chosen[0]


def _known(module: ModuleType, value: object) -> hw.ModelSet | hw.ModelEntry | None:
    """Return the set or the entry that `value` of `module` is; of classes only those that are the module's own."""
    if isinstance(value, type):
        is_model = issubclass(value, hw.Model) and value.__module__ == module.__name__ and not value.is_abstract
        return entry_of(value) if is_model else None
    return value if isinstance(value, hw.ModelSet | hw.ModelEntry) else None


def told_error(error: BaseException, where: str) -> str:
    """Return `error`, which loading what is at `where` raised, and its place, in words."""
    if isinstance(error, ModuleNotFoundError) and error.name is not None and where.startswith(error.name):
        return f"{error}; a file is named with its path, such as {where.replace('.', '/')}.py"
    fault = fault_of(Phase.BUILDING, error, _innermost_own(error))
    place = "" if isinstance(error, SyntaxError) else f" at {fault.file}:{fault.line}"
    return f"{fault.exception}{place}: {fault.message}"


def _innermost_own(error: BaseException) -> str | None:
    """Return the file of the last frame that is no machinery of imports."""
    file, frames = None, error.__traceback__
    is_told_here = isinstance(error, hw.HenadError)  # of the package's own sentences the reader's line is the place
    kit = (str(Path(hw.__file__).parent), str(Path(__file__).parents[1]))
    while frames is not None:
        name = frames.tb_frame.f_code.co_filename
        if is_told_here and file is not None and name.startswith(kit):
            break
        if "importlib" not in name and not name.startswith(kit[1] if is_told_here else __file__):
            file = name
        frames = frames.tb_next
    return file


@contextmanager
def _searched_first(folder: Path) -> Iterator[None]:
    """Look for modules in `folder` first; afterwards last, where a model finds what it imports as it runs."""
    text = str(folder)
    sys.path.insert(0, text)
    try:
        yield
    finally:
        sys.path.remove(text)
        if text not in sys.path:
            sys.path.append(text)
