"""What bypasses the queue: media, a spider's own downloads, robots.txt, redirects to another host. All of it takes its
turn at its host, on the wire; and no other host waits for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.crawling import Fleet, count, ended, open_frontier
from tests.sites import LATE, TICK, Page, Site

DELAY = 0.3
THERE = "127.0.4.2"


async def test_a_burst_on_the_wire_is_no_longer_than_allowed(fleet: Fleet) -> None:
    with Site({f"/{number}": Page() for number in range(6)}) as site:
        await fleet.push(*map(site.url, site.pages), cap=8, delay_ms=3_000, burst=4)
        workers = [fleet.start(DOWNLOAD_DELAY=3, POLITENESS_BURST=4) for _ in range(2)]
        assert [(await ended(worker))[0] for worker in workers] == [0, 0]
        times = [request.at for request in site.received]
    assert len(times) == 6
    assert times[3] - times[0] < 9 - LATE, "four without waiting: they would take 9 s"
    for first in range(6):
        for last in range(first + 4, 6):  # one more than the burst takes one delay, and so on
            assert times[last] - times[first] >= (last - first - 3) * 3 - LATE, times


async def test_everything_takes_its_turn_and_no_other_host_waits(fleet: Fleet, tmp_path: Path) -> None:
    asked = {f"/{kind}{number}": Page() for kind in ("file", "asked", "target") for number in range(3)}
    asked["/asked1"] = Page("slower", 429, {"Retry-After": "1"})
    with (
        Site(asked | {"/robots.txt": Page("User-agent: *\nDisallow:\n")}, THERE) as there,
        Site({f"/{number}": Page() for number in range(60)}, "127.0.4.3") as other,
        Site({}, "127.0.4.1") as here,
    ):
        to_there = {f"/r{number}": Page("", 302, {"Location": there.url(f"/target{number}")}) for number in range(3)}
        here.pages |= {"/front": Page()} | to_there
        await fleet.push(*map(here.url, ["/front", *to_there]), *map(other.url, other.pages), spider="beside")
        settings: dict[str, Any] = {
            "ROBOTSTXT_OBEY": True,
            "DOWNLOAD_SLOTS": {THERE: {"delay": DELAY, "concurrency": 1}},
            "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
            "SHOAL_STORE": False,
            "FILES_STORE": str(tmp_path),
        }
        options = fleet.options(**settings)
        status, log = await ended(fleet.runner.fork("crawl", "beside", "-a", f"there={there.url('')}", *options))
        left = await fleet.left("beside")
        async with open_frontier(fleet.redis_url, fleet.key) as frontier:
            state = await frontier.inspection._host(0, THERE, 0, 0)
    assert status == 0, log
    assert sorted(there.requested) == sorted([*asked, "/robots.txt"])
    assert min(there.gaps) >= DELAY - LATE, there.gaps
    slowed = there.requested.index("/asked1")
    if slowed + 1 < len(there.received):
        waited = there.received[slowed + 1].at - there.received[slowed].at
        assert waited >= 1 - TICK, "it is the host that is slowed down"
    assert state.success is not None
    assert 0.5 < state.success < 1, "each answer is reported"
    before = [request for request in other.received if request.at < there.received[-2].at]
    assert len(before) > len(other.pages) / 2, "they went on meanwhile; behind it there would be one or two a turn"
    assert count(log, "file_count") == 3
    assert left.states == {"done": left.counters.accepted}
    assert (left.in_flight, left.leases) == (0, 0)


@pytest.mark.parametrize("status", [500, 503])
async def test_files_that_fail_pause_no_host_whose_pages_are_good(fleet: Fleet, tmp_path: Path, status: int) -> None:
    """Three of them, tried three times each, are more faults in a row than open a breaker; any page can name them."""
    broken = {f"/file{number}": Page("broken", status) for number in range(3)}
    asked = {f"/asked{number}": Page() for number in range(3)}
    with (
        Site({f"/{number}": Page() for number in range(9)} | broken | asked, THERE) as there,
        Site({"/front": Page()}, "127.0.4.1") as here,
    ):
        await fleet.push(here.url("/front"), *(there.url(f"/{number}") for number in range(9)), spider="beside")
        pipelines = {"ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1}, "FILES_STORE": str(tmp_path)}
        options = fleet.options(SHOAL_STORE=False, **pipelines)
        ending, log = await ended(fleet.runner.fork("crawl", "beside", "-a", f"there={there.url('')}", *options))
    assert ending == 0, log
    assert there.requested.count("/file0") == 3
    assert (count(log, "frontier/acked"), count(log, "frontier/breaker_opened")) == (10, 0)
