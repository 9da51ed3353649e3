"""Zips of Python source turned into zips of bytecode.

This module runs inside the interpreter that will load the bytecode, so it imports the standard library alone. Parsing
and compiling source is the largest part of a page's first load; bytecode that carries its hash unchecked loads at once.
"""

from __future__ import annotations

import importlib.util
import io
import marshal
import zipfile

__all__ = ["compiled_zip"]

UNCHECKED_HASH = (1).to_bytes(4, "little")
FIRST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)


def compiled_zip(content: bytes, *, location: str, keep_sources: bool) -> bytes:
    """Return a zip of the same modules as bytecode of this interpreter.

    Args:
        content: A zip of packages and modules, such as a wheel.
        location: Where it will lie, so that tracebacks name the files there: ``/lib/python314.zip``.
        keep_sources: Whether each ``.py`` stays, its bytecode in ``__pycache__``; else bytecode takes its place.
    """
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(result, "w") as compiled:
        for name in archive.namelist():
            if name.endswith("/"):
                continue
            data = archive.read(name)
            bytecode = _bytecode(data, f"{location}/{name}") if name.endswith(".py") else None
            if bytecode is None or keep_sources:
                _add(compiled, name, data)
            if bytecode is not None:
                _add(compiled, _cached_name(name) if keep_sources else f"{name}c", bytecode)
    return result.getvalue()


def _bytecode(source: bytes, path: str) -> bytes | None:
    try:
        code = compile(source, path, "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError):
        return None
    return importlib.util.MAGIC_NUMBER + UNCHECKED_HASH + importlib.util.source_hash(source) + marshal.dumps(code)


def _cached_name(name: str) -> str:
    folder, _, file = name.rpartition("/")
    return importlib.util.cache_from_source(f"{folder}/{file}" if folder else file)


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, date_time=FIRST_ZIP_DATE)
    entry.external_attr = 0o100644 << 16
    entry.create_system = 3
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data, compresslevel=9)
