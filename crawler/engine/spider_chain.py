"""Runs consecutive spider middlewares of Scrapy's simple kind as one generator per page.

Those that build on `BaseSpiderMiddleware` look at one request or item at a time. Scrapy gives each of them three
asynchronous generators per page, and the event loop keeps a list of all generators.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from scrapy import Request
from scrapy.core.spidermw import SpiderMiddlewareManager
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.spidermiddlewares.depth import DepthMiddleware

Method = Callable[..., Any]
Pair = tuple[Method | None, Method | None]  # what handles output, and exceptions; their places in a chain are the same


class ChainStep(NamedTuple):
    """What one middleware does with a page, with a request and with an item."""

    prepare: Callable[[Response], None] | None
    request: Callable[[Request, Response], Any]
    item: Callable[[Any, Response], Any]


# How the simple kind handles output, and what it does first.
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
    if handler is not None or function not in _SIMPLE or not isinstance(owner, BaseSpiderMiddleware):
        return None
    if owner._get_processed.__func__ is not BaseSpiderMiddleware._get_processed:  # type: ignore[attr-defined]
        return None
    prepare = _SIMPLE[function]
    return ChainStep(prepare and prepare.__get__(owner), owner.get_processed_request, owner.get_processed_item)


def _as_one(steps: Sequence[ChainStep]) -> list[Pair]:
    async def process_spider_output(response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        for step in steps:
            if step.prepare is not None:
                step.prepare(response)
        async for output in result:
            kept = output
            for _, request, item in steps:
                kept = request(kept, response) if isinstance(kept, Request) else item(kept, response)
                if kept is None:
                    break
            else:
                yield kept

    return [(process_spider_output, None)] if steps else []


def _replace(methods: deque[Any], by: Iterable[Method | None]) -> None:
    kept = list(by)
    methods.clear()
    methods.extend(kept)
