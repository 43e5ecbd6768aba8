"""`make scaling`: 0 to 6 real workers, started and ended as the scaling signal of a real `scrapy serve` says.

100,000 URLs of one host are work for one worker. Many hosts are work for the most, and the fleet comes up once and goes
down once, to zero, and back when there is work again.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

from tests.crawling import Fleet, ended, options
from tests.integration.extensions.visiting import get, logged
from tests.operate.load import standalone
from tests.sites import Page, Site
from tests.zygote import Forked

MOST = 6
URLS = int(os.environ.get("SCALING_URLS", "100000"))  # of the one host
HOSTS = int(os.environ.get("SCALING_HOSTS", "500"))
EACH = 12  # pages of each of many hosts
LOOK_SECONDS = 1.0
HOLD_SECONDS = 10
SERVES = re.compile(r"serves .*/scaling on (http://127\.0\.0\.1:\d+)")
SIGNAL: dict[str, Any] = {
    "METRICS_QUEUE_SECONDS": LOOK_SECONDS,
    "SCALING_HOLD_SECONDS": HOLD_SECONDS,
    "SCALING_REQUESTS_PER_WORKER": 200,
    "SERVE_PORT": 0,
    "SPIDER_MODULES": "tests.integration.crawl.spiders",
}
POLITE: dict[str, Any] = {
    "MAX_IDLE_TIME_BEFORE_CLOSE": 0,
    "DOWNLOAD_DELAY": 0.5,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "LOG_LEVEL": "WARNING",
}


class Autoscaler:
    """Does what KEDA does: asks, and has as many workers as the answer says, at most MOST."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._serve = fleet.runner.fork("serve", *options(SIGNAL | {"FRONTIER_KEY": fleet.key}))
        self._url = logged(self._serve, SERVES)[1]
        self._workers: list[Forked] = []
        self.history: list[int] = []

    async def until(self, condition: Callable[[int], bool], seconds: float, words: str) -> None:
        """Scale until the number of workers fulfils *condition*; raises AssertionError when it does not in time."""
        deadline = time.monotonic() + seconds
        while await self.step() is None or not condition(self.history[-1]):
            assert time.monotonic() < deadline, f"not {words} within {seconds:g} s: {self.history[-30:]}"
        print(f"{words}: {self.history[-1]} workers after {len(self.history)} looks", flush=True)

    async def step(self) -> int | None:
        """Ask once, and scale; None where the answer is not known."""
        status, text = await asyncio.to_thread(get, f"{self._url}/scaling?spider=walk")
        await asyncio.sleep(LOOK_SECONDS)
        if status != 200:
            assert status == 503, text
            return None
        await self._scale(min(MOST, json.loads(text)["workers"]))
        self.history.append(len(self._workers))
        return self.history[-1]

    async def _scale(self, number: int) -> None:
        while len(self._workers) < number:
            self._workers.append(self._fleet.start(**POLITE))
        leaving, self._workers = self._workers[number:], self._workers[:number]
        for worker in leaving:
            worker.send_signal(signal.SIGTERM)
        for worker in leaving:
            assert (await ended(worker))[0] == 0

    async def close(self) -> None:
        await self._scale(0)
        self._serve.send_signal(signal.SIGTERM)
        assert (await ended(self._serve))[0] == 0


async def one_host(fleet: Fleet, site: Site) -> None:
    scaler = Autoscaler(fleet)
    await scaler.until(lambda workers: workers == 0, 20, "nothing is queued")
    for start in range(0, URLS, 5_000):
        await fleet.push(*(site.url(f"/{n}") for n in range(start, min(URLS, start + 5_000))), cap=1, delay_ms=500)
    await scaler.until(lambda workers: workers == 1, 20, f"{URLS:,} URLs of one host")
    for _ in range(15):
        assert await scaler.step() == 1, scaler.history
    await scaler.close()


async def many_hosts(fleet: Fleet, site: Site) -> None:
    scaler = Autoscaler(fleet)
    await scaler.until(lambda workers: workers == 0, 20, "nothing is queued")
    for turn in range(2):
        first = len(scaler.history)
        urls = [site.url(f"/{turn}-{n}") for n in range(HOSTS * EACH)]
        await fleet.push(*urls, hosts=HOSTS, cap=1, delay_ms=500)
        await scaler.until(lambda workers: workers == MOST, 30, f"{HOSTS} hosts, turn {turn + 1}")
        await scaler.until(lambda workers: workers == 0, 240, "to zero")
        steps = [after - before for before, after in pairwise(scaler.history[first:])]
        peak = next(place for place, step in enumerate(steps) if step < 0)
        assert all(step >= 0 for step in steps[:peak]), scaler.history
        assert all(step <= 0 for step in steps[peak:]), f"it flaps: {scaler.history}"
        assert (await fleet.left()).states == {"done": HOSTS * EACH * (turn + 1)}
    await scaler.close()


def main() -> int:
    """0 when both held."""
    with standalone("scaling") as fleet, Site({}) as site:
        site.pages = Everything()  # type: ignore[assignment]
        for scenario in (one_host, many_hosts):
            asyncio.run(scenario(replace(fleet, key=f"scaling-{uuid.uuid4().hex}"), site))
    return 0


class Everything(dict[str, Page]):
    """A page at any path."""

    def __missing__(self, path: str) -> Page:
        return Page()

    def get(self, path: str, default: Any = None) -> Page:
        return Page()


if __name__ == "__main__":
    sys.exit(main())
