"""FNV-1a with 64 bits over typed writes: the one hash behind schemas, plans, run keys and tables.

Owns how numbers, texts and parameter values become bytes. What is written in which order is its callers' matter.
"""

from __future__ import annotations

from henad_web.model.decimals import f32_bits, f64_bits
from henad_web.model.params import Param, ParamKind, ParamValue

__all__ = ["FNV_BASIS", "FNV_PRIME", "KIND_TAGS", "Fnv1a64", "fnv1a64"]

FNV_BASIS = 0xCBF29CE484222325
FNV_PRIME = 0x100000001B3
_MASK = 2**64 - 1
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
        value = self.value_int
        for byte in data:
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
