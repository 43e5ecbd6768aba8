"""Reads a fetched sitemap: its pages and further sitemaps are queued, piece by piece."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple
from urllib.parse import urljoin

from scrapy import Request
from scrapy.http import Response

from crawler import urls
from crawler.errors import CodecError, MessageError, ShoalError
from crawler.extraction.sitemaps import SitemapEntry, SitemapParser
from crawler.extraction.source.unpacking import DamagedError, TooLongError, unpacked
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import PushOutcome
from crawler.frontier.pushing import Row
from crawler.frontier.run_record import RunError, run_id_of
from crawler.frontier.runs.sitemaps import MOST, SitemapVerdict
from crawler.frontier.server.wire_format import push_row
from crawler.outage import Outage
from crawler.policy.rules.traps import harmless
from crawler.producers.lastmods import Lastmods
from crawler.routing.encoder import Encoder
from crawler.routing.plain_urls import PlainUrls, plain_form
from crawler.routing.sitemap_requests import DEPTH, MAX_BYTES, SitemapTerms, sitemap_message
from crawler.storage.recrawl.recrawl_hints import moment
from crawler.utils.batches import batched

PIECES: Final = 4  # of a body, parsed per call of a thread
BATCH: Final = 480  # rows; after each batch other tasks get a turn
SITEMAPS: Final = 96  # rows of sitemaps: each is a request with its terms, not a plain page
MOST_PAGES: Final = 500_000  # per sitemap; sitemaps.org allows 50,000
ROOM_SECONDS: Final = 5.0  # between tries while Redis is full or away
ROOM_TRIES: Final = 120

_NAMES: Final = {
    SitemapVerdict.READ: "sitemaps",
    SitemapVerdict.UNCHANGED: "sitemaps_unchanged",
    SitemapVerdict.TOO_MANY: "sitemaps_too_many",
}

logger = logging.getLogger(__name__)


class SitemapError(ShoalError):
    """Why a sitemap, or the rest of it, cannot be read."""


class SitemapStep(NamedTuple):
    """Some entries; *is_last*: there are no more, because of *error* if set."""

    entries: list[SitemapEntry]
    error: str = ""
    is_last: bool = False


class SitemapReader:
    """Reads the sitemaps of one spider. *cut* is called for pages out of scope with rule, URL and generation. *outage*
    waits while Redis is away. *lastmods* is told when known pages of the sitemap's site are said to have changed."""

    def __init__(
        self,
        frontier: Frontier,
        encoder: Encoder,
        cut: Callable[[str, str, str], object],
        outage: Outage,
        lastmods: Lastmods | None = None,
    ) -> None:
        self._frontier = frontier
        self._outage = outage
        self._encoder = encoder
        self._cut = cut
        self._lastmods = lastmods

    async def read(self, response: Response, terms: SitemapTerms, generation: str, priority: int) -> Counter[str]:
        """Queue everything that *response* names; returns counts by name. Raises SitemapError, after queueing what
        precedes the error.

        May be repeated, as queued URLs are known. The last sitemap of a run seals it.
        """
        reading = _Reading(self._encoder, response.url, terms, generation, priority, self._cut)
        parser = SitemapParser(is_robots=terms.is_robots)
        pieces = unpacked(response.body, MAX_BYTES)
        step = SitemapStep([])
        while not step.is_last and not reading.too_many:
            step = await asyncio.to_thread(_step, parser, pieces)
            for entries in batched(step.entries, BATCH):
                await self._push(reading, reading.rows(entries))
                await self._note(reading, entries)
                await asyncio.sleep(0)
            if reading.is_cancelled:
                return reading.counts
        await self._push_sitemaps(reading)
        if error := step.error or _missing(parser, reading, terms):
            raise SitemapError(f"sitemap {response.url} {error}; {reading.counts['pages']:,} pages of it are queued")
        if not reading.is_cancelled:
            await self._end(reading)
        return reading.counts

    async def _note(self, reading: _Reading, entries: Sequence[SitemapEntry]) -> None:
        """Tell which pages are said to have changed."""
        if self._lastmods is None or not await self._lastmods.wanted() or not (told := reading.changes(entries)):
            return
        news = await self._lastmods.note(told)
        reading.counts["lastmods"] += news or 0
        reading.counts["lastmods_lost"] += len(told) if news is None else 0

    async def _push_sitemaps(self, reading: _Reading) -> None:
        """Queue the sitemaps that it names, unless unchanged."""
        named, spider, changed_only = reading.sitemaps, self._encoder.spider.name, reading.terms.changed_only
        if not named:
            return
        if reading.terms.depth >= DEPTH:
            raise SitemapError(
                f"sitemap {reading.url} names others, {DEPTH} levels deep: that is not an index any more"
            )
        for group in batched(named.items(), SITEMAPS):
            rows = [(one, row) for one in group if (row := reading.sitemap_row(*one)) is not None]
            wanted = [one for one, _ in rows]
            verdicts = await self._outage.insist(
                partial(self._frontier.sitemaps.add, spider, reading.generation, wanted, changed_only=changed_only)
            )
            for verdict in verdicts:
                reading.counts[_NAMES[verdict]] += 1
            chosen = zip(rows, verdicts, strict=True)
            await self._push(reading, [row for (_, row), verdict in chosen if verdict is SitemapVerdict.READ])
        if reading.counts[_NAMES[SitemapVerdict.TOO_MANY]]:
            raise SitemapError(f"sitemap {reading.url} names more sitemaps than a run may have")

    async def _push(self, reading: _Reading, rows: Sequence[Row]) -> None:
        """Queue rows; waits while Redis is full, and raises SitemapError if that lasts too long."""
        for _ in range(ROOM_TRIES):
            if not rows:
                return
            outcomes = await self._outage.insist(partial(self._frontier.push_rows, rows, forced=True))
            reading.is_cancelled |= PushOutcome.CANCELLED in outcomes
            rows = [row for row, out in zip(rows, outcomes, strict=True) if out is PushOutcome.REFUSED_MEMORY]
            await asyncio.sleep(ROOM_SECONDS if rows else 0)
        raise SitemapError("a sitemap's pages found no room in Redis")

    async def _end(self, reading: _Reading) -> None:
        """Note that it was read. One of which pages were left out counts as changed: the next run may want them."""
        terms, name = reading.terms, self._encoder.spider.name
        lastmod = "" if reading.counts["filtered"] or reading.counts["cut"] else terms.lastmod
        end = partial(self._frontier.sitemaps.end, name, reading.generation, terms.url or reading.url, lastmod)
        if await self._outage.insist(end) == 0 and (run_id := run_id_of(reading.generation)):
            with suppress(RunError):  # forgotten: it was over long ago
                await self._outage.insist(partial(self._frontier.runs.seal, run_id))


class _Reading:
    """One sitemap being read."""

    def __init__(
        self,
        encoder: Encoder,
        url: str,
        terms: SitemapTerms,
        generation: str,
        priority: int,
        cut: Callable[[str, str, str], object],
    ) -> None:
        self.url = url
        self.terms = terms
        self.generation = generation
        self.counts: Counter[str] = Counter()
        self.is_cancelled = False  # its run is
        self.sitemaps: dict[str, str] = {}  # lastmod by URL
        self._encoder = encoder
        self._priority = priority
        self._plain = PlainUrls(encoder, generation, priority, in_scope=True)
        self._cut = cut
        self._scope = encoder.scopes.of(generation)
        self._own_scope = self._scope.of(url)
        self._takes_all = not terms.include and not terms.exclude
        self._origin = self._scope.trapped_alone(url)  # most of its pages are there

    @property
    def too_many(self) -> str:
        """What it names too many of; "" while there is room."""
        if self.counts["pages"] > MOST_PAGES:
            return f"{MOST_PAGES:,} pages"
        return f"{MOST:,} sitemaps" if len(self.sitemaps) > MOST else ""

    def rows(self, entries: Sequence[SitemapEntry]) -> list[Row]:
        """The rows of wanted pages in *entries*; notes sitemaps."""
        found: list[Row] = []
        for entry in entries:
            url = self._absolute(entry.url)
            if entry.is_sitemap:
                self.sitemaps[url] = entry.lastmod
            elif (url := self._wanted(url)) and (row := self._row(url)) is not None:
                found.append(row)
        self.counts["pages"] += len(found)
        return found

    def changes(self, entries: Sequence[SitemapEntry]) -> dict[str, datetime]:
        """Canonical URLs of pages, and when each is said to have changed; of other sites it has nothing to say."""
        found: dict[str, datetime] = {}
        for entry in entries:
            if entry.is_sitemap or not entry.lastmod or (at := moment(entry.lastmod)) is None:
                continue
            url = self._absolute(entry.url)
            with suppress(ValueError):  # no URL: counted where it is queued
                if urls.same_site(url, self.url):
                    found[plain_form(url) or urls.canonicalize(url)] = at
        return found

    def _absolute(self, url: str) -> str:
        if url.startswith(("http://", "https://")):
            return url
        try:
            return urljoin(self.url, url)
        except ValueError:
            return url  # refused where it is checked

    def _wanted(self, url: str) -> str:
        """*url* as it should be queued, or ""."""
        if not self._takes_all and not self.terms.takes(url):
            self.counts["filtered"] += 1
            return ""
        if self._scope.cuts_nothing or (self._origin and url.startswith(self._origin) and harmless(url)):
            return url
        judged = self._scope.named(url, self.url, self._own_scope)
        if judged.rule:
            self._cut(judged.rule, url, self.generation)
            self.counts["cut"] += 1
        return "" if judged.rule else judged.url

    def _row(self, url: str) -> Row | None:
        if (row := self._plain.row(url) or self._plain.looked_at(url)) is not None:
            return row
        try:
            request = Request(url, priority=self._priority)
            message = self._encoder.message(request, generation=self.generation, dedupe=True)
        except (MessageError, CodecError, ValueError) as error:
            self._refuse(error)
            return None
        return message.host, push_row(message)

    def sitemap_row(self, url: str, lastmod: str) -> Row | None:
        """The row of a sitemap that it names."""
        terms = SitemapTerms(
            self.terms.include, self.terms.exclude, self.terms.changed_only, lastmod=lastmod, depth=self.terms.depth + 1
        )
        try:
            message = sitemap_message(self._encoder, url, terms, self.generation, self._priority)
        except (MessageError, CodecError, ValueError) as error:
            self._refuse(error)
            return None
        return message.host, push_row(message)

    def _refuse(self, error: Exception) -> None:
        self.counts["invalid"] += 1
        if self.counts["invalid"] <= 3:
            logger.warning("Sitemap %s: %s", self.url, error)


def _step(parser: SitemapParser, pieces: Iterator[bytes]) -> SitemapStep:
    """Runs in a thread: parse the next pieces."""
    entries: list[SitemapEntry] = []
    try:
        for _ in range(PIECES):
            if (piece := next(pieces, None)) is None:
                return SitemapStep(entries + parser.close(), is_last=True)
            entries += parser.feed(piece)
    except DamagedError as error:
        return SitemapStep(entries + parser.close(), f"is damaged ({error})", is_last=True)
    except TooLongError as error:
        return SitemapStep(entries + parser.close(), f"is too long ({error})", is_last=True)
    return SitemapStep(entries)


def _missing(parser: SitemapParser, reading: _Reading, terms: SitemapTerms) -> str:
    """What is wrong with it as a whole; "" for a valid sitemap."""
    if reading.too_many:
        return f"names more than {reading.too_many}"
    if parser.kind == "html":
        return "is a web page, not a sitemap"
    if terms.is_robots and not reading.sitemaps:
        return "names no sitemap"
    if parser.kind in {"", "text"} and not reading.sitemaps and not sum(reading.counts.values()):
        return "is not a sitemap: it names no address"
    return ""
