"""`scrapy recrawl` on what a crawl has stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from pymongo.asynchronous.database import AsyncDatabase

from tests.crawling import Fleet, ended
from tests.sites import Page, Site


def recrawl(fleet: Fleet, *args: str) -> tuple[int, str]:
    result = fleet.runner.run("recrawl", *args, *fleet.options())
    assert "Traceback" not in result.stderr
    return result.returncode, result.stdout + result.stderr


async def test_what_is_due_is_visited_again_within_the_budget(
    fleet: Fleet, mongo_database: AsyncDatabase[dict[str, Any]]
) -> None:
    with Site({f"/{n}": Page(f"<title>{n}</title>") for n in range(5)}) as site:
        fleet.runner.run("push", "walk", *map(site.url, site.pages), *fleet.options())
        assert (await ended(fleet.start()))[0] == 0
        assert recrawl(fleet, "walk", "--budget", "48") == (
            0,
            "5 documents of walk known, 5 visits learned from, 0 due\n",
        )
        past = datetime.now(UTC) - timedelta(days=1)
        await mongo_database.recrawl.update_many({"due_at": {"$exists": True}}, {"$set": {"due_at": past}})
        status, told = recrawl(fleet, "walk", "--budget", "48", "--dry-run")
        assert (status, told.endswith("2 due\n")) == (0, True), told
        status, told = recrawl(fleet, "walk", "--budget", "48")
        assert status == 0
        assert "2 due; 2 pushed (run " in told
        assert (await ended(fleet.start()))[0] == 0
        assert len(site.requested) == 7
        assert "2 visits learned from, 2 due; 2 pushed" in recrawl(fleet, "walk", "--budget", "48")[1]


async def test_documents_that_cannot_be_fetched_hold_up_no_others(
    fleet: Fleet, mongo_database: AsyncDatabase[dict[str, Any]]
) -> None:
    """As a project's own items may have them: they were due for ever, and spent the budget of all others."""
    past = datetime.now(UTC) - timedelta(days=1)
    with Site({f"/{n}": Page(f"<title>{n}</title>") for n in range(4)}) as site:
        fleet.runner.run("push", "walk", *map(site.url, site.pages), *fleet.options())
        assert (await ended(fleet.start()))[0] == 0
        assert recrawl(fleet, "walk", "--budget", "48")[0] == 0
        await mongo_database.recrawl.update_many({"due_at": {"$exists": True}}, {"$set": {"due_at": past}})
        for url in ("/p/0", "/p/1"):
            one = await mongo_database.recrawl.find_one_and_update(
                {"due_at": past}, {"$set": {"url": url, "due_at": past - timedelta(days=1)}}
            )
            assert one is not None
        status, told = recrawl(fleet, "walk", "--budget", "48")
        assert status == 0
        assert "2 due; 0 pushed (run " in told
        assert "2 refused, such as '/p/0': no URL that can be fetched" in told
        assert "2 due; 2 pushed (run " in recrawl(fleet, "walk", "--budget", "48")[1]


def test_wrong_input_is_one_line(fleet: Fleet) -> None:
    for args, words in (
        (["walk"], "name a spider and a budget"),
        (["walk", "--budget", "0"], "--budget"),
        (["walk", "--budget", "many"], "--budget"),
        (["nobody", "--budget", "5"], "there is no spider 'nobody'"),
    ):
        status, told = recrawl(fleet, *args)
        assert status == 2
        assert words in told
        assert len(told.splitlines()) == 1
