"""`make bench-engine`: what our replacements of Scrapy's parts cost per page, beside Scrapy's own.

Both do the same work in one process, in turns, without network and store: sixteen downloader middlewares that look at
a request and its response, a callback's output of one item and ten requests through four pipelines, an item and a
request through Scrapy's own spider middlewares, requests for ten links that each page has, twenty counted stats. CPU
time, medians of the rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

from scrapy import Request, Spider
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.core.scraper import Scraper, Slot
from scrapy.core.spidermw import SpiderMiddlewareManager
from scrapy.http import Response, request
from scrapy.pipelines import ItemPipelineManager
from scrapy.statscollectors import MemoryStatsCollector, StatsCollector
from scrapy.utils.test import get_crawler
from w3lib.url import safe_url_string

from benchmarks import document
from crawler.engine import item_processor, safe_urls, stats_collector
from crawler.engine.middleware_chain import MiddlewareChain
from crawler.engine.spider_chain import fold
from crawler.middlewares.outputs import OutputMiddleware
from demo.arguments import whole

DOCUMENT: Final = Path(__file__).resolve().parent.parent / "crawler" / "engine" / "README.md"
MIDDLEWARES, PIPELINES, REQUESTS, STATS = 16, 4, 10, 20
URL: Final = "http://a.example/"
PAGES: Final = 300
HEAD: Final = ("replaced", "ours, CPU µs per page", "Scrapy's", "times")
Work = Callable[[], Awaitable[object]]


class Middleware:
    """Passes everything on, as most do."""

    def process_request(self, request: Request) -> None:
        return None

    def process_response(self, request: Request, response: Response) -> Response:
        return response


class Passing(OutputMiddleware[Response]):
    """Passes every output on."""

    def begin(self, response: Response) -> Response:
        return response


class Pipeline:
    """Hands the item on."""

    def process_item(self, item: Any) -> Any:
        return item


async def answer(request: Request) -> Response:
    """A response that comes at once."""
    return Response(URL, request=request)


def chains() -> tuple[Work, Work]:
    """A request through the downloader middlewares, and its response back."""
    crawler = get_crawler()
    crawler.spider = Spider("bench")
    manager = DownloaderMiddlewareManager(*(Middleware() for _ in range(MIDDLEWARES)), crawler=crawler)
    chain = MiddlewareChain(manager)
    return lambda: chain.download(answer, Request(URL)), lambda: manager.download_async(answer, Request(URL))


def outputs() -> tuple[Work, Work]:
    """A callback's output through the scraper and the pipelines."""
    return _output(item_processor.ItemProcessor, ours=True), _output(ItemPipelineManager, ours=False)


def _output(manager: type[ItemPipelineManager], *, ours: bool) -> Work:
    crawler = get_crawler()
    crawler.spider = Spider("bench")
    scraper = Scraper(crawler)
    scraper.itemproc = manager(*(Pipeline() for _ in range(PIPELINES)), crawler=crawler)
    scraper.slot = Slot()
    crawler.engine = cast("Any", SimpleNamespace(crawl=lambda *_, **__: None, scraper=scraper))
    if ours:
        scraper.signals = item_processor.Signals(scraper.signals.sender)
    request = Request(URL)
    response = Response(URL, request=request)

    async def found() -> AsyncIterator[object]:
        yield {"title": "Lamp"}
        for _ in range(REQUESTS):
            yield request

    if ours:
        return lambda: item_processor.handle_output(scraper, found(), request, response)
    return lambda: scraper.handle_spider_output_async(found(), request, response)


def spider_chains() -> tuple[Work, Work]:
    """A callback's item and request through Scrapy's own spider middlewares and as many of ours."""
    return _spider_chain(folded=True), _spider_chain(folded=False)


def _spider_chain(*, folded: bool) -> Work:
    crawler = get_crawler()
    crawler.spider = Spider("bench")
    scrapys = SpiderMiddlewareManager.from_crawler(crawler).middlewares
    manager = SpiderMiddlewareManager(*scrapys, *(Passing() for _ in scrapys), crawler=crawler)
    if folded:
        fold(manager)
    request = Request(URL)
    response = Response(URL, request=request)

    async def scrape(*_: object) -> list[object]:
        return [{"title": "Lamp"}, Request(URL)]

    async def page() -> None:
        async for _ in await manager.scrape_response_async(scrape, response, request):
            pass

    return page


def requests() -> tuple[Work, Work]:
    """Requests for the same links."""
    return _requests(safe_urls.remembered), _requests(safe_url_string)


def _requests(escape: Callable[..., str]) -> Work:
    urls = [f"{URL}menu/{number}" for number in range(REQUESTS)]

    async def page() -> None:
        request.safe_url_string = escape  # type: ignore[attr-defined]
        for url in urls:
            Request(url)

    return page


def stats() -> tuple[Work, Work]:
    """Counting."""
    crawler = get_crawler()
    return _counting(stats_collector.StatsCollector(crawler)), _counting(MemoryStatsCollector(crawler))


def _counting(collector: StatsCollector) -> Work:
    async def count() -> None:
        for _ in range(STATS):
            collector.inc_value("pages")

    return count


PARTS: Final[Mapping[str, Callable[[], tuple[Work, Work]]]] = {
    "middleware_chain.py": chains,
    "item_processor.py": outputs,
    "spider_chain.py": spider_chains,
    "safe_urls.py": requests,
    "stats_collector.py": stats,
}


async def cost(work: Work, pages: int) -> float:
    """CPU µs of one page."""
    begun = time.process_time()
    for _ in range(pages):
        await work()
    return (time.process_time() - begun) / pages * 1e6


async def measure(rounds: int, pages: int) -> list[list[str]]:
    """A row for each part: ours, Scrapy's, and how many times that is."""
    rows = []
    for name, build in PARTS.items():
        ours, theirs = build()
        turns = [(await cost(ours, pages), await cost(theirs, pages)) for _ in range(rounds)]
        mine, other = (statistics.median(turn[side] for turn in turns) for side in (0, 1))
        times = statistics.median(turn[1] / turn[0] for turn in turns)
        rows.append([f"`{name}`", f"{mine:.1f}", f"{other:.1f}", f"{times:.1f}"])
    return rows


def main() -> int:
    """Measure, print, write the table into crawler/engine/README.md."""
    parser = argparse.ArgumentParser(prog="benchmarks.engine", description="Our parts of the engine beside Scrapy's")
    parser.add_argument("--rounds", type=whole(1), default=9)
    parser.add_argument("--no-write", dest="write", action="store_false", help="leave crawler/engine/README.md alone")
    options = parser.parse_args()
    table = document.rows(HEAD, asyncio.run(measure(options.rounds, PAGES)))
    sys.stdout.write(f"{table}\n")
    if options.write:
        document.write("gain", f"{table}\n\n{document.machine('scrapy')}.", DOCUMENT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
