"""FNV-1a with 64 bits over typed writes: the one hash behind schemas, plans, run keys and tables.

Owns how numbers, texts and parameter values become bytes. What is written in which order is its callers' matter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from henad_web.model.decimals import f32_bits, f64_bits
from henad_web.model.params import Param, ParamKind, ParamValue

__all__ = ["FNV_BASIS", "FNV_PRIME", "KIND_TAGS", "Fnv1a64", "fnv1a64", "fold_each", "fold_rows"]

FNV_BASIS = 0xCBF29CE484222325
FNV_PRIME = 0x100000001B3
_MASK = 2**64 - 1
_ROW, _LONG = 1 << 8, 1 << 16
"""Bytes of a row and of a piece where long data are folded in rows; below, one by one costs less."""
_ZERO_RUN = tuple(pow(FNV_PRIME, count, 2**64) for count in range(9))
KIND_TAGS = {
    ParamKind.F32: 0,
    ParamKind.U32: 1,
    ParamKind.BOOL: 2,
    ParamKind.CHOICE: 3,
    ParamKind.F64: 4,
    ParamKind.I64: 5,
    ParamKind.TEXT: 6,
}
"""The byte that stands for a kind before its numbers."""


class Fnv1a64:
    """A running hash; every write returns the hash itself, so that writes chain.

    Attributes:
        value_int: The hash so far, 0 to 2^64 - 1.
    """

    __slots__ = ("value_int",)

    def __init__(self, value_int: int = FNV_BASIS) -> None:
        self.value_int = value_int

    def byte(self, byte: int) -> Fnv1a64:
        """Write one byte, 0 to 255."""
        self.value_int = ((self.value_int ^ byte) * FNV_PRIME) & _MASK
        return self

    def u64(self, number: int) -> Fnv1a64:
        """Write an integer, 0 to 2^64 - 1, as eight bytes, the lowest first."""
        value, rest = self.value_int, 8
        # A zero byte only multiplies, so the high zero bytes of a small number are one multiplication.
        while number:
            value = ((value ^ (number & 255)) * FNV_PRIME) & _MASK
            number >>= 8
            rest -= 1
        self.value_int = (value * _ZERO_RUN[rest]) & _MASK
        return self

    def bytes(self, data: bytes) -> Fnv1a64:
        """Write bytes as they are, without their length."""
        whole = len(data) - len(data) % _ROW if len(data) >= _LONG else 0
        for first in range(0, whole, _LONG):
            rows = np.frombuffer(data[first : min(first + _LONG, whole)], np.uint8).reshape(-1, _ROW)
            self.value_int = fold_rows(self.value_int, rows)
        value = self.value_int
        for byte in data[whole:]:
            value = ((value ^ byte) * FNV_PRIME) & _MASK
        self.value_int = value
        return self

    def text(self, text: str) -> Fnv1a64:
        """Write a text: the length of its UTF-8 form by `u64`, then that form."""
        data = text.encode()
        return self.u64(len(data)).bytes(data)

    def f64(self, number: float) -> Fnv1a64:
        """Write the bits of a double."""
        return self.u64(f64_bits(number))

    def value(self, param: Param, value: ParamValue) -> Fnv1a64:
        """Write a canonical value of `param`: the tag of its kind, then the value by `bare_value`."""
        return self.byte(KIND_TAGS[param.kind]).bare_value(param, value)

    def bare_value(self, param: Param, value: ParamValue) -> Fnv1a64:
        """Write a canonical value of `param`: its bits, number (two's complement), 0 or 1, index, or text."""
        return self.text(str(value)) if param.kind is ParamKind.TEXT else self.u64(_value_bits(param, value))

    def hex(self) -> str:
        """Return the hash as 16 lower-case hexadecimal digits."""
        return f"{self.value_int:016x}"


def _value_bits(param: Param, value: ParamValue) -> int:
    if param.kind is ParamKind.CHOICE:
        return param.options.index(str(value))
    if param.kind is ParamKind.F32:
        return f32_bits(float(value))
    return f64_bits(float(value)) if param.kind is ParamKind.F64 else int(value) & _MASK


def fnv1a64(data: bytes) -> int:
    """Return the hash of `data` alone, without a length before it."""
    return Fnv1a64().bytes(data).value_int


def fold_rows(value: int, rows: NDArray[np.uint8], taken: NDArray[np.bool_] | None = None) -> int:
    """Return the hash `value` after all bytes of `rows`, one row after the other.

    A write makes ``h' = (h ^ b) * P``. Which number ``h ^ b`` adds to ``h`` depends on the low byte alone, and so does
    the next low byte: once the low bytes are known, what is left is one sum of products.

    Args:
        value: The hash so far.
        rows: The bytes, uint8 ``(n, width)``.
        taken: Which of them count, bool ``(n, width)``; None when all do.
    """
    if taken is None:
        # A zero byte only multiplies: a column of zeros becomes a part of the step before it.
        positions = np.flatnonzero(rows.any(axis=0))
        if not len(positions):
            return value * pow(FNV_PRIME, rows.size, 2**64) % 2**64
        lead, gaps = int(positions[0]), np.diff(positions, append=rows.shape[1] + positions[0])
        factors = np.array([[pow(FNV_PRIME, int(gap), 2**64) for gap in gaps]], np.uint64)
        value = _folded(value * pow(FNV_PRIME, lead, 2**64) % 2**64, rows[:, positions], factors)
        return value * pow(FNV_PRIME, -lead, 2**64) % 2**64
    return _folded(value, np.where(taken, rows, 0), np.where(taken, np.uint64(FNV_PRIME), np.uint64(1)))


def fold_each(
    values: NDArray[np.uint64], rows: NDArray[np.uint8], taken: NDArray[np.bool_] | None = None
) -> NDArray[np.uint64]:
    """Return each of the hashes `values`, uint64 ``(n,)``, after the bytes of its own row of `rows`.

    Args:
        values: The hashes so far.
        rows: The bytes, uint8 ``(n, width)``.
        taken: Which of them count, bool ``(n, width)``; None when all do.
    """
    for position in range(rows.shape[1]):
        written = (values ^ rows[:, position]) * np.uint64(FNV_PRIME)
        values = written if taken is None else np.where(taken[:, position], written, values)
    return values


def _folded(value: int, rows: NDArray[np.uint8], factors: NDArray[np.uint64]) -> int:
    """Return the hash after ``h' = (h ^ b) * f`` for the bytes of `rows` and `factors`, ``(n, w)`` or ``(1, w)``."""
    low_bytes = _low_bytes(value, rows, np.broadcast_to(factors.astype(np.uint8), rows.shape))
    added = (low_bytes ^ rows).astype(np.int64) - low_bytes
    after = _products_to_the_end(factors)
    of_rows = (added.view(np.uint64) * after).sum(axis=1, dtype=np.uint64)
    row_factors = np.broadcast_to(after[:, 0], (len(rows),))
    to_the_end = _products_to_the_end(row_factors)
    total = int((of_rows[:-1] * to_the_end[1:]).sum(dtype=np.uint64)) + int(of_rows[-1])
    return (total + value * int(to_the_end[0])) % 2**64


def _products_to_the_end(factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return for each position along the last axis the product of the factors from there on."""
    products: NDArray[np.uint64] = np.multiply.accumulate(factors[..., ::-1], axis=-1)[..., ::-1]
    return products


def _low_bytes(value: int, rows: NDArray[np.uint8], factors: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the low byte of the hash before each byte of `rows`, of the same shape.

    Bit k of the next low byte is bit k of this one, turned over where the lower bits and the byte say so: a running
    exclusive or, one bit after the other.
    """
    data, factors = rows.ravel(), factors.ravel()
    found = np.zeros(data.size, np.uint8)
    found[0] = value & 255
    for bit in range(8):
        turned = (found ^ data) * factors
        turned &= np.uint8(1 << bit)
        np.bitwise_xor.accumulate(turned, out=turned)
        found[1:] |= turned[:-1]
    return found.reshape(rows.shape)
