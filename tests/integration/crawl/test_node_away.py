"""A Cluster that serves the slots of its other nodes while one is away (cluster-require-full-coverage no)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis
from pymongo.asynchronous.database import AsyncDatabase

from crawler.frontier.server import keys
from tests.clusters import NODES, Cluster
from tests.crawling import SHORT_LEASE, Fleet, ended
from tests.effort import PATIENCE
from tests.servers import Server
from tests.sites import LATE, Page, Site
from tests.zygote import Forked

SHARDS = NODES  # with FRONTIER_KEY "red" one is on each node
AWAY = 1
KEPT = [f"127.0.0.{number}" for number in range(1, 30) if keys.shard_of(f"127.0.0.{number}", SHARDS) != AWAY][:4]
LOST = [f"127.0.0.{number}" for number in range(1, 60) if keys.shard_of(f"127.0.0.{number}", SHARDS) == AWAY][:2]
PAGES = 12


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path, timeout_ms=2_000, options="--cluster-require-full-coverage no")
    yield made
    made.kill()


@pytest.fixture
def spread(nodes: Cluster, fleet: Fleet) -> Fleet:
    fleet.settings = nodes.settings | {"FRONTIER_SHARDS": SHARDS, "FRONTIER_KEY": "red"}
    return fleet


def node_of(nodes: Cluster, shard: int) -> Server:
    """The node that *shard* is on."""
    with redis.RedisCluster.from_url(nodes.nodes[0].url) as client:
        port = client.get_node_from_key(keys.tag("red", shard)).port
    return next(node for node in nodes.nodes if node.port == port)


def pages(other: str = "") -> dict[str, Page]:
    """Each leads to the next one; with *other* some also to a page there, of their own number."""
    found: dict[str, Page] = {}
    for number in range(PAGES):
        links = [f"/{number + 1}"] if number + 1 < PAGES else []
        links += [f"{other}/leaf-{number}"] if other and number % 4 == 0 else []
        anchors = "".join(f"<a href={link}>.</a>" for link in links)
        found[f"/{number}"] = Page(f"<title>{number}</title>{anchors}")
    return found


@dataclass
class Sites:
    """Of hosts on shards that stay, and on the one that goes, to which the former lead, too."""

    kept: list[Site]
    lost: list[Site]

    @property
    def all(self) -> list[Site]:
        return self.kept + self.lost

    @property
    def expected(self) -> int:
        return sum(len(site.pages) for site in self.all)


@pytest.fixture
def sites() -> Iterator[Sites]:
    with ExitStack() as stack:
        lost = [stack.enter_context(Site(pages(), host)) for host in LOST]
        lost[0].pages |= {f"/leaf-{number}": Page() for number in range(0, PAGES, 4)}
        kept = [stack.enter_context(Site(pages(lost[0].url("")), host)) for host in KEPT]
        yield Sites(kept, lost)


async def asked(site: Site, number: int, seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while len(site.received) < number:
        assert time.monotonic() < deadline, f"{len(site.received)} of {number}"
        await asyncio.sleep(0.05)


async def begun(fleet: Fleet, sites: Sites, workers: int, **settings: Any) -> list[Forked]:
    """*workers* in the middle of their crawl."""
    roots = [site.url("/0") for site in sites.all]
    pushed = await asyncio.to_thread(fleet.runner.run, "push", "walk", *roots, *fleet.options())
    assert pushed.returncode == 0, pushed.stderr
    settings |= {"DOWNLOAD_DELAY": 0.5, "CONCURRENT_REQUESTS_PER_DOMAIN": 1, "FRONTIER_POLL_SECONDS": 0.5}
    started = [fleet.start(**settings) for _ in range(workers)]
    await asyncio.gather(*(asked(site, 3) for site in sites.all))
    return started


async def status(fleet: Fleet) -> str:
    done = await asyncio.to_thread(fleet.runner.run, "status", "walk", *fleet.options())
    return " ".join((done.stdout + done.stderr).split())


async def all_done(
    workers: list[Forked], sites: Sites, database: AsyncDatabase[dict[str, Any]], *, once: bool = True
) -> list[str]:
    """Logs of *workers*, which have crawled all of *sites*, each page *once*."""
    results = [await ended(worker) for worker in workers]
    assert [status for status, _ in results] == [0] * len(workers), results[0][1]
    assert await database["pages"].count_documents({}) == sites.expected
    for site in sites.all:
        assert set(site.requested) == set(site.pages)
        assert len(site.received) == len(site.pages) or not once
        assert min(site.gaps) > 0.5 - LATE
    return [log for _, log in results]


@pytest.mark.parametrize("go", [Server.kill, Server.freeze], ids=["killed", "frozen"])
async def test_the_shards_of_other_nodes_are_crawled_on(
    spread: Fleet,
    nodes: Cluster,
    sites: Sites,
    mongo_database: AsyncDatabase[dict[str, Any]],
    go: Callable[[Server], None],
) -> None:
    timeout = {"REDIS_PARAMS": {"socket_timeout": 2}}
    workers = await begun(spread, sites, 2, FRONTIER_LEASE_SECONDS=60, **timeout)
    node = node_of(nodes, AWAY)
    go(node)
    await asyncio.gather(*(asked(site, PAGES, 60) for site in sites.kept))
    assert max(len(site.received) for site in sites.lost) < PAGES
    assert f"127.0.0.1:{node.port}" in await status(spread)
    if go is Server.kill:
        await node.start_again()
    else:
        node.thaw()
    for log in await all_done(workers, sites, mongo_database, once=go is Server.freeze):
        assert f"127.0.0.1:{node.port}" in log
        assert "Hosts of shard 1 wait, those of others go on" in log


async def test_a_worker_that_is_killed_meanwhile_loses_nothing(
    spread: Fleet, nodes: Cluster, sites: Sites, mongo_database: AsyncDatabase[dict[str, Any]]
) -> None:
    killed, *workers = await begun(spread, sites, 3, **SHORT_LEASE)
    node = node_of(nodes, AWAY)
    node.kill()
    await asyncio.gather(*(asked(site, 6, 60) for site in sites.kept))
    killed.kill()
    await asyncio.gather(*(asked(site, 9, 60) for site in sites.kept))
    await node.start_again()
    await all_done(workers, sites, mongo_database, once=False)


async def test_a_node_that_is_full_slows_only_its_own_shards(
    spread: Fleet, nodes: Cluster, sites: Sites, mongo_database: AsyncDatabase[dict[str, Any]]
) -> None:
    for site in sites.all:
        site.pages = {**pages()}  # none leads to a host of that node, or its page would wait
    workers = await begun(spread, sites, 2, FRONTIER_LEASE_SECONDS=60)
    node = node_of(nodes, AWAY)
    with redis.from_url(node.url) as client:
        client.config_set("maxmemory", client.info("memory")["used_memory"] - 50_000)
        await asyncio.gather(*(asked(site, PAGES, 60) for site in sites.kept))
        assert max(len(site.received) for site in sites.lost) < PAGES
        shown = await status(spread)
        client.config_set("maxmemory", 0)
    assert f"Redis at 127.0.0.1:{node.port} uses" in shown
    for log in await all_done(workers, sites, mongo_database):
        assert "Leasing is slowed" not in log
