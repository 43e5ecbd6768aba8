"""One page in one tab: a single document, blocked resources not loaded, no redirect followed.

A redirect, a meta refresh or a script that navigates elsewhere would skip the host's turn and its robots.txt. So the
tab stops there and Scrapy gets the redirect, as from any other handler.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.async_api import CDPSession, Error, Frame, Page, Route
from playwright.async_api import Request as Asked
from playwright.async_api import Response as Answer
from playwright.async_api import TimeoutError as PlaywrightTimeoutError
from scrapy import Request
from scrapy.exceptions import DownloadCancelledError, ResponseDataLossError
from scrapy.http import Headers, Response
from scrapy.statscollectors import StatsCollector
from scrapy.utils._download_handlers import make_response

from crawler import stats as names
from crawler.errors import BrowserError
from crawler.handlers.browser import raw_body
from crawler.handlers.browser.main_frame import MainFrame
from crawler.handlers.browser.page_limits import PageLimits
from crawler.handlers.browser.tab import Tab
from crawler.handlers.wire_turn import WireTurn
from crawler.utils import tasks
from crawler.worker.turns.unsent import MissedError

BODILESS: Final = frozenset({204, 205, 304})
# Chromium's errors for what is an answer: a 4xx or 5xx without a body, a 401 that asks for credentials.
EMPTY_ERROR: Final = "ERR_HTTP_RESPONSE_CODE_FAILURE"
LOGIN_ERROR: Final = "ERR_INVALID_AUTH_CREDENTIALS"
LEAVING_ERROR: Final = "the page is navigating"
LEAVING_SECONDS: Final = 10.0  # until Chromium has told where to, on a machine that is busy
FLOOD: Final = 2_000  # resources that a page asks for after it is given up: more are on their way, and all would come
# Not passed to Chromium: hop-by-hop, or set by Chromium itself.
KEPT_BACK: Final = frozenset(
    {"proxy-authorization", "cookie", "host", "content-length", "connection", "accept-encoding"}
)
DECODED: Final = ("Content-Encoding", "Content-Length", "Transfer-Encoding")  # no longer true of the decoded body


class PageLoad:
    """Loads *request* in a tab. *written*: when a byte was last written to the host of a URL, in monotonic seconds.
    *flooded* ends the browser, whose page cannot be stopped otherwise."""

    def __init__(
        self,
        request: Request,
        wire_turn: WireTurn,
        written: Callable[[str], float],
        limits: PageLimits,
        stats: StatsCollector,
        flooded: Callable[[], None],
    ) -> None:
        self.request = request
        self.page: Page | None = None
        self.limit = asyncio.timeout(None)  # of the whole attempt
        self.is_loaded = False  # its document is parsed: what the page does now leaves that as it is
        self._wire_turn = wire_turn
        self._written = written
        self._limits = limits
        self._stats = stats
        self._flooded = flooded
        self._asked = 0
        self._tab: Tab | None = None
        self._main = MainFrame(self._elsewhere, self._blank, self._cut)
        self._left_at = 0.0  # when the document was requested, monotonic seconds
        self._head: tuple[int, Headers] | None = None  # of the document, once known
        self._instead: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, page: Page) -> None:
        """Intercept all requests of *page*."""
        await page.route("**", self._route)
        page.on("response", self._seen)
        page.on("popup", self._start(lambda popup: popup.close()))
        session = await page.context.new_cdp_session(page)
        self._tab = Tab(page, session, self._crashed)
        tree = await session.send("Page.getFrameTree")
        self._main.frame_id = tree["frameTree"]["frame"]["id"]
        session.on("Fetch.requestPaused", self._start(lambda event: self._answered(session, event)))
        documents = {"urlPattern": "*", "resourceType": "Document", "requestStage": "Response"}
        await session.send("Fetch.enable", {"patterns": [documents]})
        await self._main.watch(session)

    async def end(self, loading: Coroutine[Any, Any, Response]) -> Response:
        """The page that *loading* yields, or what came instead: a redirect, a response without a body.

        Raises MissedError if the turn was over before the document could be requested, DownloadCancelledError for a
        page that is beyond its limits, or that sends a form instead of loading, and BrowserError if its tab crashes.
        """
        try:
            return await self._ended(asyncio.ensure_future(loading))
        except PlaywrightTimeoutError:
            raise  # if the tab has crashed, it was made to after that
        except (Error, ResponseDataLossError) as error:
            if self._tab is None or not self._tab.has_crashed:
                raise
            raise self._crash() from error

    async def _ended(self, task: asyncio.Task[Response]) -> Response:
        try:
            await asyncio.wait({task, self._instead}, return_when=asyncio.FIRST_COMPLETED)
            if task.done() and LEAVING_ERROR in str(task.exception()):
                await asyncio.wait({self._instead}, timeout=LEAVING_SECONDS)
            if self._instead.done():
                return self._instead.result()
            return task.result()
        except Error as error:
            if self._head is not None and self._is_answer(error):
                return self.response(*self._head)
            raise
        finally:
            await tasks.finished(task)
            await self._still()

    async def _still(self) -> None:
        """While the tab is closed nothing intercepts where its scripts would go. One that cannot be stopped ends with
        its browser."""
        if self._tab is not None and not await self._tab.stop():
            self._flooded()

    def _crashed(self) -> None:
        self._end_with(self._crash())

    def _crash(self) -> BrowserError:
        return BrowserError(f"{self.request}: its tab crashed")

    def _is_answer(self, error: Error) -> bool:
        asks_to_log_in = LOGIN_ERROR in error.message and self._head is not None and self._head[0] == 401
        return EMPTY_ERROR in error.message or asks_to_log_in

    def close(self) -> None:
        """Stop everything that belongs to this load."""
        for task in self._tasks:
            task.cancel()
        self._instead.cancel()

    @property
    def has_answered(self) -> bool:
        """Whether the document came, at least its beginning, and the tab shows it."""
        return self._main.is_shown

    async def _route(self, route: Route, asked: Asked) -> None:
        self._asked += 1
        if self._asked > self._limits.requests:
            self._give_up(self._asked - self._limits.requests)
            raise asyncio.CancelledError  # Playwright's task, which would wait for the answer for ever
        with suppress(Error):  # the tab is gone
            if self._instead.done():
                await route.abort("aborted")
            elif asked.is_navigation_request() and _frame(asked) == self._main_frame():
                await self._leave(route, asked)
            elif self._limits.blocks(asked):
                self._stats.inc_value(names.BROWSER_BLOCKED.format(asked.resource_type))
                await route.abort("blockedbyclient")
            else:
                await route.continue_()

    def _give_up(self, beyond: int) -> None:
        """Leave what the page asks for without an answer, which would cost the worker as much as the question. What it
        has asked for at once comes even from a tab that is closed: only the end of the browser stops that."""
        self._fail(f"the page asks for more than {self._limits.requests:,} resources (BROWSER_PAGE_REQUESTS)")
        if beyond == FLOOD:
            self._flooded()

    async def _leave(self, route: Route, asked: Asked) -> None:
        if self._left_at:  # the page navigates elsewhere
            if asked.method == "GET" and urlsplit(asked.url).scheme in {"http", "https"}:
                self._elsewhere(asked.url)
            elif not self.is_loaded:
                self._fail(
                    f"the page sends {asked.method} to {asked.url[:200]} instead of loading: that is not followed"
                )
            await route.abort("aborted")
            return
        if not self._wire_turn.allowed():
            self._end_with(MissedError())
            await route.abort("aborted")
            return
        self._left_at = monotonic()
        self._wire_turn.leaving()
        ours = {str(name).lower(): str(value) for name, value in self.request.headers.to_unicode_dict().items()}
        headers = asked.headers | {name: value for name, value in ours.items() if name not in KEPT_BACK}
        await route.continue_(headers=headers, method=self.request.method, post_data=self.request.body or None)

    def _elsewhere(self, url: str) -> None:
        self._hand_over(self.response(302, Headers({"Location": url})))

    def _blank(self, url: str) -> None:
        self._fail(f"the page leaves for {url[:200]}: nothing is left of it")

    def _cut(self, application: str) -> None:
        if application:
            self._fail(f"the page leaves for {application[:200]} while it loads: the rest of it does not come")
        else:
            self._end_with(ResponseDataLossError(f"{self.request}: its document is cut, or the page stops its loading"))

    async def _answered(self, session: CDPSession, event: dict[str, Any]) -> None:
        pause, status = {"requestId": event["requestId"]}, event.get("responseStatusCode")
        with suppress(Error):
            if event["frameId"] == self._main.frame_id and status is not None and not self._instead.done():
                headers = headers_of(event.get("responseHeaders", ()))
                self._head = status, headers
                is_bodiless = (300 <= status < 400 and "Location" in headers) or status in BODILESS
                if is_bodiless or not raw_body.is_shown(headers):
                    self._sent(event["request"]["url"])
                    body = b"" if is_bodiless else await self._raw(session, pause["requestId"])
                    self._hand_over(self.response(status, headers, body))
                    await session.send("Fetch.failRequest", pause | {"errorReason": "Aborted"})
                    return
            await session.send("Fetch.continueRequest", pause)

    async def _raw(self, session: CDPSession, paused: str) -> bytes:
        try:
            body = await raw_body.read(session, paused, self._limits.most_bytes(self.request))
        except DownloadCancelledError as error:
            self._fail(str(error))
            return b""
        _, headers = self._head or (0, Headers())
        if self.request.method != "HEAD" and (missing := raw_body.missing(body, headers)):
            self._end_with(ResponseDataLossError(f"{self.request}: its document is cut: {missing} bytes are missing"))
        return body

    def _seen(self, answer: Answer) -> None:
        if answer.request.is_navigation_request() and _frame(answer.request) == self._main_frame():
            self._head = self._head or (answer.status, Headers(answer.headers))
            self._sent(answer.url)

    def _sent(self, url: str) -> None:
        """The document has arrived, so the last bytes written to its host requested it or came later."""
        written = self._written(url)
        self._wire_turn.sent(monotonic() - written if written >= self._left_at else 0.0)

    def _fail(self, why: str) -> None:
        self._end_with(DownloadCancelledError(f"{self.request}: {why}"))

    def _end_with(self, error: Exception) -> None:
        if not self._instead.done():
            self._instead.set_exception(error)

    def _hand_over(self, response: Response) -> None:
        if not self._instead.done():
            self._instead.set_result(response)

    def response(self, status: int, headers: Headers, body: bytes = b"") -> Response:
        """The response of the document; *headers* are changed."""
        for name in DECODED:
            headers.pop(name, None)
        response: Response = make_response(self.request.url, status, headers, body, flags=["browser"])
        response.request = self.request
        return response

    def _main_frame(self) -> Frame | None:
        return self.page.main_frame if self.page is not None else None

    def _start(self, handler: Callable[[Any], Coroutine[Any, Any, None]]) -> Callable[[Any], None]:
        def started(event: Any) -> None:
            task = asyncio.get_running_loop().create_task(handler(event))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        return started


async def wait_until_idle(page: Page, seconds: float) -> None:
    """Wait until the network was quiet for half a second, at most *seconds*, while scripts fill the page."""
    if seconds:
        with suppress(PlaywrightTimeoutError):
            await page.wait_for_load_state("networkidle", timeout=seconds * 1000)


def headers_of(rows: Iterable[Mapping[str, str]]) -> Headers:
    """Headers as Chromium lists them, including repeated ones."""
    headers = Headers()
    for row in rows:
        headers.appendlist(row["name"], row["value"])
    return headers


def _frame(asked: Asked) -> Frame | None:
    try:
        return asked.frame
    except Error:  # a request of a tab that is still being created
        return None
