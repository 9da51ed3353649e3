"""What each config comes to, its replicates averaged, and the blocks of a study that configs belong to.

Owns the join of rows by config, whatever order they stand in, and what is said of replicates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.ordered import order_of
from henad_web.analysis.pieces import Pieces
from henad_web.analysis.scaling import scaled, unscaled
from henad_web.analysis.selection import Selection
from henad_web.errors import counted
from henad_web.explore.columns import ACTION
from henad_web.explore.design_table import csv_records
from henad_web.explore.spec import BlockSpec, DesignKind
from henad_web.results.recorded import RecordedResults

__all__ = ["Block", "ConfigMeans", "blocks_of", "config_means"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block of a study.

    Attributes:
        position: Its position in the spec, from 0.
        spec: The block as the spec gives it.
        first_config: Id of its first config.
        config_count: Number of its configs.
        factors: Names of what it varies, in order, as questions give them.
    """

    position: int
    spec: BlockSpec
    first_config: int
    config_count: int
    factors: tuple[str, ...]

    def __str__(self) -> str:
        """Return which block it is, for messages."""
        return f"block {self.position}, a {self.spec.design} design"


def blocks_of(results: RecordedResults) -> tuple[Block, ...]:
    """Return the blocks of the study in order; none of a search, which chooses its configs."""
    return () if results.is_search else tuple(_blocks(results))


def _blocks(results: RecordedResults) -> Iterator[Block]:
    first = 0
    specs = results.spec.blocks or (BlockSpec(),)
    for position, (spec, record) in enumerate(zip(specs, results.manifest.plan.blocks, strict=True)):
        yield Block(
            position=position,
            spec=spec,
            first_config=first,
            config_count=record.configs,
            factors=_factors(spec),
        )
        first += record.configs


def _factors(spec: BlockSpec) -> tuple[str, ...]:
    if spec.design is DesignKind.TABLE:
        _, header = next(csv_records(spec.table_text or ""))
        return tuple(header)
    return tuple(f"{ACTION}{factor.action}" if factor.param is None else factor.param for factor in spec.factors)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConfigMeans:
    """The configs that have a value, ascending; every array is ``(configs,)``.

    Attributes:
        config_ids: Their ids.
        y: Mean of y over the replicates that count.
        rows: Where a run of each stands in ``results.runs``.
        least_replicates: Fewest replicates that a config has.
        most_replicates: Most of them.
    """

    config_ids: Rows
    y: Floats
    rows: Rows
    least_replicates: int
    most_replicates: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of the replicates, at most one sentence."""
        if self.most_replicates < 2:
            return ()
        few = "" if self.least_replicates == self.most_replicates else f"{self.least_replicates} to "
        return (f"each config counts once, with the mean of its {few}{counted(self.most_replicates, 'replicate')}",)

    def of(self, block: Block) -> tuple[Floats, Rows]:
        """Return y and row of every config of `block`, ``(configs of the block,)``; NaN and -1 where there is none."""
        y, rows = np.full(block.config_count, np.nan), np.full(block.config_count, -1)
        here = self.config_ids - block.first_config
        y[here], rows[here] = self.y, self.rows
        return y, rows


def config_means(results: RecordedResults, selection: Selection) -> Pieces[ConfigMeans]:
    """Return what the configs of the runs in `selection`, at least one, come to.

    Replicates are added in the order of their ids, so that the order of the rows changes no bit.
    """
    configs, run_ids = results.runs["config_id"][selection.rows], results.runs["run_id"][selection.rows]
    yield
    order = yield from order_of(run_ids)
    order = order[(yield from order_of(configs[order]))]
    rows, y, configs = selection.rows[order], selection.y[order], configs[order]
    yield
    starts = np.flatnonzero(np.append(True, configs[1:] != configs[:-1]))
    counts = np.diff(np.append(starts, len(configs)))
    y, exponent = scaled(y)
    yield
    return ConfigMeans(
        config_ids=configs[starts].astype(np.int64),
        y=unscaled(np.add.reduceat(y, starts) / counts, exponent),
        rows=rows[starts],
        least_replicates=int(counts.min()),
        most_replicates=int(counts.max()),
    )
