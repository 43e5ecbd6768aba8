"""Whole workers behind real proxies: every page comes in, the host keeps its delay, no credential leaks."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import pytest
import redis.asyncio
import redis.exceptions
from pymongo.asynchronous.database import AsyncDatabase

from demo.state import any_port
from tests.crawling import Fleet, count, ended, open_frontier, said
from tests.integration.handlers.test_http import certified
from tests.proxies import BadProxy, proxy_py, tinyproxy
from tests.sent import gaps, noting
from tests.servers import ScrapyRunner
from tests.sites import Page, Site

USER, PASSWORD = "crawler-session-{session}", "tops3cret"
PAGES = {f"/{number}": Page(f"<title>{number}</title>") for number in range(12)}
QUICK: dict[str, Any] = {
    "LOG_LEVEL": "DEBUG",
    "PROXY_POOL": "homes",
    "DOWNLOAD_TIMEOUT": 30,
    "PROXY_QUARANTINE_SECONDS": 0.5,
    "PROXY_QUARANTINE_MAX_SECONDS": 1,
    "RETRY_TIMES": 0,  # what a proxy fails is not charged to the request
}
REFUSED = "Rejected the changed proxy pools and kept the previous ones"
READ_AGAIN = "Proxy pools reloaded: homes"
LEAKS = (PASSWORD, base64.b64encode(PASSWORD.encode()).decode()[:10], "Proxy-Authorization")


READ: dict[str, Any] = {
    "none": lambda client, key: client.get(key),
    "string": lambda client, key: client.get(key),
    "hash": lambda client, key: client.hgetall(key),
    "set": lambda client, key: client.smembers(key),
    "list": lambda client, key: client.lrange(key, 0, -1),
    "zset": lambda client, key: client.zrange(key, 0, -1),
    "stream": lambda client, key: client.xrange(key),
}


async def values(client: redis.asyncio.Redis) -> bytes:
    """Every key and value that Redis holds."""
    found = []
    async for key in client.scan_iter("*"):
        kind = cast("bytes", await client.type(key)).decode()
        with contextlib.suppress(redis.exceptions.ResponseError):  # it was another kind a moment ago
            found.append(repr((key, await READ[kind](client, key))).encode())
    return b"\n".join(found)


@contextlib.asynccontextmanager
async def watched(url: str) -> AsyncIterator[list[bytes]]:
    """What Redis held over and over, while the block runs."""
    seen: list[bytes] = []
    over = asyncio.Event()  # Python 3.11's wait_for, in the client, swallows a cancellation that comes as it ends

    async def watch() -> None:
        async with redis.asyncio.from_url(url) as client:
            while not over.is_set():
                seen.append(await values(client))
                await asyncio.sleep(0.05)

    task = asyncio.ensure_future(watch())
    try:
        yield seen
    finally:
        over.set()
        await task


def pools(*urls: str) -> dict[str, Any]:
    return {"homes": {"proxies": list(urls), "cost_per_request": 0.5}}


async def crawl(fleet: Fleet, site: Site, *urls: str, **settings: Any) -> str:
    """A worker's log once it has crawled all pages of *site* through the proxies."""
    await fleet.push(*map(site.url, site.pages), cap=4)
    worker = fleet.start(**QUICK | {"PROXY_POOLS": pools(*urls)} | settings)
    status, log = await ended(worker)
    assert status == 0
    return log


async def test_every_page_comes_in_while_a_proxy_dies_and_nothing_leaks(
    fleet: Fleet, mongo_database: AsyncDatabase[dict[str, Any]], tmp_path: Path
) -> None:
    pages = {f"/{number}": Page(f"<title>{number}</title>") for number in range(20)}
    with (
        tinyproxy(tmp_path, "crawler", PASSWORD) as one,
        tinyproxy(tmp_path, "crawler", PASSWORD) as dying,
        Site(pages) as site,
    ):
        await fleet.push(*map(site.url, site.pages), cap=1, delay_ms=300)
        urls = [proxy.with_user("crawler", PASSWORD) for proxy in (one, dying)]
        async with watched(fleet.redis_url) as seen:
            noted = noting(tmp_path / "sent")
            worker = fleet.start(**QUICK, **noted, PROXY_POOLS=pools(*urls), DOWNLOAD_DELAY=0.3)
            await site.asked(5)
            dying.kill()
            status, log = await ended(worker)
        left = await fleet.left()
    assert status == 0
    assert left.states == {"done": 20}
    assert await mongo_database["pages"].count_documents({}) == 20
    assert set(site.requested) == set(pages)
    assert len(site.requested) <= len(pages) + 1, "once, but for the one on its way when the proxy died"
    sent = gaps(tmp_path / "sent")
    assert len(sent) >= len(site.requested) - 1
    assert min(sent) >= 0.3, "a fresh proxy is no way around the delay"
    assert all("Proxy-Authorization" not in request.headers for request in site.received)
    assert count(log, "proxy/retries/homes") >= 3
    assert count(log, "proxy/quarantined/homes") >= 1
    assert count(log, "frontier/retried") == 0
    assert count(log, "proxy/requests/homes") == 20 + count(log, "proxy/failures/homes")
    assert count(log, "proxy/received_bytes/homes") > 20 * 100
    aside = next(line for line in log.splitlines() if f"Proxy {dying.name} of pool homes is quarantined" in line)
    assert aside.endswith((f"{dying.name} refused the connection", "the connection ended before anything came"))
    everything = b"".join(seen).decode()
    assert "/19" in everything, "what was queued was seen"
    assert "proxies:homes" in everything
    for leak in LEAKS:
        assert leak not in log
        assert leak not in everything


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_proxies_that_fail_in_every_way_cost_no_page_and_no_retry(
    fleet: Fleet, mongo_database: AsyncDatabase[dict[str, Any]], tmp_path: Path, scheme: str
) -> None:
    with (
        tinyproxy(tmp_path, "crawler", PASSWORD) as good,
        tinyproxy(tmp_path, "somebody", "else") as refuses_us,
        BadProxy(502) as broken,
        BadProxy(0) as hangs_up,
        BadProxy(200, delay=60) as slow,
        Site(PAGES, tls=certified(tmp_path) if scheme == "https" else None) as site,
    ):
        bad = (broken.url, hangs_up.url, slow.url, f"http://127.0.0.1:{any_port()}")
        ours = (proxy.with_user("crawler", PASSWORD) for proxy in (good, refuses_us))
        insecure = {"DOWNLOAD_VERIFY_CERTIFICATES": False}
        log = await crawl(fleet, site, *ours, *bad, PROXY_RETRY_TIMES=5, DOWNLOAD_TIMEOUT=8, **insecure)
        left = await fleet.left()
    assert left.states == {"done": 12}
    assert sorted(site.requested) == sorted(PAGES)
    assert await mongo_database["pages"].count_documents({}) == 12
    assert count(log, "proxy/failures/homes") >= 5
    assert "is quarantined" in log
    assert PASSWORD not in log


async def test_a_dead_host_condemns_no_proxy(fleet: Fleet, tmp_path: Path) -> None:
    """Its requests fail through every proxy; the other host is crawled as usual."""
    dead = any_port()
    with tinyproxy(tmp_path) as one, tinyproxy(tmp_path) as two, Site(PAGES) as site:
        await fleet.push(*(f"http://127.0.0.2:{dead}/{number}" for number in range(6)), *map(site.url, PAGES), cap=2)
        quick = QUICK | {"FRONTIER_BREAKER_FAULTS": 0}  # or the dead host would be left alone for half a minute
        worker = fleet.start(**quick, PROXY_POOLS=pools(one.url, two.url))
        status, log = await ended(worker)
        left = await fleet.left()
    assert status == 0
    assert left.states == {"done": 12, "dead": 6}
    assert sorted(site.requested) == sorted(PAGES)
    assert count(log, "proxy/quarantined/homes") == 0


async def test_while_no_proxy_works_requests_wait_and_then_go_on(
    fleet: Fleet, mongo_database: AsyncDatabase[dict[str, Any]], tmp_path: Path
) -> None:
    port = any_port()
    with Site(PAGES) as site:
        await fleet.push(*map(site.url, PAGES), cap=2)
        worker = fleet.start(**QUICK, PROXY_POOLS=pools(f"http://127.0.0.1:{port}"))
        await fleet.until(lambda now: now.counters.delayed >= 2)
        assert site.requested == []
        async with open_frontier(fleet.redis_url, fleet.key) as frontier:
            [waiting] = await frontier.inspection.waiting("walk")
        with tinyproxy(tmp_path, port=port):
            status, log = await ended(worker)
        left = await fleet.left()
    assert status == 0
    assert waiting.why == "no usable proxy: those of its pool that were tried failed, or all are in quarantine"
    assert left.states == {"done": 12}
    assert await mongo_database["pages"].count_documents({}) == 12
    assert count(log, "proxy/postponed/homes") >= 2
    lines = log.count("No usable proxy in pool homes")
    assert 1 <= lines <= 2 * count(log, "proxy/quarantined/homes"), "once for all requests, and once for each trial"
    assert f"Proxy 127.0.0.1:{port} of pool homes works again" in log


async def test_a_page_tries_all_proxies_before_it_waits_for_a_quarantine(fleet: Fleet, tmp_path: Path) -> None:
    """Six of seven refuse to connect, and one retry is not enough to find the other."""
    dead = [f"http://127.0.0.1:{any_port()}" for _ in range(6)]
    aside = {"PROXY_QUARANTINE_SECONDS": 3_600, "PROXY_QUARANTINE_MAX_SECONDS": 3_600}
    with tinyproxy(tmp_path) as good, Site({"/1": Page()}) as site:
        log = await crawl(fleet, site, *dead, good.url, PROXY_RETRY_TIMES=1, PROXY_FAILURES=100, **aside)
        left = await fleet.left()
    assert left.states == {"done": 1}
    assert count(log, "proxy/failures/homes") <= 6, "none twice"


async def test_the_pools_file_may_change_while_the_crawl_runs(fleet: Fleet, tmp_path: Path) -> None:
    file, refused, changed = tmp_path / "pools.toml", threading.Event(), threading.Event()
    with tinyproxy(tmp_path) as one, proxy_py("crawler", PASSWORD) as two, Site(PAGES) as site:

        def page() -> Page:
            """From the fourth request on they wait for one step, from the seventh on for the next."""
            asked = len(site.received)
            return Page(hold=changed if asked >= 7 else refused if asked >= 4 else None)

        site.pages.update(dict.fromkeys(PAGES, page))
        file.write_text('[homes]\nproxies = ["http://127.0.0.1:1"]\n')
        await fleet.push(*map(site.url, PAGES), cap=1)
        worker = fleet.start(**QUICK, PROXY_POOLS_FILE=str(file), PROXY_RELOAD_SECONDS=0.2)
        await fleet.until(lambda now: now.counters.delayed >= 1)
        file.write_text(f'[homes]\nproxies = ["{one.url}"]\n')
        await site.asked(4)
        file.write_text(f'[homes]\nproxies = ["http://crawler:{PASSWORD}@127.0.0.1"]\n')
        await said(worker, REFUSED)
        refused.set()
        await site.asked(7)
        file.write_text(f'[homes]\nproxies = ["{two.with_user("crawler", PASSWORD)}"]\n')
        await said(worker, READ_AGAIN, times=2)
        changed.set()
        status, log = await ended(worker)
        left = await fleet.left()
    assert (status, left.states) == (0, {"done": 12})
    assert log.count(REFUSED) == 1
    assert log.count(READ_AGAIN) == 2
    assert "proxy.py" in str([request.headers for request in site.received])
    assert PASSWORD not in log


async def test_a_password_is_decoded_once(fleet: Fleet) -> None:
    """`50%25off` is a password, too: decoded twice it is another one."""
    with proxy_py("crawler", "50%25off") as proxy, Site({"/1": Page()}) as site:
        log = await crawl(fleet, site, proxy.with_user("crawler", quote("50%25off", safe="")))
        left = await fleet.left()
    assert left.states == {"done": 1}
    assert count(log, "proxy/failures/homes") == 0


async def test_a_proxy_of_the_environment_that_cannot_be_read_is_no_way_around_it(fleet: Fleet) -> None:
    """Scrapy passes over it and connects directly."""
    fleet.runner.env["http_proxy"] = f"http://crawler:{PASSWORD}%E2%82%AC@127.0.0.1:1"
    status, log = await ended(fleet.start())
    assert status == 2
    assert log.splitlines()[-1].endswith(
        "http_proxy of the environment = '...' is invalid: expected http://[user:password@]host:port, the credentials "
        "percent-encoded and in latin-1 (HTTPPROXY_AUTH_ENCODING)"
    )
    assert PASSWORD not in log


async def test_a_proxy_of_the_users_means_what_it_means_in_scrapy(fleet: Fleet, tmp_path: Path) -> None:
    """Both of meta["proxy"] and of the environment."""
    with tinyproxy(tmp_path, "crawler", PASSWORD) as one, Site({"/1": Page()}, host="127.0.0.1") as site:
        fleet.runner.env["http_proxy"] = one.with_user("crawler", PASSWORD)
        fleet.runner.env["no_proxy"] = ""
        await fleet.push(site.url("/1"))
        status, log = await ended(fleet.start(LOG_LEVEL="DEBUG"))
    assert status == 0
    assert "tinyproxy" in site.received[0].headers.get("Via", "")
    assert PASSWORD not in log


async def test_an_unknown_pool_stops_the_start(scrapy_with_servers: ScrapyRunner) -> None:
    done = scrapy_with_servers.run("crawl", "products", "-s", "PROXY_POOL=homes")
    assert done.returncode != 0
    assert "PROXY_POOL = 'homes' is invalid: expected no pool: none is configured (PROXY_POOLS_FILE)" in done.stderr
