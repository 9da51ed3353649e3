"""A plan: every config, run, seed and key of a spec over a model, fixed before anything runs.

Owns the numbering of configs and runs. Configs are addressed by position and never listed, so a plan's memory
does not grow with their number. Runs nothing and writes nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, overload

from henad_web.errors import ModelMismatchError, PlanError, ProblemList, UsageError, counted
from henad_web.explore import checks, hashes
from henad_web.explore.blocks import MAX_CONFIGS, ResolvedBlock, resolve_block
from henad_web.explore.conditions import CompoundStop, understood_stop
from henad_web.explore.designs import FactorialDesign
from henad_web.explore.factors import Target, Targets
from henad_web.explore.hashes import hash_plan
from henad_web.explore.outcomes import PlannedRun
from henad_web.explore.plan_remarks import PlannedFactor, planned_factors, repeated_configs, repeated_levels
from henad_web.explore.search_checks import ResolvedSpace, check_search, resolve_space
from henad_web.explore.seeds import derived_design_seed, seed_of
from henad_web.explore.spec import DesignKind, StopSpec, SweepSpec, spec_of
from henad_web.explore.warnings import ActionAfterEnd, NoTime, PlanWarning, SparseSamples, rounded_values
from henad_web.markup import facts_html
from henad_web.model.decimals import MAX_U64, grouped, whole_text
from henad_web.model.params import ParamValue
from henad_web.model.schema import ModelSchema, Schedule, ScheduledAction, schedule_of
from henad_web.wording import block_facts, size_text

if TYPE_CHECKING:
    from henad_web.explore.spec_file import LoadedSpec
    from henad_web.model.tables import Table

__all__ = ["MAX_CONFIGS", "MAX_RUNS", "Config", "ConfigSequence", "Plan", "PlannedBlock"]

MAX_RUNS = 2**24
"""Most runs of a plan."""


@dataclass(frozen=True, slots=True)
class Config:
    """One combination of values.

    Attributes:
        config_id: Position in the plan, from 0.
        block: Position of the block it comes from, from 0.
        params: Canonical value of every parameter, in schema order.
        action_ticks: Tick of every action entry, in the spec's order.
    """

    config_id: int
    block: int
    params: tuple[ParamValue, ...]
    action_ticks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlannedBlock:
    """One block of a plan.

    Attributes:
        design: Name of its design.
        first_config: Id of its first config.
        config_count: Number of its configs.
        design_seed: Seed of a sampled design, None for the others.
        factors: What varies and what it takes, for people to read; empty for a table.
    """

    design: str
    first_config: int
    config_count: int
    design_seed: int | None = None
    factors: tuple[PlannedFactor, ...] = ()


class ConfigSequence(Sequence[Config]):
    """The configs of a plan, computed when asked for."""

    __slots__ = ("_blocks", "_params", "_starts", "_ticks")

    def __init__(self, blocks: Sequence[ResolvedBlock], params: Sequence[ParamValue], ticks: Sequence[int]) -> None:
        """Number the configs of `blocks` in order; `params` and `ticks` hold what a block leaves alone."""
        self._blocks = tuple(blocks)
        self._params, self._ticks = tuple(params), tuple(ticks)
        self._starts = [0]
        for block in self._blocks:
            self._starts.append(self._starts[-1] + block.design.config_count)

    def __repr__(self) -> str:
        """Return the facts on one line."""
        return f"<ConfigSequence of {counted(len(self), 'config')}>"

    def __len__(self) -> int:
        """Return the number of configs."""
        return self._starts[-1]

    @overload
    def __getitem__(self, position: int) -> Config: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Config]: ...

    def __getitem__(self, position: int | slice) -> Config | Sequence[Config]:
        """Return one config, or a tuple of those a slice covers."""
        if isinstance(position, slice):
            return tuple(self[index] for index in range(*position.indices(len(self))))
        config_id = position + len(self) if position < 0 else position
        if not 0 <= config_id < len(self):
            raise IndexError(f"config {position} of {len(self)}")
        number = bisect_right(self._starts, config_id) - 1
        block = self._blocks[number]
        params, ticks = list(self._params), list(self._ticks)
        row = block.design.row(config_id - self._starts[number])
        for target, value in zip(block.targets, row, strict=True):
            if target.param is None:
                ticks[target.slot] = int(value)
            else:
                params[target.slot] = value
        return Config(config_id, number, tuple(params), tuple(ticks))


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """Everything a sweep will run. Made by `Plan.of`.

    Attributes:
        spec: The spec it was made from.
        schema: The model it is for.
        blocks: Its blocks in order; one of an empty factorial when the spec has none.
        configs: Its configs, a sequence that computes them when asked for.
        resolved: Its blocks as designs over the slots of a config, in order.
        search_space: What a search varies; None for a sweep. The plan of a search has one config, of the values that
            are fixed: the search chooses its own.
    """

    spec: SweepSpec
    schema: ModelSchema
    blocks: tuple[PlannedBlock, ...]
    configs: ConfigSequence
    resolved: tuple[ResolvedBlock, ...]
    search_space: ResolvedSpace | None = None

    @classmethod
    def of(cls, spec: SweepSpec | LoadedSpec, schema: ModelSchema, *, allow_name_clashes: bool = False) -> Plan:
        """Return the plan of `spec` over the model that `schema` describes.

        Args:
            spec: What to run.
            schema: The model.
            allow_name_clashes: Accept a model whose statistics or parameters are named like file columns, as
                folders written before that was refused may need.

        Raises:
            UsageError: `spec` is no spec, or `schema` no schema.
            ModelMismatchError: The spec is for another model.
            PlanError: The model refuses the spec; every problem is in it.
        """
        spec = spec_of(spec)
        if not isinstance(schema, ModelSchema):
            raise UsageError(f"the schema is {whole_text(schema)}; allowed: that of a model, entry.schema()")
        if spec.model != schema.model:
            raise ModelMismatchError(spec.model, schema.model)
        problems = ProblemList()
        checks.check_lengths(spec, problems)
        checks.check_tables(spec, schema, problems)
        checks.check_seeds(spec, problems)
        checks.check_columns(spec, schema.stat_labels, problems)
        checks.check_until(spec, schema.stat_labels, problems)
        checks.check_actions(spec, schema.action_ids, problems)
        base = checks.check_fixed(spec, schema, problems)
        targets = _targets(spec, schema)
        if not allow_name_clashes:
            checks.check_names(schema, targets, problems)
        resolved = _resolve_blocks(spec, targets, problems)
        space = _resolve_space(spec, targets, schema, problems)
        if problems.problems:
            raise PlanError(problems.problems)
        resolved = _filtered(resolved, _base_values(spec, targets, base), problems)
        _check_counts(spec, resolved)
        configs = ConfigSequence(resolved, base, [action.tick for action in spec.actions])
        blocks = _numbered(resolved)
        return cls(
            spec=spec, schema=schema, blocks=blocks, configs=configs, resolved=tuple(resolved), search_space=space
        )

    def __repr__(self) -> str:
        """Return the facts on one line."""
        least, each = self.least_replicates, counted(self.replicates, "replicate")
        each, most = (each, "") if least is None else (f"{least} to {each}", "up to ")
        size = f"{counted(self.config_count, 'config')} x {each}"
        return f"<Plan of '{self.schema.model}': {size} = {most}{counted(self.run_count, 'run')}>"

    def _repr_html_(self) -> str:
        size = size_text(self.config_count, self.replicates, self.run_count, least=self.least_replicates)
        return facts_html(f"plan of {self.schema.model}: {size}", self._facts())

    def _facts(self) -> Iterator[tuple[str, str]]:
        yield from block_facts(self.blocks)
        for number, action in enumerate(self.spec.actions):
            yield "" if number else "actions", f"{action.label} at tick {action.tick}"
        yield "steps", f"{self.total_ticks:,}"
        yield "seeds", f"root {self.spec.seeds.root}, {self.spec.seeds.scheme}"

    @property
    def replicates(self) -> int:
        """Runs of each config, the most there may be where they are adaptive."""
        return self.spec.run.most_replicates

    @property
    def least_replicates(self) -> int | None:
        """Fewest runs of a config where replicates are adaptive, None where all have as many."""
        return None if self.spec.run.adaptive is None else self.spec.run.least_replicates

    @property
    def config_count(self) -> int:
        """Number of configs, at most `MAX_CONFIGS`."""
        return len(self.configs)

    @property
    def run_count(self) -> int:
        """Number of runs, at most `MAX_RUNS`; the most there may be where replicates are adaptive."""
        return self.config_count * self.replicates

    @property
    def warmup(self) -> int:
        """Ticks before the first sample."""
        return self.spec.run.warmup

    @property
    def total_ticks(self) -> int:
        """Last tick of a run, ``warmup + steps``."""
        return self.spec.run.warmup + self.spec.run.steps

    @property
    def tables(self) -> tuple[Table, ...]:
        """The model's own tables that are kept, in the order it declares them."""
        return tuple(table for table in self.schema.tables if table.id in self.spec.measure.tables)

    @property
    def table_kinds(self) -> dict[str, dict[str, str]]:
        """Kinds of the columns of these tables by id, as a manifest keeps them."""
        return {table.id: {name: str(kind) for name, kind in table.columns.items()} for table in self.tables}

    @cached_property
    def stop(self) -> StopSpec | CompoundStop | None:
        """What ends a run early, as the model's statistics let the spec's text be understood."""
        stop = self.spec.run.stop
        return None if stop is None else understood_stop(stop, self.schema.stat_labels)

    def run(self, run_id: int) -> PlannedRun:
        """Return the run at `run_id`, 0 to ``run_count - 1``.

        Raises:
            IndexError: There is no such run.
        """
        if not 0 <= run_id < self.run_count:
            raise IndexError(f"run {run_id} of {self.run_count}")
        config_id, rep = divmod(run_id, self.replicates)
        return PlannedRun(run_id, config_id, rep, seed_of(self.spec.seeds, config_id, rep))

    def runs(self) -> Iterator[PlannedRun]:
        """Yield every run in plan order."""
        return map(self.run, range(self.run_count))

    def run_key(self, run: PlannedRun) -> str:
        """Return the 16 hex digits that name the results of `run`, the same in any plan."""
        return hashes.run_key(self, self.configs[run.config_id], run.seed)

    @cached_property
    def results_fingerprint(self) -> str:
        """Hash of what all runs share, 16 hex digits."""
        return hashes.results_fingerprint(self).hex()

    @cached_property
    def plan_hash(self) -> str:
        """Hash of the whole plan, 16 hex digits; the first access walks every config."""
        return next(value for _, value in hash_plan(self) if value is not None)

    def hashing(self) -> Iterator[float]:
        """Make `plan_hash` piece by piece: yield the share done, 0 to 1, after each of about 2 ms.

        Once 1 was yielded, `plan_hash` costs nothing; an iterator that is left early changes nothing.
        """
        if "plan_hash" in self.__dict__:
            yield 1.0
            return
        for share, value in hash_plan(self):
            if value is not None:
                self.__dict__["plan_hash"] = value
            yield share

    def schedule(self, config: Config) -> Schedule:
        """Return the actions of `config` by tick; those of one tick in the spec's order."""
        return schedule_of(
            ScheduledAction(tick, action.id, action.label)
            for action, tick in zip(self.spec.actions, config.action_ticks, strict=True)
        )

    def warnings(self) -> tuple[PlanWarning, ...]:
        """Return what is allowed and probably not meant.

        That is actions past the last tick, values that are rounded, levels and configs that are there twice,
        samples further apart than a run is long, and a timeout of no time.
        """
        blocks = list(enumerate(self.resolved))
        found: list[PlanWarning | None] = [self._action_warning(slot) for slot in range(len(self.spec.actions))]
        found += rounded_values(self.spec, self.schema, self.resolved)
        found += [warning for position, block in blocks for warning in repeated_levels(position, block)]
        found += [repeated_configs(position, block) for position, block in blocks]
        steps, cadence = self.spec.run.steps, self.spec.measure.stats_every
        found.append(SparseSamples(cadence, steps) if 0 < steps < cadence else None)
        found.append(NoTime() if self.spec.run.timeout_s == 0 else None)
        return tuple(warning for warning in found if warning is not None)

    def _action_warning(self, slot: int) -> ActionAfterEnd | None:
        if self.search_space is not None and any(each.is_tick_of(slot) for each in self.search_space.targets):
            return None  # no run has the tick that the spec gives it
        action, last, latest, count = self.spec.actions[slot], self.total_ticks, 0, 0
        for block in self.resolved:
            configs, tick = _late_ticks(block, slot, action.tick, last)
            latest, count = max(latest, tick), count + configs
        return ActionAfterEnd(action.label, latest, last, count) if count else None


def _late_ticks(block: ResolvedBlock, slot: int, base_tick: int, last_tick: int) -> tuple[int, int]:
    for position, target in enumerate(block.targets):
        if target.is_tick_of(slot):
            return block.design.late_ticks(position, last_tick)
    return (block.design.config_count, base_tick) if base_tick > last_tick else (0, 0)


def _targets(spec: SweepSpec, schema: ModelSchema) -> Targets:
    actions: dict[str, Target] = {}
    for slot, action in enumerate(spec.actions):
        actions.setdefault(action.label, Target(action.label, slot, None))
    scheduled = {action.id for action in spec.actions}
    return Targets(
        params={param.id: Target(param.id, slot, param) for slot, param in enumerate(schema.params)},
        actions=actions,
        unscheduled=tuple(id for id in schema.action_ids if id not in scheduled),
        constants=schema.constants,
    )


def _resolve_blocks(spec: SweepSpec, targets: Targets, problems: ProblemList) -> list[ResolvedBlock]:
    if not 0 <= spec.seeds.root <= MAX_U64:  # `checks` has told it
        return []
    if not spec.blocks:
        return [ResolvedBlock(DesignKind.FACTORIAL, (), FactorialDesign(()))]
    resolved = []
    for position, block in enumerate(spec.blocks):
        seed = derived_design_seed(spec.seeds.root, position)
        found = resolve_block(block, position, targets, seed, problems)
        if found is not None:
            checks.check_varied_and_fixed(position, block, found.targets, spec, problems)
            resolved.append(found)
    return resolved


def _resolve_space(
    spec: SweepSpec, targets: Targets, schema: ModelSchema, problems: ProblemList
) -> ResolvedSpace | None:
    if spec.search is None:
        return None
    check_search(spec, spec.search, schema.stat_labels, problems)
    return resolve_space(spec.search, frozenset(name for name, _ in spec.fixed), targets, problems)


def _base_values(spec: SweepSpec, targets: Targets, base: Sequence[ParamValue]) -> dict[Target, ParamValue]:
    params = {target: base[target.slot] for target in targets.params.values()}
    ticks = {target: spec.actions[target.slot].tick for target in targets.actions.values()}
    return {**params, **ticks}


def _filtered(
    resolved: Sequence[ResolvedBlock], base: dict[Target, ParamValue], problems: ProblemList
) -> list[ResolvedBlock]:
    """Return the blocks with the configs that each one's `where` keeps; every config of such a block is looked at."""
    for position, block in enumerate(resolved):
        if block.where is not None and block.design.config_count > MAX_CONFIGS:
            wrong = f"{grouped(block.design.config_count)} configs to look at, the limit is {grouped(MAX_CONFIGS)}"
            problems.add(("block", position), "where", wrong, hint="use fewer levels; a limit holds before the filter")
    if problems.problems:
        raise PlanError(problems.problems)
    kept = [block.filtered(position, base, problems) for position, block in enumerate(resolved)]
    if problems.problems:
        raise PlanError(problems.problems)
    return kept


def _check_counts(spec: SweepSpec, resolved: Sequence[ResolvedBlock]) -> None:
    problems = ProblemList()
    configs = sum(block.design.config_count for block in resolved)
    replicates = spec.run.most_replicates
    runs = configs * replicates
    if configs > MAX_CONFIGS:
        wrong = f"{grouped(configs)} configs, the limit is {grouped(MAX_CONFIGS)}"
        largest = max(range(len(resolved)), key=lambda position: resolved[position].design.config_count)
        hint = 'use fewer levels, or sample with design = "lhs"'
        problems.add(("block", largest), None, wrong, hint=hint)
    elif runs > MAX_RUNS:
        wrong = f"{grouped(runs)} runs, the limit is {grouped(MAX_RUNS)}"
        came = f"{grouped(configs)} configs x {grouped(replicates)} replicates"
        problems.add(("run",), "replicates", wrong, came=came, hint="use fewer replicates or fewer configs")
    if problems.problems:
        raise PlanError(problems.problems)


def _numbered(resolved: Sequence[ResolvedBlock]) -> tuple[PlannedBlock, ...]:
    blocks, first = [], 0
    for block in resolved:
        count = block.design.config_count
        blocks.append(PlannedBlock(block.kind.value, first, count, block.design_seed, planned_factors(block)))
        first += count
    return tuple(blocks)
