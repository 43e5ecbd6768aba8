"""Names of headers beside Scrapy's own way: the same keys, values and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from scrapy.http import Headers

from crawler.engine import header_names

NAMES: list[Any] = ["content-type", b"content-type", "X-ROBOTS-tag", b"ETag", "", "é-name", "x" * 100, b"\xff\xfe"]
DEFAULTS: list[Any] = [None, "default", b"", 5]
ENCODINGS = ["utf-8", "latin-1", "utf-16"]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Headers, "normkey", header_names._normkey)
    monkeypatch.setattr(Headers, "get", header_names._get)
    monkeypatch.setattr(Headers, "update", header_names._update)
    header_names.install()


def told(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (AttributeError, TypeError, UnicodeError) as error:
        return type(error)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_headers_are_written_and_found_as_with_scrapys_own(encoding: str) -> None:
    for name in [*NAMES, *NAMES]:  # at first, and remembered
        headers = Headers({name: "value", "Empty": []}, encoding=encoding)
        assert list(headers.keys()) == [header_names._normkey(headers, name), header_names._normkey(headers, "Empty")]
        for asked in (*NAMES, "Empty"):
            for default in DEFAULTS:
                ours = told(lambda: headers.get(asked, default))  # noqa: B023 - called here
                assert ours == told(lambda: header_names._get(headers, asked, default))  # noqa: B023
    number: Any = {5: "value"}
    assert told(lambda: Headers(number, encoding=encoding)) is AttributeError


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_copied_headers_are_as_with_scrapys_own_and_apart(encoding: str) -> None:
    first = Headers([("Set-Cookie", "a"), ("set-cookie", b"b"), ("Empty", []), ("X-É", "é")])
    ours, theirs = Headers({"Empty": "e", "Other": "o"}, encoding=encoding), Headers(encoding=encoding)
    theirs.setlist("Empty", ["e"])
    theirs.setlist("Other", ["o"])
    ours.update(first)
    header_names._update(theirs, first)
    assert list(dict.items(ours)) == list(dict.items(theirs))
    assert (ours.encoding, first.getlist("Set-Cookie")) == (encoding, [b"a", b"b"])
    ours.appendlist("Set-Cookie", [b"c"])
    assert first.getlist("Set-Cookie") == [b"a", b"b"]


@pytest.mark.usefixtures("installed")
def test_names_of_a_site_do_not_fill_memory() -> None:
    for number in range(3 * header_names.ENTRIES):
        Headers({f"X-{number}": "value"})
    assert len(header_names._known) <= header_names.ENTRIES
    Headers({"x" * 1_000: "value"})
    assert max(map(len, header_names._known)) <= header_names.LONGEST
