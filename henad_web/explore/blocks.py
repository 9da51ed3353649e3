"""Blocks of a spec, checked and turned into designs over the slots of a config.

Owns what a block may hold (`check_shape`, which needs no model) and the resolution of its factors against a
model. How a design orders its configs is `designs`' business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from henad_web.errors import ProblemList
from henad_web.explore.design_table import parse_design_table
from henad_web.explore.designs import Design, FactorialDesign, ZipDesign, is_listed
from henad_web.explore.factors import TablePath, Target, Targets, resolve_domain
from henad_web.explore.filtered_design import FilteredDesign, Where, bind_where
from henad_web.explore.levels import Domain, Levels
from henad_web.explore.libraries import lacking_text
from henad_web.explore.sampled_designs import (
    LhsDesign,
    MorrisDesign,
    RandomDesign,
    SaltelliDesign,
    SobolDesign,
)
from henad_web.explore.spec import BlockSpec, DesignKind, FactorSpec
from henad_web.explore.warnings import RoundedValue
from henad_web.explore.where import Expression, WhereError, parse_where
from henad_web.model.decimals import MAX_U64, grouped, whole_text
from henad_web.model.params import ParamValue

__all__ = ["MAX_CONFIGS", "ResolvedBlock", "check_shape", "check_values", "resolve_block", "resolve_factors"]

MAX_CONFIGS = 2**24
"""Most configs of a plan, over all blocks."""

_SAMPLED = (DesignKind.RANDOM, DesignKind.LHS, DesignKind.SOBOL, DesignKind.SALTELLI, DesignKind.MORRIS)
_BALANCED = (DesignKind.SOBOL, DesignKind.SALTELLI)
"""Designs whose points are balanced only in powers of two."""
_WHOLE = (DesignKind.SALTELLI, DesignKind.MORRIS)
"""Designs whose analysis takes the configs by their positions."""

DEFAULT_NUM_LEVELS = 4

MOST_NUM_LEVELS = 1 << 16
"""Most levels of the grid of a morris design: the library makes them all, and more tell no f32 apart."""


@dataclass(frozen=True, slots=True)
class ResolvedBlock:
    """One block, ready to give configs.

    Attributes:
        kind: Its design.
        targets: What it varies, in the order of a row's values.
        design: Rows of values by position.
        design_seed: Seed of a sampled design, None for the others.
        where: What its configs have to satisfy; None for nothing, and once the design holds only those.
        rounded: Parameters of a table with cells that their precision does not hold as they are written.
    """

    kind: DesignKind
    targets: tuple[Target, ...]
    design: Design
    design_seed: int | None = None
    where: Where | None = None
    rounded: tuple[RoundedValue, ...] = ()

    def filtered(self, position: int, base: Mapping[Target, ParamValue], problems: ProblemList) -> ResolvedBlock:
        """Return the block with only the configs that its `where` keeps.

        Args:
            position: Its position in the spec, from 0.
            base: The value of everything that a block may leave alone.
            problems: Where it is recorded that no config is kept.
        """
        if self.where is None:
            return self
        try:
            design = FilteredDesign.of(self.design, self.targets, self.where, base)
        except WhereError as error:
            error.add_to(problems, ("block", position), "where")
            return self
        if not design.config_count:
            came = f"0 of {grouped(self.design.config_count)} configs"
            hint = "take another comparison, or give the factors levels for which it holds"
            problems.add(("block", position), "where", "the expression keeps no config", came=came, hint=hint)
        return replace(self, design=design, where=None)


def check_shape(block: BlockSpec, table: TablePath, problems: ProblemList) -> None:
    """Record what `block` must not hold, or lacks, for its design; needs no model."""
    is_sampled = block.design in _SAMPLED
    design = f"a {block.design} design"
    _check_keys(block, table, problems)
    if is_sampled:
        _check_samples(block, table, problems)
    if block.design is DesignKind.TABLE:
        _check_table(block, table, problems)
    if is_sampled and not block.factors:
        problems.add(table, "factors", f"{design} needs at least one factor")
    if block.where is not None and block.design in _WHOLE:
        came, hint = _short(block.where), 'remove it, or write design = "sobol" or "lhs", which stay a sample when cut'
        wrong = f"{design} is analysed as a whole, every config by position: none can be left out"
        problems.add(table, "where", wrong, came=came, hint=hint)
    check_values(block if is_sampled else structs.replace(block, samples=None, design_seed=None), table, problems)


def check_values(block: BlockSpec, table: TablePath, problems: ProblemList) -> None:
    """Record values of `block` that are wrong whatever its design."""
    if block.samples is not None and block.samples < 1:
        problems.add(table, "samples", "no samples", came=whole_text(block.samples), allowed="at least 1")
    if block.design_seed is not None and not 0 <= block.design_seed <= MAX_U64:
        problems.add(table, "design_seed", "not a seed", came=whole_text(block.design_seed), allowed="0 to 2^64 - 1")
    if block.num_levels is not None and (not 2 <= block.num_levels <= MOST_NUM_LEVELS or block.num_levels % 2):
        came, allowed = whole_text(block.num_levels), f"an even number from 2 to {MOST_NUM_LEVELS}"
        problems.add(table, "num_levels", "not a number of grid levels", came=came, allowed=allowed)
    if block.where is not None:
        _parsed_where(block.where, table, problems)


def _check_keys(block: BlockSpec, table: TablePath, problems: ProblemList) -> None:
    sampled = 'design = "lhs", "random", "sobol", "saltelli" or "morris"'
    keys: tuple[tuple[str, object, tuple[DesignKind, ...], str], ...] = (
        ("samples", block.samples, _SAMPLED, sampled),
        ("design_seed", block.design_seed, _SAMPLED, sampled),
        ("second_order", block.second_order, (DesignKind.SALTELLI,), 'design = "saltelli"'),
        ("num_levels", block.num_levels, (DesignKind.MORRIS,), 'design = "morris"'),
        ("file", block.file, (DesignKind.TABLE,), 'design = "table"'),
        ("table_text", block.table_text, (DesignKind.TABLE,), 'design = "table"'),
    )
    for key, value, designs, fitting in keys:
        if value is not None and block.design not in designs:
            came = _short(value) if isinstance(value, str) else str(value).lower()
            hint = f"remove it, or write {fitting}"
            problems.add(table, key, f"a {block.design} design takes none", came=came, hint=hint)


def _parsed_where(text: str, table: TablePath, problems: ProblemList) -> Expression | None:
    try:
        return parse_where(text)
    except WhereError as error:
        error.add_to(problems, table, "where")
        return None


def _check_samples(block: BlockSpec, table: TablePath, problems: ProblemList) -> None:
    if block.samples is None:
        hint = f"add a line such as samples = {128 if block.design in _BALANCED else 100}"
        problems.add(table, "samples", f"a {block.design} design needs its number of samples", hint=hint)
    elif block.design in _BALANCED and block.samples > 0 and block.samples & (block.samples - 1):
        most = MAX_CONFIGS // _configs_a_sample(block)
        below = 1 << min(block.samples, most).bit_length() - 1
        near = f"{below} or {2 * below}" if 2 * below <= most else f"{below}"
        wrong, hint = f"a {block.design} design is balanced only in powers of two", f"write {near}"
        problems.add(table, "samples", wrong, came=whole_text(block.samples), allowed="1, 2, 4, 8 and so on", hint=hint)


def _configs_a_sample(block: BlockSpec) -> int:
    if block.design is not DesignKind.SALTELLI:
        return 1
    return SaltelliDesign.rows_a_point(len(block.factors), second_order=block.second_order is not False)


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
    where = _bound_where(block, targets, table, problems)
    if block.design is DesignKind.TABLE:
        resolved = _resolve_table(block, targets, table, problems)
    else:
        place, is_sampled = (*table, "factors"), block.design in _SAMPLED
        varied, domains = resolve_factors(block.factors, targets, place, problems, sampled=is_sampled)
        if len(problems.problems) > before:
            return None
        if block.design in _SAMPLED:
            seed = design_seed if block.design_seed is None else block.design_seed
            resolved = _resolve_sampled(block, varied, domains, seed, table, problems)
        else:
            resolved = _resolve_listed(block, varied, domains, table, problems)
    return resolved if resolved is None or where is None else replace(resolved, where=where)


def _bound_where(block: BlockSpec, targets: Targets, table: TablePath, problems: ProblemList) -> Where | None:
    before = len(problems.problems)
    # The shape's check has recorded what is wrong with the text itself.
    tree = None if block.where is None else _parsed_where(block.where, table, ProblemList())
    if tree is None or len(problems.problems) > before:
        return None
    try:
        return bind_where(tree, targets)
    except WhereError as error:
        error.add_to(problems, table, "where")
        return None


def _resolve_sampled(
    block: BlockSpec,
    varied: tuple[Target, ...],
    domains: list[Domain],
    seed: int,
    table: TablePath,
    problems: ProblemList,
) -> ResolvedBlock | None:
    lacking = lacking_text(block.design)
    if lacking is not None:
        hint = "`henad plan SPEC --freeze OUT.toml`, where henad-web[designs] is installed, makes a spec for anywhere"
        problems.add(table, "design", lacking, hint=hint)
        return None
    design = _sampled_design(block, domains, seed)
    if design.config_count > MAX_CONFIGS:
        came = f"{grouped(block.samples or 0)}, which make {grouped(design.config_count)} configs"
        allowed = f"at most {grouped(MAX_CONFIGS)} configs"
        problems.add(table, "samples", "too many configs", came=came, allowed=allowed)
        return None
    return ResolvedBlock(block.design, varied, design, seed)


def _sampled_design(block: BlockSpec, domains: list[Domain], seed: int) -> Design:
    samples = block.samples or 0
    if block.design is DesignKind.SALTELLI:
        return SaltelliDesign(domains, samples, seed, second_order=block.second_order is not False)
    if block.design is DesignKind.MORRIS:
        return MorrisDesign(domains, samples, seed, num_levels=block.num_levels or DEFAULT_NUM_LEVELS)
    if block.design is DesignKind.SOBOL:
        return SobolDesign(domains, samples, seed)
    return (
        RandomDesign(domains, samples, seed) if block.design is DesignKind.RANDOM else LhsDesign(domains, samples, seed)
    )


def _resolve_listed(
    block: BlockSpec, varied: tuple[Target, ...], domains: list[Domain], table: TablePath, problems: ProblemList
) -> ResolvedBlock | None:
    levels = [domain for domain in domains if is_listed(domain)]
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
    if parsed is None:
        return None
    varied, design, rounded = parsed
    return ResolvedBlock(block.design, varied, design, rounded=rounded)


def resolve_factors(
    factors: Sequence[FactorSpec], targets: Targets, table: TablePath, problems: ProblemList, *, sampled: bool
) -> tuple[tuple[Target, ...], list[Domain]]:
    """Return what `factors`, the list at `table`, vary and what each of them takes; the rest is recorded as problems.

    Args:
        factors: The factors.
        targets: Everything they may name.
        table: Place of the list.
        problems: Where problems go.
        sampled: Whether a range without a step means its whole domain.
    """
    varied: dict[Target, int] = {}
    domains: list[Domain] = []
    for position, factor in enumerate(factors):
        place = (*table, position)
        target = targets.find(factor, place, problems)
        if target is None:
            continue
        if target in varied:
            key = "action" if target.param is None else "param"
            wrong = f"{target.words} is varied twice in one {table[0]}"
            hint = f"factor #{varied[target] + 1} varies it already; remove one of them"
            problems.add(place, key, wrong, hint=hint)
            continue
        varied[target] = position
        domain = resolve_domain(target, factor, place, problems, sampled=sampled)
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
