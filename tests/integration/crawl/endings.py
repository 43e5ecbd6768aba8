"""One spider for each way in which a request can end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import CloseSpider, DropItem, IgnoreRequest
from scrapy.http import Response
from scrapy.logformatter import LogFormatter
from twisted.python.failure import Failure

from crawler.items import PageItem
from crawler.spiders.base import FrontierSpider

HERE = "tests.integration.crawl.endings"


class Ending(FrontierSpider):
    """Asks for `path` of `site` and yields an item for each page."""

    site = ""  # given with -a
    path = "/page"

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.site + self.path)

    def parse(self, response: Response) -> Any:
        yield {"url": response.url}


class Plain(Ending):
    """Everything goes well."""

    name = "plain"


class SlowItem(Ending):
    """The item takes its time: the page may not be acknowledged before."""

    name = "slow_item"
    custom_settings = {"ITEM_PIPELINES": {f"{HERE}.SlowPipeline": 1}}


class ItemError(Ending):
    """The item always fails."""

    name = "item_error"
    custom_settings = {"ITEM_PIPELINES": {f"{HERE}.FailingPipeline": 1}}


class ItemErrorOnce(Ending):
    """The item fails the first time."""

    name = "item_error_once"
    custom_settings = {"ITEM_PIPELINES": {f"{HERE}.OnceFailingPipeline": 1}}


class UnloggedItem(Ending):
    """The line about its item cannot be made, so nobody hears what became of it."""

    name = "unlogged_item"
    custom_settings = {"LOG_FORMATTER": f"{HERE}.FailingFormatter"}


class DroppedItem(Ending):
    """A pipeline drops the item, which is no failure."""

    name = "dropped_item"
    custom_settings = {"ITEM_PIPELINES": {f"{HERE}.DroppingPipeline": 1}}


class RaisesMidway(Ending):
    """The callback fails after its first item and its first child."""

    name = "raises_midway"
    custom_settings = {"ITEM_PIPELINES": {"crawler.pipelines.mongodb.MongoPipeline": 1}}

    def parse(self, response: Response) -> Iterator[Any]:
        yield PageItem(url=response.url, title="before the failure")
        if response.url.endswith(self.path):
            yield Request(self.site + "/child")
            raise ValueError("the page is not as expected")


class Cancelled(Ending):
    """The callback awaits what somebody has cancelled: to asyncio that looks as if the worker's own task were."""

    name = "cancelled"

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        yield Request(self.site + "/child", callback=self.child)
        task = asyncio.ensure_future(asyncio.sleep(60))
        task.cancel()
        await task

    def child(self, response: Response) -> None:
        """Nothing comes of it."""


class Panics(Ending):
    """The callback raises what is no Exception, as Rust libraries do."""

    name = "panics"

    def parse(self, response: Response) -> Any:
        raise BaseException("a panic")


class RaisesGeneratorExit(Ending):
    """The callback raises what ends generators, and has no text to show."""

    name = "generator_exit"

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}
        raise GeneratorExit


class CancelledItem(Ending):
    """A pipeline raises CancelledError."""

    name = "cancelled_item"
    custom_settings = {"ITEM_PIPELINES": {f"{HERE}.CancellingPipeline": 1}, "RETRY_TIMES": 0}


class CancelledDownload(Ending):
    """A downloader middleware raises CancelledError."""

    name = "cancelled_download"
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {f"{HERE}.CancellingMiddleware": 1}, "RETRY_TIMES": 0}


class LoneSurrogate(Ending):
    """The callback quotes what a page's JSON may hold and no server takes."""

    name = "lone_surrogate"

    def parse(self, response: Response) -> Any:
        raise ValueError("no price in \ud800")


class MuteError(Ending):
    """The callback raises an error that cannot be shown."""

    name = "mute_error"

    def parse(self, response: Response) -> Any:
        class UnprintableError(Exception):
            def __str__(self) -> str:
                raise ValueError("no text")

        raise UnprintableError


class NotFound(Ending):
    """404."""

    name = "not_found"
    path = "/missing"


class Unavailable(Ending):
    """503 to the last retry."""

    name = "unavailable"
    path = "/unavailable"
    custom_settings: dict[str, Any] = {"RETRY_TIMES": 1}


class UnavailableTaken(Unavailable):
    """The callback wants the 503, once no retry is left."""

    name = "unavailable_taken"
    handle_httpstatus_list = [503]


class ObjectInMeta(Unavailable):
    """503 up to the last retry, and a middleware has put an unstorable value into meta."""

    name = "object_in_meta"
    custom_settings: dict[str, Any] = Unavailable.custom_settings | {
        "DOWNLOADER_MIDDLEWARES": {f"{HERE}.MarkingMiddleware": 1}
    }


class ObjectFromCallback(Ending):
    """The item fails the first time, and the callback has put an unstorable value into meta."""

    name = "object_from_callback"
    custom_settings = {"ITEM_PIPELINES": {f"{HERE}.OnceFailingPipeline": 1}}

    def parse(self, response: Response) -> Any:
        response.meta["lock"] = object()
        yield {"url": response.url}


class ObjectAskedAgain(Ending):
    """The callback has its page retried, whose meta a middleware has put an unstorable value into."""

    name = "object_asked_again"
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {f"{HERE}.MarkingMiddleware": 1}}

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.site + self.path, meta={"item": "a lamp"})

    def parse(self, response: Response) -> Iterator[Any]:
        assert response.request is not None
        item = {"item": response.meta["item"]}
        yield get_retry_request(response.request, spider=self, reason="empty", max_retry_times=1) or item


class TakesFromMeta(Ending):
    """The callback takes what it needs out of meta and cb_kwargs; the next try needs it again."""

    name = "takes_from_meta"
    custom_settings = {"ITEM_PIPELINES": {f"{HERE}.OnceFailingPipeline": 1}}

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.site + self.path, meta={"item": {"name": "a lamp"}}, cb_kwargs={"fields": ["price"]})

    def parse(self, response: Response, **given: Any) -> Any:
        yield response.meta.pop("item") | {given["fields"].pop(): 1}


class ObjectRedirected(Ending):
    """A redirect to another host, of a request with unstorable meta."""

    name = "object_redirected"
    path = "/elsewhere"
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {f"{HERE}.MarkingMiddleware": 1}}


class RedirectedToMail(Ending):
    """A redirect to a URL that is no page."""

    name = "redirected_to_mail"
    path = "/to-mail"


class RedirectedTooFar(Ending):
    """A redirect to an address longer than any that is fetched, at this host."""

    name = "redirected_too_far"
    path = "/to-far"


class RedirectedToNothing(Ending):
    """A redirect to an invalid URL."""

    name = "redirected_to_nothing"
    path = "/to-nothing"


class RedirectTaken(Ending):
    """The spider takes redirects as they are."""

    name = "redirect_taken"
    path = "/to-mail"
    handle_httpstatus_list = [302]


class ReplacedByTooLong(Ending):
    """A middleware returns a request that cannot be fetched."""

    name = "replaced_by_too_long"
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {f"{HERE}.LengtheningMiddleware": 1}}


class ReplacedForEver(Ending):
    """A middleware answers each request with a request, so that none is sent."""

    name = "replaced_for_ever"
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {f"{HERE}.ReturningMiddleware": 1}}


class Redirected(Ending):
    """A redirect within the host."""

    name = "redirected"
    path = "/moved"


class CookieWall(Ending):
    """A -> A: the page sends one back to itself until a cookie comes."""

    name = "cookie_wall"
    path = "/cookie"
    custom_settings = {"COOKIES_ENABLED": True}


class RedirectedElsewhere(Ending):
    """A redirect to another host."""

    name = "redirected_elsewhere"
    path = "/elsewhere"


class RedirectedThereAndBack(Ending):
    """A redirect to another host that leads back to where it began, which then answers."""

    name = "redirected_there_and_back"
    path = "/there-and-back"


class Refused(Ending):
    """Nobody listens."""

    name = "refused"
    custom_settings = {"RETRY_TIMES": 1}

    async def start(self) -> AsyncIterator[Any]:
        yield Request("http://127.0.0.3:1/")


class RefusedWithErrback(Refused):
    """Nobody listens, and the spider knows what to do."""

    name = "refused_with_errback"

    async def start(self) -> AsyncIterator[Any]:
        yield Request("http://127.0.0.3:1/", errback=self.failed)

    def failed(self, failure: Failure) -> Iterator[Any]:
        self.crawler.stats.inc_value("test/errback")
        yield {"url": failure.request.url}  # type: ignore[attr-defined]
        yield Request(self.site + "/child")


class ErrbackRaises(RefusedWithErrback):
    """The errback fails itself."""

    name = "errback_raises"

    def failed(self, failure: Failure) -> Iterator[Any]:
        raise ValueError("the errback is broken")


class ErrbackPassesOn(RefusedWithErrback):
    """The errback returns the failure: it is not handled."""

    name = "errback_passes_on"

    def failed(self, failure: Failure) -> Any:
        return failure


class ErrbackCloses(RefusedWithErrback):
    """The errback closes the spider."""

    name = "errback_closes"
    custom_settings = {"RETRY_TIMES": 0}

    def failed(self, failure: Failure) -> Iterator[Any]:
        raise CloseSpider("enough")


class ErrbackChildUnserialisable(RefusedWithErrback):
    """The errback asks for something that cannot be stored."""

    name = "errback_child_unserialisable"

    def failed(self, failure: Failure) -> Iterator[Any]:
        yield Request(self.site + "/child", cb_kwargs={"what": object()})


class Ignored(Ending):
    """A downloader middleware refuses it."""

    name = "ignored"
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {f"{HERE}.RefusingMiddleware": 1}}


class RobotsForbidden(Ending):
    """robots.txt refuses it."""

    name = "robots_forbidden"
    path = "/private"
    custom_settings = {"ROBOTSTXT_OBEY": True}


class RobotsAllowed(Ending):
    """robots.txt is asked for first, at the same host with its one slot."""

    name = "robots_allowed"
    custom_settings = {"ROBOTSTXT_OBEY": True}


class TimedOut(Ending):
    """The answer does not come in time."""

    name = "timed_out"
    path = "/never"
    custom_settings = {"RETRY_TIMES": 0, "DOWNLOAD_TIMEOUT": 0.5}


class FollowUp(Ending):
    """A downloader middleware answers with a request of its own."""

    name = "follow_up"
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {f"{HERE}.ReplacingMiddleware": 1}}


class SameObject(Ending):
    """A downloader middleware changes the request and sends the same object again."""

    name = "same_object"
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {f"{HERE}.SameObjectMiddleware": 1}}


class AnsweredByAnother(Ending):
    """A downloader middleware answers with what it downloaded itself."""

    name = "answered_by_another"
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {f"{HERE}.FetchingMiddleware": 1}}


class UnserialisableChild(Ending):
    """One child can be stored, the other cannot."""

    name = "unserialisable_child"

    def parse(self, response: Response) -> Iterator[Any]:
        yield Request(self.site + "/child", callback=self.parse_child)
        if response.url.endswith(self.path):
            yield Request(self.site + "/other", callback=no_method)

    def parse_child(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}


class UnfetchableLinks(Ending):
    """Links that no crawler can follow, as pages have them."""

    name = "unfetchable_links"

    def parse(self, response: Response) -> Iterator[Any]:
        if response.url.endswith(self.path):
            yield from map(Request, ["ftp://b.example/", "http:///path", "http://\u202ex--1.example/"])
            yield Request(self.site + "/child")
        yield {"url": response.url}


def no_method(response: Response) -> None:
    """No method of a spider, so no other worker could call it."""


class Closes(Ending):
    """The callback closes the spider."""

    name = "closes"

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}
        raise CloseSpider("enough")


class ClosesAndWaits(Ending):
    """The callback closes the spider, waits for that, and has something to add."""

    name = "closes_and_waits"

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        assert self.crawler.engine is not None
        await self.crawler.engine.close_spider_async(reason="enough")
        yield {"url": response.url}


class DownloadsLate(Ending):
    """Downloads something when all pages have ended, and when the spider is closed."""

    name = "downloads_late"
    custom_settings = {"ITEM_PIPELINES": {f"{HERE}.LatePipeline": 1}}

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> DownloadsLate:
        spider: DownloadsLate = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.late, signals.spider_closed)
        return spider

    async def late(self) -> None:
        await download_late(self.crawler, self.site + "/late?closed")


class LatePipeline:
    """Downloads something when it is closed."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LatePipeline:
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        return item

    async def close_spider(self) -> None:
        assert isinstance(self.crawler.spider, DownloadsLate)
        await download_late(self.crawler, self.crawler.spider.site + "/late?closing")


async def download_late(crawler: Crawler, url: str) -> None:
    """Note what comes of it as `test/` and the query of *url*."""
    assert crawler.engine is not None
    assert crawler.stats is not None
    try:
        result = repr(await crawler.engine.download_async(Request(url)))
    except Exception as error:  # noqa: BLE001 - whatever it is
        result = f"{type(error).__name__}: {error}"
    crawler.stats.set_value(f"test/{url.partition('?')[2]}", result)


class DownloadsAgain(Ending):
    """The callback downloads its own request again, and another one, before it goes on."""

    name = "downloads_again"

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        assert response.request is not None
        assert self.crawler.engine is not None
        again = await self.crawler.engine.download_async(response.request)
        beside = await self.crawler.engine.download_async(Request(self.site + "/beside"))
        await asyncio.sleep(0.3)
        assert not self.crawler.stats.get_value("frontier/acked")
        assert not self.crawler.stats.get_value("frontier/nacked")
        yield {"statuses": [again.status, beside.status]}


class AsksAgain(Ending):
    """The callback yields the very request that it answers."""

    name = "asks_again"
    asked = 0

    def parse(self, response: Response) -> Iterator[Any]:
        self.asked += 1
        assert response.request is not None
        if self.asked < 3:
            response.request.dont_filter = True
            yield response.request
        yield {"asked": self.asked}


class SlowPipeline:
    """Notes whether the page was acknowledged while its item was on its way."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SlowPipeline:
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        await asyncio.sleep(0.4)
        self._stats.set_value("test/acked_before_stored", self._stats.get_value("frontier/acked", 0))
        return item


class FailingPipeline:
    """Fails."""

    def process_item(self, item: Any) -> Any:
        raise OSError("the disk is full")


class FailingFormatter(LogFormatter):
    def scraped(self, item: Any, response: Any, spider: Spider) -> Any:
        raise ValueError("no line")


class OnceFailingPipeline:
    """Fails once."""

    failed = False

    def process_item(self, item: Any) -> Any:
        if not self.failed:
            self.failed = True
            raise OSError("the disk is full")
        return item


class CancellingPipeline:
    def process_item(self, item: Any) -> Any:
        raise asyncio.CancelledError


class CancellingMiddleware:
    def process_request(self, request: Request) -> None:
        raise asyncio.CancelledError


class DroppingPipeline:
    """Drops."""

    def process_item(self, item: Any) -> Any:
        raise DropItem("not wanted")


class RefusingMiddleware:
    """Refuses every request."""

    def process_request(self, request: Request) -> None:
        raise IgnoreRequest("not today")


class MarkingMiddleware:
    """Puts an object into the meta of every request."""

    def process_request(self, request: Request) -> None:
        request.meta["lock"] = object()


class LengtheningMiddleware:
    """Answers with a request for an address longer than any that is fetched."""

    def process_response(self, request: Request, response: Response) -> Request:
        return request.replace(url="http://127.0.0.2/" + "a" * 5_000)


class ReturningMiddleware:
    """Returns the request, where None is meant."""

    def process_request(self, request: Request) -> Request:
        return request


class ReplacingMiddleware:
    """Asks for /page?again instead of taking the first answer."""

    def process_response(self, request: Request, response: Response) -> Response | Request:
        return response if "again" in request.url else request.replace(url=request.url + "?again")


class FetchingMiddleware:
    """Answers with the page at /beside."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FetchingMiddleware:
        return cls(crawler)

    async def process_request(self, request: Request) -> Response | None:
        assert self._crawler.engine is not None
        if request.url.endswith("/beside"):
            return None
        return await self._crawler.engine.download_async(request.replace(url=request.url.replace("/page", "/beside")))


class SameObjectMiddleware:
    """Sends the same Request object again."""

    def process_response(self, request: Request, response: Response) -> Response | Request:
        if request.meta.get("tried"):
            return response
        request.meta["tried"] = True
        return request
