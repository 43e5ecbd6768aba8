"""A response that is not the page never reaches a callback or the store, whatever its status, and is kept with its dead
letter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pymongo.asynchronous.database import AsyncDatabase

from tests.crawling import Fleet, ended
from tests.sites import Page, Site

Database = AsyncDatabase[dict[str, Any]]

CHALLENGE = "<html><title>Just a moment...</title><script>window._cf_chl_opt={}</script></html>"
SHELL = '<html><title>Shop</title><div id="root"></div><script src="/app.js"></script></html>'
DATA = '<script type="application/ld+json">{"@type": "Product", "name": "A lamp"}</script>'
GOOD = Page("<html><title>A lamp</title><p>Of brushed steel, for any desk, and for the wall as well.</p></html>")
NO_PAGES = {
    "/challenge": Page(CHALLENGE),
    "/challenge-403": Page(CHALLENGE, 403),
    "/challenge-404": Page(CHALLENGE.replace("window", "/*Attention*/window"), 503),
    "/shell": Page(SHELL),
    "/shell-404": Page(SHELL, 404),
    "/shell-203": Page(SHELL, 203),
}
PAGES = {"/": GOOD, "/app": Page(SHELL.replace("<script", DATA + "<script")), "/missing": Page(GOOD.body, 404)}
LISTED: dict[str, Any] = {
    "AUTOTHROTTLE_MAX_DELAY": 0.2,
    "RETRY_CLASSES": {"blocked": {"times": 0}},
}


async def titles(database: Database) -> dict[str, str]:
    return {page["url"]: page["title"] async for page in database["pages"].find()}


@pytest.mark.parametrize("keep", ["failed", "all"])
async def test_it_ends_as_a_dead_letter_that_refers_to_what_came(
    fleet: Fleet, mongo_database: Database, tmp_path: Path, keep: str
) -> None:
    archiving: dict[str, Any] = {"ARCHIVE_PAGES": keep, "ARCHIVE_DIR": str(tmp_path / "archive")}
    with Site(NO_PAGES | PAGES) as site:
        await fleet.push(*map(site.url, site.pages), meta={"handle_httpstatus_all": True})
        status, log = await ended(fleet.start(**LISTED | archiving))
        left = await fleet.left()
    assert status == 0
    assert left.states == {"done": len(PAGES), "dead": len(NO_PAGES)}, left
    assert set(await titles(mongo_database)) == set(map(site.url, PAGES))
    assert left.reasons == ["blocked"] * len(NO_PAGES)
    kept = {each["_id"]: each async for each in mongo_database["archive"].find({"failed": {"$exists": True}})}
    assert {letter.detail["page"]: letter.detail["url"] for letter in left.letters} == {
        id_: entry["url"] for id_, entry in kept.items()
    }
    assert all(entry["failed"].startswith("blocked: ") for entry in kept.values())
    [line] = [line for line in log.splitlines() if f"{site.url('/shell')}>" in line]  # it is said once
    assert line.endswith("became a dead letter: blocked (empty without JavaScript; no worker serves browser)")
    letter = next(one for one in left.letters if one.detail["url"] == site.url("/shell"))
    archive = f"ARCHIVE_DIR={tmp_path / 'archive'}"
    shown = fleet.runner.run("dead", "show", letter.id, "--page", "-s", f"FRONTIER_KEY={fleet.key}", "-s", archive)
    assert (shown.returncode, shown.stdout) == (0, SHELL)
    assert f"{site.url('/shell')}\n200, fetched " in shown.stderr
    elsewhere = f"ARCHIVE_DIR={tmp_path / 'elsewhere'}"
    missing = fleet.runner.run("dead", "show", letter.id, "--page", "-s", f"FRONTIER_KEY={fleet.key}", "-s", elsewhere)
    assert missing.returncode != 0
    assert "is not here" in missing.stderr
    assert "Traceback" not in missing.stderr
    if keep == "all":
        done = fleet.runner.run("reparse", "walk", *fleet.options(ARCHIVE_DIR=str(tmp_path / "archive")))
        assert done.returncode == 0, done.stderr
        assert f"{len(NO_PAGES)} pages not parsed: block pages and empty shells" in done.stdout
        assert set(await titles(mongo_database)) == set(map(site.url, PAGES))


@pytest.mark.parametrize("meta", [{}, {"dont_retry": True}])
async def test_good_data_is_not_replaced_unless_the_spider_says_so(
    fleet: Fleet, mongo_database: Database, meta: dict[str, Any]
) -> None:
    with Site({"/lamp": GOOD}) as site:
        await fleet.push(site.url("/lamp"))
        await ended(fleet.start(**LISTED))
        site.pages["/lamp"] = Page(CHALLENGE)
        for allowed, title in ({}, "A lamp"), ({"allow_blocked": True}, "Just a moment..."):
            await fleet.push(site.url("/lamp"), meta=meta | allowed, dedupe=False)  # as a recrawl does
            await ended(fleet.start(**LISTED))
            assert list((await titles(mongo_database)).values()) == [title]
        assert (await fleet.left()).states == {"done": 2}, "a later success takes the place of a dead letter"
