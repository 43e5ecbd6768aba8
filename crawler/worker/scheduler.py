"""The scheduler of the fleet: scrapy-redis' interface over the leased frontier."""

from __future__ import annotations

import logging
from typing import Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.misc import load_object
from scrapy_redis import defaults
from scrapy_redis.scheduler import Scheduler as RedisScheduler
from twisted.internet.defer import Deferred

from crawler import config
from crawler import stats as names
from crawler.errors import CodecError, ConfigError, MessageError
from crawler.frontier.server import connection
from crawler.frontier.server.scripts import Client
from crawler.meta import COMPLAINED, LED_HERE, PARENT_ID, TIER_FAILED, TRACEPARENT, UNFINISHED_TIMES
from crawler.routing import codec
from crawler.routing.start_requests import StartDigests
from crawler.urls import without_credentials
from crawler.worker.admission import Admission
from crawler.worker.dupefilter import FrontierDupeFilter
from crawler.worker.leases.follow_ups import FollowUps
from crawler.worker.leases.held import HeldLease
from crawler.worker.lifecycle import Lifecycle
from crawler.worker.outbox.lease_endings import Bury
from crawler.worker.worker import Worker

logger = logging.getLogger(__name__)

QUEUE_CLASS = "crawler.worker.lease_queue.FrontierQueue"
DUPEFILTER_CLASS = "crawler.worker.dupefilter.FrontierDupeFilter"


class Scheduler(RedisScheduler):  # type: ignore[misc]
    """Leases requests from the shared frontier and queues what callbacks yield; never waits, never raises.

    The constructor takes scrapy-redis' arguments. Three values are refused with an explanation, because they would let
    one worker destroy shared state: persist=False, flush_on_start=True, and a serializer.
    """

    def __init__(
        self,
        server: Client,
        persist: bool = True,
        flush_on_start: bool = False,
        queue_key: str = defaults.SCHEDULER_QUEUE_KEY,
        queue_cls: str = QUEUE_CLASS,
        dupefilter: FrontierDupeFilter | None = None,
        dupefilter_key: str = defaults.SCHEDULER_DUPEFILTER_KEY,
        dupefilter_cls: str = DUPEFILTER_CLASS,
        idle_before_close: int = 0,
        serializer: object = None,
    ) -> None:
        _check_shared(persist, flush_on_start, serializer)
        super().__init__(
            server,
            persist,
            flush_on_start,
            queue_key,
            queue_cls,
            dupefilter,
            dupefilter_key,
            dupefilter_cls,
            idle_before_close,
            serializer,
        )
        self.crawler: Crawler | None = None
        self._life: Lifecycle | None = None
        self._has_closed = False
        self._warned_of_credentials = False
        self._starts = StartDigests()

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Reads scrapy-redis' SCHEDULER_* settings; connects at `open`, not here."""
        return cls(
            server=connection.connect(settings),
            persist=config.boolean(settings, "SCHEDULER_PERSIST") if "SCHEDULER_PERSIST" in settings else True,
            flush_on_start=config.boolean(settings, "SCHEDULER_FLUSH_ON_START"),
            queue_key=settings.get("SCHEDULER_QUEUE_KEY") or defaults.SCHEDULER_QUEUE_KEY,
            queue_cls=settings.get("SCHEDULER_QUEUE_CLASS") or QUEUE_CLASS,
            dupefilter_key=settings.get("SCHEDULER_DUPEFILTER_KEY") or defaults.SCHEDULER_DUPEFILTER_KEY,
            dupefilter_cls=settings.get("DUPEFILTER_CLASS") or DUPEFILTER_CLASS,
            idle_before_close=_idle_before_close(settings),
            serializer=settings.get("SCHEDULER_SERIALIZER"),
        )

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Built by the engine when the spider opens."""
        scheduler = cls.from_settings(crawler.settings)
        scheduler.crawler = crawler
        scheduler.stats = crawler.stats
        return scheduler

    def open(self, spider: Spider) -> Deferred[None]:
        """Connect and start this worker's background tasks."""
        return deferred_from_coro(self._open(spider))

    async def _open(self, spider: Spider) -> None:
        assert self.crawler is not None
        self.spider = spider
        self._life = await Lifecycle.open(self.crawler, self.server, queue_cls=self.queue_cls, queue_key=self.queue_key)
        self.queue = self.worker.queue
        self.df = self.worker.dupefilter
        self._share(self.worker)

    def _share(self, worker: Worker) -> None:
        """Build what decides about requests on their way out of the frontier (`_admission`) and back
        (`_follow_ups`)."""
        book, outbox, requeue = worker.book, worker.outbox, worker.requeue
        self._admission = Admission(self.queue, book, outbox, requeue, worker.frontier.rules.statement)
        rules = self.queue.encoder.rules
        self._follow_ups = FollowUps(book, outbox, requeue, rules, self._push, self._count)

    def close(self, reason: str) -> Deferred[None]:
        """Send what is left and give back what was not started; shared state stays."""
        if self._life is not None:  # None if opening failed
            self._follow_ups.drain()
        return deferred_from_coro(self._close())

    async def _close(self) -> None:
        if self._life is not None:
            await self._life.close()
        self._has_closed = True

    @property
    def worker(self) -> Worker:
        """This worker's share of the frontier; exists once the spider is open."""
        if self._life is None:
            raise RuntimeError("the scheduler is not open")
        return self._life.worker

    def flush(self) -> None:
        """Refused, like the queue's `clear`."""
        self.queue.clear()

    def __len__(self) -> int:
        return len(self._follow_ups.ready) + len(self.queue)

    def has_pending_requests(self) -> bool:
        """Whether this worker has anything to do or send; `Idleness` answers for the fleet."""
        return bool(len(self) or len(self.worker.outbox))

    def next_request(self) -> Request | None:
        """The next request, from memory; None if the buffer is empty."""
        if self._follow_ups.ready:
            return self._follow_ups.ready.popleft()
        while (held := self.queue.pop()) is not None:
            if (request := self._admission.admit(held)) is not None:
                self.worker.prefetcher.wake()
                return request
        self.worker.prefetcher.wake()
        return None

    def enqueue_request(self, request: Request) -> bool:
        """Queue *request*; False if it is known or cannot be stored (then the page it was found on fails)."""
        if self._has_closed:  # a handler of spider_closed still gets here
            self._count(names.START_LOST)
            logger.error("%s is lost: this worker has closed", codec.shown(request))
            return False
        book = self.worker.book
        chain, parent = book.follow_up(request), book.parent(request)
        try:
            request = self._without_credentials(request)
            if chain is not None:
                return self._follow_ups.enqueue(request, *chain)
            if parent is None and request.meta.get("is_start_request"):
                return self._push(request, None, dedupe=True, start=request.dont_filter)
            if parent is not None and book.is_retry(request, parent):
                request = self.worker.requeue.storable(request, parent)
            return self._push(request, parent, dedupe=not request.dont_filter)
        except Exception as error:  # noqa: BLE001 - or a page loses its later links, and start() its later requests
            reason = CodecError(f"{codec.shown(request)} cannot be queued ({type(error).__name__}: {error})")
            self._refuse(request, reason, chain, parent)
            return False

    def _push(self, request: Request, parent: HeldLease | None, *, dedupe: bool, start: bool = False) -> bool:
        generation = self.worker.generation.id
        if parent is not None:
            generation = parent.lease.generation
            _mark_as_child(request, parent)
        try:
            place = self.queue.encoder.place(request)
            if parent is not None and place.rule.group != parent.lease.host:
                request.meta[LED_HERE] = "redirect" if parent.evidence.replaced else "link"
            if start:
                place = place._replace(digest=self._starts.of(place.digest))
            if dedupe and self.df.confirmed((place.stream, generation, place.fingerprint)):
                self._count(names.DUPLICATES)
                self.df.log(request, self.spider)
                return False
            message = self.queue.encoder.message(request, generation=generation, dedupe=dedupe, place=place)
        except MessageError as error:  # pages contain mailto: and worse: no failure of theirs
            self._count(names.UNFETCHABLE)
            logger.info("Not queued: %s", error)
            return False
        except CodecError as error:
            self._unserialisable(error, parent)
            return False
        if parent is not None:
            self.worker.outbox.push(message, parent.handle, parent.lease.body)
        else:
            self.worker.outbox.offer(message)
        return True

    def _refuse(
        self, request: Request, error: CodecError, chain: tuple[HeldLease, Request] | None, parent: HeldLease | None
    ) -> None:
        self._unserialisable(error, parent, is_kept=chain is not None)
        if chain is not None:
            held, source = chain
            self.worker.book.release(source)
            detail: dict[str, str | int] = {"url": without_credentials(request.url), "error": str(error)}
            self.worker.outbox.end(Bury(held.handle, "unserialisable", detail))

    def _without_credentials(self, request: Request) -> Request:
        url = without_credentials(request.url)
        if url == request.url:
            return request
        self._count(names.CREDENTIALS)
        if not self._warned_of_credentials:
            self._warned_of_credentials = True
            text = "User and password are removed from URLs, such as %s: use HTTPAUTH_USER, _PASS and _DOMAIN"
            logger.warning(text, url)
        return request.replace(url=url)

    def _unserialisable(self, error: CodecError, parent: HeldLease | None, *, is_kept: bool = False) -> None:
        self._count(names.UNSERIALISABLE)
        logger.error("%s", error)
        if parent is not None:
            parent.evidence.child_errors.append(str(error))
        elif not is_kept:
            self._count(names.START_LOST)

    def _count(self, name: str) -> None:
        self.stats.inc_value(name)


def _check_shared(persist: bool, flush_on_start: bool, serializer: object) -> None:
    """Raise ConfigError for what would let one worker destroy shared state."""
    if not persist:
        words = "True: the queue belongs to the fleet and outlives each worker"
        raise ConfigError("SCHEDULER_PERSIST", persist, words)
    if flush_on_start:
        words = "False: use `scrapy push --recrawl` to crawl everything again"
        raise ConfigError("SCHEDULER_FLUSH_ON_START", flush_on_start, words)
    if serializer is not None:
        words = "None: requests are stored as msgpack, never as pickle"
        raise ConfigError("SCHEDULER_SERIALIZER", serializer, words)


def _mark_as_child(request: Request, parent: HeldLease) -> None:
    """Name its parent in *request*, without what is the parent's own and was copied with the rest of its meta."""
    for key in (UNFINISHED_TIMES, COMPLAINED, TIER_FAILED, LED_HERE, TRACEPARENT):
        request.meta.pop(key, None)
    request.meta[PARENT_ID] = parent.lease.id


def _idle_before_close(settings: BaseSettings) -> int:
    name = "SCHEDULER_IDLE_BEFORE_CLOSE"
    return config.integer(settings, name, 0, 31_536_000) if settings.get(name) is not None else 0


def in_use(settings: BaseSettings) -> bool:
    """Whether a crawl with *settings* runs on the shared frontier."""
    return issubclass(load_object(settings["SCHEDULER"]), Scheduler)
