"""The version of the package. Nothing else; the release changes it together with that of the distribution."""

from __future__ import annotations

__all__ = ["VERSION"]

VERSION = "0.1.0"
"""Version of the package; a test holds it to that of the distribution."""
