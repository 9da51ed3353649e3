"""Laws of serving: this machine only, types that browsers insist on, nothing outside the folder."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from pathlib import Path

import pytest

from henad_native.site import ServedFolder, SiteError, serve_folder


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedFolder]:
    (tmp_path / "secret.txt").write_text("outside")
    folder = tmp_path / "site"
    for name in ("index.html", "a.mjs", "b.py", "c.json", "vendor/x-1/d.wasm", "vendor/x-1/e.whl", "vendor/x-1/f.json"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    with serve_folder(folder) as served:
        yield served


def ask(served: ServedFolder, path: str) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/a.mjs", "text/javascript; charset=utf-8"),
        ("/b.py", "text/x-python; charset=utf-8"),
        ("/c.json", "application/json"),
        ("/vendor/x-1/d.wasm", "application/wasm"),
        ("/vendor/x-1/e.whl", "application/octet-stream"),
    ],
)
def test_each_file_has_its_type(served: ServedFolder, path: str, kind: str) -> None:
    status, headers, _ = ask(served, path)
    assert (status, headers["Content-Type"]) == (200, kind)


@pytest.mark.parametrize(
    ("path", "keeping"),
    [
        ("/", "no-cache"),
        ("/b.py", "no-cache"),
        ("/vendor/x-1/f.json", "no-cache"),
        ("/vendor/x-1/d.wasm", "public, max-age=31536000, immutable"),
        ("/vendor/x-1/e.whl?again", "public, max-age=31536000, immutable"),
    ],
)
def test_only_what_carries_its_version_may_be_kept(served: ServedFolder, path: str, keeping: str) -> None:
    assert ask(served, path)[1]["Cache-Control"] == keeping


@pytest.mark.parametrize("path", ["/../secret.txt", "/%2e%2e/secret.txt", "/vendor/", "/missing"])
def test_nothing_else_is_served(served: ServedFolder, path: str) -> None:
    status, _, content = ask(served, path)
    assert status == 404
    assert b"outside" not in content


def test_it_prints_nothing(served: ServedFolder, capfd: pytest.CaptureFixture[str]) -> None:
    ask(served, "/")
    ask(served, "/missing")
    assert capfd.readouterr() == ("", "")


def test_the_address_is_on_loopback_and_gone_afterwards(tmp_path: Path) -> None:
    with serve_folder(tmp_path) as served:
        assert served.address == f"http://127.0.0.1:{served.port}/"
    with pytest.raises(OSError, match="refused"):
        ask(served, "/")


def test_a_port_in_use_and_a_missing_folder_are_refused_in_words(served: ServedFolder, tmp_path: Path) -> None:
    with pytest.raises(SiteError, match=rf"port {served.port} of 127\.0\.0\.1 cannot be had"):
        serve_folder(tmp_path, port=served.port).__enter__()
    with pytest.raises(SiteError, match=r"port 70000 of 127\.0\.0\.1 cannot be had"):
        serve_folder(tmp_path, port=70000).__enter__()
    with pytest.raises(SiteError, match="is no folder; build the page first"):
        serve_folder(tmp_path / "missing").__enter__()
