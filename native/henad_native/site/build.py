"""Build the page: one static folder, complete in itself, for any static host and any path on it.

This module owns the folder's layout::

    index.html, app.css, main.py, …   the files of `web/`, pages with links that load Python's files early
    pyscript.json                     `web/pyscript.json`, with the interpreter and the page's modules filled in
    examples/                         the example specs
    vendor/pyodide-X/                 interpreter, wheels (the package's own among them) and their lock
    vendor/pyscript-X/                PyScript
    build.json                        what was built: a hash over all files, and each file's hash

No file names another origin, and nothing needs a header of the host. The same inputs give the same bytes.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import msgspec

from henad_native.site.errors import SiteError
from henad_native.site.pins import Group, pinned_files
from henad_native.site.vendor_folder import vendor_folder

__all__ = [
    "SiteReport",
    "build_site",
    "web_folder",
    "with_preloads",
]

STARTS_PYTHON = b'src="boot.mjs"'
MODULES = ("pyodide.mjs", "pyodide.asm.mjs", "core.js", "core-")
FETCHED = ("pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json", "numpy-", "msgspec-", "henad_web-")


def with_preloads(page: bytes, paths: Iterable[str]) -> bytes:
    """Return `page` with links to those of the site's `paths` that starting Python needs, if it starts Python."""
    if STARTS_PYTHON not in page:
        return page
    vendored = [path for path in sorted(paths) if path.startswith("vendor/")]
    modules = [path for path in vendored if PurePosixPath(path).name.startswith(MODULES)]
    fetched = [path for path in vendored if PurePosixPath(path).name.startswith(FETCHED)]
    links = [f'  <link rel="modulepreload" href="{path}">' for path in modules]
    links += [f'  <link rel="preload" as="fetch" crossorigin href="{path}">' for path in fetched]
    return page.replace(b"</head>", "\n".join([*links, "</head>"]).encode(), 1)


BUILD_FILE = "build.json"
NOT_PUBLISHED = {"vendor.json", "pyscript.json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteReport:
    """What was built.

    Attributes:
        folder: The static folder.
        build_hash: Hash over every file's path and content, 64 lower hex digits; also in ``build.json``.
        file_count: Number of files, ``build.json`` not counted.
        size_bytes: Their size.
        note: Something to tell the person who builds, None when all went as it should.
    """

    folder: Path
    build_hash: str
    file_count: int
    size_bytes: int
    note: str | None


def build_site(out: Path, *, tests: bool = False, cache: Path | None = None) -> SiteReport:
    """Build the page into the folder `out`.

    The folder appears whole or not at all. One that an earlier build made is replaced.

    Args:
        out: The static folder to make.
        tests: Also hold the wheels that the shared tests need inside the browser.
        cache: The cache folder, `cache_folder()` by default.

    Raises:
        FetchError: If a pinned file can be had from no source.
        SiteError: If `out` holds something that no build made, or the page's sources are not there.
    """
    _refuse_foreign_folder(out)
    web = web_folder()
    vendor = vendor_folder(
        [file for file in pinned_files(web / "vendor.json") if tests or file.group is Group.PAGE], cache=cache
    )
    page = _page_files(web)
    files = {**page, **{f"vendor/{path}": content for path, content in vendor.files.items()}}
    files |= {path: with_preloads(text, files) for path, text in page.items() if path.endswith(".html")}
    files["pyscript.json"] = _pyscript_config(web, vendor.interpreter, page)
    hashes = {path: hashlib.sha256(content).hexdigest() for path, content in sorted(files.items())}
    build_hash = hashlib.sha256(msgspec.json.encode(hashes)).hexdigest()
    files[BUILD_FILE] = _json({"build": build_hash, "files": hashes})
    _publish(files, out)
    size_bytes = sum(len(files[path]) for path in hashes)
    return SiteReport(
        folder=out, build_hash=build_hash, file_count=len(hashes), size_bytes=size_bytes, note=vendor.note
    )


def web_folder() -> Path:
    """Return the folder of the page's sources: inside the installed package, else `web/` of the repository.

    Raises:
        SiteError: If neither is there.
    """
    here = Path(__file__).resolve()
    places = [here.parent / "web", here.parents[3] / "web"]
    for place in places:
        if (place / "vendor.json").is_file():
            return place
    raise SiteError(f"the page's sources are not installed; looked for {' and '.join(map(str, places))}")


def _page_files(web: Path) -> dict[str, bytes]:
    folders = {"": web, "examples/": web.parent / "examples"}
    return {
        f"{prefix}{path.relative_to(folder).as_posix()}": path.read_bytes()
        for prefix, folder in folders.items()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and path.name not in NOT_PUBLISHED
    }


def _pyscript_config(web: Path, interpreter: str, page: Mapping[str, bytes]) -> bytes:
    config = msgspec.json.decode((web / "pyscript.json").read_bytes())
    modules = [path for path in page if PurePosixPath(path).suffix == ".py" and path != "main.py"]
    config["interpreter"] = f"./vendor/{interpreter}"
    config["files"] = {f"./{path}": f"./{path}" for path in sorted(modules)}
    return _json(config)


def _refuse_foreign_folder(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise SiteError(f"{out} is a file; choose a new folder for the page")
    if out.is_dir() and any(out.iterdir()) and not (out / BUILD_FILE).is_file():
        raise SiteError(f"{out} holds files that no build of the page made; choose an empty or new folder")


def _publish(files: Mapping[str, bytes], out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as scratch:
        staged = Path(scratch) / "new"
        for path, content in files.items():
            target = staged / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        if out.exists():
            shutil.move(out, Path(scratch) / "old")
        shutil.move(staged, out)


def _json(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
