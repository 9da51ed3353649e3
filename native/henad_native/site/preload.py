"""Links that make a browser ask for Python's files at once, instead of one after the other as Python starts.

This module owns the links. On a fast line they change nothing; over a slow one the large files travel together.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

__all__ = ["with_preloads"]

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
