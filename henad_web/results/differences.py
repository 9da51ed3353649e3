"""What a verification finds: results that came out otherwise, and its report.

Owns these values, their words, and when two cells hold one result. Runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from henad_web.errors import counted
from henad_web.output.masking import masked_note

__all__ = ["Difference", "TableDifference", "VerifyReport", "is_equal"]

_WHOLE = re.compile(r"-?[0-9]+")

_MOST_RUNS = 10
_MOST_OF_A_RUN = 3
"""Runs, and differences of each of them or of a table, that a report lists."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One result that came out otherwise.

    Attributes:
        run_id: The run.
        table: ``runs.csv``, ``series.csv``, or the file of a table of the model's own.
        column: Its column.
        tick: Tick of the row of a series, None for a row of runs.csv.
        recorded: What was written, None where there is no such row.
        rerun: What came out, None where there is no such row.
    """

    run_id: int
    table: str
    column: str
    tick: int | None
    recorded: str | None
    rerun: str | None

    def __str__(self) -> str:
        """Return the difference in words."""
        where = f"run {self.run_id}, {self.column}" + ("" if self.tick is None else f" at tick {self.tick}")
        return f"{where}: recorded {_shown(self.recorded)}, rerun {_shown(self.rerun)}"


def _shown(text: str | None) -> str:
    return "nothing" if text is None else text or "empty"


@dataclass(frozen=True, slots=True)
class TableDifference:
    """One cell of the tables of a search, or of its manifest, that does not follow from runs.csv.

    Attributes:
        table: Name of the file.
        record: Number of the record, from 1, which is the header; None of the manifest.
        column: Its column, or field.
        recorded: What was written, None where there is no such record.
        expected: What follows from the runs, None where no such record does.
    """

    table: str
    record: int | None
    column: str
    recorded: str | None
    expected: str | None

    def __str__(self) -> str:
        """Return the difference in words."""
        where = self.table if self.record is None else f"{self.table} record {self.record}"
        return f"{where}, {self.column}: recorded {_shown(self.recorded)}, from the runs {_shown(self.expected)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """What a verification found.

    Attributes:
        run_ids: Runs that were rerun, ascending.
        cells: Results compared.
        differences: Those that differ, in the order of the runs.
        batches: Batches of a search that were followed by what runs.csv holds; None where none was to be.
        table_differences: Where the tables of a search hold something else than follows.
        remarks: Why a difference may be no fault, and what could not be checked.
    """

    run_ids: tuple[int, ...]
    cells: int
    differences: tuple[Difference, ...]
    batches: int | None = None
    table_differences: tuple[TableDifference, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs."""
        return not self.differences and not self.table_differences

    def __str__(self) -> str:
        """Return the report: the first differences of each run and of each table, and how many more there are."""
        count = len(self.differences) + len(self.table_differences)
        rerun = f"{counted(len(self.run_ids), 'run')} rerun"
        if self.batches is not None:
            rerun += f", a search of {self.batches} batch{'' if self.batches == 1 else 'es'} followed"
        head = f"{rerun}, {self.cells} results compared, {count} differ"
        notes = (f"  note: {remark}" for remark in self.remarks)
        return "\n".join([head, *self._listed(), *self._listed_tables(), *notes])

    def _listed_tables(self) -> Iterator[str]:
        for table, group in groupby(
            sorted(self.table_differences, key=lambda found: found.table), key=lambda found: found.table
        ):
            differences = list(group)
            yield from (f"  {difference}" for difference in differences[:_MOST_OF_A_RUN])
            if len(differences) > _MOST_OF_A_RUN:
                yield f"  and {len(differences) - _MOST_OF_A_RUN} more in {table}"

    def _listed(self) -> Iterator[str]:
        runs = [(run_id, list(group)) for run_id, group in groupby(self.differences, key=lambda found: found.run_id)]
        for run_id, differences in runs[:_MOST_RUNS]:
            yield from (f"  {difference}" for difference in differences[:_MOST_OF_A_RUN])
            if len(differences) > _MOST_OF_A_RUN:
                yield f"  and {len(differences) - _MOST_OF_A_RUN} more in run {run_id}"
        if len(runs) > _MOST_RUNS:
            more = sum(len(differences) for _, differences in runs[_MOST_RUNS:])
            yield f"  and {more} more in {counted(len(runs) - _MOST_RUNS, 'other run')}"


def is_equal(recorded: str, rerun: str, *, is_text: bool, is_last: bool = False) -> bool:
    """Return whether two cells hold one result: numbers by value, texts by their letters, notes as they are masked.

    Args:
        recorded: The cell that was written.
        rerun: The cell that came out.
        is_text: Whether it holds a text of the model's own.
        is_last: Whether it is a note.
    """
    if is_last:
        return masked_note(recorded) == masked_note(rerun)
    if recorded == rerun:
        return True
    # Another writer may spell a number otherwise; whole numbers must agree to the digit.
    if is_text or not recorded or not rerun or (_WHOLE.fullmatch(recorded) and _WHOLE.fullmatch(rerun)):
        return False
    try:
        return float(recorded) == float(rerun)
    except ValueError:
        return False
