"""The tests' hosts: `tests/shared` runs on CPython and inside Chromium, see `tests/pyodide_host`."""

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
    "pytest_runtest_makereport",
    "pytest_runtestloop",
    "pytest_sessionfinish",
]

load_profile()
