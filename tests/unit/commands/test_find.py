"""What `scrapy find` prints."""

from __future__ import annotations

from datetime import UTC, datetime

from crawler.commands.find import UrlReport, lines
from crawler.frontier.inspection.finding import UrlPlace
from crawler.frontier.messages import HostState

HOST = HostState("shop.example", 0, 1000, 0, 1, 0, 0, 0, None, 0, 0)
SEEN = datetime(2026, 11, 22, 8, 30, tzinfo=UTC)


def report(*places: UrlPlace, **more: object) -> UrlReport:
    return UrlReport("http://shop.example/", "quotes", places, HOST, **more)  # type: ignore[arg-type]


def test_a_run_is_named_by_its_id_and_a_shared_crawl_by_its_number() -> None:
    owned, shared, first = (UrlPlace("done", "quotes", generation) for generation in ("20261122000004", "7", "0"))
    told = lines(report(owned, shared, first))
    assert [line.rpartition(" in ")[2] for line in told[1:]] == ["run 20261122-4", "crawl 7", "the first crawl"]


def test_items_of_a_page_are_counted() -> None:
    items = {"collection": "items", "documents": 1_200, "version": 2, "first_seen_at": SEEN, "last_seen_at": SEEN}
    assert lines(report(stored=[items]))[1:] == [
        "  stored in items: 1,200 documents, seen from 2026-11-22 08:30 to 2026-11-22 08:30 UTC"
    ]


def test_long_waits_are_told_in_days_and_hours() -> None:
    told = lines(report(UrlPlace("delayed", "quotes", "7", until_ms=93_600_000, why="http_503")))
    assert told[1] == "  delayed for 1 d 2 h (http_503), crawl 7"


def test_a_request_that_was_retried_says_why_it_was_put_back_last() -> None:
    queued, leased = (UrlPlace(state, "quotes", "7", why="w1", nacked="http_503") for state in ("queued", "leased"))
    told = lines(report(queued, leased))
    assert told[1] == "  queued in quotes behind 0 requests of shop.example, last put back: http_503, crawl 7"
    assert told[2] == "  leased by worker w1, last put back: http_503, crawl 7"


def test_a_dead_letter_names_its_last_retry_and_its_error_on_a_line_each() -> None:
    dead = UrlPlace("dead", "quotes", "7", why="deliveries", id="12", nacked="timeout", error="no\nanswer" + "x" * 300)
    told = lines(report(dead))
    assert told[1] == "  dead letter 12: deliveries, last put back: timeout, crawl 7 (`scrapy dead show 12`)"
    assert told[2] == f"    no answer{'x' * 191}"
    assert len(told) == 3


def test_a_reason_is_not_said_twice() -> None:
    told = lines(report(UrlPlace("dead", "quotes", "7", why="http_503", id="12", nacked="http_503")))
    assert told[1:] == ["  dead letter 12: http_503, crawl 7 (`scrapy dead show 12`)"]


def test_spiders_of_which_the_same_is_to_be_said_share_a_block_and_those_that_have_not_seen_it_come_last() -> None:
    seen = UrlReport("http://shop.example/", "quotes", [UrlPlace("done", "quotes", "7")], HOST)
    never = [UrlReport("http://shop.example/", spider, [], HOST) for spider in ("args", "site")]
    assert lines(never[0], seen, never[1]) == [
        "http://shop.example/ (spider quotes)",
        "  done, or dropped on the way, in crawl 7",
        "http://shop.example/ (spiders args, site)",
        "  never seen",
    ]


def test_of_one_that_was_put_back_it_says_where_to_see_what_its_host_answers() -> None:
    pointer = "  `scrapy attempts --host shop.example` shows what shop.example answers"
    delayed, queued = UrlPlace("delayed", "quotes", "7", why="retry"), UrlPlace("queued", "quotes", "7")
    assert pointer in lines(report(delayed))
    assert pointer not in lines(report(queued))
    assert pointer not in lines(report(UrlPlace("delayed", "quotes", "7", why="its run is paused")))
