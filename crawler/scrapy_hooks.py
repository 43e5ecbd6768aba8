"""Private parts of Scrapy that rooms below `engine/` need, above all `engine._slot.remove_request`, called last however
a request ends.

No set of public signals covers every ending (a callback that raises midway, a 404, a redirect, a refused
connection with an errback, an item that fails ...); this method does. tests/integration/crawl/test_endings.py
holds the contract, and Scrapy is pinned because of it.
"""

from __future__ import annotations

from collections.abc import Callable

from scrapy import Request
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares import cookies
from tldextract import TLDExtract


def engine_of(crawler: Crawler) -> ExecutionEngine | None:
    """The engine, or None before it is built and where there is none: the public name raises then."""
    return crawler._engine


def on_request_end(engine: ExecutionEngine, callback: Callable[[Request], bool]) -> None:
    """Call *callback* with each request that leaves the engine, before the engine may close over it.

    It answers whether that was the end: `engine.download_async(response.request)` takes a request out while its own
    callback still runs, and it then stays in.
    """
    slot = engine._slot
    if slot is None:
        raise RuntimeError("the engine has no open spider: call this from Scheduler.open()")
    remove = slot.remove_request

    def remove_request(request: Request) -> None:
        ended = True
        try:
            ended = callback(request)
        finally:
            if ended:
                remove(request)

    slot.remove_request = remove_request  # type: ignore[method-assign]


def is_closing(engine: ExecutionEngine) -> bool:
    """Whether the engine has begun to close its spider, and so takes no further request."""
    return engine._slot is None or engine._slot.closing is not None


def is_starting(engine: ExecutionEngine) -> bool:
    """Whether the spider's start requests have not come to their end."""
    return engine._start is not None


def wake(engine: ExecutionEngine) -> None:
    """Make the engine ask for the next request now and not at its 5 s heartbeat."""
    if engine._slot is not None:
        engine._slot.nextcall.schedule()


def know_public_suffixes() -> None:
    """Scrapy's cookies know them from the list that ships with tldextract. Theirs ask the network at the first cookie
    that names a domain, hold up the event loop meanwhile, and log a traceback without one."""
    cookies._split_domain = TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
