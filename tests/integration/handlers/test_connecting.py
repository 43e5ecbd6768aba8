"""A connection has a time of its own: who never answers holds a slot for seconds, not for a whole download's time."""

from __future__ import annotations

import asyncio
import socket
import ssl
import sys
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from scrapy.exceptions import DownloadTimeoutError

from crawler.errors import ProxyError
from crawler.handlers.http.handler import HttpDownloadHandler
from crawler.handlers.impersonation.profiles import TlsProfiles
from tests.integration.handlers.rawserver import OK, Client, RawServer, silent
from tests.integration.handlers.test_http import certified

SOON = {"DOWNLOAD_TIMEOUT": 300, "CONNECT_TIMEOUT_SECONDS": 0.3}
BOUND = r"within 0\.3 s \(CONNECT_TIMEOUT_SECONDS\)"


@pytest.fixture
def hanging() -> Iterator[str]:
    """An address whose queue of connections is full: Linux drops all that comes."""
    if sys.platform != "linux":
        pytest.skip("other systems answer in other ways")
    with socket.socket() as full, socket.socket() as first:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        first.connect(full.getsockname())
        yield f"127.0.0.1:{full.getsockname()[1]}"


def curl(directory: Path, **changed: Any) -> Client:
    pytest.importorskip("curl_cffi", reason="the extra `tls` is not installed")
    domains = directory / "domains.toml"
    domains.write_text('[default]\ntls_profile = "chrome"\n')
    return Client(TlsProfiles, DOMAINS_FILE=str(domains), **changed)


def client(directory: Path, handler: type[Any], **changed: Any) -> Client:
    return curl(directory, **changed) if handler is TlsProfiles else Client(**changed)


@pytest.mark.parametrize("handler", [HttpDownloadHandler, TlsProfiles])
async def test_a_port_that_never_answers_is_given_up_soon(hanging: str, tmp_path: Path, handler: type[Any]) -> None:
    async with client(tmp_path, handler, **SOON) as asking:
        with pytest.raises(DownloadTimeoutError, match=rf"^{hanging} did not connect {BOUND}"):
            await asking.get(f"https://{hanging}/")


@pytest.mark.parametrize("handler", [HttpDownloadHandler, TlsProfiles])
async def test_a_server_that_never_shakes_hands_is_given_up_as_soon(tmp_path: Path, handler: type[Any]) -> None:
    async with RawServer(silent) as server, client(tmp_path, handler, **SOON) as asking:
        with pytest.raises(DownloadTimeoutError, match=rf"^{server.address} did not connect {BOUND}"):
            await asking.get(server.url().replace("http:", "https:"))
        await server.closed()


@pytest.mark.parametrize("handler", [HttpDownloadHandler, TlsProfiles])
async def test_a_proxy_that_never_answers_is_given_up_soon(hanging: str, tmp_path: Path, handler: type[Any]) -> None:
    async with client(tmp_path, handler, **SOON) as asking:
        with pytest.raises(ProxyError, match=rf"^proxy http://{hanging} did not connect to shop\.example:443 {BOUND}"):
            await asking.get("https://shop.example/", {"proxy": f"http://{hanging}"})


@pytest.mark.parametrize("handler", [HttpDownloadHandler, TlsProfiles])
@pytest.mark.parametrize("answer", [silent, b"HTTP/1.1 200 OK\r\n\r\n"], ids=["to CONNECT", "of TLS"])
async def test_a_tunnel_stands_soon_or_is_given_up(tmp_path: Path, handler: type[Any], answer: Any) -> None:
    async with RawServer(answer) as proxy, client(tmp_path, handler, **SOON) as asking:
        with pytest.raises(ProxyError, match=rf"^proxy {proxy.url('')} did not connect to shop\.example:443 {BOUND}"):
            await asking.get("https://shop.example/", {"proxy": proxy.url()})
        await proxy.closed()


@pytest.mark.parametrize("handler", [HttpDownloadHandler, TlsProfiles])
async def test_a_shorter_time_of_the_page_itself_is_kept(hanging: str, tmp_path: Path, handler: type[Any]) -> None:
    async with client(tmp_path, handler, CONNECT_TIMEOUT_SECONDS=300) as asking:
        with pytest.raises(DownloadTimeoutError, match=r"took longer than 0\.2 seconds"):
            await asking.get(f"https://{hanging}/", {"download_timeout": 0.2})


async def test_an_answer_may_take_longer_than_its_connection(tmp_path: Path) -> None:
    tls: ssl.SSLContext = certified(tmp_path)

    async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(2.5)
        writer.write(OK)

    async with RawServer(late, tls=tls) as server, Client(CONNECT_TIMEOUT_SECONDS=2, DOWNLOAD_TIMEOUT=60) as asking:
        assert (await asking.get(server.url())).body == b"ok"


async def test_addresses_share_the_time_so_that_a_dead_one_hides_no_other(hanging: str) -> None:
    """An IPv6 address that leads nowhere is the first of many hosts."""
    port = int(hanging.rpartition(":")[2])

    async def lookup(_: str) -> Any:
        return [ip_address("127.0.0.1"), ip_address("127.0.0.2")]

    async with RawServer(OK, host="127.0.0.2", port=port), Client(CONNECT_TIMEOUT_SECONDS=4) as asking:
        asking.handler._resolver._lookup = lookup
        assert (await asking.get(f"http://shop.test:{port}/", {"download_timeout": 300})).body == b"ok"
