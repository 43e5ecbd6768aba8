"""Scrapy's MetaRefreshMiddleware, run only on pages that may have a meta refresh."""

from __future__ import annotations

from typing import Final
from urllib.parse import urldefrag

from scrapy import Request
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware as ScrapyMetaRefreshMiddleware
from scrapy.http import Response, TextResponse
from scrapy.utils.response import get_meta_refresh

from crawler import urls
from crawler.errors import MessageError
from crawler.middlewares.downloader.redirect import ENDLESS_NAME
from crawler.middlewares.downloader.redirect_scope import check_scope

CHARACTERS: Final = 4_096  # Scrapy looks at this many, after decoding the whole page
RELOAD_SECONDS: Final = 15  # from here on who reloads a page wants it fresh; walls that set a cookie are quicker


class MetaRefreshMiddleware(ScrapyMetaRefreshMiddleware):
    """Skips decoding where the bytes show that there is no meta refresh, as on nearly every page. A page that reloads
    itself, as those with news do, is the page: followed it would lead back to itself until it is given up."""

    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        begin = response.body[:CHARACTERS]
        if not begin.isascii() or b"\x1b" in begin:  # characters of several bytes, at most four
            begin = response.body[: 4 * CHARACTERS]
        if b"\0" in begin and isinstance(response, TextResponse):  # UTF-16
            begin = response.text[:CHARACTERS].encode(errors="replace")
        if b"refresh" not in begin.lower() or ENDLESS_NAME.search(begin):
            return response
        try:
            followed = super().process_response(request, response)
            if isinstance(followed, Request):
                urls.check(followed.url)
                check_scope(self.crawler, request, followed)
        except (ValueError, MessageError):  # the page itself is fine
            return response
        return response if isinstance(followed, Request) and self._reloads(followed, request, response) else followed

    def _reloads(self, followed: Request, request: Request, page: Response) -> bool:
        if followed.method != request.method or urldefrag(followed.url).url != urldefrag(request.url).url:
            return False
        assert isinstance(page, TextResponse)
        seconds, _ = get_meta_refresh(page, ignore_tags=self._ignore_tags)  # Scrapy remembers them
        return (seconds or 0) >= RELOAD_SECONDS
