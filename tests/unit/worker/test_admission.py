"""Whatever stands in Redis in place of a request: its lease ends, and the worker goes on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy import Spider
from scrapy.http import Response

from crawler.frontier.state.statement import Statement
from crawler.routing.fingerprint import RequestFingerprinter
from crawler.worker.admission import Admission
from crawler.worker.lease_queue import FrontierQueue
from crawler.worker.leases.held import HeldLease, HeldSlot
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.outbox.lease_endings import Bury
from tests.effort import EXAMPLES
from tests.shipped import shipped
from tests.unit.frontier.fakes import lease

URL = "http://a.example/p/1"
META = ("download_slot", "min_tier", "tier", "bindaddress", "cookiejar", "playwright_page_methods", "redirect_urls")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text() | st.integers(0, 9), inner, max_size=2),
    max_leaves=4,
)
URLS = st.sampled_from([URL, "http://[", "http://[::1", "//a", "ftp://a/", "http://", "http://a:b/", "mailto:a"])
PARTS = st.fixed_dictionaries(
    {"u": URLS | VALUES},
    optional=dict.fromkeys("mthbpnefrckgixy", VALUES)
    | {"d": st.dictionaries(st.sampled_from(META), VALUES, max_size=2) | VALUES},
)


class Shop(Spider):
    name = "s"

    def parse(self, response: Response) -> None:
        """Nothing."""


class Gate:
    """Admits leases; what ends without a fetch is in `ended`."""

    def __init__(self) -> None:
        spider = Shop()
        self.ended: list[Any] = []
        self.book = LeaseBook()
        spider.crawler = SimpleNamespace(request_fingerprinter=RequestFingerprinter(), settings=shipped())  # type: ignore[assignment]
        outbox: Any = SimpleNamespace(end=self.ended.append, give_back=self.ended.append)
        requeue: Any = SimpleNamespace(pass_on=lambda held, error: self.ended.append(error))
        queue = FrontierQueue(None, spider, "s")  # type: ignore[arg-type]
        self.admission = Admission(queue, self.book, outbox, requeue, Statement("w", *queue.encoder.rules.by_name()))

    def admit(self, body: bytes) -> HeldLease | None:
        """What is held now."""
        held = HeldLease(lease()._replace(body=body), 0, HeldSlot(float("inf")))
        return self.book.of(self.admission.admit(held))


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"u": "http://["}, "not a URL"),
        ({"u": URL, "d": {"download_slot": [1]}}, "meta['download_slot'] = [1] is invalid"),
    ],
)
def test_a_request_that_belongs_to_no_host_is_a_dead_letter(state: dict[str, Any], words: str) -> None:
    gate = Gate()
    assert gate.admit(msgpack.packb(state)) is None
    (ending,) = gate.ended
    assert isinstance(ending, Bury)
    assert ending.reason == "undecodable"
    assert words in str(ending.detail["error"])
    assert gate.admit(msgpack.packb({"u": URL})) is not None


@settings(max_examples=4 * EXAMPLES)
@given(body=PARTS.map(msgpack.packb) | st.binary())
def test_every_lease_is_held_or_ended(body: bytes) -> None:
    gate = Gate()
    held = gate.admit(body)
    assert len(gate.ended) == (held is None)
