"""The tests' hosts: `tests/shared` runs on CPython and inside Chromium, see `tests/pyodide_host`."""

import gc

from tests.pyodide_host.plugin import (
    pytest_addoption,
    pytest_collection_finish,
    pytest_collection_modifyitems,
    pytest_pycollect_makeitem,
    pytest_runtest_makereport,
    pytest_runtestloop,
    pytest_sessionfinish,
)
from tests.pyodide_host.profile import load_profile

__all__ = [
    "pytest_addoption",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_pycollect_makeitem",
    "pytest_report_collectionfinish",
    "pytest_runtest_makereport",
    "pytest_runtestloop",
    "pytest_sessionfinish",
]

load_profile()


def pytest_report_collectionfinish() -> None:
    """Leave what the collection of nearly ten thousand tests made out of every collection of garbage from here on.

    Each full one looked through all of it, in this process and in every child that is forked of it.
    """
    gc.freeze()
