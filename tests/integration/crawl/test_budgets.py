"""A worker whose budget is spent waits, says so, and fetches what is not governed."""

from __future__ import annotations

import asyncio
import re
import signal
from pathlib import Path

import pytest

from tests.crawling import Fleet, count, ended, open_frontier
from tests.integration.frontier.making import spent_of
from tests.sites import Page, Site

BODY = "<html><title>A page</title>" + "x" * 5_000 + "</html>"


async def test_a_spent_budget_holds_back_its_host_and_no_other(fleet: Fleet, tmp_path: Path) -> None:
    domains = tmp_path / "domains.toml"
    domains.write_text('["127.0.0.1".budget]\nmb = 0.012\nrequests = 50\n')
    pages = {f"/{n}": Page(BODY) for n in range(12)}
    with Site(pages) as site, Site({"/": Page()}, host="127.0.0.2") as other:
        await fleet.push(*(site.url(path) for path in pages), cap=1)
        worker = fleet.start(DOMAINS_FILE=str(domains), CONCURRENT_REQUESTS_PER_DOMAIN=1, CONCURRENT_REQUESTS=2)
        await fleet.until(lambda left: left.counters.done >= 3 and not left.counters.leased)
        await fleet.push(other.url())
        await other.asked(1)
        left = await fleet.until(lambda now: now.counters.done > len(site.requested) and not now.counters.leased)
        async with open_frontier(fleet.redis_url, fleet.key) as frontier:
            now = (await frontier.inspection.stats()).now_ms
            closed = await frontier.budgets.closed(now)
            begin = now - now % 86_400_000
            used = await spent_of(frontier, "d:127.0.0.1", begin)
        shown = fleet.runner.run("status", "walk", *fleet.options())
        found = fleet.runner.run("find", site.url("/11"), "--spider", "walk", *fleet.options(SCOPE={"exclude": "/11"}))
        worker.send_signal(signal.SIGTERM)
        status, log = await ended(worker)
    assert status == 0, log
    fetched = len(site.requested)
    assert 3 <= fetched <= 4  # what was leased when the third answer was told
    assert left.counters.queued == 12 - fetched
    assert [(one.name, one.what) for one in closed] == [("d:127.0.0.1", "bytes")]
    assert (used[0], used[1] >= 5_000 * fetched) == (fetched, True)
    assert "the budget of 127.0.0.1 is spent (bytes), for " in " ".join(shown.stdout.split())
    assert "the budget of 127.0.0.1 is spent (bytes)" in found.stdout
    assert "out of scope by the rule 'exclude'" in found.stdout
    assert count(log, "response_received_count") == fetched + 1


async def test_a_bad_budget_stops_the_start_with_one_line(fleet: Fleet) -> None:
    status, log = await ended(fleet.start(BUDGET={"hours": "8 to 5"}))
    assert status != 0
    assert "BUDGET['hours'] = '8 to 5' is invalid: expected hours such as" in log


@pytest.mark.parametrize("shards", [1, 3])
async def test_a_run_that_has_spent_its_budget_ends_by_itself_and_says_what_was_dropped(
    fleet: Fleet, shards: int
) -> None:
    fleet.settings = {**fleet.settings, "FRONTIER_SHARDS": shards}
    links = "".join(f"<a href=/{n}>.</a>" for n in range(9))
    pages = {"/": Page(links), **{f"/{n}": Page(links) for n in range(9)}}
    with Site(pages) as site:
        named = ("--name", "nightly", "--overlap", "skip", *fleet.options())
        scope = ("--scope", '{"budget": {"requests": 4}}')
        pushed = fleet.runner.run("push", "walk", site.url("/"), *scope, *named)
        [run] = re.findall(r"run (\d+-\d+)", pushed.stdout)
        worker = fleet.start()
        waited = await asyncio.to_thread(fleet.runner.run, "runs", "wait", run, *fleet.options())
        status, log = await ended(worker)
        fetched = len(site.requested)
        shown = fleet.runner.run("runs", "show", run, *fleet.options()).stdout
        looked_at = fleet.runner.run("status", "walk", *fleet.options()).stdout
        again = fleet.runner.run("push", "walk", site.url("/8"), *named)
        assert (await ended(fleet.start()))[0] == 0
    assert pushed.returncode == 0, pushed.stderr
    assert waited.returncode == 0, waited.stderr
    assert fetched == 4
    assert waited.stdout.strip() == f"run {run} finished: 4 done, 6 dropped, its budget is spent (walk nightly)"
    assert "dropped            6   budget 6" in shown
    assert "budget 6" in looked_at
    assert again.returncode == 0, again.stderr
    assert sorted(site.requested) == sorted(pages), "the next run fetches what was dropped, and nothing twice"
    assert status == 0, log
    told = re.findall(rf"Run {run} of walk: its budget is spent \(requests\); dropped what was left: (\d+)", log)
    assert sum(map(int, told)) == 6, f"{told}: in one look or more"
    assert count(log, "frontier/budget_dropped") == 6
