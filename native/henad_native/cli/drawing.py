"""`henad plot` and `henad report`: results as a figure, and as one page of HTML.

Owns which options a plot takes, and the files. What is drawn is the business of `henad_web`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import henad_web as hw
from henad_native.cli.analyzing import MAIN_MEASURES, At, Hold, ResultsPath, held_of
from henad_native.cli.choices import BadOption
from henad_native.cli.consoles import message_console, print_line, result_console
from henad_native.cli.exporting import put_file, refuse_replaced
from henad_native.disk import write_new
from henad_native.unpacking import is_archive_file
from henad_web.analysis.intervals import CenterKind
from henad_web.analysis.selection import varied_factors
from henad_web.analysis.sensitivity import Method
from henad_web.plots.canvas import FigureFormat, figure_bytes
from henad_web.report.document import no_figures_line

__all__ = ["PlotKind", "plot_command", "report_command"]

FigureFile = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The figure: .svg, .pdf or .png.")]
Y = Annotated[
    str | None, typer.Option("--y", metavar="NAME", help="What is measured; of bands a statistic, of heatmap a factor.")
]
X = Annotated[str | None, typer.Option("--x", metavar="FACTOR", help="The factor along the axis.")]
Z = Annotated[str | None, typer.Option("--z", metavar="NAME", help="Of heatmap: what is measured.")]
By = Annotated[
    list[str] | None, typer.Option("--by", metavar="FACTOR", help="A curve for each level; may be repeated.")
]
GroupA = Annotated[
    list[str] | None,
    typer.Option("--a", metavar="FACTOR=VALUE[,...]", help="Of compare: runs of the first group; may be repeated."),
]
GroupB = Annotated[
    list[str] | None,
    typer.Option("--b", metavar="FACTOR=VALUE[,...]", help="Of compare: runs of the second; may be repeated."),
]
Condition = Annotated[
    str | None,
    typer.Option("--condition", metavar="TEXT", help="Of prim: what is looked for, as 'Infected:max > 500'."),
]
Center = Annotated[CenterKind | None, typer.Option("--center", help="Draw means, or medians.")]
Bins = Annotated[int | None, typer.Option("--bins", metavar="N", min=1, help="Cut sampled factors into so many parts.")]
How = Annotated[Method | None, typer.Option("--method", help="Of sensitivity: how to measure it.")]
Overwriting = Annotated[bool, typer.Option("--overwrite", help="Replace a file of that name that is there.")]


class PlotKind(StrEnum):
    """What can be drawn."""

    RESPONSE = "response"
    BANDS = "bands"
    HEATMAP = "heatmap"
    SENSITIVITY = "sensitivity"
    COMPARE = "compare"
    PRIM = "prim"
    SEARCH = "search"


_NEEDED: Mapping[PlotKind, tuple[str, ...]] = {
    PlotKind.RESPONSE: ("y", "x"),
    PlotKind.BANDS: ("y",),
    PlotKind.HEATMAP: ("z", "x", "y"),
    PlotKind.SENSITIVITY: ("y",),
    PlotKind.COMPARE: ("y", "a", "b"),
    PlotKind.PRIM: ("condition",),
    PlotKind.SEARCH: (),
}
"""Options that a plot must have, in the order in which `ResultSet.plot` takes them."""

_ALLOWED: Mapping[PlotKind, tuple[str, ...]] = {
    PlotKind.RESPONSE: ("by", "hold", "at", "center", "bins"),
    PlotKind.BANDS: ("by", "hold", "center"),
    PlotKind.HEATMAP: ("hold", "at", "center", "bins"),
    PlotKind.SENSITIVITY: ("hold", "at", "method"),
    PlotKind.COMPARE: ("hold", "at"),
    PlotKind.PRIM: ("hold",),
    PlotKind.SEARCH: (),
}
"""Options that a plot may have besides."""


def plot_command(
    path: ResultsPath,
    kind: Annotated[PlotKind, typer.Argument(help="What to draw.")],
    out: FigureFile,
    y: Y = None,
    x: X = None,
    z: Z = None,
    by: By = None,
    a: GroupA = None,
    b: GroupB = None,
    condition: Condition = None,
    hold: Hold = None,
    at: At = None,
    center: Center = None,
    bins: Bins = None,
    method: How = None,
    overwrite: Overwriting = False,
) -> None:
    """Draw the results in DIR into a figure for a paper: intervals, counts and what was left out are on it.

    Names are those of the tables: reducers as Infected:max, statistics as Infected, factors as infection_rate.
    """
    given = {"y": y, "x": x, "z": z, "by": by, "a": a, "b": b, "hold": hold, "at": at}
    given |= {"condition": condition, "center": center, "bins": bins, "method": method}
    figure_kind = _figure_kind(out)
    options = _taken(kind, {name: value for name, value in given.items() if value is not None and value != []})
    _check_place(out, overwrite=overwrite)
    results = hw.ResultSet.open(path)
    _check_needed(kind, options, results)
    for name in ("a", "b", "hold"):
        if name in options:
            options[name] = held_of(results, f"--{name}", options[name])
    if "hold" in options:
        options["held"] = options.pop("hold")
    positional = [options.pop(name) for name in _NEEDED[kind]]
    axes = getattr(results.plot, kind)(*positional, **options)
    _write(out, figure_bytes(axes, figure_kind))
    if results.missing_line is not None:
        print_line(message_console(), f"note: {results.missing_line}")


def report_command(
    path: ResultsPath,
    y: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[Y]...", help=f"What it is about: reducers such as Infected:max; without any {MAIN_MEASURES}."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The page; else DIR.html, beside the results.")
    ] = None,
    overwrite: Overwriting = False,
) -> None:
    """Write a report of the results in DIR: one page of HTML that needs neither the network nor a script.

    It has the study, its plan, where it ran, the figures that fit the design, a summary, and the runs that are not ok.
    The model is not needed, and the results may be of a sweep that still runs or was cut off.
    """
    file = _beside(path) if out is None else out
    _check_place(file, overwrite=overwrite)
    _write(file, hw.ResultSet.open(path).to_html(measures=y or ()).encode())
    without = no_figures_line()
    if without is not None:
        print_line(message_console(), f"warning: {without}")


def _figure_kind(out: Path) -> FigureFormat:
    suffix = out.suffix[1:].lower()
    if suffix not in list(FigureFormat):
        allowed = ", ".join(f".{kind}" for kind in FigureFormat)
        came = f"'{out.suffix}' is no kind of figure" if suffix else f"'{out}' has no ending that says its kind"
        raise BadOption("--out", f"{came}; allowed: {allowed}")
    return FigureFormat(suffix)


def _taken(kind: PlotKind, given: dict[str, Any]) -> dict[str, Any]:
    """Return the options `given` to a plot of `kind`.

    Raises:
        BadOption: One does not go with it.
    """
    needed, allowed = _NEEDED[kind], _ALLOWED[kind]
    for name in given:
        if name not in (*needed, *allowed):
            taken = ", ".join(f"--{each}" for each in (*needed, *allowed)) or "none"
            raise BadOption(f"--{name}", f"a plot of {kind} has no such option; allowed: {taken}")
    return given


def _check_needed(kind: PlotKind, given: Mapping[str, Any], results: hw.ResultSet) -> None:
    """Make sure that a plot of `kind` is `given` what it needs.

    Raises:
        BadOption: An option is missing.
    """
    for name in _NEEDED[kind]:
        if name not in given:
            is_factor = name == "x" or (name, kind) == ("y", PlotKind.HEATMAP)
            varied = f"; factors that vary: {', '.join(varied_factors(results)) or 'none'}" if is_factor else ""
            raise BadOption(f"--{name}", f"a plot of {kind} needs it{varied}")


def _beside(path: Path) -> Path:
    named = path if path.name not in ("", "..") else Path(os.path.abspath(path))
    return named.with_name(f"{named.stem if is_archive_file(path) else named.name}.html")


def _check_place(file: Path, *, overwrite: bool) -> None:
    """Make sure that `file` may be written, before anything is read.

    Raises:
        BadOption: It is a folder.
        OutputError: It is there, and is not to be replaced.
    """
    if os.path.isdir(file):
        raise BadOption("--out", f"{file} is a folder; give the name of a file")
    if not overwrite:
        refuse_replaced([file])


def _write(file: Path, content: bytes) -> None:
    """Write `file` and tell its name."""
    put_file(file, lambda place: write_new(place, [content]), elsewhere="--out FILE")
    print_line(result_console(), str(file))
