"""`python -m benchmarks.handlers_once HANDLER PAGES`: fetches the URLs on standard input through one handler."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import sys
import time
from typing import Any, Final

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.reactor import install_reactor

from crawler.addon import complete

AT_ONCE: Final = 64
HEADERS: Final = {"Accept": "text/html", "Accept-Language": "en", "User-Agent": "bench", "Accept-Encoding": "gzip"}


def crawler() -> Crawler:
    """One that runs nothing: handlers take their settings and signals from it."""
    settings = Settings({"FRONTIER_ENABLED": True})
    complete(settings)
    settings.setdict({"GUARD_ALLOWED_NETWORKS": "127.0.0.0/8", "CONCURRENT_REQUESTS": AT_ONCE})
    settings.setdict({"CONCURRENT_REQUESTS_PER_DOMAIN": AT_ONCE, "DOWNLOAD_VERIFY_CERTIFICATES": False})
    made = Crawler(Spider, settings)
    made.stats = MemoryStatsCollector(made)
    made.spider = Spider("bench")
    return made


async def measure(path: str, urls: list[str], pages: int) -> dict[str, float]:
    """CPU and speed, the first tenth of the pages left out."""
    handler = build_from_crawler(load_object(path), crawler())
    numbers = iter(range(pages))
    begun: list[float] = []

    async def fetch() -> None:
        for number in numbers:
            if number == pages // 10:
                begun.extend((time.process_time(), time.monotonic()))
            request = Request(urls[number % len(urls)], headers=HEADERS, meta={"download_timeout": 60})
            response = await handler.download_request(request)
            assert response.status == 200
            assert len(response.body) > 10_000

    await asyncio.gather(*(fetch() for _ in range(AT_ONCE)))
    cpu, seconds = time.process_time() - begun[0], time.monotonic() - begun[1]
    await handler.close()
    counted = pages - pages // 10
    return {"cpu_ms": cpu / counted * 1000, "pages_per_second": counted / seconds}


def main() -> int:
    """Print the figures as JSON."""
    path, pages = sys.argv[1:]
    logging.disable(logging.WARNING)
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor", "crawler.engine.event_loop.Loop")
    reactor: Any = importlib.import_module("twisted.internet.reactor")
    result: list[Any] = []
    urls = [url.strip() for url in sys.stdin]
    job = deferred_from_coro(measure(path, urls, int(pages)))
    job.addBoth(result.append).addBoth(lambda _: reactor.stop())
    reactor.run()
    if not isinstance(result[0], dict):
        sys.stderr.write(f"{result[0]}\n")
        return 1
    json.dump(result[0], sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
