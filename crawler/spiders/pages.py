"""`pages`: the main text and metadata of any page, and its links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response, TextResponse

from crawler.errors import ConfigError
from crawler.extraction import Document, Links, extract_page, links
from crawler.extraction.links import MANY_LINKS
from crawler.items import PageItem
from crawler.policy.robots.tags import NOFOLLOW
from crawler.policy.rules.domains import DomainRules, Rules, load_rules
from crawler.spiders.base import GUESSED, FrontierSpider
from crawler.spiders.reading import Reading
from crawler.spiders.sandbox import is_crowded

# A page of more tags is read in the child, since it would block the event loop for over 50 ms; CHARACTERS take as long
# as a tag. Measured: up to 6.5 us each, on pages of nothing but short paragraphs.
MANY_TAGS: Final = 7_000
CHARACTERS: Final = 400
EXTRAS: Final = ("links", "images")


class PagesSpider(FrontierSpider):
    """Yields each page's main text and follows the same links as `products`, within the site.

    Arguments: `follow=no` reads only the pushed pages; `with=links,images` also stores those of the main text.
    """

    name = "pages"
    crawl_scope = GUESSED
    takes = frozenset({"follow", "with"})
    rules: Rules
    follow: str | bool = "yes"
    extras: frozenset[str] = frozenset()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Reads DOMAINS_FILE; raises ConfigError for a broken file or a bad argument."""
        spider: Self = super().from_crawler(crawler, *args, **kwargs)
        spider.rules = load_rules(crawler.settings["DOMAINS_FILE"])
        if str(spider.follow).lower() not in {"yes", "no", "true", "false", "1", "0"}:
            raise ConfigError("-a follow", spider.follow, "yes or no")
        wanted = [each.strip() for each in str(getattr(spider, "with", "")).split(",") if each.strip()]
        if unknown := [each for each in wanted if each not in EXTRAS]:
            raise ConfigError("-a with", ",".join(unknown), " and ".join(EXTRAS) + ", separated by commas")
        spider.extras = frozenset(wanted)
        return spider

    def parse(self, response: Response, **kwargs: Any) -> Iterator[PageItem | Request]:
        """Read one page."""
        if not isinstance(response, TextResponse):
            self.logger.info("Not a text page, nothing to extract: %s", response)
            return
        item, found = self.read(response)
        yield item
        if found.nofollow:
            response.flags.append(NOFOLLOW)
        if found.cut:
            response.flags.append(MANY_LINKS)
        yield from self.plain_requests(response, found)

    def reading(self, response: TextResponse) -> Reading:
        """A page and its links."""
        follows = self.follows and str(self.follow).lower() in {"yes", "true", "1"}
        document = Document(response.text, response.url)
        arguments = (self.rules.for_url(response.url), follows, self.extras, self.excludes)
        return Reading(read, document, arguments, long=_is_long(document))


def _is_long(document: Document) -> bool:
    if is_crowded(document.html):
        return True
    markup = document.markup
    return markup.count("<") + len(markup) // CHARACTERS > MANY_TAGS


def read(
    document: Document, rules: DomainRules, follows: bool, extras: frozenset[str], excludes: bool = True
) -> tuple[PageItem, Links]:
    """The page with the requested *extras*, and its links; no links unless *follows*."""
    item = extract_page(document, document.url, links="links" in extras, images="images" in extras)
    return item, links(document, document.url, rules, excluding=excludes) if follows else Links()
