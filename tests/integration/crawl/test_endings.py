"""The contract of scrapy_hooks.py: however a request ends, its lease ends exactly once, according to the evidence."""

from __future__ import annotations

import asyncio
import inspect
import re
import uuid
from dataclasses import dataclass
from typing import Any

import pytest
from pymongo import MongoClient

from tests.crawling import FAST, Left, crawl_side_by_side, left
from tests.integration.crawl import endings
from tests.integration.crawl.endings_site import cookie_wall, serve
from tests.servers import environment
from tests.sites import Received, Site
from tests.zygote import Zygote

SPIDERS = [
    each.name
    for _, each in inspect.getmembers(endings, inspect.isclass)
    if issubclass(each, endings.Ending) and each is not endings.Ending
]
SETTINGS = FAST | {
    "SPIDER_MODULES": [endings.HERE],
    "FRONTIER_ENABLED": True,
    "CLOSESPIDER_TIMEOUT": 240,  # a request that never ends fails its own test only
    "FRONTIER_START_WITHIN_SECONDS": 120,  # on a busy machine all these take turns: nothing is given back as too late
    "STORAGE_CONNECT_SECONDS": 60,  # nor does who looks for MongoDB while all others begin give up
}


@dataclass(frozen=True)
class Ended:
    """One crawl, after it."""

    stats: dict[str, Any]
    left: Left
    titles: list[str]  # of the pages stored

    def count(self, name: str) -> int:
        return int(self.stats.get(name, 0))


@pytest.fixture(scope="module")
def ended(
    zygote: Zygote, redis_url: str, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Ended]:
    """Every ending, crawled side by side, each in a frontier and a database of its own."""
    run = f"endings_{uuid.uuid4().hex[:8]}_"
    env = environment(tmp_path_factory.mktemp("services")) | {"REDIS_URL": redis_url, "MONGODB_URI": mongodb_uri}
    with serve() as arguments:
        crawls = {
            name: {
                "spider": name,
                "settings": {"FRONTIER_KEY": run + name, "MONGODB_DATABASE": run + name},
                "arguments": arguments,
            }
            for name in SPIDERS
        }
        stats, log = crawl_side_by_side(zygote, env, SETTINGS, crawls)
    assert "Error while removing request from slot" not in log
    assert log.count("close_spider (enough)") == 2  # a callback, and an errback
    with MongoClient[dict[str, Any]](mongodb_uri) as mongo:
        titles = {name: [page["title"] for page in mongo[run + name]["pages"].find()] for name in SPIDERS}
        for name in SPIDERS:
            mongo.drop_database(run + name)
    return {name: Ended(stats[name], asyncio.run(left(redis_url, run + name, name)), titles[name]) for name in SPIDERS}


ENDS: dict[str, tuple[dict[str, int], list[str]]] = {
    "plain": ({"done": 1}, []),
    "slow_item": ({"done": 1}, []),
    "item_error": ({"dead": 1}, ["item_error"]),
    "item_error_once": ({"done": 1}, []),
    "dropped_item": ({"done": 1}, []),
    "unlogged_item": ({"dead": 1}, ["spider_error"]),
    "raises_midway": ({"done": 1, "dead": 1}, ["spider_error"]),  # done: its child
    "cancelled": ({"done": 1, "dead": 1}, ["spider_error"]),
    "panics": ({"dead": 1}, ["spider_error"]),
    "generator_exit": ({"dead": 1}, ["spider_error"]),
    "cancelled_item": ({"dead": 1}, ["item_error"]),
    "cancelled_download": ({"dead": 1}, ["download_error"]),
    "lone_surrogate": ({"dead": 1}, ["spider_error"]),
    "mute_error": ({"dead": 1}, ["spider_error"]),
    "not_found": ({"done": 1}, []),
    "unavailable": ({"dead": 1}, ["http_503"]),
    "unavailable_taken": ({"done": 1}, []),
    "object_in_meta": ({"dead": 1}, ["http_503"]),
    "object_from_callback": ({"done": 1}, []),
    "object_asked_again": ({"done": 2}, []),  # a page of its own, as any that a callback asks for
    "takes_from_meta": ({"done": 1}, []),
    "object_redirected": ({"done": 2}, []),
    "redirected_to_mail": ({"dead": 1}, ["malformed"]),
    "redirected_too_far": ({"dead": 1}, ["malformed"]),
    "redirected_to_nothing": ({"dead": 1}, ["malformed"]),
    "redirect_taken": ({"done": 1}, []),
    "replaced_by_too_long": ({"dead": 1}, ["malformed"]),
    "replaced_for_ever": ({"dead": 1}, ["malformed"]),
    "redirected": ({"done": 1}, []),
    "cookie_wall": ({"done": 1}, []),
    "redirected_elsewhere": ({"done": 2}, []),
    "redirected_there_and_back": ({"done": 3}, []),
    "refused": ({"dead": 1}, ["download_error"]),
    "refused_with_errback": ({"done": 2}, []),
    "errback_raises": ({"dead": 1}, ["spider_error"]),
    "errback_passes_on": ({"dead": 1}, ["download_error"]),
    "errback_closes": ({"waiting": 1}, []),
    "errback_child_unserialisable": ({"dead": 1}, ["unserialisable_child"]),
    "ignored": ({"done": 1}, []),
    "robots_forbidden": ({"done": 1}, []),
    "robots_allowed": ({"done": 1}, []),
    "timed_out": ({"dead": 1}, ["download_error"]),
    "follow_up": ({"done": 1}, []),
    "same_object": ({"done": 1}, []),
    "answered_by_another": ({"done": 1}, []),
    "unserialisable_child": ({"done": 1, "dead": 1}, ["unserialisable_child"]),
    "unfetchable_links": ({"done": 2}, []),
    "closes": ({"waiting": 1}, []),
    "closes_and_waits": ({"done": 1}, []),
    "downloads_late": ({"done": 1}, []),
    "downloads_again": ({"done": 1}, []),
    "asks_again": ({"done": 3}, []),
}


def settled(states: dict[str, int]) -> dict[str, int]:
    """Waiting is waiting: a delay of milliseconds may be over by the time the worker has ended."""
    waiting = states.get("delayed", 0) + states.get("queued", 0)
    rest = {name: count for name, count in states.items() if name not in {"delayed", "queued"}}
    return rest | ({"waiting": waiting} if waiting else {})


def test_every_ending_has_its_row() -> None:
    assert set(ENDS) == set(SPIDERS)


@pytest.mark.parametrize("name", SPIDERS)
def test_a_request_ends_once(ended: dict[str, Ended], name: str) -> None:
    crawl, (states, reasons) = ended[name], ENDS[name]
    assert crawl.stats["finish_reason"] == ("enough" if "closes" in name else "finished")
    assert (settled(crawl.left.states), crawl.left.reasons) == (states, reasons)
    assert crawl.left.counters.accepted == sum(states.values())
    assert (crawl.left.in_flight, crawl.left.leases) == (0, 0)
    assert crawl.count("frontier/acked") == states.get("done", 0)
    assert crawl.count("frontier/stale_tokens") == 0


def test_a_page_is_not_acknowledged_before_its_items_are_through(ended: dict[str, Ended]) -> None:
    assert ended["slow_item"].stats["test/acked_before_stored"] == 0


def test_an_item_that_always_fails_is_tried_as_often_as_may_be(ended: dict[str, Ended]) -> None:
    crawl = ended["item_error"]
    assert crawl.count("frontier/nacked") == 4
    assert crawl.count("frontier/leased") == 5
    assert crawl.left.letters[0].deliveries == 1  # it killed no worker and is no suspect
    assert crawl.left.letters[0].detail["error"] == "OSError: the disk is full"
    assert ended["item_error_once"].count("item_scraped_count") == 1


def test_what_came_before_a_failure_is_kept(ended: dict[str, Ended]) -> None:
    assert ended["raises_midway"].titles == ["before the failure"] * 2  # of the page, and of the child it yielded
    assert ended["raises_midway"].left.letters[0].detail["error"] == "ValueError: the page is not as expected"


def test_a_lease_follows_a_redirect_within_its_host(ended: dict[str, Ended]) -> None:
    for name in ("redirected", "cookie_wall", "follow_up", "same_object"):
        assert ended[name].count("frontier/leased") == 1
        assert ended[name].count("downloader/response_count") == 2


def test_a_redirect_to_another_host_is_a_child_that_its_chain_does_not_make_a_duplicate(
    ended: dict[str, Ended],
) -> None:
    assert ended["redirected_elsewhere"].count("frontier/leased") == 2
    assert ended["redirected_there_and_back"].count("item_scraped_count") == 1
    assert ended["redirected_there_and_back"].count("frontier/duplicates") == 0


def test_retries_wait_in_the_frontier(ended: dict[str, Ended]) -> None:
    for name in ("unavailable", "refused"):
        assert ended[name].count("frontier/retried") == ended[name].count("frontier/nacked") == 1
        assert ended[name].left.letters[0].detail["attempts"] == 2


def test_a_redirect_that_nobody_can_follow_says_where_to(ended: dict[str, Ended]) -> None:
    for name, target in {"mail": "mailto:shop@", "too_far": "/page?aaa", "nothing": "http://[::1/page"}.items():
        crawl = ended[f"redirected_to_{name}" if name != "too_far" else "redirected_too_far"]
        assert crawl.left.letters[0].detail["class"] == "malformed"
        assert target in crawl.left.letters[0].detail["error"]
        assert crawl.count("downloader/response_count") == 1
    assert ended["redirect_taken"].count("item_scraped_count") == 1


def test_a_failure_status_is_the_page_of_a_callback_that_takes_it(ended: dict[str, Ended]) -> None:
    taken = ended["unavailable_taken"]
    assert (taken.count("frontier/retried"), taken.count("item_scraped_count")) == (1, 1)


def test_an_object_in_meta_costs_no_retry_and_hides_no_reason(ended: dict[str, Ended]) -> None:
    refused = ended["object_in_meta"]
    assert refused.count("frontier/nacked") == refused.count("frontier/restored") == 1
    assert (refused.left.letters[0].detail["attempts"], refused.left.letters[0].detail["status"]) == (2, 503)
    assert ended["object_from_callback"].count("item_scraped_count") == 1
    assert ended["object_redirected"].count("frontier/restored") == 1
    assert ended["object_redirected"].count("item_scraped_count") == 1
    assert ended["object_asked_again"].count("frontier/restored") == 1
    assert ended["object_asked_again"].count("retry/reason_count/empty") == 1
    assert ended["object_asked_again"].count("item_scraped_count") == 1


def test_a_dead_letter_says_what_failed_how_often_and_what_came_last(ended: dict[str, Ended]) -> None:
    unavailable, refused = (ended[name].left.letters[0].detail for name in ("unavailable", "refused"))
    assert (unavailable["class"], unavailable["attempts"], unavailable["status"]) == ("rate_limited", 2, 503)
    assert "<title>" in unavailable["excerpt"]
    assert (refused["class"], refused["attempts"], refused["status"]) == ("host_fault", 2, 0)
    assert refused["error"].startswith("DownloadConnectionRefusedError")
    assert ended["unavailable"].count("failures/rate_limited") == ended["refused"].count("failures/host_fault") == 1


def test_what_is_no_exception_is_named_as_what_ended_the_page(ended: dict[str, Ended]) -> None:
    names = ("cancelled", "panics", "generator_exit", "cancelled_item", "cancelled_download")
    errors = {name: ended[name].left.letters[0].detail["error"] for name in names}
    assert all("was raised, which is no Exception" in str(error) for error in errors.values()), errors
    assert "BaseException(a panic)" in str(errors["panics"])


def test_what_is_missing_for_good_is_kept_apart(ended: dict[str, Ended]) -> None:
    crawl = ended["not_found"]
    assert crawl.count("frontier/gone/http_404") == crawl.count("frontier/acked") == 1
    assert [(letter.reason, letter.detail["status"]) for letter in crawl.left.gone] == [("http_404", 404)]
    assert crawl.left.gone[0].detail["url"].endswith("/missing")


def test_what_is_missing_for_good_is_done_and_counted(ended: dict[str, Ended]) -> None:
    assert ended["not_found"].count("failures/permanent") == 1
    assert ended["not_found"].count("retry/count") == 0


def test_an_errback_that_passes_the_failure_on_is_no_error_of_the_spider(ended: dict[str, Ended]) -> None:
    assert ended["errback_passes_on"].count("spider_exceptions/count") == 0
    assert ended["errback_raises"].count("spider_exceptions/count") == 1


def test_an_errback_is_a_callback_like_others(ended: dict[str, Ended]) -> None:
    crawl = ended["refused_with_errback"]
    assert crawl.count("test/errback") == 1
    assert crawl.count("item_scraped_count") == 2  # its own, and its child's
    assert ended["errback_child_unserialisable"].count("frontier/unserialisable") == 1


def test_robots_txt_holds_no_lease_and_the_page_waits_its_turn(ended: dict[str, Ended]) -> None:
    """In the queue: the page goes back once, when the file is known."""
    assert ended["robots_allowed"].count("frontier/leased") == 2
    assert ended["robots_allowed"].count("frontier/given_back") == 1
    assert ended["robots_allowed"].count("robotstxt/response_count") == 1
    assert ended["robots_allowed"].count("item_scraped_count") == 1
    assert ended["robots_forbidden"].count("robotstxt/forbidden") == 1


def test_a_callback_may_download_its_own_request_again(ended: dict[str, Ended]) -> None:
    crawl = ended["downloads_again"]
    assert crawl.count("downloader/response_count") == 3
    assert (crawl.count("item_scraped_count"), crawl.count("spider_exceptions/count")) == (1, 0)


def test_a_callback_may_yield_its_own_request(ended: dict[str, Ended]) -> None:
    assert ended["asks_again"].count("item_scraped_count") == 3
    assert ended["asks_again"].count("frontier/given_back") == 0


def test_children_that_can_be_stored_are_crawled(ended: dict[str, Ended]) -> None:
    assert ended["unserialisable_child"].count("item_scraped_count") == 1
    assert "is not a method of spider" in ended["unserialisable_child"].left.letters[0].detail["error"]


def test_links_that_nobody_can_follow_are_counted_and_fail_no_page(ended: dict[str, Ended]) -> None:
    assert ended["unfetchable_links"].count("frontier/unfetchable") == 3


def test_what_a_pipeline_asks_for_as_it_closes_is_fetched_and_later_ones_are_refused(ended: dict[str, Ended]) -> None:
    stats = ended["downloads_late"].stats
    assert stats["test/closing"].startswith("<")
    assert re.match(r"EndingError: <GET http.*/late\?closed> is not sent: this worker has left", stats["test/closed"])


def test_a_page_that_closes_the_spider_is_tried_again(ended: dict[str, Ended]) -> None:
    assert ended["closes"].count("item_scraped_count") == 1
    assert ended["closes"].count("frontier/nacked") == 1


def test_a_cookie_wall_looks_at_who_asks_it() -> None:
    """It used to look at the last request of any spider: a third answer to one that needs two."""
    with Site({}) as site:
        wall = cookie_wall(site)
        site.note(Received("GET", "/cookie", {}, "", 1.0))
        assert wall().status == 302
        site.note(Received("GET", "/cookie", {"Cookie": "seen=1"}, "", 2.0))
        site.note(Received("GET", "/page", {}, "", 3.0))
        assert wall().status == 200
