"""Private parts of Scrapy that rooms below `engine/` need, above all `engine._slot.remove_request`, which is called
last however a request ends.

No set of public signals covers every ending (a callback that raises midway, a 404, a redirect, a refused connection
with an errback, an item that fails ...); this method does. tests/integration/crawl/test_endings.py is its contract
test, and Scrapy is pinned because of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from pydispatch.dispatcher import WEAKREF_TYPES, connections, getAllReceivers, liveReceivers
from pydispatch.dispatcher import Any as AnySender
from scrapy import Request, Spider
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import AsyncCrawlerProcess, Crawler, CrawlerProcessBase

LOOK_SECONDS: Final = 0.02  # between two looks whether a spider is open, or closed, which no signal tells


def engine_of(crawler: Crawler) -> ExecutionEngine | None:
    """The engine, or None if it is not built yet or there is none: the public name raises then."""
    return crawler._engine


def is_heard(crawler: Crawler, signal: Any) -> bool:
    """Whether anybody listens to *signal*: a tenth of the cost of sending it to nobody."""
    for sender in (crawler, AnySender):
        heard = connections.get(id(sender))
        if heard and (heard.get(signal) or heard.get(AnySender)):
            return True
    return False


def receivers_of(sender: Any, signal: Any) -> list[Callable[..., Any]]:
    """Who listens to *signal* of *sender*, each once, at a fraction of the cost of asking pydispatch."""
    heard = [connections.get(id(who)) for who in (sender, AnySender)]
    found = [some for by_signal in heard if by_signal for what in (signal, AnySender) if (some := by_signal.get(what))]
    if len(found) > 1:
        return list(liveReceivers(getAllReceivers(sender, signal)))
    live = [one() if isinstance(one, WEAKREF_TYPES) else one for one in (found[0] if found else ())]
    return [one for one in live if one is not None]


def on_request_end(engine: ExecutionEngine, callback: Callable[[Request], bool]) -> None:
    """Call *callback* with each request that leaves the engine, before the engine may close because of it.

    It returns whether that was the end: `engine.download_async(response.request)` removes a request while its own
    callback still runs; then it stays in.
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


def takes_pages(spider: type[Spider]) -> bool:
    """Whether pages of requests without a callback find one: `parse`, or what CrawlSpider and its like have."""
    return spider.parse is not Spider.parse or spider._parse is not Spider._parse


def is_closing(engine: ExecutionEngine) -> bool:
    """Whether the engine is closing its spider and accepts no more requests."""
    return engine._slot is None or engine._slot.closing is not None


def gives_up(crawler: Crawler | None, seconds: float) -> bool:
    """Whether nobody may wait any longer for what has been away for *seconds*: a worker that is told to end is killed
    soon (FRONTIER_CLOSE_SECONDS)."""
    engine = engine_of(crawler) if crawler is not None else None
    if crawler is None or engine is None or not is_closing(engine):
        return False
    return seconds > crawler.settings.getfloat("FRONTIER_CLOSE_SECONDS")


def is_starting(engine: ExecutionEngine) -> bool:
    """Whether the spider's start requests have not come to their end."""
    return engine._start is not None


def wake(engine: ExecutionEngine) -> None:
    """Make the engine ask for the next request now instead of at its 5 s heartbeat."""
    if engine._slot is not None:
        engine._slot.nextcall.schedule()


def on_second_signal(process: CrawlerProcessBase, callback: Callable[[], None]) -> None:
    """Call *callback*, in the signal handler, when a second SIGINT or SIGTERM asks *process* to end at once."""
    kill = process._signal_kill

    def signal_kill(number: int, frame: Any) -> None:
        callback()
        kill(number, frame)

    process._signal_kill = signal_kill  # type: ignore[assignment,method-assign]


def stop_in_order(process: CrawlerProcessBase, crawler: Crawler) -> None:
    """Let a signal wait that comes while the spider of *crawler* opens, at most FRONTIER_CLOSE_SECONDS, or closes:
    Scrapy ends the event loop under one that is half open or half closed, and closes nothing more."""
    if not isinstance(process, AsyncCrawlerProcess):  # a spider outside the fleet may have another reactor
        return
    stop = process.stop

    async def stop_in_turn() -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(crawler.settings.getfloat("FRONTIER_CLOSE_SECONDS")):
                while crawler.crawling and not (crawler._engine and crawler._engine.running):  # noqa: ASYNC110
                    await asyncio.sleep(LOOK_SECONDS)
        while (engine := crawler._engine) and engine._slot and engine._slot.closing:  # noqa: ASYNC110
            await asyncio.sleep(LOOK_SECONDS)
        await stop()

    process.stop = stop_in_turn  # type: ignore[method-assign]


def know_public_suffixes() -> None:
    """Make Scrapy's cookies use the list that ships with tldextract. Otherwise the first cookie with a domain downloads
    the list, blocks the event loop meanwhile, and logs a traceback without network."""
    from scrapy.downloadermiddlewares import cookies  # with tldextract: see `urls`
    from tldextract import TLDExtract

    cookies._split_domain = TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
