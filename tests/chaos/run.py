"""One chaos run: servers, site, workers under fire, and the outcome."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

from redis.exceptions import RedisError
from scrapy.utils.project import get_project_settings

from crawler import embedded
from crawler.addon import complete
from crawler.frontier.command_session import session
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.frontier import Frontier
from crawler.frontier.state.seeds import Seeds
from crawler.storage import connection
from crawler.utils import tasks
from demo.children import Child, Family, stop
from demo.log import from_json
from demo.state import any_port
from tests.chaos import full, plan, rules, trouble, verdict
from tests.chaos.forked import ForkedFamily
from tests.chaos.result import Options, Result, below_0, look
from tests.chaos.trouble import Fleet

FREEZE_LEASES: Final = 1.3  # how long a frozen worker stands still, in leases
POLL_SECONDS: Final = 0.2
SPEAK_SECONDS: Final = 5.0
START_SECONDS: Final = 30.0
STOP_SECONDS: Final = 20.0
LEFT_TO_OTHERS: Final = "Left to workers of another release"  # what a worker says once for each callback
SEEDS_KEY: Final = "chaos:start_urls"
SETTINGS: Final[Mapping[str, object]] = {
    "MONGODB_DATABASE": "chaos",
    "CONCURRENT_REQUESTS": 16,
    "AUTOTHROTTLE_ENABLED": False,
    "RETRY_BASE_SECONDS": 0.3,
    "GUARD_ALLOWED_NETWORKS": "127.0.0.0/8",
    "METRICS_PORT": -1,
    "RUN_IDLE_SECONDS": 2,
}


class ChaosError(Exception):
    """The run cannot go on; the text says why."""


class Run:
    """Crawls the site once."""

    def __init__(self, options: Options, say: Callable[[str], None]) -> None:
        self._options = options
        self._say = say
        self._rng = Random(options.seed)
        self._port = any_port()
        self._plan = plan.build(
            options.seed, port=self._port, hosts=options.hosts, pages=options.pages, fatal=options.fatal
        )
        self._result = Result(options, self._plan)
        self._home = options.home / f"cap-{options.cap}"
        self._tasks: list[asyncio.Task[None]] = []
        self._said = 0.0
        self._filling = False
        self._ruling = False
        self._seeds = self._plan.start_urls[::-1]
        self._held_back = len(self._seeds) // 2 if options.rules else 0  # there is work left under the stricter rules
        self._strict_delay = rules.TIMES * options.delay

    def run(self) -> Result:
        """Raises ChaosError when the crawl does not come to its end."""
        servers = embedded.ensure(self._home / "services", preferred_ports=False)
        urls = {"REDIS_URL": servers.redis_url, "MONGODB_URI": servers.mongodb_uri}
        with (ForkedFamily if self._options.forked else Family)(self._home / "logs") as family:
            return tasks.run(self._crawl(family, urls))

    async def _crawl(self, family: Family, urls: Mapping[str, str]) -> Result:
        given = self._options
        options = {
            **SETTINGS,
            **urls,
            "SPOOL_DIR": self._home / "spool",
            "DOWNLOAD_DELAY": given.delay,
            "CONCURRENT_REQUESTS_PER_DOMAIN": given.cap,
            "FRONTIER_LEASE_SECONDS": given.lease,
            "FRONTIER_START_WITHIN_SECONDS": given.lease * 0.3,
        }

        def command(name: str) -> list[str]:
            release = "tests.chaos.spider" if name.startswith(trouble.OLD) else "tests.chaos.next_release"
            given = {**options, "USER_AGENT": name, "SPIDER_MODULES": release}
            if name.startswith(trouble.STRICT):
                given["DOWNLOAD_DELAY"] = self._strict_delay
            return [
                "scrapy",
                "crawl",
                "chaos",
                *(part for item in given.items() for part in ("-s", "=".join(map(str, item)))),
            ]

        fleet = Fleet(family, command, self._rng)
        settings = get_project_settings()
        settings.setdict(options | {"FRONTIER_ENABLED": True}, priority="cmdline")
        complete(settings)
        async with session(settings) as frontier, _database(settings) as database:
            await self._open_site(family)
            await self._work(fleet, frontier)
            await self._end(fleet)
            await look(self._result, frontier, database)
        self._result.log = from_json(map(json.loads, self._site_log.read_text().splitlines()))
        return self._result

    async def _open_site(self, family: Family) -> None:
        given = {
            "seed": self._options.seed,
            "port": self._port,
            "hosts": self._options.hosts,
            "pages": self._options.pages,
            "fatal": self._options.fatal,
        }
        arguments = [part for name, value in given.items() for part in (f"--{name}", str(value))]
        site = family.start("site", "tests.chaos.site", *arguments, "--log", str(self._site_log))
        deadline = time.monotonic() + START_SECONDS
        while not self._site_log.exists():
            if site.status is not None or time.monotonic() > deadline:
                raise ChaosError(f"the site did not start:\n{site.tail()}")
            await asyncio.sleep(0.05)
        self._site = site

    async def _work(self, fleet: Fleet, frontier: Frontier) -> None:
        for number in range(self._options.workers):
            fleet.add(trouble.OLD if number < self._options.old else "worker")
        given = self._options
        events = trouble.schedule(
            self._rng,
            kills=given.kills,
            freezes=given.freezes,
            restarts=given.restarts,
            mongo_kills=given.mongo_kills,
            olders=given.olders,
            fills=given.fills,
            empties=given.empties,
            rules=given.rules,
        )
        began = time.monotonic()
        while True:
            self._check(fleet, time.monotonic() - began)
            try:
                if not (self._seeds or events or self._filling or self._ruling) and await self._empty(frontier):
                    break
                await self._step(fleet, frontier, events, time.monotonic() - began)
            except (RedisError, OSError, FrontierUnavailableError):  # it was killed here, and is on its way back
                self._say("Redis is away")
            await asyncio.sleep(POLL_SECONDS)
        self._result.seconds = time.monotonic() - began

    async def _step(self, fleet: Fleet, frontier: Frontier, events: list[trouble.Event], seconds: float) -> None:
        """One start URL more, so that workers die while they read them, too; and what is due by now."""
        if len(self._seeds) > self._held_back:
            await frontier.client.rpush(SEEDS_KEY, self._seeds[-1])
            self._seeds.pop()
        self._spooled()
        stats = await frontier.inspection.stats("chaos")
        self._result.troubles += below_0(stats, self._result.troubles)
        total = stats.total
        due = events and total.done >= events[0].share * len(self._plan.expected)
        if due and await self._strike(fleet, frontier, events[0]):
            events.pop(0)
        if seconds >= self._said + SPEAK_SECONDS:
            self._said = seconds
            self._say(
                f"{seconds:4.0f} s: {total.done} done, {total.queued} queued, {total.leased} leased, "
                f"{total.delayed} delayed; {len(fleet.killed)} killed, {total.reaped} leases taken back"
            )

    async def _empty(self, frontier: Frontier) -> bool:
        if self._spooled():
            return False
        seeds = Seeds(frontier.client, SEEDS_KEY)
        return not await seeds.pending() and await frontier.inspection.empty("chaos")

    def _spooled(self) -> int:
        """Files that wait for MongoDB."""
        files = len(list((self._home / "spool").glob("*/*.spool")))
        self._result.spooled = max(self._result.spooled, files)
        return files

    async def _strike(self, fleet: Fleet, frontier: Frontier, event: trouble.Event) -> bool:
        if self._holds_off(event):
            return False
        if event.kind == "restart":
            return await self._set_back(self._result.set_back)
        if event.kind == "older":
            return await self._restore()
        if event.kind == "mongo":
            return self._kill_mongo()
        if event.kind == "deploy":
            met = bool(self._left_to_others() or not self._options.old)
            return met and fleet.deploy()
        if event.kind in {"fill", "rules"}:
            self._begin(event.kind, fleet, frontier)
            return True
        if event.kind == "empty":
            return await self._lose_everything(frontier)
        pids = {int(worker.name.rsplit("-", 2)[1]) for worker in await frontier.workers.alive(60_000)}
        victim = fleet.victim(pids)
        if victim is None:
            return False
        if event.kind == "kill":
            fleet.kill(victim)
        else:
            self._tasks.append(asyncio.create_task(fleet.freeze(victim, FREEZE_LEASES * self._options.lease)))
        return True

    def _holds_off(self, event: trouble.Event) -> bool:
        """A Redis that is killed forgets that it is full; one that loses all it holds forgets the rules."""
        return self._filling or (self._ruling and event.kind in {"restart", "older", "fill", "empty", "rules"})

    def _begin(self, kind: str, fleet: Fleet, frontier: Frontier) -> None:
        self._filling, self._ruling = kind == "fill", self._ruling or kind == "rules"
        work = self._fill if kind == "fill" else self._change_rules
        self._tasks.append(asyncio.create_task(work(fleet, frontier)))

    async def _fill(self, fleet: Fleet, frontier: Frontier) -> None:
        try:
            await full.fill(frontier, fleet, self._result.fillings, self._options.lease, self._kill_mongo)
        finally:
            self._filling = False

    async def _change_rules(self, fleet: Fleet, frontier: Frontier) -> None:
        try:
            delay, joined = self._strict_delay, self._hold_nothing_back
            for _ in range(rules.TRIES):  # a page may kill it before there is anything to judge by
                stated = await rules.state(frontier, fleet, delay, joined, self._visits_since)
                if stated and stated.ended - stated.began >= rules.HOLD_SECONDS:
                    self._result.stricter.append(stated)
                    break
        finally:
            self._ruling = False
            self._hold_nothing_back()

    def _visits_since(self, at: float) -> int:
        lines = self._site_log.read_text().splitlines()[:-1]  # the last may be half written
        return sum(entry.at >= at for entry in from_json(map(json.loads, lines)))

    def _hold_nothing_back(self) -> None:
        self._held_back = 0

    def _kill_mongo(self) -> bool:
        killed = trouble.kill_server(self._home / "services", "mongodb")
        self._result.mongo_kills += killed
        return killed

    async def _set_back(self, noted: list[tuple[float, float]], seconds: float = trouble.SET_BACK_SECONDS) -> bool:
        """Redis restarts without its last *seconds*."""
        killed = await trouble.set_back_redis(self._home / "services", seconds)
        if killed:
            noted.append((killed, time.time()))
        return bool(killed)

    async def _restore(self) -> bool:
        """Redis goes back to an older state, and the start URLs are pushed again."""
        restored = await self._set_back(self._result.restored, trouble.OLDER_SECONDS)
        if restored:
            self._seeds = self._plan.start_urls[::-1]
        return restored

    async def _lose_everything(self, frontier: Frontier) -> bool:
        """Empty Redis, and push the start URLs again."""
        began = time.time()
        await frontier.client.flushall()
        self._result.emptied.append((began, time.time()))
        pushed = self._plan.start_urls[: len(self._plan.start_urls) - len(self._seeds)]
        await frontier.client.rpush(SEEDS_KEY, *pushed)
        return True

    def _check(self, fleet: Fleet, seconds: float) -> None:
        if not fleet.living:
            raise ChaosError(f"every worker has ended; the last lines of the last one:\n{fleet.ended[-1].tail()}")
        if seconds > self._options.limit:
            raise ChaosError(f"the crawl is not over after {seconds:.0f} s; the logs are in {self._home / 'logs'}")

    async def _end(self, fleet: Fleet) -> None:
        await asyncio.gather(*self._tasks)
        result = self._result
        result.kills, result.freezes = len(fleet.killed), fleet.freezes
        result.fatal_kills, result.turned_away = len(fleet.killed_by_pages), len(fleet.turned_away)
        result.troubles += [f"{one.name} ended by itself: {one.tail(1)}" for one in fleet.ended]
        workers = list(fleet.living)
        stubborn = await asyncio.to_thread(stop, workers, STOP_SECONDS)
        result.troubles += [f"{one.name} did not stop" for one in stubborn]
        orderly = [one for one in [*fleet.stopped, *workers] if one not in stubborn]
        result.troubles += [line for one in orderly if (line := self._wrong_end(one))]
        result.passed_on = self._left_to_others()
        stop([self._site])

    def _wrong_end(self, worker: Child) -> str:
        """A line for a worker that was told to stop and ended with another status than what it went through gives."""
        status, owed = worker.wait(STOP_SECONDS), verdict.owed(worker.log.read_text(errors="replace"))
        return "" if status in owed else f"{worker.name} ended with {status}, not {owed}:\n{worker.tail()}"

    def _left_to_others(self) -> int:
        """Callbacks that workers of the old release have met and do not know."""
        told = [log.read_text(errors="replace") for log in (self._home / "logs").glob(f"{trouble.OLD}-*.log")]
        return sum(text.count(LEFT_TO_OTHERS) for text in told)

    @property
    def _site_log(self) -> Path:
        return self._home / "logs" / "requests.jsonl"


@asynccontextmanager
async def _database(settings: Any) -> AsyncIterator[connection.Database]:
    client = connection.connect(settings)
    try:
        yield connection.database(client, settings)
    finally:
        await client.close()
