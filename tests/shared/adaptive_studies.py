"""Studies with adaptive replicates, and the rule of them written a second time: plainly, and all at once."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

import henad_web as hw
from henad_web.explore.intervals import CONFIDENCES, IntervalKind, t_quantile
from henad_web.model.params import ParamValue
from henad_web.randomness import mix_seed
from tests.shared.toy_models import Toy, entry_of

NORMAL = dict(zip(CONFIDENCES, (1.6448536269514722, 1.959963984540054, 2.5758293035489004), strict=True))


def unit(seed: int) -> float:
    """Return a number from 0 to 1 that follows from `seed`."""
    return (mix_seed(seed) >> 11) / 2**53


class Chance(Toy):
    """Hits with a chance of `value` in a thousand and has a size; one seed in eleven fails in its second step."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self.hit = 1.0 if unit(seed or 0) * 1000 < self.value else 0.0
        self.size = self.value * (0.5 + unit((seed or 0) + 1))

    def before_step(self) -> None:
        if self.tick == 1 and (self.seed or 0) % 11 == 0:
            raise RuntimeError("out of luck")

    def stats(self) -> dict[str, float]:
        return {"Hit": self.hit, "Size": self.size}


CHANCE = entry_of(Chance, stats=("Hit", "Size"))
HIT = hw.Precision(column="Hit:final", half_width=0.13, interval=IntervalKind.WILSON)
SIZE = hw.Precision(column="Size:final", relative=0.12, confidence=0.9)


def adaptive(*until: hw.Precision, least: int = 4, most: int = 40) -> hw.AdaptiveReplicates:
    return hw.AdaptiveReplicates(min=least, max=most, until=until or (HIT, SIZE))


def chance_spec(
    *values: int, replicates: int | hw.AdaptiveReplicates | None = None, root: int = 3, **run: object
) -> hw.SweepSpec:
    """Return a study of `Chance`: one config a value, adaptive replicates unless there are others."""
    factor = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=values or (1, 100, 500, 900, 300)))
    return hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(steps=2, replicates=adaptive() if replicates is None else replicates, **run),  # type: ignore[arg-type]
        measure=hw.MeasureSettings(stats_every=1),
        seeds=hw.SeedSettings(root=root, scheme=hw.SeedScheme.INDEPENDENT),
        blocks=(hw.BlockSpec(factors=(factor,)),),
    )


def naive_half(precision: hw.Precision, values: Sequence[float]) -> float:
    n, mean = len(values), sum(values) / len(values)
    if precision.interval is IntervalKind.WILSON:
        z = NORMAL[precision.confidence]
        return z / (1 + z**2 / n) * math.sqrt(mean * (1 - mean) / n + z**2 / (4 * n**2))
    return t_quantile(n - 1, precision.confidence) * statistics.stdev(values) / math.sqrt(n)


def naive_count(rule: hw.AdaptiveReplicates, gave: Sequence[Sequence[float | None]]) -> tuple[int, bool]:
    """Return how many replicates a config gets whose replicate r gives ``gave[r]``, and whether all is narrow then."""
    count = rule.min
    while True:
        narrow = True
        for column, precision in enumerate(rule.until):
            values = [row[column] for row in gave[:count]]
            numbers = [value for value in values if value is not None and abs(value) < float("inf")]
            if len(numbers) < 2:
                narrow = False
                continue
            bound = precision.half_width
            if bound is None:
                bound = (precision.relative or 0) * abs(sum(numbers) / len(numbers))
            narrow = narrow and naive_half(precision, numbers) <= bound
        if narrow or count >= rule.max:
            return count, narrow
        count = min(rule.max, count + (count + 3) // 4)


def naive_counts(spec: hw.SweepSpec) -> dict[int, tuple[int, bool]]:
    """Return `naive_count` of each config of a study of `Chance`, whose runs are known without running them."""
    rule, plan = spec.run.adaptive, spec.plan(CHANCE.schema())
    assert rule is not None
    found = {}
    for config in plan.configs:
        gave: list[list[float | None]] = []
        for rep in range(rule.max):
            run = plan.run(config.config_id * rule.max + rep)
            state = Chance({"value": config.params[0]}, run.seed)
            values = {"Hit:final": state.hit, "Size:final": state.size}
            failed = run.seed % 11 == 0
            gave.append([None if failed else values[precision.column] for precision in rule.until])
        found[config.config_id] = naive_count(rule, gave)
    return found
