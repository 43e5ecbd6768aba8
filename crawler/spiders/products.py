"""`products`: any shop. Fields come from structured data first; links are chosen by their URLs or by
settings/domains.toml."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, Final, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response, TextResponse, XmlResponse

from crawler.extraction import Document, Feed, Links, extract_product, is_feed, links
from crawler.extraction.links import MANY_LINKS
from crawler.extraction.source.unpacking import CutError, ManyPartsError, TooLongError, gunzip
from crawler.items import ProductItem
from crawler.policy.robots.tags import NOFOLLOW
from crawler.policy.rules.domains import DomainRules, Rules, load_rules
from crawler.spiders.base import GUESSED, FrontierSpider
from crawler.spiders.reading import Reading
from crawler.stats import FEEDS_BROKEN

GZIP: Final = b"\x1f\x8b"


class ProductsSpider(FrontierSpider):
    """Yields the product of each product page; follows lists, their next pages and products.

    Links stay within the registrable domain of their page. Any page of a shop is a seed: its front page, a category, or
    a product.
    """

    name = "products"
    crawl_scope = GUESSED
    rules: Rules

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Reads DOMAINS_FILE; raises ConfigError naming file, line and key when it is broken."""
        spider: Self = super().from_crawler(crawler, *args, **kwargs)
        spider.rules = load_rules(crawler.settings["DOMAINS_FILE"])
        return spider

    def parse(self, response: Response, **kwargs: Any) -> Iterator[ProductItem | Request]:
        """Read one page."""
        if not isinstance(response, TextResponse):
            if (feed := self._packed_feed(response)) is not None:
                yield from self._feed(feed)
            else:
                self.logger.info("Not a text page, nothing to extract: %s", response)
            return
        if (done := self.read(response)) is None:
            yield from self._feed(response)
            return
        product, found = done
        if product is not None:
            yield product
        if found.nofollow:
            response.flags.append(NOFOLLOW)
        if found.cut:
            response.flags.append(MANY_LINKS)
        yield from self.plain_requests(response, found)

    def _packed_feed(self, response: Response) -> TextResponse | None:
        """The feed that is a packed file (`feed.xml.gz`), as far as it can be unpacked; None for anything else."""
        rules = self.rules.for_url(response.url)
        if not response.body.startswith(GZIP) or not rules.names_elements():
            return None
        try:
            body = gunzip(response.body, self.settings.getint("DOWNLOAD_MAXSIZE"))
        except CutError as cut:
            body = cut.output
        except (TooLongError, ManyPartsError, zlib.error, OSError, EOFError) as error:
            self.logger.warning("%s cannot be unpacked: %s", response, error)
            return None
        feed = response.replace(cls=XmlResponse, body=body)
        return feed if is_feed(feed.text, rules) else None

    def _feed(self, response: TextResponse) -> Iterator[ProductItem]:
        feed = Feed(Document(response.text, response.url), self.rules.for_url(response.url))
        yield from feed
        if feed.broken:
            self.crawler.stats.inc_value(FEEDS_BROKEN)
            self.logger.warning("Feed %s is broken, read up to that point: %s", response.url, feed.broken)

    def reading(self, response: TextResponse) -> Reading | None:
        """The product and links; a feed is read in place, product by product."""
        text, rules = response.text, self.rules.for_url(response.url)
        if is_feed(text, rules):
            return None
        return Reading(read, Document(text, response.url), (rules, self.follows, self.excludes))


def read(
    document: Document, rules: DomainRules, follows: bool, excludes: bool = True
) -> tuple[ProductItem | None, Links]:
    """The product and the links of a page; no links unless *follows*."""
    product = extract_product(document, document.url, rules)
    return product, links(document, document.url, rules, excluding=excludes) if follows else Links()
