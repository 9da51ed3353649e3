"""The comparable form of a folder's files: what must be equal whenever the same spec ran.

Owns the list of what may differ: timings, clocks, builds and the machine. Compares nothing itself.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping

import msgspec

from henad_web.errors import ManifestError
from henad_web.explore.cell_texts import csv_line
from henad_web.output.names import CRATE, LOCK, MANIFEST, PARTIAL, RUNS
from henad_web.output.records import RecordReader
from henad_web.output.store import checked_files
from henad_web.output.table_reading import check_width
from henad_web.output.tables import RunsColumns

__all__ = ["masked", "masked_note"]

_MASKED_FIELDS = frozenset({"engine", "argv", "runtime", "execution", "timestamps", "sessions", "merged_shards"})

_FAULT = re.compile(
    r"(while (?:building the model|stepping the simulation|running the sweep), \S+ at [^:]+:[0-9]+)(?::.*)?",
    re.S,
)
"""A fault in a note: its phase, exception and place, then the message, whose words are the interpreter's."""


def masked(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return `files`, name to content, in the form in which equal sweeps are byte for byte equal.

    Of runs.csv the timings are emptied, notes end at the place of a fault, and quotes and line ends become those that a
    sweep writes; of the manifest the fields of builds, machine and clocks, the path of the spec and its settings of
    speed are left out. Everything else stays whole, but for the lock, a description as an RO-Crate and files that were
    being written, which are no results.

    Raises:
        TableDamagedError: runs.csv is not a table of runs, or holds a record that is no row.
        ManifestError: manifest.json is not an object.
        UsageError: `files` is something else, such as a path.
    """
    forms = {RUNS: _masked_runs, MANIFEST: _masked_manifest}
    return {
        name: forms.get(name, bytes)(content)
        for name, content in checked_files(files).items()
        if name not in (LOCK, CRATE) and not name.endswith(PARTIAL)
    }


def masked_note(note: str) -> str:
    """Return `note` in its comparable form: faults end at their place."""
    return _FAULT.sub(r"\1", note)


def _masked_runs(content: bytes) -> bytes:
    records = RecordReader(io.BytesIO(content), RUNS)
    lines: list[bytes] = []
    columns: RunsColumns | None = None
    for record in records:
        fields = record.fields
        columns = columns or RunsColumns.of(fields)
        check_width(record, fields, columns.width)
        if lines:
            for position in columns.timings:
                fields[position] = ""
            fields[-1] = masked_note(fields[-1])
        lines.append(csv_line(fields))
    return b"".join([*lines, content[records.end :].lstrip(b"\r\n")])


def _masked_manifest(content: bytes) -> bytes:
    try:
        manifest = msgspec.json.decode(content, type=dict[str, object])
    except msgspec.MsgspecError as error:
        raise ManifestError(f"{MANIFEST} cannot be read: {error}") from error
    kept = {name: value for name, value in manifest.items() if name not in _MASKED_FIELDS}
    for table, field in (("spec_source", "path"), ("spec", "execution")):
        held = kept.get(table)
        if isinstance(held, dict):
            kept[table] = {name: value for name, value in held.items() if name != field}
    return msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n"
