"""Base of the spider middlewares that look at one output of a page after the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from typing import Any, Generic, TypeVar

from scrapy.http import Response

P = TypeVar("P")


class OutputMiddleware(Generic[P]):
    """In a crawl `engine.spider_chain` runs those that follow each other as one generator, so a subclass overrides
    `begin`, `each` and `end`, not `process_spider_output`. *P* is what it knows of a page."""

    def begin(self, response: Response) -> P | None:
        """What `each` gets with every output of *response*; None to leave this page alone."""
        raise NotImplementedError

    def each(self, output: Any, page: P) -> Any:
        """*output*, another one in its place, or None to drop it."""
        return output

    def end(self, page: P) -> Awaitable[None] | None:
        """After the last output; awaited if it is a coroutine. Not called if the callback raises or is stopped by
        CloseSpider, nor if a middleware nearer to the spider raises, unless another one yields something in place of
        the exception."""

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """As Scrapy calls it."""
        page = self.begin(response)
        async for output in result:
            if page is None or (output := self.each(output, page)) is not None:
                yield output
        if page is not None and (ending := self.end(page)) is not None:
            await ending
