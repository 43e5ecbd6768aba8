"""What the add-on puts into Scrapy's settings: our components by path, with their position."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final

from scrapy.settings import BaseSettings

ADDON: Final = "crawler.addon.Shoal"
OLD_START: Final = "crawler.middlewares.spider.old_start.OldStartMiddleware"
LINEAGE: Final = "crawler.middlewares.spider.lineage.LineageMiddleware"
MONGODB: Final = "crawler.pipelines.mongodb.MongoPipeline"

# Single values, which replace Scrapy's and scrapy-redis' own.
SCALARS: Final = {
    "SCHEDULER": "crawler.worker.scheduler.Scheduler",
    "SCHEDULER_QUEUE_CLASS": "crawler.worker.lease_queue.FrontierQueue",
    "DUPEFILTER_CLASS": "crawler.worker.dupefilter.FrontierDupeFilter",
    "DOWNLOADER": "crawler.engine.downloader.Downloader",
    "ITEM_PROCESSOR": "crawler.engine.item_processor.ItemProcessor",
}
DOWNLOADER_MIDDLEWARES: Final = {
    "crawler.middlewares.downloader.offsite.OffsiteMiddleware": 50,
    # last: only tries pages that a callback will get
    "crawler.middlewares.downloader.trial_parse.TrialParseMiddleware": 50,
    "crawler.middlewares.downloader.robots.RobotsTxtMiddleware": 100,
    # this far out: all others see the 304 first
    "crawler.middlewares.conditional.downloader.ConditionalMiddleware": 150,
    "crawler.middlewares.downloader.headers.HeadersMiddleware": 460,  # after the default headers, before USER_AGENT
    "crawler.middlewares.downloader.retry.RetryMiddleware": 550,
    "crawler.middlewares.downloader.tiers.TiersMiddleware": 570,  # a page that steps up is not retried here
    "crawler.middlewares.downloader.metarefresh.MetaRefreshMiddleware": 580,
    "crawler.middlewares.downloader.sitemaps.SitemapsMiddleware": 592,  # before decompression, which it does itself
    "crawler.middlewares.downloader.decompression.DecompressionMiddleware": 590,
    "crawler.middlewares.downloader.charsets.CharsetMiddleware": 588,  # before anything reads the text
    "crawler.middlewares.downloader.blocks.BlocksMiddleware": 585,  # right after decompression
    "crawler.middlewares.downloader.redirect.RedirectMiddleware": 600,
    "crawler.middlewares.downloader.cookies.SessionsMiddleware": 700,
    # nearer to the wire than retries and redirects
    "crawler.middlewares.downloader.httpauth.HttpAuthMiddleware": 710,
    "crawler.middlewares.downloader.proxy.ProxyMiddleware": 750,
    "crawler.middlewares.downloader.stats.DownloaderStats": 850,
    "crawler.middlewares.downloader.budgets.BudgetMiddleware": 870,  # bodies are as they were received
    "crawler.middlewares.downloader.attempts.AttemptsMiddleware": 880,  # nearest to the wire
    "crawler.middlewares.downloader.traces.TracesMiddleware": 890,  # its time is the attempt's alone
}
SPIDER_MIDDLEWARES: Final = {
    "crawler.extensions.logs.RequestIdMiddleware": 5,  # first: log lines of the others carry the id
    # what the archive raises again, once it has kept the page, is seen behind the next of those that handle output
    "crawler.middlewares.spider.sitemap_errors.SitemapErrorsMiddleware": 8,
    # nearest to the engine: sees what the others let through
    "crawler.middlewares.spider.lineage.LineageMiddleware": 10,
    "crawler.middlewares.spider.provenance.ProvenanceMiddleware": 12,  # next to it: the two run as one
    "crawler.middlewares.spider.archive.ArchiveMiddleware": 15,  # sees what others make of an exception
    "crawler.middlewares.spider.gate.GateMiddleware": 60,  # after HttpErrorMiddleware: keeps back what is not the page
    "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware": 930,  # 1000 in Scrapy: see the next line
    # behind what drops known links, and before Scrapy's own take trouble over them
    "crawler.middlewares.spider.scope.ScopeMiddleware": 935,
    # the others need not handle what it drops
    "crawler.middlewares.spider.known_links.KnownLinksMiddleware": 940,
    "crawler.middlewares.conditional.spider.VersionMiddleware": 950,  # nearest to the spider: sees everything it yields
    OLD_START: 960,  # behind all others, the project's too: they see what it starts with
}
# Settings that are dicts of components.
TABLES: Final = ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES")
EXTENSIONS: Final = {
    "crawler.extensions.core_stats.CoreStats": 0,
    "crawler.extensions.metrics.MetricsExtension": 0,
    "crawler.extensions.reports.ReportsExtension": 0,
    "crawler.extensions.idle.IdleExtension": 0,
    "crawler.extensions.run_hooks.RunHooks": 0,
    "crawler.extensions.run_hooks.RunSignals": 0,
    "crawler.extensions.run_monitors.RunMonitors": 0,
    "crawler.extensions.garbage.GarbageExtension": 0,
    "crawler.extensions.feed_failures.FeedFailuresExtension": 0,
    "crawler.handlers.addresses.AddressExtension": 0,
}
# Ours replace these of Scrapy's; if a project switches Scrapy's off, ours stay out too.
STANDS_FOR: Final[Mapping[str, str]] = {
    "crawler.middlewares.downloader.robots.RobotsTxtMiddleware": (
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"
    ),
    "crawler.middlewares.downloader.retry.RetryMiddleware": "scrapy.downloadermiddlewares.retry.RetryMiddleware",
    "crawler.middlewares.downloader.decompression.DecompressionMiddleware": (
        "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware"
    ),
    "crawler.middlewares.downloader.offsite.OffsiteMiddleware": (
        "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware"
    ),
    "crawler.middlewares.downloader.redirect.RedirectMiddleware": (
        "scrapy.downloadermiddlewares.redirect.RedirectMiddleware"
    ),
    "crawler.middlewares.downloader.metarefresh.MetaRefreshMiddleware": (
        "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware"
    ),
    "crawler.middlewares.downloader.cookies.SessionsMiddleware": (
        "scrapy.downloadermiddlewares.cookies.CookiesMiddleware"
    ),
    "crawler.middlewares.downloader.httpauth.HttpAuthMiddleware": (
        "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware"
    ),
    "crawler.middlewares.downloader.proxy.ProxyMiddleware": (
        "scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware"
    ),
    "crawler.middlewares.downloader.stats.DownloaderStats": "scrapy.downloadermiddlewares.stats.DownloaderStats",
    "crawler.extensions.core_stats.CoreStats": "scrapy.extensions.corestats.CoreStats",
}
# Without these, pages end wrongly or their results are lost.
REQUIRED: Final = frozenset(
    {
        "crawler.middlewares.spider.gate.GateMiddleware",
        "crawler.middlewares.spider.lineage.LineageMiddleware",
        "crawler.middlewares.spider.provenance.ProvenanceMiddleware",
        "crawler.extensions.idle.IdleExtension",
        MONGODB,
    }
)
# They need MongoDB: left out if SHOAL_STORE is False.
STORING: Final = frozenset(
    {
        "crawler.middlewares.conditional.downloader.ConditionalMiddleware",
        "crawler.middlewares.conditional.spider.VersionMiddleware",
        "crawler.middlewares.downloader.attempts.AttemptsMiddleware",
        "crawler.middlewares.spider.archive.ArchiveMiddleware",
    }
)
# Only http and https are fetched: no local files or other protocols, unless the project sets them.
DOWNLOAD_HANDLERS: Final = {
    "http": "crawler.handlers.http.HttpDownloadHandler",
    "https": "crawler.handlers.http.HttpDownloadHandler",
    "file": None,
    "data": None,
    "ftp": None,
    "s3": None,
}
FEED_URI_PARAMS: Final = "crawler.worker.feeds.uri_params"  # provides %(worker)s
BROWSER_WISH: Final = "scrapy_playwright."  # a handler of that package means the browser tier is wanted


def path_of(component: Any) -> str:
    """The path of a component given as class or path; of anything else, how it prints."""
    if isinstance(component, str):
        return component
    module, name = getattr(component, "__module__", None), getattr(component, "__qualname__", None)
    return f"{module}.{name}" if module and name else repr(component)


def derives(component: Any, path: str) -> bool:
    """Whether *component* is a class that derives from the one at *path*, or the path of such a class.

    False for a path in a module that is not imported yet, see `is_imported`.
    """
    kind = _imported(component)
    return isinstance(kind, type) and any(path_of(base) == path for base in kind.__mro__[1:])


def is_imported(component: Any) -> bool:
    """Whether *component* can be looked at. Commands do not import components of a project for it: these may expect
    Scrapy's event loop, which is there only later."""
    return _imported(component) is not None


def _imported(component: Any) -> Any:
    if not isinstance(component, str):
        return component
    module, _, name = component.rpartition(".")
    return getattr(sys.modules.get(module), name, None)


def storing(settings: BaseSettings) -> list[Any]:
    """What stands in ITEM_PIPELINES for MongoDB's pipeline: itself, or what derives from it; none if nothing stores."""
    pipelines = settings.getwithbase("ITEM_PIPELINES")
    used = [key for key, place in pipelines.items() if place is not None]
    return [key for key in used if path_of(key) == MONGODB or derives(key, MONGODB)]
