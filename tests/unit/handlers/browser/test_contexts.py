"""Which pages share a browser context, and when a context is over."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request

from crawler.handlers.browser.contexts import KEPT, ContextKey, Contexts, OpenContext
from crawler.handlers.forwarding import ContextCredentials
from crawler.handlers.route import Proxy
from tests.clock import Clock


def contexts(pages: int = 3, seconds: float = 10, clock: Clock | None = None) -> Contexts:
    return Contexts(pages, seconds, lambda _: ContextCredentials(None), clock or Clock())


def wants(number: int = 0) -> ContextKey:
    return ContextKey("agent", None, str(number))


def test_pages_that_want_the_same_share_a_context() -> None:
    lending = contexts()
    assert lending.lend(wants()) is lending.lend(wants())
    assert lending.lend(wants()) is not lending.lend(wants(1))


def test_what_a_request_wants() -> None:
    headers = {"User-Agent": "shoal", "Proxy-Authorization": "Basic c2VjcmV0"}
    request = Request("http://a.example/", headers=headers, meta={"proxy": "http://p:1", "cookiejar": 7})
    assert ContextKey.of(request) == ContextKey("shoal", Proxy("http", "p", 1, b"Basic c2VjcmV0"), "7")
    assert "c2VjcmV0" not in repr(ContextKey.of(request))
    assert ContextKey.of(Request("http://a.example/")) == ContextKey("", None)
    assert ContextKey.of(Request("http://a.example/", meta={"session": "b"})) == ContextKey("", None, session="b")


def test_a_context_is_over_after_its_pages_once_the_last_is_closed() -> None:
    lending = contexts(pages=2)
    first, second = lending.lend(wants()), lending.lend(wants())
    third = lending.lend(wants())
    assert first is second is not third
    lending.give_back(first)
    assert list(lending.over()) == []
    lending.give_back(second)
    assert list(lending.over()) == [first]
    assert list(lending.over()) == []


def test_a_context_is_over_after_its_time() -> None:
    clock = Clock()
    lending = contexts(clock=clock)
    first = lending.lend(wants())
    clock.now += 10
    assert lending.lend(wants()) is not first


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans())))
def test_contexts_without_pages_are_bounded_and_none_is_told_twice_or_while_open(steps: list[tuple[int, bool]]) -> None:
    lending, lent, over = contexts(), list[OpenContext](), list[OpenContext]()
    for number, back in steps:
        lent.append(lending.lend(wants(number)))
        if back:
            lending.give_back(lent.pop(0))
        over.extend(lending.over())
        assert not any(one in over for one in lent)
    assert len(over) == len(set(map(id, over)))
    assert len([one for one in lending.clear() if not one.open]) <= KEPT
    assert lending.clear() == []
