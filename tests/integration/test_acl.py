"""The Redis user and the MongoDB roles of docs/operations.md, as k8s/ ships them, suffice and allow no more."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from pymongo import AsyncMongoClient
from pymongo.errors import OperationFailure
from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster
from redis.exceptions import NoPermissionError
from scrapy.settings import Settings

from crawler import stats as names
from crawler.embedded.service import MONGOD
from crawler.frontier.command_session import session
from crawler.frontier.messages import Message, PushOutcome
from crawler.frontier.state.seeds import Seeds
from crawler.storage import attempts, migrations
from crawler.storage import connection as storage
from crawler.storage.archive.archive import Archive
from crawler.storage.archive.config import ArchiveConfig, Keep
from crawler.storage.archive.index import Index
from crawler.storage.archive.store import Store
from crawler.storage.config import StorageConfig
from crawler.storage.items.repository import Repository, StoreResult
from crawler.storage.outage import MongoOutage
from crawler.storage.reading import quality, reader
from crawler.storage.writer import Writer
from tests.clusters import Cluster
from tests.integration.storage.observing import RecordedStats, a_writer, at, seen, until
from tests.integration.storage.test_archive import page
from tests.servers import Server
from tests.shipped import shipped

MANUAL = Path(__file__).resolve().parents[2] / "docs" / "operations.md"


def documented_rules() -> list[str]:
    found = re.search(r"ACL SETUSER shoal (.+?)\n\n", MANUAL.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1].replace(">PASSWORD", ">secret").split()


def documented_cluster_rule() -> str:
    found = re.search(r"The user above\nneeds `(\S+)`, too", MANUAL.read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


async def send(client: Any, *words: str) -> Any:
    """redis-py leaves `execute_command` untyped."""
    return await client.execute_command(*words)


async def test_in_a_cluster_the_documented_user_needs_the_right_that_is_named_there(cluster: Cluster) -> None:
    rules, where = [*documented_rules(), documented_cluster_rule()], {"target_nodes": RedisCluster.ALL_NODES}
    urls = cluster.settings["REDIS_URL"], cluster.settings["REDIS_URL"].replace("://", "://shoal:secret@")
    async with RedisCluster.from_url(urls[0]) as admin:
        await admin.flushall(target_nodes=RedisCluster.PRIMARIES)  # other tests may have used another number of shards
        await admin.execute_command("ACL SETUSER", "shoal", "reset", *rules, **where)
        try:
            settings = shipped()
            settings.update({"REDIS_URL": urls[1], "REDIS_CLUSTER": True, "FRONTIER_SHARDS": 3}, priority="cmdline")
            async with session(settings) as frontier:
                message = Message(host="shop.example", stream="products", spider="products", body=b"x", fingerprint=7)
                assert await frontier.push([message]) == [PushOutcome.ACCEPTED]
                assert len((await frontier.lease(["products"], 1, worker="w")).leases) == 1
        finally:
            await admin.execute_command("ACL DELUSER", "shoal", **where)
            await admin.flushall(target_nodes=RedisCluster.PRIMARIES)


async def test_the_documented_user_can_run_the_frontier_and_nothing_else(redis_client: Redis, redis_url: str) -> None:
    await send(redis_client, "ACL", "SETUSER", "shoal", "reset", *documented_rules())
    where = urlsplit(redis_url)
    settings = shipped()
    settings.set("REDIS_URL", f"redis://shoal:secret@{where.hostname}:{where.port}{where.path}", priority="cmdline")
    try:
        async with session(settings) as frontier:
            message = Message(host="shop.example", stream="products", spider="products", body=b"x", fingerprint=7)
            assert await frontier.push([message]) == [PushOutcome.ACCEPTED]
            batch = await frontier.lease(["products"], 1, worker="w")
            handle = (batch.leases[0].id, batch.leases[0].token)
            assert await frontier.start([handle]) == [True]
            assert await frontier.settle(acks=[handle]) == ([], [], [True])
            assert (await frontier.inspection.stats()).total.done == 1
            assert await frontier.inspection.hosts() == []
            assert await frontier.why_full() == ""
            assert await frontier.generations.sweep() == 0
            await redis_client.lpush("products:start_urls", "https://shop.example/")
            seeds = Seeds.from_settings(frontier.client, "products:start_urls", settings)
            assert await seeds.ack(await seeds.lease(5)) == 1
            for refused in (["GET", "other"], ["FLUSHALL"], ["CONFIG", "SET", "maxmemory", "1"], ["KEYS", "*"]):
                with pytest.raises(NoPermissionError):
                    await send(frontier.client, *refused)
    finally:
        await send(redis_client, "ACL", "DELUSER", "shoal")


def documented_role(name: str) -> dict[str, Any]:
    found = re.search(
        rf'db\.createRole\((\{{"role": "{name}".+?\}})\)\n', MANUAL.read_text(encoding="utf-8"), re.DOTALL
    )
    assert found is not None
    role: dict[str, Any] = json.loads(found[1])
    return role


def test_kubernetes_gives_the_documented_rights_and_no_others() -> None:
    stores = MANUAL.parents[1] / "k8s" / "components" / "trial-stores"
    users = (stores / "users.js").read_text(encoding="utf-8")
    shipped_actions = json.loads(re.findall(r"actions: (\[.+?\])", users, re.DOTALL)[0])
    assert shipped_actions == documented_role("shoalWorker")["privileges"][0]["actions"]
    documents = yaml.safe_load_all((stores / "redis.yaml").read_text(encoding="utf-8"))
    server = next(one for one in documents if one["kind"] == "StatefulSet")
    arguments = server["spec"]["template"]["spec"]["containers"][0]["args"]
    shoal = next(one for one in arguments if one.startswith("shoal "))
    for_any_spider = shoal.replace("~*:", "~products:").replace("{*:", "{products:").split()[1:]
    assert for_any_spider == [word.replace(">secret", ">$(REDIS_PASSWORD)") for word in documented_rules()]


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[Server]:
    """A mongod that asks for passwords, with the documented roles and a user of each."""
    service = replace(MONGOD, arguments=lambda data, port: [*MONGOD.arguments(data, port), "--auth"])
    server = Server(service, tmp_path)
    async with AsyncMongoClient[dict[str, Any]](server.url) as client:
        await client.admin.command("createUser", "root", pwd="s3cret", roles=["root"])
    async with AsyncMongoClient[dict[str, Any]](server.url, username="root", password="s3cret") as client:
        for user, name in (("worker", "shoalWorker"), ("reader", "shoalReader")):
            role = documented_role(name)
            await client.shoal.command("createRole", role.pop("role"), **role)
            await client.shoal.command("createUser", user, pwd="s3cret", roles=[name])
    yield server
    server.kill()


def storage_settings(server: Server, user: str) -> Settings:
    settings = shipped()
    where = urlsplit(server.url)
    uri = f"mongodb://{user}:s3cret@{where.hostname}:{where.port}/shoal?heartbeatFrequencyMS=500"
    settings.set("MONGODB_URI", uri, priority="cmdline")
    return settings


async def test_the_documented_roles_of_mongodb_suffice_and_allow_nothing_else(guarded: Server, tmp_path: Path) -> None:
    settings = storage_settings(guarded, "worker")
    stats, config = RecordedStats(), StorageConfig.from_settings(settings)
    async with storage.session(settings) as database:
        await migrations.apply(database, await migrations.plan(database, config), at(0))
        writer = Writer(Repository(database, config, stats), config, MongoOutage(stats, "here", 1))
        await writer.open()
        for second, price in enumerate(("10.00", "12.00")):
            await writer.store(seen(second, price))
        await writer.reject(seen(0, title=None), ["missing_title: title = None"])
        await writer.close()
        await attempts.ensure(database, 7)
        await attempts.ensure(database, 3)
        archiving = ArchiveConfig(keep=Keep.ALL, directory=tmp_path / "archive", file_bytes=1, keep_bytes=1)
        archive = Archive(archiving, Index(database), Store(archiving), stats)
        await archive.open()
        await archive.add(page(1))
        await archive.close()
        assert (stats.values["storage/errors"], stats.values["archive/errors"]) == (0, 0)
        for refused in (database.drop_collection("products"), database.client["other"].things.find_one()):
            with pytest.raises(OperationFailure, match="not authorized"):
                await refused
    async with storage.session(storage_settings(guarded, "reader")) as database:
        assert await reader.count(database, "products", {}) == 1
        assert len(await quality.by_spider(database, "products", ["title"], {})) == 1
        with pytest.raises(OperationFailure, match="not authorized"):
            await database.products.insert_one({"_id": "x"})


async def test_a_user_of_mongodb_that_is_made_anew_is_logged_in_again(guarded: Server) -> None:
    """Connections of the old one stay refused."""
    settings = storage_settings(guarded, "worker")
    settings.set("STORAGE_RETRY_MAX_SECONDS", 0.3, priority="cmdline")
    outage = MongoOutage(RecordedStats(), "here", 0.3)
    async with (
        AsyncMongoClient[dict[str, Any]](guarded.url, username="root", password="s3cret") as root,
        storage.session(settings) as database,
        asyncio.timeout(60),
    ):
        await database.products.insert_one({"_id": "before"})
        await root.shoal.command("dropUser", "worker")
        with pytest.raises(OperationFailure, match=r"requires authentication|Authentication failed"):
            await database.products.find_one()
        await root.shoal.command("createUser", "worker", pwd="s3cret", roles=["shoalWorker"])
        await outage.insist(lambda: database.products.insert_one({"_id": "after"}))


@pytest.mark.parametrize(
    ("taken", "given"),
    [({"roles": []}, {"roles": ["shoalWorker"]}), ({"pwd": "another"}, {"pwd": "s3cret"})],
    ids=["role", "password"],
)
async def test_items_wait_until_what_was_taken_from_the_user_of_mongodb_is_given_back(
    guarded: Server, caplog: pytest.LogCaptureFixture, taken: dict[str, Any], given: dict[str, Any]
) -> None:
    settings = storage_settings(guarded, "worker")
    settings.set("STORAGE_RETRY_MAX_SECONDS", 0.3, priority="cmdline")
    async with (
        AsyncMongoClient[dict[str, Any]](guarded.url, username="root", password="s3cret") as root,
        storage.session(settings) as database,
        asyncio.timeout(60),
    ):
        writer = a_writer(database, RecordedStats(), retry_max_seconds=0.3)
        await writer.open()
        await writer.store(seen(1))
        await root.shoal.command("updateUser", "worker", **taken)
        await asyncio.sleep(0.2)  # idle for 0.1 s a connection closes; in use it outlives its password
        waiting = asyncio.create_task(writer.store(seen(2, "11.00")))
        await until(lambda: "the user of MONGODB_URI" in caplog.text)
        assert not waiting.done()
        await root.shoal.command("updateUser", "worker", **given)
        assert await waiting is StoreResult.CHANGED
        await writer.close()


async def test_the_attempts_log_is_logged_in_again_too(guarded: Server) -> None:
    """It writes each second, and would never let its connection become idle."""
    settings = storage_settings(guarded, "worker")
    settings.set("STORAGE_RETRY_MAX_SECONDS", 6, priority="cmdline")
    stats = RecordedStats()
    async with (
        AsyncMongoClient[dict[str, Any]](guarded.url, username="root", password="s3cret") as root,
        storage.session(settings) as database,
        asyncio.timeout(60),
    ):
        log = attempts.AttemptsLog(database, attempts.AttemptsConfig(), stats, Random(1))
        log.open()
        for made, name in enumerate(("before", "after"), 1):
            log.add(lambda name=name: lambda: {"at": datetime.now(UTC), "url": name})  # type: ignore[misc]
            while stats.values[names.ATTEMPTS] < made:
                await asyncio.sleep(0.1)
                if made == 1 and stats.values[names.ATTEMPTS]:
                    await root.shoal.command("dropUser", "worker")
                    await root.shoal.command("createUser", "worker", pwd="s3cret", roles=["shoalWorker"])
        await log.close()
        assert [row["url"] async for row in root.shoal.attempts.find().sort("url")] == ["after", "before"]
