"""What a URL of Sentinels says, and what a client does that follows them."""

from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from redis.asyncio import SSLConnection
from scrapy.settings import BaseSettings

from crawler.errors import ConfigError
from crawler.frontier.server import connection
from crawler.frontier.server.sentinel import is_sentinel, parse
from tests.stores import certificate


@pytest.mark.parametrize(
    ("url", "sentinels", "service", "params"),
    [
        ("redis+sentinel://a/main", [("a", 26379)], "main", {}),
        (
            "redis+sentinel://me:p%2Fw@a:1,b:2,c/main/3",
            [("a", 1), ("b", 2), ("c", 26379)],
            "main",
            {"username": "me", "password": "p/w", "db": 3},
        ),
        ("rediss+sentinel://:pw@[::1]:5,[::2]/m", [("::1", 5), ("::2", 26379)], "m", {"ssl": True, "password": "pw"}),
    ],
)
def test_a_url_names_sentinels_service_and_who_we_are(
    url: str, sentinels: list[tuple[str, int]], service: str, params: dict[str, object]
) -> None:
    found = parse(url)
    assert (list(found.sentinels), found.service, found.params) == (sentinels, service, params)


@pytest.mark.parametrize(
    "url",
    [
        "redis+sentinel://a:1",
        "redis+sentinel://a:1/",
        "redis+sentinel:///main",
        "redis+sentinel://a:x/main",
        "redis+sentinel://a:70000/main",
        "redis+sentinel://a,,b/main",
        "redis+sentinel://a/main/db",
        "redis+sentinel://me:s3cret@/main",
        "redis+sentinel://me:s3cret@a/main?db=1",
    ],
)
def test_what_is_no_such_url_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ConfigError, match="redis\\+sentinel://\\[") as refused:
        parse(url)
    assert "s3cret" not in str(refused.value)


def test_other_urls_are_none() -> None:
    assert not any(map(is_sentinel, ("redis://a/0", "unix:///s", None, "")))


@pytest.fixture
def client() -> Any:
    """Of Sentinels that nobody has started."""
    return connection.connect(BaseSettings({"REDIS_URL": "redis+sentinel://localhost:1/main", "REDIS_CLUSTER": False}))


async def test_a_connection_to_a_sentinel_that_was_reset_ends_no_worker(client: Any) -> None:
    """uvloop raises a RuntimeError for it."""
    asked = AsyncMock(side_effect=RuntimeError("unable to perform operation on <TCPTransport>; the handler is closed"))
    client.connection_pool.sentinel_manager.discover_master = asked
    await client.connection_pool.follow()
    assert asked.await_count == 1
    asked.side_effect = RuntimeError("another fault")
    with pytest.raises(RuntimeError, match="another fault"):
        await client.connection_pool.follow()


async def test_a_primary_that_hangs_is_left_without_its_leave(client: Any, tmp_path: Path) -> None:
    """TLS asks for it, and redis-py would wait for as long as for a connection, and then fail the call."""
    path = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    taken: list[ssl.SSLSocket] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        thread = threading.Thread(
            target=lambda: taken.append(context.wrap_socket(listening.accept()[0], server_side=True)), daemon=True
        )
        thread.start()
        made: Any = SSLConnection(host="127.0.0.1", port=port, ssl_ca_certs=str(path), redis_connect_func=AsyncMock())
        await made.connect()
        thread.join()
    made.socket_connect_timeout = 0.2
    made.connect, made.can_read = AsyncMock(), AsyncMock(return_value=False)
    client.connection_pool.master_address = ("elsewhere", 6379)
    await client.connection_pool.ensure_connection(made)
    assert not made.is_connected
    taken[0].close()
