"""Hashes that name results and plans (reference engine, section 5.4).

Owns what enters each hash and in which order, and the bytes of many configs at once. Only what affects a result enters:
replicates and timeout do not, so that a study can be extended; of adaptive replicates all but their `max` enters the
hash of the plan. That hash is taken over columns of configs in bounded pieces. FNV itself is `henad_web.model.fnv`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.conditions import CompoundStop
from henad_web.explore.designs import Column, TableLevels, float_bits
from henad_web.explore.factors import Target
from henad_web.explore.levels import ContinuousDomain, Domain, Levels, SteppedLevels, WholeDomain
from henad_web.explore.reducers import parse_kind
from henad_web.explore.seeds import scheme_text, seeds_of
from henad_web.model.fnv import Fnv1a64, fold_each, fold_rows
from henad_web.model.params import Param, ParamValue

if TYPE_CHECKING:
    from henad_web.explore.adaptive_spec import AdaptiveReplicates
    from henad_web.explore.blocks import ResolvedBlock
    from henad_web.explore.plan import Config, Plan

__all__ = [
    "config_head",
    "hash_plan",
    "plan_head",
    "results_fingerprint",
    "run_head",
    "run_key",
    "run_keys",
    "seeded_key",
    "write_config",
]


def results_fingerprint(plan: Plan) -> Fnv1a64:
    """Return the hash of everything all runs of `plan` share: model, length, stop, measuring, action ids."""
    run, measure, stop = plan.spec.run, plan.spec.measure, plan.stop
    fnv = Fnv1a64().text("henad.results.2").u64(int(plan.schema.schema_hash, 16)).u64(run.warmup).u64(run.steps)
    if stop is None:
        fnv.byte(0)
    elif isinstance(stop, CompoundStop):
        fnv.byte(2).text(stop.text).u64(stop.min_tick)
    else:
        fnv.byte(1).text(stop.column).text(stop.comparison).f64(stop.threshold + 0.0).u64(stop.min_tick)
    fnv.u64(measure.stats_every).u64(measure.series_cadence).byte(int(measure.default_reducers))
    fnv.u64(len(measure.reducers))
    for reducer in measure.reducers:
        fnv.text(reducer.column).text(parse_kind(reducer.kind).text)
    fnv.u64(len(plan.spec.actions))
    for action in plan.spec.actions:
        fnv.text(action.id)
    return fnv


def write_config(fnv: Fnv1a64, plan: Plan, config: Config) -> Fnv1a64:
    """Write the values of `config`, then its ticks, to `fnv`, and return it."""
    fnv.u64(len(config.params))
    for param, value in zip(plan.schema.params, config.params, strict=True):
        fnv.value(param, value)
    fnv.u64(len(config.action_ticks))
    for tick in config.action_ticks:
        fnv.u64(tick)
    return fnv


def run_head(plan: Plan) -> Fnv1a64:
    """Return the hash of every run key of `plan` up to the config, by `write_config`, and the seed."""
    return Fnv1a64().text("henad.run.2").u64(int(plan.results_fingerprint, 16))


def run_key(plan: Plan, config: Config, seed: int) -> str:
    """Return the 16 hex digits that name the results of `config` run with `seed`, in whatever plan."""
    return seeded_key(config_head(plan, config), seed)


def config_head(plan: Plan, config: Config) -> int:
    """Return the hash of every run key of `config` up to the seed."""
    return write_config(run_head(plan), plan, config).value_int


def seeded_key(head: int, seed: int) -> str:
    """Return the run key behind the `head` of its config."""
    return Fnv1a64(head).u64(seed).hex()


def plan_head(plan: Plan) -> Fnv1a64:
    """Return the hash of `plan` up to its first config; for each config its block follows, then `write_config`."""
    seeds, adaptive = plan.spec.seeds, plan.spec.run.adaptive
    fnv = Fnv1a64().text("henad.plan.2").u64(int(plan.results_fingerprint, 16)).u64(seeds.root).text(scheme_text(seeds))
    if adaptive is not None:
        _write_adaptive(fnv, adaptive)
    fnv.u64(len(plan.spec.actions))
    for action in plan.spec.actions:
        fnv.text(action.label)
    fnv.u64(len(plan.blocks))
    for block in plan.blocks:
        fnv.text(block.design)
        fnv.byte(0) if block.design_seed is None else fnv.byte(1).u64(block.design_seed)
    return fnv.u64(plan.config_count)


def _write_adaptive(fnv: Fnv1a64, adaptive: AdaptiveReplicates) -> None:
    """Write what decides which replicates there are; their `max` may be raised later, as plain replicates may."""
    fnv.text("henad.adaptive.1").u64(adaptive.min).u64(len(adaptive.until))
    for precision in adaptive.until:
        is_relative = precision.relative is not None
        width = precision.relative if is_relative else precision.half_width
        fnv.text(precision.column).byte(int(is_relative)).f64(width or 0.0)
        fnv.f64(precision.confidence).text(precision.interval.value)


_PIECE_BYTES = 1 << 17
"""Bytes folded at a time: about 2 ms, two to four times that in a browser."""

_FEW_LEVELS = 4096
"""Levels whose bytes are kept; of a factor with more, those of each piece are made when it comes."""

_LITTLE = np.dtype("<u8")

_NUMBER = 8
"""Bytes of the block's number, which stand before each config in a plan's hash and in no run key."""

_Entry = TypeVar("_Entry", bound=np.generic)
Rows = NDArray[np.uint8]
Flags = NDArray[np.bool_]


class _Written(Fnv1a64):
    """The bytes that a hash would take.

    Attributes:
        data: The bytes.
        values: Where those of each parameter value stand.
    """

    __slots__ = ("data", "values")

    def __init__(self) -> None:
        super().__init__()
        self.data = bytearray()
        self.values: list[tuple[int, int]] = []

    def byte(self, byte: int) -> Fnv1a64:
        """Keep one byte."""
        self.data.append(byte)
        return self

    def u64(self, number: int) -> Fnv1a64:
        """Keep eight bytes."""
        self.data += number.to_bytes(8, "little")
        return self

    def bytes(self, data: bytes) -> Fnv1a64:
        """Keep bytes as they are."""
        self.data += data
        return self

    def value(self, param: Param, value: ParamValue) -> Fnv1a64:
        """Keep the bytes of a value, and their position."""
        start = len(self.data)
        super().value(param, value)
        self.values.append((start, len(self.data)))
        return self


def hash_plan(plan: Plan) -> Iterator[tuple[float, str | None]]:
    """Yield the share done, 0 to 1, after each piece of the configs of `plan`, and with the last share the hash."""
    fnv, done = plan_head(plan), 0
    for number, block in enumerate(plan.resolved):
        count = block.design.config_count
        if not count:
            continue
        configs = _BlockBytes(plan, number, block)
        for first in range(0, count, configs.piece):
            last = min(first + configs.piece, count)
            fnv.value_int = fold_rows(fnv.value_int, *configs.rows(first, last))
            done += last - first
            if done < plan.config_count:
                yield done / plan.config_count, None
    yield 1.0, fnv.hex()


def run_keys(plan: Plan, run_ids: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the number of ``plan.run_key`` of each of `run_ids`, ``(n,)``, all runs of `plan` in any order."""
    config_ids, reps = np.divmod(run_ids, plan.replicates)
    wanted, positions = np.unique(config_ids, return_inverse=True)
    head = np.full(1, run_head(plan).value_int, np.uint64)
    parts = [np.zeros(0, np.uint64)]
    for number, block in enumerate(plan.resolved):
        first_config, count = plan.blocks[number].first_config, block.design.config_count
        inside = wanted[np.searchsorted(wanted, first_config) : np.searchsorted(wanted, first_config + count)]
        if len(inside):
            parts += _folded_configs(head, _BlockBytes(plan, number, block), (inside - first_config).astype(np.intp))
    seeds = seeds_of(plan.spec.seeds, config_ids, reps)
    return fold_each(np.concatenate(parts)[positions], seeds.astype(_LITTLE).view(np.uint8).reshape(-1, 8))


def _folded_configs(
    head: NDArray[np.uint64], configs: _BlockBytes, wanted: NDArray[np.intp]
) -> Iterator[NDArray[np.uint64]]:
    """Yield the hashes after `head` and each of the `wanted` configs of a block, ascending, piece by piece."""
    while len(wanted):
        first, last = int(wanted[0]), min(int(wanted[0]) + configs.piece, int(wanted[-1]) + 1)
        met = int(np.searchsorted(wanted, last))
        (rows, taken), positions = configs.rows(first, last), wanted[:met] - first
        counted = None if taken is None else taken[positions, _NUMBER:]
        yield fold_each(np.broadcast_to(head, met), rows[positions, _NUMBER:], counted)
        wanted = wanted[met:]


class _BlockBytes:
    """What a hash takes of the configs of one block.

    Attributes:
        piece: Configs to look at together.
    """

    def __init__(self, plan: Plan, number: int, block: ResolvedBlock) -> None:
        first = plan.configs[plan.blocks[number].first_config]
        written = _Written()
        write_config(written.u64(number), plan, first)
        self._template = np.frombuffer(bytes(written.data), np.uint8)
        self._design = block.design
        end = len(written.data)
        ticks = [(end - 8 * position, end - 8 * (position - 1)) for position in range(len(first.action_ticks), 0, -1)]
        slots = (
            (ticks if target.param is None else written.values)[target.slot] + (position, target)
            for position, target in enumerate(block.targets)
        )
        self._slots = [
            (start, stop, position, _reader(target, block.design.domains[position], self._template[start:stop]))
            for start, stop, position, target in sorted(slots, key=lambda slot: slot[0])
        ]
        self.piece = max(_PIECE_BYTES // len(self._template), 1)

    def rows(self, first: int, last: int) -> tuple[Rows, Flags | None]:
        """Return the bytes of the configs `first` to ``last - 1``, uint8 ``(n, width)``.

        The second array, bool of the same shape, says which of them count; None when all do.
        """
        columns = self._design.columns(first, last) if self._slots else []
        parts: list[tuple[Rows, Flags | None]] = []
        after = 0
        for start, stop, position, read in self._slots:
            parts += [(self._template[None, after:start], None), read(columns[position])]
            after = stop
        parts.append((self._template[None, after:], None))
        rows = _beside([data for data, _ in parts], last - first)
        if all(taken is None for _, taken in parts):
            return rows, None
        flags = [np.ones(data.shape, np.bool_) if taken is None else taken for data, taken in parts]
        return rows, _beside(flags, last - first)


def _beside(parts: Sequence[NDArray[_Entry]], count: int) -> NDArray[_Entry]:
    """Return `parts`, each ``(count, w)`` or ``(1, w)``, side by side."""
    found: NDArray[_Entry] = np.empty((count, sum(part.shape[1] for part in parts)), parts[0].dtype)
    position = 0
    for part in parts:
        found[:, position : position + part.shape[1]] = part
        position += part.shape[1]
    return found


_Reader = Callable[[Column], tuple[Rows, Flags | None]]


def _reader(target: Target, domain: Domain, sample: Rows) -> _Reader:
    """Return what turns a column of `domain` into the bytes that a hash takes; `sample` are those of one value."""
    tag = sample[: len(sample) - 8]  # a parameter's kind; nothing before a tick
    if isinstance(domain, ContinuousDomain):
        return lambda column: (_tagged(tag, float_bits(column)), None)
    if isinstance(domain, WholeDomain):
        low = np.array(domain.low % 2**64, np.uint64)
        return lambda column: (_tagged(tag, column.astype(np.uint64) + low), None)
    if isinstance(domain, TableLevels):
        return _table_reader(target, domain, tag)
    if isinstance(domain, SteppedLevels):
        return lambda column: (_tagged(tag, float_bits(domain.column(column))), None)
    if isinstance(domain, range):
        # A step past 64 bits leads from the only level to nowhere.
        start, step = (np.array(number % 2**64, np.uint64) for number in (domain.start, domain.step))
        return lambda column: (_tagged(tag, column.astype(np.uint64) * step + start), None)
    if len(domain) > _FEW_LEVELS:
        return lambda column: _met(target, domain, column)
    levels = _level_bytes(target, domain, range(len(domain)))
    return lambda column: _picked(levels, column)


def _table_reader(target: Target, levels: TableLevels, tag: Rows) -> _Reader:
    entries = levels.entries
    if levels.values is not None:
        known = _level_bytes(target, levels.values, range(len(levels.values)))
        return lambda column: _picked(known, entries[column.astype(np.intp)])
    if entries.dtype.kind == "f":
        return lambda column: (_tagged(tag, float_bits(entries[column.astype(np.intp)])), None)
    return lambda column: (_tagged(tag, entries[column.astype(np.intp)].astype(np.uint64)), None)


def _tagged(tag: Rows, numbers: NDArray[np.uint64]) -> Rows:
    data = np.empty((len(numbers), len(tag) + 8), np.uint8)
    data[:, : len(tag)] = tag
    data[:, len(tag) :] = numbers.astype(_LITTLE).view(np.uint8).reshape(-1, 8)
    return data


def _met(target: Target, domain: Levels, column: Column) -> tuple[Rows, Flags | None]:
    entries, positions = np.unique(column, return_inverse=True)
    return _picked(_level_bytes(target, domain, entries.tolist()), positions)


def _picked(levels: tuple[Rows, Flags | None], column: Column) -> tuple[Rows, Flags | None]:
    data, taken = levels
    positions = column.astype(np.intp)
    return data[positions], None if taken is None else taken[positions]


def _level_bytes(target: Target, domain: Levels, positions: Sequence[int]) -> tuple[Rows, Flags | None]:
    """Return the bytes of the levels at `positions`, each padded to the longest, and which of them count."""
    written = [_value_bytes(target, domain[position]) for position in positions]
    lengths = np.array([len(data) for data in written])
    width = int(lengths.max())
    data = np.frombuffer(b"".join(each.ljust(width, b"\0") for each in written), np.uint8).reshape(-1, width)
    taken = np.arange(width) < lengths[:, None]
    return data, None if taken.all() else taken


def _value_bytes(target: Target, value: ParamValue) -> bytes:
    written = _Written()
    written.u64(int(value)) if target.param is None else written.value(target.param, value)
    return bytes(written.data)
