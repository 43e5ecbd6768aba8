"""The shop over a real socket: faults come first and only as often as planted, and every request is noted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import aiohttp
import pytest
from aiohttp.test_utils import RawTestServer

from demo.log import from_json
from demo.server import Shop
from demo.site import Fault, Reply

FAULTS = {"/busy": Fault("busy", 2), "/drop": Fault("drop", 1)}


class OneHost:
    """A site of one page with two faulty addresses and a redirect."""

    def reply(self, path: str, query: Mapping[str, str]) -> Reply:
        if path == "/moved":
            return Reply(301, location="/here")
        return Reply(200, f"{path} {dict(query)}".encode())

    def fault(self, path: str) -> Fault | None:
        return FAULTS.get(path)


@pytest.fixture
async def port() -> AsyncIterator[int]:
    times = iter(range(100))
    shop = Shop({"127.0.0.2": OneHost()}, {"day": 1}, clock=lambda: float(next(times)), waited=lambda _: 0.0)
    async with RawTestServer(shop.handle, host="0.0.0.0") as server:
        assert server.port
        yield server.port


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def test_answers_for_its_hosts(port: int, http: aiohttp.ClientSession) -> None:
    async with http.get(f"http://127.0.0.2:{port}/here?a=1") as answer:
        assert (answer.status, await answer.text()) == (200, "/here {'a': '1'}")
    async with http.get(f"http://127.0.0.2:{port}/moved", allow_redirects=False) as answer:
        assert (answer.status, answer.headers["Location"]) == (301, "/here")
    async with http.get(f"http://127.0.0.9:{port}/here") as answer:
        assert answer.status == 421


async def test_is_busy_as_often_as_planted(port: int, http: aiohttp.ClientSession) -> None:
    statuses = []
    for _ in range(3):
        async with http.get(f"http://127.0.0.2:{port}/busy") as answer:
            statuses.append((answer.status, answer.headers.get("Retry-After")))
    assert statuses == [(503, "1"), (503, "1"), (200, None)]


async def test_drops_a_connection_once(port: int, http: aiohttp.ClientSession) -> None:
    with pytest.raises(aiohttp.ClientError):
        await http.post(f"http://127.0.0.2:{port}/drop")
    async with http.get(f"http://127.0.0.2:{port}/drop") as answer:
        assert answer.status == 200


async def test_notes_every_request_and_none_of_its_own(port: int, http: aiohttp.ClientSession) -> None:
    for path in ("/here?q=2", "/busy", "/moved"):
        await (await http.get(f"http://127.0.0.2:{port}{path}", allow_redirects=False)).read()
    async with http.get(f"http://127.0.0.1:{port}/truth") as answer:
        assert await answer.json() == {"day": 1}
    async with http.get(f"http://127.0.0.1:{port}/log") as answer:
        entries = from_json(await answer.json())

    assert [(entry.host, entry.path, entry.status) for entry in entries] == [
        ("127.0.0.2", "/here?q=2", 200),
        ("127.0.0.2", "/busy", 503),
        ("127.0.0.2", "/moved", 301),
    ]
    assert [entry.at for entry in entries] == [0.0, 1.0, 2.0]
