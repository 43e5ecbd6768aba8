"""`python -m benchmarks.wide_loop`: what one would write by hand: aiohttp and selectolax, no robots.txt, no store.

Hosts are worked off one after the other, 64 at once, each over one connection while it lasts. Prints its figures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import ssl
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urldefrag, urljoin, urlsplit

import aiohttp
import uvloop
from aiohttp.abc import AbstractResolver, ResolveResult
from selectolax.lexbor import LexborHTMLParser

from benchmarks.wide_site import ADDRESS, PAGES, name

AT_ONCE: Final = 64


class Here(AbstractResolver):
    """Every name is this machine."""

    async def resolve(self, host: str, port: int = 0, family: Any = 0) -> list[ResolveResult]:
        return [ResolveResult(hostname=host, host=ADDRESS, port=port, family=family, proto=0, flags=0)]

    async def close(self) -> None:
        """Nothing is held."""


def read(text: str) -> tuple[Any, Any, list[str]]:
    """Title, price, and links of a page."""
    tree = LexborHTMLParser(text)
    data = tree.css_first('script[type="application/ld+json"]')
    assert data is not None
    offer = next(node for node in json.loads(data.text())["@graph"] if node["@type"] == "Product")
    return offer["name"], offer["offers"]["price"], [str(node.attributes["href"]) for node in tree.css("article > a")]


async def crawl(session: aiohttp.ClientSession, front: str, known: set[str]) -> int:
    """All pages of a host; how many there were."""
    pages, ahead = 0, [front]
    known.add(front)
    while ahead:
        async with session.get(ahead.pop(0)) as response:
            url, text = str(response.url), await response.text()
        title, price, links = read(text)
        assert title
        assert price
        pages += 1
        for link in (urldefrag(urljoin(url, href)).url for href in links):
            if link not in known and urlsplit(link).netloc == urlsplit(front).netloc:
                known.add(link)
                ahead.append(link)
    return pages


async def measure(hosts: int, port: int, root: Path) -> dict[str, float]:
    """CPU from the first page to the last."""
    context, known = ssl.create_default_context(cafile=str(root)), set[str]()
    fronts: Iterator[str] = (f"https://{name(number)}:{port}/" for number in range(hosts))
    connector = aiohttp.TCPConnector(resolver=Here(), ssl=context)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def work() -> int:
            return sum([await crawl(session, front, known) for front in fronts])

        await crawl(session, next(fronts), known)  # what is imported and compiled once
        cpu, began = time.process_time(), time.monotonic()
        pages = sum(await asyncio.gather(*(work() for _ in range(AT_ONCE))))
        cpu, seconds = time.process_time() - cpu, time.monotonic() - began
    assert pages == (hosts - 1) * PAGES, pages
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu_ms": cpu / pages * 1000, "pages_per_second": pages / seconds, "memory_mb": memory}


def main() -> int:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(prog="benchmarks.wide_loop")
    parser.add_argument("--hosts", type=int, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--root", type=Path, required=True)
    given = parser.parse_args()
    json.dump(uvloop.run(measure(given.hosts, given.port, given.root)), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
