"""A spider as one writes it for a shop whose pages carry JSON-LD."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from scrapy.http import HtmlResponse
from scrapy_redis.spiders import RedisSpider


class ProductsSpider(RedisSpider):  # type: ignore[misc]
    """Follows listings, and reads the product out of its JSON-LD."""

    name = "products"

    def parse(self, response: HtmlResponse, **kwargs: Any) -> Iterator[Any]:
        """A listing's links, or a product's fields."""
        yield from response.follow_all(css="article.card > a, a.next")
        data = response.css('script[type="application/ld+json"]::text').get()
        if data is not None:
            yield from self._products(response.url, json.loads(data))

    def _products(self, url: str, data: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for node in data["@graph"]:
            if node["@type"] == "Product":
                yield {
                    "url": url,
                    "title": node["name"],
                    "sku": node["sku"],
                    "gtin": node["gtin13"],
                    "brand": node["brand"]["name"],
                    "category": node["category"],
                    "image": node["image"][0],
                    "description": node["description"],
                    "price": node["offers"]["price"],
                    "currency": node["offers"]["priceCurrency"],
                    "availability": node["offers"]["availability"],
                    "rating": node["aggregateRating"]["ratingValue"],
                    "review_count": node["aggregateRating"]["reviewCount"],
                }


class VisitsSpider(RedisSpider):  # type: ignore[misc]
    """Its pages have a link at most."""

    name = "visits"

    def parse(self, response: HtmlResponse, **kwargs: Any) -> Iterator[Any]:
        """Follow it."""
        yield from response.follow_all(css="a")
