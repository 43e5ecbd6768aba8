"""Families and their text."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from crawler.counting.timings import STEPS, Histogram
from crawler.metrics import text
from crawler.metrics.label_values import MAX_LENGTH
from tests.prometheus import check_metrics

OPEN_METRICS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"


def test_whatever_a_label_says_the_text_can_be_read() -> None:
    odd = {'"\\\n': 1, "half \ud800": 2, "x" * 200: 3, "x" * 300: 4, "": 5}
    body, content_type = text.render([text.counters("odd", "Odd values", "value", odd)])
    (family,) = text_string_to_metric_families(body.decode())
    found = {sample.labels["value"]: sample.value for sample in family.samples}
    assert [*found.values()] == [1, 2, 3, 4, 5], "each apart"
    plain, *cut, empty = found
    assert (plain, empty) == ('"\\\n', "")
    assert cut[0].startswith("half ?~")
    assert [one.partition("~")[0] for one in cut[1:]] == ["x" * 111, "x" * 111]
    assert max(map(len, cut)) == MAX_LENGTH
    assert content_type.startswith("text/plain")
    check_metrics(body)


def test_a_histogram_has_examples_where_the_scraper_takes_them() -> None:
    seen = Histogram(STEPS)
    for seconds in (0.002, 0.002, 0.2, 99):
        seen.observe(seconds, "0:7")
    family = text.histogram("step_seconds", "Steps", seen)
    body, content_type = text.render([family], OPEN_METRICS)
    assert content_type.startswith("application/openmetrics-text")
    assert 'le="+Inf"} 4.0 # {request_id="0:7"} 99' in body.decode()
    plain, _ = text.render([family])
    assert b"request_id" not in plain
    check_metrics(plain)


def test_an_odd_request_id_breaks_no_scrape() -> None:
    """A spider may set `request_id` in its meta to whatever it likes."""
    seen = Histogram(STEPS)
    odd: list[Any] = ["x" * 500, 12, 'a"\n\ud800', ("a", "b")]
    for seconds, request_id in zip((0.0001, 0.002, 0.2, 99), odd, strict=True):
        seen.observe(seconds, request_id)
    body, _ = text.render([text.histogram("step_seconds", "Steps", seen)], OPEN_METRICS)
    (family,) = openmetrics.text_string_to_metric_families(body.decode())  # type: ignore[no-untyped-call]
    assert sum(sample.exemplar is not None for sample in family.samples) == 4


@given(st.one_of(st.text(max_size=60), st.from_regex(r"application/openmetrics-text;version=[a-z0-9.]{0,6}")))
def test_whatever_a_client_accepts_it_is_answered(accept: str) -> None:
    body, _ = text.render([text.gauge("one", "One", 1)], accept)
    assert b"shoal_one 1.0" in body
