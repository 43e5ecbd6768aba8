"""Runs the downloader middlewares as Scrapy does, without Scrapy's overhead per call.

For every method on every page Scrapy builds the method's name for a warning that is hardly ever logged, and wraps plain
functions into coroutines: with twenty methods that costs as much as the middlewares themselves.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Final

from scrapy import Request
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.exceptions import _InvalidOutput
from scrapy.http import Response
from scrapy.utils.decorators import _warn_spider_arg
from scrapy.utils.defer import _process_pending_io, ensure_awaitable
from scrapy.utils.python import global_object_name

from crawler.worker.turns.turn import TooLateError

OURS: Final = "crawler."
_DECORATORS: Final = _warn_spider_arg.__code__.co_filename

Send = Callable[[Request], Awaitable[Response]]
Method = Callable[..., Any]


class MiddlewareChain:
    """The middlewares of *manager*, in its order and with its meaning; exceptions take Scrapy's own, slower path."""

    def __init__(self, manager: DownloaderMiddlewareManager) -> None:
        self._manager = manager
        self._requests = self._prepared("process_request")
        self._responses = self._prepared("process_response")
        told = [method for method in manager.methods["process_exception"] if method is not None]
        self._ours = [self._called(method) for method in told if _is_ours(method)]

    async def download(self, send: Send, request: Request) -> Response | Request:
        """As `DownloaderMiddlewareManager.download_async`. A TooLateError is no failure to other middlewares than ours,
        which take back what they lent the request: it was not sent, and will come again."""
        try:
            result = await self._ask(send, request)
        except TooLateError as error:
            for method in self._ours:
                await _awaited(method(request=request, exception=error), method)
            raise
        except Exception as error:  # noqa: BLE001 - raised again unless a middleware answers
            await _process_pending_io()
            result = await self._manager._process_exception(error, request)
        return await self._show(result, request)

    async def _ask(self, send: Send, request: Request) -> Response | Request:
        for method in self._requests:
            answer = method(request=request)
            if answer is not None and (answer := await _awaited(answer, method)) is not None:
                return _checked(answer, method)
        return await send(request)

    async def _show(self, result: Response | Request, request: Request) -> Response | Request:
        for method in self._responses:
            if isinstance(result, Request):
                break
            answer = method(request=request, response=result)
            result = answer if answer is result else _checked(await _awaited(answer, method), method)
        return result

    def _prepared(self, name: str) -> list[Method]:
        return [self._called(method) for method in self._manager.methods[name] if method is not None]

    def _called(self, method: Method) -> Method:
        """*method*, given a spider if it still asks for one."""
        if method not in self._manager._mw_methods_requiring_spider:
            return _undecorated(method)

        @wraps(method)  # its name is in what is said of it
        def with_spider(**arguments: Any) -> Any:
            return self._manager._handle_mw_method(method, **arguments)

        return with_spider


def _is_ours(method: Method) -> bool:
    """Whether it is a `process_exception` of ours, or of a project's class that is made of ours."""
    kinds = type(getattr(method, "__self__", None)).__mro__
    return any(getattr(vars(kind).get("process_exception"), "__module__", "").startswith(OURS) for kind in kinds)


def _undecorated(method: Method) -> Method:
    """*method* without Scrapy's decorator that warns of a `spider` argument: none is given here."""
    function: Any = getattr(method, "__func__", None)
    if getattr(getattr(function, "__code__", None), "co_filename", None) != _DECORATORS:
        return method
    undecorated: Method = function.__wrapped__.__get__(getattr(method, "__self__", None))
    return undecorated


async def _awaited(answer: Any, method: Method) -> Any:
    if isinstance(answer, (Request, Response)):
        return answer
    if inspect.iscoroutine(answer):
        return await answer
    return await ensure_awaitable(answer, _warn=global_object_name(method))


def _checked(answer: Any, method: Method) -> Response | Request:
    if isinstance(answer, (Request, Response)):
        return answer
    name = global_object_name(method)
    raise _InvalidOutput(f"Middleware {name} must return Response or Request, got {type(answer).__name__}")
