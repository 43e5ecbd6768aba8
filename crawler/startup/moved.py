"""Moved and merged modules that settings may name: these keep working; imports fail and name the new place."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Final

MODULES: Final = {
    "crawler.extensions.collector": "crawler.engine.stats_collector",
    "crawler.frontier.dupefilter": "crawler.worker.dupefilter",
    "crawler.frontier.fingerprint": "crawler.routing.fingerprint",
    "crawler.frontier.queue": "crawler.worker.lease_queue",
    "crawler.frontier.scheduler": "crawler.worker.scheduler",
    "crawler.handlers.downloader": "crawler.engine.downloader",
    "crawler.middlewares.archive": "crawler.middlewares.spider.archive",
    "crawler.middlewares.attempts": "crawler.middlewares.downloader.attempts",
    "crawler.middlewares.blocks": "crawler.middlewares.downloader.blocks",
    "crawler.middlewares.charsets": "crawler.middlewares.downloader.charsets",
    "crawler.middlewares.downloader.costs": "crawler.middlewares.downloader.trial_parse",
    "crawler.middlewares.headers": "crawler.middlewares.downloader.headers",
    "crawler.middlewares.httpauth": "crawler.middlewares.downloader.httpauth",
    "crawler.middlewares.lineage": "crawler.middlewares.spider.lineage",
    "crawler.middlewares.metarefresh": "crawler.middlewares.downloader.metarefresh",
    "crawler.middlewares.provenance": "crawler.middlewares.spider.provenance",
    "crawler.middlewares.proxy": "crawler.middlewares.downloader.proxy",
    "crawler.middlewares.retry": "crawler.middlewares.downloader.retry",
    "crawler.middlewares.robots": "crawler.middlewares.downloader.robots",
    "crawler.middlewares.scraping": "crawler.engine.item_processor",
    "crawler.middlewares.sessions": "crawler.middlewares.downloader.cookies",
    "crawler.middlewares.tiers": "crawler.middlewares.downloader.tiers",
}
CLASSES: Final = {"CostsMiddleware": "TrialParseMiddleware"}  # names that changed with the module
# Components whose work another does now, which their places in settings are not for.
MERGED: Final = {
    "crawler.middlewares.downloader.codings.CodingsMiddleware": (
        "crawler.middlewares.downloader.decompression.DecompressionMiddleware"
    ),
}
_GONE: Final = {old.rpartition(".")[0]: new for old, new in MERGED.items()}  # modules


def renamed(path: str) -> str:
    """The current path of an object; *path* itself if its module has not moved."""
    module, _, name = path.rpartition(".")
    return f"{MODULES[module]}.{CLASSES.get(name, name)}" if module in MODULES else path


class Moved(MetaPathFinder):
    """Names a module's new place instead of a bare "No module named"."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        """None for all other modules; raises ModuleNotFoundError for one that has moved or is gone."""
        if name in MODULES:
            raise ModuleNotFoundError(f"{name} has moved: import {MODULES[name]} instead", name=name)
        if name in _GONE:
            raise ModuleNotFoundError(f"{name} is gone: {_GONE[name]} does its work", name=name)
