"""The names of the files a sweep leaves, in one place.

Names only; what is in a file is its own module's business.
"""

from __future__ import annotations

__all__ = [
    "ARCHIVE",
    "BATCHES",
    "BEST",
    "CRATE",
    "EVALUATIONS",
    "GENERATIONS",
    "GROWING",
    "LOCK",
    "MANIFEST",
    "MARKER",
    "PARTIAL",
    "RESULT_NAMES",
    "RUNS",
    "SERIES",
    "STAGED",
    "STAGED_FILES",
    "STAGED_NAMES",
    "SUMMARY",
    "TABLES",
    "TABLE_ROWS",
    "own_table_name",
]

RUNS = "runs.csv"
SERIES = "series.csv"
SUMMARY = "summary.csv"
MANIFEST = "manifest.json"
EVALUATIONS = "evaluations.csv"
BATCHES = "batches.csv"
GENERATIONS = "generations.csv"
BEST = "best.csv"
ARCHIVE = "archive.csv"

RESULT_NAMES = (RUNS, SERIES, SUMMARY, MANIFEST, EVALUATIONS, BATCHES, GENERATIONS, BEST, ARCHIVE)
"""Every file of a sweep or a search, in the order a record lists them."""

GROWING = (RUNS, SERIES, EVALUATIONS, BATCHES, GENERATIONS)
"""Those that are tables which grow while it runs."""

TABLES = "tables"
"""Folder of the models' own tables, beside the files of every sweep."""

TABLE_ROWS = f"{TABLES}/rows.csv"
"""How many rows each run has in each of the model's own tables."""


def own_table_name(id: str) -> str:
    """Return the file of the model's own table `id`."""
    return f"{TABLES}/{id}.csv"


STAGED = ".staged"
"""Ending of a table that is about to replace another one."""

STAGED_NAMES = (*GROWING, MANIFEST)
"""What may be replaced together, beside the models' own tables."""

STAGED_FILES = tuple(f"{name}{STAGED}" for name in STAGED_NAMES)
"""Those beside the ones that they are about to replace."""

MARKER = "tables.staged"
"""While this file is there the staged tables are the tables; without it they are of no meaning."""

PARTIAL = ".partial"
"""Ending of a whole file that is being written; of no meaning once nobody writes."""

CRATE = "ro-crate-metadata.json"
"""What describes the files to others; no part of the results."""

LOCK = ".lock"
"""The file whose lock says that somebody writes into its directory."""
