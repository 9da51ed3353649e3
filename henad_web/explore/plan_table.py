"""The plan as a table: every run with its config, seed, key and values, and a spec frozen into tables.

Owns the columns, which are the leading ones of runs.csv, and their texts; which blocks of a spec become tables when it
is frozen, and what stands in them. A frozen spec has the configs, runs and run keys of the spec it was made from and
needs no library, seed or expression; its plan hash is another one, since its designs are. Runs nothing, opens no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from henad_web.errors import UsageError
from henad_web.explore.blocks import ResolvedBlock
from henad_web.explore.columns import ACTION, LEADING
from henad_web.explore.design_table import csv_record
from henad_web.explore.hashes import run_key
from henad_web.explore.plan import Plan
from henad_web.explore.spec import BlockSpec, DesignKind, SweepSpec, spec_of

if TYPE_CHECKING:
    from henad_web.explore.outcomes import PlannedRun
    from henad_web.explore.plan import Config
    from henad_web.explore.spec_file import LoadedSpec
    from henad_web.model.schema import ModelSchema

__all__ = [
    "freeze",
    "plan_columns",
    "plan_csv",
    "plan_table",
]


def freeze(spec: SweepSpec | LoadedSpec, schema: ModelSchema) -> SweepSpec:
    """Return `spec` with every design written out as a table, a row a config in the shortest text that reads back.

    A table that keeps all its rows stays as it is, and so does a block that varies nothing.

    Args:
        spec: What to freeze.
        schema: The model it is for.

    Raises:
        ModelMismatchError: The spec is for another model.
        PlanError: The model refuses the spec, or a library that draws one of its designs is not installed.
    """
    spec = spec_of(spec)
    resolved = Plan.of(spec, schema).resolved if spec.blocks else ()
    blocks = tuple(_frozen(block, found) for block, found in zip(spec.blocks, resolved, strict=True))
    return SweepSpec(
        model=spec.model,
        fixed=spec.fixed,
        run=spec.run,
        measure=spec.measure,
        seeds=spec.seeds,
        actions=spec.actions,
        blocks=blocks,
        search=spec.search,
    )


def _frozen(block: BlockSpec, resolved: ResolvedBlock) -> BlockSpec:
    if not resolved.targets:
        return BlockSpec()
    if block.design is DesignKind.TABLE and block.where is None:
        return block
    lines = [csv_record([target.column for target in resolved.targets])]
    for position in range(resolved.design.config_count):
        row = zip(resolved.targets, resolved.design.row(position), strict=True)
        lines.append(csv_record([target.text(value) for target, value in row]))
    return BlockSpec(design=DesignKind.TABLE, table_text="".join(lines))


def plan_columns(plan: Plan) -> tuple[str, ...]:
    """Return the names of the columns: ids, seed, key, parameters in schema order, ``action.NAME`` of each action."""
    params = (param.id for param in _checked(plan).schema.params)
    return (*LEADING, *params, *(f"{ACTION}{action.label}" for action in plan.spec.actions))


def plan_table(plan: Plan, *, runs: Iterable[PlannedRun] | None = None) -> Iterator[tuple[str, ...]]:
    """Return one row of texts a run, in the order of `runs`; all runs in plan order when None.

    Texts are those of runs.csv: numbers as the shortest that read back, options by name.

    Raises:
        UsageError: `plan` is no plan.
    """
    return _rows(_checked(plan), runs)


def _checked(plan: object) -> Plan:
    if isinstance(plan, Plan):
        return plan
    raise UsageError(
        f"a plan table is made of a Plan, got {plan!r}; a spec gives one by spec.plan(entry.schema()), a sweep as "
        f"run.plan, results as ResultSet.plan"
    )


def _rows(plan: Plan, runs: Iterable[PlannedRun] | None) -> Iterator[tuple[str, ...]]:
    config: Config | None = None
    values: tuple[str, ...] = ()
    for run in plan.runs() if runs is None else runs:
        if config is None or config.config_id != run.config_id:
            config = plan.configs[run.config_id]
            values = _values(plan, config)
        yield (
            str(run.run_id),
            str(run.config_id),
            str(config.block),
            str(run.rep),
            str(run.seed),
            run_key(plan, config, run.seed),
            *values,
        )


def plan_csv(plan: Plan, runs: Iterable[PlannedRun] | None = None) -> Iterator[str]:
    """Yield the lines of the table as CSV, its header first, each ending in a line feed."""
    yield csv_record(plan_columns(plan))
    yield from map(csv_record, plan_table(plan, runs=runs))


def _values(plan: Plan, config: Config) -> tuple[str, ...]:
    params = zip(plan.schema.params, config.params, strict=True)
    return (*(param.text(value) for param, value in params), *map(str, config.action_ticks))
