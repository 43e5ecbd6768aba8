"""Writes a small store with another checkout's code: what test_upgrade.py upgrades from.

    cd <checkout of the release> && python <this file> <an empty directory>

Run it once per release, with that checkout as the working directory; it uses that checkout's code and its tests'
clock. Hosts and pages are made up. Nothing here is imported by the tests.
"""

# mypy: ignore-errors
# Types are those of the other checkout.

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path.cwd()))

import redis.asyncio
from bson import json_util
from crawler.frontier.encoder import Encoder
from crawler.frontier.fingerprint import RequestFingerprinter
from crawler.frontier.guide import TierGuide
from crawler.frontier.outage import Outage
from crawler.frontier.proxy_health import ProxyHealth
from crawler.frontier.robots import Known
from crawler.frontier.seeds import Seeds
from crawler.frontier.sessions import Sessions
from crawler.frontier.tiers import Tiers
from scrapy import FormRequest, Request
from scrapy.http import JsonRequest
from scrapy.settings import Settings
from scrapy.statscollectors import StatsCollector
from scrapy.utils.test import get_crawler

from crawler.embedded.service import MONGOD
from crawler.policy.cookies import Changes
from crawler.policy.proxies.health import HealthPolicy
from crawler.policy.robots.responses import Verdict
from crawler.policy.tiers import Learned
from crawler.spiders.products import ProductsSpider
from crawler.storage import connection, writer_setup
from crawler.storage.archive.archive import Archive
from crawler.storage.archive.config import ArchiveConfig, Keep
from crawler.storage.archive.index import Index
from crawler.storage.archive.records import Page
from crawler.storage.archive.store import Store
from crawler.storage.config import StorageConfig
from tests import servers
from tests.integration.frontier.making import Timed, acked, answer, handles, open_generation, reported, timed
from tests.integration.storage.observing import RecordedStats, at, seen

STREAM = "products"


def encoder() -> Encoder:
    settings = Settings()
    settings.setmodule("settings.test")
    return Encoder(ProductsSpider, settings, RequestFingerprinter(), TierGuide())


class Writer:
    """Pushes requests and brings them into the states that a store can hold."""

    def __init__(self, world: Timed) -> None:
        self.world = world
        self.frontier = world.frontier
        self.encoder = encoder()
        self.handles: dict[str, Any] = {}  # of the leases that are left
        self.said: dict[str, list[str]] = {}  # URLs by the state that they are left in

    async def push(self, state: str, requests: Sequence[Request], generation: str = "1") -> list[Any]:
        made = [self.encoder.message(one, generation=generation, dedupe=not one.dont_filter) for one in requests]
        outcomes = await self.frontier.push(made)
        self.said.setdefault(state, []).extend(one.url for one in requests)
        return outcomes

    async def lease(self, state: str, url: str, **fields: Any) -> Any:
        """One request, pushed and leased at once: its host has nothing else."""
        await self.push(state, [Request(url)])
        (lease,) = await self.world.lease(1, [STREAM])
        assert url.encode() in lease.body, (url, lease)
        return lease

    async def finish(self, lease: Any, **how: Any) -> None:
        (handle,) = handles([lease])
        await self.frontier.start([handle])
        await reported(self.frontier, [answer(handle, how.pop("status", 200), latency_ms=120, **how)])

    async def fill(self) -> None:
        await open_generation(self.frontier, "products")
        await self.leave_suspect()
        await self.leave_paces()
        await self.leave_leases()
        await self.leave_letters()
        await self.leave_queue()

    async def leave_leases(self) -> None:
        finished = await self.lease("done", "http://done.example/1")
        await self.finish(finished)
        await acked(self.frontier, handles([finished]))
        leased = await self.lease("leased", "http://leased.example/1")
        started = await self.lease("leased", "http://started.example/1")
        await self.frontier.start(handles([started]))
        reported = await self.lease("leased", "http://reported.example/1")
        await self.finish(reported)
        self.handles = {one.host: handles([one])[0] for one in (leased, started, reported)}
        nacked = await self.lease("delayed", "http://nacked.example/1")
        await self.finish(nacked, status=500)
        await self.frontier.nack(nacked.id, nacked.token, delay_ms=60_000, reason="HTTP 500")
        moved = await self.lease("moved", "http://moved.example/1")
        await self.finish(moved)
        await self.frontier.move(moved.id, moved.token, stream="products:browser")
        moved = await self.lease("delayed:browser", "http://moved2.example/2")
        await self.finish(moved)
        await self.frontier.move(moved.id, moved.token, stream="products:browser", delay_ms=30_000)

    async def leave_letters(self) -> None:
        for number in range(3):
            lease = await self.lease("dead", f"http://dead{number}.example/1")
            await self.finish(lease, status=404)
            detail = {"error": "HTTP 404", "number": number}
            await self.frontier.bury(lease.id, lease.token, reason="retries_exhausted", detail=detail)
        await self.frontier.dead.bury_seed(b"no URL", spider="products", reason="invalid_seed", detail={"error": "x"})

    async def leave_paces(self) -> None:
        limited = await self.lease("limited", "http://limited.example/1")
        await self.finish(limited, status=429, retry_after_ms=120_000)
        await acked(self.frontier, handles([limited]))
        for number in range(5):
            faulty = await self.lease("faulty", f"http://faulty.example/{number}")
            await self.finish(faulty, status=503 if number == 4 else 500)
            await acked(self.frontier, handles([faulty]))
            await self.world.pass_ms(5_000)
        self.said["taken"] = ["taken.example"]
        assert (await self.frontier.take("taken.example", delay_ms=3_000, worker="w")).token

    async def leave_suspect(self) -> None:
        """Its worker died twice over it."""
        suspect = await self.lease("suspect", "http://suspect.example/1")
        for _ in range(2):
            await self.frontier.start(handles([suspect]))
            await self.world.pass_ms(130_000)
            suspect = next(iter(await self.world.lease(1, [STREAM])), suspect)

    async def leave_queue(self) -> None:
        host, parse = "http://queued.example", ProductsSpider.parse
        await self.push("queued", [Request(f"{host}/low", priority=-5)])
        await self.push("queued", [Request(f"{host}/{number}", priority=number) for number in range(3)])
        meta = {"note": "kept", "cookiejar": "a", "when": datetime(2026, 3, 1, tzinfo=UTC)}
        await self.push(
            "queued",
            [
                FormRequest(f"{host}/form", formdata={"q": "knife"}, callback=parse, cb_kwargs={"page": 2}),
                JsonRequest(f"{host}/json", data={"q": ["knife"]}, headers={"X-Shop": "1"}),
                Request(f"{host}/meta", meta=meta, cookies={"a": "b"}, flags=["f"], errback=parse),
                Request(f"{host}/meta", dont_filter=True, encoding="latin-1"),
            ],
        )
        await self.push("queued:browser", [Request(f"{host}/browser", meta={"min_tier": "browser"})])
        await self.push("queued", [Request("http://limited.example/2"), Request("http://faulty.example/9")])
        await self.push("queued", [Request("http://[2001:db8::1]/v6"), Request("http://shop.example:8080/port")])
        later = (self.world.now + 90_000) / 1000
        await self.push("delayed", [Request("http://later.example/1", meta={"not_before": later})])
        known = await self.push("known", [Request("http://done.example/1"), Request("http://dead0.example/1")])
        self.said["known"] = [str(one) for one in known]
        await self.push("queued", [Request("http://done.example/old")], generation="0")


async def state_of_fleet(world: Timed) -> None:
    frontier, host, origin = world.frontier, "queued.example", "http://queued.example"
    await frontier.census.heartbeat("w", {"spider": "products", "leases": 3}, ["products", "products:browser"])
    await frontier.robots.claim(host, origin, "w")
    rules = "User-agent: *\nDisallow: /private\nCrawl-delay: 4\n"
    known = Known(Verdict.RULES, 200, 3_600_000, rules, (f"{origin}/sitemap.xml",))
    await frontier.robots.keep(host, origin, "w", known, keep_ms=86_400_000)
    await frontier.robots.crawl_delay(host, origin, 4_000)
    await frontier.robots.claim("locked.example", "http://locked.example", "w")
    tiers = Tiers(frontier.shards, keep_ms=86_400_000)
    await tiers.learn(host, lambda _: Learned("browser", 0, 3, False, world.now + 3_600_000, 3_600_000))
    await tiers.spend({"http": 5, "browser": 2}, {"http": 5.0, "browser": 20.5})
    stats = StatsCollector(get_crawler())
    outage = Outage(stats, lambda low, high: low, lambda: None)
    await Sessions(frontier.shards, outage, 86_400_000).merge(host, "a", Changes({"a": '{"value": "b"}'}, (), 0))
    health = ProxyHealth(frontier.shards, HealthPolicy(), stats)
    await health.sick("pool")
    for _ in range(3):
        await health.failed("pool", "one")
    await health.failed("pool", "two", "queued.example")


async def start_urls(client: Any) -> None:
    urls = [f"http://start{number}.example/" for number in range(3)]
    await client.rpush("products:start_urls", *urls)
    await client.sadd("set:start_urls", *urls)
    await client.zadd("zset:start_urls", {url: number for number, url in enumerate(urls)})
    for kind, key in (("list", "products"), ("set", "set"), ("zset", "zset")):
        await Seeds(client, f"{key}:start_urls", kind).lease(1)


async def of_mode(client: Any, mode: str) -> dict[str, Any]:
    """Three URLs, of which one is done and one a dead letter."""
    made = Writer(await timed(client, key=mode, dedupe=mode, bloom_capacity=1_000))
    done = await made.lease("done", "http://done.example/1")
    await made.finish(done)
    await acked(made.frontier, handles([done]))
    dead = await made.lease("dead", "http://dead.example/1")
    await made.frontier.bury(dead.id, dead.token, reason="unknown_end")
    await made.push("queued", [Request("http://queued.example/1")])
    return {"urls": made.said, "now": made.world.now, "stats": asdict(await made.frontier.census.stats())["spiders"]}


async def write_redis(directory: Path) -> None:
    url = servers.start(Path(tempfile.mkdtemp()), redis=True).redis_url
    async with redis.asyncio.from_url(url) as client:
        await client.flushall()
        made = Writer(await timed(client))
        await made.frontier.open()
        await made.fill()
        await state_of_fleet(made.world)
        await start_urls(client)
        census = made.frontier.census
        expected = {
            "now": made.world.now,
            "urls": made.said,
            "handles": made.handles,
            "stats": asdict(await census.stats())["spiders"],
            "hosts": {one.host: asdict(one) for one in await census.hosts(top=100)},
            "modes": {mode: await of_mode(client, mode) for mode in ("exact", "window", "bloom")},
        }
        dumped = {key.decode("latin-1"): await dump(client, key) for key in sorted(await client.keys())}
    (directory / "expected.json").write_text(json.dumps(expected, indent=1, default=str) + "\n")
    (directory / "redis.json").write_text(json.dumps(dumped, indent=1) + "\n")


async def dump(client: Any, key: bytes) -> list[Any]:
    """Type, ms to live (-1: for good), values; bytes as latin-1, so that a difference can be read."""
    kind, ttl = (await client.type(key)).decode(), await client.pttl(key)
    read: Any = {
        "string": client.get,
        "list": lambda name: client.lrange(name, 0, -1),
        "set": client.smembers,
        "hash": client.hgetall,
        "zset": lambda name: client.zrange(name, 0, -1, withscores=True),
    }
    return [kind, ttl, plain(await read[kind](key))]


def plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, dict):
        return {plain(name): plain(one) for name, one in sorted(value.items())}
    if isinstance(value, set):
        return [plain(one) for one in sorted(value)]
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


async def write_storage(directory: Path) -> None:
    data = Path(tempfile.mkdtemp())
    mongod = servers.Server(MONGOD, data)
    settings = {"MONGODB_URI": mongod.url, "MONGODB_DATABASE": "upgrade", "STORAGE_CONNECT_SECONDS": 2}
    settings |= {"STORAGE_REPLY_SECONDS": 20, "STORAGE_RETRY_MAX_SECONDS": 15}
    try:
        client = connection.connect(settings)
        config = StorageConfig(batch_ms=5, retry_max_seconds=0.2, spool_dir=str(directory / "spool"))
        writer = writer_setup.writer(client, settings, config, RecordedStats(), lambda reason: None)
        await writer.open()
        await writer.store(seen(1, "1.00"))
        await writer.store(seen(1, "5.00", url="http://shop.example/p/stored"))
        async with connection.session(settings) as database:
            await write_archive(directory / "archive", database)
            for name in ("archive", "archive_files", "products"):
                found = await database[name].find().to_list()
                (directory / f"{name}.json").write_text(json_util.dumps(found, indent=1) + "\n")
        await asyncio.to_thread(mongod.kill)
        await writer.store(seen(2, "2.00"))
        await writer.store(seen(3, "3.00"))
        await writer.store(seen(4, url="http://shop.example/p/2", description="a knife"))
        await writer.reject(seen(5, "-1"), ["negative_price: price = -1"])
    finally:
        mongod.kill()
    os._exit(0)  # as a worker that was killed


async def write_archive(directory: Path, database: Any) -> None:
    config = ArchiveConfig(keep=Keep.ALL, directory=directory)
    for number in (1, 2):  # the second is left open
        index = Index(database)
        await index.ensure()
        archive = Archive(config, index, Store(config), RecordedStats())
        await archive.open()
        for page in (1, 2):
            await archive.add(archived(page, number))
        await archive.add(archived(3, number), failed="ValueError: no title")
        if number == 1:
            await archive.close()
    await asyncio.sleep(1)


PRODUCT = """<html><head><script type="application/ld+json">{{"@context": "https://schema.org", "@type": "Product",
"name": "Knife {0}", "sku": "K{0}", "offers": {{"@type": "Offer", "price": "{1}.50", "priceCurrency": "EUR"}}}}
</script></head><body><h1>Knife {0}</h1></body></html>"""


def archived(page: int, number: int) -> Page:
    """Only the second page has changed when it is fetched again."""
    return Page(
        url=f"http://shop.example/p/{page}",
        status=200,
        headers=[("Content-Type", "text/html; charset=utf-8")],
        body=PRODUCT.format(page, number if page == 2 else page).encode(),
        fetched_at=at(10 * number + page),
        spider="products",
        request_id=f"0:{page}",
    )


if __name__ == "__main__":
    target = Path(sys.argv[1]).absolute()
    asyncio.run(write_redis(target))
    asyncio.run(write_storage(target))
