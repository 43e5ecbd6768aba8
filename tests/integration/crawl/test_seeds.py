"""Start URLs in Redis, as scrapy-redis documents them, but leased: LPUSH, SADD or ZADD, then a crawl."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis

from crawler.meta import RESERVED
from tests.crawling import FAST, SHORT_LEASE, Fleet, Left, count, crawl_side_by_side, ended, left
from tests.servers import environment
from tests.sites import Page, Received, Site
from tests.zygote import Zygote

BAD = [
    b"ftp://example.com/",
    b"not a url",
    b"{broken",
    b"[1, 2]",
    b'{"query": "no url"}',
    b'{"url": 7}',
    b'{"url": "http://example.com/", "meta": "text"}',
    b"\xff\xfe",
    b"http://" + "ü".encode() * 70 + b".example/",
    b"http://example.com/" + b"x" * 5000,
    b"trap",
]
PATHS = ["/plain", "/json?q=caf%C3%A9&tags=a&tags=b", "/form", "/meta", "/two", "/one", "/another", "/low", "/high"]
SETTINGS = FAST | {
    "SPIDER_MODULES": ["tests.integration.crawl.spiders"],
    "FRONTIER_ENABLED": True,
    "CLOSESPIDER_TIMEOUT": 240,
}
KINDS: dict[str, dict[str, Any]] = {
    "list": {},
    "set": {"REDIS_START_URLS_AS_SET": True},
    "zset": {"REDIS_START_URLS_AS_ZSET": True, "CONCURRENT_REQUESTS": 1},
    "other": {"REDIS_START_URLS_AS_SET": True},  # the key holds a list
}


@dataclass(frozen=True)
class Crawled:
    """What one crawl of start URLs came to."""

    stats: Mapping[str, Any]
    left: Left
    received: list[Received]
    items: list[dict[str, Any]]
    keys_left: int


@pytest.fixture(scope="module")
def crawled(zygote: Zygote, redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Crawled]:
    """One crawl for each kind of key, side by side."""
    run = f"seeds-{uuid.uuid4().hex}-"
    directory = tmp_path_factory.mktemp("seeds")
    with Site({path: Page() for path in PATHS}) as site, redis.Redis.from_url(redis_url) as client:
        client.lpush(run + "list", *entries(site), *BAD)
        client.sadd(run + "set", site.url("/one"), json.dumps({"url": site.url("/another"), "meta": {"category": "a"}}))
        client.zadd(run + "zset", {site.url("/low"): 1, site.url("/high"): 2})
        client.lpush(run + "other", site.url("/plain"))
        crawls = {kind: crawl(run + kind, directory / kind, settings) for kind, settings in KINDS.items()}
        env = environment(directory) | {"REDIS_URL": redis_url}
        stats, log = crawl_side_by_side(zygote, env, SETTINGS, crawls)
        assert f"expected the type of key {run}other, a list: both False" in log
        return {
            kind: Crawled(
                stats[kind],
                asyncio.run(left(redis_url, run + kind, "echo")),
                site.received,
                [json.loads(line) for line in (directory / kind).read_text().splitlines()],
                client.exists(run + kind, f"{{{run}{kind}}}:leases"),
            )
            for kind in KINDS
        }


def entries(site: Site) -> list[str]:
    """Good ones, one of each sort."""
    return [
        site.url("/plain"),
        f"  {site.url('/plain')}\n",  # not deduplicated
        json.dumps({"url": site.url("/json"), "q": "café", "tags": ["a", "b"]}),
        json.dumps({"url": site.url("/form"), "method": "post", "name": "x y", "number": 3}),
        json.dumps({"url": site.url("/meta"), "meta": {"category": "tools", "proxy": "http://evil", "retry_times": 9}}),
        f"twice {site.url('/two')}",  # the spider makes two requests of it
    ]


def crawl(key: str, items: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """One crawl of the plan: items go to a file."""
    own = {"FRONTIER_KEY": key, "REDIS_START_URLS_KEY": key, "FEEDS": {str(items): {"format": "jsonlines"}}}
    return {"spider": "echo", "settings": own | settings, "arguments": {}}


def test_every_good_entry_is_crawled_and_leaves_its_key(crawled: dict[str, Crawled]) -> None:
    for kind, done in {"list": 7, "set": 2, "zset": 2}.items():
        assert crawled[kind].stats["finish_reason"] == "finished"
        assert crawled[kind].left.counters.done == done
        assert crawled[kind].left.counters.accepted == done + len(crawled[kind].left.letters)
        assert len(crawled[kind].items) == done
        assert crawled[kind].keys_left == 0
    assert crawled["list"].stats["frontier/seeds"] == 6 + len(BAD)
    assert crawled["set"].stats["frontier/seeds"] == crawled["zset"].stats["frontier/seeds"] == 2


def test_entries_are_not_deduplicated(crawled: dict[str, Crawled]) -> None:
    paths = [request.path for request in crawled["list"].received]
    assert (paths.count("/plain"), paths.count("/two")) == (2, 2)
    assert crawled["list"].left.counters.duplicates == 0


def test_unknown_keys_are_form_data(crawled: dict[str, Crawled]) -> None:
    received = {request.path: request for request in crawled["list"].received}
    assert received["/json?q=caf%C3%A9&tags=a&tags=b"].method == "GET"
    assert (received["/form"].method, received["/form"].body) == ("POST", "name=x+y&number=3")
    assert received["/form"].headers["Content-Type"] == "application/x-www-form-urlencoded"


def test_meta_passes_without_the_keys_that_steer_the_crawler(crawled: dict[str, Crawled]) -> None:
    meta = next(item["meta"] for item in crawled["list"].items if item["url"].endswith("/meta"))
    assert meta["category"] == "tools"
    assert {"proxy", "retry_times"} <= RESERVED
    assert not {"proxy", "retry_times"} & meta.keys()


def test_bad_entries_become_dead_letters_with_their_reason(crawled: dict[str, Crawled]) -> None:
    letters = {letter.body: letter for letter in crawled["list"].left.letters}
    assert set(letters) == set(BAD)
    assert {letter.reason for letter in letters.values()} == {"bad_seed"}
    assert all(letter.detail["error"] for letter in letters.values())
    assert "unknown scheme 'ftp': expected http or https" in letters[b"ftp://example.com/"].detail["error"]
    assert crawled["list"].stats["frontier/seeds_bad"] == len(BAD)


def test_a_zset_gives_its_highest_score_first(crawled: dict[str, Crawled]) -> None:
    paths = [request.path for request in crawled["zset"].received]
    assert paths.index("/high") < paths.index("/low")


def test_a_key_of_another_type_ends_the_worker_and_keeps_its_entries(crawled: dict[str, Crawled]) -> None:
    assert crawled["other"].stats["finish_reason"] == "frontier_error"
    assert crawled["other"].left.counters.accepted == 0
    assert crawled["other"].keys_left == 1


async def test_killed_worker_loses_no_start_url(fleet: Fleet) -> None:
    hold = threading.Event()
    pages = {f"/{number}": Page(hold=hold) for number in range(200)}
    with Site(pages) as site, redis.Redis.from_url(fleet.redis_url) as client:
        key = f"{fleet.key}:start"
        quick = SHORT_LEASE | {
            "REDIS_START_URLS_KEY": key,
            "SHOAL_STORE": False,
            "CONCURRENT_REQUESTS": 32,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
        }
        worker = fleet.start(**quick | {"MAX_IDLE_TIME_BEFORE_CLOSE": 60})  # nothing is there yet
        await fleet.workers(1)
        client.lpush(key, *map(site.url, site.pages))
        await site.asked(1)
        worker.send_signal(signal.SIGKILL)
        hold.set()
        status, log = await ended(fleet.start(**quick))
        left = await fleet.left()
        assert client.exists(key, f"{{{key}}}:leases") == 0
    assert status == 0
    assert set(site.requested) == set(pages)
    assert left.states == {"done": left.counters.accepted}
    assert 200 <= left.counters.accepted <= 200 + 64  # a batch that was stored and is still in its key comes twice
    assert count(log, "frontier/acked") > 0
