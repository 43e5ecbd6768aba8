"""A Redis primary is killed with -9 under load, and a replica takes over: with a Sentinel, and in a Cluster.

Meanwhile somebody pushes single URLs: what a page links to is found again with the page, what was pushed is not.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from zlib import crc32

from scrapy import Request

from crawler.frontier.config import FrontierConfig
from crawler.frontier.errors import FrontierError
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Message, PushOutcome
from crawler.frontier.server import connection
from crawler.routing import codec
from crawler.utils.tasks import end
from tests.clusters import NODES, Cluster
from tests.crawling import Fleet
from tests.integration.crawl.spiders import WalkSpider
from tests.operate.load import UNDER_LOAD, Load, Told, finished, judged, stored
from tests.shipped import shipped
from tests.sites import Page
from tests.stores import Watched

WORKERS: Final = 4
PAGES: Final = 125  # of each host
EVERY_SECONDS: Final = 0.02
WATCHED_SECONDS: Final = 30.0
NODE_TIMEOUT_MS: Final = 3_000
LAG_SECONDS: Final = 0.5


@dataclass
class Pusher:
    """Pushes a URL at a time until it is cancelled; notes those that Redis accepted."""

    load: Load
    settings: dict[str, Any]
    accepted: set[str] = field(default_factory=set)

    async def push(self, shards: int) -> None:
        given = shipped().copy()
        given.setdict(self.settings, priority="cmdline")
        frontier = Frontier(connection.connect(given), FrontierConfig(key=self.settings["FRONTIER_KEY"], shards=shards))
        number = 0
        while True:
            site = self.load.sites[number % len(self.load.sites)]
            site.pages[f"/pushed-{number}"] = Page(f"<title>{number}</title>")
            await self._one(frontier, site.url(f"/pushed-{number}"))
            number += 1
            await asyncio.sleep(EVERY_SECONDS)

    async def _one(self, frontier: Frontier, url: str) -> None:
        body = codec.encode(Request(url), WalkSpider)
        host, number = urlsplit(url).hostname or "", crc32(url.encode())
        message = Message(host=host, stream="walk", spider="walk", body=body, fingerprint=number)
        with suppress(FrontierError):  # its outcome is unknown: who pushes tries again
            if await frontier.push([message]) == [PushOutcome.ACCEPTED]:
                self.accepted.add(url)


async def sentinel(fleet: Fleet, uri: str, lag: float = 0.0) -> Told:
    """*lag*: seconds that the replica is behind."""
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        watched = await asyncio.to_thread(Watched, Path(place))
        stack.callback(watched.kill)
        fleet.runner.env["REDIS_URL"] = watched.url
        told = await _crawl(fleet, uri, stack, {"REDIS_URL": watched.url}, 1, lambda: watched.fail_over(lag), lag)
    behind = f", {lag:g} s behind" if lag else ""
    told.row = {"servers": f"primary and replica{behind}, a Sentinel that waits half a second"} | told.row
    return told


async def cluster(fleet: Fleet, uri: str) -> Told:
    """Three primaries with a replica each, a shard on each."""
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        nodes = await asyncio.to_thread(Cluster, Path(place), replicas=True, timeout_ms=NODE_TIMEOUT_MS)
        stack.callback(nodes.kill)
        fleet.settings = nodes.settings | {"FRONTIER_SHARDS": NODES, "REDIS_URL": nodes.nodes[0].url}
        told = await _crawl(fleet, uri, stack, nodes.settings, NODES, nodes.nodes[1].kill)
    waits = f"cluster-node-timeout {NODE_TIMEOUT_MS / 1000:g} s"
    told.row = {"servers": f"Cluster of {NODES} primaries and {NODES} replicas, {waits}"} | told.row
    return told


async def _crawl(
    fleet: Fleet,
    uri: str,
    stack: ExitStack,
    where: dict[str, Any],
    shards: int,
    blow: Callable[[], None],
    lag: float = 0.0,
) -> Told:
    load = Load(stack, pages=PAGES)
    pushed = await asyncio.to_thread(fleet.runner.run, "push", "walk", *load.roots, *fleet.options())
    assert pushed.returncode == 0, pushed.stderr
    workers = [fleet.start(**UNDER_LOAD) for _ in range(WORKERS)]
    await load.until(len(load.urls) // 4)
    pusher = Pusher(load, where | {"FRONTIER_KEY": fleet.key})
    pushing = asyncio.create_task(pusher.push(shards))
    await asyncio.sleep(1)
    began = time.monotonic()
    await asyncio.to_thread(blow)
    await asyncio.sleep(1)
    await end(pushing)
    with suppress(asyncio.CancelledError):
        pushing.result()
    _, wrong = await finished(workers)
    told = await asyncio.to_thread(judged, fleet, load, uri, strict=False)
    still = load.standstill(began, began + WATCHED_SECONDS)
    gone = pusher.accepted - set(stored(uri, fleet.runner.env["MONGODB_DATABASE"]))
    told.row |= {"longest time without a request": f"{still:.1f} s"}
    told.row |= {"pushed meanwhile, and lost": f"{len(pusher.accepted)}, {len(gone)}"}
    told.wrong += wrong + pushed_wrong(len(pusher.accepted), len(gone), lag)
    return told


def pushed_wrong(accepted: int, gone: int, lag: float) -> list[str]:
    """What should not have become of the URLs pushed meanwhile: without any nothing can be lost."""
    if not accepted:
        return ["no pushed URL was accepted"]
    return [f"{gone} pushed URLs are lost"] if gone and not lag else []
