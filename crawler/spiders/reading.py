"""How our spiders read pages: doubtful ones in a child process, while `parse` stays a plain generator."""

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
from crawler.spiders.sandbox import Sandbox


@dataclass(slots=True)
class Reading:
    """A call `function(document, *args)` (see `Sandbox.ask`), and its result once it is done.

    *long*: it might block the event loop, so it runs in the child.
    """

    function: Callable[..., Any]
    document: Document
    args: tuple[Any, ...]
    long: bool = False
    done: tuple[Any] | None = None


class ReadingMixin:
    """Gives a spider `read` for use in `parse`; `reading` says what to read.

    Subclasses loop over `super().parse(response)`, so it cannot await a child. Instead a doubtful page is read before
    Scrapy's default callback calls `parse`. A page with its own callback is read in place.
    """

    crawler: Crawler
    parse: Callable[..., Any]

    def reading(self, response: TextResponse) -> Reading | None:
        """How *response* is read; None if there is nothing to read."""
        return None

    def read(self, response: TextResponse) -> Any:
        """The result of `reading` for *response*; None if there is nothing to read."""
        reading = self._readings.pop(response, None) or self.reading(response)
        if reading is None:
            return None
        return reading.done[0] if reading.done else reading.function(reading.document, *reading.args)

    def _parse(self, response: Response, **kwargs: Any) -> Any:
        """Scrapy calls this for requests without a callback; its output may raise TooCostlyError."""
        reading = self.reading(response) if isinstance(response, TextResponse) else None
        if reading is None:
            return self.parse(response, **kwargs)
        self._readings[response] = reading
        if not (reading.long or self.sandbox.wants(reading.document)):
            return self.parse(response, **kwargs)
        return self._parse_in_sandbox(response, reading, kwargs)

    async def _parse_in_sandbox(
        self, response: Response, reading: Reading, kwargs: dict[str, Any]
    ) -> AsyncIterator[Any]:
        reading.done = (await self.sandbox.ask(reading.function, reading.document, *reading.args),)
        output = self.parse(response, **kwargs)
        async for each in output if isasyncgen(output) else as_async_generator(output):
            yield each

    @cached_property
    def sandbox(self) -> Sandbox:
        """Built with the first page, when all settings are final. Raises ConfigError."""
        return Sandbox.from_crawler(self.crawler)

    @cached_property
    def _readings(self) -> WeakKeyDictionary[Response, Reading]:
        return WeakKeyDictionary()
