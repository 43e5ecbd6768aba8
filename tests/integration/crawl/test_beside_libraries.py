"""The add-on beside scrapy-poet, Spidermon and Scrapy's media pipelines, on the real libraries."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from PIL import Image
from pymongo.asynchronous.database import AsyncDatabase

from tests import servers
from tests.crawling import count, ended, open_frontier, options, said
from tests.integration.crawl.quotes import SETTINGS, Crawls, feed, pages
from tests.integration.handlers.browsing import executable
from tests.sites import Page, Site

LIBRARIES = {"SPIDER_MODULES": "tests.integration.crawl.library_spiders"}


@pytest.fixture
def site() -> Iterator[Site]:
    dot = io.BytesIO()
    Image.new("RGB", (60, 60)).save(dot, "PNG")
    with Site(pages() | {"/dot.png": Page(dot.getvalue(), headers={"Content-Type": "image/png"})}) as site:
        yield site


@pytest.mark.parametrize("place", [300, 700], ids=["first", "second"])
@pytest.mark.parametrize("spider", ["poet", "dummy"])
async def test_scrapy_poet_before_and_behind_our_addon(
    crawls: Crawls, mongo_database: AsyncDatabase[dict[str, Any]], tmp_path: Path, spider: str, place: int
) -> None:
    addons = {"crawler.addon.Shoal": 500, "scrapy_poet.Addon": place}
    scrapys, ours = tmp_path / "scrapys.json", tmp_path / "ours.json"
    await crawls.run(spider, "-O", str(scrapys), FRONTIER_ENABLED=False, ADDONS=addons, **LIBRARIES)
    asked = crawls.asked()
    log = await crawls.run(spider, "-O", str(ours), ADDONS=addons, **LIBRARIES)
    assert crawls.asked() == asked
    assert feed(ours) == feed(scrapys) != []
    assert await mongo_database["items"].count_documents({}) == len(feed(ours))
    assert "ScrapyPoetRequestFingerprinter" in log
    assert count(log, "frontier/acked") == len(asked) or spider == "dummy"


@pytest.mark.parametrize("place", [300, 700], ids=["first", "second"])
async def test_push_knows_requests_by_the_fingerprints_of_scrapy_poet(crawls: Crawls, place: int) -> None:
    addons = {"crawler.addon.Shoal": 500, "scrapy_poet.Addon": place}
    await crawls.run("poet", ADDONS=addons, **LIBRARIES)
    given = options(SETTINGS | LIBRARIES | {"FRONTIER_KEY": crawls.fleet.key, "ADDONS": addons})
    line = json.dumps({"url": crawls.site.url("/author/1"), "callback": "parse_author"})
    pushed = crawls.fleet.runner.run("push", "poet", "-", *given, input=line)
    assert "1 known already" in pushed.stdout, pushed.stderr
    other = crawls.fleet.runner.run("push", "poet", crawls.site.url("/author/1"), *given)
    assert "1 pushed to poet" in other.stdout, "another callback needs other page objects"


async def test_spidermon_validates_items_and_runs_its_monitors(crawls: Crawls) -> None:
    log = await crawls.run("validated", **LIBRARIES)
    assert count(log, "spidermon/validation/items") == 2
    assert count(log, "spidermon/validation/items/errors") == 1
    assert "[Spidermon] 1 monitor in" in log
    assert count(log, "frontier/acked") == 1


async def test_spidermon_judges_a_run_once_over_the_stats_of_all_its_workers(crawls: Crawls) -> None:
    both_are_there = threading.Event()
    crawls.site.pages |= {f"/author/{number}": Page(hold=both_are_there) for number in range(1, 9)}
    workers = [crawls.start("judged", CONCURRENT_REQUESTS=1, **LIBRARIES) for _ in range(2)]
    await asyncio.gather(*(said(worker, "of judged") for worker in workers))
    await crawls.site.asked(2)
    both_are_there.set()
    logs = [log for _, log in await asyncio.gather(*map(ended, workers))]
    each = [count(log, "item_scraped_count") for log in logs]
    assert min(each) > 0
    assert sum(each) == 8
    assert sum(log.count("judged finished: 8 items") for log in logs) == 1, logs
    assert sum(log.count("[Spidermon] 1 monitor in") for log in logs) == 1
    async with open_frontier(crawls.fleet.redis_url, crawls.fleet.key) as frontier:
        [run] = await frontier.runs.find("judged")
        stats = await frontier.totals.of(run.id)
    assert (stats["item_scraped_count"], stats["downloader/request_count"], stats["frontier/acked"]) == (8, 8, 8)


async def test_files_and_images_are_fetched_beside_the_queue(crawls: Crawls, tmp_path: Path) -> None:
    pipelines = {"scrapy.pipelines.files.FilesPipeline": 1, "scrapy.pipelines.images.ImagesPipeline": 2}
    stores = {"FILES_STORE": str(tmp_path / "files"), "IMAGES_STORE": str(tmp_path / "images")}
    log = await crawls.run("media", ITEM_PIPELINES=pipelines, **stores, **LIBRARIES)
    assert count(log, "file_count") == 2
    assert len(list((tmp_path / "files" / "full").iterdir())) == 1
    assert len(list((tmp_path / "images" / "full").iterdir())) == 1
    assert crawls.asked() == ["GET /dot.png ", "GET /feed.csv ", "GET /page/1/ "]


async def test_a_broken_media_url_costs_its_file_only(crawls: Crawls, tmp_path: Path) -> None:
    pipelines = {"scrapy.pipelines.files.FilesPipeline": 1, "scrapy.pipelines.images.ImagesPipeline": 2}
    stores = {"FILES_STORE": str(tmp_path / "files"), "IMAGES_STORE": str(tmp_path / "images")}
    found = tmp_path / "items.json"
    log = await crawls.run("broken_media", "-O", str(found), ITEM_PIPELINES=pipelines, **stores, **LIBRARIES)
    [item] = json.loads(found.read_text())
    assert [one["url"] for one in item["files"] + item["images"]] == [
        crawls.site.url("/feed.csv"),
        crawls.site.url("/dot.png"),
    ]
    assert (count(log, "file_count"), count(log, "media/broken_urls"), count(log, "frontier/acked")) == (2, 8, 1)
    assert crawls.asked() == ["GET /dot.png ", "GET /feed.csv ", "GET /page/1/ "]
    assert "http://[bad is no URL: the item is stored without this file" in log


async def test_the_redis_pipeline_of_scrapy_redis_finds_the_bundled_redis(
    crawls: Crawls, project_env: dict[str, str]
) -> None:
    bundled = servers.start(Path(project_env["EMBEDDED_DATA_DIR"]), redis=True).redis_url
    del crawls.fleet.runner.env["REDIS_URL"]
    log = await crawls.run("quotes", ITEM_PIPELINES={"scrapy_redis.pipelines.RedisPipeline": 300})
    assert "on the bundled Redis of this machine" in log
    with redis.Redis.from_url(bundled) as client:
        assert client.llen("quotes:items") == count(log, "item_scraped_count") == 12


async def test_scrapy_playwrights_settings_and_meta_keys_ask_for_the_browser(crawls: Crawls, tmp_path: Path) -> None:
    script = "<title>t</title><script>setTimeout(() => document.body.append(document.createElement('b')), 200);"
    script += "setTimeout(() => { document.querySelector('b').textContent = 'by a script' }, 250)</script>"
    crawls.site.pages["/scripted"] = Page(f"<html><body>{script}</body></html>")
    path = tmp_path / "items.json"
    log = await crawls.run("rendered", "-O", str(path), BROWSER_EXECUTABLE=executable(), **LIBRARIES)
    assert "requests with meta['playwright'] are fetched by the browser tier, TIER = 'http,browser'" in log
    assert feed(path) == ['{"bold": "by a script", "results": ["t"]}', '{"bold": null, "results": []}']
