"""The site of the chaos run: the same for the same seed, and complete when every link is followed."""

from __future__ import annotations

from collections import deque
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chaos.plan import Fault, Plan, build

PORT = 8000


def reached(plan: Plan) -> set[str]:
    """The URLs of good pages that a crawl finds from the start URLs."""
    found, waiting = set(plan.start_urls), deque(plan.start_urls)
    while waiting:
        url = waiting.popleft()
        parts = urlsplit(url)
        page = plan.pages[parts.hostname or "", parts.path]
        for link in [*page.links, *([page.location] if page.location else [])]:
            target = urljoin(url, link)
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


@given(seed=st.integers(), hosts=st.integers(2, 6), pages=st.integers(2, 40))
def test_every_expected_page_and_every_dead_letter_can_be_reached(seed: int, hosts: int, pages: int) -> None:
    plan = build(seed, port=PORT, hosts=hosts, pages=pages, fatal=1)

    assert len(plan.expected) == hosts * pages
    assert plan.expected <= reached(plan)
    assert set(plan.dead) <= reached(plan)
    assert not plan.expected & set(plan.dead)


def test_a_page_that_must_be_stored_fails_no_more_often_than_it_is_tried_again() -> None:
    plan = build(1, port=PORT, hosts=20, pages=50)

    mishaps = [page for page in plan.pages.values() if page.fault is not None and page.times >= 0]
    assert {page.fault for page in mishaps} == set(Fault)
    assert all(page.times <= 2 for page in mishaps)


def test_the_seed_decides() -> None:
    assert build(1, port=PORT, hosts=3, pages=9) == build(1, port=PORT, hosts=3, pages=9)
    assert build(1, port=PORT, hosts=3, pages=9) != build(2, port=PORT, hosts=3, pages=9)


@pytest.mark.parametrize(("hosts", "pages"), [(1, 10), (201, 10), (5, 1)])
def test_a_site_of_another_size_is_refused(hosts: int, pages: int) -> None:
    with pytest.raises(ValueError, match="must be"):
        build(1, port=PORT, hosts=hosts, pages=pages, fatal=1)
