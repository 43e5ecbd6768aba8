"""Scrapy's RedirectMiddleware, with redirects to broken, over-long or non-HTTP URLs left alone."""

from __future__ import annotations

import logging
import re
from typing import Final

from scrapy import Request
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware as ScrapyRedirectMiddleware
from scrapy.http import Response

from crawler import urls
from crawler.errors import MessageError
from crawler.middlewares.downloader.redirect_scope import check_scope

# In UTF-8 no name that DNS could take is as long; to write one of a thousand letters in ASCII takes 0.2 s.
ENDLESS_NAME: Final = re.compile(rb"//[^/?#\"'<>\s]{800}")

logger = logging.getLogger(__name__)


class RedirectMiddleware(ScrapyRedirectMiddleware):
    """Passes on a response whose target cannot be fetched, as Scrapy does for other schemes.

    The request then ends as a dead letter, class `malformed`, unless its spider handles the status.
    """

    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        """The redirected request, or *response*."""
        try:
            _check_length(response.headers.get("Location") or b"")
            followed = super().process_response(request, response)
            if isinstance(followed, Request):
                urls.check(followed.url)
                check_scope(self.crawler, request, followed)
        except (ValueError, MessageError) as error:
            logger.info("%s redirects to a URL that cannot be fetched: %s", response, error)
            return response
        return followed


def _check_length(location: bytes) -> None:
    if len(location) > urls.MAX_URL_LENGTH or ENDLESS_NAME.search(location):
        raise MessageError(f"{len(location)} bytes, or a name that no host has: {location[:80]!r}...")
