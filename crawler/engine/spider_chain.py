"""Runs a page's output through the spider middlewares as Scrapy does, with a generator per page where Scrapy has three
per middleware.

Middlewares that build on Scrapy's `BaseSpiderMiddleware` or on our `OutputMiddleware` look at one request or item at a
time: those with nothing else between them run as one generator. Exceptions take Scrapy's own, slower path.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from traceback import walk_tb
from typing import Any, Final, NamedTuple

from scrapy.core.spidermw import SpiderMiddlewareManager
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.spidermiddlewares.depth import DepthMiddleware
from twisted.internet import defer

from crawler.middlewares.outputs import OutputMiddleware

AT_ONCE: Final = 50  # outputs of a page before others have a turn; each takes 0.1 ms or more

Method = Callable[..., Any]
Output = AsyncIterator[Any]


class ChainStep(NamedTuple):
    """What one middleware does with a page: see `OutputMiddleware`."""

    after: int  # place of the middleware behind it, the first that is asked about its exceptions
    begin: Callable[[Response], Any]
    each: Callable[[Any, Any], Any]
    end: Callable[[Any], Awaitable[None] | None] | None


class Segment(NamedTuple):
    """Steps that run as one generator, on the output of *method*, which handles output in its own way; of the callback
    if there is none."""

    first: int  # place of the first of *steps*
    method: Method | None
    steps: list[ChainStep]


# How Scrapy's simple kind handles output, and what it does first.
_SIMPLE: Final[dict[Method, Method | None]] = {
    BaseSpiderMiddleware.process_spider_output_async: None,
    DepthMiddleware.process_spider_output_async: DepthMiddleware._init_depth,
}


def fold(manager: SpiderMiddlewareManager) -> None:
    """Make *manager* use a `SpiderChain` for what callbacks yield, and free pages that middlewares refuse."""
    manager._process_spider_exception = partial(_freeing, manager._process_spider_exception)  # type: ignore[method-assign]
    manager._process_callback_output = SpiderChain(manager).process  # type: ignore[method-assign,assignment]


def _freeing(ask: Method, response: Response, exception: Exception, start_index: int = 0) -> Any:
    """As `SpiderMiddlewareManager._process_spider_exception`, but the frames in which it asked, which refer to
    *exception*, are not in its traceback: they and the exception would keep the page until the garbage collector
    runs. A refusal (HttpError) that is dealt with forgets where it was raised. Known weakness: not for errbacks."""
    before = exception.__traceback__
    _forget_failure(exception)
    try:
        answer = ask(response, exception, start_index)
    except Exception as raised:
        if raised is exception:
            raised.__traceback__ = before
        del exception
        raise
    if isinstance(exception, IgnoreRequest):
        exception.__traceback__ = None
    return answer


def _forget_failure(exception: Exception) -> None:
    """What a coroutine raises has passed a frame of Twisted's that keeps it in a Failure, and is kept by it."""
    for frame, _ in walk_tb(exception.__traceback__):
        if frame.f_code.co_filename == defer.__file__:
            with suppress(RuntimeError):  # it still runs
                frame.clear()


class SpiderChain:
    """The spider middlewares of *manager*, in its order and with its meaning."""

    def __init__(self, manager: SpiderMiddlewareManager) -> None:
        self._manager = manager
        self.segments = _segments(manager)

    async def process(self, response: Response, result: Output) -> Output:
        """As `SpiderMiddlewareManager._process_callback_output`."""
        rescued = Rescued(self._manager, response)
        for segment in self.segments:
            if segment.method is not None:
                result = segment.method(response=response, result=result)
            result = _passed(segment, response, result, rescued, last=segment is self.segments[-1])
        return result


class Rescued:
    """What middlewares yield in the place of exceptions. It comes after everything else, the callback's last."""

    def __init__(self, manager: SpiderMiddlewareManager, response: Response) -> None:
        self._ask = partial(manager._process_spider_exception, response)
        self._outputs: list[Output] = []
        self._callbacks: list[Output] = []

    def __bool__(self) -> bool:
        return bool(self._outputs or self._callbacks)

    async def __aiter__(self) -> Output:
        for outputs in (*self._outputs, *self._callbacks):
            async for output in outputs:
                yield output

    def ask(self, error: Exception, first: int) -> None:
        """Ask the middlewares from *first* on about *error*; raises it if all of them decline, or have done so."""
        try:
            if getattr(error, "_spidermw_unhandled", False):
                raise error
            (self._outputs if first else self._callbacks).append(self._ask(error, first))
        finally:
            del error  # its traceback refers to this frame


async def _passed(segment: Segment, response: Response, result: Output, rescued: Rescued, *, last: bool) -> Output:
    """The output of *segment*. After an exception that is rescued, the steps behind it come to their end as usual."""
    at, count = segment.first, 0
    pages: list[tuple[ChainStep, Any]] = []
    try:
        for step in reversed(segment.steps):
            at = step.after
            if (page := step.begin(response)) is not None:
                pages.insert(0, (step, page))
        calls, at = [(step.after, step.each, page) for step, page in pages], segment.first
        async for output in result:
            for at, each, page in calls:  # noqa: B007 - where an exception comes from
                if (output := each(output, page)) is None:
                    break
            else:
                yield output
            at = segment.first
            if not (count := count + 1) % AT_ONCE:
                await asyncio.sleep(0)  # 50,000 links would keep all else waiting to their end: leases, signals
    except Exception as error:  # noqa: BLE001 - raised again unless a middleware answers
        rescued.ask(error, at)
    await _end([(step, page) for step, page in pages if step.after > at], rescued)
    if last and rescued:
        async for output in rescued:
            yield output


async def _end(pages: list[tuple[ChainStep, Any]], rescued: Rescued) -> None:
    for step, page in pages:
        if step.end is not None:
            try:
                if (ending := step.end(page)) is not None:
                    await ending
            except Exception as error:  # noqa: BLE001 - as above
                rescued.ask(error, step.after)


def _segments(manager: SpiderMiddlewareManager) -> list[Segment]:
    segments = [Segment(0, None, [])]
    for place, method in enumerate(manager.methods["process_spider_output"]):
        if method is None:
            continue
        if (step := _step(method, place + 1)) is not None:
            segments[-1].steps.append(step)
        else:
            segments.append(Segment(place + 1, _called(manager, method), []))
    return segments


def _called(manager: SpiderMiddlewareManager, method: Method) -> Method:
    """*method*, given a spider if it still asks for one."""
    return partial(method, spider=manager._spider) if method in manager._mw_methods_requiring_spider else method


def _step(method: Method, after: int) -> ChainStep | None:
    owner, function = getattr(method, "__self__", None), getattr(method, "__func__", None)
    if isinstance(owner, OutputMiddleware) and function is OutputMiddleware.process_spider_output:
        ends = type(owner).end is not OutputMiddleware.end
        return ChainStep(after, owner.begin, owner.each, owner.end if ends else None)
    if function not in _SIMPLE or not isinstance(owner, BaseSpiderMiddleware):
        return None
    if owner._get_processed.__func__ is not BaseSpiderMiddleware._get_processed:  # type: ignore[attr-defined]
        return None
    return ChainStep(after, _beginning(owner, _SIMPLE[function]), owner._get_processed, None)


def _beginning(owner: BaseSpiderMiddleware, prepare: Method | None) -> Callable[[Response], Response]:
    def begin(response: Response) -> Response:
        if prepare is not None:
            prepare(owner, response)
        return response

    return begin
