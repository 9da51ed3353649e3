"""The lock that Pyodide reads: which wheels the site holds, each with its hash, and nothing that it does not hold.

This module owns the lock's form; Pyodide checks each wheel against it while loading.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from henad_native.site.pins import PinnedPackage

__all__ = ["lock_entry", "package_lock"]


def lock_entry(package: PinnedPackage, file_name: str, content: bytes) -> dict[str, Any]:
    """Return the lock's entry of one wheel that lies beside the lock."""
    return {
        "name": package.name,
        "version": package.version,
        "file_name": file_name,
        "install_dir": "site",
        "sha256": hashlib.sha256(content).hexdigest(),
        "package_type": "package",
        "imports": list(package.imports),
        "depends": list(package.depends),
        "unvendored_tests": False,
    }


def package_lock(distributed: bytes, entries: Iterable[Mapping[str, Any]]) -> bytes:
    """Return the site's lock.

    Args:
        distributed: The lock that Pyodide was released with; its statement of interpreter and ABI is kept.
        entries: The entries of the wheels that the site holds.
    """
    info = msgspec.json.decode(distributed)["info"]
    packages = {entry["name"]: entry for entry in sorted(entries, key=lambda entry: str(entry["name"]))}
    return msgspec.json.format(msgspec.json.encode({"info": info, "packages": packages}), indent=2) + b"\n"
