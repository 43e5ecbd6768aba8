"""The spans of a leased request in its worker: `lease` from the lease to its end, within it `fetch` (each attempt),
`parse` and `store`. A request that nobody marked when it was queued begins its trace here."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context
from scrapy import Request
from scrapy.http import Response

from crawler.counting.timings import STEPS, Histogram
from crawler.meta import REQUEST_ID, RUN_ID, TRACEPARENT
from crawler.policy.endings.outcome import Conclusion, Verdict, conclude
from crawler.tracing.provider import NOWHERE, Tracing, context_of, traceparent_of
from crawler.urls import without_credentials
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.lease_book import LeaseBook

MOST_OPEN: Final = 1_000  # leases, far more than a worker holds: one whose end is missed stays no longer
MOST_STORES: Final = 50  # spans of a page's items; those beyond are only counted


@dataclass(slots=True)
class _Open:
    """A traced lease."""

    held: HeldLease
    span: Span
    context: Context
    attempt_at: float = 0.0  # when the present attempt came to the wire
    stores: int = 0


class LeaseSpans:
    """Those of one worker; at most as many are open as it holds leases."""

    def __init__(self, tracing: Tracing, book: LeaseBook, worker: str) -> None:
        self._tracing = tracing
        self._book = book
        self._worker = worker
        self._open: dict[str, _Open] = {}

    def span(self, request_id: str) -> Span | None:
        """The open `lease` of a request."""
        found = self._open.get(request_id)
        return found.span if found else None

    def sending(self, request: Request) -> None:
        """An attempt of *request* is about to wait for its turn."""
        if (held := self._book.of(request)) is None:
            return
        found = self._open.get(held.lease.id) or self._begin(request, held)
        if found is not None:
            found.attempt_at = monotonic()

    def answered(self, request: Request, result: Response | Exception) -> None:
        """The attempt ended: make its `fetch`."""
        found = self._found(request)
        if found is None or self._book.of(request) is not found.held:
            return
        attributes: dict[str, Any] = {"http.request.method": request.method, **_of(request)}
        failed = isinstance(result, Exception)
        if isinstance(result, Exception):
            attributes["error.type"] = type(result).__name__
        else:
            attributes |= {"http.response.status_code": result.status, "http.response.body.size": len(result.body)}
            attributes["shoal.first_byte_seconds"] = request.meta.get("download_latency")
        since = max(found.attempt_at, found.held.slot.started_at or 0.0)
        span = self._tracing.start("fetch", found.context, SpanKind.CLIENT, attributes, since=since)
        if failed or (isinstance(result, Response) and result.status >= 400):
            span.set_status(Status(StatusCode.ERROR))
        self._tracing.end(span)

    def stored(self, seconds: float, request_id: str) -> None:
        """An item of that request became durable: make its `store`."""
        if (found := self._open.get(request_id)) is None:
            return
        found.stores += 1
        if found.stores <= MOST_STORES:
            span = self._tracing.start("store", found.context, SpanKind.CLIENT, since=monotonic() - seconds)
            self._tracing.end(span)

    def ended(self, request: Request) -> bool:
        """*request* leaves the engine: end its `lease`, unless that goes on with a redirect or a second download."""
        if (found := self._found(request)) is None:
            return True
        is_its = self._book.of(request) is found.held
        if (is_its and found.held.downloads > 1) or (not is_its and any(h is found.held for h in self._book.all())):
            return True
        del self._open[found.held.lease.id]
        self._parsed(found)
        self._finish(found, conclude(found.held.evidence) if is_its else None)
        return True

    def close(self) -> None:
        """End what is left open."""
        for found in self._open.values():
            self._finish(found, None)
        self._open.clear()

    def _found(self, request: Request) -> _Open | None:
        """By its lease; by its id once that has moved on."""
        held = self._book.of(request)
        return self._open.get(held.lease.id if held is not None else str(request.meta.get(REQUEST_ID)))

    def _begin(self, request: Request, held: HeldLease) -> _Open | None:
        context, given = context_of(request.meta.get(TRACEPARENT))
        if not (given.trace_flags.sampled if given.is_valid else self._tracing.samples(held.lease.fingerprint)):
            return None
        lease = held.lease
        attributes = {
            **_of(request),
            "shoal.request_id": lease.id,
            "shoal.run_id": request.meta.get(RUN_ID),
            "shoal.worker": self._worker,
            "shoal.stream": lease.stream,
            "shoal.host": lease.host,
            "shoal.deliveries": lease.deliveries,
            "shoal.waited_seconds": lease.waited_ms / 1000,
        }
        span = self._tracing.start("lease", context, SpanKind.CONSUMER, attributes, since=held.leased_at)
        if not given.is_valid:
            request.meta[TRACEPARENT] = traceparent_of(span)  # a retry goes on with this trace
        if len(self._open) >= MOST_OPEN:
            self._finish(self._open.pop(next(iter(self._open))), None)
        self._open[lease.id] = found = _Open(held, span, set_span_in_context(span, NOWHERE))
        return found

    def _parsed(self, found: _Open) -> None:
        held = found.held
        if held.handed_at is None:
            return
        span = self._tracing.start("parse", found.context, since=held.handed_at)
        if held.evidence.spider_error:
            span.set_status(Status(StatusCode.ERROR))
            span.set_attribute("error.type", held.evidence.spider_error.partition(":")[0])
        self._tracing.end(span, held.parsed_at)

    def _finish(self, found: _Open, conclusion: Conclusion | None) -> None:
        """None: it goes on elsewhere, a retry, another tier, or given back."""
        found.span.set_attribute("shoal.outcome", conclusion.reason if conclusion else "requeued")
        if conclusion is not None and conclusion.verdict in {Verdict.NACK, Verdict.BURY}:
            found.span.set_status(Status(StatusCode.ERROR))
        if found.stores:
            found.span.set_attribute("shoal.items", found.stores)
        self._tracing.end(found.span)


def _of(request: Request) -> dict[str, Any]:
    return {"url.full": without_credentials(request.url)}


class StoreHistogram(Histogram):
    """The histogram of `store`, which also makes the spans."""

    __slots__ = ("_spans",)

    def __init__(self, spans: LeaseSpans) -> None:
        super().__init__(STEPS)
        self._spans = spans

    def observe(self, seconds: float, request_id: str = "") -> None:
        """Count one value."""
        super().observe(seconds, request_id)
        self._spans.stored(seconds, request_id)
