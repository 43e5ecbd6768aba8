"""Bytes per URL.

Queued and seen are the figures of `scrapy status` (`Inspection.sizes`): MEMORY USAGE of a sample of the keys, the mean
of many samples, beside MEMORY USAGE of scrapy-redis' two keys. "In all" is the growth of used_memory per URL queued and
seen, including host records, indexes and the allocator's rounding. In window mode a seen URL has its time; a Bloom
filter has a fixed size, so its seen URLs only show in used_memory.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import redis

from benchmarks import document
from benchmarks.crawl import SHOAL, STOCK
from benchmarks.frontier_bed import DOCUMENT, Ours, Shape, Stock, emptied
from crawler.frontier.config import DEDUPE_MODES, FrontierConfig
from crawler.frontier.server.server_check import TUNING

QUEUED_BAR: Final = 180
SEEN_BAR: Final = 10
DEFAULTS: Final = {"zset-max-listpack-value": 64, "set-max-intset-entries": 512}  # Valkey's own
LOOKS: Final = 25  # each at other keys
OTHERS: Final = (100, 10)  # how many times smaller the other sizes of the table are


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes per URL of one side, None where it cannot be told."""

    who: str
    urls: int
    settings: str
    dedupe: str
    queued: float | None
    seen: float | None
    whole: float


async def of_ours(ours: Ours, client: redis.Redis, settings: str = "tuned") -> Size:
    """Fill the frontier and measure it."""
    before = used_memory(client)
    await ours.fill(0, ours.shape.urls)
    looks = [await ours.frontier.inspection.sizes() for _ in range(LOOKS)]
    queued, seen = (_mean([look[at] for look in looks]) for at in (0, 1))
    whole = (used_memory(client) - before) / ours.shape.urls
    return Size(SHOAL, ours.shape.urls, settings, ours.frontier.config.dedupe, queued, seen, whole)


def of_stock(stock: Stock, settings: str = "tuned") -> Size:
    """Fill scrapy-redis' keys and measure them."""
    before = used_memory(stock.client)
    stock.fill(0, stock.shape.urls)
    queued, seen = (
        stock.client.memory_usage(key, samples=0) / stock.shape.urls for key in (stock.queue.key, stock.filter.key)
    )
    whole = (used_memory(stock.client) - before) / stock.shape.urls
    return Size(STOCK, stock.shape.urls, settings, "exact", queued, seen, whole)


async def others(url: str, client: redis.Redis, urls: int) -> list[Size]:
    """Smaller sizes, the server's own defaults, and the other modes of deduplication; each on an emptied server."""
    found: list[Size] = []
    for part in OTHERS:
        for settings, values in (("tuned", TUNING), ("defaults", DEFAULTS)):
            emptied(client)
            tune(client, values)
            found.append(await _one(url, client, urls // part, settings, "compact"))
            found.append(of_stock(Stock(client, Shape.of(urls // part)), settings))
    tune(client, TUNING)
    for mode in DEDUPE_MODES[1:]:
        emptied(client)
        found.append(await _one(url, client, urls // OTHERS[-1], "tuned", mode))
    emptied(client)
    return found


async def _one(url: str, client: redis.Redis, urls: int, settings: str, dedupe: str) -> Size:
    ours = Ours(url, Shape.of(urls), FrontierConfig(dedupe=dedupe, bloom_capacity=max(1_000, urls)))
    try:
        return await of_ours(ours, client, settings)
    finally:
        await ours.client.aclose()


def tune(client: redis.Redis, values: dict[str, int]) -> None:
    """Set the server up for compact keys, or not."""
    for name, value in values.items():
        client.config_set(name, value)


def used_memory(client: redis.Redis) -> int:
    """Bytes in use now."""
    info: Any = client.info("memory")
    return int(info["used_memory"])


def publish(sizes: Sequence[Size]) -> list[str]:
    """Write the section; the first of *sizes* is the one the bars are about. Returns those that were missed."""
    bars = sizes[0]
    head = ("", "URLs", "server", "dedupe", "per queued URL", "per seen URL", "in all")
    body = [
        [one.who, f"{one.urls:,}", one.settings, one.dedupe, *map(_bytes, (one.queued, one.seen, one.whole))]
        for one in sizes
    ]
    missed = [
        f"{value:.1f} bytes per {what} URL, at most {bar} are wanted"
        for what, value, bar in (("queued", bars.queued, QUEUED_BAR), ("seen", bars.seen, SEEN_BAR))
        if value is None or value > bar
    ]
    tuned = ", ".join(f"{name} {value}" for name, value in TUNING.items())
    default = ", ".join(f"{name} {value}" for name, value in DEFAULTS.items())
    text = (
        f"## Memory\n\n{(__doc__ or '').strip()}\n\nTuned: {tuned} (what the bundled server and `Frontier.open` set); "
        f"defaults: {default}. A hundred URLs per host.\n\n{document.rows(head, body)}\n\n"
        f"Bars, for the first row: at most {QUEUED_BAR} per queued URL and {SEEN_BAR} per seen URL: "
        f"{'not met: ' + '; '.join(missed) if missed else 'met'}."
    )
    document.write("memory", text, DOCUMENT)
    return missed


def _mean(values: Sequence[float | None]) -> float | None:
    told = [value for value in values if value is not None]
    return statistics.mean(told) if told else None


def _bytes(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
