"""Fixtures of tests that write folders, import modules or miss a library, and of those whose process is a worker."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from henad_native import executor_worker


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no disk: what a process that is killed has written stays written."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


@pytest.fixture
def fast_path() -> Iterator[Path]:
    """A folder of its own in memory where the system has such a place: hundreds of small sweeps wait for a disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


@pytest.fixture
def hide_library(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let a library, given by its name, be one that is not installed."""
    find = importlib.import_module

    def hide(library: str) -> None:
        def missing(name: str, package: str | None = None) -> object:
            if name.partition(".")[0] == library:
                raise ModuleNotFoundError(f"No module named {name!r}")
            return find(name, package)

        monkeypatch.setattr(importlib, "import_module", missing)

    return hide


@pytest.fixture
def own_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget the modules and the places of a test."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def no_lanes_left() -> Iterator[None]:
    """End the lanes that wait in this process for another span of a sweep that is over."""
    yield
    for _, _, timer in list(executor_worker._idle):
        timer.cancel()
        timer.function()
