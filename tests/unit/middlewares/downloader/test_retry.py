"""The retry middleware keeps Scrapy's promises, and adds a wait by class of failure."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import RetryMiddleware as ScrapyRetryMiddleware
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    NotConfigured,
    ResponseDataLossError,
)
from scrapy.http import Response
from scrapy.settings.default_settings import RETRY_EXCEPTIONS
from scrapy.utils.test import get_crawler
from twisted.internet.error import ConnectError, ConnectionDone, ConnectionLost, TCPTimedOutError

from crawler.errors import BlockedError, ConfigError
from crawler.middlewares.downloader import retry
from crawler.middlewares.downloader.retry import RetryMiddleware
from tests.unit.test_settings import base

URL = "http://a.example/page"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FLEET = {"SCHEDULER": "crawler.worker.scheduler.Scheduler", "RETRY_BASE_SECONDS": 1, "RETRY_CAP_SECONDS": 300}


class Chain:
    """The middleware of a crawl with *settings*; waits are as long as may be."""

    def __init__(self, **settings: Any) -> None:
        self.crawler: Crawler = get_crawler(Spider, FLEET | settings)
        self.crawler.spider = self.crawler._create_spider("s")
        made = RetryMiddleware.from_crawler(self.crawler)
        assert isinstance(made, RetryMiddleware)
        made._uniform = lambda low, high: high
        made._is_beside = lambda request: bool(request.meta.get("beside"))  # type: ignore[method-assign]
        self.middleware = made

    def answer(self, request: Request, status: int = 503, **headers: str) -> Request | Response:
        response = Response(URL, status=status, headers={name.replace("_", "-"): headers[name] for name in headers})
        result = self.middleware.process_response(request, response)
        assert isinstance(result, Request) or result is response
        return result

    def fail(self, request: Request, error: Exception) -> Request | None:
        return self.middleware.process_exception(request, error)

    def retries(self, request: Request, again: Callable[[Request], Any]) -> list[Request]:
        """Every retry, up to the last."""
        made: list[Request] = []
        while len(made) < 20 and isinstance(one := again(made[-1] if made else request), Request):
            made.append(one)
        return made

    def stat(self, name: str) -> Any:
        return self.crawler.stats.get_value(name)


# --- as in Scrapy ---------------------------------------------------------------------------------------------


def test_an_answer_worth_it_is_asked_for_again_until_the_budget_is_spent() -> None:
    chain = Chain()
    made = chain.retries(Request(URL), chain.answer)
    assert [(request.meta["retry_times"], request.priority) for request in made] == [(1, -1), (2, -2)]
    assert all(request.dont_filter for request in made)
    assert chain.stat("retry/count") == chain.stat("retry/reason_count/503 Service Unavailable") == 2
    assert chain.stat("retry/max_reached") == 1


@pytest.mark.parametrize("status", [200, 301, 401, 403, 404, 410, 451])
def test_what_is_final_is_not_asked_for_again(status: int) -> None:
    chain = Chain()
    assert isinstance(chain.answer(Request(URL), status), Response)
    assert chain.stat("retry/count") is None
    assert chain.stat("retry/max_reached") is None


def test_dont_retry_is_obeyed() -> None:
    chain, request = Chain(), Request(URL, meta={"dont_retry": True, "max_retry_times": 4})
    assert isinstance(chain.answer(request), Response)
    assert chain.fail(request, DownloadTimeoutError()) is None
    assert isinstance(chain.answer(Request(URL, meta={"dont_retry": False})), Request)


@pytest.mark.parametrize(
    "error",
    [
        CannotResolveHostError("x"),
        DownloadConnectionRefusedError("x"),
        DownloadFailedError("x"),
        DownloadTimeoutError("x"),
        ResponseDataLossError("x"),
        ConnectError("x"),  # type: ignore[no-untyped-call]
        ConnectionDone("x"),
        ConnectionLost("x"),
        TCPTimedOutError("x"),  # type: ignore[no-untyped-call]
        ConnectionResetError("x"),
        TimeoutError("x"),
        OSError("x"),
    ],
)
def test_each_network_failure_has_its_retries(error: Exception) -> None:
    chain = Chain()
    made = chain.retries(Request(URL), lambda request: chain.fail(request, error))
    assert [request.meta["retry_times"] for request in made] == [1, 2]
    assert (chain.stat("retry/count"), chain.stat("retry/max_reached")) == (2, 1)
    kind = type(error)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    assert any(key.endswith(name) and value == 2 for key, value in chain.crawler.stats.get_stats().items())


@pytest.mark.parametrize("error", [IgnoreRequest("no"), DownloadCancelledError("too large"), ValueError("x")])
def test_other_exceptions_are_left_alone(error: Exception) -> None:
    assert Chain().fail(Request(URL), error) is None


def test_exceptions_and_codes_of_the_settings_are_asked_for_again() -> None:
    chain = Chain(RETRY_EXCEPTIONS=[*RETRY_EXCEPTIONS, ValueError], RETRY_HTTP_CODES=[404])
    assert chain.fail(Request(URL), ValueError("x")) is not None
    assert isinstance(chain.answer(Request(URL), 404), Request)
    assert isinstance(chain.answer(Request(URL), 503), Response)


def test_it_can_be_switched_off() -> None:
    with pytest.raises(NotConfigured):
        Chain(RETRY_ENABLED=False)


@pytest.mark.parametrize(
    ("setting", "meta", "expected"),
    [
        (0, {}, 0),
        (5, {}, 5),
        (2, {"max_retry_times": 0}, 0),
        (2, {"max_retry_times": 3}, 3),
        (5, {"max_retry_times": 4}, 4),
        (5, {"max_retry_times": None}, 5),
    ],
)
def test_the_request_says_how_often_before_the_settings_do(setting: int, meta: dict[str, Any], expected: int) -> None:
    chain = Chain(RETRY_TIMES=setting)
    made = chain.retries(Request(URL, meta=meta), lambda request: chain.fail(request, DownloadTimeoutError()))
    assert len(made) == expected
    assert len(chain.retries(Request(URL, meta=meta), chain.answer)) == expected


@pytest.mark.parametrize(("setting", "meta", "expected"), [(-1, {}, -1), (10, {}, 10), (10, {"priority_adjust": 3}, 3)])
def test_a_retry_has_its_own_priority(setting: int, meta: dict[str, Any], expected: int) -> None:
    again = Chain(RETRY_PRIORITY_ADJUST=setting).answer(Request(URL, priority=7, meta=meta))
    assert isinstance(again, Request)
    assert again.priority == 7 + expected


@pytest.mark.parametrize(
    ("setting", "meta", "expected"),
    [
        ("ERROR", {}, logging.ERROR),
        ("INFO", {}, logging.INFO),
        ("INFO", {"give_up_log_level": "WARNING"}, logging.WARNING),
        (logging.DEBUG, {}, logging.DEBUG),
    ],
)
def test_giving_up_is_logged_as_loud_as_asked(
    setting: object, meta: dict[str, Any], expected: int, caplog: pytest.LogCaptureFixture
) -> None:
    chain = Chain(RETRY_TIMES=0, RETRY_GIVE_UP_LOG_LEVEL=setting)
    with caplog.at_level(logging.DEBUG, "scrapy.downloadermiddlewares.retry"):
        chain.answer(Request(URL, meta=meta))
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (expected, f"Gave up retrying <GET {URL}> (failed 1 times): 503 Service Unavailable")
    ]


def test_a_retry_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "scrapy.downloadermiddlewares.retry"):
        Chain().answer(Request(URL))
    assert caplog.messages == [f"Retrying <GET {URL}> (failed 1 times): 503 Service Unavailable"]


def test_a_callback_may_ask_for_a_retry_itself() -> None:
    chain = Chain(RETRY_TIMES=1)
    assert chain.crawler.spider is not None
    again = get_retry_request(Request(URL), spider=chain.crawler.spider, reason="empty")
    assert again is not None
    assert (again.meta["retry_times"], again.priority) == (1, -1)
    assert chain.stat("retry/reason_count/empty") == 1
    assert get_retry_request(again, spider=chain.crawler.spider, reason="empty") is None
    assert chain.stat("retry/max_reached") == 1


@pytest.mark.parametrize("meta", [{"retry_times": None}, {"max_retry_times": "3"}, {"priority_adjust": []}])
def test_a_number_in_meta_that_is_none_does_not_hide_why_a_page_failed(
    meta: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    again = Chain().answer(Request(URL, meta=meta))
    assert isinstance(again, Request)
    assert (again.meta["retry_times"], again.priority) == (1, -1)
    assert "is retried without retry_times, max_retry_times, " in caplog.text


def test_outside_the_fleet_it_is_scrapys() -> None:
    crawler = get_crawler(Spider, {})
    assert type(RetryMiddleware.from_crawler(crawler)) is ScrapyRetryMiddleware


# --- of our own -----------------------------------------------------------------------------------------------


def waits(chain: Chain, again: Callable[[Request], Any]) -> list[int]:
    return [request.meta["retry_wait_ms"] for request in chain.retries(Request(URL), again)]


def test_each_class_has_its_budget_and_its_waits() -> None:
    rows = {
        "rate_limited": {"times": 4, "base_seconds": 2, "cap_seconds": 10},
        "host_fault": {"times": 1, "base_seconds": 30},
        "malformed": {"times": 0},
    }
    chain = Chain(RETRY_CLASSES=rows)
    assert waits(chain, chain.answer) == [2_000, 4_000, 8_000, 10_000]
    assert waits(chain, lambda request: chain.answer(request, 500)) == [1_000, 2_000]
    assert waits(chain, lambda request: chain.fail(request, DownloadTimeoutError())) == [30_000]
    assert waits(chain, lambda request: chain.fail(request, ResponseDataLossError())) == []
    counted = {kind: chain.stat(f"retry/classes/{kind}") for kind in ("rate_limited", "transient", "host_fault")}
    assert counted == {"rate_limited": 4, "transient": 2, "host_fault": 1}


@pytest.mark.parametrize("asked", ["7", format_datetime(NOW + timedelta(seconds=7), usegmt=True)])
@pytest.mark.parametrize("status", [429, 500, 503])
def test_retry_after_is_waited_for_before_the_jitter(asked: str, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "datetime", SimpleNamespace(now=NOW.astimezone))
    again = Chain().answer(Request(URL), status, Retry_After=asked)
    assert isinstance(again, Request)
    assert again.meta["retry_wait_ms"] == 8_000, "and the jitter of the first retry"


def test_a_denial_is_a_failure_whatever_its_status() -> None:
    chain = Chain(RETRY_CLASSES={"blocked": {"times": 1, "base_seconds": 60}})
    for status in (200, 403):
        again = chain.answer(Request(URL, meta={"block": "examplewall"}), status)
        assert isinstance(again, Request)
        assert "block" not in again.meta
        assert again.meta["retry_wait_ms"] == 60_000
        again.meta["block"] = "examplewall"
        assert isinstance(chain.answer(again, status), Response)
    assert chain.stat("retry/reason_count/blocked by examplewall") == 2
    assert chain.stat("retry/classes/blocked") == 2


def test_who_asks_for_a_page_beside_the_queue_is_not_given_a_denial(caplog: pytest.LogCaptureFixture) -> None:
    chain = Chain(RETRY_CLASSES={"blocked": {"times": 1}})
    again = chain.answer(Request(URL, meta={"block": "examplewall", "beside": True}), 200)
    assert isinstance(again, Request)
    again.meta["block"] = "examplewall"
    with pytest.raises(BlockedError, match="examplewall"):
        chain.answer(again, 200)
    with pytest.raises(BlockedError, match="examplewall"):
        chain.answer(Request(URL, meta={"block": "examplewall", "beside": True, "dont_retry": True}), 200)
    said = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert said == [f"<200 {URL}> is not the page: examplewall"] * 2, "a pipeline says it at DEBUG"


# --- settings -------------------------------------------------------------------------------------------------


def test_the_projects_classes_are_in_range() -> None:
    chain = Chain(**{name: base().get(name) for name in ("RETRY_CLASSES", "RETRY_HTTP_CODES")})
    assert len(waits(chain, chain.answer)) == 10
    assert len(waits(chain, lambda request: chain.answer(request, 407))) == 2


def test_a_nearer_setting_speaks_for_all_classes() -> None:
    chain = Chain(RETRY_CLASSES={"rate_limited": {"times": 9, "base_seconds": 60, "cap_seconds": 60}})
    assert waits(chain, chain.answer) == [60_000] * 9
    chain.middleware = RetryMiddleware(base(RETRY_TIMES=1, RETRY_BASE_SECONDS=3), lambda low, high: high)
    chain.middleware.crawler = chain.crawler
    assert waits(chain, chain.answer) == [3_000]


@pytest.mark.parametrize(
    ("rows", "where", "allowed"),
    [
        ({"hopeless": {}}, "hopeless", "rate_limited"),
        ({"permanent": {}}, "permanent", "rate_limited"),
        ({"transient": 3}, "transient", "times, base_seconds, cap_seconds"),
        ({"transient": {"tries": 3}}, "transient", "times, base_seconds, cap_seconds"),
        ({"transient": {"times": -1}}, "RETRY_CLASSES['transient']['times']", "0 to 1000"),
        ({"transient": {"times": 1.5}}, "RETRY_CLASSES['transient']['times']", "an integer"),
        ({"blocked": {"base_seconds": 3_601}}, "RETRY_CLASSES['blocked']['base_seconds']", "0 to 3600"),
        ({"blocked": {"cap_seconds": "long"}}, "RETRY_CLASSES['blocked']['cap_seconds']", "0 to 86400"),
    ],
)
def test_a_class_out_of_range_is_refused(rows: dict[str, Any], where: str, allowed: str) -> None:
    with pytest.raises(ConfigError) as error:
        Chain(RETRY_CLASSES=rows)
    assert where in str(error.value)
    assert allowed in str(error.value)
