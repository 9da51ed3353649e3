"""Freezing a spec: its designs written out as tables, so that the plan needs no library, seed or expression.

Owns which blocks become tables and what stands in them. The frozen spec has the configs, runs and run keys of the spec
it was made from; its plan hash is another one, since its designs are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from henad_web.explore.blocks import ResolvedBlock
from henad_web.explore.design_table import csv_record
from henad_web.explore.factors import Target
from henad_web.explore.plan import Plan
from henad_web.explore.spec import BlockSpec, DesignKind, SweepSpec
from henad_web.model.params import ParamValue

if TYPE_CHECKING:
    from henad_web.model.schema import ModelSchema

__all__ = ["freeze"]


def freeze(spec: SweepSpec, schema: ModelSchema) -> SweepSpec:
    """Return `spec` with every design written out as a table, a row a config in the shortest text that reads back.

    A table that keeps all its rows stays as it is, and so does a block that varies nothing.

    Args:
        spec: What to freeze.
        schema: The model it is for.

    Raises:
        ModelMismatchError: The spec is for another model.
        PlanError: The model refuses the spec, or a library that draws one of its designs is not installed.
    """
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
    )


def _frozen(block: BlockSpec, resolved: ResolvedBlock) -> BlockSpec:
    if not resolved.targets:
        return BlockSpec()
    if block.design is DesignKind.TABLE and block.where is None:
        return block
    lines = [csv_record([target.column for target in resolved.targets])]
    for position in range(resolved.design.config_count):
        row = zip(resolved.targets, resolved.design.row(position), strict=True)
        lines.append(csv_record([_text(target, value) for target, value in row]))
    return BlockSpec(design=DesignKind.TABLE, table_text="".join(lines))


def _text(target: Target, value: ParamValue) -> str:
    return str(value) if target.param is None else target.param.text(value)
