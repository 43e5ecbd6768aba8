"""What a schedule pushes, in chunks that can be continued."""

from __future__ import annotations

import asyncio
import json
from bisect import bisect_right
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import Final, NamedTuple

from scrapy.settings import BaseSettings

from crawler.producers import sources
from crawler.producers.lines import ARGUMENT, Chunk, chunks_apart
from crawler.producers.schedule import ScheduleError, ScheduleSource
from crawler.storage import connection
from crawler.storage.config import StorageConfig
from crawler.storage.recrawl.known import known
from crawler.storage.recrawl.recrawl import Recrawl
from crawler.storage.recrawl.recrawl_turn import RecrawlTurn
from crawler.utils.batches import in_batches

KNOWN: Final = 500  # documents of a chunk


class PlacedChunk(NamedTuple):
    """Some lines, and the position behind them, from which another leader goes on; "" for the beginning."""

    chunk: Chunk
    position: str


async def placed_chunks(
    source: ScheduleSource, spider: str, settings: BaseSettings, position: str = "", *, days: float = 1.0
) -> AsyncGenerator[PlacedChunk]:
    """All of *source*, what is before *position* left out. Raises ScheduleError, or ServiceError of MongoDB.

    A chunk counts as pushed when the next one is asked for. *days*: the time until the next tick, whose share of a
    budget is spent.
    """
    match source.kind:
        case "urls":
            yield PlacedChunk(Chunk(ARGUMENT, range(1, len(source.values) + 1), source.values), "")
            return
        case "file":
            found = _of_file(source.values[0], source.column, position)
        case "known":
            found = _of_known(source.values[0], spider, settings, position)
        case "due":
            visits_a_day = int(source.values[0])
            found = _of_due(max(1, round(visits_a_day * days)), visits_a_day, spider, settings, position)
        case "sitemap" | "robots":
            raise NotImplementedError("sitemaps are read by workers")
    async with aclosing(found):
        async for one in found:
            yield one


def still_valid(source: ScheduleSource, position: str) -> bool:
    """Whether *position* is one of what *source* is now: a file that has changed is read from its beginning, and so is
    what does not say whether it has."""
    if source.kind != "file":
        return True
    state, _, number = position.rpartition(":")
    return bool(state) and state == _state(source.values[0]) and number.isdecimal()


def check_file(path: str) -> None:
    """Raise ScheduleError for what is there and no file: a pipe or a device might never end, or never begin. What
    cannot be looked at is named by who reads it."""
    with suppress(*sources.ERRORS):
        if not path.startswith(sources.REMOTE) and not S_ISREG(Path(path).stat().st_mode):
            raise ScheduleError(f"{path!r} is not a file")


def _state(path: str) -> str:
    return "-".join(map(str, sources.state_of(path)))


async def _of_file(path: str, column: str, position: str) -> AsyncGenerator[PlacedChunk]:
    state, last = _state(path), int(position.rpartition(":")[2] or 0)
    await asyncio.to_thread(check_file, path)
    async with aclosing(chunks_apart([path], column)) as found:
        async for chunk in found:
            if unread := [refusal.reason for refusal in chunk.refused if not refusal.number]:
                raise ScheduleError(unread[0])
            rest = _behind(chunk, last)
            last = rest.numbers[-1] if rest.numbers else last
            yield PlacedChunk(rest, f"{state}:{last}" if state else "")


def _behind(chunk: Chunk, done: int) -> Chunk:
    """What of *chunk* comes after line *done*."""
    at = bisect_right(chunk.numbers, done)
    refused = [refusal for refusal in chunk.refused if refusal.number > done]
    return replace(chunk, numbers=chunk.numbers[at:], lines=chunk.lines[at:], refused=refused)


async def _of_known(host: str, spider: str, settings: BaseSettings, position: str) -> AsyncGenerator[PlacedChunk]:
    history = StorageConfig.from_settings(settings).history.values()
    after = tuple(json.loads(position)) if position else ("", "")
    number = 0
    async with connection.session(settings) as database:
        found = known(database, host, spider, history=history, after=after)
        async for batch in in_batches(found, KNOWN):
            numbers, number = range(number + 1, number + len(batch) + 1), number + len(batch)
            chunk = Chunk(f"documents of {host}", numbers, [one.url for one in batch])
            yield PlacedChunk(chunk, json.dumps([batch[-1].collection, batch[-1].id]))


async def _of_due(
    most: int, visits_a_day: int, spider: str, settings: BaseSettings, position: str
) -> AsyncGenerator[PlacedChunk]:
    """Up to *most* documents that are due for another visit; *position*: how many of them are pushed.

    Raises ServiceError while another process recrawls *spider*."""
    history, now = list(StorageConfig.from_settings(settings).history.values()), datetime.now(UTC)
    number = int(position) if position.isdecimal() else 0
    async with connection.session(settings) as database, RecrawlTurn(database, spider):
        known_pages = Recrawl(database, spider, history)
        due = (await known_pages.plan(visits_a_day, max(0, most - number), (), now)).due
        for at in range(0, len(due), KNOWN):
            batch = due[at : at + KNOWN]
            numbers = range(number + 1, number + len(batch) + 1)
            number += len(batch)
            yield PlacedChunk(Chunk("documents that are due", numbers, [one.url for one in batch]), str(number))
            await known_pages.pushed(batch, now)
