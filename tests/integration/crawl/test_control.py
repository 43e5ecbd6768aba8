"""`scrapy control` on a crawl that runs."""

from __future__ import annotations

import asyncio
import json
import signal

import pytest

from tests.crawling import Fleet, ended
from tests.servers import ScrapyRunner
from tests.sites import Page, Site

PAGES = 400  # far more than a worker asks for while commands start


def site() -> Site:
    return Site({f"/{n}": Page(f"<title>{n}</title>") for n in range(PAGES)})


def scrapy(fleet: Fleet, *args: str) -> tuple[int, str]:
    result = fleet.runner.run(*args, *fleet.options())
    assert "Traceback" not in result.stderr
    return result.returncode, result.stdout + result.stderr


async def asked_in_all(fleet: Fleet, pages: Site) -> int:
    """How many pages were asked for when the last lease was given back; no more are a second later."""
    await fleet.until(lambda left: not left.leases)
    asked = len(pages.requested)
    await asyncio.sleep(1)
    assert len(pages.requested) == asked
    return asked


async def test_a_run_is_paused_resumed_and_cancelled_while_it_is_crawled(fleet: Fleet) -> None:
    with site() as pages:
        status, told = scrapy(fleet, "push", "walk", "--name", "all", *(pages.url(f"/{n}") for n in range(PAGES)))
        assert status == 0, told
        run = told.split("run ")[1].split()[0].rstrip(",:;.)")
        worker = fleet.start(DOWNLOAD_DELAY=0.1, CONCURRENT_REQUESTS_PER_DOMAIN=1, MAX_IDLE_TIME_BEFORE_CLOSE=60)
        await pages.asked(3)
        assert await asyncio.to_thread(scrapy, fleet, "control", "pause", "--run", run) == (
            0,
            f"run {run} is paused: workers obey within 2 s\n",
        )
        asked = await asked_in_all(fleet, pages)
        assert asked < PAGES
        _, told = await asyncio.to_thread(
            scrapy, fleet, "control", "purge", "--run", run, "--url", "*/nothing", "--yes"
        )
        assert "of paused runs not met: `scrapy control resume` such a run" in told, "workers have set them aside"
        assert (await asyncio.to_thread(scrapy, fleet, "control", "resume", "--run", run))[0] == 0
        await pages.asked(asked + 3)
        status, told = await asyncio.to_thread(scrapy, fleet, "control", "cancel", "--run", run, "--yes")
        assert status == 0
        assert f"run {run} is cancelled" in told
        assert await asked_in_all(fleet, pages) < PAGES
        await fleet.until(lambda left: not left.counters.queued + left.counters.delayed)  # the worker drops them
        worker.send_signal(signal.SIGTERM)
        assert (await ended(worker))[0] == 0
    left = await fleet.left()
    assert left.counters.accepted == left.counters.done + left.counters.dropped == PAGES
    assert left.leases == 0
    assert "is cancelled" in scrapy(fleet, "control", "pause", "--run", run)[1]
    assert json.loads(scrapy(fleet, "status", "walk", "--json")[1])["spiders"]["walk"]["queued"] == 0


def test_a_priority_may_be_below_0(fleet: Fleet) -> None:
    assert scrapy(fleet, "push", "walk", "http://a.example/")[0] == 0
    told = scrapy(fleet, "control", "priority", "-5", "--spider", "walk", "--yes")
    assert told == (0, "1 request reprioritised\n")


async def test_a_group_that_a_request_has_named_is_paused_whatever_the_settings_say_of_that_name(fleet: Fleet) -> None:
    """As `meta["download_slot"]` does, and a spider with a POLITENESS_GROUP of its own."""
    await fleet.push("http://www.a.com/")
    told = await asyncio.to_thread(
        scrapy, fleet, "control", "pause", "--host", "www.a.com", "-s", "POLITENESS_GROUP=domain"
    )
    assert told == (0, "host www.a.com is paused: workers obey within 2 s\n")


def test_what_is_paused_already_is_no_failure(fleet: Fleet) -> None:
    """As of a schedule: it is how the caller wants it. That the host is unknown may be a slip."""
    unknown = "is paused: workers obey within 2 s; it has had no request of late"
    for told in (unknown, "was paused before"):
        assert scrapy(fleet, "control", "pause", "--host", "a.example") == (0, f"host a.example {told}\n")
    assert scrapy(fleet, "control", "resume", "--host", "b.example") == (0, "host b.example was not paused before\n")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "scrapy control pause|resume"),
        (
            ["pause", "--host", "www.a.com", "-s", "POLITENESS_GROUP=domain"],
            "expected a.com, the politeness group",
        ),
        (["pause"], "name one of --run, --spider and --host"),
        (["pause", "--run", "x", "--spider", "walk"], "name one of"),
        (["pause", "--run", "20200101-1"], "there is no run 20200101-1"),
        (["pause", "--run", "nonsense"], "nonsense"),
        (["pause", "--spider", "nobody"], "there is no spider 'nobody'"),
        (["cancel", "--spider", "walk"], "`cancel` takes --run"),
        (["pause", "--spider", "walk", "--url", "*"], "--url is for purge, priority, tier"),
        (["priority", "high", "--spider", "walk"], "priority = 'high' is invalid"),
        (["priority", "\u0665", "--spider", "walk"], "priority = '\u0665' is invalid"),  # a five, but none of Redis'
        (["priority", "--", "-5", "--spider", "walk"], "there is no option --"),
        (["tier", "moon", "--spider", "walk"], "tier = 'moon' is invalid: expected one of http, browser, api"),
        (["purge", "--spider", "walk"], "add --yes"),
        (["purge", "--spider", "walk", "--url", "*a*b*c*", "--yes"], "at most 3 stars"),
    ],
)
def test_wrong_input_is_refused_in_one_line(
    scrapy_run: ScrapyRunner, fleet: Fleet, args: list[str], words: str
) -> None:
    status, told = scrapy(fleet, "control", *args)
    assert status == 2
    assert words in told
    assert len(told.splitlines()) == 1
