"""The shop's command line."""

from __future__ import annotations

import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo import shop
from demo.state import any_port
from settings import base


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path, int]]:
    port, urls = any_port(), tmp_path / "urls.txt"
    command = [sys.executable, "-m", "demo.shop", "--port", str(port), "--size", "20", "--urls", str(urls)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    yield process, urls, port
    process.terminate()
    process.communicate()


def test_tells_the_way_and_serves_all_five_hosts(running: tuple[subprocess.Popen[str], Path, int]) -> None:
    process, urls, port = running
    assert process.stdout is not None
    first = process.stdout.readline()

    assert first == f"100 products in 5 shops on port {port}; the start URLs are in {urls}. Ctrl-C stops it.\n"
    pages = [urllib.request.urlopen(url, timeout=60).read() for url in urls.read_text().split()]
    assert len(pages) == 5
    assert all(b"<h1>" in page for page in pages)


def test_a_taken_port_is_one_line_and_status_2(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.3", 0))
        listener.listen()
        port = listener.getsockname()[1]
        status = shop.main(["--port", str(port), "--size", "20", "--urls", str(tmp_path / "urls.txt")])

    assert status == 2
    why = "(address already in use): try another, make shop ARGS='--port 8001'"
    assert capfd.readouterr().err == f"shop: port {port} cannot be used {why}\n"
    assert not (tmp_path / "urls.txt").exists()


@pytest.mark.parametrize("options", [["--size", "19"], ["--size", "many"], ["--day", "0"]])
def test_a_number_out_of_range_is_refused(options: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        shop.main(options)

    assert ended.value.code == 2
    assert f"{options[1]!r} is invalid: expected an integer " in capfd.readouterr().err


@pytest.mark.parametrize("guarded", [True, False])
def test_the_permission_for_loopback_is_named_where_it_exists(guarded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(base, "GUARD_ALLOWED_NETWORKS", raising=False)
    if guarded:
        monkeypatch.setattr(base, "GUARD_ALLOWED_NETWORKS", [], raising=False)

    assert ("SHOAL_ALLOWED_NETWORKS=127.0.0.0/8" in shop._opt_in()) is guarded
