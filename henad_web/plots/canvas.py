"""What every plot is drawn on: figures of one style, their files, colours, and texts that are drawn as they are.

Owns the style and how a figure becomes bytes. Figures are made without pyplot, so that none is kept, shown or counted
by it, and matplotlib's settings stay as they are. Whoever gives axes of their own keeps their own style: only colours
and what is drawn are the same there.
"""

from __future__ import annotations

import functools
import importlib
import io
import os
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias, cast

from henad_web.analysis.tables import level_text
from henad_web.errors import UsageError
from henad_web.markup import seen
from henad_web.results.errors import NeedsExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "Colour",
    "FigureFormat",
    "MARKERS",
    "NEUTRAL",
    "axis_text",
    "check_can_draw",
    "draw_legend",
    "drawn_on",
    "figure_bytes",
    "group_colours",
    "level_label",
    "new_axes",
    "plain",
    "shortened",
    "write_levels_along",
    "write_levels_up",
    "write_notes",
]

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of Okabe and Ito that stand out from white, told apart by people who confuse colours; yellow is left out."""

MARKERS = "osD^vPX*<>"
"""Marks of groups, so that a print without colours tells them apart too."""

NEUTRAL = "#595959"
"""Colour of notes and of what is no group."""

SEQUENCE = "viridis"
"""Colours of a heatmap, and of more groups than the palette has; even steps of lightness, also without colours."""

WIDTH_IN, HEIGHT_IN = 5.6, 3.5
"""Size of a figure in inches: a column and a half of a journal."""

LONGEST_LABEL = 32
"""Letters of a group or a level; longer ones lose their middle."""

LARGEST = 1e300
"""Largest size of a value that is drawn; an axis around those near the end of what a number holds overflows."""

_STYLE: dict[str, Any] = {
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.titlesize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.5,
    "lines.markersize": 4,
    "errorbar.capsize": 2.5,
    "legend.fontsize": 8,
    "legend.title_fontsize": 8,
    "legend.frameon": False,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    # Text stays text, to be searched and edited; a PDF brings its letters along as TrueType, as journals ask.
    "svg.fonttype": "none",
    "svg.hashsalt": "henad",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
}

_Library: TypeAlias = Any
_Setting: TypeAlias = Any
"""What matplotlib takes, which is not known where it is not installed."""

Colour: TypeAlias = Any
"""Whatever matplotlib takes for a colour."""

MANY_ENTRIES = 12
"""Entries of a legend from which they stand in two columns."""

_NARROWEST, _UPRIGHT = 9, 22
"""Letters of a line below which levels are written upright, and of levels that stand so or beside an axis."""

_NOTE_SIZE = 7
_UNDATED: Mapping[str, dict[str, Any]] = {
    "svg": dict.fromkeys(("Creator", "Date", "Format", "Type")),
    "pdf": {"CreationDate": None},
    "png": {},
}


class FigureFormat(StrEnum):
    """Kinds of files that a figure becomes."""

    SVG = "svg"
    PDF = "pdf"
    PNG = "png"


def _library(name: str = "matplotlib") -> _Library:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise NeedsExtraError("a plot", "matplotlib", extra="plot") from error


def check_can_draw() -> None:
    """Make sure that something can be drawn.

    Raises:
        NeedsExtraError: matplotlib is not installed.
    """
    _library()


@contextmanager
def _style() -> Iterator[None]:
    with _library("matplotlib.style").context(["default", _STYLE]):
        yield


@functools.cache
def _kinds() -> tuple[type[Figure], type[Axes]]:
    """Return figures that are saved in the style, and axes that a notebook shows, although no pyplot does it for them.

    Made when they are needed: what they derive from is not always installed.
    """
    figures, axes = _library("matplotlib.figure"), _library("matplotlib.axes")
    return (
        type("StyledFigure", (figures.Figure,), {"savefig": _save, "_repr_png_": _png}),
        type("StyledAxes", (axes.Axes,), {"_repr_png_": _png}),
    )


def _save(figure: Figure, fname: str | os.PathLike[str] | BinaryIO, **settings: _Setting) -> None:
    kind = str(settings.get("format") or Path(str(fname)).suffix[1:]).lower()
    with _style(), warnings.catch_warnings():
        # A letter that the font lacks is a box here, and the letter itself in an SVG.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        _library("matplotlib.figure").Figure.savefig(figure, fname, **{"metadata": _UNDATED.get(kind), **settings})


def _png(drawn: Axes | Figure) -> bytes:
    return figure_bytes(drawn, FigureFormat.PNG)


def new_axes(*, width: float = WIDTH_IN, height: float = HEIGHT_IN) -> Axes:
    """Return the axes of a new figure of `width` x `height` inches, in the style.

    Raises:
        NeedsExtraError: matplotlib is not installed.
    """
    figure_kind, axes_kind = _kinds()
    with _style():
        figure = figure_kind(figsize=(width, height), layout="constrained")
        return figure.add_subplot(axes_class=axes_kind)


@contextmanager
def drawn_on(ax: Axes | None, *, width: float = WIDTH_IN, height: float = HEIGHT_IN) -> Iterator[Axes]:
    """Lend the axes to draw on: `ax` in the style it came in, or those of a new figure in the package's.

    Raises:
        UsageError: What was drawn is too large for matplotlib.
        NeedsExtraError: matplotlib is not installed.
    """
    if ax is not None:
        with _checked(ax):
            yield ax
        return
    with _style(), _checked(new_axes(width=width, height=height)) as axes:
        yield axes


@contextmanager
def _checked(ax: Axes) -> Iterator[Axes]:
    try:
        yield ax
    finally:
        # Matplotlib places its ticks by differences, which overflow: then, or while it is drawn on.
        for low, high in (ax.dataLim.intervalx, ax.dataLim.intervaly):
            if max(abs(low), abs(high)) > LARGEST and low <= high:
                came = f"values from {low:.3g} to {high:.3g}"
                raise UsageError(f"{came} cannot be drawn, only those within {LARGEST:g} can; draw another measure")


def figure_bytes(drawn: Axes | Figure, kind: str) -> bytes:
    """Return the file of a figure, the same bytes whenever it is drawn; it tells no date.

    Saved once more it may be laid out anew, a hair apart.

    Args:
        drawn: The figure, or axes that stand in it.
        kind: ``"svg"``, ``"pdf"`` or ``"png"``.

    Raises:
        UsageError: There is no such kind.
    """
    if kind not in list(FigureFormat):
        raise UsageError(f"no kind of figure {kind!r}; allowed: {', '.join(map(repr, map(str, FigureFormat)))}")
    stream = io.BytesIO()
    _save(_figure_of(drawn), stream, format=str(kind))
    return stream.getvalue()


def _figure_of(drawn: Axes | Figure) -> Figure:
    # Axes may stand in a part of a figure, and know that part.
    figure: _Library = drawn.figure
    return cast("Figure", figure.figure)


def group_colours(count: int) -> list[Any]:
    """Return a colour for each of `count` groups."""
    if count <= len(PALETTE):
        return list(PALETTE[:count])
    ramp = _library().colormaps[SEQUENCE]
    return [ramp(0.92 * position / (count - 1)) for position in range(count)]


def plain(text: object) -> str:
    """Return `text` as matplotlib draws it letter by letter: a dollar begins no formula, nothing is left out."""
    drawn = seen(text).replace("$", r"\$")
    # A legend leaves out what begins with an underscore.
    return f" {drawn}" if drawn.startswith("_") else drawn


def shortened(text: object, longest: int = LONGEST_LABEL) -> str:
    """Return `text` to be drawn, its middle left out where it has more than `longest` letters."""
    whole = " ".join(str(text).split())
    if len(whole) > longest:
        end = longest // 3
        whole = f"{whole[: longest - end - 1]}…{whole[-end:]}"
    return plain(whole)


def axis_text(text: object, letters: int = 40) -> str:
    """Return `text` as the name of an axis, in two lines of at most `letters` where it is long."""
    return "\n".join(textwrap.wrap(shortened(text, 2 * letters - 6), letters))


def write_levels_along(ax: Axes, levels: Sequence[object], places: Sequence[float], *, room: int = 60) -> None:
    """Write `levels` below the axis, at their `places`: in a line, else in several, else from below upwards.

    Args:
        ax: The axes.
        levels: Names or numbers.
        places: Where each stands.
        room: Letters that fit below the axis, all levels together.
    """
    width = room // max(1, len(levels)) - 1
    texts = [shortened(level_label(level)) for level in levels]
    is_wide = max(map(len, texts), default=0) > width
    if is_wide and width >= _NARROWEST:
        texts = ["\n".join(textwrap.wrap(text, width)) for text in texts]
    elif is_wide:
        texts = [shortened(level_label(level), _UPRIGHT) for level in levels]
    ax.set_xticks(places, labels=texts, rotation=90 if is_wide and width < _NARROWEST else 0)
    ax.minorticks_off()


def write_levels_up(ax: Axes, levels: Sequence[object], places: Sequence[float]) -> None:
    """Write `levels` beside the axis, at their `places`, so short that the axes keep their room."""
    ax.set_yticks(places, labels=[shortened(level_label(level), _UPRIGHT) for level in levels])


def level_label(level: object) -> str:
    """Return the level of a factor as a plot has it: six digits are enough for a fraction."""
    return f"{level:.6g}" if isinstance(level, float) else level_text(level)


def write_notes(ax: Axes, lines: Iterable[str], *, ends: str = "bands") -> None:
    """Write `lines` below the axes, in small print, one behind the other, wrapped to their width.

    Args:
        ax: The axes.
        lines: What to know beside the drawing.
        ends: What columns that are called low and high in a table are in the drawing.
    """
    points = ax.get_window_extent().width / _figure_of(ax).dpi * 72
    letters = max(40, int(points / (0.54 * _NOTE_SIZE)))
    text = "\n".join(textwrap.wrap("; ".join(lines).replace("low and high: ", f"{ends}: "), letters))
    if text:
        ax.annotate(
            plain(text),
            xy=(0, 0),
            xycoords=("axes fraction", ax.xaxis.label),
            xytext=(0, -5),
            textcoords="offset points",
            va="top",
            ha="left",
            fontsize=_NOTE_SIZE,
            color=NEUTRAL,
            annotation_clip=False,
        )


def draw_legend(ax: Axes, title: str, entries: int) -> None:
    """Write a legend: beside the axes, in two columns where it has more than a dozen entries."""
    columns = 1 + (entries > MANY_ENTRIES)
    ax.legend(title=title, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.6, ncols=columns)
