"""Downloads URLs with our handler: a plan as JSON on standard input, what was called when on standard output."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response
from scrapy.utils.project import get_project_settings
from twisted.python.failure import Failure

from crawler import components
from crawler.handlers.wire_turn import WireTurn
from crawler.meta import WIRE_TURN

STUCK_SECONDS = 0.5  # anything not written by then is late


class DepartingSpider(Spider):
    """One request after the other."""

    name = "departing"
    plan: dict[str, bool]  # URL -> whether it is allowed to leave
    found: dict[str, dict[str, Any]]

    async def start(self) -> AsyncIterator[Request]:
        for url, allowed in self.plan.items():
            self.found[url] = {}
            wire_turn = WireTurn(lambda allowed=allowed: allowed, lambda url=url: self.sent(url))  # type: ignore[misc]
            yield Request(url, errback=self.failed, meta={WIRE_TURN: wire_turn})

    def sent(self, url: str) -> None:
        self.found[url]["sent"] = time.monotonic()
        time.sleep(STUCK_SECONDS)

    def parse(self, response: Response, **kwargs: Any) -> None:
        self.found[response.url]["status"] = response.status

    def failed(self, failure: Failure) -> None:
        self.found[failure.request.url]["error"] = failure.type.__name__  # type: ignore[attr-defined, union-attr]


def main() -> None:
    settings = get_project_settings()
    settings.setdict(
        {
            "CONCURRENT_REQUESTS": 1,
            "ROBOTSTXT_OBEY": False,
            "RETRY_ENABLED": False,
            "DOWNLOAD_VERIFY_CERTIFICATES": False,
            "DOWNLOAD_HANDLERS": components.DOWNLOAD_HANDLERS,
        }
    )
    process = AsyncCrawlerProcess(settings)
    found: dict[str, dict[str, Any]] = {}
    process.crawl(DepartingSpider, plan=json.load(sys.stdin), found=found)
    process.start()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
