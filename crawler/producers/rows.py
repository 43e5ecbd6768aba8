"""Turns pushed lines into rows for the frontier."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha1
from typing import Final

from scrapy import Request

from crawler.errors import CodecError, MessageError
from crawler.frontier.pushing import Row
from crawler.frontier.server.wire_format import push_row
from crawler.meta import MIN_TIER
from crawler.producers.lines import Chunk, Refusal
from crawler.producers.rejects import Refused, Rejects
from crawler.routing.encoder import Encoder
from crawler.routing.plain_urls import PlainUrls
from crawler.routing.push_schema import MAX_LINE, json_object, parse_line
from crawler.utils.batches import batched

BATCH: Final = 480  # rows; after each batch other tasks get a turn


class Rows:
    """Checks lines and packs them in batches; passes bad ones to *rejects*.

    A message with `dont_filter` is identified by its place in the push, not by its URL: repeating an interrupted push
    adds no second copy. *tier*: the least tier for all pages, "" for the learned one.
    """

    def __init__(
        self, encoder: Encoder, generation: str, priority: int, rejects: Rejects | Refused, *, tier: str = ""
    ) -> None:
        self._encoder = encoder
        self._spider = encoder.spider if isinstance(encoder.spider, type) else type(encoder.spider)
        self._generation = generation
        self._priority = priority
        self._rejects = rejects
        self._tier = tier
        self._plain = PlainUrls(encoder, generation, priority)

    def of(self, chunk: Chunk) -> Iterator[list[Row]]:
        """Batches of good lines; empty if a whole batch was refused."""
        for refusal in chunk.refused:
            self._rejects.add(refusal)
        for batch in batched(zip(chunk.numbers, chunk.lines, strict=True), BATCH):
            yield self._batch(chunk.source, batch)

    def _batch(self, source: str, lines: list[tuple[int, str]]) -> list[Row]:
        plain, rows = self._plain.row, list[Row]()
        for number, line in lines:
            if not (text := line.strip()):
                continue
            row = (None if self._tier else plain(text)) or self._row(source, number, text)
            if row is not None:
                rows.append(row)
        return rows

    def _quickly(self, text: str) -> Row | None:
        """The row of a URL, or of a message with little else, unless something about it is unusual."""
        if self._tier:
            return None
        try:
            return self._plain.row_of(json_object(text)) if text.startswith("{") else self._plain.looked_at(text)
        except MessageError:
            return None  # reported when the whole line is read

    def _row(self, source: str, number: int, text: str) -> Row | None:
        """The row of any line."""
        if len(text) <= MAX_LINE and (row := self._quickly(text)) is not None:
            return row
        try:
            request = self._request(text)
            place = self._encoder.place(request)
            if request.dont_filter:
                told = f"{self._generation}\n{source}\n{number}".encode(errors="surrogateescape")
                place = place._replace(digest=sha1(told, usedforsecurity=False).digest())
            message = self._encoder.message(request, generation=self._generation, dedupe=True, place=place)
        except (MessageError, CodecError, ValueError) as error:
            self._rejects.add(Refusal(source, number, str(error), text))
            return None
        return message.host, push_row(message)

    def _request(self, text: str) -> Request:
        request = parse_line(text, self._spider, self._priority)
        if self._tier:
            request.meta.setdefault(MIN_TIER, self._tier)
        if rule := self._encoder.scopes.of(self._generation).pushed(request.url):
            raise MessageError(f"out of scope by the rule {rule!r} (docs/scope.md): {request.url}")
        return request
