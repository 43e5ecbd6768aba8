"""`products`: feeds that are packed files."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from scrapy.http import Response, XmlResponse
from scrapy.utils.test import get_crawler

from crawler.items import ProductItem
from crawler.spiders.products import ProductsSpider

URL = "https://shop.example.de/feed.xml.gz"
DECLARED = '<?xml version="1.0" encoding="windows-1251"?>'
ITEM = "<item><g:id>K-{n}</g:id><title>Нож {n}</title><g:price>{n}.50 EUR</g:price></item>"
FEED = f"{DECLARED}<rss><channel>{''.join(ITEM.format(n=n) for n in range(1, 401))}</channel></rss>".encode("cp1251")


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., list[ProductItem]]:
    """What the spider makes of a body that nothing calls a text."""
    rules = tmp_path / "domains.toml"
    rules.write_text('["shop.example.de".fields]\nprice = { xml = "g:price" }')

    def made(body: bytes, url: str = URL, most: int = 0) -> list[ProductItem]:
        crawler = get_crawler(ProductsSpider, {"DOMAINS_FILE": str(rules), "DOWNLOAD_MAXSIZE": most})
        spider = ProductsSpider.from_crawler(crawler)
        return [each for each in spider.parse(Response(url, body=body)) if isinstance(each, ProductItem)]

    return made


def test_a_packed_feed_is_read_like_any(read: Callable[..., list[ProductItem]]) -> None:
    found = read(gzip.compress(FEED))
    assert (found[0].title, str(found[0].price), found[0].sku) == ("Нож 1", "1.50", "K-1")
    assert len(found) == 400
    assert XmlResponse(URL, body=FEED).encoding == "cp1251"


def test_a_cut_one_is_read_up_to_its_end(
    read: Callable[..., list[ProductItem]], caplog: pytest.LogCaptureFixture
) -> None:
    found = read(gzip.compress(FEED)[:-600])
    assert 100 < len(found) < 400
    assert "is broken, read up to that point" in caplog.text


@pytest.mark.parametrize(
    ("body", "url", "words"),
    [
        (gzip.compress(FEED), "https://other.example/feed.xml.gz", "Not a text page"),  # without a rule for it
        (gzip.compress(b"<html><title>Knife</title>"), URL, "Not a text page"),
        (gzip.compress(b"\0" * 9_000), URL, "Not a text page"),
        (b"\x1f\x8bno gzip", URL, "cannot be unpacked: "),
        (gzip.compress(b"", mtime=0) * 9_000, URL, "cannot be unpacked: more than 2,000 packed parts"),
        (gzip.compress(FEED * 9), URL, "cannot be unpacked: more than 99,999 bytes"),
    ],
)
def test_anything_else_is_none_and_that_is_said(
    read: Callable[..., list[ProductItem]], caplog: pytest.LogCaptureFixture, body: bytes, url: str, words: str
) -> None:
    caplog.set_level(logging.INFO)
    assert read(body, url, most=99_999) == []
    assert words in caplog.text
