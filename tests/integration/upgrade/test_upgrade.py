"""This release reads what the previous one stored: nothing is lost or duplicated.

store/ was written by that release's own code (write_store.py). Times in it are those of the tests' clock.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from bson import json_util
from pymongo.asynchronous.database import AsyncDatabase
from scrapy import Request
from scrapy.http import JsonRequest

from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import PushOutcome
from crawler.frontier.state.cookie_jars import CookieJars
from crawler.frontier.state.proxy_health import ProxyHealth
from crawler.frontier.state.robots import CachedRobots
from crawler.frontier.state.seeds import Kind, Seeds
from crawler.frontier.state.tiers import Tiers
from crawler.policy.proxies.health import HealthPolicy, State
from crawler.policy.robots.responses import RobotsVerdict
from crawler.routing import codec
from crawler.routing.encoder import Encoder
from crawler.routing.fingerprint import RequestFingerprinter
from crawler.routing.tier_routing import TierRouting
from crawler.spiders.products import ProductsSpider
from crawler.storage import connection, writer_setup
from crawler.storage.config import StorageConfig
from crawler.storage.spool.claims import usage
from tests.integration.frontier.making import Timed, acked, handles
from tests.integration.storage.observing import KEPT, URL, RecordedStats, at, until
from tests.servers import ScrapyRunner
from tests.shipped import shipped
from tests.unit.frontier.fakes import Outage, Stats

STORE = Path(__file__).with_name("store")
EXPECTED: Mapping[str, Any] = json.loads((STORE / "expected.json").read_text())
URLS: Mapping[str, list[str]] = EXPECTED["urls"]
STREAMS = ("products", "products:browser")
STATES = ("leased", "queued", "queued:browser", "moved", "delayed", "delayed:browser", "suspect")
TO_DO = Counter(url for state in STATES for url in URLS[state])
HOST, ORIGIN = "queued.example", "http://queued.example"


async def load(client: Any) -> None:
    """Fill *client*'s server with what write_store.py has dumped."""
    for key, (kind, ttl, values) in json.loads((STORE / "redis.json").read_text()).items():
        name, value = key.encode("latin-1"), raw(values)
        if kind == "string":
            await client.set(name, value)
        elif kind == "hash":
            await client.hset(name, mapping=value)
        elif kind == "zset":
            await client.zadd(name, dict(value))
        else:
            await (client.rpush if kind == "list" else client.sadd)(name, *value)
        if ttl >= 0:
            await client.pexpire(name, ttl)


def raw(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("latin-1")
    if isinstance(value, dict):
        return {raw(name): raw(one) for name, one in value.items()}
    return [raw(one) for one in value] if isinstance(value, list) else value


async def of_today(client: Any, now: int, **config: Any) -> Timed:
    """This release, at the moment at which the other one ended."""
    made = Timed(client, **config)
    made.now = now
    await made.frontier.open()
    return made


@pytest.fixture
async def world(redis_client: Any) -> Timed:
    await load(redis_client)
    return await of_today(redis_client, EXPECTED["now"])


def encoder() -> Encoder:
    return Encoder(ProductsSpider, shipped("settings.test"), RequestFingerprinter(), TierRouting())


async def pushed(frontier: Frontier, url: str) -> PushOutcome:
    (outcome,) = await frontier.push([encoder().message(Request(url), generation="1", dedupe=True)])
    return outcome


def old_hosts() -> dict[str, dict[str, Any]]:
    """As the other release reported them, without the tiers' names."""
    return {name: {key: one[key] for key in one if key != "tier"} for name, one in EXPECTED["hosts"].items()}


async def test_the_counters_and_the_pace_of_each_host_are_those_of_before(world: Timed) -> None:
    inspection = world.frontier.inspection
    assert {name: asdict(one) for name, one in (await inspection.stats()).spiders.items()} == EXPECTED["stats"]
    hosts = {one.host: asdict(one) for one in await inspection.hosts(top=100)}
    assert {name: {key: one[key] for key in old_hosts()[name]} for name, one in hosts.items()} == old_hosts()
    assert {one.name for one in await world.frontier.workers.alive(60_000)} == {"fleet", "w"}


async def test_every_request_is_leased_once_and_decodes(world: Timed) -> None:
    spider, found = ProductsSpider(), dict[str, list[Request]]()
    for _ in range(200):
        batch = await world.frontier.lease(STREAMS, 100, worker="w", suspects_ok=True)
        for lease in batch.leases:
            request = codec.decode(lease.body, spider)
            found.setdefault(request.url, []).append(request)
        await world.frontier.start(handles(batch.leases))
        await acked(world.frontier, handles(batch.leases))
        await world.pass_ms(5_000)
    assert {url: len(requests) for url, requests in found.items()} == TO_DO
    stats = (await world.frontier.inspection.stats()).spiders["products"]
    before = EXPECTED["stats"]["products"]
    assert (stats.queued, stats.leased, stats.delayed, stats.dead) == (0, 0, 0, before["dead"])
    assert stats.done == before["done"] + TO_DO.total()
    assert stats.accepted == before["accepted"]
    assert await world.frontier.inspection.empty("products")
    look_at({url.removeprefix(ORIGIN): requests for url, requests in found.items()})


def look_at(found: Mapping[str, list[Request]]) -> None:
    """Whether requests came back with all that they had."""
    (form,), (data,) = found["/form"], found["/json"]
    again, meta = sorted(found["/meta"], key=lambda request: len(request.meta))
    assert (form.method, form.body, form.cb_kwargs) == ("POST", b"q=knife", {"page": 2})
    assert getattr(form.callback, "__name__", "") == getattr(meta.errback, "__name__", "") == "parse"
    assert isinstance(data, JsonRequest)
    assert (data.body, data.headers["X-Shop"]) == (b'{"q": ["knife"]}', b"1")
    assert (meta.meta["note"], meta.meta["when"].year, meta.cookies, meta.flags) == ("kept", 2026, {"a": "b"}, ["f"])
    assert (again.dont_filter, again.encoding) == (True, "latin-1")
    assert found["/low"][0].priority == -5


async def test_a_host_that_was_left_alone_is_left_alone_as_long(world: Timed) -> None:
    due: dict[str, int] = {}
    start = world.now
    for _ in range(60):
        for lease in (await world.frontier.lease(["products"], 100, worker="w")).leases:
            due.setdefault(lease.host, world.now - start)
            await acked(world.frontier, handles([lease]))
        await world.pass_ms(5_000)
    blocked = {name: EXPECTED["hosts"][name]["blocked_ms"] for name in ("limited.example", "faulty.example")}
    assert {name: due[name] // 5_000 for name in blocked} == {name: ms // 5_000 for name, ms in blocked.items()}
    assert due["nacked.example"] >= 55_000
    assert due["later.example"] >= 85_000


async def test_leases_of_workers_that_still_run_are_theirs(world: Timed) -> None:
    held = [(number, token) for number, token in EXPECTED["handles"].values()]
    assert await world.frontier.renew(held) == [True] * 3
    assert await acked(world.frontier, held) == [True] * 3
    assert await acked(world.frontier, held) == [False] * 3
    stats = (await world.frontier.inspection.stats()).spiders["products"]
    assert stats.done == EXPECTED["stats"]["products"]["done"] + 3
    assert stats.leased == 0


async def test_what_was_known_is_known(world: Timed) -> None:
    frontier = world.frontier
    assert await pushed(frontier, URLS["done"][0]) is PushOutcome.DUPLICATE
    assert await pushed(frontier, URLS["dead"][0]) is PushOutcome.DUPLICATE_DEAD
    assert await pushed(frontier, "http://new.example/") is PushOutcome.ACCEPTED
    assert await frontier.generations.current("products") == "1"


@pytest.mark.parametrize("mode", ["exact", "window", "bloom"])
async def test_what_was_known_in_another_mode_is_known(redis_client: Any, mode: str) -> None:
    await load(redis_client)
    expected = EXPECTED["modes"][mode]
    world = await of_today(redis_client, expected["now"], key=mode, dedupe=mode, bloom_capacity=1_000)
    frontier = world.frontier
    assert asdict((await frontier.inspection.stats()).spiders["products"]) == expected["stats"]["products"]
    for state, outcome in (("done", 1), ("queued", 1), ("dead", 2)):
        assert await pushed(frontier, expected["urls"][state][0]) == outcome
    (lease,) = await world.lease(streams=["products"])
    assert codec.decode(lease.body, ProductsSpider()).url == expected["urls"]["queued"][0]
    assert await acked(frontier, handles([lease])) == [True]
    if mode == "window":
        await world.pass_ms(86_400_000 + 2_000)
        assert await pushed(frontier, expected["urls"]["done"][0]) is PushOutcome.ACCEPTED


async def test_dead_letters_are_listed_and_tried_again(world: Timed) -> None:
    letters = await world.frontier.dead.find("products")
    (seed, *rest) = sorted(letters, key=lambda letter: letter.host)
    assert (seed.host, seed.body, seed.reason) == ("", b"no URL", "invalid_seed")
    assert [codec.url_of(letter.body) for letter in rest] == URLS["dead"]
    assert [(letter.reason, letter.status, letter.detail["number"]) for letter in rest] == [
        ("retries_exhausted", 404, number) for number in range(3)
    ]
    assert await world.frontier.dead.drop([rest[0].id]) == [True]
    assert await world.frontier.dead.retry([letter.id for letter in rest]) == [False, True, True]
    assert await pushed(world.frontier, URLS["dead"][0]) is PushOutcome.ACCEPTED
    await world.pass_ms(5_000)
    hosts = {lease.host for lease in await world.lease(streams=["products"])}
    assert {"dead0.example", "dead1.example", "dead2.example"} <= hosts


async def test_what_the_fleet_shares_is_there(world: Timed) -> None:
    frontier = world.frontier
    known = await frontier.robots.claim(HOST, ORIGIN, "other")
    assert isinstance(known, CachedRobots)
    assert (known.verdict, known.status) == (RobotsVerdict.RULES, 200)
    assert "Disallow: /private" in known.rules
    assert await frontier.robots.sitemaps(HOST) == {ORIGIN: [f"{ORIGIN}/sitemap.xml"]}
    assert await frontier.robots.claim("locked.example", "http://locked.example", "other") is None
    tiers = Tiers(frontier.shards, keep_ms=86_400_000)
    ((host, learned),) = (await tiers.changes()).items()
    assert (host, learned.tier, learned.ok) == (HOST, "browser", 3)
    assert await tiers.served("products") == {"http", "browser"}
    spent = await tiers.spent(world.now)
    assert (spent.requests["http"], spent.cost["browser"]) == (5, 20.5)
    assert (await jars(frontier).load(HOST, "a")).cookies == {"a": '{"value": "b"}'}
    health: Any = ProxyHealth
    assert await health(frontier.shards, HealthPolicy(), Stats()).sick("pool") == {"one": State.QUARANTINED}


def jars(frontier: Frontier) -> CookieJars:
    made: Any = CookieJars
    shared: CookieJars = made(frontier.shards, Outage(), 86_400_000)
    return shared


@pytest.mark.parametrize(("kind", "key"), [("list", "products"), ("set", "set"), ("zset", "zset")])
async def test_start_urls_that_a_dead_worker_held_are_handed_out(redis_client: Any, kind: Kind, key: str) -> None:
    await load(redis_client)
    leases = f"{{{key}:start_urls}}:leases"
    (held,) = await redis_client.zrange(leases, 0, -1)
    seeds = Seeds(redis_client, f"{key}:start_urls", kind)
    assert await seeds.pending() == 3
    await redis_client.zadd(leases, {held: 1})  # since long
    taken = await seeds.lease(10)
    assert sorted(seed.raw.decode() for seed in taken) == [f"http://start{number}.example/" for number in range(3)]
    assert await seeds.ack(taken) == 3
    assert await seeds.pending() == 0


async def test_the_commands_show_an_old_store(scrapy_with_servers: ScrapyRunner, world: Timed) -> None:
    assert world.frontier.shards.count == 1
    status = scrapy_with_servers.run("status")
    assert status.returncode == 0, status.stderr
    listed = scrapy_with_servers.run("dead", "list", "products")
    assert listed.returncode == 0, listed.stderr
    assert "retries_exhausted" in listed.stdout
    assert "invalid_seed" in listed.stdout


async def fill(database: AsyncDatabase[dict[str, Any]], *names: str) -> None:
    for name in names:
        await database[name].insert_many(json_util.loads((STORE / f"{name}.json").read_text()))


async def test_the_spool_is_replayed(
    mongo_database: AsyncDatabase[dict[str, Any]], mongodb_uri: str, tmp_path: Path
) -> None:
    await fill(mongo_database, "products")
    settings: dict[str, Any] = {"MONGODB_URI": mongodb_uri, "MONGODB_DATABASE": mongo_database.name}
    settings |= {"STORAGE_CONNECT_SECONDS": 10, "STORAGE_REPLY_SECONDS": 20, "STORAGE_RETRY_MAX_SECONDS": 15}
    config = StorageConfig(batch_ms=5, spool_dir=str(tmp_path), **KEPT)
    directory = writer_setup.spool_directory(settings, config)
    shutil.copytree(next((STORE / "spool").iterdir()), directory)
    client, stats = connection.connect(settings), RecordedStats()
    writer = writer_setup.writer(client, settings, config, stats, lambda reason: None)
    await writer.open()
    await until(lambda: not usage(directory).files)
    await writer.close()
    await client.close()

    assert stats.values["storage/spool/replayed"] == 4
    products = {each["_id"]: each async for each in mongo_database.products.find()}
    assert sorted(products) == [URL, "http://shop.example/p/2", "http://shop.example/p/stored"]
    assert (str(products[URL]["price"]), products[URL]["version"]) == ("3.00", 3)
    changes = await mongo_database.product_changes.find().sort("version", 1).to_list()
    assert [(one["_id"], one["at"]) for one in changes] == [(f"{URL}#{n}", at(n)) for n in (2, 3)]
    (rejected,) = await mongo_database.rejected_items.find().to_list()
    assert rejected["times"] == 1


async def test_archived_pages_are_parsed_again(
    mongo_database: AsyncDatabase[dict[str, Any]], scrapy_with_servers: ScrapyRunner, tmp_path: Path
) -> None:
    await fill(mongo_database, "archive", "archive_files")
    shutil.copytree(STORE / "archive", tmp_path / "archive")
    done = scrapy_with_servers.run("reparse", "products", "-s", f"ARCHIVE_DIR={tmp_path / 'archive'}")
    assert done.returncode == 0, done.stderr
    assert "6 pages parsed again" in " ".join(done.stdout.split())
    products = {each["_id"]: each async for each in mongo_database.products.find()}
    assert {url[-1]: str(each["price"]) for url, each in products.items()} == {"1": "1.50", "2": "2.50", "3": "3.50"}
    assert products["http://shop.example/p/2"]["version"] == 2
