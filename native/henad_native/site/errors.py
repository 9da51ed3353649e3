"""The errors of building and serving the page.

This module owns messages and fields; it does no work.
"""

from __future__ import annotations

from collections.abc import Iterable

from henad_web.errors import HenadError

__all__ = ["FetchError", "PinError", "SiteError", "SourceError"]


class SiteError(HenadError):
    """Base of everything that stops the page from being built or served."""


class PinError(SiteError):
    """A pinned list that cannot be read. `path` is its file."""

    def __init__(self, path: str, wrong: str) -> None:
        self.path, self.wrong = path, wrong
        super().__init__(f"{path}: {wrong}; restore the file as the repository has it")


class SourceError(SiteError):
    """One source that did not give a file. `source` is its name, `reason` one line."""

    def __init__(self, source: str, reason: str) -> None:
        self.source, self.reason = source, reason
        super().__init__(f"{source}: {reason}")


class FetchError(SiteError):
    """A pinned file that no source gave.

    Attributes:
        path: Path of the file inside the site's vendor folder.
        failures: The error of each source, in the order tried.
    """

    def __init__(self, path: str, sha256: str, failures: Iterable[SourceError]) -> None:
        self.path, self.sha256, self.failures = path, sha256, tuple(failures)
        tried = "".join(f"\n  {failure}" for failure in self.failures) or "\n  none"
        super().__init__(
            f"no source gave the pinned file {path} (sha256 {sha256}); tried:{tried}\n"
            f"connect to the package registries once, or put a file of that content into the cache folder under "
            f"that hash"
        )
