"""Looks at collections while MongoDB is slow or refuses; forms of collections are tried on the real mongod."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

import pytest
from pymongo.errors import OperationFailure

from crawler.storage.connection import Database
from crawler.storage.foreign_collections import Watch


class Shows:
    """A database whose listCollections answers once *together* ask for it."""

    name = "shop"

    def __init__(self, together: int = 1) -> None:
        self._barrier = asyncio.Barrier(together)
        self.uuids: dict[str, int | None] = {}

    async def list_collections(self, filter: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:  # noqa: A002 - PyMongo's
        await self._barrier.wait()
        return self._made([*filter["name"]["$in"]])

    async def _made(self, names: list[str]) -> AsyncIterator[dict[str, Any]]:
        for name in names:
            yield {"name": name, "info": {"uuid": self.uuids.get(name)}}


async def test_no_collection_waits_for_a_look_at_another() -> None:
    """A look at each may take as long as MongoDB is given to answer."""

    async def index(_: str) -> bool:
        return True

    watch = Watch(cast("Database", Shows(together=3)), index)
    try:
        async with asyncio.timeout(5):
            await asyncio.gather(*map(watch.check, ("a", "b", "c")))
    except TimeoutError:
        pytest.fail("one look waited for another")


async def test_one_that_is_made_anew_is_told_once_and_indexed_until_that_works(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("crawler.storage.foreign_collections.LOOK_SECONDS", 0.0)
    shows, indexed, allows = Shows(), [], [False, True]

    async def index(name: str) -> bool:
        await asyncio.sleep(0)
        if not allows.pop(0):
            raise OperationFailure("stepped down", 189)
        indexed.append(name)
        return True

    watch = Watch(cast("Database", shows), index)
    for shows.uuids["a"] in (1, 2):
        first = asyncio.gather(watch.check("a"), watch.check("a"), return_exceptions=True)
        found = [one for one in await first if one is not None]
    assert [type(one) for one in found] == [OperationFailure]
    await asyncio.gather(watch.check("a"), watch.check("a"))
    assert indexed == ["a"]
    assert len(caplog.messages) == 1


async def test_one_that_is_gone_for_now_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """To create its indexes makes it anew, so that it is another one at the next look."""
    monkeypatch.setattr("crawler.storage.foreign_collections.LOOK_SECONDS", 0.0)
    shows, indexed = Shows(), []

    async def index(name: str) -> bool:
        indexed.append(name)
        return True

    watch = Watch(cast("Database", shows), index)
    for shows.uuids["a"] in (1, None, 2, 2):
        await watch.check("a")
    assert (indexed, len(caplog.messages)) == (["a"], 1)
