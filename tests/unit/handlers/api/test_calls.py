"""Calls to a scraping API: their limits, their rests, their secrets, and batches."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable

import pytest
from scrapy import Request
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.handlers.api.batches import Batches
from crawler.handlers.api.calls import ProviderCalls, ProviderDownError
from crawler.policy.api_providers import Provider
from crawler.worker.turns.unsent import MissedError

KEY = "the-secret"
ENTRY = {"shape": "sync", "call": {"url": "https://api.example/?u={url}&k={key}"}, "per_second": 10_000}
BATCH = ENTRY | {
    "shape": "batch",
    "call": {"url": "https://api.example/", "method": "POST", "json": {"urls": "{urls}"}},
    "poll": {"url": "https://api.example/{job}"},
    "page": {"body": "html"},
    "batch_size": 3,
    "batch_seconds": 0.05,
}


class Stats(StatsCollector):
    def __init__(self) -> None:
        self._stats = {}


class Api:
    """What is fetched, and what comes back."""

    def __init__(self, *outcomes: int | Exception, headers: dict[str, str] | None = None) -> None:
        self.outcomes = list(outcomes)
        self.headers = headers
        self.fetched: list[Request] = []
        self.open = self.most = 0

    async def __call__(self, request: Request) -> Response:
        self.fetched.append(request)
        self.open += 1
        self.most = max(self.most, self.open)
        await asyncio.sleep(0.01)
        self.open -= 1
        outcome = self.outcomes.pop(0) if self.outcomes else 200
        if isinstance(outcome, Exception):
            raise outcome
        return Response(request.url, status=outcome, headers=self.headers, body=b"page")


def calls(api: Api, **change: object) -> ProviderCalls:
    return ProviderCalls(Provider.read("acme", ENTRY | change), KEY, api, Stats())


async def send(to: ProviderCalls, leaving: Callable[[], None] = lambda: None) -> Response:
    return await to.send(to.provider.call, {"url": "http://shop.example/"}, leaving)


def missed() -> None:
    raise MissedError


async def test_a_call_is_made_of_the_settings() -> None:
    api = Api()
    assert (await send(calls(api, timeout_seconds=7))).body == b"page"
    assert api.fetched[0].url == f"https://api.example/?u=http%3A%2F%2Fshop.example%2F&k={KEY}"
    assert api.fetched[0].meta == {"download_timeout": 7}


@pytest.mark.parametrize("outcome", [429, 402, 500, DownloadTimeoutError(f"Getting https://api.example/?k={KEY}")])
async def test_a_provider_that_fails_is_left_alone_and_its_key_untold(
    outcome: int | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    api = Api(outcome)
    provider = calls(api)
    with caplog.at_level(logging.DEBUG), pytest.raises(ProviderDownError) as error:
        await send(provider)
    with pytest.raises(ProviderDownError):
        await send(provider)

    assert len(api.fetched) == 1
    assert 0.5 < provider.rest() <= 5
    assert provider._stats.get_value(names.API_FAULTS.format("acme")) == 1
    assert "is paused for" in caplog.text
    assert KEY not in caplog.text + str(error.value) + repr(error.value.__cause__)
    assert error.value.__suppress_context__ == isinstance(outcome, Exception)


async def test_retry_after_is_the_least_rest() -> None:
    provider = calls(Api(503, headers={"Retry-After": "120"}))
    with pytest.raises(ProviderDownError):
        await send(provider)
    assert 119 < provider.rest() <= 120


async def test_no_more_calls_at_once_and_per_second_than_allowed() -> None:
    api = Api()
    provider = calls(api, concurrency=2, per_second=50)
    started = asyncio.get_running_loop().time()
    await asyncio.gather(*(send(provider) for _ in range(6)))

    assert api.most <= 2
    assert asyncio.get_running_loop().time() - started >= 5 / 50


async def test_what_may_not_leave_is_not_called() -> None:
    api = Api()
    with pytest.raises(MissedError):
        await send(calls(api), missed)
    assert not api.fetched


async def test_a_batch_goes_when_it_is_full_or_has_waited() -> None:
    api = Api()
    batches = Batches(calls(api, **BATCH))
    await asyncio.gather(*(batches.join(f"http://{number}.example/", lambda: None) for number in range(4)))

    sent = [json.loads(request.body)["urls"] for request in api.fetched]
    assert sorted(map(len, sent)) == [1, 3]
    assert sorted(url for urls in sent for url in urls) == [f"http://{number}.example/" for number in range(4)]


async def test_who_missed_his_turn_is_not_in_the_batch() -> None:
    api = Api()
    batches = Batches(calls(api, **BATCH))
    late, good = await asyncio.gather(
        batches.join("http://late.example/", missed), batches.join("http://good.example/", lambda: None),
        return_exceptions=True,
    )  # fmt: skip

    assert isinstance(late, MissedError)
    assert isinstance(good, tuple)
    assert good[1] == 1
    assert json.loads(api.fetched[0].body)["urls"] == ["http://good.example/"]
    with pytest.raises(MissedError):
        await batches.join("http://late.example/", missed)
    assert len(api.fetched) == 1


async def test_one_who_gives_up_does_not_take_the_batch_along() -> None:
    batches = Batches(calls(Api(), **BATCH))
    first = asyncio.ensure_future(batches.join("http://a.example/", lambda: None))
    second = asyncio.ensure_future(batches.join("http://b.example/", lambda: None))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second)[0].status == 200


async def test_one_that_is_to_be_alone_neither_joins_nor_waits() -> None:
    api = Api()
    batches = Batches(calls(api, **BATCH | {"batch_seconds": 15}))
    first = asyncio.ensure_future(batches.join("http://a.example/", lambda: None))
    await asyncio.sleep(0)
    assert (await batches.join("http://alone.example/", lambda: None, alone=True))[1] == 1
    others = [batches.join(f"http://{name}.example/", lambda: None) for name in "bc"]
    assert [together for _, together in await asyncio.gather(first, *others)] == [3, 3, 3]
