"""Items per second and CPU per item of our pipelines, beside the pipeline that people write first.

    make bench-storage            or: python -m benchmarks.storage [--items N]

Both run behind Scrapy's own ItemPipelineManager in one process, on one mongod, with the same 1 KB products, event
loop and write concern (journaled): four visits each, in which all products are new, unchanged, changed in price,
and finally a mix of the three. CPU is that of this process, the MongoDB driver included, the server's not.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import resource
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pymongo
from bson.decimal128 import Decimal128
from rich.console import Console
from rich.table import Table
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.pipelines import ItemPipelineManager
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.misc import load_object
from scrapy.utils.project import get_project_settings

from crawler import embedded
from crawler.items import ProductItem

ROUNDS = 3
IN_FLIGHT = 2_000  # items that wait for storage at once: pages of a busy worker
START = datetime(2026, 1, 1, tzinfo=UTC)
OURS = "Shoal"
NAIVE = "update_one per item"


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


async def run(settings: Settings, items: int) -> dict[str, Figures]:
    """All visits of one pipeline, on an empty database."""
    client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(settings["MONGODB_URI"])
    client.drop_database(settings["MONGODB_DATABASE"])
    crawler = Crawler(Spider, settings)
    crawler.spider = Spider("benchmark")
    crawler.stats = MemoryStatsCollector(crawler)
    manager = ItemPipelineManager.from_crawler(crawler)
    await manager.open_spider_async()
    figures = {visit: await measure(manager, products) for visit, products in visits(items)}
    await manager.close_spider_async()
    client.drop_database(settings["MONGODB_DATABASE"])
    client.close()
    return figures


def table(results: dict[str, list[dict[str, Figures]]]) -> Table:
    """Medians over the rounds."""
    shown = Table(title=f"median of {ROUNDS} interleaved rounds")
    for column in ("visit", "pipeline", "items/s", "CPU ms/item"):
        shown.add_column(column, justify="left" if column in {"visit", "pipeline"} else "right")
    for visit in next(iter(results.values()))[0]:
        for name, rounds in results.items():
            speed = statistics.median(figures[visit].per_second for figures in rounds)
            cost = statistics.median(figures[visit].cpu_ms for figures in rounds)
            shown.add_row(visit, name, f"{speed:,.0f}", f"{cost:.3f}")
    return shown


def main() -> None:
    """Print the table, and the memory this process took at most."""
    parser = argparse.ArgumentParser(description="storage benchmark")
    parser.add_argument("--items", type=int, default=10_000)
    items = parser.parse_args().items
    base = get_project_settings()
    base.set("LOG_LEVEL", "WARNING")
    base.set("MONGODB_DATABASE", "shoal_benchmark")
    uri = base["MONGODB_URI"] or embedded.ensure(base["EMBEDDED_DATA_DIR"], redis=False).mongodb_uri
    base.set("MONGODB_URI", uri)
    contenders = {OURS: base["FRONTIER_ITEM_PIPELINES"], NAIVE: {NaivePipeline: 900}}
    results: dict[str, list[dict[str, Figures]]] = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, pipelines in contenders.items():
            settings = base.copy()
            settings.set("ITEM_PIPELINES", pipelines)
            with asyncio.Runner(loop_factory=load_object(settings["ASYNCIO_EVENT_LOOP"])) as runner:
                results[name].append(runner.run(run(settings, items)))
    console = Console()
    console.print(table(results))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    console.print(f"{items:,} items per visit, peak memory of this process {peak:.0f} MB")


if __name__ == "__main__":
    main()
