"""What our cheaper twins of Scrapy's middlewares must have in common with them: everything that is seen."""

from __future__ import annotations

import gzip
from typing import Any

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware as ScrapyMetaRefresh
from scrapy.downloadermiddlewares.stats import DownloaderStats as ScrapyStats
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from crawler.engine.stats_collector import StatsCollector
from crawler.middlewares.downloader.metarefresh import MetaRefreshMiddleware
from crawler.middlewares.downloader.stats import DownloaderStats
from tests.shipped import shipped

REQUESTS = [
    Request("http://a.example"),
    Request("http://a.example:8080/p;x=1?q=2#f", headers={"A": ["1", "2"], "User-Agent": "x"}),
    Request("https://user:pass@a.example/?q", method="POST", body=b"k=v"),
]
RESPONSES = [
    Response("http://a.example/", 200, body=b"hello", headers={"A": ["1"], "B": "22"}),
    Response("http://a.example/", 404),
    Response("http://a.example/", 299, headers={"X": "y"}),
]


def counted(middleware: type[ScrapyStats], collector: type[MemoryStatsCollector]) -> dict[str, Any]:
    stats = collector(Crawler(Spider))
    counting = middleware(stats)
    for request in REQUESTS:
        counting.process_request(request)
        for response in RESPONSES:
            assert counting.process_response(request, response) is response
    counting.process_exception(REQUESTS[0], ValueError())
    return dict(stats.get_stats())


def test_stats_have_scrapys_names_and_values() -> None:
    assert counted(DownloaderStats, StatsCollector) == counted(ScrapyStats, MemoryStatsCollector)


def test_the_collector_takes_what_scrapys_takes() -> None:
    stats = StatsCollector(Crawler(Spider))
    stats.inc_value("a", spider=Spider("x"))
    stats.set_value("b", 2)
    stats.max_value("b", 3)
    assert (stats.get_stats(), stats.get_value("c", 1)) == ({"a": 1, "b": 3}, 1)


BEGINNINGS = ["", "<!-- x -->" * 100, "あ" * 3_000, " " * 4_090]
TAGS = [
    '<meta http-equiv="refresh" content="0;url=/b">',
    "<META HTTP-EQUIV='Refresh' CONTENT='5; url=http://b.example/'>",
    '<noscript><meta http-equiv="refresh" content="0;url=/b"></noscript>',
    "<p>how to refresh</p>",
    "<title>nothing</title>",
]


def answers(page: bytes, encoding: str) -> list[str]:
    settings, found = Settings(), []
    for kind in (ScrapyMetaRefresh, MetaRefreshMiddleware):
        middleware = kind.from_crawler(Crawler(Spider, settings))
        request = Request("http://a.example/")
        answer = middleware.process_response(request, HtmlResponse(request.url, body=page, encoding=encoding))
        found.append(f"{type(answer).__name__} {answer.url}")
    return found


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16", "utf-32", "iso-2022-jp"])
@pytest.mark.parametrize("beginning", BEGINNINGS, ids=range(len(BEGINNINGS)))
@pytest.mark.parametrize("tag", TAGS)
def test_a_meta_refresh_is_found_where_scrapy_finds_it(tag: str, beginning: str, encoding: str) -> None:
    scrapys, ours = answers((beginning + tag).encode(encoding, "replace"), encoding)
    assert ours == scrapys


@given(st.text(max_size=80), st.sampled_from(TAGS))
def test_nothing_around_it_hides_it(around: str, tag: str) -> None:
    page = f"{around}{tag}{around}".encode("utf-8", "replace")
    scrapys, ours = answers(page, "utf-8")
    assert ours == scrapys


@pytest.mark.parametrize(
    "packed",
    [gzip.compress(b"\0" * 20_000_000), brotli.compress(b"\0" * 20_000_000, quality=1)],
    ids=["gzip", "brotli"],
)
def test_a_bomb_is_not_unpacked_beyond_the_limit_of_a_body(packed: bytes) -> None:
    settings = shipped()
    crawler = Crawler(Spider, settings)
    crawler.stats = StatsCollector(crawler)
    encoding = "gzip" if packed[:2] == b"\x1f\x8b" else "br"
    response = Response("http://a.example/", body=packed, headers={"Content-Encoding": encoding})
    assert len(packed) < 100_000

    with pytest.raises(IgnoreRequest, match="exceeded DOWNLOAD_MAXSIZE"):
        HttpCompressionMiddleware.from_crawler(crawler).process_response(REQUESTS[0], response)
