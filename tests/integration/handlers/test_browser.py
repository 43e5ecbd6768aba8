"""The browser tier's handler with a real Chromium: what it returns and what it leaves alone."""

from __future__ import annotations

import asyncio
import errno
import gzip
import re
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.async_api import Error
from scrapy import Request
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadFailedError,
    NotSupported,
    ResponseDataLossError,
)
from scrapy.http import JsonRequest, TextResponse
from scrapy_playwright.page import PageMethod

from crawler import stats as names
from crawler.errors import BrowserError, PageTimeoutError, ProxyError
from crawler.handlers.browser import cookies
from crawler.handlers.browser.contexts import ContextKey
from crawler.handlers.browser.handler import BrowserDownloadHandler
from crawler.handlers.wire_turn import WireTurn
from crawler.meta import WIRE_TURN
from crawler.policy.endings.shortages import shortage
from crawler.proxies.faults import Fault, fault
from crawler.worker.turns.unsent import MissedError
from tests.integration.handlers.browsing import listening, opened, text
from tests.integration.handlers.test_http import certified
from tests.sites import Page, Site, nobody

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCRIPT = "<html><body><p>before</p><script>document.body.innerHTML = '<p>made by a script</p>'</script></body></html>"


@asynccontextmanager
async def hanging_up() -> AsyncIterator[tuple[str, list[bytes]]]:
    """The URL of a host that hangs up on each request, and the heads of those."""
    heads: list[bytes] = []

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as host:
        yield f"http://127.0.0.1:{host.sockets[0].getsockname()[1]}/", heads


# --- what it returns


async def test_the_body_is_what_scripts_made_of_the_page(handler: BrowserDownloadHandler) -> None:
    page = Page(SCRIPT, 203, {"Content-Type": "text/html; charset=iso-8859-1", "X-Own": "yes", "Set-Cookie": "a=1"})
    with Site({"/": page}) as site:
        request = Request(site.url("/"))
        response = await handler.download_request(request)

    assert isinstance(response, TextResponse)
    assert (response.status, response.url, response.request) == (203, site.url("/"), request)
    assert response.css("p::text").get() == "made by a script"
    assert (response.headers["X-Own"], response.headers["Set-Cookie"]) == (b"yes", b"a=1")
    assert "Content-Length" not in response.headers
    assert request.meta.keys() == {"download_latency"}


async def test_a_page_that_scripts_fill_later_is_waited_for(
    handler: BrowserDownloadHandler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "_browser", replace(handler._browser, idle_seconds=20))
    shell = "<body><script>fetch('/data').then(r => r.text()).then(t => document.body.append(t))</script>"
    with Site({"/": Page(shell), "/data": Page("price 9.99", headers={"Content-Type": "text/plain"})}) as site:
        assert "price 9.99" in await text(handler, Request(site.url("/")))


async def test_a_window_loads_the_page_and_nothing_of_chromiums_own(handler: BrowserDownloadHandler) -> None:
    loaded: list[str] = []

    async def look(_: object) -> None:
        session = handler._lifecycle._chromium._session
        assert session is not None
        loaded.extend(target["url"] for target in (await session.send("Target.getTargets"))["targetInfos"])

    with Site({"/": Page("a lamp")}) as site:
        await text(handler, Request(site.url("/"), meta={"playwright_page_methods": [PageMethod(look)]}))

    assert loaded == [site.url("/")]


@pytest.mark.parametrize(("status", "body"), [(404, "gone"), (404, ""), (503, ""), (204, ""), (200, "")])
async def test_every_status_is_an_answer(handler: BrowserDownloadHandler, status: int, body: str) -> None:
    with Site({"/": Page(body, status, {"X-Own": "yes"})}) as site:
        response = await handler.download_request(Request(site.url("/")))

    assert (response.status, response.headers["X-Own"]) == (status, b"yes")
    assert body in response.text if isinstance(response, TextResponse) else not response.body


@pytest.mark.parametrize("scheme", ["Basic realm=x", "Digest realm=x, nonce=1", "NTLM", "Negotiate"])
async def test_a_page_behind_a_login_is_an_answer(handler: BrowserDownloadHandler, scheme: str) -> None:
    with Site({"/": Page("log in", 401, {"WWW-Authenticate": scheme})}) as site:
        response = await handler.download_request(Request(site.url("/")))

    assert (response.status, response.headers["WWW-Authenticate"]) == (401, scheme.encode())
    assert site.requested == ["/"]
    assert "Authorization" not in site.received[0].headers


async def test_a_certificate_that_nobody_vouches_for_is_refused_by_default(
    handler: BrowserDownloadHandler, tmp_path: Path
) -> None:
    with Site({"/": Page("fine")}, tls=certified(tmp_path)) as site:
        with pytest.raises(DownloadFailedError, match="ERR_CERT_AUTHORITY_INVALID"):
            await handler.download_request(Request(site.url("/")))
        assert site.requested == []
        async with opened(DOWNLOAD_VERIFY_CERTIFICATES=False) as trusting:
            assert "fine" in await text(trusting, Request(site.url("/")))


async def test_what_is_no_html_comes_as_it_is(handler: BrowserDownloadHandler) -> None:
    with Site({"/": Page('{"a": 1}', headers={"Content-Type": "application/json"})}) as site:
        response = await handler.download_request(Request(site.url("/")))

    assert response.body == b'{"a": 1}'


async def test_method_body_and_headers_are_the_requests(handler: BrowserDownloadHandler) -> None:
    pages = {"/": Page("<script src=/s.js></script>"), "/s.js": Page("", headers={"Content-Type": "text/javascript"})}
    headers = {"User-Agent": "shoal/0.1 (tests)", "X-Own": "yes", "Cookie": "jar=full", "Proxy-Authorization": "secret"}
    with Site(pages) as site:
        await handler.download_request(JsonRequest(site.url("/#top"), data={"q": 1}, headers=headers))

    page, script = site.received
    assert (page.method, page.body) == ("POST", '{"q": 1}')
    sent = {name.lower(): value for name, value in page.headers.items()}
    assert (sent["x-own"], sent["cookie"], sent["user-agent"]) == ("yes", "jar=full", "shoal/0.1 (tests)")
    assert "proxy-authorization" not in sent
    assert {name.lower(): value for name, value in script.headers.items()}["user-agent"] == "shoal/0.1 (tests)"
    assert "X-Own" not in script.headers


async def test_a_session_knows_nothing_of_another_ones_cookies(handler: BrowserDownloadHandler) -> None:
    with Site({"/": Page()}) as site:
        for session, cookie in (("first", "of=first; own=1"), ("second", "of=second"), ("second", "of=second")):
            headers, meta = {"Cookie": cookie}, {"session": session}
            await handler.download_request(Request(site.url("/"), headers=headers, meta=meta))

    assert [page.headers["Cookie"] for page in site.received] == ["of=first; own=1", "of=second", "of=second"]


async def test_a_cookie_is_the_requests_and_of_the_whole_host(handler: BrowserDownloadHandler) -> None:
    """Whatever the site has set under the same name meanwhile, for a path of its own too."""
    page = Page("<script src=/s.js></script>", headers={"Set-Cookie": "own=the-sites; Path=/"})
    pages = {"/a/1": page, "/a/2": Page("", headers={"Set-Cookie": "own=narrow; Path=/a"}), "/a/3": Page()}
    with Site(pages | {"/s.js": Page("", headers={"Content-Type": "text/javascript"})}) as site:
        for path, cookie in (("/a/1", "a=1; own=é"), ("/a/2", "own=2"), ("/a/3", "own=3")):
            meta = {"session": "whole-host"}
            await handler.download_request(Request(site.url(path), headers={"Cookie": cookie}, meta=meta))

    assert [site.last(path).headers["Cookie"] for path in ("/a/2", "/a/3")] == ["a=1; own=2", "a=1; own=3"]
    assert site.last("/a/1").headers["Cookie"].encode("latin-1").decode() == "a=1; own=é"
    assert site.last("/s.js").headers["Cookie"] == "a=1; own=the-sites"


async def test_a_cookie_that_chromium_does_not_take_keeps_no_page_away(
    handler: BrowserDownloadHandler, caplog: pytest.LogCaptureFixture
) -> None:
    with Site({"/": Page("fine")}) as site:
        headers, meta = {"Cookie": f"__Host-a=1; b=2; c={'x' * 5000}"}, {"session": "refused"}
        assert "fine" in await text(handler, Request(site.url("/"), headers=headers, meta=meta))

    assert site.received[0].headers["Cookie"] == "b=2"
    assert f"no such cookies for {site.url('/')}, which is asked for without: __Host-a, c" in caplog.text


async def test_a_cookie_is_of_no_narrower_path_than_its_host() -> None:
    """As Chromium takes `__Host-` ones for / only."""
    found = cookies.parse(b"__Host-a=1; b", "https://a.example/shop/1?q#top")
    assert [(one["name"], one["value"], one["url"]) for one in found] == [
        ("__Host-a", "1", "https://a.example/"),
        ("b", "", "https://a.example/"),
    ]


async def test_a_context_that_is_gone_keeps_no_other_one_open() -> None:
    closed: list[str] = []

    class Context:
        async def close(self) -> None:
            closed.append("tried")
            raise Error("Target page, context or browser has been closed")

    async with opened() as handler:
        for session in "ab":
            lent = handler._contexts.lend(ContextKey("", None, session=session))
            handler._contexts.give_back(lent)
            handler._contexts._retired.append(handler._contexts._current.pop(lent.wants))
            handler.context_wrappers[lent.name] = SimpleNamespace(context=Context())
        await handler._tidy(None)
        assert closed == ["tried", "tried"]
        assert not handler._proxy._passes


# --- what it leaves alone


async def test_a_redirect_is_handed_over_and_not_followed(handler: BrowserDownloadHandler) -> None:
    with Site({"/": Page("", 301, {"Location": "/next"}), "/next": Page()}) as site:
        response = await handler.download_request(Request(site.url("/")))

    assert (response.status, response.headers["Location"]) == (301, b"/next")
    assert site.requested == ["/"]


@pytest.mark.parametrize(
    "body", ["<script>location.href = '/next'</script>", '<meta http-equiv="refresh" content="0; url=/next">']
)
async def test_a_page_that_goes_elsewhere_by_itself_is_a_redirect(handler: BrowserDownloadHandler, body: str) -> None:
    with Site({"/": Page(body), "/next": Page()}) as site:
        response = await handler.download_request(Request(site.url("/")))

        assert (response.status, response.headers["Location"]) == (302, site.url("/next").encode())
        assert site.requested == ["/"]


async def test_resources_are_blocked_by_type_and_popups_closed(handler: BrowserDownloadHandler) -> None:
    body = "<img src=/i.png><video src=/v.mp4></video><link rel=stylesheet href=/s.css><script>open('/pop')</script>"
    pages = {"/": Page(body), "/s.css": Page("", headers={"Content-Type": "text/css"})}
    with Site(pages) as site:
        await handler.download_request(Request(site.url("/")))

    assert sorted(site.requested) == ["/", "/s.css"]
    assert handler.stats.get_value(names.BROWSER_BLOCKED.format("image")) == 1
    assert {len(wrapper.context.pages) for wrapper in handler.context_wrappers.values()} == {0}


@pytest.mark.parametrize(
    ("method", "why"),
    [
        (PageMethod("wait_for_selector", "#none", timeout=100), "Page.wait_for_selector: Timeout 100ms exceeded"),
        (PageMethod("evaluate", "none()"), "Page.evaluate: ReferenceError: none is not defined"),
    ],
)
async def test_a_page_method_that_fails_is_named(handler: BrowserDownloadHandler, method: PageMethod, why: str) -> None:
    """It was taken for a page that is slow, or for a browser that fails."""
    with Site({"/": Page()}) as site:
        request = Request(site.url("/"), meta={"playwright_page_methods": [method]})
        with pytest.raises(
            DownloadCancelledError, match=f"a method of playwright_page_methods failed: {re.escape(why)}"
        ):
            await handler.download_request(request)


async def test_no_code_is_imported_that_the_queue_names(handler: BrowserDownloadHandler) -> None:
    with Site({"/": Page()}) as site:
        request = Request(site.url("/"), meta={"playwright_page_init_callback": "antigravity.fly"})
        with pytest.raises(NotSupported, match=r"= 'antigravity\.fly' would import code that the queue names"):
            await handler.download_request(request)

        assert "antigravity" not in sys.modules
        assert not site.received


async def test_settings_of_scrapy_playwright_are_named_and_not_read(caplog: pytest.LogCaptureFixture) -> None:
    """Two sessions have two contexts, whatever PLAYWRIGHT_MAX_CONTEXTS is, or the second one would wait without end."""
    given = {"PLAYWRIGHT_MAX_CONTEXTS": 1, "PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT": 1}
    async with opened(**given) as handler:
        with Site({"/": Page("fine")}) as site:
            for session in "ab":
                assert "fine" in await text(handler, Request(site.url("/"), meta={"session": session}))

    assert (
        "does not read PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT, PLAYWRIGHT_MAX_CONTEXTS: it has BROWSER_" in caplog.text
    )


async def test_no_popup_that_a_click_opens_is_asked_for(handler: BrowserDownloadHandler) -> None:
    with Site({"/": Page("<a href=/pop target=_blank>more</a>"), "/pop": Page()}) as site:
        click = [PageMethod("click", "a"), PageMethod("evaluate", "fetch('/clicked')")]
        await handler.download_request(Request(site.url("/"), meta={"playwright_page_methods": click}))

    assert site.requested == ["/", "/clicked"]


async def test_no_page_is_asked_for_before_its_turn(handler: BrowserDownloadHandler) -> None:
    rules = ", ".join(
        f'"{what}": [{{"urls": ["/{what}"], "eagerness": "immediate"}}]' for what in ("prefetch", "prerender")
    )
    links = "".join(f'<link rel={rel} as=document href="/link-{rel}">' for rel in ("prefetch", "prerender", "next"))
    # What the browser asks for of its own accord it has asked for by then: that came after a tenth of the time.
    later = "<script>setTimeout(() => fetch('/later').then(() => document.title = 'over'), 1000)</script>"
    with Site({"/": Page(f"<script type=speculationrules>{{{rules}}}</script>{links}{later}")}) as site:
        waits = [PageMethod("wait_for_function", "document.title == 'over'", timeout=200_000)]
        await handler.download_request(Request(site.url("/"), meta={"playwright_page_methods": waits}))

    assert site.requested == ["/", "/later"]


@pytest.mark.parametrize("way", ["new SharedWorker('/late')", "fetchLater('/late')"])
async def test_nothing_is_asked_for_where_no_limit_of_a_page_counts_it(
    handler: BrowserDownloadHandler, way: str
) -> None:
    """Neither while it is loaded nor once its tab is closed."""
    with Site({"/": Page(f"a page<script>{way}</script>"), "/next": Page("fine")}) as site:
        for path in ("/", "/next"):
            await handler.download_request(Request(site.url(path)))

    assert site.requested == ["/", "/next"]


@pytest.mark.parametrize("kind", ["application/json", "application/octet-stream", "text/html"])
async def test_what_is_shown_as_no_page_ends_at_its_limit(
    handler: BrowserDownloadHandler, temporary: Path, kind: str
) -> None:
    """It comes as it is, and in pieces: neither memory nor disk take what a bomb unpacks to."""
    attachment = {"Content-Type": kind, "Content-Disposition": "attachment; filename=x.bin"}
    bomb = Page(gzip.compress(bytes(30_000_000)), headers=attachment | {"Content-Encoding": "gzip"})
    with Site({"/": bomb, "/small": Page(b"\0\xff", headers=attachment)}) as site:
        assert (await handler.download_request(Request(site.url("/small")))).body == b"\0\xff"
        with pytest.raises(DownloadCancelledError, match="longer than DOWNLOAD_MAXSIZE, 50000 bytes"):
            await handler.download_request(Request(site.url("/"), meta={"download_maxsize": 50_000}))
    assert downloaded(temporary) == []


async def test_a_page_saves_nothing(handler: BrowserDownloadHandler, temporary: Path) -> None:
    script = """<p>fine</p><script>const link = document.createElement("a"); link.download = "x.bin"
        link.href = URL.createObjectURL(new Blob([new Uint8Array(1e7)])); link.click()</script>"""
    with Site({"/": Page(script)}) as site:
        assert "fine" in await text(handler, Request(site.url("/")))
    assert downloaded(temporary) == []


def downloaded(directory: Path) -> list[Path]:
    """Files that a browser has saved below its *directory* for temporary ones."""
    return [path for path in directory.glob("playwright-artifacts*/**/*") if path.is_file()]


async def test_a_page_that_asks_for_too_much_is_given_up(
    handler: BrowserDownloadHandler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "_page_limits", replace(handler._page_limits, requests=20))
    fetching = Page("<script>for (let i = 0; i < 100; i++) fetch('/' + i)</script>")
    with Site({"/": fetching, "/next": Page("fine")}) as site:
        with pytest.raises(DownloadCancelledError, match=r"more than 20 resources \(BROWSER_PAGE_REQUESTS\)"):
            await handler.download_request(Request(site.url("/")))
        assert "fine" in await text(handler, Request(site.url("/next")))
        assert len(site.requested) < 80, "on a busy machine a few more leave while the tab is closed"
    left = [task for task in asyncio.all_tasks() if "_on_route" in repr(task.get_coro())]
    assert not left, "each would be two lines of the log once it is collected: Task was destroyed but it is pending"


async def test_a_page_that_sends_a_form_instead_of_loading_is_given_up(handler: BrowserDownloadHandler) -> None:
    form = "<form method=post action=/sent></form><script>document.forms[0].submit()</script>"
    with Site({"/": Page(form)}) as site:
        with pytest.raises(DownloadCancelledError, match=f"sends POST to {site.url('/sent')} instead of loading"):
            await handler.download_request(Request(site.url("/")))
        assert site.requested == ["/"]


@pytest.mark.parametrize("begin", ["", "onload = () => "])
async def test_a_page_that_never_stops_going_elsewhere_gets_nowhere(
    handler: BrowserDownloadHandler, begin: str
) -> None:
    """Neither while its tab is closed, when nobody stands in its way any more; on a busy machine the browser may have
    to end for that, or the page's time is over. Whatever is read is where the page goes, although each attempt undoes
    the one before."""
    leaving = Page(f"<script>{begin}setInterval(() => {{ location.href = '/to' + Math.random() }}, 1)</script>")
    with Site({"/": leaving, "/next": Page("fine")}) as site:
        with suppress(BrowserError, PageTimeoutError):
            response = await handler.download_request(Request(site.url("/")))
            assert site.url("/to0.").encode() in (response.headers["Location"] or b"")
        assert "fine" in await text(handler, Request(site.url("/next")))
        assert site.requested == ["/", "/next"], "one document per turn"


@pytest.mark.parametrize("goes", ["history.back()", "location = 'about:blank'", "location = 'chrome-extension://a/b'"])
@pytest.mark.parametrize("begin", ["", "onload = () => "])
async def test_what_is_shown_when_the_page_is_gone_is_not_taken_for_it(
    handler: BrowserDownloadHandler, begin: str, goes: str
) -> None:
    with Site({"/": Page(f"<p>price 9.99</p><script>{begin}{goes}</script>"), "/next": Page("fine")}) as site:
        with pytest.raises(DownloadCancelledError, match=r"the page leaves for .*: nothing is left of it"):
            await handler.download_request(Request(site.url("/")))
        assert "fine" in await text(handler, Request(site.url("/next")))


@pytest.mark.parametrize("url", ["mailto:a@b", "intent://a", "shop+app:open"])
async def test_a_page_that_leaves_for_an_application_while_it_loads_is_named(
    handler: BrowserDownloadHandler, url: str
) -> None:
    page = Page(f"<p>price 9.99</p><script>location = '{url}'</script><p>the rest</p>")
    with Site({"/": page}) as site, pytest.raises(DownloadCancelledError, match=f"leaves for {re.escape(url)}"):
        await handler.download_request(Request(site.url("/")))


async def test_a_page_that_stops_its_own_loading_is_not_waited_for(handler: BrowserDownloadHandler) -> None:
    page = Page("<p>price 9.99</p><script>window.stop()</script><p>the rest</p>")
    with Site({"/": page}) as site, pytest.raises(ResponseDataLossError, match="the page stops its loading"):
        await handler.download_request(Request(site.url("/")))


async def test_a_page_that_tries_an_application_once_it_is_loaded_is_returned(handler: BrowserDownloadHandler) -> None:
    with Site({"/": Page("<p>fine</p><script>onload = () => { location = 'intent://a' }</script>")}) as site:
        assert "fine" in await text(handler, Request(site.url("/")))


@pytest.mark.parametrize("kind", ["text/html", "application/json"])
async def test_a_document_that_is_cut_is_none(handler: BrowserDownloadHandler, kind: str) -> None:
    page = Page("<p>half", headers={"Content-Type": kind, "Content-Length": "5000"})
    with Site({"/": page}) as site, pytest.raises(ResponseDataLossError, match="its document is cut"):
        await handler.download_request(Request(site.url("/")))


async def test_a_page_too_large_is_refused(handler: BrowserDownloadHandler) -> None:
    page = Page("<script>document.write('x'.repeat(60000))</script>")
    with Site({"/": page}) as site, pytest.raises(DownloadCancelledError):
        await handler.download_request(Request(site.url("/"), meta={"download_maxsize": 50_000}))


# --- its turn


async def test_a_host_that_hangs_up_is_asked_once_in_a_turn(handler: BrowserDownloadHandler) -> None:
    """Chromium asks again on a connection that it has used before or opened ahead, if only to log in to our proxy."""
    async with hanging_up() as (url, heads):
        for turns in (1, 2):
            with pytest.raises(DownloadFailedError, match="closed the connection without an answer"):
                await handler.download_request(Request(url, meta={"session": "new"}))
            assert len(heads) == turns


async def test_what_may_not_leave_any_more_never_does_and_leaves_no_words(
    handler: BrowserDownloadHandler, caplog: pytest.LogCaptureFixture
) -> None:
    wire_turn = WireTurn(lambda: False, pytest.fail, pytest.fail)
    with Site({"/": Page()}) as site:
        with pytest.raises(MissedError):
            await handler.download_request(Request(site.url("/"), meta={WIRE_TURN: wire_turn}))

        assert not site.received
    assert not [record for record in caplog.records if record.name == "scrapy-playwright"]
    assert not [page for wrapper in handler.context_wrappers.values() for page in wrapper.context.pages]


async def test_it_tells_when_the_document_was_asked_for(handler: BrowserDownloadHandler) -> None:
    moments: dict[str, float] = {}
    script = threading.Event()

    def sent(ago: float = 0.0) -> None:
        moments.setdefault("sent", time.monotonic() - ago)
        script.set()

    wire_turn = WireTurn(lambda: True, sent, lambda: moments.update(leaving=time.monotonic()))
    with Site({"/": Page("<script src=/s.js></script>"), "/s.js": Page("", hold=script)}) as site:
        await handler.download_request(Request(site.url("/"), meta={WIRE_TURN: wire_turn}))

    assert moments["leaving"] <= moments["sent"] + 0.005
    assert moments["sent"] < site.received[0].at + 20, "not when the page was complete: its script waits for that"


# --- through a proxy


async def test_a_page_comes_through_the_proxy_of_its_request(handler: BrowserDownloadHandler) -> None:
    with Site({"/": Page("fine<script src=/s.js></script>"), "/s.js": Page("")}) as site:
        async with listening() as proxy:
            shown = proxy.admit()
            meta, headers = {"proxy": proxy.url}, {"Proxy-Authorization": shown.header}
            assert "fine" in await text(handler, Request(site.url("/"), meta=meta, headers=headers))

            assert site.requested == ["/", "/s.js"]
            assert shown.written(site.url("/")) > 0


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_is_not_there_is_at_fault(handler: BrowserDownloadHandler, scheme: str) -> None:
    with nobody() as proxy:
        request = Request(f"{scheme}://127.0.0.1:1080/", meta={"proxy": f"http://{proxy}"})
        with pytest.raises(ProxyError) as error:
            await handler.download_request(request)
    assert fault(request, error.value) is Fault.PROXY, "for certain, as in the http tier"


async def test_what_this_machine_lacks_is_no_hosts_failure(
    handler: BrowserDownloadHandler, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def too_many(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("crawler.handlers.browser.egress_proxy.asyncio.open_connection", too_many)
    with pytest.raises(DownloadFailedError) as error:
        await handler.download_request(Request("http://127.0.0.1:1080/"))
    assert "no more files" in shortage(error.value)


async def test_a_proxy_is_at_fault_for_what_it_did_not_reach_and_nothing_else(handler: BrowserDownloadHandler) -> None:
    """Not for the host of a later page because it refused a tracker of this one."""
    with nobody() as tracker, Site({"/": Page(f"fine<script src=https://{tracker}/t.js></script>")}) as site:
        async with listening() as proxy, hanging_up() as (url, heads):
            meta, headers = {"proxy": proxy.url}, {"Proxy-Authorization": proxy.admit().header}
            assert "fine" in await text(handler, Request(site.url("/"), meta=meta, headers=headers))
            with pytest.raises(DownloadFailedError) as error:
                await handler.download_request(Request(url, meta=meta, headers=headers))

    assert heads
    assert not isinstance(error.value, ProxyError)
