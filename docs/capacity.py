"""Writes docs/capacity.md: what a fleet needs, worked out from the figures that the benchmarks have written."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.document import rows, table  # noqa: E402

DOCS: Final = ROOT / "docs"
FILE: Final = DOCS / "capacity.md"
DAY_SECONDS: Final = 86_400
PEAK: Final = 2.0  # the busiest hour over the mean
BUSY: Final = 0.6  # of a core: beyond that queues build up
REDIS_BUSY: Final = 0.5  # of the main thread: the other half is for rewrites of its journal and looks of operators
CORE_HOUR: Final = 0.04  # USD; prices of a large cloud's list, yours differ
GB_MONTH: Final = 0.023  # USD, in an object store
SEEN_DAYS: Final = 30
SIMULATED: Final = DOCS / "benchmarks-fleet.md"
SHOWN: Final = (0, 1, 2, 3, 4, 6, 7, 9, 10)  # columns of its table
SHOWN_HEAD: Final = (
    *("workers", "slots each", "Redis shards", "pages/s at first", "most pages limited by", "done in a day"),
    *("of what is allowed", "lease calls/s", "Redis busy"),
)
SIZES: Final = (1, 10, 100, 1_000)  # million pages a day


@dataclass(frozen=True, slots=True)
class Measured:
    """Per page: CPU-ms of a worker for a static page, and for a first visit to a host over TLS; µs of Redis; bytes per
    queued, per seen URL, and in all with a hundred URLs a host; documents a second that one MongoDB takes."""

    page_ms: float
    wide_ms: float
    redis_us: float
    queued_bytes: float
    seen_bytes: float
    whole_bytes: float
    documents: float

    @classmethod
    def read(cls) -> Measured:
        """From the tables in docs/."""
        crawl = _row(DOCS / "benchmarks.md", "crawl", "Shoal")
        wide = _row(DOCS / "benchmarks-wide.md", "links-20", "Shoal")
        redis = _row(DOCS / "benchmarks-frontier.md", "speed", "Shoal")
        memory = _row(DOCS / "benchmarks-frontier.md", "memory", "Shoal")
        stored = next(row for row in table("storage", DOCS / "benchmarks-storage.md") if row[:2] == ["mixed", "Shoal"])
        return cls(
            page_ms=_number(crawl[1]),
            wide_ms=_number(wide[1]),
            redis_us=_number(redis[-1]),
            queued_bytes=_number(memory[4]),
            seen_bytes=_number(memory[5]),
            whole_bytes=_number(memory[6]),
            documents=_number(stored[2]),
        )


@dataclass(frozen=True, slots=True)
class Simulated:
    """A million hosts: us of Redis for a page, in batches and leased alone, bytes of a host and of a URL queued and
    seen; and each fleet's day."""

    page_us: float
    alone_us: float
    host_bytes: float
    url_bytes: float
    fleets: list[list[str]]

    @classmethod
    def read(cls) -> Simulated:
        """From what benchmarks/simulate_fleet.py has written."""
        paid = table("redis", SIMULATED)[0]
        return cls(_number(paid[1]), _number(paid[2]), _number(paid[4]), _number(paid[5]), table("fleet", SIMULATED))


@dataclass(frozen=True, slots=True)
class Kept:
    """Bytes of a product and of a change of its price, as BSON and on disk; of saved pages by size: KB as gzip and in
    the archive, CPU-ms of the product and the links."""

    product: tuple[float, float]
    change: tuple[float, float]
    pages: dict[str, tuple[float, float, float]]

    @classmethod
    def read(cls) -> Kept:
        """From what benchmarks/kept.py has written."""
        product, change = ((_number(row[1]), _number(row[2])) for row in table("kept", DOCS / "benchmarks-storage.md"))
        rows = table("pages", DOCS / "benchmarks-storage.md")
        sizes = {row[0]: (_number(row[3]), _number(row[4]), _number(row[5])) for row in rows}
        return cls(product, change, sizes)

    @property
    def page_kb(self) -> float:
        """On the wire."""
        return self.pages["all"][0]


def _row(file: Path, section: str, first: str) -> list[str]:
    found = [row for row in table(section, file) if row[0].startswith(first)]
    if not found:
        raise ValueError(f"{file.name} has no row {first!r} in section {section!r}")
    return found[0]


def _number(cell: str) -> float:
    return float(cell.replace(",", "").split()[0])


def needs(measured: Measured, millions: int, redis_us: float = 0.0, page_kb: float = 100.0) -> list[str]:
    """One row: what so many million pages a day need at their peak; *redis_us*: a page's, if that is more."""
    mean = millions * 1e6 / DAY_SECONDS
    peak = mean * PEAK
    shards = peak * max(measured.redis_us, redis_us) / 1e6 / REDIS_BUSY
    memory = millions * 1e6 * (measured.queued_bytes + SEEN_DAYS * measured.seen_bytes) / 1e9
    return [
        f"{millions:,}",
        f"{mean:,.0f}",
        _cores(peak * measured.page_ms),
        _cores(peak * measured.wide_ms),
        f"{max(1, -(-shards // 1)):,.0f}",
        f"{memory:,.1f}",
        f"{max(1, -(-peak / measured.documents // 1)):,.0f}",
        f"{peak * page_kb * 8 / 1e6:,.1f}",
    ]


def _cores(ms_a_second: float) -> str:
    return f"{max(1, -(-ms_a_second / 1000 / BUSY // 1)):,.0f}"


def million(name: str, cpu_ms: float, wire_kb: float, archive_kb: float) -> list[str]:
    """One row: what a million pages of a kind cost."""
    hours = cpu_ms * 1e6 / 1000 / 3600 / BUSY
    kept = archive_kb * 1e6 / 1e6
    cost = hours * CORE_HOUR, kept * GB_MONTH
    return [name, f"{cpu_ms:.1f}", f"{hours:.1f}", f"{wire_kb:.0f}", f"{kept:.0f}", f"{cost[0]:.2f}", f"{cost[1]:.2f}"]


def millions(measured: Measured, kept: Kept) -> str:
    """What a million pages cost, by kind and size."""
    head = [
        *("pages", "CPU ms a page", "core-hours", "GB in", "GB in the archive"),
        *("USD of cores", "USD a month of archive"),
    ]
    found = [million("static, 20 KB", measured.page_ms, 20, 0)]
    found += [
        million(f"{name} product pages", measured.wide_ms + cpu, wire, archive)
        for name, (wire, archive, cpu) in kept.pages.items()
        if name != "all"
    ]
    return rows(head, found)


def document(measured: Measured, simulated: Simulated, kept: Kept) -> str:
    """The whole page."""
    head = [
        *("million pages a day", "pages/s", "worker cores, static pages", "worker cores, wide crawl", "Redis shards"),
        *("Redis GB", "MongoDB primaries", "Gbit/s"),
    ]
    redis_us = max(measured.redis_us, simulated.page_us)
    ceiling = REDIS_BUSY / redis_us * 1e6
    fleets = [[row[at] for at in SHOWN] for row in simulated.fleets]
    whole = (1e6 * simulated.host_bytes + 1e8 * simulated.url_bytes) / 1e9
    return f"""# Capacity

Written by `make docs` from the figures in the benchmarks; change `docs/capacity.py`, not this page. It answers "how many", to
within a factor of two: measure your own pages before you buy.

{rows(head, [needs(measured, size, redis_us, kept.page_kb) for size in SIZES])}

- **At the peak**, taken as {PEAK:g} times the mean; a core is used to {BUSY:.0%}, Redis' main thread to {REDIS_BUSY:.0%}.
- **Worker cores**: {measured.page_ms:g} CPU-ms for a static page of 20 KB that is stored ([benchmarks.md](benchmarks.md)), {measured.wide_ms:g} for a page of a
  crawl over many hosts with TLS, robots.txt and links ([benchmarks-wide.md](benchmarks-wide.md)). Pages of your own cost their
  extraction on top ([extraction.md](extraction.md)), and pages in a browser far more ([browser.md](browser.md)).
- **Redis shards**: {measured.redis_us:g} µs of the main thread a page, through the whole cycle ([benchmarks-frontier.md](benchmarks-frontier.md)), and
  {simulated.page_us:g} with a million hosts ([benchmarks-fleet.md](benchmarks-fleet.md)); at the larger of the two one takes {ceiling:,.0f} pages a second. More
  than one needs a Cluster.
- **Redis GB**: a day's URLs queued ({measured.queued_bytes:g} bytes each) and {SEEN_DAYS} days' seen ({measured.seen_bytes:g} each). Give it as much again for
  rewriting its journal.
- **MongoDB primaries**: {measured.documents:,.0f} documents a second through one worker's writer on a local server
  ([benchmarks-storage.md](benchmarks-storage.md)); beyond one, shard ([production.md](production.md)).
- **Gbit/s**: {kept.page_kb:.0f} KB a page on the wire, the mean of saved product pages.

What saturates first: politeness. A host with a delay of a second gives 86,400 pages a day, however many workers there are; a million pages
a day need 12 such hosts at once, all day. Then worker cores, which grow by adding pods. Then the main thread of Redis, at some
{ceiling * DAY_SECONDS / PEAK / 1e6:,.0f} million pages a day and shard.

## What a million pages cost

{millions(measured, kept)}

- CPU of a worker with TLS and robots.txt, and reading the product and the links of saved pages by thirds of their size
  ([benchmarks-storage.md](benchmarks-storage.md)); a core is used to {BUSY:.0%}. Redis adds {redis_us / 3600:.2f} hours of its main thread.
- At {CORE_HOUR:g} USD a core-hour and {GB_MONTH:g} USD a GB and month, list prices of a large cloud; what comes in is mostly free there. Proxies,
  browsers and APIs cost far more than all of this where they are needed: `scrapy status` counts them.
- **MongoDB** per million: {kept.product[0] / 1000:.2f} GB of products as BSON, {kept.product[1] / 1000:.2f} GB on disk with indexes where texts repeat as in the
  benchmark; a million changes of price {kept.change[0] / 1000:.2f} and {kept.change[1] / 1000:.2f} GB. **Redis** per million: {measured.queued_bytes / 1000:.2f} GB queued, {measured.seen_bytes / 1000:.3f} GB seen.

## The largest rows, simulated

`make bench-fleet` lets fleets crawl 1,000,000 hosts and 100,000,000 URLs in simulated time: the frontier's own choice of hosts, at the costs measured
here ([benchmarks-fleet.md](benchmarks-fleet.md)). All queued at once they take {whole:,.1f} GB of Redis, {simulated.host_bytes:,.0f} bytes a host and {simulated.url_bytes:g} a URL.

{rows(SHOWN_HEAD, fleets)}

- "Allowed" is what delays and CPUs permit in a day. What is missing then lies on the few largest hosts, which no worker speeds up.
- **Slots** saturate before the CPU where sites answer slowly: a fleet needs `pages/s × seconds of an answer` of them, and
  `CONCURRENT_REQUESTS` is 32 by default.
- **Lease calls** are few while the fleet is the limit. Where hosts are, workers ask as soon as one may be due and get a request or two, which costs
  Redis up to {simulated.alone_us:g} µs each in place of {simulated.page_us:g}; the table does not count that. The cure is fewer workers, as the
  [scaling signal](metrics.md#scaling) wants them.

Not measured: fleets of more than a handful of real workers, and clusters of more than six nodes.
"""


def main() -> None:
    """Write docs/capacity.md."""
    FILE.write_text(document(Measured.read(), Simulated.read(), Kept.read()))


if __name__ == "__main__":
    main()
