"""Serve a static folder to this machine only.

This module owns a server on the loopback address: the types that browsers insist on, and how long they may keep
what. It prints nothing, and serves nothing outside its folder.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath

from henad_native.site.errors import SiteError

__all__ = ["ServedFolder", "serve_folder"]

LOOPBACK = "127.0.0.1"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".py": "text/x-python; charset=utf-8",
    ".svg": "image/svg+xml",
    ".toml": "application/toml; charset=utf-8",
    ".wasm": "application/wasm",
    ".whl": "application/octet-stream",
    ".zip": "application/zip",
}
# Vendored files carry version or hash in their path; a browser that keeps them also keeps the compiled wasm.
KEPT_FOR_GOOD = "public, max-age=31536000, immutable"
ASKED_EACH_TIME = "no-cache"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedFolder:
    """A folder being served.

    Attributes:
        folder: The folder.
        port: The port on 127.0.0.1.
    """

    folder: Path
    port: int

    @property
    def address(self) -> str:
        """The address of its start page, with a final slash."""
        return f"http://{LOOPBACK}:{self.port}/"


@contextmanager
def serve_folder(folder: Path, *, port: int = 0) -> Iterator[ServedFolder]:
    """Serve `folder` on 127.0.0.1 while the context is open.

    Args:
        folder: A static folder, such as `build_site` makes.
        port: The port, 0 to 65535; 0 takes a free one.

    Yields:
        Where it is served.

    Raises:
        SiteError: If the folder is not there or the port cannot be had.
    """
    if not folder.is_dir():
        raise SiteError(f"{folder} is no folder; build the page first")
    try:
        server = _Server((LOOPBACK, port), partial(_Handler, directory=str(folder)))
    except (OSError, OverflowError) as error:
        raise SiteError(f"port {port} of {LOOPBACK} cannot be had; choose another, or 0 for a free one") from error
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield ServedFolder(folder=folder, port=server.server_address[1])
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay silent: a browser that closes a connection early is no event."""


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def guess_type(self, path: object) -> str:
        """Return the type by extension, without asking the machine's own tables, which differ."""
        return TYPES.get(PurePosixPath(str(path)).suffix, "application/octet-stream")

    def end_headers(self) -> None:
        """Add how long the answer may be kept."""
        path = PurePosixPath(self.path.partition("?")[0])
        vendored = "vendor" in path.parts and path.suffix != ".json"
        self.send_header("Cache-Control", KEPT_FOR_GOOD if vendored else ASKED_EACH_TIME)
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def list_directory(self, path: object) -> None:
        """Answer 404: folders without a page are not listed."""
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""
