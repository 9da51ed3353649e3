"""The figures of a report: which questions fit a design, their answers drawn, and what could not be answered.

Owns the choice. What an answer is, is the business of the analysis, how it looks that of the plots.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from henad_web.analysis.bands import bands
from henad_web.analysis.heatmap import heatmap
from henad_web.analysis.response import response
from henad_web.analysis.selection import Factor, find_factor, varied_factors
from henad_web.analysis.sensitivity import sensitivity
from henad_web.errors import ResultsError, UsageError
from henad_web.markup import escaped
from henad_web.plots.bars import draw_sensitivity
from henad_web.plots.canvas import FigureFormat, figure_bytes
from henad_web.plots.grids import draw_heatmap
from henad_web.plots.lines import draw_bands, draw_response
from henad_web.plots.search import draw_search
from henad_web.results.errors import NeedsExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from henad_web.analysis.tables import AnalysisTable
    from henad_web.results.recorded import RecordedResults

__all__ = ["Figure", "Undrawn", "figures_of", "inline_svg"]

MOST_STATISTICS = 3
"""Statistics that are drawn over time where the measures are of none."""

MOST_FACTORS = 3
"""Sampled factors that a reducer is drawn against."""

MOST_GROUPS = 7
"""Levels of a factor that curves are drawn for, one each: as many as have colours of their own."""

MANY_LEVELS = 20
"""Levels from which a factor is taken for sampled, and cut into `PARTS`."""

PARTS = 10
"""Parts of equal width that a sampled factor is cut into."""

_TAG = re.compile(r"<[^>]*>")
_REFERENCE = re.compile(r'(\bid="|href="#|url\(#)')
"""Where an id stands in a tag; in a text, which may look the same, there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One answer, drawn.

    Attributes:
        title: What it answers.
        svg: The drawing, to stand inside HTML.
        table: The numbers as HTML; empty where the drawing is of no table.
    """

    title: str
    svg: str
    table: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undrawn:
    """One question without an answer, and why."""

    title: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    title: str
    draw: Callable[[], tuple[Axes, AnalysisTable | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Levels:
    """A factor that varies, with how many levels it has."""

    factor: Factor
    count: int

    @property
    def name(self) -> str:
        return self.factor.axis.name

    @property
    def is_sampled(self) -> bool:
        return self.factor.is_number and self.count > MANY_LEVELS

    @property
    def bins(self) -> int | None:
        return PARTS if self.is_sampled else None


def figures_of(results: RecordedResults, measures: Sequence[str]) -> Iterator[Figure | Undrawn]:
    """Yield the figures of `measures` that fit the design of `results`, and what could not be drawn.

    Of a search it is what that came to.

    Raises:
        NeedsExtraError: matplotlib is not installed.
    """
    for number, question in enumerate(_questions(results, measures)):
        try:
            axes, table = question.draw()
        except NeedsExtraError:
            raise
        except (UsageError, ResultsError) as error:
            yield Undrawn(title=question.title, why=str(error))
            continue
        numbers = "" if table is None else table._repr_html_()
        yield Figure(title=question.title, svg=inline_svg(axes, question.title, f"figure{number}"), table=numbers)


def inline_svg(axes: Axes, title: str, name: str) -> str:
    """Return the figure of `axes` as an element of HTML that is called `title`; its ids begin with `name`."""
    text = figure_bytes(axes, FigureFormat.SVG).decode()
    element = text[text.index("<svg") :]
    element = _TAG.sub(lambda tag: _REFERENCE.sub(rf"\g<1>{name}-", tag[0]), element)
    return element.replace("<svg ", f'<svg role="img" aria-label="{escaped(title)}" ', 1)


def _questions(results: RecordedResults, measures: Sequence[str]) -> Iterator[_Question]:
    search = results.search
    if search is not None:
        yield _Question(
            title=f"what the {search.settings.algorithm} search came to", draw=lambda: (draw_search(search), None)
        )
        return
    if not len(results.runs):
        return
    factors = [find_factor(results, name) for name in varied_factors(results)]
    varied = [_Levels(factor=factor, count=len(np.unique(factor.values))) for factor in factors]
    for y in measures:
        yield from _about(results, y, varied)
    stats = [stat for stat in results.stat_columns if any(y.rpartition(":")[0] == stat for y in measures)]
    for stat in stats or results.stat_columns[:MOST_STATISTICS]:
        yield _bands(results, stat, varied)


def _about(results: RecordedResults, y: str, varied: list[_Levels]) -> Iterator[_Question]:
    if len(varied) > 1:
        yield _sensitivity(results, y)
    sampled = [each for each in varied if each.is_sampled]
    if sampled:
        yield from (_response(results, y, each, None) for each in sampled[:MOST_FACTORS])
    elif varied:
        along = max(varied, key=lambda each: (each.factor.is_number, each.count))
        others = [each for each in varied if each is not along and each.count <= MOST_GROUPS]
        yield _response(results, y, along, others[0] if others else None)
    grid = [each for each in varied if each.factor.is_number and each.count > 2][:2]
    if len(grid) > 1:
        yield _heatmap(results, y, grid[0], grid[1])


def _sensitivity(results: RecordedResults, y: str) -> _Question:
    def draw() -> tuple[Axes, AnalysisTable]:
        table = sensitivity(results, y)
        return draw_sensitivity(table), table

    return _Question(title=f"what each factor does to {y}", draw=draw)


def _response(results: RecordedResults, y: str, along: _Levels, by: _Levels | None) -> _Question:
    def draw() -> tuple[Axes, AnalysisTable]:
        table = response(results, y, along.name, by=() if by is None else by.name, bins=along.bins)
        return draw_response(table), table

    grouped = "" if by is None else f" by {by.name}"
    return _Question(title=f"{y} against {along.name}{grouped}", draw=draw)


def _heatmap(results: RecordedResults, y: str, along: _Levels, up: _Levels) -> _Question:
    def draw() -> tuple[Axes, AnalysisTable]:
        table = heatmap(results, y, along.name, up.name, bins=(along.bins, up.bins))
        return draw_heatmap(table), table

    return _Question(title=f"{y} against {along.name} and {up.name}", draw=draw)


def _bands(results: RecordedResults, stat: str, varied: list[_Levels]) -> _Question:
    few = [each for each in varied if each.count <= MOST_GROUPS]
    by = few[0].name if few else ()

    def draw() -> tuple[Axes, AnalysisTable]:
        table = bands(results, stat, by=by)
        return draw_bands(table), table

    return _Question(title=f"{stat} over time" + (f" by {by}" if by else ""), draw=draw)
