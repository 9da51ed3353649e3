"""Where Chromium is and how it is started, for every test that needs a browser."""

from __future__ import annotations

import shutil

import pytest

__all__ = ["FLAGS", "chromium_path"]

FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium_path() -> str:
    """Return the path of the Chromium on the path.

    Raises:
        pytest.UsageError: If there is none: browser tests fail loudly, they are never skipped.
    """
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise pytest.UsageError(
            f"browser tests need a Chromium and none of {', '.join(NAMES)} is on the path; on Debian: "
            f"apt-get install chromium; or run the shared tests on CPython alone with --host=cpython"
        )
    return found
