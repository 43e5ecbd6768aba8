"""What a page in the browser may reach: no address that the guard refuses, on any way a page has; others as usual."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from ipaddress import ip_address

import pytest
import pytest_asyncio
from scrapy import Request

from crawler import stats as names
from crawler.errors import AddressRefusedError
from crawler.handlers.browser.handler import BrowserDownloadHandler
from crawler.policy.address_guard import Address
from tests.integration.handlers.browsing import opened
from tests.sites import Page, Site

pytestmark = pytest.mark.asyncio(loop_scope="module")

HIDDEN = "127.0.0.2"  # loopback too, and not among the allowed networks
SPELLINGS = ("2130706434", "0x7f.2", "[::ffff:127.0.0.2]", "127.2", "127.0.0.2.")  # of it
WAYS = {
    "script": "<script src='{}'></script>",
    "style": "<link rel=stylesheet href='{}'>",
    "preload": "<link rel=preload as=fetch href='{}'><link rel=prefetch href='{}'><link rel=preconnect href='{}'>",
    "iframe": "<iframe src='{}'></iframe>",
    "object": "<object data='{}'></object>",
    "form": "<iframe name=f></iframe><form target=f method=post action='{}'></form><script>document.forms[0].submit();"
    "</script>",
    "fetch": "<script>fetch('{}', {mode: 'no-cors'})</script>",
    "xhr": "<script>x = new XMLHttpRequest(); x.open('GET', '{}'); x.send()</script>",
    "beacon": "<script>navigator.sendBeacon('{}', 'x')</script>",
    "events": "<script>new EventSource('{}')</script>",
    "worker": "<script>new Worker(URL.createObjectURL(new Blob([\"fetch('{}', {mode: 'no-cors'})\"])))</script>",
    "module": "<script type=module>import '{}'</script>",
    "websocket": "<script>new WebSocket('{}'.replace('http', 'ws'))</script>",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def handler() -> AsyncIterator[BrowserDownloadHandler]:
    async with opened(BROWSER_SETTLE_SECONDS=20) as one:
        yield one


@pytest.fixture
def canary() -> Iterator[Site]:
    with Site({}, host=HIDDEN) as site:
        yield site


def refused(handler: BrowserDownloadHandler) -> int:
    count: int = handler.stats.get_value(names.BROWSER_REFUSED, 0)
    return count


def every_way_to(site: Site) -> str:
    return "".join(way.replace("{}", site.url(f"/{name}")) for name, way in WAYS.items())


async def visit(
    handler: BrowserDownloadHandler, body: str, until: Callable[[], bool] = lambda: True, **pages: Page
) -> Site:
    """Load a page with *body*, which is complete at the earliest when *until* holds; the site logs its requests."""
    over = threading.Event()
    waiting = {"/": Page(f"<body>{body}<script>fetch('/over')</script>"), "/over": Page(hold=over)}
    with Site(waiting | {f"/{name}": page for name, page in pages.items()}) as site:
        loading = asyncio.ensure_future(handler.download_request(Request(site.url("/"))))
        while not (until() or loading.done()):  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.02)
        over.set()
        await loading
    site.received = [request for request in site.received if request.path != "/over"]
    return site


async def test_no_way_of_a_page_leads_to_a_forbidden_address(handler: BrowserDownloadHandler, canary: Site) -> None:
    before = refused(handler)
    await visit(handler, every_way_to(canary), lambda: refused(handler) - before >= len(WAYS))

    assert not canary.received
    assert refused(handler) - before >= len(WAYS)


async def test_every_one_of_these_ways_leads_to_an_allowed_one(handler: BrowserDownloadHandler) -> None:
    ways = {f"/{name}" for name in WAYS}
    with Site({}) as other:
        await visit(handler, every_way_to(other), lambda: ways <= set(other.requested))

    assert ways - set(other.requested) == set()


async def test_no_spelling_of_an_address_helps(handler: BrowserDownloadHandler) -> None:
    """Each at a port of its own."""
    with ExitStack() as open_sockets:
        before, script = refused(handler), ""
        servers = [open_sockets.enter_context(socket.create_server((HIDDEN, 0))) for _ in SPELLINGS]
        for spelling, server in zip(SPELLINGS, servers, strict=True):
            server.settimeout(0.1)
            script += f"fetch('http://{spelling}:{server.getsockname()[1]}/', {{mode: 'no-cors'}});"
        many = len(SPELLINGS)
        site = await visit(handler, f"<script>{script}</script>", lambda: refused(handler) - before >= many)

        for server in servers:
            with pytest.raises(TimeoutError):
                server.accept()
    assert site.requested == ["/"]
    assert refused(handler) - before >= many


async def test_a_redirect_of_a_resource_does_not_help(handler: BrowserDownloadHandler, canary: Site) -> None:
    before = refused(handler)
    away = Page("", 302, {"Location": canary.url("/redirected")})
    body = "<script src=/away></script><iframe src=/away></iframe>"
    site = await visit(handler, body, lambda: refused(handler) >= before + 2, away=away)

    assert site.requested.count("/away") == 2
    assert not canary.received
    assert refused(handler) > before


async def test_a_name_that_changes_its_address_does_not_help() -> None:
    answers = [ip_address("127.0.0.1"), ip_address(HIDDEN)]

    async def lookup(host: str) -> list[Address]:
        return [answers.pop(0)]

    async with opened(DNSCACHE_ENABLED=False, BROWSER_SETTLE_SECONDS=20) as uncached:
        uncached._resolver._lookup = lookup
        with Site({}, host="0.0.0.0") as everywhere:
            url = f"http://rebind.test:{everywhere.url().rpartition(':')[2]}"
            one_after_the_other = f"fetch('{url}first', {{mode: 'no-cors'}}).finally(() => fetch('{url}second'))"
            await visit(uncached, f"<script>{one_after_the_other}</script>", lambda: not answers)

    assert everywhere.requested == ["/first"]
    assert not answers


async def test_the_page_itself_is_judged_before_a_tab_is_opened(handler: BrowserDownloadHandler, canary: Site) -> None:
    with pytest.raises(AddressRefusedError):
        await handler.download_request(Request(canary.url("/")))

    assert not canary.received


@pytest.mark.parametrize("url", ["file:///etc/passwd", "chrome://version", "view-source:http://127.0.0.1/"])
async def test_no_other_scheme_is_loaded(handler: BrowserDownloadHandler, url: str) -> None:
    body = f"<iframe src='{url}' onload='document.title = this.contentDocument?.body?.innerText'></iframe>"
    with Site({"/": Page(body + f"<script>open('{url}'); location = '{url}'</script>")}) as site:
        response = await handler.download_request(Request(site.url("/")))

    assert response.status == 200
    assert b"root:" not in response.body


async def test_webrtc_sends_nothing_past_the_proxy(handler: BrowserDownloadHandler) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stun:
        stun.bind(("127.0.0.1", 0))
        stun.settimeout(0.1)
        servers = f"[{{urls: 'stun:127.0.0.1:{stun.getsockname()[1]}'}}]"
        script = f"c = new RTCPeerConnection({{iceServers: {servers}}}); c.createDataChannel('x'); "
        await visit(handler, f"<script>{script} c.createOffer().then(o => c.setLocalDescription(o))</script>")

        with pytest.raises(TimeoutError):
            stun.recv(1)


async def test_a_service_worker_is_not_registered(handler: BrowserDownloadHandler) -> None:
    worker = Page("", headers={"Content-Type": "text/javascript"})
    script = "navigator.serviceWorker.register('/worker').catch(e => document.body.append('refused'))"
    site = await visit(handler, f"<script>{script}</script>", worker=worker)

    assert site.requested == ["/"]
