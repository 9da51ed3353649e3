"""The names of the files a sweep leaves, in one place.

Names only; what is in a file is its own module's business.
"""

from __future__ import annotations

__all__ = ["LOCK", "MANIFEST", "MARKER", "PARTIAL", "RESULT_NAMES", "RUNS", "SERIES", "STAGED", "SUMMARY"]

RUNS = "runs.csv"
SERIES = "series.csv"
SUMMARY = "summary.csv"
MANIFEST = "manifest.json"

RESULT_NAMES = (
    RUNS,
    SERIES,
    SUMMARY,
    MANIFEST,
    "evaluations.csv",
    "batches.csv",
    "generations.csv",
    "best.csv",
    "archive.csv",
)
"""Every file of a sweep or a search, in the order a record lists them."""

STAGED = ".staged"
"""Ending of a table that is about to replace another one."""

MARKER = "tables.staged"
"""While this file is there the staged tables are the tables; without it they are of no meaning."""

PARTIAL = ".partial"
"""Ending of a whole file that is being written; of no meaning once nobody writes."""

LOCK = ".lock"
"""The file whose lock says that somebody writes into its directory."""
