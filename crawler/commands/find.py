"""`scrapy find`: where a URL is, and why it has not been crawled yet."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler import urls
from crawler.commands.base import FleetCommand
from crawler.commands.encoding import encoder_of
from crawler.commands.terminal import answering
from crawler.commands.views.dead_view import printable
from crawler.errors import ServiceError, ShoalError
from crawler.frontier.command_session import session
from crawler.frontier.frontier import Frontier
from crawler.frontier.inspection.finding import UrlPlace
from crawler.frontier.messages import HostState, Message
from crawler.frontier.run_record import run_id_of
from crawler.policy.robots.file import RobotsFile
from crawler.policy.robots.responses import RobotsVerdict
from crawler.storage import connection
from crawler.storage.collection_names import UNTYPED
from crawler.storage.config import StorageConfig
from crawler.storage.reading import reader
from crawler.utils import tasks
from crawler.utils.durations import in_words
from crawler.utils.masking import mask
from crawler.utils.plural import several

COLLECTIONS: Final = ("products", "pages")
SHOWN: Final = ("version", "first_seen_at", "last_seen_at")  # of a document
RETRIED: Final = "retry"  # why it was put back: what its host answered
ERROR_LENGTH: Final = 200  # characters; `scrapy dead show` has it whole


@dataclass(frozen=True, slots=True)
class UrlReport:
    """What is known of a URL, as pushed by *spider*."""

    url: str
    spider: str
    places: Sequence[UrlPlace]
    host: HostState
    scope: str = ""  # the scope rule that keeps links to it from being followed
    closed: Sequence[str] = ()  # budgets and opening hours that hold it back
    robots: str = ""  # what robots.txt says about it, if the fleet has fetched that
    # collection, version, first_seen_at, last_seen_at; of `items` how many documents, too
    stored: Sequence[Mapping[str, Any]] = field(default=())


class Command(FleetCommand, ScrapyCommand):
    """Read-only. Time grows with the host's queue: a second or two for a million requests."""

    def syntax(self) -> str:
        return "URL [--spider NAME] [--json]"

    def short_desc(self) -> str:
        return "Show where a URL is, and why it has not been crawled yet"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--spider", default="", help="only this spider, not every one that has crawled")
        parser.add_argument("--json", action="store_true", help="print one JSON object per spider, for scripts")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 1 if no spider has ever seen the URL."""
        with answering(args):
            if len(args) != 1:
                raise UsageError("name one URL: scrapy find https://...")
            self.follow(opts.spider)
            reports = tasks.run(self._look(urls.check(args[0]), opts.spider))
            for line in [json.dumps(asdict(one), default=str) for one in reports] if opts.json else lines(*reports):
                print(line)
            self.exitcode = 0 if any(report.places or report.stored for report in reports) else 1

    async def _look(self, url: str, only: str) -> list[UrlReport]:
        async with session(self.settings) as frontier:
            names = [only] if only else sorted((await frontier.inspection.stats()).spiders)
            if not names:
                raise ShoalError("the frontier has seen no URL of any spider yet; name one with --spider")
            return [await self._report(frontier, url, name) for name in names]

    async def _report(self, frontier: Frontier, url: str, spider: str) -> UrlReport:
        crawler = self.crawler_of(spider)
        encoder = encoder_of(crawler)
        message = encoder.message(Request(url), generation="0", dedupe=True)
        places = await frontier.finding.find(message)
        agent = str(crawler.settings["ROBOTSTXT_USER_AGENT"] or crawler.settings["USER_AGENT"])
        obeys = crawler.settings.getbool("ROBOTSTXT_OBEY")
        return UrlReport(
            url=url,
            spider=spider,
            places=places,
            host=await frontier.inspection.host(message.host),
            robots=await _robots(frontier, message, url, agent) if obeys else "",
            scope=encoder.scopes.usual.link(url, url, 1).rule,
            closed=await _closed(frontier, message),
            stored=await _stored(crawler.settings, url, spider),
        )


def lines(*reports: UrlReport) -> list[str]:
    """The readable output; spiders of which the same is to be said share a block, and the last have not seen it."""
    alike: dict[tuple[str, ...], list[UrlReport]] = {}
    for report in sorted(reports, key=lambda one: not (one.places or one.stored)):
        alike.setdefault(tuple(_told(report)), []).append(report)
    told: list[str] = []
    for block, same in alike.items():
        whose = f"spider{'s' if len(same) > 1 else ''} {', '.join(one.spider for one in same)}"
        told += [f"{same[0].url} ({whose})", *block]
    return told


def _told(report: UrlReport) -> list[str]:
    told: list[str] = []
    for place in report.places:
        told.append(f"  {_place(place, report.host)}")
        if place.error:
            told.append(f"    {printable(place.error[:ERROR_LENGTH])}")
    for one in report.stored:
        first, last = (f"{one[name]:%Y-%m-%d %H:%M}" for name in ("first_seen_at", "last_seen_at"))
        what = several(one["documents"], "document") if "documents" in one else f"version {one['version']}"
        told.append(f"  stored in {one['collection']}: {what}, seen from {first} to {last} UTC")
    if not report.places and not report.stored:
        told.append("  never seen")
    if report.robots:
        told.append(f"  {report.robots}")
    if report.scope:
        told.append(f"  no link to it is followed: out of scope by the rule {report.scope!r} (docs/scope.md)")
    told += [f"  {one}" for one in report.closed]
    waits = [one for one in report.places if one.state in {"queued", "delayed"}]
    if waits:
        told.append(f"  {_host(report.host)}")
    if any(RETRIED in {one.why, one.nacked} for one in waits):
        host = urlsplit(report.url).hostname
        told.append(f"  `scrapy attempts --host {host}` shows what {host} answers")
    return told


def _place(one: UrlPlace, host: HostState) -> str:
    put_back = f", last put back: {printable(one.nacked)}" if one.nacked not in {"", one.why} else ""
    where = f"{put_back}, {_crawl(one.generation)}"
    return {
        "queued": f"queued in {one.stream} behind {several(one.ahead, 'request')} of {host.host}{where}",
        "delayed": f"delayed for {in_words(one.until_ms / 1000)} ({one.why or 'not before then'}){where}",
        "leased": f"leased by worker {one.why}{where}",
        "dead": f"dead letter {one.id}: {one.why}{where} (`scrapy dead show {one.id}`)",
        "gone": f"gone: {one.why}{where} (`scrapy dead list --kind gone`)",
        "done": f"done, or dropped on the way, in {_crawl(one.generation)}",
    }[one.state]


def _crawl(generation: str) -> str:
    if run := run_id_of(generation):
        return f"run {run}"
    return f"crawl {generation}" if generation != "0" else "the first crawl"


def _host(host: HostState) -> str:
    turn = f"in {host.waits_ms / 1000:.1f} s" if host.waits_ms else "now"
    told = f"{host.host}: next turn {turn}, delay {host.delay_ms / 1000:g} s, {host.in_flight} of {host.cap} in flight"
    shared = f", takes turns with the other hosts at {host.address.removeprefix('ip:')}" if host.address else ""
    return f"{told}, circuit breaker {host.breaker}{shared}"


async def _closed(frontier: Frontier, message: Message) -> list[str]:
    now_ms = (await frontier.inspection.stats()).now_ms
    return [
        f"held back: {one.told}, {one.lasts}"
        for one in await frontier.budgets.closed(now_ms)
        if one.governs(message.host, message.spider)
    ]


async def _robots(frontier: Frontier, message: Message, url: str, agent: str) -> str:
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    if (known := await frontier.robots.kept(message.host, origin)) is None:
        return ""
    if known.verdict is RobotsVerdict.LATER:
        return f"{origin}/robots.txt is unreachable: that site is not crawled for now"
    if known.verdict is RobotsVerdict.ALLOW:
        return ""
    if said := await asyncio.to_thread(_ruled, RobotsFile(known.rules), url, agent):
        return f"{origin}/robots.txt {said}"
    return ""


def _ruled(file: RobotsFile, url: str, agent: str) -> str:
    if not file.can_fetch(url, agent):
        return f"does not allow {agent} to fetch it"
    delay = file.crawl_delay(agent)
    return f"asks {agent} for a Crawl-delay of {delay:g} s" if delay else ""


async def _stored(settings: Any, url: str, spider: str) -> list[dict[str, Any]]:
    """Its documents; none if MongoDB is away, which is told on standard error."""
    if not settings.getbool("SHOAL_STORE"):
        return []
    config = StorageConfig.from_settings(settings)
    found: list[dict[str, Any]] = []
    try:
        async with connection.session(settings) as database:
            pages = list(dict.fromkeys((urls.canonicalize(url), url)))
            for collection in dict.fromkeys((*COLLECTIONS, *config.history)):
                found += await _of_item_class(database, collection, pages)
            if (items := await reader.items_of(database, pages, spider)) is not None:
                found.append({"collection": UNTYPED, **items})
    except ServiceError as error:
        print(f"documents of {url} are unknown: {mask(str(error))}", file=sys.stderr)
    return found


async def _of_item_class(database: connection.Database, collection: str, pages: Sequence[str]) -> list[dict[str, Any]]:
    for page in pages:
        if (document := await reader.document(database, collection, page)) is not None:
            return [{"collection": collection, **{name: document.get(name) for name in SHOWN}}]
    return []
