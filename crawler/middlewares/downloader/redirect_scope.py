"""Checks that redirects stay in scope."""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest

from crawler.meta import ANY_SCOPE
from crawler.worker.lookup import worker_if_any


def check_scope(crawler: Crawler, request: Request, followed: Request) -> None:
    """Raise IgnoreRequest if *request* leads out of scope; the page is then done.

    A pushed URL may redirect anywhere except to excluded URLs: shops move. A link may not leave the scope by a
    redirect.
    """
    worker = worker_if_any(crawler)
    held = worker.book.of(request) if worker is not None else None
    if worker is None or held is None or request.dont_filter or request.meta.get(ANY_SCOPE):
        return
    scope, depth = worker.queue.encoder.scopes.of(held.lease.generation), request.meta.get("depth", 0)
    linked = isinstance(depth, int) and depth > 0
    rule = scope.link(followed.url, request.url, depth).rule if linked else scope.pushed(followed.url)
    if rule:
        worker.cuts.count(rule, followed.url, held.lease.generation)
        raise IgnoreRequest(f"it redirects out of scope, by the rule {rule!r}: {followed.url}")
