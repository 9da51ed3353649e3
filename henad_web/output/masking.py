"""The comparable form of a folder's files: what must be equal whenever the same spec ran.

Owns the list of what may differ: timings, clocks, builds and the machine. Compares nothing itself.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping

import msgspec

from henad_web.errors import ManifestError, OutputError
from henad_web.output.names import LOCK, MANIFEST, PARTIAL, RUNS
from henad_web.output.numbers import csv_line
from henad_web.output.tables import NOTE, TIMINGS

__all__ = ["masked", "masked_note"]

_MASKED_FIELDS = frozenset({"engine", "argv", "runtime", "execution", "timestamps", "sessions", "merged_shards"})

_FAULT = re.compile(
    r"(while (?:building the model|stepping the simulation|running the sweep), \S+ at [^:]+:[0-9]+)(?::.*)?",
    re.S,
)
"""A fault in a note: its phase, exception and place, then the message, whose words are the interpreter's."""


def masked(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return `files`, name to content, in the form in which equal sweeps are byte for byte equal.

    Of runs.csv the timings are emptied and notes end at the place of a fault; of the manifest the fields of
    builds, machine and clocks, the path of the spec and its settings of speed are left out. Everything else stays
    whole, but for the lock and for files that were being written, which are no results.

    Raises:
        OutputError: runs.csv is not a table of runs.
        ManifestError: manifest.json is not an object.
    """
    forms = {RUNS: _masked_runs, MANIFEST: _masked_manifest}
    return {
        name: forms.get(name, bytes)(content)
        for name, content in files.items()
        if name != LOCK and not name.endswith(PARTIAL)
    }


def masked_note(note: str) -> str:
    """Return `note` in its comparable form: faults end at their place."""
    return _FAULT.sub(r"\1", note)


def _masked_runs(content: bytes) -> bytes:
    records = csv.reader(io.StringIO(content.decode(), newline=""))
    header = next(records, [])
    if header[-1:] != [NOTE] or not set(TIMINGS) <= set(header):
        raise OutputError(f"{RUNS} has a header that is not that of a sweep: {', '.join(header)}")
    # The last column of that name is the timing: a parameter may be called the same.
    timings = [len(header) - 1 - header[::-1].index(name) for name in TIMINGS]
    lines = [csv_line(header)]
    for record in records:
        for position in timings:
            if position < len(record):
                record[position] = ""
        if len(record) == len(header):
            record[-1] = masked_note(record[-1])
        lines.append(csv_line(record))
    return b"".join(lines)


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
