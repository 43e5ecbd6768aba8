"""`scrapy crawl`: Scrapy's command; here spiders join the shared frontier. What is looked at before, in which order:
startup/README.md."""

from __future__ import annotations

import argparse
import asyncio
import logging
from typing import Any, ClassVar, Final

from scrapy import Spider
from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.core.downloader import contextfactory  # noqa: F401 - looks at all modules there are: import it before others
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings
from scrapy_redis.spiders import RedisMixin

from crawler import components
from crawler import stats as names
from crawler.addon import completed, require_addon, uses_addon
from crawler.commands import early_settings, misspelt, preflight
from crawler.commands.base import OneLine, one_spider, spider_class
from crawler.commands.stopping import ForcedStop, hang_up_asks
from crawler.commands.terminal import INTERRUPTED, answering
from crawler.commands.workers import WORKERS_MAX, check_shareable, number_of_workers, supervise
from crawler.frontier.command_session import session
from crawler.frontier.inspection.old_queue import left_by_scrapy_redis
from crawler.frontier.joining import Joined, digests, join, project_of
from crawler.scrapy_hooks import on_second_signal, stop_in_order
from crawler.startup.fleet_check import findings
from crawler.storage import connection as storage
from crawler.utils import tasks
from crawler.worker import feeds
from crawler.worker.background import FAILED
from crawler.worker.scheduler import in_use

START_RAISED: Final = "start_error"  # Scrapy's finish reason: the start requests after that are not there
UNDER_WAY: Final = "-"  # no generation: join the unfinished one, even if it ends before all workers have joined
CUT_OFF: Final = (
    "The crawl of %s was cut off before its spider closed: something stopped the event loop, or cancelled all tasks. "
    "Its pages are leased again when their leases expire"
)

logger = logging.getLogger(__name__)


class Command(OneLine, CrawlCommand):
    """Only this command works on the shared queue; `shell`, `parse`, `check` and the others never do.

    In a project without our add-on it is Scrapy's.
    """

    default_settings: ClassVar[dict[str, Any]] = {"FRONTIER_ENABLED": True}

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Scrapy's, and --workers."""
        super().add_options(parser)
        words = f"run N processes under one supervisor, 1 to {WORKERS_MAX}, or one per core that it may use (auto)"
        parser.add_argument("--workers", type=number_of_workers, metavar="N|auto", help=words)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """As Scrapy's, but an unknown spider, invalid settings and what several workers cannot do are named before
        anything starts, which would be logged."""
        super().process_options(args, opts)
        if uses_addon(self.settings):
            with answering(args):
                settings = early_settings.with_addons(self.settings)
                spider = spider_class(settings, one_spider(args))
                settings = completed(settings, spider).settings
                preflight.check_values(settings, spider)
                if opts.workers is not None:
                    check_shareable(settings, spider, opts, in_use=in_use(settings))
        elif opts.workers is not None:
            raise UsageError("--workers needs Shoal's add-on (ADDONS) in this project")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run one spider until it ends; a ShoalError becomes one line and exit status 2."""
        assert self.crawler_process is not None
        if not uses_addon(self.settings):
            super().run(args, opts)
            return
        with answering(args):
            joined = self._preflight(args[0], opts.spargs)
            hang_up_asks()
            if opts.workers is not None:
                self._supervise(args[0], opts, joined)
                return
            crawler = self._create_crawler(args[0])
            require_addon(crawler.settings, args[0])
            crawler.settings.set("FRONTIER_ARGUMENTS", digests(opts.spargs), priority="cmdline")
            crawl = self.crawler_process.crawl(crawler, **opts.spargs)
        stop_in_order(self.crawler_process, crawler)
        on_second_signal(self.crawler_process, forced := ForcedStop())
        self.crawler_process.start()
        self._exit_as(crawl)
        self._exit_by(crawler, forced)

    def _exit_by(self, crawler: Crawler, forced: ForcedStop) -> None:
        """Exit status 1 for a crawl that failed, lost something or did not end; INTERRUPTED if that was asked."""
        assert crawler.stats is not None
        ended = crawler.stats.get_value("finish_reason")
        lost = any(crawler.stats.get_value(name) for name in (names.START_LOST, names.DATA_LOST, names.DAMAGED))
        if ended in {FAILED, START_RAISED} or lost:
            self.exitcode = 1
        if forced.so:
            self.exitcode = INTERRUPTED
        elif not ended and crawler.stats.get_value("start_time"):
            logger.critical(CUT_OFF, crawler.spidercls.name)
            self.exitcode = 1

    def _supervise(self, name: str, opts: argparse.Namespace, joined: Joined | None) -> None:
        assert joined is not None
        after = joined.generation if joined.is_over else UNDER_WAY
        settings = completed(self.settings, spider_class(self.settings, name)).settings
        self.exitcode = supervise(settings, name, opts, after)

    def _preflight(self, name: str, arguments: dict[str, str]) -> Joined | None:
        """Check that the servers answer before anything is built, so that a failure is one line.

        Returns the crawl that a worker would join; None off the frontier.
        """
        spider = spider_class(self.settings, name)
        crawler = preflight.with_components(self.settings, spider)
        if not in_use(crawler.settings):
            return None
        for finding in findings(crawler):
            logger.warning("Cannot work in a fleet: %s", finding)
        for hint in misspelt.of_spider(spider, arguments):
            logger.warning("%s", hint)
        return tasks.run_apart(_check(crawler.settings, spider, arguments))

    def _exit_as(self, crawl: Any) -> None:
        assert self.crawler_process is not None
        # not done: it was stopped before it started
        ended = isinstance(crawl, asyncio.Task) and crawl.done() and not crawl.cancelled()
        error = crawl.exception() if ended else None
        if error is not None:
            with answering([]):
                raise error
        if self.crawler_process.bootstrap_failed:
            self.exitcode = 1


async def _check(settings: BaseSettings, spider: type[Spider], arguments: dict[str, str]) -> Joined:
    async with session(settings) as frontier:
        endless = issubclass(spider, RedisMixin)
        joined = await join(
            frontier.shards,
            frontier.inspection,
            spider=spider.name,
            endless=endless,
            arguments=digests(arguments),
            project=project_of(settings),
        )
        if old := await left_by_scrapy_redis(frontier.client, settings, spider.name):
            logger.warning("%s", old)
        await feeds.claim(frontier.shards, settings, spider.name)
    if components.storing(settings):
        async with storage.session(settings):
            pass
    return joined
