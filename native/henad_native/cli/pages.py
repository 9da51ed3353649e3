"""`henad page` and `henad serve`: the page built into a folder, and served to this machine."""

from __future__ import annotations

import signal
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from henad_native.site import build_site, serve_folder
from henad_native.stopping import stop_on_signals
from henad_web.wording import byte_text

__all__ = ["page_command", "serve_command"]

LOOK_EVERY_S = 0.1
"""Seconds between two looks at whether somebody asked for a stop."""


def page_command(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A new folder, or one built before.")],
) -> None:
    """Build the page into DIR, a static folder for any host."""
    report = build_site(out)
    print(f"built {report.file_count} files, {byte_text(report.size_bytes)}, in {report.folder}")


def serve_command(
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 takes a free one.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Keep the built page here; else it goes when this ends."),
    ] = None,
    browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in this machine's browser.")] = False,
) -> None:
    """Build the page and serve it on loopback until SIGINT or SIGTERM."""
    with _folder(out) as folder:
        print("building the page; the first time fetches its pinned files", file=sys.stderr, flush=True)
        build_site(folder)
        with stop_on_signals(signal.SIGINT, signal.SIGTERM) as stop, serve_folder(folder, port=port) as served:
            print(f"Serving {served.address}", flush=True)
            if browser:
                webbrowser.open(served.address)
            pause = threading.Event()
            while not stop.asked:
                pause.wait(LOOK_EVERY_S)


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="henad-web-page-") as scratch:
        yield Path(scratch) / "site"
