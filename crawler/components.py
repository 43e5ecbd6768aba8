"""What the add-on puts into Scrapy's settings: every component of ours by its path, and the place it has there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MONGODB: Final = "crawler.pipelines.mongodb.MongoPipeline"

# One value each; Scrapy's and scrapy-redis' own are replaced.
SCALARS: Final = {
    "SCHEDULER": "crawler.frontier.scheduler.Scheduler",
    "SCHEDULER_QUEUE_CLASS": "crawler.frontier.queue.FrontierQueue",
    "DUPEFILTER_CLASS": "crawler.frontier.dupefilter.FrontierDupeFilter",
    "DOWNLOADER": "crawler.handlers.downloader.Downloader",
    "ITEM_PROCESSOR": "crawler.middlewares.scraping.ItemProcessor",
}
DOWNLOADER_MIDDLEWARES: Final = {
    "crawler.middlewares.robots.RobotsTxtMiddleware": 100,
    "crawler.middlewares.conditional.ConditionalMiddleware": 150,  # this far out: all others see the 304 first
    "crawler.middlewares.headers.HeadersMiddleware": 460,  # after the default headers, before USER_AGENT
    "crawler.middlewares.retry.RetryMiddleware": 550,
    "crawler.middlewares.tiers.TiersMiddleware": 570,  # a page that steps up is not retried where it failed
    "crawler.middlewares.metarefresh.MetaRefreshMiddleware": 580,
    "crawler.middlewares.blocks.BlocksMiddleware": 585,  # right after decompression
    "crawler.middlewares.sessions.SessionsMiddleware": 700,
    "crawler.middlewares.httpauth.HttpAuthMiddleware": 710,  # nearer to the wire than what retries or redirects
    "crawler.middlewares.proxy.ProxyMiddleware": 750,
    "crawler.middlewares.traffic.DownloaderStats": 850,
    "crawler.middlewares.attempts.AttemptsMiddleware": 880,  # nearest to the wire
}
SPIDER_MIDDLEWARES: Final = {
    "crawler.extensions.logs.RequestIdMiddleware": 5,  # first: what the others log carries the id
    "crawler.middlewares.lineage.LineageMiddleware": 10,  # nearest to the engine: sees what the others let through
    "crawler.middlewares.archive.ArchiveMiddleware": 15,  # sees what others made of an exception
    "crawler.middlewares.provenance.ProvenanceMiddleware": 20,
    "crawler.middlewares.known.KnownMiddleware": 940,  # what it drops need not be looked at by the others
    "crawler.middlewares.remembering.RememberMiddleware": 950,  # nearest to the spider: sees all that it yields
}
EXTENSIONS: Final = {
    "crawler.extensions.metrics.MetricsExtension": 0,
    "crawler.extensions.idle.IdleExtension": 0,
    "crawler.extensions.garbage.GarbageExtension": 0,
}
# Ours do what these of Scrapy's do; where a project switches Scrapy's off, ours stay out too.
STANDS_FOR: Final[Mapping[str, str]] = {
    "crawler.middlewares.robots.RobotsTxtMiddleware": "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware",
    "crawler.middlewares.retry.RetryMiddleware": "scrapy.downloadermiddlewares.retry.RetryMiddleware",
    "crawler.middlewares.metarefresh.MetaRefreshMiddleware": (
        "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware"
    ),
    "crawler.middlewares.sessions.SessionsMiddleware": "scrapy.downloadermiddlewares.cookies.CookiesMiddleware",
    "crawler.middlewares.httpauth.HttpAuthMiddleware": "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware",
    "crawler.middlewares.proxy.ProxyMiddleware": "scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware",
    "crawler.middlewares.traffic.DownloaderStats": "scrapy.downloadermiddlewares.stats.DownloaderStats",
}
# Without these pages end wrongly, or what they yield is lost.
REQUIRED: Final = frozenset(
    {
        "crawler.middlewares.lineage.LineageMiddleware",
        "crawler.middlewares.provenance.ProvenanceMiddleware",
        "crawler.extensions.idle.IdleExtension",
        MONGODB,
    }
)
# They read or write MongoDB: out where SHOAL_STORE is False.
STORING: Final = frozenset(
    {
        "crawler.middlewares.conditional.ConditionalMiddleware",
        "crawler.middlewares.remembering.RememberMiddleware",
        "crawler.middlewares.attempts.AttemptsMiddleware",
        "crawler.middlewares.archive.ArchiveMiddleware",
    }
)
# Only http and https are fetched: no local files, no other protocols, unless the project says otherwise.
DOWNLOAD_HANDLERS: Final = {
    "http": "crawler.handlers.http.HttpDownloadHandler",
    "https": "crawler.handlers.http.HttpDownloadHandler",
    "file": None,
    "data": None,
    "ftp": None,
    "s3": None,
}
BROWSER_WISH: Final = "scrapy_playwright."  # a handler of that package asks for the browser tier
