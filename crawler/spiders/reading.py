"""How our spiders read pages: a doubtful one in a child process, and `parse` stays a plain generator all the same."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import cached_property
from inspect import isasyncgen
from typing import Any
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler
from scrapy.http import Response, TextResponse
from scrapy.utils.asyncgen import as_async_generator

from crawler.extraction import Document
from crawler.spiders.apart import Apart


@dataclass(slots=True)
class Reading:
    """`function(document, *args)` (see `Apart.read`), and what it gave once that was done.

    *long*: it may hold up the event loop, and is done in the child.
    """

    function: Callable[..., Any]
    document: Document
    args: tuple[Any, ...]
    long: bool = False
    done: tuple[Any] | None = None


class ReadingMixin:
    """Gives a spider `read` for the callback `parse`; spiders say in `reading` what that does.

    Spiders that build on ours loop over `super().parse(response)`, so it cannot wait for a child. Instead a doubtful
    page is read before Scrapy's default callback calls `parse`. A page with a callback of its own is read in place.
    """

    crawler: Crawler
    parse: Callable[..., Any]

    def reading(self, response: TextResponse) -> Reading | None:
        """How *response* is read; None where there is nothing to be read apart."""
        return None

    def read(self, response: TextResponse) -> Any:
        """What `reading` makes of *response*."""
        reading = self._readings.pop(response, None) or self.reading(response)
        assert reading is not None
        return reading.done[0] if reading.done else reading.function(reading.document, *reading.args)

    def _parse(self, response: Response, **kwargs: Any) -> Any:
        """Scrapy's name for the callback of a request that names none; its output may raise TooCostlyError."""
        reading = self.reading(response) if isinstance(response, TextResponse) else None
        if reading is None:
            return self.parse(response, **kwargs)
        self._readings[response] = reading
        if not (reading.long or self.apart.wants(reading.document)):
            return self.parse(response, **kwargs)
        return self._parse_apart(response, reading, kwargs)

    async def _parse_apart(self, response: Response, reading: Reading, kwargs: dict[str, Any]) -> AsyncIterator[Any]:
        reading.done = (await self.apart.ask(reading.function, reading.document, *reading.args),)
        output = self.parse(response, **kwargs)
        async for each in output if isasyncgen(output) else as_async_generator(output):
            yield each

    @cached_property
    def apart(self) -> Apart:
        """Made with the first page, when all settings are in place. Raises ConfigError."""
        return Apart.from_crawler(self.crawler)

    @cached_property
    def _readings(self) -> WeakKeyDictionary[Response, Reading]:
        return WeakKeyDictionary()
