"""A model's shape with a parameter of every kind, and short ways to write specs over it."""

from __future__ import annotations

from henad_web.errors import PlanError, Problem
from henad_web.explore.plan import Plan
from henad_web.explore.spec import (
    ActionSpec,
    AllLevels,
    BlockSpec,
    DesignKind,
    FactorSpec,
    LevelSpec,
    RangeLevels,
    SpecValue,
    SweepSpec,
    ValueLevels,
)
from henad_web.model.params import boolean, choice, f32, u32
from henad_web.model.schema import Action, ModelSchema, Stat

GREY = (128, 128, 128, 255)

SCHEMA = ModelSchema(
    model="study",
    name="Study",
    backend="cpu",
    params=(
        u32("size", "Size", default=8, min=1, max=1000),
        f32("rate", "Rate", default=0.3, min=0.0, max=1.0),
        f32("loss", "Loss", default=0.05, min=-5.0, max=5.0),
        boolean("wrap", "Wrap", default=True),
        choice("mode", "Mode", options=("fast", "slow", "exact"), default=1),
    ),
    stats=(Stat("Alive", GREY), Stat("Dead", GREY), Stat("Drift", GREY), Stat("Ages", GREY)),
    actions=(Action("pulse", "Pulse"), Action("clear", "Clear")),
)

PULSE = ActionSpec(id="pulse", tick=4)


def values(*levels: SpecValue) -> ValueLevels:
    return ValueLevels(values=levels)


def span(low: float, high: float, step: float | None = None) -> RangeLevels:
    return RangeLevels(min=low, max=high, step=step)


def vary(param: str, levels: LevelSpec) -> FactorSpec:
    return FactorSpec(param=param, levels=levels)


def move(action: str, levels: LevelSpec) -> FactorSpec:
    return FactorSpec(action=action, levels=levels)


ALL = AllLevels()


def block(
    *factors: FactorSpec, design: str = "factorial", samples: int | None = None, seed: int | None = None
) -> BlockSpec:
    return BlockSpec(design=DesignKind(design), factors=factors, samples=samples, design_seed=seed)


def table(text: str) -> BlockSpec:
    return BlockSpec(design=DesignKind.TABLE, table_text=text)


def plan_of(*blocks: BlockSpec, actions: tuple[ActionSpec, ...] = (PULSE,), **spec: object) -> Plan:
    return Plan.of(SweepSpec(model="study", blocks=blocks, actions=actions, **spec), SCHEMA)  # type: ignore[arg-type]


def column(plan: Plan, param: str) -> list[object]:
    """Return the values of `param` over the configs of `plan`, in order."""
    position = plan.schema.index(param)
    return [config.params[position] for config in plan.configs]


def problems_of(*blocks: BlockSpec, actions: tuple[ActionSpec, ...] = (PULSE,), **spec: object) -> tuple[Problem, ...]:
    """Return what the model refuses about a spec."""
    try:
        plan_of(*blocks, actions=actions, **spec)
    except PlanError as error:
        return error.problems
    return ()


def only_problem(*blocks: BlockSpec, actions: tuple[ActionSpec, ...] = (PULSE,), **spec: object) -> Problem:
    """Return the single thing the model refuses about a spec."""
    (problem,) = problems_of(*blocks, actions=actions, **spec)
    return problem
