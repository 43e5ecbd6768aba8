"""Makes the Crawl-delay of robots.txt the least delay of its host, for the whole fleet."""

from __future__ import annotations

from typing import Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.robotstxt import RobotParser

from crawler.frontier.scheduler import Scheduler, in_use

MAX_CRAWL_DELAY_SECONDS = 3_600.0  # a longer one is a mistake or a wish not to be crawled: robots.txt can say that


class CrawlDelayExtension:
    """Runs between the reading of a robots.txt and the first page after it, which already waits for the delay."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        settings = crawler.settings
        self._agent = str(settings.get("ROBOTSTXT_USER_AGENT") or settings["USER_AGENT"])

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off where robots.txt is not obeyed, or the spider does not use the shared frontier."""
        if not crawler.settings.getbool("ROBOTSTXT_OBEY") or not in_use(crawler.settings):
            raise NotConfigured
        extension = cls(crawler)
        crawler.signals.connect(extension._parsed, signals.robots_parsed)
        return extension

    async def _parsed(self, robotparser: RobotParser, request: Request) -> None:
        assert self._crawler.engine is not None
        scheduler = self._crawler.engine.scheduler
        assert isinstance(scheduler, Scheduler)
        seconds = min(robotparser.crawl_delay(self._agent) or 0.0, MAX_CRAWL_DELAY_SECONDS)
        await scheduler.worker.pacer.crawl_delay(request, seconds)
