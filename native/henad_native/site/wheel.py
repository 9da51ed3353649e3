"""The package as a wheel for the page: `henad_web` and nothing of `henad_native`, the same bytes from the same files.

This module owns the wheel's layout. It reads the installed package and writes nothing.
"""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import msgspec

import henad_web
from henad_native.checkout import installed_build
from henad_native.site.pins import Bytecode, PinnedPackage
from henad_web.output.build import STAMP, BuildStamp

__all__ = ["BuiltWheel", "deterministic_zip", "package_wheel"]

FIRST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
REGULAR_FILE = 0o100644 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltWheel:
    """A wheel made here.

    Attributes:
        name: File name; it carries the first digits of the content's hash, so that no cache mixes two builds.
        content: Its bytes.
        package: What the package lock says of it.
    """

    name: str
    content: bytes
    package: PinnedPackage


def package_wheel() -> BuiltWheel:
    """Return `henad_web` as it is installed here, as a pure-Python wheel."""
    root = Path(henad_web.__file__).parent
    modules = {
        f"henad_web/{path.relative_to(root).as_posix()}": path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.suffix == ".py" or path.name == "py.typed"
    }
    # A page asked to read all its sources for a hash would miss frames, and has no git to ask for a commit.
    modules[f"henad_web/{STAMP}"] = msgspec.json.encode(_stamp())
    release = version("henad-web")
    content = deterministic_zip({**modules, **_dist_info(release, modules)})
    digest = hashlib.sha256(content).hexdigest()
    # A failing run's note and traceback show lines of a model's source, so the sources stay.
    package = PinnedPackage(
        name="henad-web",
        version=release,
        imports=("henad_web",),
        depends=("numpy", "msgspec"),
        bytecode=Bytecode.BESIDE,
    )
    return BuiltWheel(name=f"henad_web-{release}-0x{digest[:12]}-py3-none-any.whl", content=content, package=package)


def _stamp() -> BuildStamp:
    build = installed_build()
    return BuildStamp(
        commit=build.commit, commit_date=build.commit_date, dirty=build.dirty, source_hash=build.source_hash
    )


def deterministic_zip(members: Mapping[str, bytes], *, compressed: bool = True) -> bytes:
    """Return a zip of `members` in their order, with fixed times and modes."""
    buffer = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, date_time=FIRST_ZIP_DATE)
            entry.external_attr = REGULAR_FILE
            entry.create_system = 3
            entry.compress_type = method
            archive.writestr(entry, content)
    return buffer.getvalue()


def _dist_info(release: str, modules: Mapping[str, bytes]) -> dict[str, bytes]:
    folder = f"henad_web-{release}.dist-info"
    files = {
        f"{folder}/METADATA": f"Metadata-Version: 2.1\nName: henad-web\nVersion: {release}\n".encode(),
        f"{folder}/WHEEL": b"Wheel-Version: 1.0\nGenerator: henad-web\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{name},{_record_hash(content)},{len(content)}" for name, content in {**modules, **files}.items()]
    record = "\n".join([*rows, f"{folder}/RECORD,,", ""]).encode()
    return {**files, f"{folder}/RECORD": record}


def _record_hash(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
    return f"sha256={digest.decode()}"
