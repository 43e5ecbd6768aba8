"""Bodies whose unpacking costs more than what comes out end like other refused ones."""

from __future__ import annotations

import gzip
import zlib
from random import Random

import brotli
import pytest
from backports import zstd
from scrapy import Request
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest, ResponseDataLossError
from scrapy.http import Headers, HtmlResponse, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.responsetypes import responsetypes
from scrapy.utils.test import get_crawler

from crawler.extraction.source.unpacking import MOST_PARTS
from crawler.middlewares.downloader.decompression import DecompressionMiddleware
from crawler.policy.endings.failures import FailureClass, classify

URL = "https://shop.example.com/"
PAGE = b"<html><title>Lamp</title></html>"
LONG = PAGE + b"".join(b"<p>%d</p>" % Random(at).getrandbits(40) for at in range(20_000))
EMPTY = gzip.compress(b"", mtime=0) * (MOST_PARTS + 1)


def answered(body: bytes, coding: str | bytes | list[str], **meta: object) -> Response:
    middleware = DecompressionMiddleware.from_crawler(get_crawler(settings_dict={"DOWNLOAD_MAXSIZE": 1_000_000}))
    headers = {"Content-Encoding": coding, "Content-Type": "text/html"}
    done = middleware.process_response(
        Request(URL, meta={"dont_retry": True} | meta), Response(URL, headers=headers, body=body)
    )
    assert isinstance(done, Response)
    return done


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(PAGE, mtime=0)),
        ("x-gzip", gzip.compress(PAGE, mtime=0)),
        ("zstd", zstd.compress(PAGE)),
        ("br", brotli.compress(PAGE)),
        ("deflate", zlib.compress(PAGE)),
        ("deflate", zlib.compress(PAGE, wbits=-15)),  # as some servers read the name
        ("br, gzip", gzip.compress(brotli.compress(PAGE), mtime=0)),
    ],
)
def test_pages_are_unpacked(coding: str, body: bytes) -> None:
    page = answered(body, coding)
    assert isinstance(page, HtmlResponse)
    assert page.body == PAGE
    assert "Content-Encoding" not in page.headers


@pytest.mark.parametrize("kind", ["text/html", "application/xml", "application/json", "application/gzip", "text/csv"])
def test_a_page_that_is_packed_and_does_not_say_so_is_unpacked_and_a_file_is_not(kind: str) -> None:
    """As sitemaps are, and what a server has packed for the transfer; a gzip file may be called a text."""
    packed = gzip.compress(PAGE, mtime=0)
    middleware = DecompressionMiddleware.from_crawler(get_crawler())
    given = responsetypes.from_args(headers=Headers({"Content-Type": kind}))
    done = middleware.process_response(Request(URL), given(URL, headers={"Content-Type": kind}, body=packed))
    assert isinstance(done, Response)
    assert done.body == (packed if kind in {"application/gzip", "text/csv"} else PAGE)
    media = Request(URL, callback=NO_CALLBACK)  # as FilesPipeline asks for one, to keep it as it came
    assert middleware.process_response(media, given(URL, body=packed)).body == packed


def test_a_coding_that_is_no_text_is_one_that_nobody_knows(caplog: pytest.LogCaptureFixture) -> None:
    assert answered(PAGE, b"gz\xefp").body == PAGE
    assert r"unsupported encoding(s) 'gz\xefp'" in caplog.text


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", EMPTY),
        ("zstd", zstd.compress(b"") * (MOST_PARTS + 1)),
        ("gzip, br", brotli.compress(EMPTY)),  # few bytes on the wire
    ],
)
def test_many_parts_are_refused(coding: str, body: bytes) -> None:
    with pytest.raises(DownloadCancelledError, match="packed parts"):
        answered(body, coding)


@pytest.mark.parametrize(
    ("coding", "pack"), [("gzip", gzip.compress), ("zstd", zstd.compress), ("deflate", zlib.compress)]
)
def test_what_comes_out_is_bounded_as_before(coding: str, pack: object) -> None:
    with pytest.raises(IgnoreRequest, match="DOWNLOAD_MAXSIZE"):
        answered(pack(b"\0" * 2_000_000), coding)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("br", PAGE),  # labelled, and not packed at all
        ("gzip", PAGE),
        ("gzip", gzip.compress(PAGE, mtime=0)[:5]),
        ("gzip", gzip.compress(PAGE, mtime=0)[:10] + b"\xff" * 40),
        ("zstd", PAGE),
        ("zstd", b"\x28\xb5\x2f\xfd\x00\xff\x01\x00\x00"),  # wants a window of terabytes
        ("deflate", PAGE),
        ("deflate", zlib.compress(PAGE)[:-4] + b"\0\0\0\0"),  # another page's checksum
        ("gzip, br", brotli.compress(PAGE)),
    ],
)
def test_a_body_that_cannot_be_unpacked_is_lost_data_and_said_so(coding: str, body: bytes) -> None:
    inner = coding.partition(",")[0]
    with pytest.raises(ResponseDataLossError, match=f"^a body of {inner} cannot be unpacked: .") as raised:
        answered(body, coding)
    assert classify(raised.value) is FailureClass.MALFORMED


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(LONG, mtime=0)),
        ("zstd", zstd.compress(LONG)),
        ("br", brotli.compress(LONG)),
        ("deflate", zlib.compress(LONG)),
        ("deflate", zlib.compress(LONG, wbits=-15)),
    ],
)
def test_a_part_of_a_page_is_none_unless_parts_are_asked_for(coding: str, body: bytes) -> None:
    half = body[: len(body) // 2]
    with pytest.raises(ResponseDataLossError, match="it ends in the middle"):
        answered(half, coding)
    part = answered(half, coding, download_fail_on_dataloss=False).body
    assert 1_000 < len(part) < len(LONG) == len(answered(body, coding).body)
    assert LONG.startswith(part)
    assert answered(b"", coding).body == b""


def test_lost_data_are_retried_as_often_as_told() -> None:
    crawler = get_crawler(settings_dict={"RETRY_TIMES": 1})
    crawler.spider = crawler._create_spider("walk")
    middleware = DecompressionMiddleware.from_crawler(crawler)
    half = Response(URL, headers={"Content-Encoding": "br"}, body=brotli.compress(LONG)[:20_000])
    again = middleware.process_response(Request(URL), half)
    assert isinstance(again, Request)
    assert again.meta["retry_times"] == 1
    with pytest.raises(ResponseDataLossError):
        middleware.process_response(again, half)


@pytest.mark.parametrize(("coding", "window"), [("gzip", 31), ("deflate", 15), ("deflate", -15)])
def test_a_page_that_is_flushed_and_lacks_its_end_is_whole(coding: str, window: int) -> None:
    pack = zlib.compressobj(wbits=window)
    flushed = pack.compress(LONG) + pack.flush(zlib.Z_SYNC_FLUSH)
    assert answered(flushed, coding).body == LONG


def test_the_checksums_of_gzip_are_not_compared() -> None:
    assert answered(gzip.compress(LONG, mtime=0)[:-8], "gzip").body == LONG


@pytest.mark.parametrize("codings", [", ".join(["gzip"] * 6), ["gzip"] * 6, "," * 10_000])
def test_a_body_of_more_codings_than_servers_apply_is_refused(codings: str | list[str]) -> None:
    with pytest.raises(DownloadCancelledError, match="content codings"):
        answered(gzip.compress(PAGE, mtime=0), codings)


def test_a_body_of_several_codings_is_unpacked() -> None:
    packed = PAGE
    for _ in range(5):
        packed = gzip.compress(packed, mtime=0)
    assert answered(packed, ["gzip, gzip", "gzip,gzip,gzip"]).body == PAGE
