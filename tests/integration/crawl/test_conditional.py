"""A recrawl asks pages whether they have changed: unchanged ones are not parsed or stored again, and still followed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pymongo.asynchronous.database import AsyncDatabase

from crawler.storage.collection_names import ARCHIVE as ARCHIVED
from tests.crawling import Fleet, count, ended
from tests.sites import Page, Site

Database = AsyncDatabase[dict[str, Any]]
OLD = "Sun, 06 Nov 1994 08:49:37 GMT"
ONE_BY_ONE = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}


class Shop(Site):
    """Answers conditions as a server should; `versions` may be changed between crawls."""

    def __init__(self, pages: Mapping[str, str], versions: Mapping[str, Mapping[str, str]]) -> None:
        self.versions = dict(versions)
        super().__init__({path: self._answering(path, body) for path, body in pages.items()})

    def _answering(self, path: str, body: str) -> Callable[[], Page]:
        def answer() -> Page:
            version, asked = self.versions.get(path, {}), self.last(path).headers
            same = version.get("ETag") == asked.get("If-None-Match", not version.get("ETag") or None)
            since = version.get("Last-Modified") == asked.get("If-Modified-Since", object())
            unchanged = same if "If-None-Match" in asked else since
            return Page("", 304, version) if version and unchanged else Page(body, headers=version)

        return answer


async def crawl(fleet: Fleet, url: str, *how: str, spider: str = "shop", **settings: Any) -> str:
    """Push, crawl with one worker, and give its log."""
    options = fleet.options(**settings)
    pushed = fleet.runner.run("push", spider, url, *how, *options)
    assert pushed.returncode == 0, pushed.stderr
    status, log = await ended(fleet.start(spider, **ONE_BY_ONE | settings))
    assert status == 0, log
    return log


PAGES = {
    "/": "<a href=/a>.</a>",
    "/a": "<title>A</title><a href=/b>.</a><a href=/c>.</a>",
    "/b": "<title>B</title>",
    "/c": "<title>C</title>",
}
VERSIONS = {"/": {"ETag": '"0"'}, "/a": {"ETag": 'W/"\xe9"'}, "/b": {"Last-Modified": OLD}}


async def test_unchanged_pages_are_not_stored_again_and_still_followed(fleet: Fleet, mongo_database: Database) -> None:
    with Shop(PAGES, VERSIONS) as shop:
        first = await crawl(fleet, shop.url())
        before = {page["title"]: page async for page in mongo_database["pages"].find()}
        second = await crawl(fleet, shop.url(), "--recrawl")
        after = {page["title"]: page async for page in mongo_database["pages"].find()}
        left = await fleet.left("shop")
        assert sorted(shop.requested) == sorted([*PAGES, *PAGES]), "the links of an unchanged page are followed"
        asked = {path: shop.last(path).headers for path in PAGES}
    assert asked["/a"]["If-None-Match"] == VERSIONS["/a"]["ETag"]
    assert asked["/b"]["If-Modified-Since"] == OLD
    assert not {"If-None-Match", "If-Modified-Since"} & {*asked["/"], *asked["/c"]}, "a list is fetched whole"
    assert (count(first, "conditional/asked"), count(first, "conditional/remembered")) == (0, 2)
    assert (count(second, "conditional/asked"), count(second, "conditional/unchanged")) == (2, 2)
    assert (count(second, "item_scraped_count"), count(second, "items/unchanged")) == (1, 3)
    assert {title: page["version"] for title, page in after.items()} == {"A": 1, "B": 1, "C": 1}
    for title in "ABC":
        assert after[title]["last_seen_at"] > before[title]["last_seen_at"]
        assert after[title]["last_changed_at"] == before[title]["last_changed_at"]
    assert left.states == {"done": 8}


async def test_a_changed_page_is_parsed_and_remembered_anew(
    fleet: Fleet, mongo_database: Database, tmp_path: Path
) -> None:
    kept: dict[str, Any] = {"ARCHIVE_PAGES": "all", "ARCHIVE_DIR": str(tmp_path)}
    with Shop({"/a": "<title>A</title>"}, {"/a": {"ETag": '"1"'}}) as shop:
        await crawl(fleet, shop.url("/a"), **kept)
        shop.versions["/a"] = {"ETag": '"2"'}
        changed = await crawl(fleet, shop.url("/a"), "--recrawl", **kept)
        same = await crawl(fleet, shop.url("/a"), "--recrawl", **kept)
        assert shop.last("/a").headers["If-None-Match"] == '"2"'
    assert (count(changed, "conditional/asked"), count(changed, "conditional/unchanged")) == (1, 0)
    assert (count(changed, "item_scraped_count"), count(same, "conditional/unchanged")) == (1, 1)
    assert [page["status"] async for page in mongo_database[ARCHIVED].find()] == [200, 200], "304 is no page"
    row = await mongo_database["validators"].find_one()
    assert row is not None
    assert row["etag"] == '"2"'
    assert (await mongo_database["validators"].index_information())["at"]["expireAfterSeconds"] == 90 * 86_400


async def test_304_for_an_item_that_is_gone_is_no_answer(fleet: Fleet, mongo_database: Database) -> None:
    with Shop({"/a": "<title>A</title>"}, {"/a": {"ETag": '"1"'}}) as shop:
        await crawl(fleet, shop.url("/a"))
        await mongo_database["pages"].delete_many({})
        log = await crawl(fleet, shop.url("/a"), "--recrawl")
        assert shop.requested == ["/a"] * 3
        assert "If-None-Match" not in shop.last("/a").headers
    assert count(log, "conditional/refetched/not_stored") == 1
    assert [page["title"] async for page in mongo_database["pages"].find()] == ["A"]


async def test_304_for_an_item_that_another_fetch_has_changed_is_no_answer(
    fleet: Fleet, mongo_database: Database
) -> None:
    """Prices come back to what they were, and with them the ETag; what was in between has left no version."""
    with Shop({"/a": "<title>A</title>"}, {"/a": {"ETag": '"1"'}}) as shop:
        await crawl(fleet, shop.url("/a"))
        at_first, shop.pages["/a"] = shop.pages["/a"], Page("<title>B</title>")
        await crawl(fleet, shop.url("/a"), "--recrawl")
        assert [page["title"] async for page in mongo_database["pages"].find()] == ["B"]
        shop.pages["/a"] = at_first
        log = await crawl(fleet, shop.url("/a"), "--recrawl")
        again = await crawl(fleet, shop.url("/a"), "--recrawl")
    assert count(log, "conditional/refetched/not_stored") == 1
    assert [page["title"] async for page in mongo_database["pages"].find()] == ["A"]
    assert count(again, "conditional/unchanged") == 1


async def test_items_that_have_a_time_of_their_own_are_unchanged_too(fleet: Fleet) -> None:
    with Shop({"/a": "<title>A</title>"}, {"/a": {"ETag": '"1"'}}) as shop:
        await crawl(fleet, shop.url("/a"), spider="dated")
        log = await crawl(fleet, shop.url("/a"), "--recrawl", spider="dated")
        assert shop.requested == ["/a"] * 2
    assert count(log, "conditional/unchanged") == 1


async def test_a_part_of_a_page_does_not_replace_it(fleet: Fleet, mongo_database: Database) -> None:
    cut = Page("<title>A pa", 206, {"Content-Range": "bytes 0-10/5000"})
    with Site({"/a": Page("<title>A page</title>"), "/b": cut}) as site:
        await crawl(fleet, site.url("/a"))
        site.pages["/a"] = cut
        await crawl(fleet, site.url("/a"), "--recrawl", RETRY_TIMES=1)
        (letter,) = (await fleet.left("shop")).letters
        assert letter.detail["error"].endswith("answered with a part of it (Content-Range: 'bytes 0-10/5000')")
        await crawl(fleet, site.url("/b"), DOWNLOAD_FAIL_ON_DATALOSS=False)
    assert sorted([page["title"] async for page in mongo_database["pages"].find()]) == ["A pa", "A page"]


async def test_304_without_having_been_asked_is_no_answer(fleet: Fleet, mongo_database: Database) -> None:
    lies = iter([Page("", 304)])
    with Site({"/a": lambda: next(lies, Page("<title>A</title>")), "/b": Page("", 304)}) as site:
        log = await crawl(fleet, site.url("/a"))
        assert site.requested == ["/a", "/a"]
        stubborn = await crawl(fleet, site.url("/b"))
        assert site.requested[2:] == ["/b", "/b"], "asked once more, not for ever"
        left = await fleet.left("shop")
    assert count(log, "conditional/refetched/not_asked") == 1
    assert count(stubborn, "conditional/unchanged") == 0
    assert [page["title"] async for page in mongo_database["pages"].find()] == ["A"]
    assert left.states == {"done": 2}


async def test_scrapys_cache_still_works_for_development(fleet: Fleet, tmp_path: Path) -> None:
    cache: dict[str, Any] = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}
    with Shop({"/a": "<title>A</title>"}, {"/a": {"ETag": '"1"'}}) as shop:
        await crawl(fleet, shop.url("/a"), **cache)
        again = await crawl(fleet, shop.url("/a"), "--recrawl", **cache)
        assert shop.requested == ["/a"]
    assert (count(again, "httpcache/hit"), count(again, "item_scraped_count")) == (1, 1)


async def test_a_feed_has_all_items_of_a_recrawl(fleet: Fleet, tmp_path: Path) -> None:
    with Shop({"/a": "<title>A</title>"}, {"/a": {"ETag": '"1"'}}) as shop:
        await crawl(fleet, shop.url("/a"))
        log = await crawl(fleet, shop.url("/a"), "--recrawl", FEEDS={str(tmp_path / "feed.jsonl"): {"format": "jsonl"}})
    assert count(log, "items/unchanged") == 1
    assert '"title": "A"' in (tmp_path / "feed.jsonl").read_text()
