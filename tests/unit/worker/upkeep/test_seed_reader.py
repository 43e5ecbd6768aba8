"""What becomes of a start URL that no request can be made of, and of one whose requests Redis may have lost."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from scrapy_redis.spiders import RedisSpider

from crawler import scrapy_hooks
from crawler.errors import MessageError
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.messages import Message
from crawler.frontier.server.drops import Drops
from crawler.frontier.server.failures import translating
from crawler.frontier.state.seeds import Seed
from crawler.worker.upkeep.seed_reader import MOST_SHOWN, SeedReader, _words, without_passwords
from tests.unit.frontier.fakes import Frontier, Stats, message


def test_an_error_of_a_spiders_own_names_the_entry() -> None:
    """scrapy-redis' spiders answer a number as form data with an error about bytes, which told nobody what it was."""
    entry = b'{"url": "http://me:secret@a.example/", "q": 1}' + b"x" * MOST_SHOWN
    told = _words(TypeError("to_bytes must receive a str"), Seed(b"", entry))
    assert told.startswith('TypeError: to_bytes must receive a str: no request can be made of \'{"url": ')
    assert '"q": 1' in told
    assert "secret" not in told
    assert len(told) < MOST_SHOWN + 100


def test_an_error_of_ours_says_it_already() -> None:
    assert _words(MessageError("not a URL: 'x'"), Seed(b"", b"x")) == "not a URL: 'x'"


def test_an_error_of_ours_hides_the_password_that_it_quotes() -> None:
    assert _words(MessageError('not JSON: {"url": "http://me:secret@a.example/"'), Seed(b"", b"x")) == (
        'not JSON: {"url": "http://***@a.example/"'
    )


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        (b'{"url": "HTTPS://me:secret@a.example/", "m', b'{"url": "HTTPS://a.example/", "m'),
        (b"http://me:se@cret@a.example/a b", b"http://a.example/a b"),
        (b"ftp://me:secret@a.example/", b"ftp://a.example/"),
        (b"//me:secret@a.example/", b"//a.example/"),
        (b"http://a.example/@me sku://key@shop \xff", b"http://a.example/@me sku://key@shop \xff"),
    ],
)
def test_a_bad_start_url_is_kept_without_its_password(raw: bytes, kept: bytes) -> None:
    assert without_passwords(raw) == kept


class Queue:
    """One start URL, until its lease is ended; its client is that of *drops*."""

    def __init__(self, drops: Drops) -> None:
        self.left = [Seed(b"1", b"http://a.example/")]
        self._drops = drops

    async def lease(self, most: int) -> list[Seed]:
        return [*self.left]

    async def ack(self, seeds: Sequence[Seed]) -> None:
        with translating():
            self._drops.check()
        self.left = [one for one in self.left if one not in seeds]

    async def give_back(self, seeds: Sequence[Seed]) -> None:
        assert not seeds


async def test_a_start_url_stays_where_another_server_than_that_with_its_requests_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def messages(seed: Seed) -> list[Message]:
        return [message(1)]

    async def why_full() -> str:
        return ""

    monkeypatch.setattr(scrapy_hooks, "is_closing", lambda engine: False)
    drops, restarts = Drops(), iter([True])
    frontier: Any = Frontier(lambda name: drops._other() if next(restarts, False) else None)
    frontier.client, frontier.why_full = SimpleNamespace(drops=drops), why_full
    crawler: Any = SimpleNamespace(spider=None, engine=SimpleNamespace(paused=False), stats=Stats())
    made: Any = SeedReader
    reader = made(crawler, frontier, None, AsyncMock(), None, lambda: None)
    reader.queue, reader._messages = Queue(drops), messages
    with pytest.raises(FrontierUnavailableError):
        await reader.read()
    assert reader.queue.left
    await reader.read()
    assert not reader.queue.left
    assert frontier.names == ["push", "push"]


class OwnSpider(RedisSpider):  # type: ignore[misc]
    """With a reader of its own."""

    def make_request_from_data(self, data: bytes) -> Any:
        raise KeyError("sku")


@pytest.mark.parametrize(("spider", "is_traced"), [(RedisSpider, False), (OwnSpider, True)])
async def test_only_code_of_the_projects_own_is_traced(
    spider: type[RedisSpider], is_traced: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """What is no URL took 14 lines of the log for each entry."""
    frontier: Any = SimpleNamespace(dead=SimpleNamespace(bury_seed=AsyncMock(return_value=True)))
    crawler: Any = SimpleNamespace(spider=spider(name="s", redis_encoding="utf-8"), stats=Stats())
    made: Any = SeedReader
    reader = made(crawler, frontier, None, SimpleNamespace(id="0"), None, lambda: None)
    assert await reader._messages(Seed(b"1", b"no url")) == []
    [record] = [one for one in caplog.records if one.levelname == "ERROR"]
    assert record.getMessage().endswith("no request can be made of 'no url'")
    assert bool(record.exc_info) == is_traced
