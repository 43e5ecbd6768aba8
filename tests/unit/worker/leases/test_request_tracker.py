"""What ends a lease when a request leaves the engine: every lease ends, whatever a spider or a component has set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.test import get_crawler

from crawler.errors import CodecError
from crawler.policy.endings.failures import FailureClass
from crawler.routing import codec
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.leases.request_tracker import RequestTracker
from crawler.worker.leases.requeue import Requeue
from crawler.worker.outbox.lease_endings import Bury, Ending, Gone, Nack, Unsent
from tests.unit.frontier.fakes import held

URL = "http://a.example/page"
WAITS = {"RETRY_BASE_SECONDS": 1, "RETRY_CAP_SECONDS": 1}


@dataclass
class Outbox:
    endings: list[Ending] = field(default_factory=list)

    def end(self, ending: Ending) -> None:
        self.endings.append(ending)


class Life:
    """One request that leaves the engine."""

    def __init__(self, lease: HeldLease | None = None, **meta: Any) -> None:
        crawler = get_crawler(Spider, WAITS)
        crawler.spider = crawler._create_spider("s")
        self.book, self.outbox, self.held = LeaseBook(), Outbox(), lease or held()
        self.requeue = Requeue(crawler, self.outbox)  # type: ignore[arg-type]
        self.tracker = RequestTracker(crawler, self.book, self.outbox, self.requeue, 3)  # type: ignore[arg-type]
        self.request = Request(URL, meta=meta)
        if lease is None:
            self.held.lease = self.held.lease._replace(body=codec.encode(Request(URL), crawler.spider))
        self.book.hold(self.request, self.held)

    def end(self) -> Ending:
        assert self.tracker.ended(self.request)
        [ending] = self.outbox.endings
        return ending


@pytest.mark.parametrize("times", [None, "2", [], {}, b"1"])
def test_a_page_that_is_gone_ends_whatever_its_spider_counts_with(times: Any) -> None:
    life = Life(retry_times=times)
    seen = life.held.evidence
    seen.status, seen.parsed, seen.failure = 404, True, FailureClass.PERMANENT
    ending = life.end()
    assert isinstance(ending, Gone)
    assert (ending.reason, ending.detail["attempts"]) == ("http_404", 1)


def test_an_end_that_cannot_be_told_is_a_dead_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise CodecError("not a queued request")

    life = Life()
    monkeypatch.setattr(life.requeue, "again", fail)
    ending = life.end()
    assert isinstance(ending, Bury)
    assert (ending.reason, ending.detail["error"]) == ("unknown_end", "CodecError: not a queued request")


def test_a_page_that_a_callback_had_is_tried_where_redirects_led_with_its_own_meta() -> None:
    spider = Spider("s")
    lease = held()
    login = Request("http://a.example/login", method="POST", body=b"a=1", meta={"item": "lamp"})
    lease.lease = lease.lease._replace(body=codec.encode(login, spider))
    lease.handed_at = 1.0
    life = Life(lease, retry_times=1, redirect_urls=["http://a.example/login"])  # the callback has taken its item
    life.requeue.again(life.request, lease, "item_error", 0)
    [ending] = life.outbox.endings
    assert isinstance(ending, Nack)
    assert ending.body is not None
    again = codec.decode(ending.body, spider)
    assert (again.method, again.url, again.body) == ("GET", URL, b"")
    assert again.meta == {"item": "lamp", "retry_times": 1, "redirect_urls": ["http://a.example/login"]}


@pytest.mark.parametrize("priority", [1.5, float("inf"), None])
def test_a_priority_that_is_no_integer_stays_what_it_was(priority: Any) -> None:
    lease = held()
    queued = codec.encode(Request(URL, priority=7), Spider("s"))
    lease.lease = lease.lease._replace(body=queued, priority=7)
    life = Life(lease)
    life.request.priority = priority
    ending = life.end()
    assert isinstance(ending, Nack)
    assert (ending.priority, ending.body) == (7, codec.restored(queued, life.request))


class MuteError(Exception):
    """Cannot be shown."""

    def __str__(self) -> str:
        raise ValueError("no text")


class MuteRefusal(MuteError, IgnoreRequest):
    """The same of a middleware that refuses a request."""


@pytest.mark.parametrize(("error", "kind"), [(MuteError(), Bury), (MuteRefusal(), Unsent)])
def test_an_error_without_a_text_ends_a_download_like_any_other(error: Exception, kind: type[Ending]) -> None:
    life = Life()
    life.tracker.began(life.request)
    life.tracker.failed(life.request, error)
    assert isinstance(life.end(), kind)


@pytest.mark.parametrize(
    ("words", "ending"), [("max redirections reached", "download_error"), ("no thank you", "ignored")]
)
def test_redirects_without_end_are_no_refusal_of_a_middleware(words: str, ending: str) -> None:
    """Scrapy raises the same error for both: the one is a dead letter, the other done."""
    life = Life()
    life.tracker.began(life.request)
    life.tracker.failed(life.request, IgnoreRequest(words))
    ended = life.end()
    assert (ended.reason if isinstance(ended, Bury) else "ignored") == ending
