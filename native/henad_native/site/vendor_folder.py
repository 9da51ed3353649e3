"""The vendor folder of a site: interpreter, wheels as bytecode, the package's own wheel and the lock over them.

This module decides what is compiled and how it is named, and owns the form of the lock that Pyodide reads: which wheels
the site holds, each with its hash, and nothing that it does not hold. It writes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from henad_native.site.fetch import cache_folder, fetch_files
from henad_native.site.pins import Bytecode, PinnedFile, PinnedPackage
from henad_native.site.precompile import BytecodeJob, CompileError, compile_all
from henad_native.site.wheel import package_wheel

__all__ = [
    "VendorFolder",
    "lock_entry",
    "package_lock",
    "vendor_folder",
]


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


LOCK = "pyodide-lock.json"
STANDARD_LIBRARY = "python_stdlib.zip"
CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", STANDARD_LIBRARY, LOCK)
STANDARD_LIBRARY_LOCATION = "/lib/python314.zip"
PACKAGES_LOCATION = "/lib/python3.14/site-packages"


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorFolder:
    """What goes into the vendor folder.

    Attributes:
        files: Contents by path inside the folder.
        interpreter: Path of `pyodide.mjs` inside the folder.
        note: Why the page is built from source instead of bytecode, None when it is bytecode.
    """

    files: Mapping[str, bytes]
    interpreter: str
    note: str | None


@dataclass(frozen=True, slots=True)
class _Wheel:
    name: str
    content: bytes
    package: PinnedPackage

    @property
    def job(self) -> BytecodeJob:
        keep_sources = self.package.bytecode is Bytecode.BESIDE
        return BytecodeJob(content=self.content, location=PACKAGES_LOCATION, keep_sources=keep_sources)

    def compiled(self, content: bytes) -> _Wheel:
        # The name changes with the content, so that nothing a browser kept of another build is taken for it.
        digest = hashlib.sha256(content).hexdigest()[:12]
        name, version, *rest = self.name.split("-")
        return _Wheel(f"{name}-{version}-0x{digest}-{'-'.join(rest[-3:])}", content, self.package)


def vendor_folder(wanted: Sequence[PinnedFile], *, cache: Path | None = None) -> VendorFolder:
    """Bring the pinned files, compile what is Python, and lock the wheels.

    Args:
        wanted: The pinned files, those of `CORE` among them.
        cache: The cache folder, `cache_folder()` by default.

    Raises:
        FetchError: If a pinned file can be had from no source.
    """
    kept = cache or cache_folder()
    fetched = fetch_files(wanted, cache=kept)
    folder = next(file.folder for file in wanted if file.name == LOCK)
    core = {name: fetched[f"{folder}/{name}"].read_bytes() for name in CORE}
    others = [file for file in wanted if file.package is None and file.name not in core]
    library, wheels, note = _compiled(core, _wheels(wanted, fetched), kept)
    entries = [lock_entry(wheel.package, wheel.name, wheel.content) for wheel in wheels]
    core = {**core, STANDARD_LIBRARY: library, LOCK: package_lock(core[LOCK], entries)}
    files = {f"{folder}/{name}": content for name, content in core.items()}
    files |= {f"{folder}/{wheel.name}": wheel.content for wheel in wheels}
    files |= {file.path: fetched[file.path].read_bytes() for file in others}
    return VendorFolder(files=files, interpreter=f"{folder}/pyodide.mjs", note=note)


def _wheels(wanted: Sequence[PinnedFile], fetched: Mapping[str, Path]) -> list[_Wheel]:
    own = package_wheel()
    pinned = [(file, file.package) for file in wanted if file.package is not None]
    wheels = [_Wheel(file.name, fetched[file.path].read_bytes(), package) for file, package in pinned]
    return [*wheels, _Wheel(own.name, own.content, own.package)]


def _compiled(core: Mapping[str, bytes], wheels: list[_Wheel], cache: Path) -> tuple[bytes, list[_Wheel], str | None]:
    library = core[STANDARD_LIBRARY]
    job = BytecodeJob(content=library, location=STANDARD_LIBRARY_LOCATION, keep_sources=False)
    try:
        (compiled,) = compile_all([job], interpreter=core, cache=cache)
        # The rest is compiled by an interpreter that already starts from bytecode, three times as fast.
        quick = {**core, STANDARD_LIBRARY: compiled}
        chosen = [wheel for wheel in wheels if wheel.package.bytecode is not Bytecode.NONE]
        contents = compile_all([wheel.job for wheel in chosen], interpreter=quick, cache=cache)
    except CompileError as error:
        return library, wheels, f"built from source, the page starts slower: {error}"
    by_name = {wheel.name: wheel.compiled(content) for wheel, content in zip(chosen, contents, strict=True)}
    return compiled, [by_name.get(wheel.name, wheel) for wheel in wheels], None
