"""The four files of a sweep as one zip, the same bytes for the same files.

Owns the archive's bytes, not how a browser saves them.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

__all__ = ["archive_name", "zip_bytes"]

_UNIX = 3
_PLAIN_FILE = 0o100644 << 16


def archive_name(model: str) -> str:
    """Return the file name under which the results of a sweep of `model` are saved."""
    return f"{model}-sweep.zip"


def zip_bytes(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of `files` (name to content), in their order, with one fixed time and mode for all."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            # The default depends on the platform that writes, and the bytes must not.
            entry.create_system = _UNIX
            entry.external_attr = _PLAIN_FILE
            archive.writestr(entry, content)
    return buffer.getvalue()
