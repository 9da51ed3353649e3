"""Tables of answers made by hand, for tests of how they are drawn: of any size, with names and gaps of any kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from henad_web.analysis.bands import Bands, Spread
from henad_web.analysis.intervals import CenterKind
from henad_web.analysis.main_effects import MainEffects
from henad_web.analysis.morris import MorrisEffects
from henad_web.analysis.regression import RegressionMeasures
from henad_web.analysis.response import Response
from henad_web.analysis.sobol import SobolIndices
from henad_web.analysis.tables import Axis, LeftOut

LEFT_OUT = LeftOut(not_done=12, failed=3, without_value=4, non_finite=2)
LONG = "a label that goes on and on, as labels of models now and then do, until nobody reads it"
HOSTILE = "_<b>$x_2$ & \x07^{"
NOTE = "low and high: 95 % interval of the mean of each group, Student's"


def response_of(
    x: Sequence[object],
    groups: Sequence[object] = (),
    *,
    label: str = "Rate",
    by_label: str = "Group",
    left_out: LeftOut | None = None,
    has_interval: Sequence[bool] | bool = True,
    n: int = 20,
) -> Response:
    """Return a response over `x`, a curve for each of `groups`, whose numbers are all different."""
    count, curves = len(x), max(1, len(groups))
    center = np.arange(count * curves) * 10.0 + 1 / 3
    width = np.where(np.resize(np.asarray(has_interval), count * curves), 1.0 + np.arange(count * curves) % 3, np.nan)
    return Response(
        left_out=left_out or LeftOut(),
        x_axis=Axis(name="rate", label=label),
        y_axis=Axis(name="Infected:max", label="Infected:max"),
        by={"group": np.repeat(np.asarray(groups), count)} if groups else {},
        by_axes={"group": Axis(name="group", label=by_label)} if groups else {},
        kind=CenterKind.MEAN,
        x=np.tile(np.asarray(x), curves),
        center=np.asarray(center, np.float64),
        low=np.asarray(center - width, np.float64),
        high=np.asarray(center + 2 * width, np.float64),
        n=np.full(count * curves, n),
        notes=(NOTE,),
    )


def bands_of(ticks: Sequence[int], n: Sequence[int]) -> Bands:
    """Return bands of one group over `ticks`, of which `n` runs are left."""
    center = np.sqrt(np.arange(len(ticks)) + 1.0)
    return Bands(
        left_out=LeftOut(),
        x_axis=Axis(name="tick", label="Tick"),
        y_axis=Axis(name="Infected", label="Infected"),
        by={},
        by_axes={},
        kind=CenterKind.MEDIAN,
        spread=Spread.QUANTILES,
        tick=np.asarray(ticks),
        center=np.asarray(center, np.float64),
        low=center - 1,
        high=center + 1,
        n=np.asarray(n),
    )


def _factors(count: int, label: str) -> tuple[Axis, ...]:
    return tuple(Axis(name=f"f{number}", label=f"{label} {number}") for number in range(count))


def sensitivities(
    count: int, *, label: str = "Factor"
) -> tuple[SobolIndices, MainEffects, MorrisEffects, RegressionMeasures]:
    """Return one table of each kind for `count` factors; the last of them says nothing."""
    y, axes = Axis(name="Infected:max", label="Infected:max"), _factors(count, label)
    value = np.linspace(0.9, 0.1, count)
    value[-1] = np.nan if count > 1 else value[-1]
    low, high = value - 0.05, value + 0.1
    half, nothing = value / 2, LeftOut()
    sobol = SobolIndices(
        left_out=nothing,
        axis=y,
        axes=axes,
        s1=half,
        s1_low=low - half,
        s1_high=high,
        st=value,
        st_low=low,
        st_high=high,
        s2=None,
        s2_low=None,
        s2_high=None,
        points=64,
        points_left_out=0,
        confidence=0.95,
        resamples=100,
    )
    effects = MainEffects(
        left_out=nothing, axis=y, axes=axes, s1=half, st=value, levels=np.full(count, 3), configs=9, configs_left_out=0
    )
    morris = MorrisEffects(
        left_out=nothing,
        axis=y,
        axes=axes,
        mu=-value,
        mu_star=value,
        mu_star_low=low,
        mu_star_high=high,
        sigma=half,
        trajectories=10,
        trajectories_left_out=0,
        confidence=0.95,
        resamples=100,
    )
    regression = RegressionMeasures(
        left_out=nothing,
        axis=y,
        axes=axes,
        src=-value,
        src_low=-high,
        src_high=-low,
        srrc=half,
        prcc=value,
        spearman=half,
        r2=0.9,
        r2_adjusted=0.89,
        rank_r2=0.8,
        configs=80,
        confidence=0.95,
    )
    return sobol, effects, morris, regression
