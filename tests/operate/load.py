"""A fleet under load: a local site of some thousand pages, found by links, and what became of each of them."""

from __future__ import annotations

import asyncio
import io
import json
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from pymongo import MongoClient

from tests import servers
from tests.crawling import SHORT_LEASE, Fleet, count, ended
from tests.servers import ScrapyRunner
from tests.sites import Page, Site
from tests.zygote import Forked, Zygote

HOSTS: Final = 16
PAGES: Final = 250  # of each host
FIRST_HOST: Final = 40  # 127.0.0.40 and on
END_SECONDS: Final = 180.0
DELAY: Final = 0.1
UNDER_LOAD: Final[dict[str, Any]] = SHORT_LEASE | {
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_DELAY": DELAY,
    "METRICS_PORT": 0,
    "MAX_IDLE_TIME_BEFORE_CLOSE": 3,
    "LOG_LEVEL": "INFO",
}


@contextmanager
def standalone(name: str, *, redis: bool = True, mongodb: bool = True) -> Iterator[Fleet]:
    """A fleet on servers of its own, with a database of that *name*; all of it ends with the context."""
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        directory = Path(place)
        started = servers.start(directory / "servers", redis=redis, mongodb=mongodb)
        env = servers.environment(directory / "services")
        env |= {"REDIS_URL": started.redis_url, "MONGODB_URI": started.mongodb_uri, "MONGODB_DATABASE": name}
        zygote = Zygote()
        stack.callback(zygote.close)
        runner = ScrapyRunner(env, zygote)
        try:
            yield Fleet(runner, started.redis_url, f"{name}-{uuid.uuid4().hex}")
        except BaseException:
            runner.close()  # prints the ends of their logs
            raise
        with redirect_stdout(io.StringIO()):
            runner.close()


class Load:
    """*hosts* with *pages* each: page n links to 2n + 1 and 2n + 2, so that a lost request is a missing subtree."""

    def __init__(self, stack: ExitStack, hosts: int = HOSTS, pages: int = PAGES) -> None:
        tree = {f"/{n}": Page(_page(n, pages)) for n in range(pages)}
        self.sites = [stack.enter_context(Site(tree, f"127.0.0.{FIRST_HOST + at}")) for at in range(hosts)]
        self.roots = [site.url("/0") for site in self.sites]
        self.urls = {site.url(path) for site in self.sites for path in tree}

    @property
    def asked(self) -> int:
        return sum(len(site.received) for site in self.sites)

    async def until(self, asked: int) -> None:
        """Return when that many requests have come in."""
        deadline = time.monotonic() + END_SECONDS
        while self.asked < asked:
            assert time.monotonic() < deadline, f"{self.asked} of {asked} requests"
            await asyncio.sleep(0.02)

    def standstill(self, since: float, until: float) -> float:
        """Seconds of the longest time in between, in monotonic time, in which no request came in anywhere; the time
        after the crawl's last one does not count."""
        moments = sorted(one.at for site in self.sites for one in site.received)
        inside = [min(until, max(since, at)) for at in moments]
        return max(after - before for before, after in pairwise([since, *inside]))

    @property
    def repeated(self) -> int:
        """Requests for pages that had been asked for before."""
        paths = Counter(site.url(one.path) for site in self.sites for one in site.received)
        return sum(times - 1 for times in paths.values())


def _page(number: int, pages: int) -> str:
    links = "".join(f"<a href=/{n}>.</a>" for n in (2 * number + 1, 2 * number + 2) if n < pages)
    return f"<html><title>{number}</title>{links}</html>"


@dataclass(slots=True)
class Told:
    """What a scenario found: a row of its table, and what should not have been."""

    row: dict[str, str]
    wrong: list[str] = field(default_factory=list)


def stored(uri: str, database: str) -> dict[str, int]:
    """URL and version of each stored page."""
    with MongoClient[dict[str, Any]](uri) as client:
        return {one["_id"]: one["version"] for one in client[database]["pages"].find({}, {"version": 1})}


def counters(fleet: Fleet) -> Mapping[str, Any]:
    """Of the spider, as `scrapy status` counts them."""
    done = fleet.runner.run("status", "walk", "--json", *fleet.options())
    assert done.returncode == 0, done.stderr
    found: Mapping[str, Any] = json.loads(done.stdout)["spiders"]["walk"]
    return found


def judged(fleet: Fleet, load: Load, uri: str, *, strict: bool) -> Told:
    """After the crawl. *strict*: nothing is fetched twice either."""
    versions = stored(uri, fleet.runner.env["MONGODB_DATABASE"])
    lost, again = load.urls - set(versions), [url for url, version in versions.items() if version != 1]
    left = counters(fleet)
    told = Told({"pages": f"{len(load.urls):,}", "lost": str(len(lost)), "stored twice": str(len(again))})
    told.row["fetched twice"] = str(load.repeated)
    told.wrong += [f"lost: {url}" for url in sorted(lost)[:5]] + [f"stored twice: {url}" for url in again[:5]]
    open_ones = {name: left[name] for name in ("queued", "leased", "delayed", "dead") if left[name]}
    told.wrong += [f"left in the frontier: {open_ones}"] if open_ones else []
    told.wrong += [f"{load.repeated} pages were fetched twice"] if strict and load.repeated else []
    return told


async def finished(workers: list[Forked]) -> tuple[list[str], list[str]]:
    """Logs of *workers* once they have ended by themselves, and what is wrong with their ends."""
    ends = [await ended(worker, END_SECONDS) for worker in workers]
    wrong = [f"a worker ended with status {status}" for status, _ in ends if status]
    return [log for _, log in ends], wrong


def total(logs: list[str], stat: str) -> int:
    """Of all workers."""
    return sum(count(log, stat) for log in logs)
