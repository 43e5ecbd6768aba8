"""Items per second and CPU per item of our pipelines, beside the usual first pipeline.

    make bench-storage            or: python -m benchmarks.storage [--items N] [--endurance N]

Both run behind Scrapy's own ItemPipelineManager in one process, on one mongod, with the same 1 KB products, event
loop, stats collector (a worker's, as Scrapy's own costs more than what it counts), garbage collection (as rare as in a
worker: GC_THRESHOLD) and write concern (journaled): four visits each, in which all products are new, unchanged, changed
in price, and finally a mix of the three. CPU is that of this process, the MongoDB driver included, the server's not.

Then 200,000 more pass through ours while its memory is monitored.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

import pymongo
from bson.decimal128 import Decimal128
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.pipelines import ItemPipelineManager
from scrapy.settings import Settings
from scrapy.utils.misc import load_object
from scrapy.utils.project import get_project_settings

from benchmarks import document
from benchmarks.storage_endurance import BAR, SMALLEST, Endurance, stream
from crawler import defaults, embedded
from crawler.addon import complete
from crawler.items import ProductItem
from demo.arguments import whole

ROUNDS = 3
IN_FLIGHT = 2_000  # items that wait for storage at once: pages of a busy worker
START = datetime(2026, 1, 1, tzinfo=UTC)
PER_SECOND_BAR = 5_000
CPU_BAR = 0.12
DOCUMENT = document.DOCUMENT.with_name("benchmarks-storage.md")
OURS = "Shoal"
NAIVE = "update_one per item"


R = TypeVar("R")
Results = dict[str, list[dict[str, "Figures"]]]


class NaivePipeline:
    """One blocking `update_one` per item: no history, no order, no validation."""

    def __init__(self, uri: str, database: str) -> None:
        self._client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(uri)
        concern = pymongo.WriteConcern(w=1, j=True)
        self._products = self._client.get_database(database, write_concern=concern)["products"]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NaivePipeline:
        return cls(crawler.settings["MONGODB_URI"], crawler.settings["MONGODB_DATABASE"])

    def process_item(self, item: Any) -> Any:
        values = asdict(item)
        values["price"] = Decimal128(values["price"])
        self._products.update_one({"_id": item.url}, {"$set": values}, upsert=True)
        return item

    def close_spider(self) -> None:
        self._client.close()


@dataclass(frozen=True)
class Figures:
    """One visit: its speed and its cost."""

    per_second: float
    cpu_ms: float


def product(number: int, visit: int, amount: Decimal) -> ProductItem:
    """A product of about 1 KB as it was at that visit."""
    url = f"https://shop.example/category/kitchen/p/{number}"
    return ProductItem(
        url=url,
        fetched_at=START + timedelta(hours=visit),
        title=f"Chef's knife number {number}, 20 cm, forged",
        price=amount,
        currency="EUR",
        availability="InStock",
        sku=f"KN-{number:06}",
        gtin="4006381333931",
        brand="Acme",
        rating=4.5,
        review_count=number % 300,
        image=f"https://shop.example/images/{number}.jpg",
        description="A forged blade that keeps its edge. " * 12,
        category="Home > Kitchen > Knives",
        found_in=dict.fromkeys(("title", "price", "currency", "sku"), "json-ld"),
        source={"spider": "products", "worker": "worker-1", "request_id": f"{number:016x}", "tier": "http"},
    )


def visits(items: int) -> Iterator[tuple[str, list[ProductItem]]]:
    """The products as each visit finds them."""
    yield "new", [product(n, 0, price(n, 0)) for n in range(items)]
    yield "unchanged", [product(n, 1, price(n, 0)) for n in range(items)]
    yield "changed", [product(n, 2, price(n, 2)) for n in range(items)]
    unknown, cheaper = range(0, items, 3), range(1, items, 3)
    third = [product(n + items, 3, price(n, 3)) for n in unknown] + [product(n, 3, price(n, 3)) for n in cheaper]
    yield "mixed", third + [product(n, 3, price(n, 2)) for n in range(2, items, 3)]


def price(number: int, visit: int) -> Decimal:
    """One of some thousand prices, a shop's usual variety."""
    return Decimal(number * 7 % 5_000 + 100 * visit) / 100 + Decimal("0.99")


async def measure(manager: ItemPipelineManager, products: Iterable[ProductItem]) -> Figures:
    """Send all through the pipelines, IN_FLIGHT at once."""
    waiting = iter(products)
    done = 0

    async def one_after_the_other() -> None:
        nonlocal done
        for item in waiting:
            await manager.process_item_async(item)
            done += 1

    gc.collect()
    gc.freeze()  # the products in waiting are the benchmark's, no worker holds so many
    cpu, clock = time.process_time(), time.perf_counter()
    await asyncio.gather(*(one_after_the_other() for _ in range(IN_FLIGHT)))
    return Figures(done / (time.perf_counter() - clock), (time.process_time() - cpu) * 1000 / done)


@asynccontextmanager
async def database(settings: Settings) -> AsyncIterator[ItemPipelineManager]:
    """The pipelines of *settings* on an empty database, which is dropped afterwards."""
    client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(settings["MONGODB_URI"])
    client.drop_database(settings["MONGODB_DATABASE"])
    crawler = Crawler(Spider, settings)
    crawler.spider = Spider("benchmark")
    crawler.stats = load_object(settings["STATS_CLASS"])(crawler)
    manager = ItemPipelineManager.from_crawler(crawler)
    await manager.open_spider_async()
    yield manager
    await manager.close_spider_async()
    client.drop_database(settings["MONGODB_DATABASE"])
    client.close()


async def run(settings: Settings, items: int) -> dict[str, Figures]:
    """All visits of one pipeline."""
    async with database(settings) as manager:
        return {visit: await measure(manager, products) for visit, products in visits(items)}


async def endure(settings: Settings, items: int) -> Endurance:
    """Send *items* through our pipelines and watch the memory."""
    found = Endurance(items)
    async with database(settings) as manager:
        products = stream(items, lambda number, visit: product(number, visit, price(number, visit)))
        await measure(manager, found.watched(products))
    return found


def medians(results: Results) -> list[list[str]]:
    """Of each visit and pipeline, over the rounds."""
    body = []
    for visit in next(iter(results.values()))[0]:
        for name, rounds in results.items():
            speed = statistics.median(figures[visit].per_second for figures in rounds)
            cost = statistics.median(figures[visit].cpu_ms for figures in rounds)
            body.append([visit, name, f"{speed:,.0f}", f"{cost:.3f}"])
    return body


def report(results: Results, endurance: Endurance) -> str:
    """The page's section; says of each bar whether it is met."""
    speed = statistics.median(figures["mixed"].per_second for figures in results[OURS])
    cost = statistics.median(figures["mixed"].cpu_ms for figures in results[OURS])
    bars = [
        ["mixed items per second", f"at least {PER_SECOND_BAR:,}", f"{speed:,.0f}", _met(speed >= PER_SECOND_BAR)],
        ["CPU ms per mixed item", f"at most {CPU_BAR}", f"{cost:.3f}", _met(cost <= CPU_BAR)],
        [
            f"memory over {endurance.items:,} items",
            f"at most {BAR} times",
            f"{endurance.growth:.3f} times, {endurance.samples[-1]:.0f} MB",
            _met(endurance.flat),
        ],
    ]
    return "\n\n".join(
        [
            "## Storage",
            *(__doc__ or "").strip().split("\n\n")[2:],
            document.rows(["visit", "pipeline", "items/s", "CPU ms/item"], medians(results)),
            f"Medians of {ROUNDS} rounds of each, in turns.",
            document.rows(["bar", "wanted", "measured", ""], bars),
            f"{document.machine('scrapy', 'pymongo')}.",
        ]
    )


def _met(met: bool) -> str:
    return "met" if met else "missed"


def main() -> int:
    """Measure, print, and write the page; exit status 1 when a bar is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.storage", description="storage benchmark")
    parser.add_argument("--items", type=whole(1), default=10_000)
    parser.add_argument("--endurance", type=whole(SMALLEST), default=200_000, help="items over which memory is watched")
    parser.add_argument("--no-write", dest="write", action="store_false", help="leave docs/benchmarks-storage.md alone")
    given = parser.parse_args()
    base = bundled_settings()
    gc.set_threshold(base.getint("GC_THRESHOLD"))
    contenders = {OURS: base["FRONTIER_ITEM_PIPELINES"], NAIVE: {NaivePipeline: 900}}
    results: Results = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, pipelines in contenders.items():
            results[name].append(with_pipelines(base, pipelines, lambda settings: run(settings, given.items)))
    endurance = with_pipelines(base, contenders[OURS], lambda settings: endure(settings, given.endurance))
    text = report(results, endurance)
    print(text)
    if given.write:
        document.write("storage", text, DOCUMENT)
    return text.count("| missed |") and 1


def bundled_settings() -> Settings:
    settings = get_project_settings()
    settings.set("LOG_LEVEL", "WARNING")
    settings.set("MONGODB_DATABASE", "shoal_benchmark")
    complete(settings)
    bundled = settings["EMBEDDED_DATA_DIR"]
    settings.set("MONGODB_URI", settings["MONGODB_URI"] or embedded.ensure(bundled, redis=False).mongodb_uri)
    return settings


def with_pipelines(base: Settings, pipelines: Any, work: Callable[[Settings], Coroutine[Any, Any, R]]) -> R:
    settings = base.copy()
    settings.set("ITEM_PIPELINES", pipelines)
    with asyncio.Runner(loop_factory=load_object(defaults.ASYNCIO_EVENT_LOOP)) as runner:
        return runner.run(work(settings))


if __name__ == "__main__":
    sys.exit(main())
