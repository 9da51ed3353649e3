"""What `ResultSet.plot` offers: a question asked and its answer drawn, in one call.

Owns which answer is drawn by what. Each call takes what the analysis of its name takes, and `ax`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from henad_web.analysis.bands import bands
from henad_web.analysis.compare import compare
from henad_web.analysis.heatmap import heatmap
from henad_web.analysis.prim import prim
from henad_web.analysis.response import response
from henad_web.analysis.sensitivity import sensitivity
from henad_web.errors import UsageError
from henad_web.plots.bars import draw_comparison, draw_sensitivity
from henad_web.plots.boxes import draw_boxes
from henad_web.plots.grids import draw_heatmap
from henad_web.plots.lines import draw_bands, draw_response
from henad_web.plots.search import draw_search

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from henad_web.analysis.selection import Held
    from henad_web.results.recorded import RecordedResults

__all__ = ["ResultPlots"]

Option: TypeAlias = Any
"""An option of the question; the function that answers it says which there are."""


class ResultPlots:
    """Plots of one result set. Made by `ResultSet.plot`.

    Every method returns the axes that it drew on: those of a new figure in the package's style, which a notebook shows,
    or the `ax` it was given, in the style that one has. `henad_web.plots.canvas.figure_bytes` makes a file of either;
    ``ax.figure.savefig(path)`` does, too.
    """

    def __init__(self, results: RecordedResults) -> None:
        self._results = results

    def __repr__(self) -> str:
        """Return the facts on one line."""
        return f"<ResultPlots of {self._results!r}>"

    def response(self, y: str, x: str, *, ax: Axes | None = None, **options: Option) -> Axes:
        """Draw `y` against the factor `x`, with intervals; options as `henad_web.analysis.response.response` has them.

        Args:
            y: A reducer such as ``Infected:max``, or a column of every run.
            x: A factor.
            ax: Where to draw; a new figure when None.
            **options: ``by``, ``held``, ``at``, ``center``, ``interval``, ``bins`` and so on.

        Raises:
            UsageError: A name, level or option is none, or no run is left.
            NeedsExtraError: matplotlib is not installed.
        """
        return draw_response(response(self._results, y, x, **options), ax)

    def bands(self, y: str, *, ax: Axes | None = None, **options: Option) -> Axes:
        """Draw the statistic `y` over time; options as `henad_web.analysis.bands.bands` has them.

        Args:
            y: A statistic such as ``Infected``.
            ax: Where to draw; a new figure when None.
            **options: ``by``, ``held``, ``center``, ``spread``, ``after_stop`` and so on.

        Raises:
            UsageError: A name, level or option is none, or no run is left.
            MissingFileError: There is no series.csv.
            NeedsExtraError: matplotlib is not installed.
        """
        return draw_bands(bands(self._results, y, **options), ax)

    def heatmap(self, z: str, x: str, y: str, *, ax: Axes | None = None, **options: Option) -> Axes:
        """Draw `z` against two factors; options as `henad_web.analysis.heatmap.heatmap` has them.

        Args:
            z: What is measured, a reducer such as ``Infected:max``.
            x: The factor along.
            y: The factor up.
            ax: Where to draw; a new figure when None.
            **options: ``held``, ``at``, ``center``, ``bins`` and so on.

        Raises:
            UsageError: A name, level or option is none, or no run is left.
            NeedsExtraError: matplotlib is not installed.
        """
        return draw_heatmap(heatmap(self._results, z, x, y, **options), ax)

    def sensitivity(self, y: str, *, ax: Axes | None = None, **options: Option) -> Axes:
        """Draw what each factor does to `y`; options as `henad_web.analysis.sensitivity.sensitivity` has them.

        Args:
            y: A reducer such as ``Infected:max``, or a column of every run.
            ax: Where to draw; a new figure when None.
            **options: ``method``, ``confidence`` and so on.

        Raises:
            UsageError: A name or option is none, or the design does not fit.
            NeedsExtraError: matplotlib is not installed.
        """
        return draw_sensitivity(sensitivity(self._results, y, **options), ax)

    def compare(self, y: str, a: Held, b: Held, *, ax: Axes | None = None, **options: Option) -> Axes:
        """Draw two groups of runs and their difference; options as `henad_web.analysis.compare.compare` has them.

        Args:
            y: A reducer such as ``Infected:max``, or a column of every run.
            a: What the runs of the first group have in common.
            b: The same of the second.
            ax: Where to draw; a new figure when None.
            **options: ``held``, ``at``, ``interval`` and so on.

        Raises:
            UsageError: A name, level or option is none, or no run is left.
            NeedsExtraError: matplotlib is not installed.
        """
        return draw_comparison(compare(self._results, y, a, b, **options), ax)

    def prim(self, condition: str, *, box: int | None = None, ax: Axes | None = None, **options: Option) -> Axes:
        """Draw the box of factors in which `condition` holds; options as `henad_web.analysis.prim.prim` has them.

        Args:
            condition: What is looked for, such as ``Infected:max > 500``.
            box: Number of the box, from 0, which holds all runs; the one that is chosen when None.
            ax: Where to draw; a new figure when None.
            **options: ``factors``, ``held``, ``threshold``, ``mass_min`` and so on.

        Raises:
            UsageError: The condition cannot be read, no run or every run is of interest, or an option is not allowed.
            NeedsExtraError: matplotlib is not installed.
        """
        return draw_boxes(prim(self._results, condition, **options), ax, box=box)

    def search(self, *, ax: Axes | None = None) -> Axes:
        """Draw what a search came to: its best candidate by candidate, its front, or the cells that it met.

        Args:
            ax: Where to draw; a new figure when None.

        Raises:
            UsageError: The results are of a sweep, or the search was told too little.
            NeedsExtraError: matplotlib is not installed.
        """
        if self._results.search is None:
            raise UsageError("the results are of a sweep, not of a search; allowed: response, bands, heatmap and so on")
        return draw_search(self._results.search, ax)
