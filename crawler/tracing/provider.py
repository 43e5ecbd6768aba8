"""Makes spans and sends them to an OTLP receiver from a thread: a receiver that is slow or away costs spans, never a
page. What waits for it is bounded."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Link, NoOpTracer, Span, SpanContext, SpanKind, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from crawler import stats as names
from crawler.tracing.config import TracesConfig

MOST_WAITING: Final = 4_096  # spans; beyond that the oldest are dropped
EXPORT_SECONDS: Final = 5.0  # for which one batch is tried
CLOSE_SECONDS: Final = 5.0  # for which a closing process waits for its last spans
LIMITS: Final = SpanLimits(max_span_attributes=32, max_events=8, max_links=8, max_attribute_length=2_048)
NOWHERE: Final = Context()  # no span is ever a child of what happens to be current in this thread

logger = logging.getLogger(__name__)
_propagator: Final = TraceContextTextMapPropagator()


class Tracing:
    """One process's source of spans; *count* gets stats."""

    def __init__(
        self, terms: TracesConfig, count: Callable[[str, int], object], exporter: SpanExporter | None = None
    ) -> None:
        self.samples = terms.samples
        self._count = count
        self._ended = 0
        resource = Resource({"service.name": "shoal"}).merge(OTELResourceDetector().detect())  # its variables win
        self._provider = TracerProvider(ALWAYS_ON, resource, shutdown_on_exit=False, span_limits=LIMITS)
        _quiet()
        self._exporter = _Exporter(exporter or OTLPSpanExporter(terms.url or None, timeout=EXPORT_SECONDS))
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter, max_queue_size=MOST_WAITING))
        self._tracer = self._provider.get_tracer("shoal")

    @property
    def is_on(self) -> bool:
        """False where OTEL_SDK_DISABLED is set."""
        return not isinstance(self._tracer, NoOpTracer)

    def start(
        self,
        name: str,
        context: Context = NOWHERE,
        kind: SpanKind = SpanKind.INTERNAL,
        attributes: Mapping[str, Any] | None = None,
        links: Sequence[Link] = (),
        since: float | None = None,
    ) -> Span:
        """A span that began now, or at *since* of the monotonic clock; attributes that are None are left out."""
        known = {key: value for key, value in (attributes or {}).items() if value is not None}
        began = None if since is None else wall_ns(since)
        return self._tracer.start_span(name, context, kind, known, links, began)

    def end(self, span: Span, at: float | None = None) -> None:
        """End *span* now, or at *at* of the monotonic clock; it is sent later."""
        self._ended += 1
        self._count(names.SPANS, 1)
        span.end(None if at is None else wall_ns(at))

    def close(self) -> None:
        """Send what is left; returns after CLOSE_SECONDS at the latest, and blocks meanwhile."""
        thread = threading.Thread(target=self._provider.shutdown, name="traces", daemon=True)
        thread.start()
        thread.join(CLOSE_SECONDS)
        if lost := self._ended - self._exporter.sent:
            self._count(names.SPANS_LOST, lost)
            logger.warning("%d of %d spans did not reach their receiver", lost, self._ended)


class _Exporter(SpanExporter):
    """Counts what another one sends, and logs once when its receiver is away and once when it is back."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._away = False
        self.sent = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Never raises."""
        try:
            result = self._exporter.export(spans)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the receiver is no matter of the crawl
            logger.debug("Spans could not be sent: %s", error)
            result = SpanExportResult.FAILURE
        away = result is not SpanExportResult.SUCCESS
        self.sent += 0 if away else len(spans)
        if away and not self._away:
            logger.warning("The receiver of traces does not take them: spans are dropped until it does")
        elif self._away and not away:
            logger.warning("The receiver of traces takes them again")
        self._away = away
        return result

    def shutdown(self) -> None:
        """The other one's."""
        self._exporter.shutdown()


def _quiet() -> None:
    """The exporter logs each try of each batch as an error: that a receiver is away is said once, above."""
    for name in ("opentelemetry.exporter", "opentelemetry.sdk"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def context_of(traceparent: object) -> tuple[Context, SpanContext]:
    """The context that a W3C *traceparent* names; an invalid one, from whoever, is none."""
    if not isinstance(traceparent, str):
        return NOWHERE, get_current_span(NOWHERE).get_span_context()
    context = _propagator.extract({"traceparent": traceparent}, NOWHERE)
    return context, get_current_span(context).get_span_context()


def traceparent_of(span: Span) -> str:
    """The W3C form of *span*'s context."""
    context = span.get_span_context()
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"


def wall_ns(moment: float) -> int:
    """Unix nanoseconds of a *moment* of the monotonic clock."""
    return time.time_ns() - int((monotonic() - moment) * 1e9)
