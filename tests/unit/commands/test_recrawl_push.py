"""`scrapy recrawl`: what counts as pushed where Redis restarts meanwhile."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Self

import pytest

from crawler.commands import recrawl
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.server.drops import Drops
from crawler.frontier.server.failures import translating
from tests.unit.frontier.fakes import Frontier, message


class Run:
    """An open one."""

    generation = "r:1"

    def __init__(self, *given: Any) -> None:
        """As of any spider."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        """It stays open."""

    def told(self) -> str:
        return "run 1"


@pytest.mark.parametrize("restarts", [False, True])
async def test_nothing_counts_as_pushed_where_redis_restarts_between_two_batches(
    restarts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*given: Any) -> None:
        """No host is known."""

    def before(name: str) -> None:
        with translating():
            drops.check()
        if restarts:
            drops._other()

    drops = Drops()
    monkeypatch.setattr(recrawl, "BATCH", 1)
    monkeypatch.setattr(recrawl, "learn_tiers", nothing)
    monkeypatch.setattr(recrawl, "PushedRun", Run)
    monkeypatch.setattr(recrawl, "_message", lambda encoder, due, generation: message(due))
    frontier: Any = Frontier(before)
    frontier.client, frontier.runs = SimpleNamespace(drops=drops), None
    encoder, due = SimpleNamespace(spider=SimpleNamespace(name="s")), [1, 2]
    push: Any = recrawl._push
    if restarts:
        with pytest.raises(FrontierUnavailableError, match="may have lost"):
            await push(frontier, encoder, due)
    else:
        assert await push(frontier, encoder, due) == ("run 1", due, [])
