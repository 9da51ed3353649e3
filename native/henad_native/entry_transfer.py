"""A model on its way to another process: by the name under which it is imported, else as a whole.

Owns the choice. A module that the other process would not find, such as the program itself, is never imported there.
"""

from __future__ import annotations

import importlib.util
import io
import pickle
import pickletools
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder
from pathlib import Path
from types import CodeType, ModuleType

from henad_web.errors import HenadError, UsageError, describe
from henad_web.model.entry import ModelEntry

__all__ = ["EntryNotSentError", "SentEntry", "refuse_sweep_of_import"]

_PROTOCOL = 3
"""The latest in which a module that things are taken from by name stands in plain words."""


class EntryNotSentError(HenadError):
    """A model that cannot be sent to another process; the message says why."""


@dataclass(frozen=True, slots=True)
class SentEntry:
    """A model as it travels.

    Attributes:
        pickled: The entry.
        sources: Its own module and others that another process may not find, and their files: faults are told with
            places in them.
        half_imported: Those of them whose import had not come to its end: its rest may begin this very sweep, so that
            no other process imports them.
    """

    pickled: bytes
    sources: tuple[tuple[str, str], ...] = ()
    half_imported: frozenset[str] = frozenset()

    @classmethod
    def of(cls, entry: ModelEntry) -> SentEntry:
        """Return `entry` ready to be sent.

        Raises:
            EntryNotSentError: It cannot be pickled, or only as a whole and cloudpickle is missing.
            UsageError: As `refuse_sweep_of_import` says.
        """
        refuse_sweep_of_import()
        own, half = entry.source_module or entry.factory.__module__, _half_imported()
        try:
            pickled = _by_name(entry, half)
        except Exception:  # what a class of the model raises as it is pickled
            pickled, taken = b"", [own]
        else:
            taken = [str(name) for code, name, _ in pickletools.genops(pickled) if code.name == "GLOBAL"]
        named = {name.split(" ")[0] for name in taken}
        foreign = {name: sys.modules[name] for name in sorted(named) if name in sys.modules and not _is_found(name)}
        files = ((name, getattr(sys.modules.get(name), "__file__", None)) for name in sorted({*foreign, own}))
        sources = tuple((name, str(file)) for name, file in files if file is not None)
        if not pickled or foreign:
            pickled = _whole(entry, foreign | half)
        return cls(pickled, sources, frozenset(name for name, _ in sources if _is_within(name, half)))

    def received(self) -> ModelEntry:
        """Return the entry in the process it was sent to; whatever its modules raise is raised on."""
        _RECEIVING.set()
        for name, file in self.sources:
            if name in self.half_imported or not _is_imported(name):
                module = sys.modules.setdefault(name, ModuleType(name))
                module.__file__ = file
        entry = pickle.loads(self.pickled)
        if not isinstance(entry, ModelEntry):
            raise TypeError(f"a ModelEntry was sent and {type(entry).__name__} came")
        return entry


def refuse_sweep_of_import() -> None:
    """Refuse the sweep that a module begins as it is imported in a process that models are sent to.

    Every such process would begin it, and those it starts for it again.

    Raises:
        UsageError: It is one.
    """
    half = _half_imported() if _RECEIVING.is_set() else {}
    if half:
        raise UsageError(
            f"the module {next(reversed(half))} begins a sweep as it is imported, and every process that steps runs "
            f"imports it; put what begins it under `if __name__ == '__main__':`"
        )


_RECEIVING = threading.Event()
"""Set in a process that a model was sent to."""


def _half_imported() -> dict[str, ModuleType]:
    """Return the modules by name whose import has not come to its end."""
    return {
        name: module
        for name, module in list(sys.modules.items())
        if getattr(getattr(module, "__spec__", None), "_initializing", False)
    }


def _is_within(name: str, modules: Collection[str]) -> bool:
    """Return whether `name` is one of `modules`, or part of a package that is."""
    return any(name == each or name.startswith(f"{each}.") for each in modules)


class _HalfImportedError(Exception):
    """What is to be pickled is of a module whose import goes on."""


def _by_name(entry: ModelEntry, half: Collection[str]) -> bytes:
    """Return `entry` pickled by the names of what it uses.

    Raises:
        _HalfImportedError: Some of it is of modules in `half`: to look it up would wait for the end of their import,
            and that may wait for this sweep.
    """
    if not half:
        return pickle.dumps(entry, _PROTOCOL)

    class Pickler(pickle.Pickler):
        def reducer_override(self, thing: object) -> object:  # type: ignore[override]
            if _is_within(str(getattr(thing, "__module__", "")), half):
                raise _HalfImportedError
            return NotImplemented

    with io.BytesIO() as pickled:
        Pickler(pickled, _PROTOCOL).dump(entry)
        return pickled.getvalue()


def _is_found(name: str) -> bool:
    """Return whether another process finds the module `name` on the same path, and in the same file."""
    if name == "__main__":  # every process has its own, whatever file of this name there is
        return False
    spec: ModuleSpec | None = None
    for end in (*(position for position, letter in enumerate(name) if letter == "."), len(name)):
        path = None if spec is None else spec.submodule_search_locations
        specs = (finder.find_spec(name[:end], path) for finder in (BuiltinImporter, FrozenImporter, PathFinder))
        spec = next((found for found in specs if found is not None), None)
        if spec is None:
            return False
    file = getattr(sys.modules[name], "__file__", None)
    return file is None or (spec is not None and Path(spec.origin or "").resolve() == Path(file).resolve())


def _is_imported(name: str) -> bool:
    """Import the module `name` if this process finds it after all, by a finder of its own; return whether it does."""
    if name == "__main__":
        return False
    with suppress(ImportError, ValueError):
        if importlib.util.find_spec(name) is not None:
            importlib.import_module(name)
            return True
    return False


def _whole(entry: ModelEntry, modules: dict[str, ModuleType]) -> bytes:
    """Return `entry` pickled together with what it uses of `modules`."""
    try:
        import cloudpickle  # noqa: PLC0415 - 50 ms that most sweeps do without
    except ImportError as error:
        raise EntryNotSentError(
            f"model '{entry.id}' is no part of a module that another process could import, and to send it as a whole "
            f"needs cloudpickle: pip install cloudpickle"
        ) from error
    code_of = cloudpickle.Pickler.dispatch_table[CodeType]

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        """Keeps the files of what it pickles, which cloudpickle drops: faults are told with places in them."""

        dispatch_table = cloudpickle.Pickler.dispatch_table | {
            CodeType: lambda code: (code_in_file, (*code_of(code), code.co_filename))
        }

    with _by_value(cloudpickle, modules), io.BytesIO() as pickled:
        try:
            Pickler(pickled).dump(entry)
        except Exception as error:  # what a class of the model raises as it is pickled
            named = _unpicklable(entry, cloudpickle.dumps)
            raise EntryNotSentError(f"model '{entry.id}'{named} cannot be pickled: {describe(error)}") from error
        return pickled.getvalue()


def _unpicklable(entry: ModelEntry, dumps: Callable[[object], bytes]) -> str:
    """Return which attribute of the model's class cannot be pickled, such as ``: its attribute 'lock'``; or nothing."""
    for name, value in vars(entry.factory).items() if isinstance(entry.factory, type) else ():
        if not callable(value) and not hasattr(value, "__get__"):
            try:
                dumps(value)
            except Exception:  # what a class of the model raises as it is pickled
                return f": its attribute '{name}'"
    return ""


def code_in_file(make: Callable[..., CodeType], arguments: tuple[object, ...], file: str) -> CodeType:
    """Return the code that `make` makes, as code of `file`."""
    return make(*arguments).replace(co_filename=file)


@contextmanager
def _by_value(cloudpickle: ModuleType, modules: dict[str, ModuleType]) -> Iterator[None]:
    """Have what comes from `modules` pickled as a whole while the block runs."""
    with _REGISTERING:
        before = cloudpickle.list_registry_pickle_by_value()
        registered = [module for name, module in modules.items() if name != "__main__" and name not in before]
        for module in registered:
            cloudpickle.register_pickle_by_value(module)
        try:
            yield
        finally:
            for module in registered:
                cloudpickle.unregister_pickle_by_value(module)


_REGISTERING = threading.Lock()
"""Held while modules are registered: cloudpickle has one list of them for all threads."""
