"""Tables as other programs leave them, and a model whose names need quotes: for tests of every reader."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping

import henad_web as hw
from henad_web.model.params import choice
from henad_web.output.records import RecordReader
from tests.shared.toy_models import Toy, entry_of

__all__ = ["FORMS", "ODD_ENTRY", "OPTIONS", "TABLES", "Odd", "in_form", "odd_spec"]

TABLES = ("runs.csv", "series.csv", "summary.csv")

Form = Callable[[bytes], bytes]


def _all_quoted(table: bytes) -> bytes:
    rows = [record.fields for record in RecordReader(io.BytesIO(table), "t.csv")]
    lines = (",".join('"' + field.replace('"', '""') + '"' for field in row) for row in rows)
    return "".join(line + "\n" for line in lines).encode()


def _header_quoted(table: bytes) -> bytes:
    reader = RecordReader(io.BytesIO(table), "t.csv")
    header = next(iter(reader))
    return _all_quoted(header.raw) + table[header.end :]


def _rows_quoted(table: bytes) -> bytes:
    reader = RecordReader(io.BytesIO(table), "t.csv")
    header = next(iter(reader))
    return header.raw + _all_quoted(table[header.end :])


def _crlf(table: bytes) -> bytes:
    """Line ends of another system, those inside quotes left alone."""
    return b"".join(record.raw[:-1] + b"\r\n" for record in RecordReader(io.BytesIO(table), "t.csv"))


def _marked(table: bytes) -> bytes:
    return b"\xef\xbb\xbf" + table


FORMS: Mapping[str, Form] = {
    "crlf": _crlf,
    "mark": _marked,
    "quoted header": _header_quoted,
    "quoted rows": _rows_quoted,
    "all quoted": _all_quoted,
    "blank end": lambda table: table + b"\n\r\n\n" if table.endswith(b"\n") else table,
    "all at once": lambda table: _marked(_crlf(_all_quoted(table))),
}


def in_form(files: Mapping[str, bytes], form: Form) -> dict[str, bytes]:
    """Return `files` with every table in another form."""
    return {name: form(content) if name in TABLES else content for name, content in files.items()}


OPTIONS = ("plain", "a, b", 'say "no"', "two\nlines")


class Odd(Toy):
    """Reports statistics whose labels hold separators, quotes and line breaks."""

    def stats(self) -> dict[str, float]:
        return {"Infected, total": self.tick + 0.5, 'the "rest"': -1.0 * self.tick, "two\nlines": 3.0}


ODD_ENTRY = entry_of(
    Odd,
    stats=("Infected, total", 'the "rest"', "two\nlines"),
    params=(choice("kind", "Kind", OPTIONS),),
)


def odd_spec(*, steps: int = 4, replicates: int = 2) -> hw.SweepSpec:
    """Return a study over every option of the odd model."""
    factor = hw.FactorSpec(param="kind", levels=hw.ValueLevels(values=OPTIONS))
    return hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(steps=steps, replicates=replicates),
        measure=hw.MeasureSettings(stats_every=1),
        blocks=(hw.BlockSpec(factors=(factor,)),),
    )
