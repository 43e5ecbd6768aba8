"""Redirects whose targets are hostile: what Scrapy would do with them costs no time."""

from __future__ import annotations

import pytest
from scrapy import Request, Spider
from scrapy.http import HtmlResponse, Response
from scrapy.utils.test import get_crawler

from crawler.middlewares.downloader.metarefresh import MetaRefreshMiddleware
from crawler.middlewares.downloader.redirect import RedirectMiddleware
from tests.effort import cpu_seconds

HERE = "https://shop.example/a"
LETTERS = "".join(map(chr, range(0x4E00, 0x4E00 + 1_000)))
FAR = [f"http://{LETTERS}.example/", f"//{LETTERS}", f"/a/{LETTERS[:100]}" * 300]
TRIES = 10


@pytest.mark.parametrize("target", FAR, ids=["name", "without scheme", "path"])
def test_a_target_that_no_host_has_is_none(target: str) -> None:
    """To encode a name of a thousand letters for DNS takes 0.2 s."""
    crawler, request = get_crawler(Spider), Request(HERE)
    crawler.spider = Spider("any")
    moved = Response(HERE, 302, {"Location": target}, request=request)
    refreshes = [
        HtmlResponse(HERE, body=f'<meta http-equiv=refresh content="0;url={target}">', encoding=encoding)
        for encoding in ("utf-8", "utf-16")
        for _ in range(TRIES // 2)
    ]
    redirect, refresh = RedirectMiddleware.from_crawler(crawler), MetaRefreshMiddleware.from_crawler(crawler)
    assert redirect.process_response(request, moved) is moved

    def answered() -> None:
        for page in refreshes:
            assert isinstance(redirect.process_response(request, moved), Response)
            assert isinstance(refresh.process_response(request, page), Response)

    assert cpu_seconds(answered, 0.3) < 0.3


def test_other_targets_are_followed() -> None:
    crawler, request = get_crawler(Spider), Request(HERE)
    crawler.spider = Spider("any")
    for name, ascii_name in (("bücher.example", "xn--bcher-kva.example"), ("x" * 63 + ".example", "")):
        moved = Response(HERE, 302, {"Location": f"https://{name}/{LETTERS[:300]}"}, request=request)
        followed = RedirectMiddleware.from_crawler(crawler).process_response(request, moved)
        assert isinstance(followed, Request)
        assert followed.url.startswith(f"https://{ascii_name or name}/%E4%B8%80")


@pytest.mark.parametrize(
    ("method", "refresh", "is_followed"),
    [
        ("GET", "60; url=/a", False),
        ("GET", f"15; url={HERE}#top", False),
        ("GET", "0; url=/a", True),  # a wall that sets a cookie
        ("GET", "14; url=/a", True),
        ("GET", "60; url=/b", True),
        ("POST", "60; url=/a", True),  # by GET it is another page
    ],
)
def test_a_page_that_reloads_itself_is_the_page(method: str, refresh: str, is_followed: bool) -> None:
    crawler, request = get_crawler(Spider), Request(HERE, method=method)
    crawler.spider = Spider("any")
    page = HtmlResponse(HERE, body=f'<meta http-equiv=refresh content="{refresh}">'.encode(), request=request)
    answer = MetaRefreshMiddleware.from_crawler(crawler).process_response(request, page)
    assert (answer is not page) == is_followed
