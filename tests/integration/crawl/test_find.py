"""`scrapy find` from push to store."""

from __future__ import annotations

import json
import re

from tests.crawling import Fleet, ended
from tests.sites import Page, Site


def find(fleet: Fleet, *args: str) -> tuple[int, str]:
    result = fleet.runner.run("find", *args, *fleet.options(ROBOTSTXT_OBEY=True))
    assert "Traceback" not in result.stderr
    return result.returncode, result.stdout + result.stderr


async def test_a_url_is_followed_from_the_queue_to_its_document(fleet: Fleet) -> None:
    rules = "User-agent: *\nDisallow: /private\nCrawl-delay: 0.1"
    with Site({"/": Page("<title>home</title>"), "/broken": Page(status=500), "/robots.txt": Page(rules)}) as site:
        home, broken, private = site.url("/"), site.url("/broken"), site.url("/private")
        status, told = find(fleet, home)
        assert (status, "the frontier has seen no URL" in told) == (2, True)
        fleet.runner.run("push", "walk", home, broken, private, *fleet.options())
        status, told = find(fleet, broken)
        assert status == 0
        assert re.search(r"queued in walk behind [012] requests? of 127\.0\.0\.1", told)
        assert "next turn now" in told
        log = (await ended(fleet.start(ROBOTSTXT_OBEY=True, RETRY_ENABLED=False)))[1]
        status, told = find(fleet, home)
        assert status == 0, log
        assert "done" in told
        assert "stored in pages: version 1" in told
        assert "/robots.txt asks shoal for a Crawl-delay of 0.1 s" in told
        assert "http_500" in find(fleet, broken)[1]
        assert "/robots.txt does not allow shoal to fetch it" in find(fleet, private)[1]
        [report] = map(json.loads, find(fleet, broken, "--json")[1].splitlines())
        assert report["places"][0]["state"] == "dead"
        status, told = find(fleet, site.url("/never"), "--spider", "walk")
    assert status == 1
    assert told.splitlines()[1] == "  never seen"


def test_without_mongodb_the_rest_is_told_and_json_stays_json(fleet: Fleet) -> None:
    away = {"MONGODB_URI": "mongodb://reader:s3cret@127.0.0.1:1/", "STORAGE_CONNECT_SECONDS": 0.3}
    url = "https://shop.example/"
    result = fleet.runner.run("find", url, "--spider", "walk", "--json", *fleet.options(**away))
    assert (result.returncode, json.loads(result.stdout)["stored"]) == (1, [])
    assert result.stderr.startswith(f"documents of {url} are unknown: MongoDB at ")
    assert "s3cret" not in result.stderr


def test_wrong_input_is_refused_in_one_line(fleet: Fleet) -> None:
    for args, words in (
        (["nonsense"], "scrapy find: no scheme: expected http:// or https:// before 'nonsense'"),
        ([], "name one URL"),
    ):
        status, told = find(fleet, *args)
        assert status == 2
        assert words in told
        assert len(told.splitlines()) == 1
    assert "there is no spider 'nobody'" in find(fleet, "https://shop.example/", "--spider", "nobody")[1]
