"""Requests survive the frontier, and nothing but requests comes out of it."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scrapy import Request, Spider
from scrapy.http import FormRequest, JsonRequest, XmlRpcRequest

from crawler.errors import CodecError, OtherReleaseError
from crawler.items import PageItem
from crawler.meta import HTTP_AUTH, PARENT_ID, POOL_LAST, POOL_PROXY
from crawler.routing import codec


class Shop(Spider):
    name = "shop"

    def parse_item(self, response: Any) -> None: ...

    def failed(self, failure: Any) -> None: ...


def loose(response: Any) -> None:
    """A callback that is no method of the spider."""


SPIDER = Shop()
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def packed(value: Any) -> bytes:
    try:
        return bytes(msgpack.packb(value))
    except (ValueError, OverflowError):
        return b""


def same(one: Request, other: Request) -> bool:
    return one.to_dict(spider=SPIDER) == other.to_dict(spider=SPIDER)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    method=st.sampled_from(["GET", "POST", "PUT"]),
    headers=st.dictionaries(st.sampled_from(["Accept", "X-One"]), st.text("abc", min_size=1), max_size=2),
    body=st.binary(max_size=50),
    meta=st.dictionaries(st.text("abcdef", min_size=1), VALUES, max_size=3),
    cb_kwargs=st.dictionaries(st.sampled_from(["one", "two"]), VALUES, max_size=2),
    cookies=st.dictionaries(st.text("ab", min_size=1), st.text("xy"), max_size=2),
    priority=st.integers(-1000, 1000),
    dont_filter=st.booleans(),
    callback=st.sampled_from([None, SPIDER.parse_item]),
    errback=st.sampled_from([None, SPIDER.failed]),
)
def test_a_request_comes_back_as_it_was(**fields: Any) -> None:
    request = Request("https://shop.example/a?b=1", **fields)
    assert same(codec.decode(codec.encode(request, SPIDER), SPIDER), request)


@pytest.mark.parametrize(
    "request_",
    [
        Request("https://shop.example/a b?q=ä|%7C%zz#there"),
        Request("https://shop.example/a b", meta={"verbatim_url": True}),
        Request("https://shop.example/a b", meta={"verbatim_url": False, "depth": 1}),
        FormRequest("https://shop.example/", formdata={"a": "1"}),
        JsonRequest("https://shop.example/", data={"a": [1, 2]}),
        Request("https://shop.example/", encoding="latin-1"),
        Request("https://shop.example/", meta={"at": datetime(2027, 1, 1, tzinfo=UTC)}),
        Request("https://shop.example/", meta={"at": [datetime(2027, 1, 1, 2, 3, 4, 5), date(2027, 1, 1)]}),  # noqa: DTZ001
        Request(
            "https://shop.example/", meta={"cost": Decimal("1.50"), "seen": {1, ("a", (2,))}, "of": frozenset("a")}
        ),
    ],
)
def test_the_kinds_of_request_that_may_be_queued(request_: Request) -> None:
    restored = codec.decode(codec.encode(request_, SPIDER), SPIDER)
    assert type(restored) is type(request_)
    assert (restored.url, restored.body, restored.method) == (request_.url, request_.body, request_.method)
    assert restored.meta == request_.meta


def test_a_plain_request_costs_little_more_than_its_url() -> None:
    url = "https://shop.example/products/12345"
    assert len(codec.encode(Request(url), SPIDER)) <= len(url) + 8


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Request("https://a.example/", meta={"x": 1j}), "meta and cb_kwargs may hold"),
        (Request("https://a.example/", meta={"x": time(1)}), "type time cannot .* dates, datetimes, decimals"),
        (Request("https://a.example/", cb_kwargs={"x": object()}), "cannot be queued"),
        (Request("https://a.example/", meta={"x": 2**65}), "cannot be queued"),
        (
            Request("https://a.example/", meta={"ok": PageItem(url="u"), "x": PageItem(url=1j)}),  # type: ignore[arg-type]
            "meta\\['x'\\] = .*type complex cannot be stored",
        ),
        (
            Request("https://a.example/", meta={"x": {"y": {1j}}}),
            "type complex cannot be stored.*items of the project$",
        ),
        (Request("https://a.example/", flags=[{(1,): 2}]), "flags = .*unhashable"),  # type: ignore[list-item]
        (Request("https://a.example/", callback=loose), "is not a method of spider 'shop'"),
        (Request("https://a.example/", callback=Shop().parse_item), ""),
        (Request("https://a.example/", body=b"x" * 300_000), "at most 262144 can be queued"),
        (XmlRpcRequest("https://a.example/", methodname="m", params=(1,)), "class XmlRpcRequest cannot be queued"),
    ],
)
def test_what_cannot_be_stored_is_named(request_: Request, words: str) -> None:
    if not words:
        assert codec.encode(request_, SPIDER)  # a method of another instance of the class is found by its name
        return
    with pytest.raises(CodecError, match=words):
        codec.encode(request_, SPIDER)


@given(st.binary(max_size=60) | VALUES.map(packed))
def test_anything_else_is_refused_and_never_crashes(body: bytes) -> None:
    with pytest.raises(CodecError):
        codec.decode(body, SPIDER)


def test_a_pickle_is_not_run() -> None:
    with pytest.raises(CodecError, match="not a queued request"):
        codec.decode(pickle.dumps({"u": "https://a.example/"}), SPIDER)


@pytest.mark.parametrize("name", ["nothing", "__class__", "__init__", "a.b", "parse item"])
def test_only_methods_of_the_spider_become_callbacks(name: str) -> None:
    body = msgpack.packb({"u": "https://a.example/", "f": name})
    with pytest.raises(OtherReleaseError, match="no callback"):
        codec.decode(body, SPIDER)


@pytest.mark.parametrize(("key", "kind"), [("f", "callback"), ("r", "errback"), ("t", "request class")])
def test_what_another_release_has_is_named_and_counted(key: str, kind: str) -> None:
    body = msgpack.packb({"u": "https://a.example/p", key: "parse_next", "d": {"page": 2}})
    for times in range(3):
        with pytest.raises(OtherReleaseError) as told:
            codec.decode(body, SPIDER)
        assert (told.value.kind, told.value.name, told.value.url) == (kind, "parse_next", "https://a.example/p")
        before, body = codec.passed_on(body)
        assert before == times
    assert codec.passed_on(codec.afresh(body))[0] == 0
    state = msgpack.unpackb(body) | {key: None}
    assert codec.decode(msgpack.packb(state), SPIDER).meta == {"page": 2}


class NextShop(Shop):
    def parse_item(self, response: Any, page: int = 1) -> None: ...

    def parse_any(self, response: Any, **given: Any) -> None: ...

    def parse(self, response: Any, page: int = 1) -> None: ...


@pytest.mark.parametrize("name", ["parse_item", ""])
def test_arguments_that_only_another_release_takes_are_told_from_a_mistake(name: str) -> None:
    now, later, url = Shop(), NextShop(), "https://a.example/p"
    now.parse = now.parse_item
    yielded = {one: Request(url, getattr(one, name, None), cb_kwargs={"page": 2}) for one in (now, later)}
    bodies = {one: codec.encode(request, one) for one, request in yielded.items()}
    codec.check_arguments(bodies[later], codec.decode(bodies[later], later), later)
    with pytest.raises(OtherReleaseError, match=rf"no callback 'parse\w*\(page=\)', which the request of {url} names"):
        codec.check_arguments(bodies[later], codec.decode(bodies[later], now), now)
    mistake = codec.decode(bodies[now], now)  # its callback fails at once
    codec.check_arguments(bodies[now], mistake, now)
    codec.check_arguments(codec.passed_on(bodies[now])[1], mistake, now)


def test_arguments_that_a_callback_may_get_otherwise_are_nobody_elses() -> None:
    spider = NextShop()
    for callback, values in ((spider.parse_any, {"one": 1}), (spider.parse_item, {}), (spider.parse_item, {"page": 1})):
        body = codec.encode(Request("https://a.example/", callback, cb_kwargs=values), spider)
        decoded = codec.decode(body, spider)
        codec.check_arguments(body, decoded, spider)
        assert decoded.cb_kwargs == values


class DecoratedShop(Shop):
    """Its decorator takes an argument that the method below it does not get."""

    def parse_item(self, response: Any, **given: Any) -> None: ...

    parse_item.__wrapped__ = Shop.parse_item  # type: ignore[attr-defined]  # as functools.wraps leaves it


def test_arguments_that_a_decorator_takes_are_nobody_elses() -> None:
    request = Request("https://a.example/", NextShop().parse_item, cb_kwargs={"page": 2})
    body, spider = codec.encode(request, NextShop()), DecoratedShop()
    decoded = codec.decode(body, spider)
    codec.check_arguments(body, decoded, spider)
    assert decoded.cb_kwargs == {"page": 2}


def test_proxy_credentials_never_reach_redis() -> None:
    request = Request(
        "https://a.example/",
        headers={"Proxy-Authorization": "Basic c2VjcmV0"},
        meta={"proxy": "http://user:secret@proxy.example", "_auth_proxy": "secret", "kept": 1},
    )
    body = codec.encode(request, SPIDER)
    assert b"secret" not in body
    assert b"c2VjcmV0" not in body
    assert codec.decode(body, SPIDER).meta == {"kept": 1}


def test_credentials_of_a_referring_page_never_reach_redis() -> None:
    request = Request("https://a.example/", headers={"Referer": "https://user:secret@b.example/\xe9"})
    body = codec.encode(request, SPIDER)
    assert b"secret" not in body
    assert codec.decode(body, SPIDER).headers["Referer"] == "https://b.example/\xe9".encode()


def test_a_proxy_with_credentials_is_refused_rather_than_lost() -> None:
    request = Request("https://a.example/", meta={"proxy": "http://user:secret@proxy.example"})
    with pytest.raises(CodecError, match=r"name a pool in meta\['proxy_pool'\]") as refused:
        codec.encode(request, SPIDER)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("key", ["http_user", "http_pass"])
def test_credentials_for_a_site_are_refused_rather_than_stored(key: str) -> None:
    request = Request("https://a.example/", meta={key: "s3cret", "http_auth_domain": "a.example"})
    with pytest.raises(CodecError, match=rf"meta\['{key}'\] .* HTTPAUTH_USER") as refused:
        codec.encode(request, SPIDER)
    assert "s3cret" not in str(refused.value)


def test_those_of_a_downloader_middleware_are_left_to_it() -> None:
    meta = {"http_user": "me", "http_pass": "s3cret", "http_auth_domain": "a.example", HTTP_AUTH: True, "kept": 1}
    body = codec.encode(Request("https://a.example/", meta=meta), SPIDER)
    assert b"s3cret" not in body
    assert codec.decode(body, SPIDER).meta == {"kept": 1}


@pytest.mark.parametrize(
    ("meta", "stored"),
    [
        ({"proxy": "http://p.example:1"}, {"proxy": "http://p.example:1"}),  # the user's: kept, as Scrapy does
        ({"proxy": None}, {"proxy": None}),  # go directly
        (
            {"proxy": "http://p.example:1", POOL_PROXY: "http://p.example:1", POOL_LAST: True},
            {},
        ),  # a pool gives the next one
        ({"proxy": "http://q.example:1", POOL_PROXY: "http://p.example:1"}, {"proxy": "http://q.example:1"}),
        ({"proxy": "http://p.example:1", "_scheme_proxy": True}, {}),  # this worker's environment
    ],
)
def test_only_a_proxy_of_the_requests_own_is_stored(meta: dict[str, Any], stored: dict[str, Any]) -> None:
    assert codec.decode(codec.encode(Request("https://a.example/", meta=meta), SPIDER), SPIDER).meta == stored


def test_what_can_no_longer_be_stored_goes_back_as_it_was_with_its_counts() -> None:
    queued = Request("https://shop.example/a", SPIDER.parse_item, meta={"page": 2, "retry_times": 1}, priority=3)
    body = codec.encode(queued, SPIDER)
    counts = {"retry_times": 2, "complained": True, "tier_failed": "http"}
    later = counts | {"page": object(), "lock": object(), "redirect_times": 1, "redirect_urls": [queued.url]}
    again = codec.decode(codec.restored(body, Request("https://shop.example/b", meta=later, priority=-7)), SPIDER)
    assert (again.url, again.callback) == (queued.url, SPIDER.parse_item)
    assert (again.meta, again.priority) == ({"page": 2} | counts, -7)


def test_a_dead_letter_keeps_what_was_learned_and_no_count_of_tries() -> None:
    learned = {"page": 2, "min_tier": "browser", "tier_failed": "http"}
    tries = {"retry_times": 3, "unfinished_times": 1, "proxy_retries": 1, "proxy_tried": ["p"], "complained": True}
    body = codec.encode(Request("https://shop.example/a", meta=learned | tries), SPIDER)
    assert codec.decode(codec.afresh(body), SPIDER).meta == learned
    plain = codec.encode(Request("https://shop.example/a"), SPIDER)
    assert codec.afresh(plain) == plain


@pytest.mark.parametrize("count", [object(), 1 << 80, {}, [object()], None, "\ud800", ["\ud800"]])
def test_counts_of_another_kind_are_not_taken_over(count: Any) -> None:
    body = codec.encode(Request("https://shop.example/", meta={"retry_times": 1}), SPIDER)
    now = Request("https://shop.example/", meta={"retry_times": count})
    assert codec.decode(codec.restored(body, now), SPIDER).meta == {"retry_times": 1}


@pytest.mark.parametrize("priority", [1.5, float("inf"), "high", None, 1 << 63, -(1 << 63) - 1])
def test_a_priority_that_could_not_be_decoded_is_refused(priority: Any) -> None:
    request = Request("https://shop.example/")
    request.priority = priority  # as a downloader middleware may
    with pytest.raises(CodecError, match=r"priority = .*expected an integer"):
        codec.encode(request, SPIDER)


class Renamed(Spider):
    """Methods under another name than their own, one of them overridden."""

    name = "renamed"

    def first(self, response: Any) -> None: ...

    second = first

    def parse(self, response: Any) -> None: ...


class Overriding(Renamed):
    """Its base's `parse` goes by no name here."""

    def parse(self, response: Any) -> None: ...


def test_a_callback_is_found_under_the_name_that_the_spider_gives_it() -> None:
    def parse(self: Spider, response: Any) -> None: ...

    kind = type("Made", (Renamed,), {"parse_page": parse})
    spider = kind()
    request = codec.decode(codec.encode(Request("http://a.example/", spider.parse_page), spider), spider)
    assert request.callback == spider.parse_page
    inherited = Renamed.parse.__get__(Overriding())
    with pytest.raises(CodecError, match="is not a method of spider"):
        codec.encode(Request("http://a.example/", inherited), Overriding())


def test_the_request_that_it_was_found_by_is_kept_beside_the_meta() -> None:
    request = Request("http://shop.example/", meta={PARENT_ID: "0:17", "own": 1})
    body = codec.encode(request, SPIDER)
    assert len(body) - len(codec.encode(Request(request.url, meta={"own": 1}), SPIDER)) <= 8
    assert "d" in (state := msgpack.unpackb(body))
    assert state["d"] == {"own": 1}, "an earlier release gives the spider nothing new"
    assert codec.decode(body, SPIDER).meta == {PARENT_ID: "0:17", "own": 1}
    again = codec.decode(codec.restored(body, Request(request.url)), SPIDER)
    assert again.meta[PARENT_ID] == "0:17"


@pytest.mark.parametrize("noise", [7, "", "x" * 41, ["0:1"], b"0:1", None])
def test_a_damaged_id_is_none(noise: Any) -> None:
    state = msgpack.unpackb(codec.encode(Request("http://shop.example/"), SPIDER))
    assert PARENT_ID not in codec.decode(msgpack.packb(state | {"i": noise}), SPIDER).meta
    assert codec.encode(Request("http://shop.example/", meta={PARENT_ID: noise}), SPIDER) == msgpack.packb(state)


def test_a_request_may_have_as_many_bytes_as_may_be_queued_and_no_more() -> None:
    def sized(size: int) -> Request:
        return Request("https://shop.example/", method="POST", body=b"x" * size)

    most = codec.MAX_BYTES - len(codec.encode(sized(100_000), SPIDER)) + 100_000
    assert len(codec.encode(sized(most), SPIDER)) == codec.MAX_BYTES
    with pytest.raises(CodecError, match=f"is {codec.MAX_BYTES + 1} bytes, at most {codec.MAX_BYTES} can be queued"):
        codec.encode(sized(most + 1), SPIDER)
