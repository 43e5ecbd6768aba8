"""Several shards, on one server and on a Cluster of three."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio.cluster import RedisCluster
from redis.exceptions import ClusterDownError
from scrapy.settings import BaseSettings

from crawler.frontier.config import FrontierConfig
from crawler.frontier.errors import FrontierUnavailableError, ShardAwayError
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import PushOutcome
from crawler.frontier.server import connection, keys
from crawler.frontier.state.seeds import Seeds
from crawler.frontier.state.statement import Statement
from crawler.policy.pace import Pace
from tests.clusters import Cluster
from tests.integration.frontier.harness import all_keys
from tests.integration.frontier.making import handles, message, open_generation, timed


async def crawl(client: Any, **config: Any) -> None:
    """A whole small crawl over four shards, seen through every part of the face."""
    world = await timed(client, shards=4, **config)
    frontier = world.frontier
    await frontier.open()
    pushed = [message(number, f"{number % 20}.example") for number in range(200)]
    assert await frontier.push(pushed) == [PushOutcome.ACCEPTED] * 200
    assert await frontier.push(pushed) == [PushOutcome.DUPLICATE] * 200
    stats = await frontier.inspection.stats("s")
    assert (stats.total.queued, stats.eligible_hosts) == (200, 20)
    assert len(await frontier.inspection.hosts(top=50)) == 20

    fetched: list[int] = []
    while batch := await world.fetch(7):
        fetched += batch
    assert sorted(fetched) == list(range(200))
    await frontier.push([message(300, "x.example"), message(301, "y.example")])
    first, second = await world.lease(2)
    assert first.id.partition(":")[0] in "0123"
    assert await frontier.renew(handles([first, second])) == [True, True]
    assert await frontier.bury(first.id, first.token, reason="test")
    assert (await frontier.reserve_slot(second.host, lease=(second.id, second.token))).token is not None
    assert await frontier.nack(second.id, second.token, delay_ms=10)
    assert [letter.id for letter in await frontier.dead.find("s")] == [first.id]
    assert await frontier.dead.retry([first.id]) == [True]
    await world.pass_ms(10)
    assert len(await world.fetch()) == 2
    assert await frontier.inspection.empty()
    assert not await frontier.why_full()
    assert await open_generation(frontier, "s") == "1"
    assert await frontier.generations.sweep() == 0


async def test_shards_act_as_one_frontier(redis_client: Any) -> None:
    await crawl(redis_client)
    tags = {key.split(b"}")[0] for key in await all_keys(redis_client)}
    assert tags == {b"{shoal:0", b"{shoal:1", b"{shoal:2", b"{shoal:3"}
    if isinstance(redis_client, RedisCluster):
        nodes = {redis_client.get_node_from_key(f"{{shoal:{shard}}}") for shard in range(4)}
        assert len(nodes) > 1, "the shards are spread over nodes"


async def test_a_shard_that_is_away_costs_no_lease_of_another(
    redis_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await timed(redis_client, shards=4)
    await world.frontier.push([message(number, f"{number}.example") for number in range(40)])
    run, there = world.frontier.shards.run, 2

    async def half_away(name: str, shard: int, *arguments: Any) -> Any:
        if shard >= there:
            raise FrontierUnavailableError("away")
        return await run(name, shard, *arguments)

    monkeypatch.setattr(world.frontier.shards, "run", half_away)
    assert {lease.id.partition(":")[0] for lease in await world.lease()} == {"0", "1"}
    there = 0
    with pytest.raises(FrontierUnavailableError):
        await world.lease()


async def test_a_shard_that_is_there_again_is_found_though_others_are_not_or_have_just_gone(
    redis_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await timed(redis_client, shards=4)
    world.frontier.rules.statement = stated = Statement("s", Pace(0, 100, 1), {})
    shards, gone = world.frontier.shards, {1, 2}
    run = shards.scripts.run

    async def half_away(name: str, where: Any, *arguments: Any) -> Any:
        if int(where[0].strip("{}").rpartition(":")[2]) in gone:
            raise FrontierUnavailableError("away")
        return await run(name, where, *arguments)

    monkeypatch.setattr(shards.scripts, "run", half_away)
    if not world.frontier.shards.on_cluster:
        with pytest.raises(FrontierUnavailableError, match=r"away$"):
            await world.frontier.inspection.stats()
        assert not shards.away, "those of one server come and go together"
        return
    with pytest.raises(ShardAwayError, match="away; hosts of shard 1 wait"):
        await world.frontier.inspection.stats()
    await asyncio.sleep(0)
    with pytest.raises(ShardAwayError):
        await world.frontier.seek()
    assert (shards.away, shards.there, stated.is_news) == ({1, 2}, [0, 3], False)
    gone.clear()
    gone.add(2)
    shards.away.add(3)
    await world.frontier.seek()
    assert (shards.away, stated.is_news) == ({2}, True)
    assert await world.frontier.why_full() == "a node of the Cluster is away"
    gone.clear()
    await world.frontier.seek()
    assert not shards.away
    await world.frontier.seek()


async def test_a_full_shard_gives_one_request_and_none_to_a_worker_that_has_some(
    redis_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await timed(redis_client, shards=2)
    await world.frontier.push([message(number, f"{number}.example") for number in range(40)])

    async def full() -> set[int]:
        return {1}

    monkeypatch.setattr(world.frontier.gauge, "full", full)
    batch = await world.frontier.lease(["s"], 50, worker="w")
    there = [lease.id.partition(":")[0] for lease in batch.leases]
    assert (there.count("1"), there.count("0")) == (1, sum(keys.shard_of(f"{n}.example", 2) == 0 for n in range(40)))
    again = await world.frontier.lease(["s"], 50, worker="w", held=lambda: {0, 1})
    assert (again.leases, again.next_due_ms) == ([], None)
    assert len((await world.frontier.lease(["s"], 50, worker="w", held=lambda: {0})).leases) == 1


async def test_a_node_without_shards_of_ours_may_be_away(tmp_path: Path) -> None:
    """At a start, too."""
    nodes = Cluster(tmp_path, timeout_ms=2_000, options="--cluster-require-full-coverage no")
    client: Any = connection.connect(BaseSettings(nodes.settings))
    try:
        frontier = Frontier(client, FrontierConfig())
        await client.ping()
        port = client.get_node_from_key(frontier.shards.tag(0)).port
        next(node for node in nodes.nodes if node.port not in {port, nodes.nodes[0].port}).kill()
        await frontier.open()
        await frontier.push([message(1)])
        frontier.gauge._read_at = float("-inf")
        assert len((await frontier.lease(["s"], 1, worker="w")).leases) == 1
    finally:
        await client.aclose()
        nodes.kill()


async def test_the_table_of_commands_is_read_once_however_often_nodes_are_looked_for(cluster: Cluster) -> None:
    client: Any = connection.connect(BaseSettings(cluster.settings))
    await client.ping()

    async def asked() -> int:
        answers = [await client.info("commandstats", target_nodes=node) for node in client.get_primaries()]
        return sum(one.get("cmdstat_command", {}).get("calls", 0) for one in answers)

    before = await asked()
    client._initialize = True
    assert await client.set("a", "1")
    assert await asked() == before
    await client.aclose()


async def test_a_node_that_is_down_costs_no_connection_to_another(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    client: Any = connection.connect(BaseSettings(cluster.settings))
    await client.ping()
    one, other = client.get_primaries()[:2]
    await client.client_id(target_nodes=one)

    async def down(*_: Any, **__: Any) -> None:
        raise ClusterDownError("CLUSTERDOWN The cluster is down")

    with monkeypatch.context() as patch:
        patch.setattr(type(other), "execute_command", down)
        with pytest.raises(ClusterDownError):
            await client.client_id(target_nodes=other)
    assert all(connection.is_connected for connection in one._connections)
    assert await client.client_id(target_nodes=other)
    await client.aclose()
    assert not any(connection.is_connected for connection in one._connections)


async def test_a_suspect_comes_alone_from_whatever_shard(redis_client: Any) -> None:
    world = await timed(redis_client, shards=4, lease_ms=40_000)
    await world.frontier.push([message(number, f"{number}.example") for number in range(8)])
    for _ in range(2):
        leases: list[Any] = []
        while batch := await world.lease(suspects_ok=True):
            leases += batch
        await world.frontier.start(handles(leases))
        await world.pass_ms(40_000)
    await world.frontier.push([message(100 + number, f"{100 + number}.example") for number in range(8)])
    batch = await world.lease(suspects_ok=True)
    assert [lease.deliveries for lease in batch] == [2]


async def test_seeds_share_a_slot_with_their_leases(redis_client: Any) -> None:
    await redis_client.rpush("products:start_urls", "a", "b")
    seeds = Seeds(redis_client, "products:start_urls")
    leased = await seeds.lease(2)
    assert [seed.raw for seed in leased] == [b"a", b"b"]
    assert (await seeds.ack(leased[:1]), await seeds.give_back(leased[1:]), await seeds.pending()) == (1, 1, 1)
