"""Saves a sweep's files as one zip, with their description as an RO-Crate.

Owns the download button. The archive is made when asked for, so that a long sweep is not held twice.
"""

from __future__ import annotations

from collections.abc import Mapping

from dom import by_id, save, write
from handlers import listen
from wording import archive_name

from henad_web.output.crate import with_crate
from henad_web.results.archive import pack
from henad_web.wording import byte_text

__all__ = ["Download"]


class Download:
    """Offers the files of the latest ended sweep."""

    def __init__(self) -> None:
        self._button = by_id("download")
        self._files: Mapping[str, bytes] = {}
        self._model = ""
        listen(self._button, "click", self._save)

    def clear(self) -> None:
        """Offer nothing."""
        self._files = {}
        self._button.disabled = True
        write(self._button, "Download results")

    def offer(self, model: str, files: Mapping[str, bytes]) -> None:
        """Offer `files` (name to content) of a sweep of `model`."""
        self._model, self._files = model, files
        self._button.disabled = False
        size = sum(len(content) for content in files.values())
        write(self._button, f"Download results ({len(files)} files, {byte_text(size)})")

    def _save(self, _event: object) -> None:
        save(pack(with_crate(self._files)), archive_name(self._model))
