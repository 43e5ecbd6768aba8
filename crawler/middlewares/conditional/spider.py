"""Spider middleware that remembers the version of a page once everything it yielded is stored."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Self
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler.items import Item
from crawler.middlewares.conditional import page_links
from crawler.middlewares.conditional.downloader import ConditionalMiddleware, page_id, plainly, wanted
from crawler.middlewares.outputs import OutputMiddleware
from crawler.policy import page_versions
from crawler.storage.items.documents import identity, moment_of
from crawler.storage.page_versions import StoredVersion
from crawler.worker.lookup import worker_of

MAX_LINKS: Final = 1_000
MAX_ITEMS: Final = 100
MAX_HEADER: Final = 1_000  # bytes


@dataclass(slots=True)
class PageVersion:
    """What a page has yielded so far."""

    etag: str
    modified: str
    fetched_at: datetime  # the latest of its items
    items: int = 0
    links: list[page_links.Link] = field(default_factory=list)
    stored: list[tuple[str, str]] = field(default_factory=list)
    ended: bool = False
    plain: bool = True  # nothing but our items and plain links

    @property
    def complete(self) -> bool:
        """Whether the page counts as known: its callback has ended and all of its items are stored."""
        small = 0 < self.items <= MAX_ITEMS and len(self.links) <= MAX_LINKS
        return self.ended and self.plain and small and len(self.stored) == self.items


Versioned = tuple[Response, PageVersion]


class VersionMiddleware(OutputMiddleware[Versioned]):
    """Remembers pages that have an ETag or Last-Modified and yielded items of our classes.

    Pages without items are left out: a list is always fetched whole. So are pages that yielded more than plain links (a
    form, meta, an errback ...): those requests could not be rebuilt without the page.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._pages: WeakKeyDictionary[Response, PageVersion] = WeakKeyDictionary()
        self._writing: set[asyncio.Task[None]] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off whenever `ConditionalMiddleware` is."""
        if not wanted(crawler.settings):
            raise NotConfigured
        middleware = cls(crawler)
        crawler.signals.connect(middleware._scraped, signals.item_scraped)
        return middleware

    def begin(self, response: Response) -> Versioned | None:
        """What it has yielded so far; None for a page without a version."""
        held = worker_of(self._crawler).book.behind(response)
        page = _page(response, held.fetched_at) if held is not None and plainly(held) else None
        if page is None:
            return None
        self._pages[response] = page
        return response, page

    def each(self, output: Any, page: Versioned) -> Any:
        """Pass everything on."""
        self._note(page[1], output)
        return output

    def end(self, page: Versioned) -> None:
        """Remember the page, if all of its items are stored already."""
        page[1].ended = True
        self._ended(*page)

    def pass_over(self, response: Response, url: str) -> None:
        """*response* has a plain link to *url* that `each` does not get, as it is known."""
        if (page := self._pages.get(response)) is not None:
            page.links.append(page_links.bare(url))

    def _note(self, page: PageVersion, output: Any) -> None:
        if isinstance(output, Item):
            page.items += 1
        elif isinstance(output, Request):
            assert self._crawler.spider is not None
            link = page_links.plain(output, self._crawler.spider)
            page.plain = page.plain and link is not None
            if link is not None:
                page.links.append(link)
        elif output is not None:
            page.plain = False

    def _scraped(self, item: Any, response: Any) -> None:
        page = self._pages.get(response) if isinstance(response, Response) else None
        if page is not None and isinstance(item, Item):
            page.stored.append((item.collection, identity(item)))
            page.fetched_at = max(page.fetched_at, moment_of(item.fetched_at or page.fetched_at))  # a spider may set it
            self._ended(response, page)

    def _ended(self, response: Response, page: PageVersion) -> None:
        if not page.complete:
            return
        del self._pages[response]
        conditional = self._crawler.get_downloader_middleware(ConditionalMiddleware)
        if conditional is not None:
            url = page_id(self._crawler, response.url)
            links = page_links.pack(page.links)
            known = StoredVersion(url, page.etag, page.modified, tuple(page.stored), links, page.fetched_at)
            task = asyncio.create_task(conditional.store(known))
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)


def _page(response: Response, at: datetime) -> PageVersion | None:
    asked = response.request
    if response.status != 200 or asked is None or asked.method != "GET":
        return None
    etag = page_versions.etag(_header(response, "ETag"))
    modified = page_versions.modified(_header(response, "Last-Modified"), at)
    return PageVersion(etag, modified, at) if etag or modified else None


def _header(response: Response, name: str) -> str:
    value: bytes = response.headers.get(name) or b""
    return value.decode("latin-1") if len(value) <= MAX_HEADER else ""
