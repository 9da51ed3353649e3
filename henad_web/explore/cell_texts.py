"""Cells of tables as they are written: numbers, texts and whole columns of them.

Owns the cell forms: the shortest positional decimal that reads back, the quoting of a field; free of locale. What a
cell that is read may hold is `output.cells`' business.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from henad_web.model.decimals import WHOLE_LIMIT, f64_text

__all__ = ["column_texts", "csv_field", "csv_line", "field_texts", "milliseconds_text", "number_text"]

_FEW = 32
"""Up to so many numbers one by one are faster than a look at the whole column (measured: 20 microseconds for that)."""


def number_text(number: float) -> str:
    """Return `number` as a cell: no exponent ever, empty when it is not finite, ``0`` for a negative zero.

    The digits are the fewest that read back as the same double.
    """
    number = float(number)
    return f64_text(number) if math.isfinite(number) else ""


def milliseconds_text(number: float) -> str:
    """Return a timing as a cell: three decimals, empty when it is not finite."""
    return f"{number:.3f}" if math.isfinite(number) else ""


def column_texts(values: NDArray[np.float64]) -> list[str]:
    """Return the cells of `values`, float64 ``(n,)``, each as `number_text` gives it."""
    numbers = values.tolist()
    if len(numbers) <= _FEW:
        return list(map(number_text, numbers))
    sizes = np.abs(values)
    with np.errstate(invalid="ignore"):
        is_whole = np.trunc(values) == values
        if bool(np.all(is_whole & (sizes < WHOLE_LIMIT))):
            return list(map(str, values.astype(np.int64).tolist()))
        is_plain = ~is_whole & (sizes >= _SMALLEST_PLAIN) & (sizes < _LARGEST_PLAIN)
    texts = list(map(repr, numbers))
    for position in np.flatnonzero(~is_plain).tolist():
        texts[position] = number_text(numbers[position])
    return texts


_SMALLEST_PLAIN, _LARGEST_PLAIN = 1e-4, 1e16
"""From the one to below the other, `repr` writes a fraction without an exponent."""


def field_texts(texts: Sequence[str]) -> Sequence[str]:
    """Return each of `texts` as `csv_field` gives it."""
    return texts if _QUOTED.search("".join(texts)) is None else list(map(csv_field, texts))


_QUOTED = re.compile(r'[,"\r\n]')


def csv_field(text: str) -> str:
    """Return `text` as a field: quoted, quotes doubled, when it holds a comma, a quote or a line break."""
    if _QUOTED.search(text) is None:
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def csv_line(fields: Iterable[str]) -> bytes:
    """Return `fields` as one record of a table, quoted as needed, UTF-8, with its line feed."""
    return (",".join(map(csv_field, fields)) + "\n").encode()
