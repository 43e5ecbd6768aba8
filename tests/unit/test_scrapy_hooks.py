"""Who listens to a signal, as PyDispatcher would find them."""

from __future__ import annotations

from typing import Any

from pydispatch import dispatcher
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.test import get_crawler

from crawler.scrapy_hooks import is_heard

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
