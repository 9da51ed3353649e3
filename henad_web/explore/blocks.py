"""Blocks of a spec, checked and turned into designs over the slots of a config.

Owns what a block may hold (`check_shape`, which needs no model) and the resolution of its factors against a
model. How a design orders its configs is `designs`' business.
"""

from __future__ import annotations

from dataclasses import dataclass

from henad_web.errors import ProblemList
from henad_web.explore.design_table import parse_design_table
from henad_web.explore.designs import Design, FactorialDesign, ZipDesign
from henad_web.explore.factors import TablePath, Target, Targets, resolve_domain
from henad_web.explore.levels import ContinuousDomain, Domain, Levels, WholeDomain
from henad_web.explore.numbers import MAX_U64, grouped
from henad_web.explore.sampled_designs import LhsDesign, RandomDesign
from henad_web.explore.spec import BlockSpec, DesignKind

__all__ = ["MAX_CONFIGS", "ResolvedBlock", "check_shape", "resolve_block"]

MAX_CONFIGS = 2**24
"""Most configs of a plan, over all blocks."""

_SAMPLED = (DesignKind.RANDOM, DesignKind.LHS)


@dataclass(frozen=True, slots=True)
class ResolvedBlock:
    """One block, ready to give configs.

    Attributes:
        kind: Its design.
        targets: What it varies, in the order of a row's values.
        design: Rows of values by position.
        design_seed: Seed of a sampled design, None for the others.
    """

    kind: DesignKind
    targets: tuple[Target, ...]
    design: Design
    design_seed: int | None = None


def check_shape(block: BlockSpec, table: TablePath, problems: ProblemList) -> None:
    """Record what `block` must not hold, or lacks, for its design; needs no model."""
    is_sampled, is_table = block.design in _SAMPLED, block.design is DesignKind.TABLE
    design = f"a {block.design} design"
    if is_sampled:
        _check_samples(block, table, problems)
    else:
        for key, value in (("samples", block.samples), ("design_seed", block.design_seed)):
            if value is not None:
                hint = 'remove it, or write design = "lhs" or "random"'
                problems.add(table, key, f"{design} takes none", came=str(value), hint=hint)
    if is_table:
        _check_table(block, table, problems)
    else:
        for key, text in (("file", block.file), ("table_text", block.table_text)):
            if text is not None:
                hint = 'remove it, or write design = "table"'
                problems.add(table, key, f"{design} takes none", came=_short(text), hint=hint)
    if is_sampled and not block.factors:
        problems.add(table, "factors", f"{design} needs at least one factor")


def _check_samples(block: BlockSpec, table: TablePath, problems: ProblemList) -> None:
    if block.samples is None:
        hint = "add a line such as samples = 100"
        problems.add(table, "samples", f"a {block.design} design needs its number of configs", hint=hint)
    elif block.samples < 1:
        problems.add(table, "samples", "no samples", came=str(block.samples), allowed="at least 1")
    if block.design_seed is not None and not 0 <= block.design_seed <= MAX_U64:
        problems.add(table, "design_seed", "not a seed", came=str(block.design_seed), allowed="0 to 2^64 - 1")


def _check_table(block: BlockSpec, table: TablePath, problems: ProblemList) -> None:
    if block.factors:
        hint = "the header of the table names what varies; remove the factors"
        problems.add(table, "factors", "a table design takes no factors", hint=hint)
    if block.file is None and block.table_text is None:
        problems.add(table, None, "a table design needs `file` or `table_text`", hint='add file = "design.csv"')


def _short(text: str) -> str:
    first = text.splitlines()[0] if text else ""
    return repr(first if len(first) <= 40 else f"{first[:40]}...")


def resolve_block(
    block: BlockSpec, position: int, targets: Targets, design_seed: int, problems: ProblemList
) -> ResolvedBlock | None:
    """Return `block` checked against `targets`; None with the problems recorded.

    Args:
        block: The block as the spec gives it.
        position: Its position in the spec, from 0.
        targets: Everything its factors may name.
        design_seed: Seed of a sampled design that names none.
        problems: Where problems go.
    """
    table: TablePath = ("block", position)
    before = len(problems.problems)
    check_shape(block, table, problems)
    if block.design is DesignKind.TABLE:
        return _resolve_table(block, targets, table, problems)
    varied, domains = _resolve_factors(block, targets, table, problems)
    if len(problems.problems) > before:
        return None
    if block.design in _SAMPLED:
        seed = design_seed if block.design_seed is None else block.design_seed
        sampled = RandomDesign if block.design is DesignKind.RANDOM else LhsDesign
        samples = block.samples or 0
        if samples > MAX_CONFIGS:
            allowed = f"at most {grouped(MAX_CONFIGS)}"
            problems.add(table, "samples", "too many configs", came=grouped(samples), allowed=allowed)
            return None
        return ResolvedBlock(block.design, varied, sampled(domains, samples, seed), seed)
    levels = [domain for domain in domains if not isinstance(domain, ContinuousDomain | WholeDomain)]
    if block.design is DesignKind.ZIP:
        return _resolve_zip(varied, levels, table, problems)
    return ResolvedBlock(block.design, varied, FactorialDesign(levels))


def _resolve_table(block: BlockSpec, targets: Targets, table: TablePath, problems: ProblemList) -> ResolvedBlock | None:
    if block.table_text is None:
        if block.file is not None:
            wrong = "the table's file was not read"
            hint = "load the spec from its file, or give the text as table_text"
            problems.add(table, "file", wrong, came=repr(block.file), hint=hint)
        return None
    key = "table_text" if block.file is None else "file"
    parsed = parse_design_table(block.table_text, targets, table, key, problems)
    return None if parsed is None else ResolvedBlock(block.design, *parsed)


def _resolve_factors(
    block: BlockSpec, targets: Targets, table: TablePath, problems: ProblemList
) -> tuple[tuple[Target, ...], list[Domain]]:
    varied: dict[Target, int] = {}
    domains: list[Domain] = []
    for position, factor in enumerate(block.factors):
        place = (*table, "factors", position)
        target = targets.find(factor, place, problems)
        if target is None:
            continue
        if target in varied:
            key = "action" if target.param is None else "param"
            wrong = f"{target.words} is varied twice in one block"
            hint = f"factor #{varied[target] + 1} varies it already; remove one of them"
            problems.add(place, key, wrong, hint=hint)
            continue
        varied[target] = position
        domain = resolve_domain(target, factor, place, problems, sampled=block.design in _SAMPLED)
        if domain is not None:
            domains.append(domain)
    return tuple(varied), domains


def _resolve_zip(
    varied: tuple[Target, ...], levels: list[Levels], table: TablePath, problems: ProblemList
) -> ResolvedBlock | None:
    counts = [len(each) for each in levels]
    if len(set(counts)) > 1:
        came = ", ".join(f"{target.column} {count}" for target, count in zip(varied, counts, strict=True))
        wrong = "a zip needs the same number of levels in every factor"
        problems.add(table, "factors", wrong, came=came, hint='even them out, or write design = "factorial"')
        return None
    return ResolvedBlock(DesignKind.ZIP, varied, ZipDesign(levels))
