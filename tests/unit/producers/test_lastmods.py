"""What becomes of lastmods while MongoDB is away, or nobody recrawls."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

from crawler.errors import ServiceError
from crawler.producers.lastmods import AGAIN_SECONDS, AWAY_SECONDS, Lastmods
from crawler.storage.connection import Client
from crawler.storage.recrawl.recrawl import Recrawl
from tests.shipped import shipped

TOLD = {"https://shop.example/": datetime(2026, 11, 22, tzinfo=UTC)}


class Storage:
    """Counts what it is asked; away while told so."""

    def __init__(self) -> None:
        self.is_away = self.has_any = False
        self.asked = 0

    async def any(self) -> bool:
        self._ask()
        return self.has_any

    async def note(self, told: Mapping[str, datetime], now: datetime) -> int:
        self._ask()
        return len(told)

    def _ask(self) -> None:
        self.asked += 1
        if self.is_away:
            raise ServiceError("away")


async def test_one_that_is_away_is_asked_again_after_a_while() -> None:
    storage, now = Storage(), 0.0
    lastmods = Lastmods(cast("Client", None), cast("Recrawl", storage), lambda: now)
    assert await lastmods.note(TOLD) == 1
    storage.is_away = True
    assert [await lastmods.note(TOLD) for _ in range(3)] == [None] * 3
    assert storage.asked == 2
    storage.is_away, now = False, AWAY_SECONDS
    assert await lastmods.note(TOLD) == 1


async def test_where_nobody_recrawls_there_is_one_look_a_minute() -> None:
    storage, now = Storage(), 0.0
    lastmods = Lastmods(cast("Client", None), cast("Recrawl", storage), lambda: now)
    assert [await lastmods.wanted() for _ in range(3)] == [False] * 3
    assert storage.asked == 1
    storage.has_any, now = True, AGAIN_SECONDS
    assert await lastmods.wanted()
    storage.is_away, now = True, 2 * AGAIN_SECONDS
    assert await lastmods.wanted(), "as far as is known"


def test_it_is_off_where_nothing_is_stored() -> None:
    assert Lastmods.from_settings(shipped(SHOAL_STORE=False), "s") is None
