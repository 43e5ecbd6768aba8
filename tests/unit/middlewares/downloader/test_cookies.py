"""When the sessions middleware is Scrapy's own, and when it is off."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tldextract
from scrapy import Request
from scrapy.downloadermiddlewares import cookies
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.http.cookies import CookieJar
from scrapy.signalmanager import SignalManager
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler
from tldextract.cache import DiskCache

from crawler import stats as names
from crawler.middlewares.downloader import cookies as module
from crawler.middlewares.downloader.cookie_jar_limit import CookieJarLimit
from crawler.middlewares.downloader.cookies import DOMAIN_BYTES, MOST, SLACK, JarUse, SessionsMiddleware
from tests.shipped import shipped


def built(**changed: Any) -> CookiesMiddleware:
    """As for a spider of the fleet."""
    crawler: Any = SimpleNamespace(settings=shipped(**changed), signals=SignalManager())
    return SessionsMiddleware.from_crawler(crawler)


def test_outside_the_fleet_it_is_scrapys_own() -> None:
    assert (
        type(SessionsMiddleware.from_crawler(get_crawler(settings_dict={"COOKIES_ENABLED": True}))) is CookiesMiddleware
    )


def test_it_is_off_where_nothing_asks_for_cookies() -> None:
    with pytest.raises(NotConfigured):
        built()
    assert isinstance(built(COOKIES_ENABLED=True), SessionsMiddleware)


@pytest.mark.parametrize(
    ("cookies", "meta", "session"),
    [
        ("host", {}, ""),
        ("host", {"session": "a"}, ""),
        ("host", {"cookiejar": 1}, None),
        ("session", {}, ""),
        ("session", {"session": "a"}, "a"),
        ("session", {"cookiejar": 1}, "1"),
        ("session", {"cookiejar": None}, ""),
        ("session", {"cookiejar": 1, "session": None}, "1"),
        ("session", {"cookiejar": 1, "session": "a"}, "a"),
        ("session", {"cookiejar": 1, "dont_merge_cookies": True}, None),
        ("none", {"cookiejar": 1}, None),
    ],
)
def test_whose_jar_a_request_uses(cookies: str, meta: dict[str, Any], session: str | None, tmp_path: Path) -> None:
    """None: Scrapy's, of this worker alone. A project with several cookiejars needs one line of TOML for a fleet."""
    rules = tmp_path / "domains.toml"
    rules.write_text(f'["a.example"]\ncookies = "{cookies}"')
    middleware = built(COOKIES_ENABLED=True, DOMAINS_FILE=str(rules))
    assert isinstance(middleware, SessionsMiddleware)
    named = middleware._named(Request("http://a.example/", meta=meta))
    assert named == (None if session is None else ("a.example", session))


def test_what_a_visit_believes_of_redis_is_forgotten_when_that_lost_data() -> None:
    """The next cookie that is set has all of them stored again."""
    middleware = built(COOKIES_ENABLED=True)
    assert isinstance(middleware, SessionsMiddleware)
    visit, request = JarUse("a.example", "", {"one": "record"}, CookieJar()), Request("http://a.example/")
    middleware._uses[request] = visit
    middleware._forget()
    assert visit.known == {}


async def test_a_site_that_sets_new_cookies_with_each_page_keeps_the_last_of_them() -> None:
    middleware = scrapys()
    for page in range(20):
        request = Request(f"http://a.example/{page}")
        await middleware.process_request(request)
        headers = {"Set-Cookie": [f"c{page}-{n}=x" for n in range(100)]}
        await middleware.process_response(request, Response(request.url, headers=headers))
    kept = [cookie.name for cookie in middleware.jars[None]]
    assert MOST <= len(kept) <= MOST + SLACK
    assert kept[-1] == "c19-99"
    assert middleware.crawler.stats is not None
    assert middleware.crawler.stats.get_value(names.COOKIES_REFUSED) == 2_000 - len(kept)


async def test_a_site_that_sets_long_cookies_does_not_have_them_sent_by_the_megabyte() -> None:
    middleware, text = scrapys(), "x" * 4_000
    for page in range(100):
        cookies = [f"c{page}-{n}={text}; expires=Fri, 31 Dec 9999 23:59:59 GMT" for n in range(10)]
        sent = await visit(middleware, f"http://a.example/{page}", *cookies)
        assert len(sent or b"") <= 2 * DOMAIN_BYTES
    assert list(middleware.jars[None])[-1].name == "c99-9"
    assert len(list(middleware.jars[None])) >= DOMAIN_BYTES // 4_020


async def test_one_cookie_is_kept_however_long() -> None:
    middleware = scrapys()
    await visit(middleware, "http://a.example/", *(f"c{n}={'x' * DOMAIN_BYTES}" for n in range(3)))
    assert [cookie.name for cookie in middleware.jars[None]] == ["c2"]


async def test_what_a_site_deletes_again_leaves_nothing_behind() -> None:
    """The standard library's jar keeps an empty place for each path, and each domain, that ever had a cookie."""
    middleware, gone = scrapys(), "gone=; Max-Age=0; Path=/"
    for page in range(2 * SLACK):
        await visit(middleware, "http://a.example/", f"gone=1; Path=/{page}", f"{gone}{page - 1}")
    places = middleware.jars[None]._cookies["a.example"]
    assert len(places) <= SLACK + MOST
    assert f"/{2 * SLACK - 1}" in places


async def test_sites_whose_cookies_are_gone_leave_nothing_behind() -> None:
    middleware = scrapys()
    middleware._room = CookieJarLimit(middleware.jars, most=1_000_000)
    for site in range(2_000):
        await visit(middleware, f"http://site-{site}.com/", f"a={'x' * 2_000}")
        await visit(middleware, f"http://site-{site}.com/", "a=; Max-Age=0")
    assert len(middleware.jars[None]._cookies) < 500


async def test_what_is_counted_of_sites_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COUNTED", 100)
    middleware = scrapys()
    for site in range(250):
        await visit(middleware, f"http://site-{site}.com/", "a=1")
    assert len(middleware._set[middleware.jars[None]]) <= 101


def scrapys() -> SessionsMiddleware:
    """Where no domain shares its cookies."""
    middleware = built(COOKIES_ENABLED=True)
    assert isinstance(middleware, SessionsMiddleware)
    middleware.crawler.stats = MemoryStatsCollector(get_crawler())
    middleware._rules = SimpleNamespace(domains=SimpleNamespace(for_url=lambda _: SimpleNamespace(cookies="")))  # type: ignore[assignment]
    return middleware


async def visit(middleware: SessionsMiddleware, url: str, *cookies: str, jar: Any = None) -> bytes | None:
    """The cookies sent; the site sets *cookies*."""
    request = Request(url, meta={} if jar is None else {"cookiejar": jar})
    await middleware.process_request(request)
    await middleware.process_response(request, Response(url, headers={"Set-Cookie": list(cookies)}))
    return request.headers.get("Cookie")


async def test_any_number_of_sites_keep_as_many_cookies_as_fit_those_used_last() -> None:
    middleware = scrapys()
    middleware._room = CookieJarLimit(middleware.jars, most=1_000_000)
    await visit(middleware, "http://login.com/", "sid=1; Domain=login.com")
    for site in range(2_000):
        await visit(middleware, f"http://site-{site}.com/", f"a={'x' * 2_000}", f"b={'y' * 2_000}")
        if site % 10 == 0:
            assert await visit(middleware, "http://www.login.com/") == b"sid=1"
    kept = list(middleware.jars[None])
    assert 50 < len(kept) < 500
    assert await visit(middleware, "http://site-1999.com/")
    assert await visit(middleware, "http://site-0.com/") is None
    assert middleware.crawler.stats is not None
    assert middleware.crawler.stats.get_value(names.COOKIES_REFUSED) == 4_001 - len(kept)


async def test_any_number_of_jars_are_not_all_kept() -> None:
    middleware = scrapys()
    middleware._room = CookieJarLimit(middleware.jars, most=1_000_000)
    for number in range(2_000):
        await visit(middleware, "http://shop.example/", *([f"n={number}"] if number % 2 else []), jar=number)
    assert len(middleware.jars) < 300
    assert await visit(middleware, "http://shop.example/", jar=1_999) == b"n=1999"


async def test_a_cookie_that_is_set_again_and_again_takes_the_room_of_one() -> None:
    middleware = scrapys()
    middleware._room = CookieJarLimit(middleware.jars, most=100_000)
    await visit(middleware, "http://first.example/", "a=1")
    for number in range(200):
        await visit(middleware, "http://shop.example/", f"n={number}{'x' * 1_000}")
    assert await visit(middleware, "http://first.example/") == b"a=1"


async def test_public_suffixes_are_known_without_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: Any, **named: Any) -> str:
        raise AssertionError("the network is asked")

    monkeypatch.setattr(DiskCache, "cached_fetch_url", asked)
    scrapys = tldextract.TLDExtract(cache_dir=None, include_psl_private_domains=True)
    monkeypatch.setattr(cookies, "_split_domain", scrapys)  # as if no list were cached on this machine
    middleware = built(COOKIES_ENABLED=True)
    sent = []
    for domain in ("co.uk", "shop.co.uk"):
        request = Request("https://shop.co.uk/", cookies=[{"name": "a", "value": domain, "domain": domain}])
        middleware.jars.clear()
        await middleware.process_request(request)  # type: ignore[misc]
        sent.append(request.headers.get("Cookie"))
    assert sent == [None, b"a=shop.co.uk"]
