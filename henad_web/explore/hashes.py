"""Hashes that name results and plans (reference engine, section 5.4).

Owns what enters each hash and in which order. Only what affects a result enters: replicates and timeout do
not, so that a study can be extended. FNV itself is `henad_web.model.fnv`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from henad_web.explore.conditions import CompoundStop
from henad_web.explore.reducers import parse_kind
from henad_web.explore.seeds import scheme_text
from henad_web.model.fnv import Fnv1a64

if TYPE_CHECKING:
    from henad_web.explore.plan import Config, Plan

__all__ = ["plan_head", "results_fingerprint", "run_head", "run_key", "write_config"]


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
    return write_config(run_head(plan), plan, config).u64(seed).hex()


def plan_head(plan: Plan) -> Fnv1a64:
    """Return the hash of `plan` up to its first config; for each config its block follows, then `write_config`."""
    seeds = plan.spec.seeds
    fnv = Fnv1a64().text("henad.plan.2").u64(int(plan.results_fingerprint, 16)).u64(seeds.root).text(scheme_text(seeds))
    fnv.u64(len(plan.spec.actions))
    for action in plan.spec.actions:
        fnv.text(action.label)
    fnv.u64(len(plan.blocks))
    for block in plan.blocks:
        fnv.text(block.design)
        fnv.byte(0) if block.design_seed is None else fnv.byte(1).u64(block.design_seed)
    return fnv.u64(plan.config_count)
