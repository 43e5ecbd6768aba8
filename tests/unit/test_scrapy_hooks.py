"""Who listens to a signal, as PyDispatcher would find them."""

from __future__ import annotations

import asyncio
from signal import SIG_IGN, SIGINT
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pydispatch import dispatcher
from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler, CrawlerProcess
from scrapy.utils.test import get_crawler

from crawler.scrapy_hooks import is_heard, on_second_signal, stop_in_order

SIGNAL = signals.bytes_received


def listen(**_: Any) -> None:
    """A receiver."""


def heard(crawler: Crawler) -> tuple[bool, bool]:
    """Whether *crawler*'s signal is heard, and whether PyDispatcher knows a receiver."""
    return is_heard(crawler, SIGNAL), any(dispatcher.getAllReceivers(crawler, SIGNAL))


def test_a_signal_is_heard_as_long_as_somebody_listens() -> None:
    crawler, other = get_crawler(), get_crawler()
    assert heard(crawler) == (False, False)
    for sender in (crawler, dispatcher.Any):
        for signal in (SIGNAL, dispatcher.Any):
            dispatcher.connect(listen, signal, sender)
            assert heard(crawler) == (True, True)
            assert heard(other)[0] is (sender is dispatcher.Any)
            dispatcher.disconnect(listen, signal, sender)
            assert heard(crawler) == (False, False)


def test_a_receiver_that_is_gone_is_not_heard() -> None:
    crawler = get_crawler()

    class Listener:
        def listen(self) -> None:
            """A receiver, held weakly."""

    listener = Listener()
    crawler.signals.connect(listener.listen, SIGNAL)
    assert heard(crawler) == (True, True)
    del listener
    assert heard(crawler) == (False, False)


@pytest.mark.parametrize("kind", [AsyncCrawlerProcess, CrawlerProcess])
def test_the_second_signal_is_told_before_scrapy_forces_the_end(
    kind: type[CrawlerProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Reactor:
        def callFromThread(self, call: Any, *_: Any) -> None:  # Twisted's name
            told.append(getattr(call, "__name__", call))

    told: list[Any] = []
    handlers: list[Any] = []
    monkeypatch.setattr("twisted.internet.reactor", Reactor(), raising=False)
    monkeypatch.setattr("scrapy.crawler.install_shutdown_handlers", handlers.append)
    process = kind.__new__(kind)  # building one would configure logging
    on_second_signal(process, lambda: told.append("forced"))
    process._signal_shutdown(SIGINT, None)
    assert "forced" not in told
    cast("Any", handlers.pop())(SIGINT, None)
    assert told[-3:] == ["forced", "_log_kill", "_stop_reactor"]
    assert handlers == [SIG_IGN]


@pytest.mark.parametrize(("opens_in", "within", "told"), [(0.05, 20, ["open", "stop"]), (20, 0.05, ["stop"])])
async def test_a_signal_while_a_spider_opens_stops_it_once_it_is_open(
    opens_in: float, within: float, told: list[str]
) -> None:
    """Scrapy would close nothing of it."""
    seen: list[str] = []

    class Process(AsyncCrawlerProcess):
        async def stop(self) -> None:
            seen.append("stop")

    async def open_spider() -> None:
        await asyncio.sleep(opens_in)
        seen.append("open")
        engine.running = True

    crawler = get_crawler(settings_dict={"FRONTIER_CLOSE_SECONDS": within})
    crawler.crawling, crawler._engine = True, cast("Any", engine := SimpleNamespace(running=False, _slot=None))
    process = Process.__new__(Process)  # building one would configure logging
    stop_in_order(process, crawler)
    opening = asyncio.create_task(open_spider())
    await process.stop()
    opening.cancel()
    assert seen == told
