"""Tells the shards the rules that a worker crawls by; see statement.py for what applies then."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from crawler.frontier.messages import Message
from crawler.frontier.server.shards import Shards
from crawler.frontier.state.budgets import Budgets
from crawler.frontier.state.damage import Damage
from crawler.frontier.state.statement import Statement
from crawler.policy.pace import Pace


class StatedRules:
    """What stands in *statement*, told to every shard: news before the next call that they matter to."""

    def __init__(self, shards: Shards, budgets: Budgets, damage: Damage) -> None:
        self.statement: Statement | None = None
        self._shards = shards
        self._budgets = budgets
        self._damage = damage
        self._has_stated = False  # at least once: other workers may have stated the same, to another server
        self._stating = asyncio.Lock()

    async def note(self, messages: Iterable[Message]) -> None:
        """State what *messages* bring, if that is stricter than what was stated so far."""
        if self.statement is not None:
            for message in messages:
                self.statement.note(message.host, Pace(message.delay_ms, message.cap, message.burst))
            await self.state_news()

    def anew(self) -> None:
        """Redis may have lost the statement: `state` is due."""
        if self.statement is not None:
            self.statement.is_news = True

    async def state(self) -> None:
        """State them: within moments no worker exceeds them, as long as this is repeated every few seconds."""
        if not await self.state_news():
            await self._state_everywhere()

    async def state_news(self) -> bool:
        """State what no server was told of; False: there is none. What another call is stating counts when the server
        has it."""
        if (statement := self.statement) is None:
            return False
        async with self._stating:
            if not (news := statement.is_news) and self._has_stated:
                return False
            statement.is_news = False
            try:
                await self._state_everywhere(news=news)
            except BaseException:  # also where the caller is cancelled
                statement.is_news |= news
                raise
            self._has_stated = True
            return True

    async def _state_everywhere(self, *, news: bool = False) -> None:
        if self.statement is not None:
            await asyncio.gather(*(self.state_at(shard, news=news) for shard in self._shards.there))

    async def state_at(self, shard: int, *, news: bool = False) -> None:
        """State them to one shard, with the exceptions if these are *news* or it does not have them."""
        assert self.statement is not None
        row = self.statement.row
        while news or not (answer := await self._shards.run("rules", shard, *row)):
            await self._budgets.state_again(shard)  # what lost our rules has lost them, too
            for exceptions in self.statement.rows():
                await self._shards.run("rules", shard, *row, *exceptions)
            news = False
        await self._damage.told(shard, answer - 1)
