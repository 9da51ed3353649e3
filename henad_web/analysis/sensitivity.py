"""Which factors y depends on, by the method that fits the design.

Owns the choice of method and of block, what is refused, and what is said of points that are left out. The measures
themselves are `sobol`'s, `morris`'s, `main_effects`' and `regression`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np

from henad_web.analysis.arrangements import Arrangement, arrangement_of, as_numbers
from henad_web.analysis.config_means import Block, ConfigMeans, blocks_of, config_means
from henad_web.analysis.grouping import levels_of
from henad_web.analysis.main_effects import MainEffects, variance_shares
from henad_web.analysis.morris import MorrisEffects, elementary_effects, morris_effects
from henad_web.analysis.pieces import Pieces, piecewise
from henad_web.analysis.regression import Fit, Floats, RegressionMeasures, fitted, ranks
from henad_web.analysis.resamples import Resampling
from henad_web.analysis.samples import AfterStop
from henad_web.analysis.scaling import scaled, unscaled
from henad_web.analysis.selection import Held, Selection, chosen, factor_names, find_factor, selected
from henad_web.analysis.sobol import SobolIndices, sobol_indices
from henad_web.analysis.tables import Axis
from henad_web.errors import UsageError, counted
from henad_web.explore.spec import DesignKind
from henad_web.results.recorded import RecordedResults

__all__ = ["RESAMPLES", "Measures", "Method", "sensitivity"]

Measures: TypeAlias = SobolIndices | MorrisEffects | MainEffects | RegressionMeasures
"""What a question about sensitivity is answered with, by its method."""

RESAMPLES = 1000
"""Draws of an interval, unless it is asked for otherwise."""

_ENOUGH_R2 = 0.7
"""R^2 from which coefficients are usually read as sensitivities (A. Saltelli and others, Global Sensitivity Analysis:
The Primer, 2008, section 1.2.5)."""


class Method(StrEnum):
    """How sensitivity is measured."""

    SOBOL = "sobol"
    MORRIS = "morris"
    MAIN_EFFECTS = "main_effects"
    REGRESSION = "regression"


_FITTING = {
    DesignKind.SALTELLI: Method.SOBOL,
    DesignKind.MORRIS: Method.MORRIS,
    DesignKind.FACTORIAL: Method.MAIN_EFFECTS,
}


_BY_POSITION = (Method.SOBOL, Method.MORRIS)
"""Methods that take the configs of a design by their positions."""


@piecewise
def sensitivity(
    results: RecordedResults,
    y: str,
    *,
    method: str | None = None,
    block: int | None = None,
    held: Held | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    at: int | None = None,
    after_stop: str = AfterStop.DROP,
) -> Pieces[Measures]:
    """Return how much each factor matters for `y`.

    Replicates are averaged first, so that each config counts once. Of a saltelli or morris design a point or
    trajectory counts only if all its configs have a value.

    Args:
        results: The results.
        y: A reducer such as ``Infected:max``, or a column of every run; with `at` a statistic such as ``Infected``.
        method: ``"sobol"``: first-order and total indices, of a saltelli design. ``"morris"``: elementary effects, of
            a morris design. ``"main_effects"``: shares of the variance over a whole grid, of a factorial design.
            ``"regression"``: regression and rank measures, of any. What fits the design when None; a table is looked
            at, whether its rows lie as in one of these designs.
        block: Position of the block to look at, from 0; when None the only one with such a design, or all of them.
        held: Only runs whose factors have these values; it takes points apart, hence not with ``"sobol"`` or
            ``"morris"``.
        confidence: That of the intervals: 0.9, 0.95 or 0.99.
        resamples: Draws that the intervals of indices and effects are made of.
        seed: What these draws follow from.
        at: Tick of the series that `y` is taken at.
        after_stop: With `at`, of a run that had stopped before: ``"drop"`` leaves it out, ``"hold"`` takes its last
            value.

    Raises:
        UsageError: There is no such column, block or method, the method does not fit the design, too few configs have
            a value, or an option is not allowed.
        MissingFileError: `at` is given, and there is no series.csv.
    """
    resampling = Resampling(confidence=confidence, resamples=resamples, seed=seed)
    wanted = None if method is None else Method(chosen("method", method, list(Method)))
    blocks = blocks_of(results)
    asked = _block(blocks, wanted, block)
    is_part = asked is not None and len(blocks) > 1
    part = asked.position if asked is not None and is_part else None
    selection = yield from selected(results, y, held=held, block=part, at=at, after_stop=after_stop)
    means = yield from config_means(results, selection)
    notes = (f"{asked}, of {counted(len(blocks), 'block')}", *means.notes) if is_part else means.notes
    study = _Study(results=results, selection=selection, means=means, block=asked, is_held=bool(held), notes=notes)
    found = yield from _arranged(study, wanted)
    if found is None:
        return (yield from _regression(study, confidence))
    if found.design is DesignKind.FACTORIAL:
        return (yield from _main_effects(study, found))
    measure = _sobol if found.design is DesignKind.SALTELLI else _morris
    return (yield from measure(study, found, resampling))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Study:
    """What is asked of: the runs that count, their configs, and the block they belong to, None for several."""

    results: RecordedResults
    selection: Selection
    means: ConfigMeans
    block: Block | None
    is_held: bool
    notes: tuple[str, ...]

    @property
    def axis(self) -> Axis:
        """What is measured."""
        return self.selection.axis

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The factors of the block, in its order."""
        names = () if self.block is None else self.block.factors
        return tuple(find_factor(self.results, name).axis for name in names)


def _block(blocks: Sequence[Block], method: Method | None, position: int | None) -> Block | None:
    """Return the block to look at, None for all of them."""
    if position is not None:
        if isinstance(position, bool) or not isinstance(position, int) or not 0 <= position < len(blocks):
            allowed = f"0 to {len(blocks) - 1}" if blocks else "none, a search has no blocks"
            raise UsageError(f"block is {position!r}; allowed: {allowed}")
        return blocks[position]
    if len(blocks) == 1:
        return blocks[0]
    designs = (DesignKind.SALTELLI, DesignKind.MORRIS)
    fitting = [
        block for block in blocks if block.spec.design in designs and method in (None, _FITTING[block.spec.design])
    ]
    if len(fitting) > 1:
        several = "; ".join(map(str, fitting))
        raise UsageError(f"each block has indices of its own, and there are several: {several}; choose one, block=0")
    if not fitting and method not in (None, Method.REGRESSION):
        several = "; ".join(map(str, blocks)) or "none, a search chooses its configs"
        raise UsageError(f"'{method}' is of one block; choose it, block=0; there are: {several}")
    return fitting[0] if fitting else None


def _arranged(study: _Study, wanted: Method | None) -> Pieces[Arrangement | None]:
    """Return how the configs lie, as the method that fits needs it; None for a regression.

    Raises:
        UsageError: The method does not fit the design, or too little of the design has a value.
    """
    block = study.block
    if block is None or wanted is Method.REGRESSION:
        return None
    found = None
    if not study.is_held:
        found = yield from arrangement_of(study.results, study.means, block, among=_among(block, wanted))
    elif wanted in _BY_POSITION or _FITTING.get(block.spec.design) in _BY_POSITION:
        raise UsageError(f"held takes the points of {block} apart; leave it out, or use method='regression'")
    fits = Method.REGRESSION if found is None else _FITTING[found.design]
    if wanted not in (None, fits):
        raise _unfit(wanted, block, fits)
    if found is not None and fits in _BY_POSITION:
        _check_enough(study, found)
    return found


def _among(block: Block, wanted: Method | None) -> tuple[DesignKind, ...]:
    """Return the designs that a table is compared with: unasked, none that one factor alone looks like by chance."""
    known = tuple(design for design, method in _FITTING.items() if wanted in (None, method))
    return known if wanted is not None or len(block.factors) > 1 else (DesignKind.FACTORIAL,)


def _unfit(wanted: Method, block: Block, fits: Method) -> UsageError:
    needs = {
        Method.SOBOL: "a saltelli design, whose configs it takes by their positions",
        Method.MORRIS: "a morris design, whose configs it takes by their positions",
        Method.MAIN_EFFECTS: "a whole grid: a factorial design, nothing held and without `where`",
    }[wanted]
    seen = "; its rows do not lie as in one" if block.spec.design is DesignKind.TABLE else ""
    also = "" if fits is Method.REGRESSION else ", 'regression'"
    return UsageError(f"method '{wanted}' needs {needs}; this is {block}{seen}; what fits: '{fits}'{also}")


def _check_enough(study: _Study, found: Arrangement) -> None:
    if len(found.y) < 2:
        total, noun = len(found.y) + found.left_out, _PARTS[found.design]
        why = "".join(f"; {line}" for line in study.selection.left_out.lines())
        cure = "go on with the sweep, merge its shards" if found.left_out else f"plan more {noun}"
        raise UsageError(
            f"{len(found.y)} of {total:,} {noun} of {study.block} have a value of '{study.axis.name}' in every config, "
            f"and 2 are needed{why}; {cure}, or use method='regression'"
        )


_PARTS = {DesignKind.SALTELLI: "points", DesignKind.MORRIS: "trajectories", DesignKind.FACTORIAL: "configs"}
"""What the designs are made of."""


def _notes(study: _Study, found: Arrangement) -> tuple[str, ...]:
    """Return what is said of any design: which block, what replicates are, how a table was read, what is left out."""
    notes, total = list(study.notes), len(found.y) + found.left_out
    if study.block is not None and study.block.spec.design is not found.design:
        notes.append(f"the rows of the table lie as in a {found.design} design")
    if found.left_out:
        lacking = "a config has no value" if found.design is not DesignKind.FACTORIAL else "no value"
        notes.append(f"{found.left_out:,} of {total:,} {_PARTS[found.design]} left out: {lacking}")
    if found.y.min() == found.y.max():
        notes.append(_constant_note(study.axis))
    return tuple(notes)


def _constant_note(axis: Axis) -> str:
    return f"{axis.name} is the same in every config: there is nothing to share between factors"


def _sobol(study: _Study, found: Arrangement, resampling: Resampling) -> Pieces[SobolIndices]:
    indices = yield from sobol_indices(found.y, len(found.factors), found.second_order, resampling)
    s1, s1_low, s1_high = indices.first_order
    st, st_low, st_high = indices.total
    s2, s2_low, s2_high = indices.pairs
    return SobolIndices(
        left_out=study.selection.left_out,
        axis=study.axis,
        axes=study.axes,
        notes=(*_notes(study, found), resampling.note("points")),
        s1=s1,
        s1_low=s1_low,
        s1_high=s1_high,
        st=st,
        st_low=st_low,
        st_high=st_high,
        s2=s2,
        s2_low=s2_low,
        s2_high=s2_high,
        points=len(found.y),
        points_left_out=found.left_out,
        confidence=resampling.confidence,
        resamples=resampling.resamples,
    )


def _morris(study: _Study, found: Arrangement, resampling: Resampling) -> Pieces[MorrisEffects]:
    values = []
    for factor in found.factors:
        numbers = yield from as_numbers(factor)
        values.append(scaled(numbers)[0].reshape(found.y.shape))
    y, exponent = scaled(found.y)
    effects = yield from elementary_effects(y, values, found.step)
    measures = yield from morris_effects(effects, resampling)
    ends = (measures.mu_star - measures.half_width, measures.mu_star + measures.half_width)
    mu, mu_star, low, high, sigma = (
        unscaled(each, exponent) for each in (measures.mu, measures.mu_star, *ends, measures.sigma)
    )
    return MorrisEffects(
        left_out=study.selection.left_out,
        axis=study.axis,
        axes=study.axes,
        notes=(*_notes(study, found), resampling.note("trajectories")),
        mu=mu,
        mu_star=mu_star,
        mu_star_low=low,
        mu_star_high=high,
        sigma=sigma,
        trajectories=len(found.y),
        trajectories_left_out=found.left_out,
        confidence=resampling.confidence,
        resamples=resampling.resamples,
    )


def _main_effects(study: _Study, found: Arrangement) -> Pieces[MainEffects]:
    codes, counts = [], []
    for factor in found.factors:
        levels = yield from levels_of(factor)
        codes.append(levels.codes)
        counts.append(len(levels.values))
    s1, st = yield from variance_shares(found.y[:, 0], codes, counts)
    return MainEffects(
        left_out=study.selection.left_out,
        axis=study.axis,
        axes=study.axes,
        notes=_notes(study, found),
        s1=s1,
        st=st,
        levels=np.array(counts, np.int64),
        configs=len(found.y),
        configs_left_out=found.left_out,
    )


def _regression(study: _Study, confidence: float) -> Pieces[RegressionMeasures]:
    names, columns, notes = yield from _numeric(study)
    y, axis = study.means.y, study.axis
    if len(y) < len(columns) + 2:
        raise UsageError(
            f"{counted(len(y), 'config')} with a value of '{axis.name}' and {counted(len(columns), 'factor')}: a "
            f"regression needs at least {len(columns) + 2} configs; add configs, or hold factors"
        )
    if y.min() == y.max():
        nothing, notes = np.full(len(columns), np.nan), (*notes, _constant_note(axis))
        linear = ranked = Fit(
            coefficients=nothing, correlations=nothing, inverse=nothing, unexplained=np.nan, degrees=0
        )
    else:
        linear = yield from fitted(columns, y)
        ranked = yield from _fitted_ranks(columns, y)
        notes = (*notes, *_fit_notes(names, linear, ranked))
    half_widths = linear.half_widths(confidence)
    return RegressionMeasures(
        left_out=study.selection.left_out,
        axis=axis,
        axes=tuple(find_factor(study.results, name).axis for name in names),
        notes=notes,
        src=linear.coefficients,
        src_low=linear.coefficients - half_widths,
        src_high=linear.coefficients + half_widths,
        srrc=ranked.coefficients,
        prcc=ranked.partial,
        spearman=ranked.correlations,
        r2=linear.r2,
        r2_adjusted=linear.r2_adjusted,
        rank_r2=ranked.r2,
        configs=len(y),
        confidence=confidence,
    )


def _fitted_ranks(columns: Sequence[Floats], y: Floats) -> Pieces[Fit]:
    of_columns = []
    for column in columns:
        found = yield from ranks(column)
        of_columns.append(found)
    return (yield from fitted(of_columns, (yield from ranks(y))))


def _numeric(study: _Study) -> Pieces[tuple[list[str], list[Floats], tuple[str, ...]]]:
    """Return the factors that vary, as numbers, and what is said of those that are none.

    Raises:
        UsageError: No factor is left.
    """
    names, columns, notes = [], [], list(study.notes)
    if study.results.is_search:
        notes.append("the configs were chosen by a search, not drawn from the space: the measures are of where it went")
    for name in factor_names(study.results):
        factor = find_factor(study.results, name).taken(study.means.rows)
        yield
        if not (factor.values != factor.values[0]).any():
            continue
        if factor.values.dtype.kind not in "iufb":
            levels = (yield from levels_of(factor)).values
            if len(levels) > 2:
                notes.append(f"{name} left out: its {len(levels)} values are names, without an order")
                continue
            notes.append(f"{name}: 0 stands for {levels[0]}, 1 for {levels[1]}")
        names.append(name)
        columns.append((yield from as_numbers(factor)))
    if not names:
        told = "".join(f"; {note}" for note in notes)
        raise UsageError(f"no factor varies between the configs with a value of '{study.axis.name}'{told}")
    return names, columns, tuple(notes)


def _fit_notes(names: Sequence[str], linear: Fit, ranked: Fit) -> tuple[str, ...]:
    lost = [name for name, value in zip(names, linear.coefficients, strict=True) if np.isnan(value)]
    notes = [f"{name} left out: the factors above it determine it" for name in lost]
    shares = f"R^2 {linear.r2:.2f}, adjusted {linear.r2_adjusted:.2f}; of ranks {ranked.r2:.2f}"
    notes.append(f"the regression explains {100 * linear.r2:.0f} % of the variance ({shares})")
    if linear.r2 < _ENOUGH_R2:
        notes.append(
            f"below {100 * _ENOUGH_R2:.0f} % its coefficients say little: y is not linear in the factors, or noise"
        )
    return tuple(notes)
