"""A server that still loads its data is waited for."""

from __future__ import annotations

import logging

import pytest
from redis.exceptions import BusyLoadingError
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.frontier.server import server_check


class Server:
    """Answers after so many refusals."""

    def __init__(self, *refusals: Exception) -> None:
        self.refusals = list(refusals)
        self.connection_pool = self
        self.connection_kwargs = {"host": "redis.example", "port": 6379}

    async def ping(self) -> None:
        if self.refusals:
            raise self.refusals.pop()


async def test_it_is_waited_for_and_that_is_said_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_check, "LOADING_POLL_SECONDS", 0)
    server = Server(BusyLoadingError(), BusyLoadingError(), BusyLoadingError())

    with caplog.at_level(logging.WARNING):
        await server_check._loaded(server)

    assert not server.refusals
    assert caplog.messages == ["Redis at redis.example:6379 is still loading its data: waiting"]


async def test_one_that_is_not_there_is_not(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(RedisConnectionError):
        await server_check._loaded(Server(RedisConnectionError()))
    assert not caplog.messages
