"""How the end of a request is settled."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.policy.endings.failures import FailureClass
from crawler.policy.endings.outcome import EXCERPT_CHARS, Evidence, Verdict, conclude, excerpt

PERMANENT, RATE_LIMITED, HOST_FAULT = FailureClass.PERMANENT, FailureClass.RATE_LIMITED, FailureClass.HOST_FAULT


@pytest.mark.parametrize(
    ("seen", "verdict", "reason"),
    [
        (Evidence(), Verdict.NACK, "unknown_end"),
        (Evidence(status=200), Verdict.NACK, "unknown_end"),
        (Evidence(status=200, closed="enough"), Verdict.NACK, "close_spider"),
        (Evidence(status=200, closed="enough", item_errors=["x"]), Verdict.NACK, "item_error"),
        (Evidence(download_error="timeout", errback=True, closed="enough"), Verdict.NACK, "close_spider"),
        (Evidence(status=200, parsed=True), Verdict.ACK, "done"),
        (Evidence(status=404), Verdict.NACK, "unknown_end"),
        (Evidence(status=404, parsed=True), Verdict.ACK, "done"),
        (Evidence(status=404, failure=PERMANENT, parsed=True), Verdict.GONE, "http_404"),
        (Evidence(status=404, failure=PERMANENT, parsed=True, handed=True), Verdict.ACK, "permanent"),
        (Evidence(status=404, failure=PERMANENT), Verdict.NACK, "unknown_end"),
        (Evidence(status=300, parsed=True), Verdict.GONE, "http_300"),
        (Evidence(status=300, parsed=True, handed=True), Verdict.ACK, "done"),
        (Evidence(status=503, failure=RATE_LIMITED, parsed=True), Verdict.BURY, "http_503"),
        (Evidence(status=503, failure=RATE_LIMITED, handed=True, parsed=True), Verdict.ACK, "done"),
        (Evidence(status=503, failure=RATE_LIMITED, handed=True), Verdict.NACK, "unknown_end"),
        (Evidence(status=200, failure=FailureClass.BLOCKED, parsed=True), Verdict.BURY, "blocked"),
        (Evidence(ignored="Forbidden by robots.txt"), Verdict.ACK, "ignored"),
        (Evidence(download_error="timeout"), Verdict.BURY, "download_error"),
        (Evidence(download_error="timeout", errback=True), Verdict.NACK, "unknown_end"),
        (Evidence(download_error="timeout", errback=True, parsed=True), Verdict.ACK, "done"),
        (Evidence(download_error="refused", failure=HOST_FAULT), Verdict.BURY, "download_error"),
        (Evidence(download_error="refused", failure=HOST_FAULT, errback=True, parsed=True), Verdict.ACK, "done"),
        (Evidence(download_error="no such scheme", failure=PERMANENT), Verdict.BURY, "download_error"),
        (Evidence(status=301, malformed="no host", parsed=True), Verdict.BURY, "malformed"),
        (Evidence(status=301, malformed="no host", handed=True, parsed=True), Verdict.ACK, "done"),
        (Evidence(given_up="robots.txt", ignored="for now"), Verdict.BURY, "robots_unreachable"),
        (Evidence(status=200, spider_error="MemoryError", too_costly=True), Verdict.BURY, "too_costly"),
        (Evidence(status=200, spider_error="KeyError", unstored=True), Verdict.GIVE_BACK, "unstored"),
        (Evidence(replaced=True), Verdict.ACK, "replaced"),
        (Evidence(status=200, parsed=True, item_errors=["x"]), Verdict.NACK, "item_error"),
        (Evidence(status=200, spider_error="KeyError: 'a'", item_errors=["x"]), Verdict.BURY, "spider_error"),
        (Evidence(status=200, parsed=True, child_errors=["lambda"]), Verdict.BURY, "unserialisable_child"),
    ],
)
def test_each_way_to_end_has_its_verdict(seen: Evidence, verdict: Verdict, reason: str) -> None:
    conclusion = conclude(seen)
    assert (conclusion.verdict, conclusion.reason) == (verdict, reason)


def usually(nothing: Any, *others: Any) -> st.SearchStrategy[Any]:
    """Mostly *nothing*: else what comes first in order of precedence would hide all that comes later."""
    return st.sampled_from([nothing] * 4 + list(others))


# What has a default is not drawn unless it is asked for.
SEEN: dict[str, st.SearchStrategy[Any]] = {
    **{name: usually("", "x") for name, kind in get_type_hints(Evidence).items() if kind is str},
    **{name: usually(False, True) for name, kind in get_type_hints(Evidence).items() if kind is bool},
    "status": usually(200, None, 404, 503),
    "failure": usually(None, *FailureClass),
    "item_errors": usually([], ["x"]),
    "child_errors": usually([], ["x"]),
}


@given(st.builds(Evidence, **SEEN | {"parsed": st.just(False)}))
def test_without_the_end_of_the_callback_a_page_is_never_done(seen: Evidence) -> None:
    assert conclude(seen).reason != "done"


@pytest.mark.parametrize("error", ["spider_error", "item_errors", "child_errors"])
@given(st.builds(Evidence, **SEEN))
def test_an_error_is_never_acknowledged_as_done(error: str, seen: Evidence) -> None:
    setattr(seen, error, "KeyError" if error == "spider_error" else ["KeyError"])
    assert conclude(seen).verdict is not Verdict.ACK


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", ""),
        (b"<h1>Slow\n\t down\x00\x1b[31m</h1>", "<h1>Slow down [31m</h1>"),
        ("déjà vu".encode(), "déjà vu"),
        (b"\xff\xfe", "\N{REPLACEMENT CHARACTER}" * 2),
        (b"x" * 100_000, "x" * EXCERPT_CHARS),
        (b"see http://ann:s3cret@shop.example/", "see http://***@shop.example/"),
        (b"you sent\r\nProxy-Authorization: Basic YW5uOnMzY3JldA==\r\n", "you sent Proxy-Authorization: Basic ***"),
    ],
)
def test_an_excerpt_is_a_printable_line(body: bytes, expected: str) -> None:
    assert excerpt(body) == expected


@given(st.binary(max_size=10_000))
def test_whatever_the_body_the_excerpt_is_short_and_printable(body: bytes) -> None:
    line = excerpt(body)
    assert len(line) <= EXCERPT_CHARS
    assert line.isprintable()
    assert line == line.strip()
