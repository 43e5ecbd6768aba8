"""`scrapy crawl`: Scrapy's own command, which here makes the fleet's spiders join the shared frontier."""

from __future__ import annotations

import argparse
import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from scrapy import Spider
from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings
from scrapy_redis.spiders import RedisMixin

from crawler import stats as names
from crawler.addon import completed, require_addon, uses_addon
from crawler.commands.usage import OneLine, answering, spider_class
from crawler.fleet_check import findings
from crawler.frontier.command_session import session
from crawler.frontier.state.joining import digests, join
from crawler.storage import connection as storage
from crawler.worker import feeds
from crawler.worker.scheduler import Scheduler, in_use
from crawler.worker.worker import FAILED, check_settings

logger = logging.getLogger(__name__)


class Command(OneLine, CrawlCommand):
    """Only this command works on the shared queue; `shell`, `parse`, `check` and the others never do.

    In a project without our add-on it is Scrapy's.
    """

    default_settings: ClassVar[dict[str, Any]] = {"FRONTIER_ENABLED": True}

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run one spider until it ends; a ShoalError becomes one line and exit status 2."""
        assert self.crawler_process is not None
        assert self.settings is not None
        if not uses_addon(self.settings):
            super().run(args, opts)
            return
        with answering(args):
            if len(args) != 1:
                raise UsageError("name one spider, `scrapy list` shows them", print_help=False)
            self._preflight(args[0], opts.spargs)
            crawler = self._create_crawler(args[0])
            require_addon(crawler.settings, args[0])
            crawler.settings.set("FRONTIER_ARGUMENTS", digests(opts.spargs), priority="cmdline")
            crawl = self.crawler_process.crawl(crawler, **opts.spargs)
        self.crawler_process.start()
        self._exit_as(crawl)
        if crawler.stats.get_value("finish_reason") == FAILED or crawler.stats.get_value(names.START_LOST):
            self.exitcode = 1

    def _preflight(self, name: str, arguments: dict[str, str]) -> None:
        """Look whether the servers answer before anything is built, so that what is wrong is one line."""
        assert self.settings is not None
        spider = spider_class(self.settings, name)
        crawler = completed(self.settings, spider)
        settings = crawler.settings
        if not in_use(settings):
            return
        for finding in findings(crawler):
            logger.warning("Cannot work in a fleet: %s", finding)
        check_settings(settings)
        Scheduler.from_settings(settings)
        with ThreadPoolExecutor(1) as thread:  # the process's own event loop is set up already, but does not run
            thread.submit(asyncio.run, _check(settings, spider, arguments)).result()

    def _exit_as(self, crawl: Any) -> None:
        assert self.crawler_process is not None
        # not done: told to stop before it had begun
        ended = isinstance(crawl, asyncio.Task) and crawl.done() and not crawl.cancelled()
        error = crawl.exception() if ended else None
        if error is not None:
            with answering([]):
                raise error
        if self.crawler_process.bootstrap_failed:
            self.exitcode = 1


async def _check(settings: BaseSettings, spider: type[Spider], arguments: dict[str, str]) -> None:
    async with session(settings) as frontier:
        endless = issubclass(spider, RedisMixin)
        await join(
            frontier.shards, frontier.inspection, spider=spider.name, endless=endless, arguments=digests(arguments)
        )
        await feeds.claim(frontier.shards, settings)
    if settings.getwithbase("ITEM_PIPELINES").get("crawler.pipelines.mongodb.MongoPipeline") is not None:
        async with storage.session(settings):
            pass
