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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder
from pathlib import Path
from types import CodeType, ModuleType

from henad_web.errors import HenadError, describe
from henad_web.model.entry import ModelEntry

__all__ = ["EntryNotSentError", "SentEntry"]

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
    """

    pickled: bytes
    sources: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, entry: ModelEntry) -> SentEntry:
        """Return `entry` ready to be sent.

        Raises:
            EntryNotSentError: It cannot be pickled, or only as a whole and cloudpickle is missing.
        """
        own = entry.source_module or entry.factory.__module__
        try:
            pickled = pickle.dumps(entry, _PROTOCOL)
        except Exception:  # what a class of the model raises as it is pickled
            pickled, taken = b"", [own]
        else:
            taken = [str(name) for code, name, _ in pickletools.genops(pickled) if code.name == "GLOBAL"]
        named = {name.split(" ")[0] for name in taken}
        foreign = {name: sys.modules[name] for name in sorted(named) if name in sys.modules and not _is_found(name)}
        files = ((name, getattr(sys.modules.get(name), "__file__", None)) for name in sorted({*foreign, own}))
        sources = tuple((name, str(file)) for name, file in files if file is not None)
        return cls(pickled if pickled and not foreign else _whole(entry, foreign), sources)

    def received(self) -> ModelEntry:
        """Return the entry in the process it was sent to; whatever its modules raise is raised on."""
        for name, file in self.sources:
            if not _is_imported(name):
                module = sys.modules.setdefault(name, ModuleType(name))
                module.__file__ = file
        entry = pickle.loads(self.pickled)
        if not isinstance(entry, ModelEntry):
            raise TypeError(f"a ModelEntry was sent and {type(entry).__name__} came")
        return entry


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
            raise EntryNotSentError(f"model '{entry.id}' cannot be pickled: {describe(error)}") from error
        return pickled.getvalue()


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
