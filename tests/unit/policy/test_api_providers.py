"""What the settings may say of a scraping API, what its calls look like, and how its answers are read."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.errors import ConfigError
from crawler.policy.api_answers import AnswerError, at
from crawler.policy.api_providers import Call, Provider, read_providers

CALL = {"url": "https://api.example/?u={url}&k={key}"}
JOB: dict[str, Any] = {
    "shape": "job",
    "call": CALL,
    "poll": {"url": "https://api.example/{job}"},
    "done": ["state", "done"],
    "failed": ["state", "failed"],
    "page": {"status": "page.status", "headers": "page.headers", "body": "page.body"},
    "cost_path": "paid",
}
BATCH = JOB | {"shape": "batch", "call": CALL | {"json": "{urls}"}, "page": {"body": "html"}}
URL = "https://shop.example/"


def answer(**document: Any) -> bytes:
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"shape": "magic"}, "'shape'"),
        ({"surprise": 1}, "a dict with the keys"),
        ({"call": {}}, "'call'"),
        ({"call": {"url": "ftp://x"}}, "'call'"),
        ({"call": CALL | {"surprise": 1}}, "'call'"),
        ({"poll": None}, "'poll'"),
        ({"call": {"url": "https://api.example/?k={key}"}}, "{url} in its url"),
        ({"call": CALL | {"method": None}}, "'call'"),
        ({"call": CALL | {"headers": ["X-Key: {key}"]}}, "'call'"),
        ({"call": CALL | {"headers": {"X-Key": None}}}, "'call'"),
        ({"call": CALL | {"json": {1j}}}, "'call'"),
        ({"shape": "batch"}, "{urls} in its url"),
        ({"done": "yes"}, "'done'"),
        ({"failed": [0, "failed"]}, "'failed'"),
        ({"job": 5}, "text, not a int"),
        ({"page": {"body": ["page", "body"]}}, "'page'"),
        ({"page": {"status": "x"}}, "'page'"),
        ({"shape": "batch", "call": {"url": "https://api.example/{urls}"}, "page": "raw"}, "'page'"),
        ({"concurrency": 0}, "1 to 10000"),
        ({"batch_size": 2.5}, "an integer from 1 to 1000"),
        ({"per_second": 0}, "0.001 to 10000"),
        ({"batch_size": 0}, "1 to 1000"),
        ({"timeout_seconds": "soon"}, "0.1 to 3600"),
    ],
)
def test_a_mistake_is_named(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError) as error:
        Provider.read("acme", JOB | change)
    assert "API_PROVIDERS['acme']" in str(error.value)
    assert named in str(error.value)


@pytest.mark.parametrize(
    "raw", ['{"a": "s3cret', {"a": JOB | {"key": "s3cret"}}, {"a": JOB | {"call": {"k": "s3cret"}}}]
)
def test_a_mistake_shows_no_key(raw: object) -> None:
    with pytest.raises(ConfigError) as error:
        read_providers({"API_PROVIDERS": raw})
    assert "s3cret" not in str(error.value)


def test_providers_may_be_json_and_keep_their_order() -> None:
    entries = {"b": JOB, "a": {"shape": "sync", "call": CALL}}
    assert list(read_providers({"API_PROVIDERS": json.dumps(entries)})) == ["b", "a"]
    bad: object
    for bad in ("", "{", {}, "[]", 5):
        with pytest.raises(ConfigError, match="API_PROVIDERS"):
            read_providers({"API_PROVIDERS": bad})


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_a_url_survives_its_place_in_a_url_and_in_json(url: str) -> None:
    call = Call(CALL["url"], json={"one": "{url}", "all": "{urls}", "deep": [{"in": "<{url}>"}], "n": 1})
    filled = call.filled({"url": url, "key": "s", "urls": [url, url]})
    asked = parse_qs(urlsplit(filled.url).query, keep_blank_values=True)
    assert asked == {"u": [url], "k": ["s"]}
    assert filled.json == {"one": url, "all": [url, url], "deep": [{"in": f"<{url}>"}], "n": 1}


def test_what_a_url_holds_is_no_place() -> None:
    filled = Call("https://api.example/{url}", json=["{url}", "<{url}>"]).filled({"url": "a{key}", "key": "secret"})
    assert "secret" not in filled.url
    assert filled.json == ["a{key}", "<a{key}>"]


def test_a_job_is_started_and_asked_after() -> None:
    provider = Provider.read("acme", JOB)
    assert provider.job_id(answer(id=7)) == "7"
    assert [provider.state(answer(state=state)) for state in ("done", "failed", "new")] == ["done", "failed", "waiting"]
    for bad in (answer(), answer(id=None), answer(id=""), answer(id=[1]), b"<html>", b"[" * 100_000):
        with pytest.raises(AnswerError):
            provider.job_id(bad)


def test_a_page_stands_where_the_settings_say() -> None:
    page = {"status": 404, "headers": {"A": ["1", "2"], "B": 3}, "body": "gone ü"}
    found = Provider.read("acme", JOB).found(URL, answer(page=page, paid=2.5), 200, [])
    assert (found.status, found.body, found.cost) == (404, "gone ü".encode(), 2.5)
    assert list(found.headers) == [("A", "1"), ("A", "2"), ("B", "3")]
    joined = page | {"headers": {"Set-Cookie": "a=1\nb=2\r\nc=\0", "X\r\nY": "1", "": "2"}}
    told = Provider.read("acme", JOB).found(URL, answer(page=joined), 200, []).headers
    assert list(told) == [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Set-Cookie", "c= ")]
    listed = page | {"headers": [{"name": "A", "value": "1"}]}
    assert list(Provider.read("acme", JOB).found(URL, answer(page=listed), 200, []).headers) == [("A", "1")]


@pytest.mark.parametrize(
    "page", [None, {}, {"status": 200}, {"status": "200", "body": ""}, {"status": 99, "body": ""}, {"body": 5}]
)
def test_what_is_no_page_is_an_error(page: object) -> None:
    with pytest.raises(AnswerError):
        Provider.read("acme", JOB).found(URL, answer(page=page), 200, [])


def test_a_base64_body_is_decoded() -> None:
    provider = Provider.read("acme", JOB | {"page": {"body": "b", "encoding": "base64"}})
    assert provider.found(URL, answer(b=b64encode(b"\x00\xff").decode()), 200, []).body == b"\x00\xff"
    with pytest.raises(AnswerError, match="base64"):
        provider.found(URL, answer(b="*"), 200, [])


def test_a_raw_page_is_the_answer_itself() -> None:
    raw = {"shape": "sync", "call": CALL, "status_header": "X-S", "header_prefix": "X-H-", "cost_header": "X-C"}
    headers = [("x-s", "404"), ("x-h-set-cookie", "a=1"), ("x-h-set-cookie", "b=2"), ("server", "api")]
    headers += [("content-type", "text/html"), ("x-c", "10"), ("x-c", "20")]
    found = Provider.read("acme", raw).found(URL, b"page", 200, headers)
    assert (found.status, found.body, found.cost) == (404, b"page", 10)
    assert list(found.headers) == [("set-cookie", "a=1"), ("set-cookie", "b=2")]
    plain = Provider.read("acme", {"shape": "sync", "call": CALL, "cost": 3})
    found = plain.found(URL, b"page", 410, headers)
    assert (found.status, list(found.headers), found.cost) == (410, [("content-type", "text/html")], 3)
    for status in ("fine", "²⁰⁰", "099", "9" * 5000):
        with pytest.raises(AnswerError, match="no status"):
            Provider.read("acme", raw).found(URL, b"page", 200, [("x-s", status)])


@pytest.mark.parametrize("told", ["nan", "inf", "-1", "1e400", "a lot", None, 10**400, 2e9])
def test_a_cost_that_cannot_be_added_up_is_the_usual_one(told: object) -> None:
    page = {"status": 200, "body": ""}
    document = json.dumps({"page": page, "paid": told}).encode()
    assert Provider.read("acme", JOB | {"cost": 3}).found(URL, document, 200, []).cost == 3


def test_a_batch_has_a_result_for_each_url() -> None:
    provider = Provider.read("acme", BATCH)
    document = answer(results=[{"url": "other", "html": "no"}, {"url": URL, "html": "yes"}])
    assert provider.found(URL, document, 200, []).body == b"yes"
    for bad in (answer(), answer(results=5), answer(results=[5, {}])):
        with pytest.raises(AnswerError, match="no result"):
            provider.found(URL, bad, 200, [])


DOCUMENTS = st.recursive(st.integers() | st.text(), lambda kids: st.lists(kids) | st.dictionaries(st.text(), kids))


@given(DOCUMENTS, st.text())
@example([], "²")
@example([], "9" * 5000)
@example(["second"], "٠")
def test_a_path_leads_somewhere_or_nowhere_and_never_fails(document: object, path: str) -> None:
    at(document, path)
    assert at({"a": [document]}, "a.0") == document
