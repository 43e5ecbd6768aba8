"""Cookies at a site: one session for all workers, none unless configured, and no value in a log."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio

from tests.crawling import Fleet, count, ended, said
from tests.sites import Page, Site

PATHS = [f"/{number}" for number in range(8)]


def setting(*cookies: str) -> Page:
    return Page(headers={"Set-Cookie": cookies[0]} if cookies else {})


def site() -> Site:
    """Every page counts up a cookie; /in sets the session's."""
    numbers = itertools.count()
    pages: dict[str, Page | Callable[[], Page]] = {
        path: lambda: setting(f"seen{next(numbers)}=s3cret{next(numbers)}; Path=/") for path in PATHS
    }
    pages["/in"] = setting("sid=s3cret; Path=/; HttpOnly")
    pages["/out"] = setting("sid=gone; Path=/; Max-Age=0")
    return Site(pages)


def domains(tmp_path: Path, text: str) -> dict[str, Any]:
    (tmp_path / "domains.toml").write_text(f"[default]\n{text}\n")
    return {"DOMAINS_FILE": str(tmp_path / "domains.toml"), "COOKIES_DEBUG": True, "LOG_LEVEL": "DEBUG"}


def cookies(site: Site, path: str) -> set[str]:
    """The names of the cookies that came with each request for *path*."""
    [sent] = [request.headers.get("Cookie", "") for request in site.received if request.path == path]
    return {pair.partition("=")[0].strip() for pair in sent.split(";") if pair}


async def test_a_damaged_jar_is_named_and_costs_its_damaged_cookies_alone(fleet: Fleet, tmp_path: Path) -> None:
    """Its host's pages failed, all of them, until the jar was forgotten."""
    settings = domains(tmp_path, 'cookies = "host"')
    with site() as shop:
        key = f"{{{fleet.key}:0}}:cookies:127.0.0.1/"
        good = {b"127.0.0.1\n/\nkept": b'["v", null, 0, 0, 1, 0]'}
        record = b'["v", null, 0, 0, 0, 0]'
        foreign = {b"\xff": b"\xc1", b"a\n/\nb": b"[1, 2]", b"c": record, b"d\n/\ne": record.replace(b"v", b"\xc1")}
        odd = [rb'["\ud800", null, 0, 0, 0, 0]', b'["v", 1%s, 0, 0, 0, 0]' % (400 * b"0"), 100_000 * b"["]
        foreign |= {b"127.0.0.1\n/\n%d" % number: record for number, record in enumerate(odd)}
        async with redis.asyncio.from_url(fleet.redis_url) as client:
            await client.hset(key, items=[part for pair in (good | foreign).items() for part in pair])
        await fleet.push(*map(shop.url, PATHS[:2]))
        status, log = await ended(fleet.start(**settings, CONCURRENT_REQUESTS_PER_DOMAIN=1))
        async with redis.asyncio.from_url(fleet.redis_url) as client:
            left = await client.hkeys(key)
        assert all("kept" in cookies(shop, path) for path in PATHS[:2]), log
    assert (status, (await fleet.left()).states) == (0, {"done": 2}), log
    assert not foreign.keys() & set(left)
    assert log.count(f"Redis held foreign values in the hash {key}") == 1, log


async def test_any_worker_continues_the_session(fleet: Fleet, tmp_path: Path) -> None:
    settings = domains(tmp_path, 'cookies = "host"')
    with site() as shop:
        await fleet.push(shop.url("/in"))
        log = (await ended(fleet.start(**settings)))[1]
        await fleet.push(*map(shop.url, PATHS))
        workers = [fleet.start(**settings), fleet.start(**settings)]
        log += "".join([(await ended(worker))[1] for worker in workers])
        await fleet.push(shop.url("/out"))
        log += (await ended(fleet.start(**settings)))[1]
        await fleet.push(shop.url("/gone"))
        log += (await ended(fleet.start(**settings)))[1]
    assert cookies(shop, "/in") == set()
    assert all("sid" in cookies(shop, path) for path in PATHS)
    assert len(cookies(shop, "/out")) == 9, "each page's cookie, whichever worker got it"
    assert len(cookies(shop, "/gone")) == 8
    assert "sid" not in cookies(shop, "/gone")
    assert "s3cret" not in log
    assert "Sending cookies to <GET" in log


async def test_a_session_that_redis_lost_is_stored_whole_with_its_next_cookie(fleet: Fleet, tmp_path: Path) -> None:
    """Only what a page changes is sent, and of a page under way that was the one cookie that it set."""
    settings, held = domains(tmp_path, 'cookies = "host"'), threading.Event()
    with site() as shop:
        shop.pages["/held"] = Page(headers={"Set-Cookie": "new=1; Path=/"}, hold=held)
        worker = fleet.start(**settings, MAX_IDLE_TIME_BEFORE_CLOSE=60)
        await fleet.push(shop.url("/in"))
        await fleet.until(lambda now: now.counters.done == 1)
        await fleet.push(shop.url("/held"))
        await shop.asked(2)
        async with redis.asyncio.from_url(fleet.redis_url) as client:
            await client.delete(*[key async for key in client.scan_iter(f"*{fleet.key}*")])
            await said(worker, "Redis has lost its data")
            held.set()
            await said(worker, "Received cookies from <200 ", times=2)
            worker.terminate()
            await ended(worker)
            jar: Any = await client.hkeys(f"{{{fleet.key}:0}}:cookies:127.0.0.1/")
    assert sorted(name.split(b"\n")[-1] for name in jar) == [b"new", b"sid"]


async def test_cookies_are_off_where_nobody_asks_for_them(fleet: Fleet, tmp_path: Path) -> None:
    settings = domains(tmp_path, "")
    with site() as shop:
        await fleet.push(*map(shop.url, PATHS), cap=1)
        status, log = await ended(fleet.start(**settings))
    assert status == 0
    assert not any("Cookie" in request.headers for request in shop.received)
    assert count(log, "cookies/set") == 0


@pytest.mark.parametrize("cookies_of", ["none", "host"])
async def test_scrapys_own_jars_stay_what_they_are(fleet: Fleet, tmp_path: Path, cookies_of: str) -> None:
    """With COOKIES_ENABLED and no setting for the domain; another worker starts without cookies."""
    settings = domains(tmp_path, f'cookies = "{cookies_of}"') | {"COOKIES_ENABLED": True}
    with site() as shop:
        for path in ("/in", "/0"):
            await fleet.push(shop.url(path))
            await ended(fleet.start(**settings))
            await asyncio.sleep(0)
    assert cookies(shop, "/0") == ({"sid"} if cookies_of == "host" else set())
