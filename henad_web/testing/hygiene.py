"""Checks of what a model touches and asks for besides its own state: global generators, clocks, other libraries."""

from __future__ import annotations

import builtins
import cmath
import datetime
import decimal
import dis
import functools
import gc
import inspect
import math
import os
import pickle
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType, ModuleType

import numpy as np

from henad_web.errors import describe
from henad_web.model.entry import ModelEntry
from henad_web.output.build import own_modules
from henad_web.testing.course import Subject, build, difference, follow
from henad_web.testing.report import Inapplicable, Violation

__all__ = ["DISTRIBUTIONS", "Globals", "asks_nothing_of_the_system", "is_portable", "survives_pickling"]


class Globals:
    """What is global in the process as it was before any run of a model: a variable may be set by the first alone."""

    def __init__(self, entry: ModelEntry) -> None:
        self._module = sys.modules.get(entry.source_module or entry.factory.__module__)
        self._before = _globals(self._module)

    def are_left_alone(self, subject: Subject) -> None:
        """A run changes no global generator, no setting of the process and no variable of the model's module."""
        follow(build(subject, subject.seed), subject.ticks)
        after = _globals(self._module)
        changed = [name for name, value in self._before.items() if name in after and value != after[name]]
        if changed:
            raise Violation(f"a run changes {', '.join(changed)}; keep what a run needs in its state")


def _globals(module: ModuleType | None) -> dict[str, object]:
    generator = np.random.get_state(legacy=True)
    found: dict[str, object] = {
        "the generator behind the functions of random": random.getstate(),
        "the generator behind the functions of np.random": [
            bytes(each) if isinstance(each, np.ndarray) else each for each in generator
        ],
        "the current folder": os.getcwd(),
        "environment variables": dict(os.environ),
        "np.seterr": np.geterr(),
        "the recursion limit": sys.getrecursionlimit(),
        "the decimal context": repr(decimal.getcontext()),
        "warning filters": list(warnings.filters),
        "sys.path": list(sys.path),
    }
    if module is not None:
        for name, value in vars(module).items():
            if not name.startswith("__"):
                _add_variables(found, f"the variable {name} of {module.__name__}", value, module)
    return found


def _add_variables(found: dict[str, object], name: str, value: object, module: ModuleType) -> None:
    if isinstance(value, type):
        if value.__module__ == module.__name__:
            for key, held in vars(value).items():
                if not key.startswith("__") and not isinstance(held, type):
                    _add_variables(found, f"the class variable {value.__qualname__}.{key}", held, module)
    elif isinstance(value, (*_PLAIN, *_HOLDERS)):
        try:
            found[name] = pickle.dumps(value)
        except Exception:
            return  # what cannot be written down cannot be compared


_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_HOLDERS = (list, dict, set, bytearray, np.ndarray, random.Random, np.random.Generator, np.random.RandomState)


def asks_nothing_of_the_system(subject: Subject) -> None:
    """A run calls no clock, no source of random numbers of the system, and no global generator."""
    asked = dict.fromkeys((*_calls_of(subject, _asks), *_names_used(subject.entry, _of_global_generator)))
    if asked:
        raise Violation(
            f"a run asks for {', '.join(asked)}; a run may depend on its seed and steps alone: "
            "draw from self.rng, hw.generator(seed) or hw.py_random(seed)"
        )


def _of_global_generator(named: object) -> str | None:
    """Return what a function of numpy's global generator is called; a profile does not see such calls."""
    name = getattr(named, "__name__", "")
    is_global = getattr(named, "__self__", None) is _OF_NUMPY or named is np.random.seed
    return f"np.random.{name}" if is_global else None


def _calls_of(subject: Subject, name_of: Callable[[object], str | None]) -> list[str]:
    """Return the names that `name_of` gives to functions called in a run, in the order they first came."""
    found: dict[str, None] = {}

    def hear(frame: FrameType, event: str, called: object) -> None:
        if event == "c_call" and (name := name_of(called)) is not None:
            own = _innermost_of(frame, subject.entry.source_file)
            found[f"{name} at {os.path.basename(own.f_code.co_filename)}:{own.f_lineno}"] = None

    earlier, collects = sys.getprofile(), gc.isenabled()
    gc.disable()  # what others have called at each collection is not the model's doing
    sys.setprofile(hear)
    try:
        follow(build(subject, subject.seed), subject.ticks)
    finally:
        sys.setprofile(earlier)
        if collects:
            gc.enable()
    return list(found)


def _innermost_of(frame: FrameType, file: str | None) -> FrameType:
    """Return the innermost frame around `frame` that is of the model's `file`, `frame` where none is."""
    around: FrameType | None = frame
    while around is not None:
        if file is not None and around.f_globals.get("__file__") == file:
            return around
        around = around.f_back
    return frame


def _functions(module: ModuleType | type, names: str) -> dict[object, str]:
    """Return those of `names` that `module` has, each with what it is called."""
    short = {np: "np.", np.random.Generator: ""}.get(module, f"{module.__name__}.")
    return {getattr(module, name): f"{short}{name}" for name in names.split() if hasattr(module, name)}


_CLOCKS = _functions(
    time,
    "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns thread_time "
    "gmtime localtime ctime sleep",
) | _functions(os, "urandom getrandom getpid")
_DATES = {"now", "utcnow", "today"}
_OF_RANDOM = getattr(random, "_inst", None)
_OF_NUMPY = getattr(np.random.random, "__self__", None)


def _asks(called: object) -> str | None:
    owner, name = getattr(called, "__self__", None), getattr(called, "__name__", "")
    if owner is _OF_RANDOM and owner is not None:
        return f"random.{name}"
    if name in _DATES and isinstance(owner, type) and issubclass(owner, datetime.date):
        return f"{owner.__name__}.{name}"
    return _CLOCKS.get(called) if isinstance(called, BuiltinFunctionType) else None


_NOT_PORTABLE = (
    _functions(
        math,
        "acos acosh asin asinh atan atan2 atanh cbrt cos cosh dist erf erfc exp exp2 expm1 gamma hypot lgamma log "
        "log10 log1p log2 pow sin sinh tan tanh",
    )
    | _functions(
        cmath, "acos acosh asin asinh atan atanh cos cosh exp log log10 phase polar rect sin sinh sqrt tan tanh"
    )
    | _functions(
        np,
        "arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt convolve correlate cos cosh dot einsum exp exp2 "
        "expm1 float_power geomspace hypot inner kron log log10 log1p log2 logaddexp logaddexp2 logspace matmul "
        "matvec power sin sinh tan tanh tensordot vdot vecdot vecmat",
    )
)


def _computes(called: object) -> str | None:
    return _NOT_PORTABLE.get(called) if isinstance(called, BuiltinFunctionType) else None


_NOT_PORTABLE_MODULES = ("numpy.linalg", "numpy.fft", "scipy")


def is_portable(subject: Subject) -> None:
    """The model uses no function whose last bits differ between targets, unless it says that it is not portable."""
    if not subject.entry.metadata.portable:
        raise Inapplicable("it declares portable=False")
    used = dict.fromkeys((*_names_used(subject.entry, _not_portable), *_calls_of(subject, _computes)))
    if used:
        raise Violation(
            f"it uses {', '.join(used)}, which may differ between targets in the last bit; "
            "use + - * / and sqrt, or declare portable=False"
        )


DISTRIBUTIONS = _functions(
    np.random.Generator,
    "beta binomial chisquare dirichlet exponential f gamma geometric gumbel hypergeometric laplace logistic lognormal "
    "logseries multinomial multivariate_hypergeometric multivariate_normal negative_binomial noncentral_chisquare "
    "noncentral_f normal pareto poisson power rayleigh standard_cauchy standard_exponential standard_gamma "
    "standard_normal standard_t vonmises wald weibull zipf",
)
"""Methods of numpy's generators that compute with functions which are not the same on every target."""


def _names_used(entry: ModelEntry, name_of: Callable[[object], str | None]) -> Iterator[str]:
    """Yield what `name_of` calls the things that the model's own code names, and where."""
    for function in _functions_of(entry, own_modules(entry)):
        for named in _named_in(function.__code__, function.__globals__):
            if (name := name_of(named)) is not None:
                yield f"{name} in {function.__qualname__}"


def _not_portable(named: object) -> str | None:
    if isinstance(named, _Word):
        return str(named)
    try:
        if named in _NOT_PORTABLE:
            return _NOT_PORTABLE[named]
    except TypeError:  # it cannot be hashed
        return None
    module = str(getattr(named, "__module__", None) or "")
    if callable(named) and any(module == one or module.startswith(f"{one}.") for one in _NOT_PORTABLE_MODULES):
        return f"{module}.{getattr(named, '__name__', '?')}"
    return None


def _functions_of(entry: ModelEntry, own: frozenset[str]) -> Iterator[FunctionType]:
    """Yield the functions of the modules `own` that the model can reach by names, each once."""
    waiting: list[object] = [entry.factory, *(() if entry.batches is None else (entry.batches.build,))]
    seen: set[int] = set()
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, FunctionType):
            if thing.__module__ not in own:
                continue
            yield thing
            waiting += _named_in(thing.__code__, thing.__globals__)
            waiting += _cells_of(thing)
        else:
            waiting += _held_by(thing, own)


def _cells_of(function: FunctionType) -> Iterator[object]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # it is not filled yet
            continue


def _held_by(thing: object, own: frozenset[str]) -> list[object]:
    if isinstance(thing, type):
        return [value for each in thing.__mro__ if each.__module__ in own for value in vars(each).values()]
    if isinstance(thing, MethodType):
        return [thing.__func__, thing.__self__]
    if isinstance(thing, functools.partial):
        return [thing.func, *thing.args, *thing.keywords.values()]
    if isinstance(thing, property):
        return [each for each in (thing.fget, thing.fset) if each is not None]
    wrapped = [getattr(thing, name, None) for name in ("__func__", "func", "function", "read", "do")]
    found = [each for each in wrapped if callable(each)]
    if not found and type(thing).__module__ in own and not isinstance(thing, ModuleType):
        found.append(type(thing))
        found += [value for value in getattr(thing, "__dict__", {}).values() if callable(value)]
    return found


class _Word(str):
    """What code does, in words, where no object stands for it."""


def _named_in(code: CodeType, names: dict[str, object]) -> list[object]:
    """Return the objects that `code` names by a global name and attributes of modules, and words for others."""
    found: list[object] = []
    current: object = None
    local: str | None = None
    for instruction in dis.get_instructions(code):
        operation, argument = instruction.opname, instruction.argval
        is_attribute = operation in ("LOAD_ATTR", "LOAD_METHOD")
        if operation in ("LOAD_GLOBAL", "LOAD_NAME"):
            current = names.get(str(argument), getattr(builtins, str(argument), None))
            found.append(current)
        elif is_attribute and isinstance(current, (ModuleType, type)):
            current = inspect.getattr_static(current, str(argument), None)
            found.append(current)
        elif is_attribute and argument in DISTRIBUTIONS.values() and _is_call(instruction) and local != "self":
            found.append(_Word(f"the distribution {argument}"))
            current = None
        elif operation == "BINARY_OP" and "@" in instruction.argrepr:
            found.append(_Word("the operator @"))
        elif operation not in ("PRECALL", "CACHE", "PUSH_NULL"):
            current = None
        is_local = operation.startswith(("LOAD_FAST", "LOAD_DEREF"))
        local = (argument[-1] if isinstance(argument, tuple) else str(argument)) if is_local else None
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found += _named_in(constant, names)
    return found


def _is_call(instruction: dis.Instruction) -> bool:
    """Return whether an attribute is read to be called, as a method is and a number is not."""
    return instruction.opname == "LOAD_METHOD" or "NULL" in instruction.argrepr


def survives_pickling(subject: Subject) -> None:
    """The entry can be pickled, and one that is found by name comes back the same."""
    try:
        pickled = pickle.dumps(subject.entry)
    except Exception as error:  # a class of the model may raise anything
        _check_whole(subject.entry, error)
        return
    received: object = pickle.loads(pickled)
    if not isinstance(received, ModelEntry):
        raise Violation(f"what is pickled comes back as {type(received).__name__}")
    there = Subject(entry=received, params=subject.params, seed=subject.seed, ticks=subject.ticks)
    here = follow(build(subject, subject.seed), subject.ticks)
    parted = difference(here, follow(build(there, subject.seed), subject.ticks))
    if parted is not None:
        raise Violation(f"a run of what was pickled differs: {parted}")


def _check_whole(entry: ModelEntry, error: Exception) -> None:
    """Check that `entry` can be pickled as a whole; to load it here would change the classes that it is made of."""
    try:
        import cloudpickle  # noqa: PLC0415 - only where a model asks for it
    except ImportError:
        raise Inapplicable(f"it is pickled as a whole, and cloudpickle is not installed ({describe(error)})") from None
    try:
        cloudpickle.dumps(entry)
    except Exception as second:
        raise Violation(f"it cannot be pickled ({describe(second)}), so lanes in processes cannot have it") from second
