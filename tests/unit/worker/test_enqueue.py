"""Whatever a spider yields, queueing it never raises: it is queued, or named with what is wrong with it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy import Request, Spider
from scrapy.http import FormRequest

from crawler import stats as names
from crawler.frontier.messages import Message
from crawler.frontier.server.wire_format import push_row
from crawler.meta import RESERVED
from crawler.routing.encoder import Encoder
from crawler.routing.fingerprint import RequestFingerprinter
from crawler.routing.tier_routing import TierRouting
from crawler.worker.dupefilter import FrontierDupeFilter
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.outbox.lease_endings import Bury
from crawler.worker.scheduler import Scheduler
from tests.effort import EXAMPLES
from tests.shipped import shipped
from tests.unit.frontier.fakes import Stats, held

URL = "http://a.example/p/1"
KEYS = sorted(RESERVED | {"not_before", "download_slot", "country", "proxy_pool", "tier", "min_tier", "session"})


class Hostile:
    """An object whose every access raises."""

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __bool__(self) -> bool:
        raise RuntimeError("no truth either")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("nor the same")


class Contrary(int):
    """An integer, if nobody looks closely."""

    def __lt__(self, other: object) -> bool:
        raise RuntimeError("no")


class Unread(dict[str, int]):
    """A dict that cannot be read."""

    def items(self) -> Any:
        raise RuntimeError("no")

    __iter__ = items


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


SIMPLE = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.dates()
    | st.datetimes()
    | st.decimals()
    | st.sampled_from(["\ud800", "a\nb", "x" * 300, b"\xff", 10**400])
    | st.builds(object)
    | st.sets(st.integers())
    | st.just("hostile").map(lambda _: Hostile())
    | st.just(2_000).map(nested)
    | st.sampled_from([Contrary(5), Unread(a=1)])
)
VALUES = st.recursive(SIMPLE, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2))


class Desk:
    """An open scheduler without servers; `outbox` gets what it queues."""

    def __init__(self) -> None:
        given = shipped()
        spider = Spider("shop")
        encoder = Encoder(spider, given, RequestFingerprinter(), TierRouting(("http",)))
        self.queued: list[Message] = []
        self.ended: list[Any] = []
        self.stats: Any = Stats()
        self.book = LeaseBook()
        self.parent = held()
        outbox = SimpleNamespace(
            push=lambda message, *parent: self.queued.append(message),
            offer=self.queued.append,
            end=self.ended.append,
            give_back=self.ended.append,
        )
        nothing, generation = SimpleNamespace(rules=SimpleNamespace(statement=None)), SimpleNamespace(id="0")
        self.scheduler = Scheduler(None)  # type: ignore[arg-type]
        parts: dict[str, Any] = {"book": self.book, "generation": generation, "outbox": outbox, "frontier": nothing}
        worker: Any = SimpleNamespace(**parts, requeue=None)
        life: Any = SimpleNamespace(worker=worker)
        self.scheduler._life = life
        queue: Any = SimpleNamespace(encoder=encoder)
        self.scheduler.queue = queue
        self.scheduler.df = FrontierDupeFilter(None, "")
        self.scheduler.spider, self.scheduler.stats = spider, self.stats
        self.scheduler._share(worker)

    def yielded(self, request: Request, parent: HeldLease | None) -> bool:
        """*request* comes from a page, or from start()."""
        if parent is not None:
            self.book._parents[request] = parent
        queued = bool(self.scheduler.enqueue_request(request))
        for message in self.queued:
            push_row(message)  # an accepted request must not fail later, when its page is unknown
        return queued


def unusual(field: str, key: str, value: Any) -> Request:
    """A request that a spider may hold, with *value* in one place of it."""
    request = FormRequest(URL) if field == "form" else Request(URL)
    if field in {"meta", "form"}:
        request.meta[key] = value
    elif field in {"cb_kwargs", "cookies"}:
        setattr(request, field, {key: value})
    elif field == "headers":
        request.headers = {b"X-One": [value]}
    else:
        setattr(request, field, value)
    return request


FIELDS = ["meta", "form", "cb_kwargs", "cookies", "headers", "flags", "priority", "dont_filter", "callback", "errback"]


@settings(max_examples=4 * EXAMPLES)
@given(field=st.sampled_from(FIELDS), key=st.sampled_from(KEYS), value=VALUES, from_page=st.booleans())
def test_nothing_that_a_spider_yields_makes_it_raise(field: str, key: str, value: Any, from_page: bool) -> None:
    try:
        request = unusual(field, key, value)
    except Exception:  # noqa: BLE001 - what Scrapy itself does not take is never yielded
        return
    desk = Desk()
    accepted = desk.yielded(request, desk.parent if from_page else None)
    assert accepted == bool(desk.queued)
    if not accepted:
        assert desk.stats.counts[names.UNSERIALISABLE] == 1
        assert len(desk.parent.evidence.child_errors) == from_page


BAD = [
    ("not_before", "soon"),
    ("not_before", None),
    ("not_before", float("nan")),
    ("not_before", float("inf")),
    ("not_before", -1),
    ("not_before", True),
    ("not_before", datetime(2027, 1, 1)),  # noqa: DTZ001 - that is what is wrong
    ("download_slot", 5),
    ("download_slot", ["a"]),
    ("download_slot", "x" * 256),
    ("anything", object()),
    ("anything", {(1, 2): "tuples come back as lists, which cannot be keys"}),
    ("anything", datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))),
]


@pytest.mark.parametrize("from_page", [True, False])
@pytest.mark.parametrize(("key", "value"), BAD)
def test_what_cannot_be_queued_is_named_and_what_follows_it_is_queued(
    key: str, value: Any, from_page: bool, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Desk()
    parent = desk.parent if from_page else None
    with caplog.at_level(logging.ERROR):
        assert not desk.yielded(Request(URL, meta={key: value}), parent)
    assert desk.yielded(Request("http://a.example/p/2"), parent)
    (said,) = caplog.messages
    assert f"meta['{key}']" in said
    assert repr(value)[:20] in said
    assert URL in said
    lost = {} if from_page else {names.START_LOST: 1}  # then the exit status is 1
    assert desk.stats.counts == {names.UNSERIALISABLE: 1, **lost}
    assert desk.parent.evidence.child_errors == ([said] if from_page else [])


def test_a_moment_may_be_a_number_or_a_datetime_with_a_zone() -> None:
    moment = datetime(2027, 1, 1, tzinfo=UTC)
    desk = Desk()
    for value in (moment, moment.timestamp(), int(moment.timestamp())):
        assert desk.yielded(Request(URL, meta={"not_before": value}), None)
    assert {message.not_before_ms for message in desk.queued} == {1_798_761_600_000}


@pytest.mark.parametrize("from_page", [True, False])
@pytest.mark.parametrize("field", [*FIELDS, "not_before"])
@pytest.mark.parametrize("value", [Contrary(5), Unread(a=1)], ids=["integer", "dict"])
def test_a_subclass_of_plain_values_that_cannot_be_used_ends_no_worker(field: str, value: Any, from_page: bool) -> None:
    desk = Desk()
    key = field if field == "not_before" else "anything"
    with suppress(Exception):  # what Scrapy itself does not take is never yielded
        desk.yielded(
            unusual("meta" if field == "not_before" else field, key, value), desk.parent if from_page else None
        )
    for message in desk.queued:
        push_row(message)
    assert desk.yielded(Request("http://a.example/p/2"), None)


@pytest.mark.parametrize("meta", [{"redirect_urls": 5}, {"retry_times": "x"}, {"download_slot": [5]}])
def test_a_follow_up_that_cannot_be_queued_becomes_a_dead_letter_of_its_page(meta: dict[str, Any]) -> None:
    desk = Desk()
    source, follow_up = Request(URL), Request("http://b.example/", meta=meta)
    desk.book.hold(source, desk.parent)
    desk.book.follow(source, follow_up)
    assert not desk.scheduler.enqueue_request(follow_up)
    (ended,) = desk.ended
    assert isinstance(ended, Bury)
    assert (ended.reason, ended.detail["url"]) == ("unserialisable", "http://b.example/")
    assert desk.book.of(source) is None


def test_a_fingerprinter_that_fails_fails_one_request() -> None:
    desk = Desk()
    desk.scheduler.queue.encoder._fingerprinter = SimpleNamespace(fingerprint=lambda request: 1 / 0)
    assert not desk.yielded(Request(URL), desk.parent)
    assert "ZeroDivisionError" in desk.parent.evidence.child_errors[0]


async def test_a_request_that_comes_after_the_worker_has_closed_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    """As from a handler of spider_closed: nobody would send it, and nothing lead to it again."""
    desk = Desk()

    async def close() -> None:
        """Until here it is sent."""
        assert desk.yielded(Request(URL), None)

    cast("Any", desk.scheduler._life).close = close
    await desk.scheduler.close("finished").asFuture(asyncio.get_running_loop())
    with caplog.at_level(logging.ERROR):
        assert not desk.yielded(Request("http://a.example/p/2"), None)
    (said,) = caplog.messages
    assert said == "<GET http://a.example/p/2> is lost: this worker has closed"
    assert (len(desk.queued), desk.stats.counts) == (1, {names.START_LOST: 1})
