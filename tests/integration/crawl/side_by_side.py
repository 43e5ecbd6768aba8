"""Runs several crawls side by side in one process: a plan as JSON on standard input, their stats on standard output.

Each crawl has settings and arguments of its own, so that tests of many small crawls pay for one start.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.utils.project import get_project_settings


def main() -> None:
    plan: dict[str, Any] = json.load(sys.stdin)
    settings = get_project_settings()
    settings.setdict(plan["settings"], priority="project")  # custom_settings of a spider win
    process = AsyncCrawlerProcess(settings)
    crawlers: dict[str, Crawler] = {}
    for name, crawl in plan["crawls"].items():
        own = settings.copy()
        own.setdict(crawl["settings"], priority="cmdline")
        crawlers[name] = Crawler(process.spider_loader.load(crawl["spider"]), own)
        process.crawl(crawlers[name], **crawl["arguments"])
    process.start()
    json.dump({name: crawler.stats.get_stats() for name, crawler in crawlers.items()}, sys.stdout, default=str)


if __name__ == "__main__":
    main()
