"""`make bench-kept PAGES=DIR`: what a page leaves on disk, and costs by its size; into docs/benchmarks-storage.md.

Documents are those of `make bench-storage`, 1 KB each: stored by the pipelines, then once more with another price, and
measured by collStats after a checkpoint, indexes included. Pages are saved ones (make extraction), by thirds of their
size: gzip is about what comes over the wire, the archive's record has its headers too, and CPU is that of the product
and the links, the best of a few rounds, on top of what fetching costs.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import Any, Final

import pymongo
from scrapy.settings import Settings

from benchmarks import document, storage
from crawler.extraction import Document, extract_product, links
from crawler.storage.archive.records import Page, WarcRecord, digest, encode, new_id
from demo import scoring
from demo.arguments import whole

ROUNDS: Final = 3
COLLECTIONS: Final = {"products": "a product", "product_changes": "a change of price"}
GZIP: Final = 6  # as servers compress


async def stored(settings: Settings, items: int) -> dict[str, tuple[float, float]]:
    """By collection: bytes of a document as BSON, and on disk with its share of the indexes."""
    async with storage.database(settings) as manager:
        for name, products in storage.visits(items):
            if name in {"new", "changed"}:
                await storage.measure(manager, products)
        with pymongo.MongoClient[dict[str, Any]](settings["MONGODB_URI"]) as client:
            client.admin.command("fsync")
            database = client[settings["MONGODB_DATABASE"]]
            found = {name: database.command("collStats", name) for name in COLLECTIONS}
    return {
        name: (one["size"] / one["count"], (one["storageSize"] + one["totalIndexSize"]) / one["count"])
        for name, one in found.items()
    }


def of_pages(pages: Sequence[scoring.Page]) -> list[list[str]]:
    """A row for each third of *pages* by size, and one for all: KB of HTML, gzip and archive; CPU-ms."""
    ordered = sorted(pages, key=lambda page: len(page.html))
    third = -(-len(ordered) // 3)
    groups = {"small": ordered[:third], "middle": ordered[third : 2 * third], "large": ordered[2 * third :]}
    return [_row(name, group) for name, group in (groups | {"all": ordered}).items() if group]


def _row(name: str, pages: Sequence[scoring.Page]) -> list[str]:
    bodies = [page.html for page in pages]
    records = [_record(page.url, body) for page, body in zip(pages, bodies, strict=True)]
    sizes = (bodies, [gzip.compress(body, GZIP) for body in bodies], records)
    kilobytes = [f"{mean(map(len, one)) / 1000:,.1f}" for one in sizes]
    return [name, str(len(pages)), *kilobytes, f"{mean(map(_cpu_ms, pages)):.1f}"]


def _record(url: str, body: bytes) -> bytes:
    headers = (("Content-Type", "text/html; charset=utf-8"), ("Server", "nginx"), ("Cache-Control", "no-cache"))
    page = Page(
        url=url,
        status=200,
        headers=headers,
        body=body,
        fetched_at=datetime.now(UTC),
        spider="products",
        worker="worker-1",
        tier="http",
    )
    return encode(WarcRecord(new_id(), digest(body), page))


def _cpu_ms(page: scoring.Page) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        read = Document(page.html, page.url)
        extract_product(read, page.url)
        links(read, page.url)
        best = min(best, time.process_time() - began)
    return best * 1000


def publish(found: dict[str, tuple[float, float]], rows: list[list[str]]) -> None:
    """Write the sections."""
    kept = [[COLLECTIONS[name], f"{size:,.0f}", f"{disk:,.0f}"] for name, (size, disk) in found.items()]
    text = f"## What is kept\n\n{(__doc__ or '').partition(chr(10))[2].strip()}\n\n"
    text += document.rows(("", "bytes as BSON", "bytes on disk"), kept)
    document.write("kept", f"{text}\n\n{document.machine('pymongo')}.", storage.DOCUMENT)
    if rows:
        head = ("pages", "number", "KB of HTML", "KB as gzip", "KB in the archive", "CPU ms of product and links")
        document.write("pages", f"## Pages by size\n\n{document.rows(head, rows)}", storage.DOCUMENT)


def main() -> int:
    """A minute; exit status 2 for a folder without pages."""
    parser = argparse.ArgumentParser(prog="benchmarks.kept", description="What a page leaves on disk")
    parser.add_argument("folder", type=Path, nargs="?", help="of saved pages, as for `make extraction`")
    parser.add_argument("--items", type=whole(100), default=20_000)
    given = parser.parse_args()
    try:
        pages = scoring.load(given.folder) if given.folder else []
    except (OSError, ValueError) as error:
        parser.error(f"{given.folder} is no folder of saved pages (truth.json and html/): {error}")
    base = storage.bundled_settings()
    found = storage.with_pipelines(
        base, base["FRONTIER_ITEM_PIPELINES"], lambda settings: stored(settings, given.items)
    )
    publish(found, of_pages(pages))
    return 0


if __name__ == "__main__":
    sys.exit(main())
