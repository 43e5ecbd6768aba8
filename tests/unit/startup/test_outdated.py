"""What a project has from older releases of Scrapy, found by name and line."""

from __future__ import annotations

import functools
import logging
from collections import UserDict
from collections.abc import AsyncIterator, Callable
from typing import Any, Generic, TypeVar

import pytest
from scrapy import Request, Spider
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.http import Response
from scrapy.pipelines.images import ImagesPipeline
from scrapy.settings import Settings
from scrapy.spidermiddlewares.httperror import HttpErrorMiddleware

from crawler.addon import completed
from crawler.spiders.pages import PagesSpider
from crawler.spiders.products import ProductsSpider
from crawler.startup.fleet_check import findings
from crawler.startup.spider_source import functions
from tests.shipped import shipped

T = TypeVar("T")


def found(**tables: dict[Any, int]) -> list[str]:
    return [str(one) for one in findings(completed(shipped(**tables), PagesSpider))]


def line_of(words: str) -> int:
    with open(__file__) as source:  # noqa: PTH123
        return next(number for number, line in enumerate(source, 1) if words in line and "line_of" not in line)


class OldMiddleware:
    """A spider middleware as it was until 2.12."""

    def process_start_requests(self, start_requests: Any, spider: Spider) -> Any:
        return start_requests


class BothMiddleware(OldMiddleware):
    """Works with old and new releases of Scrapy."""

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for one in start:
            yield one


class StartedMiddleware:
    """As older releases' `scrapy startproject` wrote it."""

    def process_start_requests(self, start_requests: Any, spider: Spider) -> Any:
        # Must return only requests (not items).
        for one in start_requests:  # noqa: UP028
            yield one


class TypedMiddleware(UserDict[str, T], Generic[T]):
    """Of a project, and of Python."""

    def process_spider_output(self, response: Response, result: Any) -> Any:
        return result


def test_python_itself_is_not_read_for_faults() -> None:
    assert [one.node.name for one in functions(TypedMiddleware)] == ["process_spider_output"]


def test_nor_are_our_own_spiders() -> None:
    assert [*functions(PagesSpider), *functions(ProductsSpider)] == []


def test_a_middleware_of_starts_that_scrapy_calls_no_more_is_named() -> None:
    places = {OldMiddleware: 1, BothMiddleware: 2, "no.such.Middleware": 3, StartedMiddleware: 4}
    where = f"{__name__}.OldMiddleware.process_start_requests"
    todo = "Scrapy no longer calls it: make it `async def process_start(self, start)`"
    assert found(SPIDER_MIDDLEWARES=places) == [f"{where}: {todo}"]


class OldRetry(RetryMiddleware):
    """As pages of help for Scrapy still have it."""

    def process_response(self, request: Request, response: Response, spider: Spider) -> Any:  # type: ignore[override]
        if not response.body:
            return self._retry(request, "empty", spider) or response  # type: ignore[call-arg] # the call
        return super().process_response(request, response)

    def process_exception(self, request: Request, exception: Exception, spider: Spider) -> Any:  # type: ignore[override]
        return super(OldRetry, self)._retry(request, exception, spider=spider)  # type: ignore[call-arg]  # noqa: UP008 # by its name


class OwnRetry(RetryMiddleware):
    """In place of the method itself."""

    def _retry(self, request: Request, reason: Any, spider: Spider) -> Any:  # type: ignore[override] # the method
        return None

    def process_response(self, request: Request, response: Response, spider: Spider) -> Any:  # type: ignore[override]
        return self._retry(request, "its own", spider) or response


class NewRetry(RetryMiddleware):
    """What fits, however it is written."""

    def __init__(self, settings: Settings, more: int) -> None:
        super().__init__(settings)
        self.more = more

    def _retry(self, request: Request, reason: Any, spider: Spider | None = None) -> Any:
        arguments: Any = (request, reason)
        return super()._retry(*arguments)

    def process_response(self, request: Request, response: Response, spider: Spider) -> Any:  # type: ignore[override]
        return super().process_response(request, response, spider)

    def process_exception(self, *arguments: Any, **named: Any) -> Any:
        return super().process_exception(*arguments, **named)


class OldErrors(HttpErrorMiddleware):
    """Scrapy looks whether a hook takes the spider."""

    def process_spider_input(self, response: Response, spider: Spider) -> None:  # type: ignore[override]
        super().process_spider_input(response)


class OldImages(ImagesPipeline):
    """A hook of its own, and one that is called by its base class."""

    def process_item(self, item: Any, spider: Spider) -> Any:  # type: ignore[override]
        return super().process_item(item)

    def get_media_requests(self, item: Any, info: Any, more: Any) -> Any:  # type: ignore[override] # with more
        return []

    async def _process_request(self, request: Any, info: Any, item: Any, own: Any) -> Any:  # type: ignore[override] # in a list
        return None


def test_a_call_that_no_longer_fits_a_method_of_scrapys_is_named() -> None:
    takes = "_retry() takes request, reason in this release of Scrapy"
    assert found(DOWNLOADER_MIDDLEWARES={OldRetry: 550}) == [
        f"{__file__}:{line_of('# the call')}: {takes}: too many positional arguments",
        f"{__file__}:{line_of('# by its name')}: {takes}: got an unexpected keyword argument 'spider'",
    ]


def test_a_method_that_scrapy_calls_with_less_is_named() -> None:
    assert found(DOWNLOADER_MIDDLEWARES={OwnRetry: 550}) == [
        f"{__file__}:{line_of('# the method')}: _retry() is called without spider: leave that out"
    ]
    assert found(ITEM_PIPELINES={OldImages: 1}) == [
        f"{__file__}:{line_of('# with more')}: get_media_requests() is called without more: leave that out",
        f"{__file__}:{line_of('# in a list')}: _process_request() is called without own: leave that out",
    ]


class SecondRetry(OwnRetry):
    """Has the same base class."""


def test_a_base_class_of_several_components_is_named_once() -> None:
    assert len(found(DOWNLOADER_MIDDLEWARES={OwnRetry: 550, SecondRetry: 551})) == 1


def test_what_scrapy_can_call_is_not_named() -> None:
    assert found(DOWNLOADER_MIDDLEWARES={NewRetry: 550}, SPIDER_MIDDLEWARES={OldErrors: 1}) == []


class OldSpider(Spider):
    """Of its own project, with a callback that takes more than Scrapy's `parse`."""

    name = "old"

    def parse(self, response: Response, page: int) -> Any:
        self.log("a", 10, page=page)


def test_a_spider_whose_callback_takes_arguments_is_not_named() -> None:
    assert findings(completed(shipped(), OldSpider)) == []


def with_spider(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, request: Request, reason: Any) -> Any:
        return method(self, request, reason, self.crawler.spider)

    return call


class DecoratedRetry(RetryMiddleware):
    """Its decorator provides what Scrapy does not."""

    @with_spider
    def _retry(self, request: Request, reason: Any, spider: Spider) -> Any:
        return None


class WholeRetry(RetryMiddleware):
    """Copied whole: nothing of Scrapy's calls what it replaces."""

    def _retry(self, request: Request, reason: Any, spider: Spider) -> Any:  # type: ignore[override]
        return None

    def process_response(self, request: Request, response: Response, spider: Spider) -> Any:  # type: ignore[override]
        return self._retry(request, "its own", spider) or response

    def process_exception(self, request: Request, exception: Exception, spider: Spider) -> Any:  # type: ignore[override]
        return self._retry(request, exception, spider)


class WrappingRetry(OwnRetry):
    """Gives the one below it what that takes."""

    def _retry(self, request: Request, reason: Any) -> Any:  # type: ignore[override]
        return super()._retry(request, reason, None)  # type: ignore[arg-type]


class InnerRetry(RetryMiddleware):
    """Defines other things of those names."""

    class Log:
        """Retries something else."""

        def _retry(self, request: Request, reason: Any, more: Any) -> Any:
            return more and self._retry(request, reason, more)

    def process_response(self, request: Request, response: Response) -> Any:  # type: ignore[override]
        class Retries:
            def _retry(self, request: Request, reason: Any, more: Any) -> Any:
                return more and self._retry(request, reason, more)

        def _retry(request: Request, reason: Any, more: Any, most: Any) -> Any:
            return Retries()._retry(request, reason, [more, most])

        return _retry(request, "", 1, 2) or response


class Retries:
    """Has a method of that name, of its own."""

    def _retry(self, request: Request, reason: Any, spider: Spider) -> Any:
        return None


class SkippingRetry(RetryMiddleware, Retries):  # type: ignore[misc]
    """Calls past Scrapy's class."""

    def process_response(self, request: Request, response: Response, spider: Spider) -> Any:  # type: ignore[override]
        return super(RetryMiddleware, self)._retry(request, "its own", spider) or response


@pytest.mark.parametrize("kind", [DecoratedRetry, WholeRetry, WrappingRetry, InnerRetry, SkippingRetry])
def test_what_does_not_meet_a_method_of_scrapys_is_not_named(kind: type) -> None:
    assert found(DOWNLOADER_MIDDLEWARES={kind: 550}) == []


class LoggingSpider(Spider):
    """Puts something of its own under a name of Scrapy's."""

    name = "logging"

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.log = logging.getLogger("own").info  # type: ignore[method-assign, assignment]
        return spider

    def parse(self, response: Response) -> Any:
        self.log("%s and %s", response, "more")  # type: ignore[call-arg, arg-type]


def test_what_a_spider_sets_under_the_name_of_a_method_is_not_named() -> None:
    assert findings(completed(shipped(), LoggingSpider)) == []
