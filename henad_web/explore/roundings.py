"""Values that a spec writes and that its model does not get: decimals between two numbers of a parameter's precision.

Owns which values a spec writes one by one: those of `[set]`, listed levels, ends of ranges and cells of design tables.
What a range steps over or a design draws is not written by anybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from henad_web.explore.design_table import parse_csv
from henad_web.explore.levels import ContinuousDomain, DecimalLevels, Domain, SteppedLevels
from henad_web.explore.spec import BlockSpec, RangeLevels, SpecValue, SweepSpec, ValueLevels
from henad_web.explore.warnings import RoundedValue

if TYPE_CHECKING:
    from henad_web.explore.blocks import ResolvedBlock
    from henad_web.model.params import Param
    from henad_web.model.schema import ModelSchema

__all__ = ["rounded_values"]

_Written = tuple["Param", Iterable[SpecValue]]


def rounded_values(spec: SweepSpec, schema: ModelSchema, resolved: Sequence[ResolvedBlock]) -> Iterator[RoundedValue]:
    """Yield a warning for each parameter with values that are written and rounded, in schema order.

    Args:
        spec: A spec that `schema` does not refuse.
        schema: The model.
        resolved: The blocks of `spec`, resolved.
    """
    written: dict[str, dict[SpecValue, None]] = {param.id: {} for param in schema.params if param.kind.is_real}
    for name, value in spec.fixed:
        if name in written:
            written[name][value] = None
    for block, found in zip(spec.blocks, resolved, strict=False):
        for param, values in _values_of(block, found):
            written[param.id].update(dict.fromkeys(values))
    for id, values in written.items():
        warning = _warning_of(schema.param(id), values)
        if warning is not None:
            yield warning


def _values_of(block: BlockSpec, found: ResolvedBlock) -> Iterator[_Written]:
    params = [target.param for target in found.targets]
    if block.table_text is not None:
        if any(param is not None and param.kind.is_real for param in params):
            yield from _cells_of(block.table_text, params)
        return
    for param, factor, domain in zip(params, block.factors, found.design.domains, strict=True):
        if param is None or not param.kind.is_real:
            continue
        if isinstance(factor.levels, ValueLevels):
            yield param, factor.levels.values
        elif isinstance(factor.levels, RangeLevels):
            yield param, _ends_of(factor.levels, domain)


def _cells_of(text: str, params: Sequence[Param | None]) -> Iterator[_Written]:
    _, *rows = parse_csv(text)
    for place, param in enumerate(params):
        if param is not None and param.kind.is_real:
            yield param, {fields[place] for _, fields in rows}


def _ends_of(levels: RangeLevels, domain: Domain) -> Iterator[SpecValue]:
    yield levels.min
    lands = isinstance(domain, SteppedLevels | DecimalLevels) and domain.last == float(levels.max)
    if lands or isinstance(domain, ContinuousDomain):
        yield levels.max


def _warning_of(param: Param, values: Iterable[SpecValue]) -> RoundedValue | None:
    first, more = None, 0
    for value in values:
        text = value.strip() if isinstance(value, str) else repr(value)
        used = float(param.coerce(value))
        shown = param.text(used)
        if text == shown or Decimal(text) == Decimal(shown):
            continue
        if first is None:
            first = text, str(int(used)) if used.is_integer() else shown, shown
        else:
            more += 1
    if first is None:
        return None
    written, exact, shown = first
    return RoundedValue(param.id, written, exact, shown, more)
