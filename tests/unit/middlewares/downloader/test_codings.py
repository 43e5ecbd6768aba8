"""A body that is encoded more often than servers do is refused before anything is undone."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Response

from crawler.components import DOWNLOADER_MIDDLEWARES
from crawler.middlewares.downloader.codings import CodingsMiddleware

URL = "https://shop.example.com/"
SCRAPYS = 590  # place of its HttpCompressionMiddleware, which undoes them


@pytest.mark.parametrize("headers", [[], ["gzip"], ["gzip, br"], ["gzip", "br", "deflate,gzip,zstd"]])
def test_few_codings_pass(headers: list[str]) -> None:
    response = Response(URL, headers={"Content-Encoding": headers} if headers else None)
    assert CodingsMiddleware().process_response(Request(URL), response) is response


@pytest.mark.parametrize("headers", [[", ".join(["gzip"] * 6)], ["gzip"] * 6, ["," * 10_000]])
def test_many_are_refused(headers: list[str]) -> None:
    with pytest.raises(DownloadCancelledError, match="content codings"):
        CodingsMiddleware().process_response(Request(URL), Response(URL, headers={"Content-Encoding": headers}))


def test_it_comes_before_they_are_undone() -> None:
    assert DOWNLOADER_MIDDLEWARES["crawler.middlewares.downloader.codings.CodingsMiddleware"] > SCRAPYS
