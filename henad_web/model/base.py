"""The base classes of models: what a model need not say itself, and the entry that its class makes.

A model is a class with its parameters, its statistics and one way to step. `declarations` has what stands in its body,
`definition` the checks of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Never, TypedDict, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import ModelDefinitionError, UsageError, near_miss
from henad_web.model.batches import Batch, counted
from henad_web.model.declarations import COLORS, ActionMethod, Parameter, TableMethod, shown_name
from henad_web.model.definition import declared_by, first_paragraph, model_id, refusal, take_body
from henad_web.model.entry import Backend, BatchOffer, ModelEntry, ModelMetadata, Topology
from henad_web.model.grid import grid_params
from henad_web.model.params import Apply, ParamValue
from henad_web.model.schema import Rgb
from henad_web.model.state import StateDefaults, shown_value
from henad_web.randomness.generators import generator

__all__ = ["GridModel", "Model"]

_PALETTE: tuple[Rgb, ...] = ((0x15, 0x15, 0x15), *COLORS[:6], (0xEE, 0xEE, 0xEE))
"""Colours of cells of a model that names none."""


class ClassKeywords(TypedDict, total=False):
    """Keywords of the class line of a `Model`."""

    abstract: bool
    id: str
    name: str
    description: str
    palette: tuple[Rgb, ...]
    topology: Topology
    replays_exactly: bool
    portable: bool
    inner_threads: bool
    releases_lock: bool
    batch: type[Batch] | None


_NAMES = ("id", "name", "description")
_OF_AN_EMPTY_BODY = {"__module__", "__doc__"}
"""What a class has whose body is empty. One that is sent to another process as a whole is empty at first, and gets its
members afterwards: it is checked where it is used."""


class Model(StateDefaults):
    """A model: a class that declares its parameters and statistics and says how it steps.

    Write `step_once`, which does one step, or ``step(n)``, which does n of them; `setup` makes the start, when
    parameters are attributes already. Everything else has a default: `population`, `heap_bytes`, `parallel_jobs`,
    `grid`, `act`, `set_param`, `has_ended`. A `Batch` on the class line offers batches, and so does a class method
    ``build_many(params, seeds)``; the class method ``batch_rows(params)`` says how many rows are worth it. A class
    stands for its entry wherever an entry is asked for.

    Keywords of the class line, ``class Fire(hw.Model, portable=False)``: `id`, `name` and `description`, made from the
    class's name and docstring unless given; `palette`, `topology`, `replays_exactly`, `portable`, `inner_threads` and
    `releases_lock`, as `ModelMetadata` has them; `batch`, a `Batch` of it; `abstract` for a class that is only made to
    be inherited from.

    Attributes:
        is_abstract: Whether the class is only made to be inherited from.
        seed: Seed of the run, 0 to 2^64 - 1; None for the model's own fixed start.
        tick: Steps done so far; the base class counts them.

    Args:
        params: Values by id, defaults for those not given.
        seed: 0 to 2^64 - 1, or None.

    Raises:
        ModelDefinitionError: When the class is made: a member is missing, misspelled, there twice or of the wrong form.
        ParamError: A parameter is unknown, or a value is not allowed for it.

    Example:
        >>> import henad_web as hw
        >>> class Walk(hw.Model):
        ...     drift = hw.f64(0.25, min=-1, max=1)
        ...     place = hw.stat()
        ...     def setup(self) -> None:
        ...         self.place = 0.0
        ...     def step_once(self) -> None:
        ...         self.place += self.drift
        >>> walk = Walk({"drift": 0.5})
        >>> walk.step(3)
        >>> walk.tick, walk.stats()
        (3, {'place': 1.5})
    """

    seed: int | None
    _rng: np.random.Generator | None

    is_abstract: ClassVar[bool] = True
    _promises: ClassVar[Mapping[str, Any]] = {"palette": _PALETTE, "topology": Topology.AGENTS}
    _names: ClassVar[Mapping[str, str]] = {}
    _entry: ClassVar[ModelEntry]
    _readers: ClassVar[tuple[tuple[str, Callable[[Any], Any]], ...]] = ()
    _columns: ClassVar[tuple[tuple[str, str], ...]] = ()
    _assigned: ClassVar[tuple[str, ...]] = ()
    _actions: ClassVar[Mapping[str, ActionMethod]] = {}
    _body: ClassVar[Mapping[str, object]]
    _tables: ClassVar[Mapping[str, TableMethod]] = {}
    _may_end: ClassVar[bool] = False
    _batch: ClassVar[type[Batch] | None] = None

    def __init_subclass__(cls, **keywords: Unpack[ClassKeywords]) -> None:
        """Read the class, and refuse one that is no model."""
        super().__init_subclass__()
        says_something = bool(keywords)
        for name in keywords.keys() - ClassKeywords.__annotations__:
            allowed = (GridKeywords if issubclass(cls, GridModel) else ClassKeywords).__annotations__
            hint = near_miss(name, allowed)
            raise refusal(
                cls, f"its class line says {name}; allowed: {', '.join(allowed)}{f'; {hint}' if hint else ''}"
            )
        cls._body = take_body(cls)
        cls.is_abstract = keywords.pop("abstract", False)
        cls._names = {key: str(keywords.pop(key)) for key in _NAMES if key in keywords}  # type: ignore[misc]
        cls._batch = keywords.pop("batch", cls._batch)
        cls._promises = {**cls._promises, **keywords}
        cls._may_end = cls.has_ended is not Model.has_ended
        if cls.step is not Model.step and not hasattr(cls.step, "counts"):
            cls.step = counted(cls.step)  # type: ignore[method-assign, assignment]
        if not cls.is_abstract and (says_something or cls._body.keys() - _OF_AN_EMPTY_BODY):
            cls.entry()

    @classmethod
    def entry(cls) -> ModelEntry:
        """Return the entry of the class: id, parameters, statistics, actions, tables and metadata, as declared."""
        found = vars(cls).get("_entry")
        if isinstance(found, ModelEntry):
            return found
        if cls.is_abstract:
            raise refusal(cls, "it is abstract, made to be inherited from, and has no entry")
        declared = declared_by(cls, (GridModel, Model, StateDefaults))
        with _told_of(cls):
            stats = {name: each.stat(name, position) for position, (name, each) in enumerate(declared.stats.items())}
            params = tuple(each.param(name) for name, each in declared.params.items())
            metadata = ModelMetadata(backend=Backend.CPU, **cls._promises)
        cls._readers = tuple((stats[name].label, each.reader(name)) for name, each in declared.stats.items())
        cls._columns = tuple((stats[name].label, name) for name in declared.stats)
        cls._assigned = tuple(name for name, each in declared.stats.items() if each.read is None)
        cls._actions, cls._tables = declared.actions, declared.tables
        cls._entry = ModelEntry(
            id=cls._names.get("id", model_id(cls.__name__)),
            name=cls._names.get("name", shown_name(model_id(cls.__name__))),
            description=cls._names.get("description", first_paragraph(cls)),
            params=params,
            stats=tuple(stats.values()),
            actions=tuple(each.action(name) for name, each in declared.actions.items()),
            metadata=metadata,
            factory=cls,
            source_module=cls.__module__,
            batches=_offer_of(cls),
            tables=tuple(each.table(name) for name, each in declared.tables.items()),
        )
        return cls._entry

    @classmethod
    def columns(cls) -> tuple[tuple[str, str], ...]:
        """Return the column of each statistic and the name it is declared under."""
        cls.entry()
        return cls._columns

    @classmethod
    def _build_batch(cls, params: Mapping[str, ParamValue], seeds: Sequence[int]) -> Batch:
        if cls._batch is None:
            raise refusal(cls, "it has no batch")
        return cls._batch([cls(params, seed) for seed in seeds])

    def __init__(self, params: Mapping[str, object] | None = None, seed: int | None = None, **misplaced: Never) -> None:
        if misplaced:
            others: Mapping[str, object] = misplaced
            given = ", ".join(f'"{id}": {shown_value(value)}' for id, value in others.items())
            raise UsageError(f"parameters of a model are a mapping: {type(self).__name__}({{{given}}})")
        self.seed, self.tick, self._rng = seed, 0, None
        # One by one: where a dict of attributes has been asked for, each is read more slowly from then on.
        for id, value in self.entry().values(params).items():
            setattr(self, id, value)
        self._set_up()

    def _set_up(self) -> None:
        """Make the start, and what a kind of model has before."""
        self.setup()

    @property
    def rng(self) -> np.random.Generator:
        """A generator of numpy's for this run, `hw.generator` of its seed; made at its first use."""
        if self._rng is None:
            self._rng = generator(self.seed)
        return self._rng

    def setup(self) -> None:
        """Make the start. Parameters, `seed` and `rng` are there."""

    def step_once(self) -> None:
        """Do one step, from `tick` to `tick` + 1; `tick` rises behind it."""
        raise refusal(type(self), "it has no step_once of its own: step(n) does its steps")

    def step(self, n: int = 1) -> None:
        """Do `n` steps, 0 or more; fewer where the model ends."""
        once = self.step_once
        if self._may_end:
            for _ in range(n):
                if self.has_ended():
                    break
                once()
                self.tick += 1
        else:
            for _ in range(n):
                once()
                self.tick += 1

    def has_ended(self) -> bool:
        """Return whether the model has come to its end at the tick reached; the run ends there then."""
        return False

    def stats(self) -> dict[str, float]:
        """Return the value of each statistic at the tick reached, by its column."""
        try:
            return {label: read(self) for label, read in self._readers}
        except AttributeError as error:
            missing = next((name for name in self._assigned if name not in vars(self)), None)
            if missing is None:
                raise
            raise refusal(
                type(self), f"the statistic '{missing}' has no value; assign self.{missing} in setup"
            ) from error

    def act(self, action_id: str) -> bool:
        """Do the action; False when the model refuses or does not know it."""
        found = self._actions.get(action_id)
        return found is not None and found.do(self) is not False

    def table(self, name: str) -> Mapping[str, Any]:
        """Return the columns of the table `name` at the tick reached, as the method declared so returns them."""
        return self._tables[name].read(self)

    def set_param(self, id: str, value: ParamValue) -> bool:
        """Give a live parameter a value from the next step on; False for one that is read at the build.

        Raises:
            ParamError: There is no such parameter, or `value` is not allowed for it.
        """
        param = self.entry().schema().param(id)
        canonical = param.coerce(value)
        if param.apply is not Apply.LIVE:
            return False
        setattr(self, id, canonical)
        return True


@contextmanager
def _told_of(cls: type[Model]) -> Iterator[None]:
    """Have what is refused in the block begin with the class."""
    try:
        yield
    except ModelDefinitionError as error:
        raise refusal(cls, str(error)) from error


def _offer_of(cls: type[Model]) -> BatchOffer | None:
    for name in ("build_many", "batch_rows"):
        if hasattr(cls, name) and not inspect.ismethod(getattr(cls, name)):
            raise refusal(cls, f"{name} is no class method; put @classmethod over it")
    build, batch = getattr(cls, "build_many", None), cls._batch
    if build is not None and batch is not None:
        raise refusal(cls, "it has both build_many and batch=; keep one, either makes batches")
    if build is None and batch is None:
        return None
    if cls._may_end:
        raise refusal(cls, "it has has_ended and offers batches; a model that may end by itself is stepped alone")
    if batch is not None:
        _check_batch(cls, batch)
    return BatchOffer(build=build or cls._build_batch, rows=getattr(cls, "batch_rows", _all_rows))


def _check_batch(cls: type[Model], batch: object) -> None:
    if not (isinstance(batch, type) and issubclass(batch, Batch)):
        raise refusal(cls, f"its class line says batch={shown_value(batch)}; allowed: a class made from hw.Batch")
    lacking = next((name for name in cls._actions if not callable(getattr(batch, name, None))), None)
    if lacking is not None:
        raise refusal(cls, f"its batch class {batch.__name__} has no method for the action '{lacking}'")


def _all_rows(params: Mapping[str, ParamValue]) -> int:
    return 64


def _side(position: int, side: int) -> Parameter[int]:
    return Parameter(lambda id, label: grid_params(side, side)[position])


class GridKeywords(ClassKeywords, total=False):
    """Keywords of the class line of a `GridModel`."""

    width: int
    height: int


class GridModel(Model, abstract=True, topology=Topology.GRID):
    """A model whose cells lie on a grid of `grid_width` x `grid_height`, its first two parameters.

    Keywords of the class line besides those of `Model`: `width` and `height`, the defaults of these two, 64 each.

    Attributes:
        cells: State of each cell, an index into the palette, uint8 ``(height, width)``; zeros before `setup`. Change it
            in place, ``self.cells[:] = ...``, which takes booleans and whole numbers, or assign another such array.
        population: Cells of the grid, unless `setup` says otherwise.
    """

    cells: NDArray[Any]
    grid_width = _side(0, 64)
    grid_height = _side(1, 64)

    def __init_subclass__(cls, **keywords: Unpack[GridKeywords]) -> None:
        """Read the class as `Model` does, with its own size of a grid."""
        if "width" in keywords:
            cls.grid_width = _side(0, keywords.pop("width"))
        if "height" in keywords:
            cls.grid_height = _side(1, keywords.pop("height"))
        super().__init_subclass__(**cast("ClassKeywords", keywords))

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the grid, the shape of `cells`."""
        return self.grid_height, self.grid_width

    @property
    def grid(self) -> NDArray[np.uint8] | None:
        """What the page draws: a copy of `cells`, uint8 ``(height, width)``."""
        self._check_cells()
        return self.cells.copy()

    def stats(self) -> dict[str, float]:
        """Return the value of each statistic at the tick reached, by its column; `cells` are looked at, too."""
        self._check_cells()
        return super().stats()

    def _set_up(self) -> None:
        self.cells = np.zeros(self.shape, np.uint8)
        self.population = self.cells.size
        self.setup()
        self._check_cells()

    def _check_cells(self) -> None:
        """Refuse cells that no grid can be made of: 300 would be drawn as 44, and a 2 among booleans is true."""
        cells: object = self.cells
        if isinstance(cells, np.ndarray) and cells.dtype == np.uint8 and cells.shape == self.shape:
            return
        came = f"{cells.dtype} {cells.shape}" if isinstance(cells, np.ndarray) else f"a {type(cells).__name__}"
        raise refusal(
            type(self), f"self.cells is {came}; allowed: uint8 {self.shape}; fill it in place, self.cells[:] = ..."
        )
