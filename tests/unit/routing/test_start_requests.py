"""Each start request is one of its kind, whoever makes it."""

from __future__ import annotations

import pytest

from crawler.routing import start_requests
from crawler.routing.start_requests import StartDigests

A, B = b"a" * 20, b"b" * 20


def test_two_workers_that_make_the_same_requests_know_them_by_the_same() -> None:
    one, other = StartDigests(), StartDigests()
    made = [one.of(page) for page in (A, B, A)]
    assert sorted(made) == sorted(other.of(page) for page in (A, A, B))
    assert len(set(made)) == 3


def test_a_start_request_is_not_what_a_link_to_its_page_is() -> None:
    assert StartDigests().of(A) != A


def test_what_is_counted_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_requests, "COUNTED", 1)
    digests = StartDigests()
    assert digests.of(A) != digests.of(A)
    assert digests.of(B) == digests.of(B)
