"""Models of AgentPy as they are: parameters that are said, columns that the model records.

Imports nothing of AgentPy: a model is a class that takes a dict of parameters and has `sim_setup` and `sim_step`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from henad_web.adapters.adapted import AdaptedState, Columns, StatsGiven, adapted_entry, columns_of, columns_seen
from henad_web.adapters.arguments import given_param
from henad_web.errors import ModelDefinitionError
from henad_web.model.decimals import whole_text
from henad_web.model.entry import ModelEntry
from henad_web.model.params import ParamValue

__all__ = ["from_agentpy"]

_STEPS = ("sim_setup", "sim_step")
_SEED = "seed"


def from_agentpy(
    model_class: Callable[[dict[str, Any]], object],
    *,
    params: Mapping[str, object],
    stats: StatsGiven | None = None,
    id: str | None = None,
    portable: bool = False,
) -> ModelEntry:
    """Return the entry of an unchanged model of AgentPy.

    Tick 0 is the model behind its ``setup`` and ``update``, a tick more is a step and an ``update``. The run ends where
    the model calls ``stop``, or at its parameter ``steps`` if it has one; its ``end`` is not called. The seed of a run
    is AgentPy's own, as it is; a build without one has 0. The population is ``len(model.agents)``.

    Args:
        model_class: The class.
        params: Its parameters by name: a default, ``hw.f64(0.5, min=0, max=1)``, or a ``Range``, ``IntRange`` or
            ``Values`` of AgentPy. Numbers have no bounds otherwise.
        stats: Columns: names of what the model records or of attributes, or these and functions of the model by label.
            All that it has recorded by tick 0 when None; to see that, the model is built once, with its defaults. At
            a tick where the model records nothing, what it records at others is NaN.
        id: Made from the name of the class when None.
        portable: Whether equal inputs give equal results on every machine.

    Raises:
        ModelDefinitionError: It is no class of such a model, `params` is not understood, or there is no column.
    """
    if not (isinstance(model_class, type) and all(callable(getattr(model_class, name, None)) for name in _STEPS)):
        wrong = f"this is {whole_text(model_class)}"
        raise ModelDefinitionError(f"from_agentpy takes a class with {' and '.join(_STEPS)}; {wrong}")
    if _SEED in params:
        raise ModelDefinitionError(f"params names '{_SEED}', which every run brings by itself; leave it out")
    declared = tuple(given_param(name, _control(form)) for name, form in params.items())
    factory = _AgentPyFactory(model_class, tuple(params))
    if stats is None:
        values = {param.id: param.default for param in declared}
        columns = columns_seen(model_class.__name__, lambda: factory(values, None), declared)
    else:
        columns = columns_of(stats, declared)
    return adapted_entry(model_class, replace(factory, columns=columns), declared, columns, id, portable)


def _control(form: object) -> object:
    """Return a range of AgentPy's as a control; anything else as it is."""
    default = getattr(form, "vdef", None)
    if default is None:
        return form
    named = {"min": "vmin", "max": "vmax", "values": "values"}
    return {"value": default, **{name: getattr(form, held) for name, held in named.items() if hasattr(form, held)}}


@dataclass(frozen=True, slots=True)
class _AgentPyFactory:
    """Builds the states of a class of AgentPy's, whose parameters have `names`."""

    model_class: Callable[[dict[str, Any]], Any]
    names: tuple[str, ...]
    columns: Columns = ()

    def __call__(self, params: Mapping[str, ParamValue], seed: int | None) -> AdaptedState:
        model = self.model_class(dict(zip(self.names, params.values(), strict=True)))
        model.sim_setup(seed=0 if seed is None else seed)
        return _AgentPyState(model, self.columns)


class _AgentPyState(AdaptedState):
    """A model of AgentPy's under way."""

    def step_once(self) -> None:
        self.model.sim_step()

    def collected(self) -> Mapping[str, object]:
        log = self.model.log
        is_there = bool(log) and log["t"][-1] == self.model.t
        return {name: values[-1] if is_there else math.nan for name, values in log.items() if name != "t"}
