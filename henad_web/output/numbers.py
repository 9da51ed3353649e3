"""Numbers and texts as the tables hold them.

Owns the cell forms: the shortest positional decimal that reads back, and the quoting of a field. Free of
locale.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from henad_web.model.decimals import WHOLE_LIMIT, f64_text

__all__ = [
    "column_texts",
    "csv_field",
    "csv_line",
    "milliseconds_text",
    "number_text",
]

_FEW = 32
"""Up to so many numbers one by one are faster than a look at the whole column (measured: 20 microseconds for that)."""

_QUOTED = re.compile(r'[,"\r\n]')


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
    if len(values) > _FEW and _all_whole(values):
        return list(map(str, values.astype(np.int64).tolist()))
    return list(map(number_text, values.tolist()))


def _all_whole(values: NDArray[np.float64]) -> bool:
    with np.errstate(invalid="ignore"):
        return bool(np.all((np.abs(values) < WHOLE_LIMIT) & (np.trunc(values) == values)))


def csv_field(text: str) -> str:
    """Return `text` as a field: quoted, quotes doubled, when it holds a comma, a quote or a line break."""
    if _QUOTED.search(text) is None:
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def csv_line(fields: Iterable[str]) -> bytes:
    """Return `fields` as one record of a table, quoted as needed, UTF-8, with its line feed."""
    return (",".join(map(csv_field, fields)) + "\n").encode()
