"""The first span of a trace: a request is made and queued. Its context travels in the queued request, so that whoever
leases it, and tries it again, goes on with the same trace.

A page's links begin traces of their own, with a link to the page that they were found on: a crawl is one endless tree,
and a trace of it could be neither sampled nor read.
"""

from __future__ import annotations

from collections.abc import Callable

from opentelemetry.trace import Link, Span, SpanKind
from scrapy import Request

from crawler.meta import PARENT_ID, TRACEPARENT
from crawler.tracing.provider import Tracing, context_of, traceparent_of
from crawler.urls import without_credentials


class PushSpans:
    """The `tracer` of an `Encoder`. *open_span*: of the request with that id, where this process is fetching it."""

    def __init__(self, tracing: Tracing, spider: str, open_span: Callable[[str], Span | None] = lambda _: None) -> None:
        self._tracing = tracing
        self._spider = spider
        self._open_span = open_span

    def wants(self, fingerprint: int) -> bool:
        """Whether such a request is traced."""
        return self._tracing.samples(fingerprint)

    def mark(self, request: Request, fingerprint: int) -> None:
        """Begin the trace of *request*, which is about to be queued; one that came with a context continues that."""
        context, given = context_of(request.meta.get(TRACEPARENT))
        if not (given.trace_flags.sampled if given.is_valid else self.wants(fingerprint)):
            return
        parent = str(request.meta.get(PARENT_ID) or "")
        finder = self._open_span(parent) if parent else None
        attributes = {
            "url.full": without_credentials(request.url),
            "shoal.spider": self._spider,
            "shoal.parent_id": parent or None,
        }
        links = [Link(finder.get_span_context())] if finder is not None else []
        span = self._tracing.start("push", context, SpanKind.PRODUCER, attributes, links)
        request.meta[TRACEPARENT] = traceparent_of(span)
        self._tracing.end(span)
