"""Whose fault a failed call is: a page at which a scraping API fails is not the end of all others."""

from __future__ import annotations

import asyncio
import errno
import json
from time import monotonic
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError, DownloadFailedError, DownloadTimeoutError
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from crawler.handlers.api import handler as module
from crawler.handlers.api.handler import ApiDownloadHandler
from crawler.handlers.wire_turn import WireTurn
from crawler.meta import API_ALONE, WIRE_TURN
from crawler.worker.turns.turn import TooLateError
from crawler.worker.turns.unsent import MissedError
from tests.clock import Clock

GOOD, BAD = "http://good.example/", "http://bad.example/"
PATHS = {"body": "b", "headers": "h"}
ENTRY = {"shape": "sync", "call": {"url": "https://api.example/?u={url}"}, "page": PATHS, "per_second": 10_000}
BATCH = {
    "shape": "batch",
    "call": {"url": "https://api.example/", "method": "POST", "json": {"urls": "{urls}"}},
    "poll": {"url": "https://api.example/{job}"},
    "page": PATHS,
    "batch_seconds": 0.01,
    "per_second": 10_000,
}


class Api(ApiDownloadHandler):
    """Answers for every page but BAD, for which it has *outcome*; its clock goes on with each call."""

    headers: ClassVar[dict[str, Any]] = {}

    entry: ClassVar[dict[str, Any]] = ENTRY

    def __init__(self, outcome: int | Exception | bytes) -> None:
        self.outcome = outcome
        self.calls = 0
        self.now = Clock()
        settings = Settings({"API_PROVIDERS": {"acme": self.entry}, "API_KEYS": {}})
        crawler: Any = SimpleNamespace(settings=settings, stats=MemoryStatsCollector(Crawler(Spider)))
        super().__init__(crawler, self.now)

    async def _fetch(self, call: Request) -> Response:
        self.calls += 1
        self.now.now += 1
        outcome = self.outcome if "bad" in call.url else b'{"b": "<p>"}'
        if isinstance(outcome, Exception):
            raise outcome
        status, body = (outcome, b"") if isinstance(outcome, int) else (200, outcome)
        return Response(call.url, status, self.headers, body)

    async def wait(self, request: Request) -> float:
        """Ask for *request*, which has to wait; for how many seconds."""
        with pytest.raises(TooLateError) as error:
            await self.download_request(request)
        return error.value.wait_ms / 1000

    def wake(self) -> None:
        """Its pause is over."""
        self._calls["acme"]._rest_until = 0.0


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "worker_if_any", lambda crawler: None)


@pytest.mark.parametrize("outcome", [500, 503, DownloadTimeoutError("slow")])
async def test_a_page_at_which_it_fails_while_it_fetches_others_fails_alone(outcome: int | Exception) -> None:
    api, bad = Api(outcome), Request(BAD)
    waits = [await api.wait(bad)]
    assert waits[0] > api._calls["acme"].rest() + 4, "others go first, and show who is to blame"
    api.wake()
    await api.download_request(Request(GOOD))
    for _ in range(2):
        waits.append(await api.wait(bad))
        assert not api._calls["acme"].rest(), "nobody else has to wait for it any more"
    assert waits[1] < waits[2]
    with pytest.raises(DownloadFailedError, match="API acme fetches other pages, and fails at this one"):
        await api.download_request(bad)
    assert "api_faults" not in bad.meta, "a retry begins anew"


async def test_while_it_fetches_nothing_no_page_is_to_blame() -> None:
    api, bad = Api(500), Request(BAD)
    for _ in range(10):
        await api.wait(bad)
        assert api._calls["acme"].rest() > 0
        api.wake()
    api.outcome = b'{"b": "<p>"}'
    assert (await api.download_request(bad)).body == b"<p>"
    assert "api_faults" not in bad.meta


@pytest.mark.parametrize("outcome", [429, 402, OSError(errno.EMFILE, "")])
async def test_a_refusal_of_ourselves_is_no_pages_fault(outcome: int | Exception) -> None:
    api, bad = Api(outcome), Request(BAD)
    for _ in range(10):
        await api.download_request(Request(GOOD))
        await api.wait(bad)
        assert api._calls["acme"].rest() > 0
        api.wake()


async def test_an_answer_that_is_too_long_is_that_pages_failure() -> None:
    api = Api(DownloadCancelledError("Getting https://api.example/?k=the-secret"))
    with pytest.raises(DownloadCancelledError, match="API acme: the answer is too long"):
        await api.download_request(Request(BAD))
    assert not api._calls["acme"].rest()


class RawApi(Api):
    """Passes on what a target has sent."""

    entry: ClassVar[dict[str, Any]] = {**ENTRY, "page": "raw", "header_prefix": "X-T-"}
    headers: ClassVar[dict[str, Any]] = {"X-T-Name": b"caf\xe9", "X-T-Set-Cookie": ["a=1", "b=2"]}


async def test_headers_of_a_target_come_one_by_one_whatever_their_bytes_are() -> None:
    page = await RawApi(b"<p>").download_request(Request(BAD))
    assert page.headers.getlist("Set-Cookie") == [b"a=1", b"b=2"]
    assert page.headers["Name"] == "caf\ufffd".encode()


@pytest.mark.parametrize("kind", [Api, RawApi])
async def test_a_redirect_of_the_provider_is_no_page(kind: type[Api]) -> None:
    with pytest.raises(DownloadFailedError, match="API acme: it redirected the request with status 301"):
        await kind(301).download_request(Request(BAD))


class BatchApi(Api):
    """Takes no batch that has BAD, nor its job; another job is done at once."""

    entry = BATCH

    async def _fetch(self, call: Request) -> Response:
        self.now.now += 1
        if call.method == "POST":
            refused = isinstance(self.outcome, int) and BAD in json.loads(call.body)["urls"]
            return Response(call.url, self.outcome if refused else 200, body=b'{"id": 1}')  # type: ignore[arg-type]
        return Response(call.url, body=json.dumps({"results": [{"url": GOOD, "b": "<p>"}]}).encode())

    async def end(self, request: Request) -> str:
        """The body of *request*, or why it has none, after as many returns to the queue as it takes."""
        for _ in range(12):
            self.wake()
            try:
                return (await self.download_request(request)).body.decode()
            except TooLateError:
                continue
            except DownloadFailedError as error:
                return str(error)
        return "never"


@pytest.mark.parametrize(
    ("outcome", "words"),
    [(400, "it refused the request with status 400"), (500, "fetches other pages, and fails at this one: status 500")],
)
async def test_a_page_that_its_batch_is_refused_for_fails_alone(outcome: int, words: str) -> None:
    api, good, bad = BatchApi(outcome), Request(GOOD), Request(BAD)
    await asyncio.gather(api.wait(good), api.wait(bad))
    assert await api.end(good) == "<p>"
    assert words in await api.end(bad)
    assert "api_alone" not in good.meta


async def test_a_full_batch_and_a_page_alone_wait_for_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BatchApi, "entry", BATCH | {"batch_size": 2, "batch_seconds": 15})
    api, began = BatchApi(200), monotonic()
    await asyncio.gather(api.wait(Request(GOOD)), api.wait(Request(BAD)))
    await api.wait(Request(GOOD, meta={API_ALONE: True}))
    assert monotonic() - began < 10, "each batch is sent at once"


async def test_a_page_that_missed_a_batch_has_no_part_in_its_failure() -> None:
    api, late, bad = (
        BatchApi(500),
        Request(GOOD, meta={WIRE_TURN: WireTurn(lambda: False, lambda *_: None)}),
        Request(BAD),
    )
    missed, failed = await asyncio.gather(*map(api.download_request, (late, bad)), return_exceptions=True)
    assert isinstance(missed, MissedError)
    assert isinstance(failed, TooLateError)
    assert "api_faults" not in late.meta


async def test_the_pages_of_a_batch_that_failed_come_back_apart() -> None:
    api = BatchApi(500)
    waits = await asyncio.gather(
        *(api.wait(Request(f"{GOOD}{number}")) for number in range(12)), api.wait(Request(BAD))
    )
    assert len({round(wait) for wait in waits}) > 2


async def test_half_of_a_surrogate_pair_is_a_question_mark() -> None:
    page = await Api(rb'{"b": "<p>\ud83d", "h": {"X-\udc00": "\udfff"}}').download_request(Request(BAD))
    assert (page.body, page.headers["X-?"]) == (b"<p>?", b"?")
