"""How a worker learns that Redis may have lost data."""

from __future__ import annotations

import asyncio
import struct
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from contextvars import Context
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import redis
from redis.exceptions import ConnectionError as RedisConnectionError
from scrapy.settings import BaseSettings

from crawler.embedded.service import VALKEY
from crawler.frontier.config import FrontierConfig
from crawler.frontier.errors import FrontierRefusedError, FrontierUnavailableError
from crawler.frontier.frontier import Frontier
from crawler.frontier.server import connection
from crawler.frontier.server.drops import same_server
from crawler.frontier.state.budgets import Terms
from crawler.frontier.state.seeds import Seeds
from crawler.frontier.state.statement import Statement
from crawler.policy.pace import Pace
from tests.clock import Clock
from tests.clusters import NODES, Cluster
from tests.integration.frontier.harness import everywhere
from tests.integration.frontier.making import acked, answer, message, reported, timed
from tests.servers import Server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A Valkey of this test's own."""
    made = Server(VALKEY, tmp_path)
    yield made
    made.kill()


async def test_another_birth_mark_is_told_before_its_leases_are_handed_on(redis_client: Any) -> None:
    world, told = await timed(redis_client), []
    world.frontier.on_other_data = lambda: told.append(True)
    await world.lease()
    assert not told
    await redis_client.flushall(**everywhere(redis_client))
    await world.be_silent(5)
    await world.frontier.push([message(1)])
    assert await world.lease()
    assert told == [True]


async def test_budgets_are_stated_again_before_the_first_lease_of_other_data(redis_client: Any) -> None:
    world = await timed(redis_client)
    world.frontier.rules.statement = Statement("s", Pace(0, 100, 1), {})
    budget = Terms("s:s", (0, world.now + 86_400_000), requests=3)
    await world.frontier.budgets.state([budget])
    await redis_client.flushall(**everywhere(redis_client))
    await world.be_silent(5)
    await world.frontier.push([message(number, f"{number}.example") for number in range(20)])
    assert len(await world.lease()) <= 3


async def test_rights_that_are_taken_away_are_waited_for_and_missing_ones_are_not(server: Server) -> None:
    with redis.Redis(port=server.port) as root:
        root.execute_command("ACL", "SETUSER", "shoal", "on", ">pw", "~*", "&*", "+@all")
        settings = BaseSettings({"REDIS_URL": server.url.replace("//", "//shoal:pw@"), "REDIS_CLUSTER": False})
        client = connection.connect(settings)
        frontier, other = (Frontier(client, FrontierConfig()) for _ in range(2))
        for rights in ("-evalsha", "-hset", "-@all"):
            await frontier.push([message(1)])
            await frontier.control.said()
            await frontier.gauge.used()
            root.execute_command("ACL", "SETUSER", "shoal", rights)
            with pytest.raises(FrontierUnavailableError, match="ACL"):
                await frontier.push([message(2)])
            with pytest.raises(FrontierRefusedError, match="ACL"):
                await other.push([message(2)])
            root.execute_command("ACL", "SETUSER", "shoal", "+@all")
        root.execute_command("ACL", "SETUSER", "shoal", "-hkeys")
        with pytest.raises(FrontierUnavailableError, match="SETUSER shoal \\+hkeys"):
            await frontier.control.said()
        await client.aclose()


async def test_a_key_of_others_is_refused_whatever_was_permitted_on_ours(server: Server) -> None:
    """Such as the start URLs of a spider that has a user of its own: the ends of our runs do not wait for it."""
    with redis.Redis(port=server.port) as root:
        root.execute_command("ACL", "SETUSER", "shoal", "on", ">pw", "~{*", "~s:*", "+@all")
        settings = BaseSettings({"REDIS_URL": server.url.replace("//", "//shoal:pw@"), "REDIS_CLUSTER": False})
        client: Any = Frontier(connection.connect(settings), FrontierConfig()).shards.client
        assert await Seeds(client, "s:start_urls").pending() == 0
        with pytest.raises(FrontierRefusedError, match="~t:start_urls"):
            await Seeds(client, "t:start_urls").pending()
        root.execute_command("ACL", "SETUSER", "shoal", "resetkeys")
        with pytest.raises(FrontierUnavailableError, match="~s:start_urls"):
            await Seeds(client, "s:start_urls").pending()
        await client.aclose()


@pytest.mark.one_server("one shard's state is set back")
async def test_an_older_state_is_told_before_its_leases_are_handed_on(redis_client: Any) -> None:
    """As of a server that is restored from a backup while it runs: its connections stay."""
    world, told = await timed(redis_client), []
    world.frontier.on_other_data = lambda: told.append(True)
    await world.frontier.push([message(1)])
    kept = {key: await redis_client.dump(key) for key in await redis_client.keys()}
    await world.frontier.push([message(2, "b.example")])
    assert len(await world.lease()) == 2
    await world.lease()
    assert not told
    await redis_client.flushall()
    for key, value in kept.items():
        await redis_client.restore(key, 0, value)
    assert await world.lease()
    assert told == [True]
    await world.frontier.push([message(number, f"{number}.example") for number in range(3, 7)])
    await world.lease()
    assert told == [True]


async def test_an_idle_connection_that_was_made_anew_is_told(redis_client: Any, redis_settings: BaseSettings) -> None:
    client, told, others = connection.connect(redis_settings), [], []
    connection.listen(client, lambda: told.append(True), lambda: others.append(True))
    await asyncio.gather(*(client.ping() for _ in range(5)))  # more connections are not connections lost
    assert not told
    await redis_client.client_kill_filter(_type="normal", skipme=True, **everywhere(redis_client))
    await asyncio.sleep(0.05)
    with same_server(client):
        await client.ping()
    assert told
    assert not others, "the server is the same"
    await client.aclose()


@pytest.mark.parametrize("is_known", [False, True], ids=["told", "told by another call meanwhile"])
async def test_what_ends_a_page_never_reaches_a_server_that_was_started_since(server: Server, is_known: bool) -> None:
    """It may have lost the links of that page, which it had confirmed."""
    client: Any = connection.connect(BaseSettings({"REDIS_URL": server.url, "REDIS_CLUSTER": False}))
    others: list[bool] = []
    connection.listen(client, lambda: None, lambda: others.append(True))
    frontier = Frontier(client, FrontierConfig())
    await frontier.open()
    await frontier.push([message(number, f"{number}.example") for number in range(5)])
    batch = await frontier.lease(["s"], 5, worker="w")
    ack, unsent, settled, buried, gone = ((lease.id, lease.token) for lease in batch.leases)
    assert not others
    for ending in (
        lambda: acked(frontier, [ack]),
        lambda: frontier.skip([unsent]),
        lambda: frontier.settle(acks=[settled]),
        lambda: frontier.bury(*buried, reason="r"),
        lambda: frontier.end_gone(*gone, reason="http_404", detail={}),
    ):
        server.kill()
        await server.start_again()
        with same_server(client) if is_known else nullcontext():
            if is_known:
                await asyncio.create_task(client.ping(), context=Context())
            with pytest.raises(FrontierUnavailableError):
                await ending()
        before = (await frontier.inspection.stats("s")).total.leased
        assert all([await ending()])
        assert (await frontier.inspection.stats("s")).total.leased == before - 1
    assert len(others) == 5
    await client.aclose()


@pytest.mark.parametrize("asks", ["the worker that was told", "another worker"])
async def test_a_delay_that_a_restart_may_have_forgotten_begins_again(server: Server, asks: str) -> None:
    """Redis loses what it wrote in its last second: here a host's turn, which was taken right before."""

    async def worker() -> Frontier:
        client: Any = connection.connect(BaseSettings({"REDIS_URL": server.url, "REDIS_CLUSTER": False}))
        made = Frontier(client, FrontierConfig())
        made.rules.statement = Statement("s", Pace(60_000, 1, 1), {})
        connection.listen(client, lambda: None, made.rules.anew)
        await made.open()
        return made

    frontier = await worker()
    await frontier.push([message(number, "a.example", delay_ms=60_000) for number in range(3)])
    (lease,) = (await frontier.lease(["s"], 5, worker="w")).leases
    await reported(frontier, [answer((lease.id, lease.token))])
    await acked(frontier, [(lease.id, lease.token)])
    hosts, waiting = frontier.shards.key(0, "hosts"), frontier.shards.key(0, "wait:s")
    client: Any = frontier.client
    record = await client.hget(hosts, "a.example")
    await client.hset(hosts, "a.example", struct.pack("<d", 1.0) + record[8:])  # its next turn is long due
    assert await client.zadd(waiting, {"a.example": 1}, xx=True, ch=True)
    server.kill()
    await server.start_again()
    if asks == "another worker":
        frontier = await worker()
    else:
        with pytest.raises(FrontierUnavailableError):
            await frontier.lease(["s"], 5, worker="w")
    assert not (await frontier.lease(["s"], 5, worker="w")).leases
    assert 0 < (await frontier.reserve_slot("a.example", delay_ms=60_000)).wait_ms <= 60_000
    await asyncio.gather(client.aclose(), frontier.client.aclose())


@pytest.fixture
async def stating(redis_client: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[Frontier, asyncio.Event]:
    """A worker with news, which go no further until the event."""
    world, may_go = await timed(redis_client), asyncio.Event()
    world.frontier.rules.statement = Statement("s", Pace(0, 100, 1), {})
    await world.frontier.push([message(1)])
    await world.frontier.rules.state()
    world.frontier.rules.anew()
    monkeypatch.setattr(world.frontier.budgets, "state_again", lambda _shard: may_go.wait())
    return world.frontier, may_go


async def test_nothing_is_leased_while_news_are_on_their_way(stating: tuple[Frontier, asyncio.Event]) -> None:
    frontier, may_go = stating
    repeating = asyncio.create_task(frontier.rules.state())
    leasing = asyncio.create_task(frontier.lease(["s"], 5, worker="w"))
    for _ in range(50):
        await frontier.client.ping()
    assert not leasing.done()
    may_go.set()
    assert len((await leasing).leases) == 1
    await repeating


async def test_news_of_a_call_that_is_cancelled_are_stated_by_the_next(stating: tuple[Frontier, asyncio.Event]) -> None:
    frontier, _ = stating
    repeating = asyncio.create_task(frontier.rules.state())
    await frontier.client.ping()
    repeating.cancel()
    await asyncio.wait([repeating])
    assert frontier.rules.statement is not None
    assert frontier.rules.statement.is_news


async def test_news_that_come_while_a_statement_fails_are_stated_by_the_next(
    stating: tuple[Frontier, asyncio.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that has restarted answers, and is still loading."""
    frontier, may_go = stating
    may_go.set()
    await frontier.rules.state()

    async def loading(*_: Any) -> None:
        frontier.rules.anew()
        raise FrontierUnavailableError("LOADING")

    monkeypatch.setattr(frontier.shards, "run", loading)
    with pytest.raises(FrontierUnavailableError):
        await frontier.rules.state()
    assert frontier.rules.statement is not None
    assert frontier.rules.statement.is_news


@pytest.mark.one_server("a Cluster client greets its nodes itself")
async def test_a_call_that_is_cancelled_while_it_connects_leaves_no_connection_half_greeted(
    redis_settings: BaseSettings,
) -> None:
    client: Any = connection.connect(redis_settings)
    asked, answer = threading.Event(), threading.Event()

    def is_ours() -> bool:
        asked.set()
        return answer.wait(30)

    client.drops._is_ours = is_ours
    call = asyncio.ensure_future(client.ping())
    await asyncio.to_thread(asked.wait, 30)
    call.cancel()
    answer.set()
    await asyncio.wait([call])
    assert await client.ping()
    await client.aclose()


@pytest.mark.one_server("a Cluster client greets its nodes itself")
@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), OSError(24, "Too many open files")])
async def test_a_machine_without_threads_or_files_is_an_outage_and_leaves_no_connection_half_greeted(
    redis_settings: BaseSettings, error: Exception
) -> None:
    client: Any = connection.connect(redis_settings)
    answers = Mock(side_effect=[error, error, True])
    client.drops._is_ours = answers
    with pytest.raises(RedisConnectionError, match=error.args[-1]):
        await client.ping()
    assert await client.ping()
    await client.aclose()


async def test_a_server_that_was_started_again_is_told_once(server: Server) -> None:
    """By the new connection; INFO, which all of a worker's looks at Redis' memory ask, says the same again."""
    clock, told = Clock(), []
    client: Any = connection.connect(BaseSettings({"REDIS_URL": server.url, "REDIS_CLUSTER": False}))
    connection.listen(client, lambda: None, lambda: told.append(True))
    frontier = Frontier(client, FrontierConfig())
    frontier.gauge._clock = clock
    await frontier.gauge.full()
    server.kill()
    await server.start_again()
    assert not told
    for _ in range(2):
        clock.now += 10
        await frontier.gauge.full()
    assert told == [True]
    await client.aclose()


async def test_what_ends_a_page_never_reaches_a_replica_that_took_over_its_shard(tmp_path: Path) -> None:
    """It may lack the links of that page, which the primary had confirmed. Pages of other shards end as ever."""
    nodes = Cluster(tmp_path, replicas=True)
    client: Any = connection.connect(BaseSettings(nodes.settings))
    others: list[bool] = []
    connection.listen(client, lambda: None, lambda: others.append(True))
    try:
        frontier = Frontier(client, FrontierConfig(key="red", shards=NODES))  # one of its shards is on each node
        await frontier.open()
        await frontier.push([message(number, f"{number}.example") for number in range(12)])
        leases = (await frontier.lease(["s"], 12, worker="w")).leases
        where = [client.get_node_from_key(frontier.shards.tag(shard)).port for shard in range(NODES)]
        shard = where.index(nodes.nodes[1].port)
        mine = [(one.id, one.token) for one in leases if one.id.startswith(f"{shard}:")]
        elsewhere = [(one.id, one.token) for one in leases if not one.id.startswith(f"{shard}:")]
        with redis.from_url(nodes.nodes[NODES + 1].url) as replica:
            replica.execute_command("CLUSTER", "FAILOVER", "TAKEOVER")
        assert all(await acked(frontier, elsewhere))
        assert not others
        with pytest.raises(FrontierUnavailableError, match="failed over"):
            await acked(frontier, mine)
        assert all(await acked(frontier, mine))
        frontier.gauge._clock = Clock()
        await frontier.gauge.full()
        assert others == [True]
    finally:
        await client.aclose()
        nodes.kill()


async def test_what_ends_a_page_never_reaches_a_node_that_others_have_told_their_scripts_since(tmp_path: Path) -> None:
    """The client met it as it asked for the slots again: any node may tell those."""
    nodes = Cluster(tmp_path, primaries=1, options="--appendfsync always")  # others write later on a busy disk
    client, other = (connection.connect(BaseSettings(nodes.settings)) for _ in range(2))
    try:
        frontier = Frontier(client, FrontierConfig())
        await frontier.open()
        await frontier.push([message(1)])
        [lease] = (await frontier.lease(["s"], 1, worker="w")).leases
        nodes.kill()
        with pytest.raises(FrontierUnavailableError):
            await acked(frontier, [(lease.id, lease.token)])
        await asyncio.to_thread(nodes.start)
        assert await acked(Frontier(other, FrontierConfig()), [("0:999", 1)]) == [False]
        with pytest.raises(FrontierUnavailableError, match="failed over"):
            await acked(frontier, [(lease.id, lease.token)])
        assert await acked(frontier, [(lease.id, lease.token)]) == [True]
    finally:
        await asyncio.gather(client.aclose(), other.aclose())
        nodes.kill()
