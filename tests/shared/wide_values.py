"""A model with a parameter of every kind, wide ones among them, whose statistics are functions of their values."""

from __future__ import annotations

from collections.abc import Mapping

import henad_web as hw
from henad_web.model.params import ParamValue
from tests.shared.toy_models import Toy, entry_of

LOWEST, HIGHEST = -(2**63), 2**63 - 1


class Wide(Toy):
    """Reports what it was built with: numbers as they are, the text by its length."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self.params = dict(params)

    def stats(self) -> dict[str, float]:
        given = self.params
        low = int(given["offset"]) % 1000
        return {
            "Sum": float(given["share"]) + float(given["level"]) + self.tick,
            "Offset": float(low),
            "Letters": float(len(str(given["rule"]))),
        }


WIDE = entry_of(
    Wide,
    id="wide",
    stats=("Sum", "Offset", "Letters"),
    params=(
        hw.f32("share", "Share", 0.4, -1000, 1e9),
        hw.f64("level", "Level", 0.1, -1e300, 1e300),
        hw.i64("offset", "Offset", -7, LOWEST, HIGHEST),
        hw.text("rule", "Rule", "B3/S23"),
        hw.boolean("wrap", "Wrap", True),
        hw.choice("mode", "Mode", ("slow", "fast")),
    ),
)
SCHEMA = WIDE.schema()
MODELS = hw.ModelSet([WIDE])


def plan_of(text: str) -> hw.Plan:
    """Return the plan of a spec of the model, given without its first line."""
    return hw.parse_spec(f'model = "wide"\n{text}').spec.plan(SCHEMA)


def column(plan: hw.Plan, param: str) -> list[ParamValue]:
    """Return the values of `param` over the configs of `plan`, in order."""
    return [config.params[plan.schema.index(param)] for config in plan.configs]
