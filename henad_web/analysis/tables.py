"""What every answer is: a small frozen table with labels and units, which says what it left out.

Owns how such a table is read by name, and shown as text, as HTML and as a frame. Computes nothing.
"""

from __future__ import annotations

import importlib
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from henad_web.errors import counted
from henad_web.explore.cell_texts import csv_line, number_text
from henad_web.markup import SHOWN_ROWS, short_text, table_html
from henad_web.results.errors import MissingColumnError, NeedsExtraError

if TYPE_CHECKING:
    from henad_web.results.frames import DataFrame

__all__ = ["AnalysisTable", "Axis", "Column", "FactorTable", "LeftOut"]

Column = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What the numbers of a column are.

    Attributes:
        name: Its name in the tables, such as ``infection_rate`` or ``Infected:max``.
        label: The same for people, such as ``Infection rate``.
        unit: ``ms``, ``tick``, ``1/s``; empty for a pure number.
    """

    name: str
    label: str
    unit: str = ""

    def __str__(self) -> str:
        """Return the label with its unit, as an axis of a plot bears it."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Runs that an answer does not speak of, and those it speaks of with a reserve.

    Attributes:
        held: What the runs that were asked for have in common, such as ``recovery_rate 0.1``; empty where all were.
        not_done: Runs of the plan that have no row.
        failed: Runs that failed.
        without_value: Runs whose value is missing or not finite, or that had ended before the tick asked for.
        non_finite: Runs counted in that met a value which is not finite: their reducers skip such samples.
    """

    held: str = ""
    not_done: int = 0
    failed: int = 0
    without_value: int = 0
    non_finite: int = 0

    @property
    def runs(self) -> int:
        """Runs that are not in the answer."""
        return self.not_done + self.failed + self.without_value

    def lines(self) -> tuple[str, ...]:
        """Return what was held, and a sentence for each kind of which there is any."""
        said = (
            (self.not_done, "not done", "left out"),
            (self.failed, "failed", "left out"),
            (self.without_value, "without a value", "left out"),
            (self.non_finite, "that met a value which is not finite", "counted, without the samples skipped"),
        )
        asked = (f"only runs with {self.held}",) if self.held else ()
        left = (f"{counted(count, 'run', grouped=True)} {what}: {how}" for count, what, how in said if count)
        return (*asked, *left)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnalysisTable:
    """An answer: columns of one length, and what was left out of them.

    Attributes:
        left_out: The runs it does not speak of.
    """

    left_out: LeftOut

    @property
    @abstractmethod
    def title(self) -> str:
        """What the table answers, on one line."""

    @abstractmethod
    def columns(self) -> Mapping[str, Column]:
        """Return its columns by name, each ``(rows,)``."""

    @property
    def lines(self) -> tuple[str, ...]:
        """What to know beside the numbers: what was left out, how intervals were made."""
        return self.left_out.lines()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.columns().values())))

    def __getitem__(self, name: str) -> Column:
        """Return the column `name`, ``(rows,)``.

        Raises:
            MissingColumnError: There is no such column.
        """
        columns = self.columns()
        if name not in columns:
            raise MissingColumnError(self.title, name, columns)
        return columns[name]

    def __repr__(self) -> str:
        """Return the facts on one line."""
        return f"<{type(self).__name__}: {self.title}, {counted(len(self), 'row')}>"

    def __str__(self) -> str:
        """Return the table as text: title, columns, what was left out."""
        names, rows, more = self._shown()
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        texts = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in (names, *rows)
        ]
        return "\n".join([self.title, *texts, *more, *self.lines])

    def _repr_html_(self) -> str:
        columns = self.columns()
        return table_html(self.title, tuple(columns), tuple(columns.values()), notes=self.lines)

    def to_csv(self) -> str:
        """Return the table as CSV, numbers as the tables of a sweep write them and NaN as an empty cell."""
        columns = self.columns()
        rows = zip(*(map(level_text, column.tolist()) for column in columns.values()), strict=True)
        return b"".join(map(csv_line, [tuple(columns), *rows])).decode()

    def to_pandas(self) -> DataFrame:
        """Return the table as a `pandas.DataFrame`, with title and lines in its attributes.

        Raises:
            NeedsExtraError: pandas is not installed.
        """
        try:
            pandas = importlib.import_module("pandas")
        except ImportError as error:
            raise NeedsExtraError("to_pandas", "pandas") from error
        frame = pandas.DataFrame(dict(self.columns()))
        frame.attrs = {"title": self.title, "lines": list(self.lines)}
        return frame

    def _shown(self) -> tuple[tuple[str, ...], list[tuple[str, ...]], tuple[str, ...]]:
        columns = self.columns()
        rows = list(zip(*(map(short_text, column[:SHOWN_ROWS].tolist()) for column in columns.values()), strict=True))
        left = len(self) - len(rows)
        return tuple(columns), rows, (f"and {counted(left, 'more row', grouped=True)}",) if left else ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FactorTable(AnalysisTable):
    """An answer with a row for each factor: what it does to y.

    Attributes:
        axis: What is measured, y.
        axes: The factors, in the order of the rows.
        notes: What to know of how the numbers were made, a sentence each.
    """

    axis: Axis
    axes: tuple[Axis, ...]
    notes: tuple[str, ...] = ()

    @property
    def factors(self) -> tuple[str, ...]:
        """Names of the factors, in the order of the rows."""
        return tuple(axis.name for axis in self.axes)

    @property
    def lines(self) -> tuple[str, ...]:
        """How the numbers were made, and what was left out."""
        return (*self.notes, *self.left_out.lines())


def level_text(level: object) -> str:
    """Return a value as the tables write it, NaN as nothing."""
    if isinstance(level, float):
        return number_text(level)
    return str(level).lower() if isinstance(level, bool) else str(level)
