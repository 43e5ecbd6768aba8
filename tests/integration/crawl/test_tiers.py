"""Whole workers on sites that show plain requests a challenge, or an empty shell: where their URLs go."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pymongo.asynchronous.database import AsyncDatabase

from crawler.frontier.state.tiers import Tiers
from crawler.policy.tiers import UNKNOWN, LearnedTier
from tests.crawling import Fleet, count, ended, open_frontier, said
from tests.sites import Page, Site

Database = AsyncDatabase[dict[str, Any]]

SHELL = Page('<html><title>Shop</title><div id="root"></div><script src="/app.js"></script></html>')
CHALLENGE = Page("<html><title>Just a moment...</title><script>window._cf_chl_opt={}</script></html>", status=403)
GOOD = Page("<html><title>A lamp</title><p>Of brushed steel, for any desk, and for the wall as well.</p></html>")
HANDLER = "tests.integration.crawl.standins.RenderedHandler"
TIERS: dict[str, Any] = {
    "TIER_HANDLERS": {"browser": HANDLER, "api": HANDLER},
    "TIER_REFRESH_SECONDS": 0.1,
    "RETRY_CLASSES": {"blocked": {"times": 1, "base_seconds": 0.02}},
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
}
BOTH = TIERS | {"TIER": "http,browser"}


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    """Ten pages that are good for a browser; for plain requests they are what the test says."""
    plain = request.param
    pages = {f"/{number}": plain for number in range(10)} | {f"/{number}?browser": GOOD for number in range(10)}
    with Site(pages) as site:
        yield site


def plainly(site: Site) -> list[str]:
    return [path for path in site.requested if "?" not in path]


async def crawl(fleet: Fleet, *workers: dict[str, Any]) -> list[str]:
    """The logs of *workers*, which end when all is done."""
    started = [fleet.start(**settings) for settings in workers]
    logs = [await ended(worker) for worker in started]
    assert [status for status, _ in logs] == [0] * len(workers)
    return [log for _, log in logs]


async def learned(fleet: Fleet, host: str = "127.0.0.1") -> LearnedTier:
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        return (await Tiers(frontier.shards, keep_ms=1).changes()).get(host, UNKNOWN)


async def term_over(fleet: Fleet) -> None:
    """Return when the tier below may be tried again."""
    until = (await learned(fleet)).until_ms / 1000
    await asyncio.sleep(max(0.0, until - time.time()) + 0.1)


async def stored(database: Database) -> dict[str, Any]:
    return {page["url"]: page async for page in database["pages"].find()}


@pytest.mark.parametrize("site", [SHELL, CHALLENGE], indirect=True, ids=["shells", "challenges"])
async def test_pages_that_fail_are_fetched_by_the_browser_and_so_is_then_the_host(
    fleet: Fleet, site: Site, mongo_database: Database
) -> None:
    await fleet.push(*(site.url(f"/{number}") for number in range(10)), cap=1)
    (log,) = await crawl(fleet, BOTH)
    left = await fleet.left()
    pages = await stored(mongo_database)
    assert left.states == {"done": 10}
    assert sorted(pages) == [site.url(f"/{number}") for number in range(10)]
    assert {(page["title"], page["source"]["tier"]) for page in pages.values()} == {("A lamp", "browser")}
    assert 3 <= len(plainly(site)) <= 8  # TIER_FAILURES, and requests in flight: the others did not have to try
    assert sorted(path for path in site.requested if "?" in path) == [f"/{number}?browser" for number in range(10)]
    assert count(log, "tiers/moves/browser") == 10
    assert count(log, "tiers/requests/http") == len(plainly(site))
    known = await learned(fleet)
    assert known.tier == "browser"
    assert log.count("is fetched by tier browser") == 1


@pytest.mark.parametrize("site", [CHALLENGE], indirect=True)
async def test_each_pool_does_its_part(fleet: Fleet, site: Site, mongo_database: Database) -> None:
    await fleet.push(*(site.url(f"/{number}") for number in range(10)))
    started = fleet.start(**TIERS | {"TIER": "browser"})
    await fleet.workers(1)  # what no worker serves is not waited for
    (plain,) = await crawl(fleet, TIERS | {"TIER": "http"})
    status, browser = await ended(started)
    assert status == 0
    assert (await fleet.left()).states == {"done": 10}
    assert len(await stored(mongo_database)) == 10
    assert count(plain, "tiers/requests/browser") == count(browser, "tiers/requests/http") == 0
    assert count(browser, "tiers/requests/browser") == 10
    assert count(plain, "blocks/cloudflare") == len(plainly(site)) >= 3
    assert plain.count("blocks us: challenge (cloudflare), status ") == 1


@pytest.mark.parametrize("site", [SHELL], indirect=True)
async def test_a_host_that_is_good_again_comes_back_down(fleet: Fleet, site: Site) -> None:
    await fleet.push(*(site.url(f"/{number}") for number in range(5)))
    short = BOTH | {"TIER_TERM_SECONDS": 3}
    await crawl(fleet, short)
    assert (await learned(fleet)).tier == "browser"
    site.pages |= {f"/{number}": GOOD for number in range(10)}
    before = len(plainly(site))
    await term_over(fleet)
    await fleet.push(*(site.url(f"/{number}") for number in range(5, 10)))
    await crawl(fleet, short)
    assert (await fleet.left()).states == {"done": 10}
    assert sorted(plainly(site)[before:]) == [f"/{number}" for number in range(5, 10)]
    assert (await learned(fleet)).tier == "http"


@pytest.mark.parametrize("site", [SHELL], indirect=True)
async def test_a_trial_that_fails_sends_the_host_back_for_twice_as_long(fleet: Fleet, site: Site) -> None:
    await fleet.push(*(site.url(f"/{number}") for number in range(4)))
    short = BOTH | {"TIER_TERM_SECONDS": 3}
    await crawl(fleet, short)
    await term_over(fleet)
    await fleet.push(*(site.url(f"/{number}") for number in range(4, 10)))
    await crawl(fleet, short)
    assert (await fleet.left()).states == {"done": 10}
    known = await learned(fleet)
    assert (known.tier, known.term_ms) == ("browser", 6_000)


@pytest.mark.parametrize("site", [CHALLENGE], indirect=True)
@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"TIER": "http"}, "cloudflare; no worker serves browser"),
        ({"TIER": "http,browser", "DOMAINS_FILE": '[default]\nmax_tier = "http"\n'}, "cloudflare; max_tier is http"),
        (
            {"TIER": "http,browser", "TIER_DAILY_REQUESTS": {"browser": 0}},
            "cloudflare; the daily budget of browser is spent",
        ),
    ],
    ids=["no worker", "max_tier", "budget"],
)
async def test_a_page_that_may_not_step_up_is_retried_and_then_kept_with_its_reason(
    fleet: Fleet, site: Site, tmp_path: Path, settings: dict[str, Any], why: str
) -> None:
    if rules := settings.get("DOMAINS_FILE"):
        (tmp_path / "domains.toml").write_text(rules)
        settings = settings | {"DOMAINS_FILE": str(tmp_path / "domains.toml")}
    await fleet.push(site.url("/0"))
    (log,) = await crawl(fleet, TIERS | settings)
    left = await fleet.left()
    assert left.states == {"dead": 1}
    assert left.reasons == ["blocked"]
    assert left.letters[0].detail["error"] == why
    assert site.requested == ["/0", "/0"]  # once more: RETRY_CLASSES
    assert count(log, "tiers/refused") == count(log, "blocks/cloudflare") == 2


@pytest.mark.parametrize("site", [CHALLENGE], indirect=True)
async def test_what_waits_for_a_spent_tier_waits_for_the_next_day(fleet: Fleet, site: Site) -> None:
    paced: dict[str, Any] = {"cap": 1, "delay_ms": 300}  # or all is fetched before the worker hears of it
    await fleet.push(*(site.url(f"/{number}") for number in range(10)), **paced)
    worker = fleet.start(**BOTH | {"TIER_DAILY_REQUESTS": {"browser": 4}, "CONCURRENT_REQUESTS": 1})
    await said(worker, "The daily budget of tier browser is spent")
    held = await fleet.until(lambda now: not now.counters.leased)
    await asyncio.sleep(1)
    worker.send_signal(signal.SIGTERM)
    status, log = await ended(worker)
    left = await fleet.left()
    assert status == 0
    assert 4 <= left.counters.done == held.counters.done < 8, log  # fetched before the worker learned of it
    assert left.counters.done + left.counters.backlog + left.counters.dead == 10


@pytest.mark.parametrize("site", [SHELL], indirect=True)
async def test_rules_send_known_hard_hosts_to_their_tier_before_the_first_fetch(
    fleet: Fleet, site: Site, tmp_path: Path
) -> None:
    (tmp_path / "domains.toml").write_text('["127.0.0.1"]\ntier = "browser"\n')
    await fleet.push(*(site.url(f"/{number}") for number in range(10)))
    await crawl(fleet, BOTH | {"DOMAINS_FILE": str(tmp_path / "domains.toml")})
    assert (await fleet.left()).states == {"done": 10}
    assert plainly(site) == []


async def test_product_pages_that_lack_what_the_rules_require_step_up(
    fleet: Fleet, tmp_path: Path, mongo_database: Database
) -> None:
    bare = Page(
        "<html><title>A lamp</title><p>Its price comes by script, a moment later, to those who wait.</p></html>"
    )
    full = Page('<html><title>A lamp</title><p id="price">12 EUR</p></html>')
    (tmp_path / "domains.toml").write_text('["127.0.0.1"]\nproduct = "/p/"\nrequired = [{ css = "#price" }]\n')
    with Site({"/p/1": bare, "/p/1?browser": full, "/list": bare}) as site:
        await fleet.push(site.url("/p/1"), site.url("/list"))
        await crawl(fleet, BOTH | {"DOMAINS_FILE": str(tmp_path / "domains.toml")})
        assert (await fleet.left()).states == {"done": 2}
        assert sorted(site.requested) == ["/list", "/p/1", "/p/1?browser"]
    tiers = {url.rpartition("/")[2]: page["source"]["tier"] for url, page in (await stored(mongo_database)).items()}
    assert tiers == {"1": "browser", "list": "http"}
