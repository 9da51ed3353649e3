"""Models of Mesa 3 as they are: parameters from the signature of the class, columns from its DataCollector.

Imports Mesa only where a model of it is built. Knows what versions 3.0 to 3.5 have in common, and the list of agents'
ids that those up to 3.3 keep for the whole process.
"""

from __future__ import annotations

import importlib
import inspect
import math
import weakref
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from henad_web.adapters.adapted import (
    AdaptedState,
    Columns,
    StatsGiven,
    adapted_entry,
    columns_of,
    columns_seen,
)
from henad_web.adapters.arguments import arguments_of, signature_of
from henad_web.errors import ModelDefinitionError
from henad_web.model.decimals import whole_text
from henad_web.model.entry import ModelEntry
from henad_web.model.params import ParamValue
from henad_web.model.tables import Table

__all__ = ["from_mesa"]

_SEEDS = ("rng", "seed")
"""Arguments by which a model takes its seed; the first is the newer one, and both do the same."""

_AGENTS, _AGENT_ID = "agents", "AgentID"


def from_mesa(
    model_class: type,
    *,
    params: Mapping[str, object] | None = None,
    stats: StatsGiven | None = None,
    agents: Mapping[str, str] | None = None,
    id: str | None = None,
    portable: bool = False,
) -> ModelEntry:
    """Return the entry of an unchanged model of Mesa 3.

    Its parameters are the arguments of its class: bool, int (64 bits), float (double precision), text, or a choice of a
    ``Literal``. An argument whose default is none of these keeps it. Ids are small letters: ``N`` is ``n``. The
    seed of a run goes to ``rng=`` or ``seed=``, as it is; a build without one has the default of the class, else 0.

    Its columns are the model reporters of its DataCollector: the row of a tick is what the model collected in the step
    to it, at tick 0 in its ``__init__``; at a tick where it collected nothing they are NaN. Where its ``running`` is
    false the run ends, with the stop reason ``condition``. The population is ``len(model.agents)``.

    A column that is called like a parameter or a column of the files gets ``stat_`` in front, a parameter of such a
    name ``param_``.

    Args:
        model_class: The class.
        params: What there is to say of arguments by name: bounds ``(0, 1)``, another default, ``hw.f64(0.5, min=0,
            max=1)``, or one of Mesa's sliders. Numbers have no bounds otherwise.
        stats: Columns: names of reporters or attributes, or these and functions of the model by label. All model
            reporters when None; to see them, the model is built once, with its defaults.
        agents: Agent reporters by their kind of column, ``{"Wealth": "i64"}``: the entry has a table ``agents`` then,
            of what the model collected of its agents in the step to a tick, ``AgentID`` first.
        id: Made from the name of the class when None.
        portable: Whether equal inputs give equal results on every machine.

    Raises:
        ModelDefinitionError: Mesa is not installed, it is no class of a Mesa model, it takes no seed, an argument has
            no default, `params` names none of its arguments, or there is no column.
    """
    _check_class(model_class)
    signature = signature_of(model_class)
    arguments = arguments_of(signature, params or {}, _SEEDS)
    declared = tuple(each.param for each in arguments)
    seed = _seed_argument(model_class, signature)
    factory = _MesaFactory(
        model_class,
        tuple(each.name for each in arguments),
        tuple(each.name for each in signature.parameters.values() if each.kind is inspect.Parameter.POSITIONAL_ONLY),
        seed,
        getattr(signature.parameters.get(seed), "default", None),
    )
    if stats is None:
        values = {param.id: param.default for param in declared}
        columns = columns_seen(model_class.__name__, lambda: factory(values, None), declared)
    else:
        columns = columns_of(stats, declared)
    tables = (Table(_AGENTS, {_AGENT_ID: "i64", **agents}),) if agents else ()
    factory = replace(factory, columns=columns, agents=tuple(tables[0].columns) if tables else ())
    return replace(adapted_entry(model_class, factory, declared, columns, id, portable), tables=tables)


def _mesa() -> ModuleType:
    try:
        return importlib.import_module("mesa")
    except ImportError as error:
        raise ModelDefinitionError("from_mesa needs mesa; install it: pip install 'henad-web[mesa]'") from error


def _check_class(model_class: object) -> None:
    base = _mesa().Model
    if not (isinstance(model_class, type) and issubclass(model_class, base) and model_class is not base):
        what = "a model, not its class" if isinstance(model_class, base) else whole_text(model_class)
        raise ModelDefinitionError(f"from_mesa takes a class made from mesa.Model; this is {what}")


def _seed_argument(model_class: type, signature: inspect.Signature) -> str:
    names = [name for name in _SEEDS if name in signature.parameters]
    if not names and any(each.kind is inspect.Parameter.VAR_KEYWORD for each in signature.parameters.values()):
        names = [name for name in _SEEDS if name in signature_of(_mesa().Model).parameters]
    if not names:
        wrong = f"{model_class.__name__} takes no seed, so that no run of it could be repeated"
        raise ModelDefinitionError(
            f"{wrong}; give its __init__ an argument seed=None and do super().__init__(seed=seed)"
        )
    return names[0]


@dataclass(frozen=True, slots=True)
class _MesaFactory:
    """Builds the states of a class of Mesa's.

    Attributes:
        model_class: The class.
        names: The argument that each parameter is, in order.
        by_position: Arguments that have no name in a call.
        seed: The argument that takes the seed.
        unseeded: Its default.
        columns: The statistics and their sources.
        agents: Columns of the table of agents.
    """

    model_class: type
    names: tuple[str, ...]
    by_position: tuple[str, ...]
    seed: str
    unseeded: Any
    columns: Columns = ()
    agents: tuple[str, ...] = ()

    def __call__(self, params: Mapping[str, ParamValue], seed: int | None) -> AdaptedState:
        values: dict[str, Any] = dict(zip(self.names, params.values(), strict=True))
        if seed is not None:
            values[self.seed] = seed
        elif self.unseeded in (None, inspect.Parameter.empty):
            values[self.seed] = 0
        positional = [values.pop(name) for name in self.by_position if name in values]
        ids = _ids_of_agents()
        count = len(ids)
        try:
            model = self.model_class(*positional, **values)
        except BaseException:
            while len(ids) > count:  # of a model that nobody has
                ids.popitem()
            raise
        state = _MesaState(model, self.columns, self.agents)
        weakref.finalize(state, ids.pop, model, None).atexit = False
        return state


def _ids_of_agents() -> MutableMapping[Any, Any]:
    """Return the counters of agents' ids by model, which Mesa keeps up to 3.3: they hold each model for good."""
    found = getattr(_mesa().Agent, "_ids", None)
    return found if isinstance(found, dict) else {}


class _MesaState(AdaptedState):
    """A model of Mesa's under way."""

    def __init__(self, model: object, columns: Columns, agents: tuple[str, ...]) -> None:
        super().__init__(model, columns)
        self._agents = agents
        self._has_collected = True  # at tick 0 all there is

    def step_once(self) -> None:
        before = self._collections()
        self.model.step()
        self._has_collected = self._collections() > before

    def _collections(self) -> int:
        return max(len(self._records()), *map(len, self._variables().values()), 0)

    def _variables(self) -> Mapping[str, list[object]]:
        return getattr(getattr(self.model, "datacollector", None), "model_vars", {})

    def _records(self) -> Mapping[float, list[tuple[Any, ...]]]:
        """Return what was collected of agents by the time: rows of the time, the id, and a value a reporter."""
        return getattr(getattr(self.model, "datacollector", None), "_agent_records", {})

    def collected(self) -> Mapping[str, object]:
        is_there = self._has_collected
        return {name: values[-1] if is_there and values else math.nan for name, values in self._variables().items()}

    def table(self, name: str) -> Mapping[str, list[object]]:
        """Return the table of agents: no row where none was collected in the step to the tick reached."""
        collected = list(self._records().values())[-1:] if self._has_collected else []
        reporters = getattr(getattr(self.model, "datacollector", None), "agent_reporters", ())
        places = {name: place for place, name in enumerate((_AGENT_ID, *reporters), 1) if name in self._agents}
        return {name: [row[place] for rows in collected for row in rows] for name, place in places.items()}
