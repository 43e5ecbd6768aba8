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
