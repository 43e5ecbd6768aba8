"""The encoder of a command: it makes of a URL the message that a crawl of the spider would."""

from __future__ import annotations

from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.request import RequestFingerprinterProtocol

from crawler.routing.encoder import Encoder
from crawler.routing.fingerprint import RequestFingerprinter
from crawler.routing.tier_routing import TierRouting


def encoder_of(crawler: Crawler) -> Encoder:
    """The encoder of the spider of *crawler*; raises ConfigError for an unusable name or setting."""
    return Encoder(crawler.spidercls, crawler.settings, _fingerprinter(crawler), TierRouting())


def _fingerprinter(crawler: Crawler) -> RequestFingerprinterProtocol:
    """The fingerprinter that a crawl of *crawler* would use."""
    kind = load_object(crawler.settings["REQUEST_FINGERPRINTER_CLASS"])
    made: RequestFingerprinterProtocol = build_from_crawler(kind, crawler)
    if kind is not RequestFingerprinter:
        _dress(crawler, made)
    return made


def _dress(crawler: Crawler, made: RequestFingerprinterProtocol) -> None:
    """Give *crawler* what fingerprinters of add-ons expect: its spider, and other projects' middlewares."""
    crawler.request_fingerprinter = made
    crawler.stats = load_object(crawler.settings["STATS_CLASS"])(crawler)
    crawler.spider = crawler.spidercls.from_crawler(crawler)
    middlewares = []
    for path in build_component_list(crawler.settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")):
        kind = load_object(path)
        if not kind.__module__.startswith(("scrapy.", "crawler.")):
            with suppress(NotConfigured):
                middlewares.append(build_from_crawler(kind, crawler))
    chain = SimpleNamespace(middleware=SimpleNamespace(middlewares=middlewares))
    crawler.engine = cast("Any", SimpleNamespace(downloader=chain))
