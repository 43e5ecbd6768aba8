"""Collects pages into batches for one scraping API; a batch is sent when it is full or has waited long enough."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from scrapy.http import Response

from crawler.handlers.api.calls import ProviderCalls
from crawler.worker.turns.unsent import MissedError


@dataclass(slots=True, eq=False)
class _Batch:
    leaving: dict[str, Callable[[], None]] = field(default_factory=dict)  # by URL
    full: asyncio.Event = field(default_factory=asyncio.Event)
    answer: asyncio.Task[Response] | None = None
    missed: dict[str, Exception] = field(default_factory=dict)


class Batches:
    """All pages of a batch share the call that starts it, and its response."""

    def __init__(self, calls: ProviderCalls) -> None:
        self._calls = calls
        self._open: _Batch | None = None

    async def join(
        self, url: str, leaving: Callable[[], None], *, alone: bool = False, suspect: bool = False
    ) -> tuple[Response, int]:
        """The answer to the call for the batch that contains *url*, and how many pages that has; raises what *leaving*
        raised if its turn was over. *alone*: in a batch of its own, which may be *suspect*, as in `ProviderCalls`."""
        batch = None if alone else self._open
        if batch is None or url in batch.leaving:
            batch = _Batch()
            self._open = self._open if alone else batch
            batch.answer = asyncio.ensure_future(self._send(batch, suspect=suspect))
        batch.leaving[url] = leaving
        if alone:
            batch.full.set()
        elif len(batch.leaving) >= self._calls.provider.batch_size:
            batch.full.set()
            self._open = None
        assert batch.answer is not None
        await asyncio.wait({batch.answer})  # a waiter that gives up does not cancel it for the others
        if url in batch.missed:  # however the call ended, of which it was no part
            raise batch.missed[url]
        return batch.answer.result(), len(batch.leaving) - len(batch.missed)

    async def _send(self, batch: _Batch, *, suspect: bool) -> Response:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._calls.provider.batch_seconds):
                await batch.full.wait()
        if self._open is batch:
            self._open = None
        urls: list[str] = []
        call = self._calls.provider.call
        return await self._calls.send(call, {"urls": urls}, lambda: _leave(batch, urls), suspect=suspect)


def _leave(batch: _Batch, urls: list[str]) -> None:
    """Fill in the *urls* whose turn is not over; raises MissedError if none is left."""
    for url, leaving in batch.leaving.items():
        try:
            leaving()
        except MissedError as error:
            batch.missed[url] = error
        else:
            urls.append(url)
    if not urls:
        raise MissedError
