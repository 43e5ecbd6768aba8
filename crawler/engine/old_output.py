"""Spider middlewares of older releases of Scrapy, as many projects and libraries have them: `process_spider_output` is
a plain generator. Scrapy 2.19 does not start with one; here it gets a page's output as a whole, once the callback has
ended."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from functools import wraps
from inspect import isasyncgenfunction, iscoroutinefunction
from typing import Any, Final

from scrapy.core.spidermw import SpiderMiddlewareManager
from scrapy.http import Response
from scrapy.utils.python import global_object_name

Method = Callable[..., Any]

logger = logging.getLogger(__name__)
_scrapys: Final = SpiderMiddlewareManager._get_process_spider_output


def install() -> None:
    """Use it for all spider middlewares of this process that are built from now on."""
    SpiderMiddlewareManager._get_process_spider_output = staticmethod(_found)  # type: ignore[method-assign, assignment]


def _found(middleware: Any) -> Method | None:
    method = getattr(middleware, "process_spider_output", None)
    is_other = isasyncgenfunction(method) or iscoroutinefunction(method)  # Scrapy refuses a coroutine
    if method is None or is_other or hasattr(middleware, "process_spider_output_async"):
        return _scrapys(middleware)
    words = "%s is no async generator: it gets the output of a page as a whole, once its callback has ended"
    logger.info(words, global_object_name(method))
    return adapted(method)


def adapted(method: Method) -> Method:
    """*method*, as an async generator. What the callback yielded before it raised passes, and then *method* sees the
    exception, as in Scrapy. TypeError names a method that returns no iterable."""

    @wraps(method)
    async def output(response: Response, result: AsyncIterator[Any], **spider: Any) -> AsyncIterator[Any]:
        given: list[Any] = []
        raised: Exception | None = None
        try:
            async for one in result:
                given.append(one)  # noqa: PERF401 - those before an exception, too
        except Exception as error:  # noqa: BLE001 - raised again below
            raised = error
        made = method(response=response, result=_again(given, raised), **spider)
        if not isinstance(made, Iterable):
            raise TypeError(f"{global_object_name(method)} returned {made!r:.80}: expected an iterable")
        for one in made:
            yield one

    return output


def _again(given: list[Any], raised: Exception | None) -> Iterator[Any]:
    yield from given
    if raised is not None:
        raise raised
