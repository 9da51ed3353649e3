"""What a page must not do while a test drives it: errors on its console, requests that fail or leave its origin."""

from __future__ import annotations

from dataclasses import dataclass, field

from playwright.sync_api import Page

__all__ = ["PYTHON_STARTS_MS", "PageWatch"]

PYTHON_STARTS_MS = 60_000.0
"""Milliseconds that a page may take to start Python, on a machine that does other things as well."""


@dataclass(slots=True)
class PageWatch:
    """What a page did that it must not do.

    Attributes:
        address: The only origin that it may ask, with a final slash.
        complaints: Errors on its console, exceptions nobody caught, requests that failed or left the origin.
        requested: Every address asked for, in order.
    """

    address: str
    complaints: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)

    def follow(self, page: Page) -> None:
        """Record what `page` does from now on."""
        page.on("console", lambda message: self._console(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(f"not caught: {error}"))
        page.on("crash", lambda _: self.complaints.append("the page crashed"))
        page.on("request", lambda request: self._request(request.url))
        page.on("requestfailed", lambda request: self.complaints.append(f"failed: {request.url} {request.failure}"))

    def _console(self, kind: str, text: str) -> None:
        if kind == "error":
            self.complaints.append(f"console: {text}")

    def _request(self, url: str) -> None:
        self.requested.append(url)
        if not url.startswith((self.address, f"blob:{self.address}")):
            self.complaints.append(f"left the origin: {url}")
