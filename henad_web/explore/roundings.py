"""Values that a spec writes and that its model does not get: decimals between two numbers of a parameter's precision.

Owns which values a spec writes one by one: those of `[set]`, listed levels, ends of ranges and cells of design tables.
What a range steps over or a design draws is not written by anybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from henad_web.explore.levels import ContinuousDomain, DecimalLevels, Domain, SteppedLevels
from henad_web.explore.shown_numbers import shown_numbers
from henad_web.explore.spec import BlockSpec, RangeLevels, SpecValue, SweepSpec, ValueLevels
from henad_web.explore.warnings import RoundedValue
from henad_web.model.params import ParamKind

if TYPE_CHECKING:
    from henad_web.explore.blocks import ResolvedBlock
    from henad_web.model.params import Param
    from henad_web.model.schema import ModelSchema

__all__ = ["EXACT_DIGITS", "rounded_among", "rounded_values"]

EXACT_DIGITS = 15
"""A decimal of so many letters has no more digits than any double keeps."""


def rounded_values(spec: SweepSpec, schema: ModelSchema, resolved: Sequence[ResolvedBlock]) -> Iterator[RoundedValue]:
    """Yield a warning for each parameter with values that are written and rounded, in schema order.

    Args:
        spec: A spec that `schema` does not refuse.
        schema: The model.
        resolved: The blocks of `spec`, resolved.
    """
    fixed = {name: (value,) for name, value in spec.fixed}
    warnings = [
        rounded_among(param, map(_text_of, fixed[param.id]))
        for param in schema.params
        if param.kind.is_real and param.id in fixed
    ]
    for block, found in zip(spec.blocks, resolved, strict=False):
        warnings += found.rounded
        warnings += [rounded_among(param, map(_text_of, values)) for param, values in _written_in(block, found)]
    for param in schema.params:
        own = [warning for warning in warnings if warning is not None and warning.param == param.id]
        if own:
            first, more = own[0], sum(warning.more + 1 for warning in own) - 1
            yield RoundedValue(first.param, first.written, first.used, first.shown, more)


def _text_of(value: SpecValue) -> str:
    return value.strip() if isinstance(value, str) else repr(value)


def _written_in(block: BlockSpec, found: ResolvedBlock) -> Iterator[tuple[Param, Iterable[SpecValue]]]:
    if not block.factors:
        return
    for target, factor, domain in zip(found.targets, block.factors, found.design.domains, strict=True):
        if target.param is None or not target.is_real:
            continue
        if isinstance(factor.levels, ValueLevels):
            yield target.param, factor.levels.values
        elif isinstance(factor.levels, RangeLevels):
            yield target.param, _ends_of(factor.levels, domain)


def _ends_of(levels: RangeLevels, domain: Domain) -> Iterator[SpecValue]:
    yield levels.min
    lands = isinstance(domain, SteppedLevels | DecimalLevels) and domain.last == float(levels.max)
    if lands or isinstance(domain, ContinuousDomain):
        yield levels.max


def rounded_among(param: Param, written: Iterable[str]) -> RoundedValue | None:
    """Return the warning of those of `written` that `param`, an f32 or f64, does not hold; None without any.

    Args:
        param: The parameter.
        written: Decimals that it takes.
    """
    texts = tuple(dict.fromkeys(written))
    numbers = np.array(list(map(float, texts)), np.float64)
    rounded = np.zeros(len(texts), np.bool_)
    if param.kind is ParamKind.F32:
        with np.errstate(under="ignore"):
            # Two decimals that give two doubles are not the same.
            rounded = numbers != shown_numbers(numbers.astype(np.float32))
    for position, (text, number) in enumerate(zip(texts, numbers.tolist(), strict=True)):
        if len(text) > EXACT_DIGITS and not rounded[position] and repr(number) != text:
            rounded[position] = Decimal(text) != Decimal(_shown(param, text))
    positions = np.flatnonzero(rounded)
    if not len(positions):
        return None
    text = texts[positions[0]]
    used, shown = float(param.coerce(text)), _shown(param, text)
    return RoundedValue(param.id, text, str(int(used)) if used.is_integer() else shown, shown, len(positions) - 1)


def _shown(param: Param, text: str) -> str:
    return param.text(param.coerce(text))
