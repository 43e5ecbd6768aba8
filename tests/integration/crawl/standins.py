"""Stands in for what fetches the pages of a dearer tier: asks the site for the page as that tier would see it."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request

from scrapy import Request
from scrapy.http import HtmlResponse


class RenderedHandler:
    """Fetches `<url>?<tier>`, and answers in the name of the URL that was asked for."""

    lazy = False
    guards_addresses = True  # the sites of tests are all that it is ever asked for

    async def download_request(self, request: Request) -> HtmlResponse:
        status, body = await asyncio.to_thread(_get, f"{request.url}?{request.meta['tier']}")
        return HtmlResponse(request.url, status=status, body=body, encoding="utf-8", request=request)

    async def close(self) -> None:
        """Nothing to close."""


def _get(url: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
