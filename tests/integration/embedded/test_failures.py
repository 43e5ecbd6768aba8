"""What a person reads when a bundled server cannot start."""

from __future__ import annotations

import socketserver
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crawler.base_errors import ServiceError
from crawler.embedded import joining
from crawler.embedded.locks import FileLock
from crawler.embedded.service import VALKEY
from crawler.embedded.supervisor import Supervisor
from tests.integration.embedded.users import User, client, said, server

Use = Callable[..., User]


@pytest.fixture
def full_disk(data_dir: Path) -> Iterator[Path]:
    """`data_dir` on a file system without room."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(data_dir)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system needs root")
    (data_dir / "filler").write_bytes(bytes(2**20 - 2 * 4096))
    yield data_dir
    subprocess.run(["umount", "--lazy", str(data_dir)], check=True)


def test_a_full_disk_is_named(full_disk: Path, use: Use) -> None:
    error = use().answer()["error"]
    assert f"the disk of {full_disk}" in error
    assert "is full (0 MB free" in error
    assert "REDIS_URL" in error


def test_a_broken_data_file_is_named_and_nothing_is_deleted(use: Use, data_dir: Path) -> None:
    files = data_dir / "redis" / "data" / "appendonlydir"
    files.mkdir(parents=True)
    manifest = files / "appendonly.aof.manifest"
    manifest.write_text("nonsense\n")
    error = use().answer()["error"]
    assert "the bundled redis server did not start" in error
    assert "AOF manifest" in error
    assert "docker compose up" in error
    assert manifest.read_text() == "nonsense\n"


def test_after_a_failure_the_next_try_starts_anew(use: Use, data_dir: Path) -> None:
    manifest = data_dir / "redis" / "data" / "appendonlydir" / "appendonly.aof.manifest"
    manifest.parent.mkdir(parents=True)
    manifest.write_text("nonsense\n")
    assert "error" in use().answer()
    manifest.unlink()
    assert use().url().startswith("redis://127.0.0.1:")


def test_whoever_waits_for_a_server_is_told_what_for(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(joining, "START_SECONDS", 0.2)
    monkeypatch.setattr(joining, "TELL_SECONDS", 0.05)
    (data_dir / "redis").mkdir()
    stopping = FileLock(data_dir / "redis" / "users.lock")
    assert stopping.try_exclusive()
    with pytest.raises(ServiceError, match="another process is stopping it and has not finished after 0 s"):
        joining.JoinedServer(VALKEY, data_dir / "redis", preferred_port=False).begin()
    [told] = caplog.messages
    assert told.startswith("The bundled redis server is not ready, waiting for up to 0 s: another process is stopping")
    stopping.close()


def test_a_data_directory_that_cannot_be_used_is_named(use: Use, data_dir: Path) -> None:
    (data_dir / "redis").write_text("a file is in the way")
    error = use().answer()["error"]
    assert f"EMBEDDED_DATA_DIR = {str(data_dir)!r} is invalid: expected a writable directory" in error
    assert "logs" not in error, "there are none"


def test_a_supervisor_that_cannot_say_where_its_server_is_gives_up(use: Use, data_dir: Path) -> None:
    """As on a disk that is full to the last byte, where Valkey starts with the data it has: nobody waits for ever."""
    (data_dir / "redis" / "service.json").mkdir(parents=True)
    error = use().answer()["error"]
    assert "the bundled redis server did not start" in error
    assert "service.json" in error


class Stranger(socketserver.BaseRequestHandler):
    """A server of somebody else, that says what ours says when it is ready."""

    def handle(self) -> None:
        self.request.recv(64)
        self.request.sendall(VALKEY.answer)


@pytest.mark.usefixtures("use")
def test_a_stranger_that_took_the_port_meanwhile_is_not_taken_for_the_server(tmp_path: Path) -> None:
    """As when two projects start at once: a crawl would push to the other's queue."""
    data_dir = tmp_path / "own"  # of a supervisor in this process, which `data_dir` must not kill
    (data_dir / "redis").mkdir(parents=True)
    supervisor = Supervisor(VALKEY, data_dir / "redis", 0)
    with socketserver.TCPServer(("127.0.0.1", supervisor._port), Stranger) as stranger:
        threading.Thread(target=stranger.serve_forever, daemon=True).start()
        try:
            supervisor._launch()
            while said(data_dir).state != "ready":
                supervisor._tend()
            with client(VALKEY.url.format(port=said(data_dir).port)) as redis:
                assert redis.info("server")["process_id"] == server(data_dir).pid
        finally:
            supervisor._stop_server()
            stranger.shutdown()
