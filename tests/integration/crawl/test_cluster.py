"""Whole workers, and the commands, on a Valkey Cluster of three nodes."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from typing import Any

import pytest
from pymongo.asynchronous.database import AsyncDatabase
from scrapy.settings import BaseSettings

from crawler.frontier.server import blocking, connection
from demo.state import any_port
from tests.clusters import Cluster
from tests.crawling import SHORT_LEASE, Fleet, ended, said
from tests.sites import Page, Site

HOSTS = [f"127.0.0.{number}" for number in range(1, 7)]
PAGES = {f"/{number}": Page() for number in range(12)}


@pytest.fixture
def spread(cluster: Cluster, fleet: Fleet) -> Fleet:
    """Workers whose frontier has a shard on each node."""
    cluster.flush()
    fleet.settings = cluster.settings | {"FRONTIER_SHARDS": 3, "FRONTIER_KEY": "red"}
    return fleet


def scrapy(fleet: Fleet, *args: str) -> str:
    done = fleet.runner.run(*args, *fleet.options())
    assert done.returncode == 0, done.stderr
    return done.stdout


async def test_workers_wait_for_a_cluster_that_is_away_and_lose_nothing(
    spread: Fleet, cluster: Cluster, mongo_database: AsyncDatabase[dict[str, Any]]
) -> None:
    with ExitStack() as stack:
        sites = [stack.enter_context(Site(PAGES, host)) for host in HOSTS]
        scrapy(spread, "push", "walk", *(site.url(path) for site in sites for path in PAGES))
        workers = [spread.start(DOWNLOAD_DELAY=0.3, **SHORT_LEASE) for _ in range(2)]
        await asyncio.gather(*(said(worker, "Spider opened") for worker in workers))
        await sites[0].asked(3)
        cluster.kill()
        await asyncio.gather(*(said(worker, "Redis does not answer") for worker in workers))
        cluster.start()
        results = [await ended(worker) for worker in workers]
        counters = json.loads(scrapy(spread, "status", "walk", "--json"))["spiders"]["walk"]
    assert [status for status, _ in results] == [0, 0]
    for _, log in results:
        assert log.count("Redis does not answer") == 1
    assert counters["done"] == counters["accepted"] == len(HOSTS) * len(PAGES)
    assert await mongo_database["pages"].count_documents({}) == len(HOSTS) * len(PAGES)


async def test_dead_letters_of_all_nodes_are_listed_and_tried_again(spread: Fleet) -> None:
    with ExitStack() as stack:
        sites = [stack.enter_context(Site({"/at-once": Page()}, host)) for host in HOSTS]
        scrapy(spread, "push", "failing", *(site.url("/at-once") for site in sites))
        assert (await ended(spread.start("failing")))[0] == 0
    listed = [json.loads(line) for line in scrapy(spread, "dead", "list", "failing", "--json").splitlines()]
    assert {letter["host"] for letter in listed} == set(HOSTS)
    assert {letter["id"].partition(":")[0] for letter in listed} == {"0", "1", "2"}
    assert scrapy(spread, "dead", "retry", "failing").startswith(f"{len(HOSTS)} queued again\n")
    counters = json.loads(scrapy(spread, "status", "failing", "--json"))["spiders"]["failing"]
    assert (counters["queued"], counters["dead"]) == (len(HOSTS), 0)


@pytest.mark.parametrize("answers", [0, 1, 2])
async def test_any_of_the_nodes_that_are_named_may_be_away_at_a_start(cluster: Cluster, answers: int) -> None:
    ports = [any_port() for _ in range(3)]
    ports[answers] = cluster.nodes[answers].port
    named = ",".join(f"127.0.0.1:{port}" for port in ports)
    settings = BaseSettings({"REDIS_URL": f"redis://{named}", "REDIS_CLUSTER": True})
    client = connection.connect(settings)
    assert await client.set("{named}", "1")
    await client.aclose()
    with blocking.connect(settings) as waiting:
        assert waiting.getdel("{named}") == b"1"
