"""Doubtful pages are read once, in a child process, and the others once, in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.utils.asyncgen import as_async_generator

from crawler.extraction import Document
from crawler.spiders.reading import Reading, ReadingMixin


class Apart:
    """In place of a sandbox."""

    def __init__(self, *, wants: bool) -> None:
        self._wants = wants

    def wants(self, _: Document) -> bool:
        return self._wants

    async def ask(self, function: Callable[..., Any], document: Document, *args: Any) -> str:
        return f"apart: {document.url} {args}"


class Reader(ReadingMixin):
    def __init__(self, *, wants: bool, long: bool) -> None:
        self.sandbox: Any = Apart(wants=wants)
        self._long = long

    def reading(self, response: TextResponse) -> Reading:
        return Reading(
            lambda document: f"in place: {document.url}", Document(response.text, response.url), (), self._long
        )

    def parse(self, response: Response) -> Iterator[str]:
        yield self.read(response)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wants", "long", "found"),
    [
        (True, False, "apart: https://shop.example/ ()"),
        (False, True, "apart: https://shop.example/ ()"),
        (False, False, "in place: https://shop.example/"),
    ],
)
async def test_a_page_is_read_where_it_belongs_and_only_there(wants: bool, long: bool, found: str) -> None:
    response = HtmlResponse("https://shop.example/", body=b"<p>a", encoding="utf-8")
    output = Reader(wants=wants, long=long)._parse(response)
    assert [one async for one in (as_async_generator(output) if isinstance(output, Iterator) else output)] == [found]
