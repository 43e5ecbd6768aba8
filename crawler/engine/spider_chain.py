"""Runs consecutive spider middlewares of simple kinds as one generator per page.

Those that build on Scrapy's `BaseSpiderMiddleware` or on our `OutputMiddleware` look at one request or item at a time.
Scrapy gives each of them two asynchronous generators per page, and the event loop keeps a list of all generators.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from scrapy.core.spidermw import SpiderMiddlewareManager
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.spidermiddlewares.depth import DepthMiddleware

from crawler.middlewares.spider.outputs import OutputMiddleware

Method = Callable[..., Any]
Pair = tuple[Method | None, Method | None]  # what handles output, and exceptions; their places in a chain are the same


class ChainStep(NamedTuple):
    """What one middleware does with a page: see `OutputMiddleware`."""

    begin: Callable[[Response], Any]
    each: Callable[[Any, Any], Any]
    end: Callable[[Any], None] | None


# How Scrapy's simple kind handles output, and what it does first.
_SIMPLE: Final[dict[Method, Method | None]] = {
    BaseSpiderMiddleware.process_spider_output_async: None,
    DepthMiddleware.process_spider_output_async: DepthMiddleware._init_depth,
}


def fold(manager: SpiderMiddlewareManager) -> None:
    """Put one method in the place of those that follow each other, none of which handles exceptions."""
    outputs, handlers = manager.methods["process_spider_output"], manager.methods["process_spider_exception"]
    folded: list[Pair] = []
    steps: list[ChainStep] = []
    for pair in zip(list(outputs), list(handlers), strict=True):
        if pair == (None, None):
            continue
        if (step := _step(*pair)) is not None:
            steps.append(step)
            continue
        folded += [*_as_one(steps), pair]
        steps = []
    folded += _as_one(steps)
    _replace(outputs, (output for output, _ in folded))
    _replace(handlers, (handler for _, handler in folded))


def _step(output: Method | None, handler: Method | None) -> ChainStep | None:
    owner, function = getattr(output, "__self__", None), getattr(output, "__func__", None)
    if handler is not None:
        return None
    if isinstance(owner, OutputMiddleware) and function is OutputMiddleware.process_spider_output:
        ends = type(owner).end is not OutputMiddleware.end
        return ChainStep(owner.begin, owner.each, owner.end if ends else None)
    if function not in _SIMPLE or not isinstance(owner, BaseSpiderMiddleware):
        return None
    if owner._get_processed.__func__ is not BaseSpiderMiddleware._get_processed:  # type: ignore[attr-defined]
        return None
    return ChainStep(_beginning(owner, _SIMPLE[function]), owner._get_processed, None)


def _beginning(owner: BaseSpiderMiddleware, prepare: Method | None) -> Callable[[Response], Response]:
    def begin(response: Response) -> Response:
        if prepare is not None:
            prepare(owner, response)
        return response

    return begin


def _as_one(steps: Sequence[ChainStep]) -> list[Pair]:
    async def process_spider_output(response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        begun = [(step, page) for step in steps if (page := step.begin(response)) is not None]
        ends = [(step.end, page) for step, page in begun if step.end is not None]
        calls = [(step.each, page) for step, page in begun]
        async for output in result:
            kept = output
            for each, page in calls:
                if (kept := each(kept, page)) is None:
                    break
            else:
                yield kept
        for end, page in ends:
            end(page)

    return [(process_spider_output, None)] if steps else []


def _replace(methods: deque[Any], by: Iterable[Method | None]) -> None:
    kept = list(by)
    methods.clear()
    methods.extend(kept)
