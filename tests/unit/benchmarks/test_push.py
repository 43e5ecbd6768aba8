"""The files that `make bench-push` pushes have in them what the page says."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from benchmarks.push import odd, url
from crawler.routing.plain_urls import plain_form


def test_of_a_hundred_mixed_urls_ten_are_not_plain_each_for_a_reason_that_the_page_names() -> None:
    mixed = [odd(number) for number in range(100)]
    strange = [urlsplit(one) for one in mixed if plain_form(one) is None]

    assert all(plain_form(url(number)) for number in range(100))
    assert len(strange) == 10
    assert sum(one.port == 8080 for one in strange) == 2
    assert sum(one.fragment == "reviews" for one in strange) == 2
    assert sum(parse_qs(one.query).get("utm_source") == ["feed"] for one in strange) == 2
    assert sum(parse_qs(one.query).get("q") == ["a b"] for one in strange) == 4
