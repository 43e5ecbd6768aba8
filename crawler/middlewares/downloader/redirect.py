"""Scrapy's RedirectMiddleware, for redirects to what is no address: broken, over-long, or of a foreign scheme."""

from __future__ import annotations

import logging

from scrapy import Request
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware as ScrapyRedirectMiddleware
from scrapy.http import Response

from crawler import urls
from crawler.errors import MessageError

logger = logging.getLogger(__name__)


class RedirectMiddleware(ScrapyRedirectMiddleware):
    """Leaves an answer as it is whose target nobody can fetch, as Scrapy does where that has a foreign scheme.

    The request then ends as a dead letter, class `malformed`, unless its spider takes the status.
    """

    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        """The request that follows, or *response*."""
        try:
            followed = super().process_response(request, response)
            if isinstance(followed, Request):
                urls.check(followed.url)
        except (ValueError, MessageError) as error:
            logger.info("%s redirects to a URL that cannot be fetched: %s", response, error)
            return response
        return followed
