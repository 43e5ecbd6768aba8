"""robots.txt (RFC 9309), fetched once for the fleet and obeyed by each worker.

The first worker that needs a file fetches it, the others poll Redis. A page that would wait longer than a moment goes
back to the frontier, so that it never holds a slot that another host could use.
"""

from __future__ import annotations

import asyncio
import random
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from time import monotonic
from typing import Any, Final, Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware as ScrapyRobotsTxtMiddleware
from scrapy.exceptions import CannotResolveHostError, IgnoreRequest, NotSupported
from scrapy.robotstxt import ProtegoRobotParser, RobotParser
from scrapy.utils.datatypes import LocalCache
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.python import to_unicode

from crawler import stats as names
from crawler.errors import RobotsUnreachableError
from crawler.frontier.state.robots import FetchTask
from crawler.policy.robots.file import RobotsFile
from crawler.policy.robots.responses import RobotsVerdict
from crawler.scrapy_hooks import is_heard
from crawler.urls import DEFAULT_PORTS, SCHEMES
from crawler.worker.leases.held import HeldLease
from crawler.worker.lookup import worker_of
from crawler.worker.robots_fetcher import Fetched, RobotsConfig, RobotsFetcher, read, read_for
from crawler.worker.scheduler import in_use
from crawler.worker.turns.turn import TooLateError
from crawler.worker.worker import Worker

POLL_SECONDS: Final = 0.1  # between polls for a file that another worker fetches
PATIENCE_SECONDS: Final = 2.0  # a page waits this long in the worker, then in the frontier
LOOK_AGAIN_SECONDS: Final = 300.0  # then a worker asks Redis again: the file may be gone there, and its delay with it
RETURNED: Final = 10_000  # remembered leases that were given back once
RULE_BYTES: Final = 40  # memory per character of a file, at most (measured: 38 for rules with `*` and `$`, 13 without)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What this worker knows of an origin, from *since* until *expires* (monotonic seconds). *parser* None: everything
    is allowed; *later*: nothing is, until then."""

    parser: RobotParser | None
    since: float
    expires: float
    later: bool = False
    failing: float = 0.0  # seconds it has been failing, once its pages are given up
    paced: bool = True  # its host wanted a delay at *since*, as far as is known

    @property
    def pending(self) -> bool:
        """Whether another worker is fetching the file."""
        return self.later and not self.since


class FileParser(RobotParser):
    """Scrapy's parser interface over a file that is already parsed."""

    def __init__(self, file: RobotsFile) -> None:
        self.rp = file

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> Self:  # noqa: ARG003 - Scrapy's interface
        return cls(RobotsFile(robotstxt_body.decode(errors="replace")))

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        return self.rp.can_fetch(to_unicode(url), to_unicode(user_agent))

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        return self.rp.crawl_delay(to_unicode(user_agent))


class RobotsTxtMiddleware(ScrapyRobotsTxtMiddleware):
    """Scrapy's middleware, except for where the file comes from.

    ROBOTSTXT_PARSER, ROBOTSTXT_USER_AGENT, `dont_obey_robotstxt`, the robotstxt/* stats and the robots_parsed signal
    work as in Scrapy. Known weakness: Crawl-delay and Request-rate are read for the agent of the worker that
    fetched the file, so spiders with different ROBOTSTXT_USER_AGENT share one delay.
    """

    def __init__(
        self,
        crawler: Crawler,
        clock: Callable[[], float] = monotonic,
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        super().__init__(crawler)
        plan = RobotsConfig.from_settings(crawler.settings)
        self._fetcher = RobotsFetcher(crawler, plan, self._robotstxt_useragent or self._default_useragent, clock)
        self._unreachable = plan.unreachable
        handlers = crawler.settings.getwithbase("DOWNLOAD_HANDLERS")
        self._off = frozenset(scheme for scheme in SCHEMES if handlers.get(scheme) is None)
        self._clock = clock
        self._uniform = uniform
        self._ttl = plan.ttl
        self._known = Files(plan.cache_size, plan.cache_bytes)
        self._returned: LocalCache[str, None] = LocalCache(RETURNED)
        self._loading: dict[str, asyncio.Task[Parsed]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Any:
        """Scrapy's own where the spider does not use the shared frontier; NotConfigured without ROBOTSTXT_OBEY."""
        if not in_use(crawler.settings):
            return ScrapyRobotsTxtMiddleware.from_crawler(crawler)
        middleware = cls(crawler)
        crawler.signals.connect(middleware._opened, signals.spider_opened)
        return middleware

    def _opened(self) -> None:
        self._worker.losses.listen(self._known.clear)  # a lost file took its host's Crawl-delay with it

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """The rules for *request*, or None; raises TooLateError if it has to wait for them in the frontier, and
        NotSupported where its scheme is off."""
        url = urlparse_cached(request)
        host = url.netloc.rpartition("@")[2]  # without user and password, which stay out of Redis
        origin = f"{url.scheme}://{host.removesuffix(f':{DEFAULT_PORTS.get(url.scheme)}')}"
        if url.scheme in self._off:
            raise NotSupported(f"{origin}/robots.txt cannot be fetched: DOWNLOAD_HANDLERS[{url.scheme!r}] = None")
        held = self._worker.book.of(request)
        try:
            known = await self._rules(origin, request, held)
        except CannotResolveHostError as error:
            if held is None or held.downloads > 1:
                raise
            held.unresolved = str(error)
            return None
        if held is not None:
            held.unresolved = ""  # of a request that was not sent, and that this one follows
        if known.later:
            self._put_back(held, origin, known)
        if held is not None and held.leased_at < known.since:
            self._pace_anew(held, known)
        parser = known.parser
        if isinstance(parser, FileParser) and parser.rp.is_long:
            await read_for(self._agent(request), parser.rp)
        return parser

    async def _rules(self, origin: str, request: Request, held: HeldLease | None) -> Parsed:
        known = self._known.get(origin)
        if known is None or self._clock() >= known.expires:
            known = await self._load(origin, request)
        while known.pending and (held is None or held.downloads > 1):  # these cannot wait in the frontier
            known = await self._load(origin, request)
        return known

    def _agent(self, request: Request) -> str:
        """Whose rules Scrapy asks for."""
        asks: Any = self._robotstxt_useragent or request.headers.get(b"User-Agent", self._default_useragent)
        return to_unicode(asks)

    def _pace_anew(self, held: HeldLease, known: Parsed) -> None:
        """*held* was paced before its host's Crawl-delay was known, and fetching the file may have used its turn: give
        it back, uncharged, so that it holds no slot until the next turn. Only once, or a file that is forgotten at once
        would send it back for ever. A host without a delay has no turns to wait for."""
        held.slot.lent = True
        if not known.paced and not held.address:  # others at its address may want one
            held.slot.free_at = known.since
            return
        if held.slot.reported or held.downloads > 1 or held.lease.id in self._returned:
            return  # it takes another turn and waits for it here
        self._returned[held.lease.id] = None
        held.slot.go_back(self._clock())
        raise TooLateError

    def _put_back(self, held: HeldLease | None, origin: str, known: Parsed) -> None:
        """Give the page back, uncharged; a request without a lease is refused instead."""
        if known.failing:
            raise RobotsUnreachableError(origin, known.failing)
        self._count(names.ROBOTS_POSTPONED)
        if held is None or held.downloads > 1:
            raise IgnoreRequest(f"{origin}/robots.txt cannot be reached, so that site may not be crawled for now")
        wait = max(0.0, known.expires - self._clock())
        raise TooLateError(round(1000 * (wait + self._uniform(0.1, 1.0))))

    async def _load(self, origin: str, request: Request) -> Parsed:
        """Load the file once per worker and origin, however many pages wait for it."""
        task = self._loading.get(origin)
        if task is None:
            host = self._worker.queue.encoder.rules.of(request).group
            task = self._loading[origin] = asyncio.create_task(self._look_up(host, origin, request))
            task.add_done_callback(lambda _: self._loading.pop(origin))
        return await asyncio.shield(task)

    async def _look_up(self, host: str, origin: str, request: Request) -> Parsed:
        give_up_at = self._clock() + PATIENCE_SECONDS
        worker, shared = self._worker, self._worker.frontier.robots
        while True:
            found = await worker.outage.insist(lambda: shared.claim(host, origin, worker.name))
            if isinstance(found, FetchTask):
                fetched = await self._fetcher.fetch(worker, host, origin, found)
            else:
                fetched = Fetched(found) if found is not None else None
                self._count(names.ROBOTS_SHARED, int(fetched is not None))
            if fetched is not None:
                parsed = await self._parsed(fetched, request)
                self._known.keep(origin, parsed, len(fetched.known.rules) * RULE_BYTES)
                return parsed
            if worker.pacer.unsent.ended:
                return Parsed(None, 0.0, self._clock(), later=True)
            if self._clock() >= give_up_at:
                return Parsed(None, 0.0, self._clock() + PATIENCE_SECONDS, later=True)
            await asyncio.sleep(POLL_SECONDS)

    async def _parsed(self, fetched: Fetched, request: Request) -> Parsed:
        found, now = fetched.known, self._clock()
        fresh = found.fresh_ms / 1000
        if found.verdict is RobotsVerdict.LATER:
            failing = found.failing_ms / 1000
            if failing >= self._unreachable:  # fetched again soon: retrying its dead letters starts a new term
                return Parsed(None, now, now + min(fresh, PATIENCE_SECONDS), later=True, failing=failing)
            return Parsed(None, now, now + fresh, later=True)
        since, expires = now - max(0.0, self._ttl - fresh), now + min(fresh, LOOK_AGAIN_SECONDS)
        if found.verdict is RobotsVerdict.ALLOW:
            return Parsed(None, since, expires, paced=fetched.paced)
        parser = await self._parser(found.rules, fetched.file)
        if is_heard(self.crawler, signals.robots_parsed):
            await self.crawler.signals.send_catch_log_async(
                signal=signals.robots_parsed, robotparser=parser, request=request
            )
        return Parsed(parser, since, expires, paced=fetched.paced)

    async def _parser(self, rules: str, file: RobotsFile | None) -> RobotParser:
        implementation: Any = self._parserimpl
        if implementation is ProtegoRobotParser:
            return FileParser(file or await read(rules))
        parser: RobotParser = await asyncio.to_thread(build_from_crawler, implementation, self.crawler, rules.encode())
        return parser

    def _count(self, name: str, times: int = 1) -> None:
        if times:
            self.crawler.stats.inc_value(name, times)

    @cached_property
    def _worker(self) -> Worker:
        return worker_of(self.crawler)


class Files:
    """The origins looked up last: at most *most* of them, in about *room* bytes."""

    def __init__(self, most: int, room: int) -> None:
        self._most, self._room, self._taken = most, room, 0
        self._known: OrderedDict[str, tuple[Parsed, int]] = OrderedDict()

    def get(self, origin: str) -> Parsed | None:
        """What is known of *origin*; None if nothing, or dropped for want of room."""
        found = self._known.get(origin)
        return found[0] if found is not None else None

    def keep(self, origin: str, parsed: Parsed, size: int) -> None:
        """Remember *parsed*, of *size* bytes."""
        self._drop(origin)
        self._known[origin] = parsed, size
        self._taken += size
        while len(self._known) > self._most or (self._taken > self._room and len(self._known) > 1):
            self._drop(next(iter(self._known)))

    def clear(self) -> None:
        """Forget all."""
        self._known.clear()
        self._taken = 0

    def _drop(self, origin: str) -> None:
        if (dropped := self._known.pop(origin, None)) is not None:
            self._taken -= dropped[1]
