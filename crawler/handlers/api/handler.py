"""The download handler of the api tier: fetches pages from a scraping API and returns them as if their own host had
answered.

It never waits for a job: the job's id goes into the request's meta and the request back into the frontier, so any
worker can poll it later, even if this one has died. docs/browser.md describes providers.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from time import time
from typing import Any, Final
from zlib import crc32

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadFailedError, NotSupported
from scrapy.http import Headers, Response
from scrapy.utils._download_handlers import make_response

from crawler import config
from crawler import stats as names
from crawler.errors import ConfigError
from crawler.handlers.api.batches import Batches
from crawler.handlers.api.calls import CallFailedError, ProviderCalls, ProviderDownError
from crawler.handlers.wire_turn import WireTurn
from crawler.meta import API_ALONE, API_FAULTS, API_JOB, API_PROVIDER
from crawler.policy.api_answers import AnswerError
from crawler.policy.api_providers import GONE, RAW, Provider, read_providers
from crawler.worker.lookup import worker_if_any
from crawler.worker.turns.turn import TooLateError
from crawler.worker.turns.unsent import MissedError

OWN_FAULTS: Final = 3  # calls for one page that may fail while the provider answers others
OWN_REST_SECONDS: Final = 5.0  # by which such a page waits for longer than the provider is paused, times its faults
PARTS: Final = 4  # in which the pages of a batch that failed come back, most of them without the one to blame
DECODED: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})

logger = logging.getLogger(__name__)


class ApiDownloadHandler:
    """Fetches every request given to it through the first provider of API_PROVIDERS that is up.

    Raises TooLateError if the request has to come back later (the provider is down, the job is not done),
    DownloadFailedError when the provider could not fetch the page, MissedError, and NotSupported for other than GET.
    """

    lazy = True
    guards_addresses = True  # it dials nothing: providers are called through the http handler

    def __init__(self, crawler: Crawler, clock: Callable[[], float] = time) -> None:
        self._crawler = crawler
        self._clock = clock
        keys = config.mapping(crawler.settings, "API_KEYS")
        self._calls = {
            name: ProviderCalls(provider, _key(provider, keys), self._fetch, crawler.stats)
            for name, provider in read_providers(crawler.settings).items()
        }
        self._served: dict[str, float] = {}  # when each provider answered last, on the clock
        self._batches = {name: Batches(calls) for name, calls in self._calls.items() if calls.provider.shape == "batch"}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ApiDownloadHandler:
        """Raises ConfigError."""
        return cls(crawler)

    async def download_request(self, request: Request) -> Response:
        """The page of *request*, with the status, headers and body that its host gave the provider."""
        wire_turn = WireTurn.of(request)
        if request.method != "GET":
            raise NotSupported(f"{request}: scraping APIs are asked for pages by GET only")
        calls = self._chosen(request)
        try:
            return await self._page(request, calls, wire_turn)
        except CallFailedError as error:
            raise self._blamed(request, calls, error) from None
        except ProviderDownError:
            raise TooLateError(round(1000 * max(1.0, calls.rest()))) from None
        except AnswerError as error:
            request.meta.pop(API_JOB, None)
            raise DownloadFailedError(f"API {calls.provider.name}: {error}") from None

    async def close(self) -> None:
        """Nothing to free."""

    async def _page(self, request: Request, calls: ProviderCalls, wire_turn: WireTurn) -> Response:
        provider = calls.provider
        if API_JOB in request.meta:
            return await self._ask_after(request, calls)
        answer = await self._start(request, calls, wire_turn)
        wire_turn.sent()  # the provider calls the host now or has already: counting from now is never too early
        if provider.shape == "sync":
            return self._found(request, provider, answer)
        request.meta[API_JOB] = [provider.name, provider.job_id(answer.body), self._clock()]
        raise TooLateError(round(1000 * provider.poll_seconds))

    async def _start(self, request: Request, calls: ProviderCalls, wire_turn: WireTurn) -> Response:
        def leaving() -> None:
            if not wire_turn.allowed():
                raise MissedError
            wire_turn.leaving()

        suspect, alone, together = self._is_suspect(request, calls), API_ALONE in request.meta, 1
        if calls.provider.shape == "batch":
            batches = self._batches[calls.provider.name]
            answer, together = await batches.join(request.url, leaving, alone=alone, suspect=alone and suspect)
        else:
            answer = await calls.send(calls.provider.call, {"url": request.url}, leaving, suspect=suspect)
        if answer.status >= 400 and together > 1:
            request.meta[API_ALONE] = True  # one of them may be what it does not take
            raise TooLateError(round(1000 * OWN_REST_SECONDS))
        self._understood(answer, calls.provider)
        return answer

    async def _ask_after(self, request: Request, calls: ProviderCalls) -> Response:
        provider, (_, job, started) = calls.provider, request.meta[API_JOB]
        assert provider.poll is not None
        suspect = self._is_suspect(request, calls)
        values = {"job": str(job), "url": request.url}
        answer = await calls.send(provider.poll, values, lambda: None, suspect=suspect)
        if answer.status in GONE:
            raise AnswerError(f"job {job} is unknown to it")
        self._understood(answer, provider)
        state = "done" if provider.page == RAW and provider.done is None else provider.state(answer.body)
        if state == "failed" or (state == "waiting" and self._clock() - started > provider.job_seconds):
            raise AnswerError(f"job {job} {'failed' if state == 'failed' else 'takes too long'}")
        if state == "waiting":
            raise TooLateError(round(1000 * provider.poll_seconds))
        return self._found(request, provider, answer)

    def _found(self, request: Request, provider: Provider, answer: Response) -> Response:
        page = provider.found(request.url, answer.body, answer.status, _told(answer.headers))
        for key in (API_JOB, API_FAULTS, API_ALONE):
            request.meta.pop(key, None)
        self._pay(request, provider, page.cost)
        headers = Headers()
        for name, value in page.headers:
            if name.lower() not in DECODED:
                headers.appendlist(name, value)
        response: Response = make_response(request.url, page.status, headers, page.body, flags=["api", provider.name])
        response.request = request
        return response

    def _is_suspect(self, request: Request, calls: ProviderCalls) -> bool:
        """Whether the provider has answered others since a call for *request* failed; then that stays so."""
        count, at = request.meta.get(API_FAULTS, (0, math.inf))
        return bool(count > 1 or at < self._served.get(calls.provider.name, 0.0))

    def _blamed(self, request: Request, calls: ProviderCalls, error: CallFailedError) -> Exception:
        """What becomes of *request*, whose call failed: it waits for longer than the others, which show meanwhile
        whether the provider is to blame or the page."""
        count, suspect = request.meta.get(API_FAULTS, (0, 0.0))[0], self._is_suspect(request, calls)
        count += suspect or not count
        if calls.provider.shape == "batch" and API_ALONE not in request.meta:
            if suspect:
                request.meta[API_ALONE] = True
        elif count > OWN_FAULTS:
            for key in (API_FAULTS, API_JOB):
                request.meta.pop(key, None)
            return DownloadFailedError(f"API {calls.provider.name} fetches other pages, and fails at this one: {error}")
        request.meta[API_FAULTS] = [count, self._clock()]
        parts = 1 + crc32(request.url.encode()) % PARTS if calls.provider.shape == "batch" else 1
        return TooLateError(round(1000 * (2 * calls.rest() + OWN_REST_SECONDS * count * parts)))

    def _understood(self, answer: Response, provider: Provider) -> None:
        self._served[provider.name] = self._clock()
        if answer.status >= 300 and not (provider.page == RAW and answer.status in GONE):
            did = "refused" if answer.status >= 400 else "redirected"  # not followed: its URL may hold the key
            raise AnswerError(f"it {did} the request with status {answer.status}")

    def _chosen(self, request: Request) -> ProviderCalls:
        """The provider of the request's job, the one the request names, or the first that is not paused."""
        if API_JOB in request.meta:
            if (known := self._calls.get(request.meta[API_JOB][0])) is not None:
                return known
            del request.meta[API_JOB]  # its provider is no longer configured
        if (named := request.meta.get(API_PROVIDER)) is not None:
            if named not in self._calls:
                raise NotSupported(f"{request}: API_PROVIDERS has no {named!r}")
            return self._calls[named]
        return min(self._calls.values(), key=lambda calls: calls.rest())

    def _pay(self, request: Request, provider: Provider, cost: float) -> None:
        counted, stats = names.API_COST.format(provider.name), self._crawler.stats
        stats.set_value(counted, stats.get_value(counted, 0) + cost)
        if (worker := worker_if_any(self._crawler)) is not None:
            worker.tiers.spend("api", requests=0, cost=cost)  # towards TIER_DAILY_COST
            worker.budgets.paid(request, cost)

    async def _fetch(self, call: Request) -> Response:
        return await self._crawler.engine.downloader.handlers.download_request_async(call)


def _told(headers: Headers) -> list[tuple[str, str]]:
    """Names in lower case with their values; bytes that are not UTF-8, which a target may have sent, are lost."""
    rows = ((name.decode(errors="replace").lower(), value) for name, values in headers.items() for value in values)
    return [(name, value.decode(errors="replace")) for name, value in rows]


def _key(provider: Provider, keys: Mapping[str, Any]) -> str:
    name = provider.name.upper().replace("-", "_")
    if name in keys:
        return str(keys[name])
    if any(call is not None and call.uses("key") for call in (provider.call, provider.poll)):
        raise ConfigError(f"API_KEY_{name}", None, f"the key of API provider {provider.name!r}, in the environment")
    return ""
