"""The DOWNLOADER of the fleet: the frontier paces, so there are no local slots, queues or delays.

Scrapy's own counts a host's transfers late and lets 32 through where 2 are allowed; here a request reaches the
handler only with a turn granted by the frontier, which counts for all workers at once.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, Final

from scrapy import Request, signals
from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.crawler import Crawler
from scrapy.exceptions import ResponseDataLossError
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

from crawler import config, current_request
from crawler.counting.by_run import of_run
from crawler.engine import old_output
from crawler.engine.interruptions import CANCELLABLE
from crawler.engine.middleware_chain import MiddlewareChain
from crawler.errors import BrowserError, ConfigError, EndingError, RobotsUnresolvedError, TabLostError
from crawler.handlers import guard_check
from crawler.handlers.http.errors import StaleConnectionError
from crawler.handlers.impersonation.profiles import TlsProfiles
from crawler.handlers.tiers import TierHandlers
from crawler.handlers.wire_turn import WireTurn
from crawler.meta import RUN_ID, WIRE_TURN
from crawler.policy.endings.failures import FailureClass, classify
from crawler.policy.endings.partial_content import PARTIAL_CONTENT, part
from crawler.policy.endings.shortages import shortage
from crawler.proxies import faults
from crawler.scrapy_hooks import is_heard
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.request_tracker import RequestTracker
from crawler.worker.lookup import worker_of
from crawler.worker.scheduler import in_use
from crawler.worker.turns.pacing import Pacer
from crawler.worker.turns.turn import TooLateError, Turn
from crawler.worker.turns.unsent import MissedError
from crawler.worker.worker import Worker

_EXCUSED: Final = (BrowserError, TooLateError, StaleConnectionError)
UNREACHED: Final = (FailureClass.HOST_FAULT, FailureClass.TRANSIENT)  # failures of the host, not of one page


class Downloader(ScrapyDownloader):
    """One task per request: middlewares, a paced turn, the handler, the report.

    Needs the frontier's Scheduler, and HTTP handlers with the guard. Settings that shape local slots (DOWNLOAD_DELAY,
    DOWNLOAD_SLOTS, CONCURRENT_REQUESTS_PER_DOMAIN) are applied by the frontier to the whole fleet instead.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not in_use(crawler.settings):
            allowed = "this downloader only together with SCHEDULER = crawler.worker.scheduler.Scheduler"
            raise ConfigError("DOWNLOADER", crawler.settings["DOWNLOADER"], allowed)
        guard_check.check(crawler.settings)
        old_output.install()  # the engine builds spider middlewares next
        super().__init__(crawler)
        self._chain = MiddlewareChain(self.middleware)
        self._tiers = TierHandlers(crawler)
        self._tls = TlsProfiles(crawler)
        self._fails_on_dataloss = config.boolean(crawler.settings, "DOWNLOAD_FAIL_ON_DATALOSS")

    def fetch(self, request: Request, spider: Any = None) -> Deferred[Response | Request]:
        """Download *request* through the middlewares, and tell the request tracker how it ended."""
        self.expect(request)
        with of_run(request.meta.get(RUN_ID) or "", request):  # what the engine does with the answer is part of it, too
            return deferred_from_coro(self.download(request))

    def expect(self, request: Request) -> None:
        """*request* is about to be downloaded. Before its task starts: the engine checks for room before that."""
        self._tracker.asked(request)
        self.active.add(request)

    async def download(self, request: Request) -> Response | Request:
        """What `fetch` returns for an expected *request*, in the task of the caller."""
        if self._worker.has_left:  # nobody would free its host's slot
            self.active.discard(request)
            words = "this worker has left the fleet: ask for it before, in a pipeline's close_spider() for example"
            raise EndingError(f"{request} is not sent: {words}")
        current_request.note(request)
        tracker = self._tracker
        tracker.began(request)
        try:
            with CANCELLABLE:
                result = await self._chain.download(self._send, request)
        except TooLateError as error:
            tracker.postponed(request, error.wait_ms, error.why)
            return request  # back to the scheduler, which knows the lease
        except Exception as error:
            tracker.failed(request, error)
            raise
        finally:
            self.active.discard(request)
        if result is request:
            result = request.copy()  # one object cannot be both the request that ends and the one that follows
        tracker.downloaded(request, result)
        return result

    async def _send(self, request: Request) -> Response:
        self._signal(signals.request_reached_downloader, request=request)
        try:
            turn, response = await self._answered(request)
        finally:
            self._signal(signals.request_left_downloader, request=request)
        await self._pacer.confirm(turn)
        self._signal(signals.response_downloaded, response=response, request=request)
        if response.status == PARTIAL_CONTENT and (lost := self._lost(request, response)):
            raise ResponseDataLossError(f"asked for the page, {response.url} answered with {lost}")
        return response

    def _lost(self, request: Request, response: Response) -> str:
        """Which part of the page *response* is, where *request* is for all of it; else ""."""
        fails = request.meta.get("download_fail_on_dataloss", self._fails_on_dataloss)
        if not fails or "Range" in request.headers:
            return ""
        return part((response.headers.get("Content-Range") or b"").decode("latin-1"))

    async def _answered(self, request: Request) -> tuple[Turn, Response]:
        """The host's answer; a request that was lost without any fault of its own is sent once more: on a kept
        connection that was already closed, or in a browser that another page has ended."""
        lost: StaleConnectionError | TabLostError | None = None
        while True:
            try:
                turn = await self._pacer.turn(request)
            except TooLateError:
                if lost is None:
                    raise
                raise lost from None  # giving it back would leave every try uncharged
            try:
                return turn, await self._attempt(request, turn)
            except MissedError:
                self._pacer.missed(turn)
            except (StaleConnectionError, TabLostError) as error:
                if lost is not None:
                    raise
                lost = error
                await self._pacer.confirm(turn)

    async def _attempt(self, request: Request, turn: Turn) -> Response:
        pacer = self._pacer
        request.meta[WIRE_TURN] = WireTurn(
            partial(pacer.allowed, turn),
            partial(pacer.sent, turn),
            partial(pacer.leaving, turn),
            partial(pacer.connecting, turn),
        )
        try:
            response = await self._handle(request, turn.held or turn.led_by)
        except MissedError:
            raise
        except BaseException as error:
            self._spare(turn, error)
            excused = isinstance(error, _EXCUSED) or faults.excuse(request, error) or bool(shortage(error))
            self._pacer.answered(turn, None, excused=excused, fault=classify(error) in UNREACHED, request=request)
            raise
        finally:
            request.meta.pop(WIRE_TURN, None)
        excused = faults.excuse(request, response)
        self._pacer.answered(turn, None if excused else response, excused=excused, request=request)
        return response

    def _spare(self, turn: Turn, error: BaseException) -> None:
        """Raise TooLateError for a leased request that was not sent because this machine has nothing left for another
        connection: it goes back, uncharged, for a worker that has."""
        is_leased = (turn.held or turn.led_by) is not None
        if not is_leased or turn.sent_at is not None or turn.charged is not None or not (lacks := shortage(error)):
            return
        self._worker.pauses.lacking(lacks)
        self._pacer.missed(turn)
        raise TooLateError from error

    async def _handle(self, request: Request, held: HeldLease | None) -> Response:
        if held is not None and held.unresolved:
            reason, held.unresolved = held.unresolved, ""  # what a middleware sends in its place may go elsewhere
            raise RobotsUnresolvedError(reason)
        if (handler := self._tiers.of(request) or self._tls.of(request)) is not None:
            return await handler.download_request(request)
        return await self.handlers.download_request_async(request)

    def _signal(self, signal: object, **arguments: object) -> None:
        if is_heard(self.crawler, signal):
            self.signals.send_catch_log(signal=signal, spider=self.crawler.spider, **arguments)

    @property
    def _tracker(self) -> RequestTracker:
        return self._worker.tracker

    @property
    def _pacer(self) -> Pacer:
        return self._worker.pacer

    @cached_property
    def _worker(self) -> Worker:
        return worker_of(self.crawler)
