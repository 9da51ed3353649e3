"""`henad serve` and `henad page`: an address as the last line, an end that is no error, a folder for any host."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from henad_native.cli import main

SERVE = [sys.executable, "-c", "import sys; from henad_native.cli import main; sys.exit(main(['serve', '--no-open']))"]


def get(address: str) -> tuple[int, str, str]:
    """Return status, type and text of the answer from `address`."""
    with urllib.request.urlopen(address) as answer:
        return answer.status, answer.headers["Content-Type"], answer.read().decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_page_is_served_until_a_signal_and_that_is_a_good_end(number: signal.Signals, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(SERVE, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("Serving http://127.0.0.1:")
            assert line.endswith("/\n")
            status, kind, text = get(line.split()[1])
            assert (status, kind.split(";")[0]) == (200, "text/html")
            assert "<title>" in text
        finally:
            process.send_signal(number)
        assert process.wait(timeout=30) == 0
        assert process.stdout.read() == ""
    assert list(tmp_path.iterdir()) == []


def test_a_page_is_built_into_a_folder_that_names_no_other_origin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "page"
    assert main(["page", "--out", str(out)]) == 0
    assert str(out) in capsys.readouterr().out
    assert (out / "index.html").is_file()
    assert json.loads((out / "pyscript.json").read_bytes())["interpreter"].startswith("./")


def test_a_folder_with_other_files_is_no_place_for_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["page", "--out", str(tmp_path)]) == 1
    assert f"error: {tmp_path} holds files" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_that_is_none_exits_with_2(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--port", port]) == 2
    assert "--port" in capsys.readouterr().err
