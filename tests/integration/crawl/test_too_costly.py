"""A page that costs too much to read ends as a dead letter with the page kept, and the worker goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pymongo.asynchronous.database import AsyncDatabase

from tests.crawling import Fleet, ended
from tests.sites import Page, Site

LAMP = "<title>A lamp</title><p>Of brushed steel, for any desk, and for the wall as well.</p>"


async def test_it_is_kept(fleet: Fleet, mongo_database: AsyncDatabase[dict[str, Any]], tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "ARCHIVE_PAGES": "failed",
        "ARCHIVE_DIR": str(tmp_path / "archive"),
        "PARSE_APART_KB": 1_000,
        "PARSE_MAX_MB": 256,
    }
    pages = {"/lamp": Page(LAMP), "/huge": Page(LAMP + "<p>x</p>" * 200_000)}
    with Site(pages) as site:
        await fleet.push(*map(site.url, pages), spider="hungry")
        status, log = await ended(fleet.start("hungry", **settings))
        left = await fleet.left("hungry")
        assert status == 0, log
        assert left.states == {"done": 1, "dead": 1}, log
        assert left.reasons == ["too_costly"]
        (letter,) = left.letters
        kept = await mongo_database["archive"].find_one({"_id": letter.detail["page"]})
        assert kept is not None
        assert kept["failed"].startswith("TooCostlyError: ")
        assert [page["url"] async for page in mongo_database["pages"].find()] == [site.url("/lamp")]


async def test_no_callback_gets_a_page_that_a_child_could_not_read(fleet: Fleet, tmp_path: Path) -> None:
    """`walk` reads its pages itself, with `response.css`."""
    bomb = f"{LAMP}<a {' '.join(f'a{n}=&gt;' for n in range(60_000))}>x</a>"  # half a minute of lxml's time
    settings: dict[str, Any] = {"ARCHIVE_PAGES": "failed", "ARCHIVE_DIR": str(tmp_path), "PARSE_MAX_SECONDS": 1}
    pages = {"/lamp": Page(LAMP), "/doubtful": Page(LAMP + "<b id=1>" * 900 + "<p>x" * 900), "/bomb": Page(bomb)}
    with Site(pages) as site:
        await fleet.push(*map(site.url, pages))
        status, log = await ended(fleet.start(**settings))
        left = await fleet.left()
        assert status == 0, log
        assert left.states == {"done": 2, "dead": 1}, log
        assert left.reasons == ["too_costly"]
        (letter,) = left.letters
        assert letter.detail["url"] == site.url("/bomb")
        assert letter.detail["page"], "it is kept"


async def test_nor_one_that_would_hold_up_all_others(fleet: Fleet) -> None:
    """The child may take longer than the event loop, where the callback parses once more."""
    slow = f"{LAMP}<a {' '.join(f'a{n}' for n in range(35_000))}>x</a>"  # more than a second of lxml's time
    pages = {"/lamp": Page(LAMP), "/slow": Page(slow)}
    with Site(pages) as site:
        await fleet.push(*map(site.url, pages))
        status, log = await ended(fleet.start(PARSE_MAX_SECONDS=4))
        left = await fleet.left()
    assert status == 0, log
    assert left.states == {"done": 1, "dead": 1}, log
    assert left.reasons == ["too_costly"]
    assert left.letters[0].detail["url"] == site.url("/slow")
