"""A spider of a plain kind that yields items of every kind through our pipelines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import scrapy
from scrapy.http import Response

from crawler.defaults import FRONTIER_ITEM_PIPELINES
from crawler.items import PageItem, ProductItem

START = datetime(2026, 3, 1, tzinfo=UTC)


class OfferingSpider(scrapy.Spider):
    """`-a visit=N` is the visit to the shop; at the second one a price has changed."""

    name = "offering"
    custom_settings = {
        "ITEM_PIPELINES": FRONTIER_ITEM_PIPELINES,
        "DOWNLOAD_HANDLERS": {"data": "scrapy.core.downloader.handlers.datauri.DataURIDownloadHandler"},
        "ROBOTSTXT_OBEY": False,
    }
    start_urls = ["data:,shop"]
    visit = "1"

    def parse(self, response: Response) -> Iterator[Any]:
        when = START + timedelta(hours=int(self.visit))
        price = "19.90" if self.visit == "1" else "17.50"
        url = "http://shop.example/p/"
        yield ProductItem(url=url + "1", fetched_at=when, title=" Kni\u00adfe ", price=Decimal(price), currency="eur")
        yield ProductItem(url=url + "1", fetched_at=when, title="Knife", price=Decimal(price), currency="EUR")
        yield ProductItem(url=url + "2", fetched_at=when, title="Fork", price=Decimal(5), currency="XXX")
        yield ProductItem(url=url + "3", fetched_at=when, title="Spoon", price="five", currency="EUR")  # type: ignore[arg-type]
        yield ProductItem(url=url + "4", fetched_at=when, price=Decimal(5), currency="EUR")
        yield PageItem(url="http://shop.example/", fetched_at=when, title="Shop", text="We sell\ud800 knives")
        yield {"anything": 1}
        yield {"a.b": 1}
