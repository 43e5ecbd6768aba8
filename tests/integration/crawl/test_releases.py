"""An old and a new release side by side: the old one leaves alone what it does not know."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

import pytest
from scrapy import Request
from scrapy.utils.test import get_crawler

from crawler.errors import OtherReleaseError
from crawler.frontier.messages import Lease, Message
from crawler.routing import codec
from crawler.worker.leases.held import HeldLease, HeldSlot
from crawler.worker.leases.requeue import Requeue
from crawler.worker.outbox.lease_endings import Bury, Nack
from tests.crawling import Fleet, count, open_frontier
from tests.integration.crawl.next_release import NextWalkSpider
from tests.integration.crawl.spiders import WalkSpider
from tests.operate.load import UNDER_LOAD, Load, finished, judged
from tests.operate.rolling import replaced
from tests.sites import Page, Site


async def push_next(fleet: Fleet, *urls: str) -> None:
    """Queue *urls* for the callback of the next release."""
    messages = [
        Message(
            host=f"host-{number}",
            stream="walk",
            spider="walk",
            body=codec.encode(Request(url, NextWalkSpider().parse_next), NextWalkSpider),
            fingerprint=number,
        )
        for number, url in enumerate(urls)
    ]
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        await frontier.push(messages)


async def test_workers_are_replaced_one_by_one_by_those_of_the_next_release(fleet: Fleet, mongodb_uri: str) -> None:
    """Under load; nothing is lost, nothing fetched twice, and old ones leave what they do not know to new ones."""
    under_load = UNDER_LOAD | {"MAX_IDLE_TIME_BEFORE_CLOSE": 1}
    with ExitStack() as stack:
        load = Load(stack, hosts=4, pages=31)
        site = stack.enter_context(Site({f"/{number}": Page() for number in range(4)}))
        await push_next(fleet, *map(site.url, site.pages))
        await fleet.push(*load.roots)
        olds = [fleet.start(**under_load) for _ in range(2)]
        await fleet.until(lambda now: now.counters.delayed >= 4 and now.counters.done >= 8)
        assert site.requested == []
        news, _ = await replaced(fleet, olds, under_load)
        _, wrong = await finished(news)
        told = await asyncio.to_thread(judged, fleet, load, mongodb_uri, strict=True)
    assert wrong + told.wrong == []
    assert sorted(site.requested) == sorted(site.pages)
    assert sum(count(old.log, "frontier/nacked_for/unknown_callback") for old in olds) >= 4
    assert all(old.log.count("Left to workers of another release") <= 1 for old in olds)


WAITS = {"RETRY_BASE_SECONDS": 1, "RETRY_CAP_SECONDS": 1}


class Outbox(list[Nack | Bury]):
    end = list.append


@pytest.mark.parametrize("retried", [False, True])
def test_it_is_left_to_others_five_times_in_ten_minutes_before_it_is_a_dead_letter(retried: bool) -> None:
    outbox = Outbox()
    crawler = get_crawler(WalkSpider, WAITS)
    crawler.spider = WalkSpider()
    requeue = Requeue(crawler, outbox)  # type: ignore[arg-type]
    body = codec.encode(Request("http://a.example/p", NextWalkSpider().parse_next), NextWalkSpider)
    for _ in range(12 if retried else 6):
        lease = Lease("0:1", 1, "a.example", "walk", body, 1, "0", 0, 1000, 3, 0)
        with pytest.raises(OtherReleaseError) as told:
            codec.decode(body, WalkSpider())
        requeue.pass_on(HeldLease(lease, 0.0, HeldSlot(0.0)), told.value)
        body = outbox[-1].body or b""
    *waits, letter = outbox[-6:]
    assert all(isinstance(one, Nack) and one.priority == 3 for one in waits)
    assert sum(one.delay_ms for one in waits if isinstance(one, Nack)) >= 600_000
    assert isinstance(letter, Bury)
    assert (letter.detail["url"], letter.detail["callback"]) == ("http://a.example/p", "parse_next")
