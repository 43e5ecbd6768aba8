"""Our runner of middlewares beside Scrapy's own: the same calls in the same order, with the same end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.downloadtimeout import DownloadTimeoutMiddleware
from scrapy.exceptions import IgnoreRequest, _InvalidOutput
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawler.engine.middleware_chain import MiddlewareChain
from crawler.worker.turns.turn import TooLateError

URL = "http://a.example/"
OTHER = Request(URL + "other")
GIVEN = Response(URL + "given")


class Noting:
    """Notes each call; subclasses answer."""

    def __init__(self, calls: list[str]) -> None:
        self.calls = calls

    def process_request(self, request: Request) -> Any:
        self.calls.append(f"{type(self).__name__} request")

    def process_response(self, request: Request, response: Response) -> Any:
        self.calls.append(f"{type(self).__name__} response {response.url}")
        return response

    def process_exception(self, request: Request, exception: Exception) -> Any:
        self.calls.append(f"{type(self).__name__} {type(exception).__name__}")


class Coroutines(Noting):
    async def process_request(self, request: Request) -> Any:
        await asyncio.sleep(0)
        return super().process_request(request)

    async def process_response(self, request: Request, response: Response) -> Any:
        return super().process_response(request, response)


class Answering(Noting):
    def process_request(self, request: Request) -> Any:
        return GIVEN


class Redirecting(Noting):
    async def process_response(self, request: Request, response: Response) -> Any:
        return OTHER


class Ignoring(Noting):
    async def process_request(self, request: Request) -> Any:
        raise IgnoreRequest("no")


class Saving(Noting):
    def process_exception(self, request: Request, exception: Exception) -> Any:
        return GIVEN


class Futures(Noting):
    def process_request(self, request: Request) -> Any:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done


class Wrong(Noting):
    def process_response(self, request: Request, response: Response) -> Any:
        return "a page"


class Silent(Noting):
    async def process_response(self, request: Request, response: Response) -> Any:
        return None


async def sent(request: Request) -> Response:
    return Response(request.url)


async def failing(request: Request) -> Response:
    raise OSError("down")


CHAINS: list[list[type[Noting]]] = [
    [], [Noting], [Noting, Coroutines], [Coroutines, Noting], [Noting, Answering, Coroutines], [Futures, Noting],
    [Noting, Redirecting, Coroutines], [Coroutines, Ignoring, Noting], [Noting, Saving, Coroutines], [Noting, Wrong],
    [Noting, Silent, Noting],
]  # fmt: skip


async def ended(run: Callable[[DownloaderMiddlewareManager], Any], chain: list[type[Noting]]) -> list[Any]:
    calls: list[Any] = []
    crawler = Crawler(Spider)
    crawler.spider = Spider("s")
    manager = DownloaderMiddlewareManager(*(kind(calls) for kind in chain), crawler=crawler)
    try:
        result = await run(manager)
    except Exception as error:  # noqa: BLE001 - both sides' are compared
        calls.append(type(error).__name__)
    else:
        calls.append((type(result).__name__, result.url))
    return calls


@pytest.mark.parametrize("send", [sent, failing])
@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: "-".join(kind.__name__ for kind in chain) or "empty")
async def test_it_does_what_scrapy_does(chain: list[type[Noting]], send: Any) -> None:
    scrapys = await ended(lambda manager: manager.download_async(send, Request(URL)), chain)
    ours = await ended(lambda manager: MiddlewareChain(manager).download(send, Request(URL)), chain)

    assert ours == scrapys
    assert ours


class Ours(Noting):
    """Takes back what it lent the request."""

    def process_exception(self, request: Request, exception: Exception) -> Any:
        super().process_exception(request, exception)

    process_exception.__module__ = "crawler.middlewares.downloader.cookies"


class Switching(Noting):
    """As projects do that try each failed request through another proxy."""

    def process_exception(self, request: Request, exception: Exception) -> Any:
        super().process_exception(request, exception)
        return OTHER


async def test_a_request_that_is_given_back_is_no_failure_to_a_projects_middlewares() -> None:
    async def late(request: Request) -> Response:
        raise TooLateError

    calls = await ended(lambda manager: MiddlewareChain(manager).download(late, Request(URL)), [Ours, Switching])
    assert calls == ["Ours request", "Switching request", "Ours TooLateError", "TooLateError"]


class OfOurs(Ours):
    """A project's middleware made of one of ours, with a `spider` as older ones have it."""

    def process_exception(self, request: Request, exception: Exception, spider: Spider) -> Any:  # type: ignore[override]
        self.calls.append(f"{spider.name} was told")
        return super().process_exception(request, exception)


@pytest.mark.filterwarnings("ignore:.*requires a spider argument")
async def test_ours_is_told_of_it_though_a_project_has_changed_that() -> None:
    async def late(request: Request) -> Response:
        raise TooLateError

    calls = await ended(lambda manager: MiddlewareChain(manager).download(late, Request(URL)), [OfOurs])
    assert calls == ["OfOurs request", "s was told", "OfOurs TooLateError", "TooLateError"]


def noted(method: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator of a project's own."""

    @wraps(method)
    def inner(self: Noting, **arguments: Any) -> Any:
        self.calls.append("decorated")
        return method(self, **arguments)

    return inner


class Decorated(Noting):
    process_request = noted(Noting.process_request)


async def test_only_scrapys_own_decorator_is_left_out() -> None:
    crawler = get_crawler()
    crawler.spider = Spider("s")
    calls: list[str] = []
    timeout = DownloadTimeoutMiddleware(timeout=7)
    chain = MiddlewareChain(DownloaderMiddlewareManager(timeout, Decorated(calls), crawler=crawler))
    assert all("sync_inner" not in method.__code__.co_name for method in chain._requests)
    request = Request(URL)

    async def send(request: Request) -> Response:
        return GIVEN

    assert await chain.download(send, request) is GIVEN
    assert (request.meta["download_timeout"], calls[:2]) == (7, ["decorated", "Decorated request"])


class Forgetful(Noting):
    """Of an older release, and without a return."""

    def process_response(self, request: Request, response: Response, spider: Spider) -> Any:  # type: ignore[override]
        self.calls.append(spider.name)


@pytest.mark.filterwarnings("ignore:.*requires a spider argument")
async def test_a_wrong_answer_names_the_middleware_that_gave_it() -> None:
    crawler = Crawler(Spider)
    crawler.spider = Spider("s")
    chain = MiddlewareChain(DownloaderMiddlewareManager(Forgetful([]), crawler=crawler))
    with pytest.raises(_InvalidOutput, match=r"Forgetful\.process_response must return .*, got NoneType"):
        await chain.download(sent, Request(URL))
