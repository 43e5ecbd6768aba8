"""How a worker fetches a robots.txt for the fleet: paced like everything else, cut at its limit, interpreted by RFC
9309."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic, time
from typing import Final, Self
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError, IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.settings import BaseSettings

from crawler import config
from crawler import stats as names
from crawler.errors import AddressRefusedError, ConfigError, EndingError, ProxyError
from crawler.frontier.state.robots import LOCK_MS, CachedRobots, FetchTask
from crawler.meta import ALLOW_BLOCKED, CUT_AT
from crawler.policy.endings.failures import classify
from crawler.policy.endings.shortages import shortage
from crawler.policy.robots import responses as robots
from crawler.policy.robots.file import LARGE, RobotsFile
from crawler.policy.robots.responses import RobotsRules, RobotsVerdict
from crawler.routing.budgeting import visiting_hours
from crawler.worker.worker import Worker

OLD_NAME: Final = "ROBOTSTXT_UNREACHABLE_DAYS"
REDIRECTS: Final = 5
PRIORITY: Final = 1000  # as Scrapy's
DECLARED_MAX: Final = 32 * 2**20  # bytes; only MAX_BYTES are read, but a file that declares more than this is an error

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RobotsConfig:
    """Times in seconds."""

    ttl: float = 86_400
    cache_size: int = 20_000
    cache_bytes: int = 64 * 2**20
    timeout: float = 20
    retry: float = 60
    unreachable: float = 86_400

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Raises ConfigError when a value is out of range."""
        if settings.get(OLD_NAME) is not None:
            allowed = f"it unset: replaced by ROBOTSTXT_UNREACHABLE_SECONDS = {86_400} (in seconds)"
            raise ConfigError(OLD_NAME, settings[OLD_NAME], allowed)
        return cls(
            ttl=config.number(settings, "ROBOTSTXT_TTL_SECONDS"),
            cache_size=config.integer(settings, "ROBOTSTXT_CACHE_SIZE"),
            cache_bytes=config.integer(settings, "ROBOTSTXT_CACHE_MB") * 2**20,
            timeout=config.number(settings, "ROBOTSTXT_TIMEOUT_SECONDS"),
            retry=config.number(settings, "ROBOTSTXT_RETRY_SECONDS"),
            unreachable=config.number(settings, "ROBOTSTXT_UNREACHABLE_SECONDS"),
        )


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """The result of one request. *passing*: a temporary failure that says little about the file. *error*: why there is
    no status."""

    verdict: RobotsVerdict
    status: int = 0
    body: bytes = b""
    passing: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What is known of an origin, and its parsed file; no file if nothing is forbidden.

    *paced*: its host wants a delay, hours, or to be left alone, or it is not known that it does not.
    """

    known: CachedRobots
    file: RobotsFile | None = None
    paced: bool = True


async def read(lines: str) -> RobotsFile:
    """Parse *lines*; a long file is parsed in a thread."""
    return RobotsFile(lines) if len(lines) <= LARGE else await asyncio.to_thread(RobotsFile, lines)


async def read_for(agent: str, file: RobotsFile) -> None:
    """Have what *file* says to *agent* parsed; of a long file in a thread."""
    if file.is_long and not file.has_read(agent):
        await asyncio.to_thread(file.group, agent)


class RobotsFetcher:
    """Carries out FetchTasks of one worker; *agent* is the one whose Crawl-delay and Request-rate count."""

    def __init__(
        self, crawler: Crawler, plan: RobotsConfig, agent: str, clock: Callable[[], float] = monotonic
    ) -> None:
        self._crawler = crawler
        self._plan = plan
        self._agent = agent
        self._clock = clock

    async def fetch(self, worker: Worker, host: str, origin: str, task: FetchTask) -> Fetched | None:
        """What the fleet now knows; None if it took so long that another worker may have taken over. Raises
        CannotResolveHostError, which says nothing about the file."""
        answer = await self._answer(worker, host, origin)
        if answer is None:
            return None
        found, file, said = await self._read(answer)
        failing = task.failing_ms / 1000
        if unreachable := found.verdict is RobotsVerdict.LATER:
            found = self._unreachable(origin, found, failing, answer.error)
        keep_ms = found.fresh_ms + round(1000 * self._plan.unreachable * unreachable)
        asked_ms, now_ms = round(said.delay_seconds * 1000), round(time() * 1000)
        hours = visiting_hours(host, said.hours, now_ms, found.fresh_ms)
        delay_ms = await worker.outage.insist(
            lambda: worker.frontier.robots.keep(
                host, origin, worker.name, found, keep_ms=keep_ms, delay_ms=asked_ms, hours=hours
            )
        )
        if delay_ms is None:
            return None
        if failing and not unreachable:
            logger.warning("%s/robots.txt is reachable again after %.0f s", origin, failing)
        return Fetched(found, file, paced=delay_ms > 0 or hours is not None or worker.frontier.config.throttle)

    async def _answer(self, worker: Worker, host: str, origin: str) -> RobotsAnswer | None:
        """The answer; None without a turn at the host, or where this machine cannot connect to any: the fleet is told
        nothing then, and another worker may ask. The task is extended meanwhile."""
        self._count("robotstxt/request_count")
        download = asyncio.ensure_future(self._download(origin))
        give_up_at = self._clock() + 2 * self._plan.timeout
        try:
            while not (await asyncio.wait([download], timeout=LOCK_MS / 3000))[0]:
                await worker.outage.insist(lambda: worker.frontier.robots.claim(host, origin, worker.name))
                if self._clock() >= give_up_at:
                    return None
            response = download.result()
        except EndingError:
            return None
        except Exception as error:  # noqa: BLE001 - whatever it was, it is counted, and the pages are told
            if lacks := shortage(error):
                worker.pauses.lacking(lacks)
                return None
            return self._failed(origin, error)
        finally:
            download.cancel()
        self._count("robotstxt/response_count")
        self._count(f"robotstxt/response_status_count/{response.status}")
        return RobotsAnswer(robots.verdict(response.status), response.status, response.body)

    def _failed(self, origin: str, error: Exception) -> RobotsAnswer:
        """Too many redirects count as no file, and so do those to where there is none. A host without an address for
        this worker is raised: its pages fail so, too, and nobody takes a name server's failure for a host that allows
        all. Of a proxy without one, the fleet hears as of any other failure of it."""
        if isinstance(error, IgnoreRequest) and classify(error) is None:  # else there is a file, which cannot be read
            return RobotsAnswer(RobotsVerdict.ALLOW)
        self._count(f"robotstxt/exception_count/{type(error)}")
        said = f"{type(error).__name__}: {error}"
        logger.info("%s/robots.txt: %s", origin, said)
        if isinstance(error, CannotResolveHostError) and _unresolved(error) == urlsplit(origin).hostname:
            raise error
        absent = isinstance(error, (CannotResolveHostError, AddressRefusedError))
        if absent:
            return RobotsAnswer(RobotsVerdict.ALLOW, passing=True)
        return RobotsAnswer(RobotsVerdict.LATER, error=said)

    async def _read(self, answer: RobotsAnswer) -> tuple[CachedRobots, RobotsFile | None, RobotsRules]:
        """What *answer* says, its file, and what that says besides its rules."""
        fresh_ms = round(1000 * (self._plan.retry if answer.passing else self._plan.ttl))
        if answer.verdict is not RobotsVerdict.RULES:
            return CachedRobots(answer.verdict, answer.status, fresh_ms), None, RobotsRules()
        lines = robots.text(answer.body)
        file = await read(lines)
        await read_for(self._agent, file)
        found = robots.robots_rules(file, self._agent)
        return CachedRobots(answer.verdict, answer.status, fresh_ms, lines, found.sitemaps), file, found

    def _unreachable(self, origin: str, found: CachedRobots, failing: float, error: str) -> CachedRobots:
        self._count(names.ROBOTS_UNREACHABLE)
        wait = robots.next_try_seconds(failing, self._plan.retry)
        if failing < self._plan.unreachable:  # at the latest at the end of its term
            wait = min(wait, max(self._plan.unreachable - failing, 0.1))
        if not failing:
            what = f"it answers {found.status}" if found.status else error
            logger.warning("%s/robots.txt is unreachable (%s): its pages wait, next try in %.0f s", origin, what, wait)
        return CachedRobots(RobotsVerdict.LATER, found.status, round(1000 * wait), failing_ms=round(1000 * failing))

    async def _download(self, origin: str) -> Response:
        meta = {
            "dont_obey_robotstxt": True,
            "allow_offsite": True,  # it may redirect to any host: RFC 9309 2.3.1.2
            ALLOW_BLOCKED: True,  # its status is meaningful
            "dont_retry": True,  # it is fetched again when due, not at once
            "redirect_ttl": REDIRECTS,
            "download_timeout": self._plan.timeout,
            "download_maxsize": DECLARED_MAX,
            CUT_AT: robots.MAX_BYTES,
        }
        request = Request(f"{origin}/robots.txt", priority=PRIORITY, meta=meta, callback=NO_CALLBACK)
        try:
            return await self._crawler.engine.download_async(request)
        except CannotResolveHostError as error:
            if request.meta.get("proxy"):  # the only host that we look up then
                raise ProxyError(f"proxy: {error}") from error
            raise

    def _count(self, name: str) -> None:
        self._crawler.stats.inc_value(name)


def _unresolved(error: CannotResolveHostError) -> str:
    """The host that *error* is about: its message begins with that (`handlers/resolver.py`)."""
    return str(error).partition(" ")[0].removesuffix(":")
