"""A stranger's server on the port of a bundled one that is down."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from scrapy.settings import Settings

from crawler import embedded
from crawler.embedded import joining, record
from crawler.embedded.record import ServiceRecord
from crawler.embedded.service import VALKEY
from crawler.frontier.server.connection import connect
from tests.integration.embedded.users import eventually
from tests.servers import Server


def running(data_dir: Path) -> ServiceRecord:
    said = record.read(data_dir / "redis")
    assert said is not None
    return said


@pytest.mark.usefixtures("use")
async def test_a_worker_sends_nothing_to_a_stranger_that_took_the_port(
    data_dir: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joining, "WATCH_SECONDS", 3_600)  # or this process would start it again at once
    embedded.ensure(data_dir, mongodb=False, preferred_ports=False)
    client, before = connect(Settings({"EMBEDDED_DATA_DIR": str(data_dir)})), running(data_dir)
    assert await client.ping()
    before.supervisor.send(signal.SIGKILL)  # which ends its server, too
    assert eventually(lambda: not VALKEY.is_ready(before.port))
    stranger = Server(VALKEY, tmp_path_factory.mktemp("stranger"), before.port)
    try:
        for _ in range(2):
            with pytest.raises(RedisConnectionError, match="another one has its port"):
                await client.ping()
            embedded.ensure(data_dir, mongodb=False)  # on another port
        assert running(data_dir).port != before.port
    finally:
        stranger.kill()
    await client.aclose()


@pytest.mark.usefixtures("use")
async def test_a_worker_goes_on_with_its_own_server_on_the_old_port(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joining, "WATCH_SECONDS", 3_600)
    embedded.ensure(data_dir, mongodb=False, preferred_ports=False)
    client, before = connect(Settings({"EMBEDDED_DATA_DIR": str(data_dir)})), running(data_dir)
    assert await client.set("mine", 1)
    before.supervisor.send(signal.SIGKILL)
    assert eventually(lambda: not VALKEY.is_ready(before.port))
    embedded.ensure(data_dir, mongodb=False)
    assert running(data_dir).port == before.port
    assert await client.get("mine") == b"1"
    await client.aclose()
