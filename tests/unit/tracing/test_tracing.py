"""Which requests are traced, what their spans hold, and that nothing about traces can hurt a crawl."""

from __future__ import annotations

import re
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from time import monotonic
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from scrapy import Request
from scrapy.http import Response
from scrapy.settings import Settings

from crawler import defaults
from crawler.errors import ConfigError
from crawler.frontier.messages import Lease
from crawler.meta import PARENT_ID, REQUEST_ID, TRACEPARENT
from crawler.tracing import leases, opening, provider
from crawler.tracing.config import TracesConfig
from crawler.tracing.leases import MOST_STORES, LeaseSpans, StoreHistogram
from crawler.tracing.provider import Tracing, context_of
from crawler.tracing.pushes import PushSpans
from crawler.worker.leases.held import HeldLease, HeldSlot
from crawler.worker.leases.lease_book import LeaseBook
from tests.zygote import PROJECT_DIR

URL = "http://user:s3cret@shop.example/p?q=1"


class World:
    """Spans of one worker, kept in memory."""

    def __init__(self, ratio: float = 1.0) -> None:
        self.exporter = InMemorySpanExporter()
        self.stats: Counter[str] = Counter()
        self.tracing = Tracing(TracesConfig(ratio, ""), self._count, self.exporter)
        self.book = LeaseBook()
        self.spans = LeaseSpans(self.tracing, self.book, "one")
        self.pushes = PushSpans(self.tracing, "shop", self.spans.span)

    def _count(self, name: str, count: int) -> None:
        self.stats[name] += count

    def leased(self, number: int = 1, **meta: Any) -> tuple[Request, HeldLease]:
        """A leased request, handed over for its first attempt."""
        request = Request(URL, meta=meta | {REQUEST_ID: f"0:{number}"})
        lease = Lease(f"0:{number}", 1, "shop.example", "shop", b"", number, "0", 0, 1000, 0, 0)
        held = HeldLease(lease, monotonic(), HeldSlot(monotonic() + 1))
        self.book.hold(request, held)
        self.spans.sending(request)
        return request, held

    def all(self) -> Sequence[ReadableSpan]:
        """All spans, once they are sent."""
        self.tracing.close()
        return self.exporter.get_finished_spans()


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.tracing.close()


def _settings(**changed: object) -> Settings:
    return Settings({"TRACES_RATIO": defaults.TRACES_RATIO, "TRACES_URL": defaults.TRACES_URL} | changed)


def test_off_is_the_default_and_imports_nothing() -> None:
    """`make lint` keeps OpenTelemetry in this room; who imports these modules of it does so when traces are on."""
    assert opening.open_tracing(_settings()) is None
    eager = re.compile(r"^(?:from|import) (?:opentelemetry|crawler\.tracing\.(?:provider|pushes|leases))", re.MULTILINE)
    found = {path.name for path in (PROJECT_DIR / "crawler").rglob("*.py") if eager.search(path.read_text())}
    assert found == {"provider.py", "pushes.py", "leases.py"}


@pytest.mark.parametrize(
    ("name", "value"),
    [("TRACES_RATIO", v) for v in (-0.1, 1.1, "often", None)]
    + [
        ("TRACES_URL", v)
        for v in (
            "collector:4318",
            "ftp://me:s3cret@x/",
            "http://",
            "grpc://x:4317",
            "http://x:y/",
            "http://me:s3cret@[x/",
        )
    ],
)
def test_settings_out_of_range_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=name) as refused:
        TracesConfig.from_settings(_settings(**{name: value}))
    assert "s3cret" not in str(refused.value)


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "crawler.tracing.provider", None)
    with pytest.raises(ConfigError, match=r"pip install '\./shoal\[otel\]'"):
        opening.open_tracing(_settings(TRACES_RATIO=0.1))


@pytest.mark.parametrize("step", [1, 2**40, (1 << 63) // 20_001])
@pytest.mark.parametrize("ratio", [0.0, 0.01, 0.5, 1.0])
def test_about_that_share_of_any_fingerprints_is_traced(ratio: float, step: int) -> None:
    terms = TracesConfig(ratio, "")
    found = sum(terms.samples(number * step % (1 << 63)) for number in range(1, 20_001)) / 20_000
    assert abs(found - ratio) <= 0.01
    assert ratio not in {0.0, 1.0} or found == ratio


def test_no_span_holds_a_password_or_an_error_s_words(world: World) -> None:
    request, held = world.leased()
    world.pushes.mark(Request(URL), 1)
    world.spans.answered(request, ValueError("cannot reach http://u:s3cret@proxy/"))
    held.evidence.spider_error = "ValueError: s3cret"
    held.handed_at = monotonic()
    world.spans.ended(request)
    spans = world.all()
    assert [span.name for span in spans] == ["push", "fetch", "parse", "lease"]
    assert "s3cret" not in "".join(span.to_json() for span in spans)
    assert {span.attributes["error.type"] for span in spans if span.attributes and "error.type" in span.attributes} == {
        "ValueError"
    }


def test_a_fetch_begins_at_the_wire_and_a_status_of_400_is_an_error(world: World) -> None:
    request, held = world.leased()
    for started_at, status in ((held.leased_at + 50, 399), (held.leased_at - 50, 400)):
        held.slot.started_at = started_at
        world.spans.answered(request, Response(URL, status=status))
    world.spans.ended(request)
    first, second, lease = world.all()
    assert first.start_time
    assert second.start_time
    assert lease.start_time
    assert first.start_time - lease.start_time == pytest.approx(50e9, abs=1e9), "of the first attempt"
    assert second.start_time > lease.start_time, "of a later one, which waits for its turn anew"
    assert (first.status.is_ok, second.status.is_ok) == (True, False)


def test_a_retry_elsewhere_goes_on_with_a_trace_that_began_at_its_lease(world: World) -> None:
    first, _ = world.leased(1)
    world.book.release(first)
    world.spans.ended(first)
    again, _ = world.leased(1, **{TRACEPARENT: first.meta[TRACEPARENT]})
    world.spans.answered(again, Response(URL))
    world.spans.ended(again)
    spans = world.all()
    assert [span.name for span in spans] == ["lease", "fetch", "lease"]
    assert len({span.context.trace_id for span in spans if span.context}) == 1


@pytest.mark.parametrize("given", [None, 7, "", "00-noise", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", b"00-", ["00"]])
def test_what_is_no_traceparent_is_none(world: World, given: object) -> None:
    assert not context_of(given)[1].is_valid
    request = Request(URL, meta={TRACEPARENT: given})
    world.pushes.mark(request, 1)
    assert context_of(request.meta[TRACEPARENT])[1].is_valid


def test_who_decided_against_a_trace_is_heard() -> None:
    world = World()
    request, _ = world.leased(1, **{TRACEPARENT: "00-" + "a" * 32 + "-" + "b" * 16 + "-00"})
    world.spans.ended(request)
    assert world.all() == ()


def test_a_page_of_many_items_has_a_bounded_number_of_spans(world: World) -> None:
    request, _ = world.leased()
    histogram = StoreHistogram(world.spans)
    for _ in range(MOST_STORES + 100):
        histogram.observe(0.01, "0:1")
    histogram.observe(0.01, "0:unknown")
    world.spans.ended(request)
    spans = world.all()
    assert len(spans) == MOST_STORES + 1
    assert (spans[-1].attributes or {})["shoal.items"] == MOST_STORES + 100
    assert sum(histogram.counts) == MOST_STORES + 101


def test_a_link_of_a_page_begins_a_trace_of_its_own_with_a_link_to_the_page(world: World) -> None:
    page, _ = world.leased()
    link = Request(URL, meta={PARENT_ID: "0:1"})
    world.pushes.mark(link, 2)
    world.spans.ended(page)
    push, lease = world.all()
    assert push.context
    assert lease.context
    assert push.context.trace_id != lease.context.trace_id
    assert [one.context.span_id for one in push.links] == [lease.context.span_id]


def test_what_is_left_open_ends_with_the_worker(world: World) -> None:
    world.leased(1)
    world.leased(2)
    world.spans.close()
    assert len(world.all()) == 2


def _count(stats: Counter[str], name: str, count: int) -> None:
    stats[name] += count


def test_a_redirect_whose_meta_was_replaced_ends_its_lease_all_the_same(world: World) -> None:
    request, held = world.leased()
    world.book.release(request)
    hop = Request(URL)
    world.book.hold(hop, held)
    assert world.spans.ended(request), "it goes on with the hop"
    world.spans.sending(hop)
    world.spans.answered(hop, Response(URL))
    world.spans.ended(hop)
    assert [span.name for span in world.all()] == ["fetch", "lease"]


def test_leases_whose_end_is_missed_do_not_pile_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "MOST_OPEN", 3)
    for number in range(10):
        world.leased(number)
    assert len(world.spans._open) == 3


@pytest.mark.parametrize("value", ["true", "TRUE"])
def test_opentelemetrys_own_switch_is_heard(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", value)
    assert opening.open_tracing(_settings(TRACES_RATIO=1)) is None


def test_a_variable_that_opentelemetry_cannot_read_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "soon")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "0")
    with pytest.raises(ConfigError, match="OTEL_"):
        opening.open_tracing(_settings(TRACES_RATIO=1))


class Broken(SpanExporter):
    """Raises; or hangs, until told."""

    def __init__(self, until: threading.Event | None = None) -> None:
        self.until = until

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self.until is None:
            raise OSError("away")
        self.until.wait(30)
        return SpanExportResult.SUCCESS


def test_an_exporter_that_raises_or_hangs_hurts_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider, "CLOSE_SECONDS", 0.05)
    monkeypatch.setattr(provider, "MOST_WAITING", 600)
    until = threading.Event()
    for exporter in (Broken(), Broken(until)):
        stats: Counter[str] = Counter()
        tracing = Tracing(TracesConfig(1, ""), partial(_count, stats), exporter)
        for _ in range(2_000):
            tracing.end(tracing.start("push"))
        tracing.close()
        assert stats == {"traces/spans": 2_000, "traces/lost": 2_000}
    until.set()
