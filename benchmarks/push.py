"""`make bench-push`: what `scrapy push` takes, into an empty frontier; writes docs/benchmarks-push.md.

CPU is that of the command alone, without the second in which every command loads: Redis works on a core of
its own. Its share is told beside it, and what the clock said. URLs have about 85 characters and come in runs of 16 of
one host, 2,000 hosts in turn; "100,000 hosts" come in no order, so that nothing known of a host serves twice. "Mixed"
has of a hundred URLs ten that must be looked at by all of Scrapy: escapes in the query, a fragment, a port, a tracking
parameter. The memory is the largest that the process had.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import redis
from backports import zstd

from benchmarks import document
from benchmarks.crawl import PROJECT
from crawler import embedded
from demo.arguments import whole

HOME: Final = PROJECT / ".demo" / "push"
DOCUMENT: Final = PROJECT / "docs" / "benchmarks-push.md"
BAR: Final = 50_000  # URLs a second
BAR_MB: Final = 100
HOSTS: Final = 2_000
# What turns a plain URL into one that all of Scrapy must look at: what stands in it, and what in its place.
ODD: Final = (
    ("?variant=2", "?q=a%20b"),
    ("?variant=2", "?variant=2#reviews"),
    (".example/", ".example:8080/"),
    ("?variant=2", "?variant=2&utm_source=feed"),
    ("?variant=2", "?q=a+b"),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one command: seconds of its CPU, of Redis' and on the clock; MB at most."""

    cpu: float
    redis: float
    clock: float
    mb: float


def url(number: int) -> str:
    """URL *number*, plain."""
    host = f"shop-{number // 16 % HOSTS:05d}.example"
    return f"https://{host}/category/kitchen-knives/chef-knife-{number:08d}.html?variant=2"


def strange(number: int) -> str:
    """URL *number* of a host that comes once in 100,000 URLs."""
    return f"https://shop-{number * 7919 % 100_000:05d}.example/category/kitchen-knives/chef-knife-{number:08d}.html"


def odd(number: int) -> str:
    """URL *number*, one of ten not plain."""
    plain = url(number)
    return plain.replace(*ODD[number // 10 % len(ODD)]) if number % 10 == 0 else plain


def as_csv(number: int) -> str:
    """A row whose second cell is the URL; the first one is the header."""
    return f"{number},{url(number)},Chef knife" if number else "id,url,title"


def as_json(number: int) -> str:
    """A message with a key beside the URL."""
    return json.dumps({"url": url(number), "meta": {"job": number}})


KINDS: Final[dict[str, tuple[Callable[[int], str], Callable[[bytes], bytes], tuple[str, ...]]]] = {
    "plain": (url, bytes, ()),
    "gzip": (url, lambda text: gzip.compress(text, 6), ()),
    "Zstandard": (url, lambda text: zstd.compress(text, 3), ()),
    "mixed": (odd, bytes, ()),
    "100,000 hosts": (strange, bytes, ()),
    "CSV": (as_csv, bytes, ("--column", "url")),
    "JSON lines": (as_json, bytes, ()),
}


class Bench:
    """A Redis of its own, emptied for each command."""

    def __init__(self) -> None:
        self._url = embedded.ensure(HOME / "services", mongodb=False, preferred_ports=False).redis_url
        self._client = redis.Redis.from_url(self._url)

    def push(self, *arguments: str) -> Cost:
        """Run the command; raises ChildProcessError when it fails."""
        self._client.flushall()
        before, began = self._redis(), time.perf_counter()
        command = [
            sys.executable,
            "-m",
            "benchmarks.push_child",
            "products",
            *arguments,
            "-s",
            f"REDIS_URL={self._url}",
        ]
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
        clock = time.perf_counter() - began
        if done.returncode:
            raise ChildProcessError(f"scrapy push {arguments[0]} failed: {done.stderr[-2000:]}")
        cpu, kb = done.stderr.split()[-2:]
        return Cost(float(cpu), self._redis() - before, clock, int(kb) / 1024)

    def _redis(self) -> float:
        told = self._client.info("cpu")
        return float(told["used_cpu_user_main_thread"]) + float(told["used_cpu_sys_main_thread"])


def measure(bench: Bench, kind: str, urls: int, base: Cost) -> list[str]:
    """A row of the table: a file of *kind*."""
    line, pack, options = KINDS[kind]
    path = HOME / "urls"
    path.write_bytes(pack("".join(f"{line(number)}\n" for number in range(urls)).encode()))
    cost = bench.push(str(path), *options)
    cpu = cost.cpu - base.cpu
    figures = (urls / cpu, 1e6 * cpu / urls, 1e6 * cost.redis / urls, urls / cost.clock)
    return [kind, *(f"{figure:,.1f}" if figure < 1_000 else f"{figure:,.0f}" for figure in figures), f"{cost.mb:.0f}"]


def long_file(path: Path, lines: int, urls: int) -> None:
    """So many *lines*, packed, of so many different URLs."""
    with zstd.open(path, "wt", encoding="ascii") as stream:
        stream.writelines(_blocks(lines, urls))


def _blocks(lines: int, urls: int) -> Iterator[str]:
    for at in range(0, lines, 10_000):
        yield "".join(f"{url(number % urls)}\n" for number in range(at, min(at + 10_000, lines)))


def main() -> int:
    """Exit status 1 when a bar is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.push", description="What a push takes")
    parser.add_argument("--urls", type=whole(1_000), default=1_000_000, help="of each kind (default 1,000,000)")
    parser.add_argument("--lines", type=whole(1_000), default=10_000_000, help="of the long file (default 10,000,000)")
    given = parser.parse_args()
    HOME.mkdir(parents=True, exist_ok=True)
    bench = Bench()
    base = bench.push(url(0))
    rows = [measure(bench, kind, given.urls, base) for kind in KINDS]
    long_file(HOME / "urls", given.lines, given.urls)
    most = bench.push(str(HOME / "urls"))
    rate = float(rows[0][1].replace(",", ""))
    head = (
        "file",
        "URLs/s of its CPU",
        "us of its CPU",
        "us of Redis' CPU",
        "URLs/s on the clock, with the start",
        "MB at most",
    )
    text = (
        f"## Push\n\n{(__doc__ or '').partition(chr(10))[2].strip()}\n\n{document.rows(head, rows)}\n\n"
        f"{given.urls:,} URLs each. A push of one URL takes {base.mb:.0f} MB, one of {given.lines:,} lines "
        f"({given.urls:,} URLs, again and again) {most.mb:.0f} MB. Bars: {BAR:,} plain URLs a second, "
        f"{'met' if rate >= BAR else 'missed'}; {BAR_MB} MB, {'met' if most.mb <= BAR_MB else 'missed'}.\n\n"
        f"{document.machine('scrapy', 'redis')}."
    )
    document.write("push", text, DOCUMENT)
    print(text)
    (HOME / "urls").unlink()
    return 0 if rate >= BAR and most.mb <= BAR_MB else 1


if __name__ == "__main__":
    sys.exit(main())
