"""One run of the demo: servers, shop, workers, tables, and a line that says whether anything was lost."""

from __future__ import annotations

import json
import re
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rich.console import Console
from scrapy.utils.project import get_project_settings

from crawler import embedded
from crawler.addon import complete
from crawler.utils import tasks
from demo import report, state
from demo.alone import alone_in
from demo.children import Family
from demo.fleet import DemoError, Fleet
from demo.jobs import Job, Result
from demo.log import Entry, from_json
from demo.observer import SPIDER, Observer, observing
from demo.progress import display
from demo.server import ADMIN_HOST
from demo.site import CRAWL_DELAY
from demo.state import State

START_SECONDS: Final = 30.0
DATABASE: Final = "demo"
RUN_NAMED: Final = re.compile(r"\(run (\d{8}-\d+)")  # by `scrapy push`
# The workers' settings: the shops' pace, loopback allowed, and short leases, so that a dead worker's pages return soon.
SETTINGS: Final[Mapping[str, object]] = {
    "MONGODB_DATABASE": DATABASE,
    "DOWNLOAD_DELAY": CRAWL_DELAY,
    "FRONTIER_LEASE_SECONDS": 10,
    "FRONTIER_START_WITHIN_SECONDS": 3,
    "AUTOTHROTTLE_ENABLED": False,  # the shops set their own pace
    "GUARD_ALLOWED_NETWORKS": "127.0.0.0/8",
    "MAX_IDLE_TIME_BEFORE_CLOSE": 60,  # in case the demo itself is killed
}


@dataclass(frozen=True, slots=True)
class Options:
    """The demo's options."""

    root: Path = Path(".demo")
    workers: int = 2
    kill: bool = True  # kill one worker midway
    port: int = state.FIRST_PORT  # the shops take and keep the first free one from here on
    limit: float = 300.0  # seconds until the crawl is given up


class Demo:
    """One run of a job; the next run is the next day."""

    def __init__(self, options: Options, job: Job, console: Console) -> None:
        self._options = options
        self._job = job
        self._console = console
        self._home = state.directory_of(options.root, job.identity)
        before = State.load(self._home)
        self._state = before.next_run() if before else State(state.free_port(options.port))

    def run(self) -> int:
        """Returns the exit status: 0 only if nothing is lost or duplicated. Raises DemoError, ShoalError."""
        with alone_in(self._home):
            return self._run()

    def _run(self) -> int:
        if not state.is_free(self._state.port):
            raise DemoError(
                f"port {self._state.port} is taken, but is part of every stored URL: free it, or delete "
                f"{self._home} to start afresh"
            )
        servers = embedded.ensure(self._home / "services", preferred_ports=False)
        self._say(f"Servers: {servers.redis_url} and {servers.mongodb_uri}")
        self._say(f"Logs and data: {self._home}")
        self._state.save(self._home)
        urls = {"REDIS_URL": servers.redis_url, "MONGODB_URI": servers.mongodb_uri}
        urls["SPOOL_DIR"] = str(self._home / "spool")
        logs = self._home / "logs"
        with Family(logs) as house, Family(logs) as crew:  # the crew ends first: workers finish their fetches
            self._open_shop(house)
            return tasks.run(self._crawl(Fleet(crew, {**SETTINGS, **self._job.settings, **urls})))

    async def _crawl(self, fleet: Fleet) -> int:
        began = datetime.now(UTC)
        settings = get_project_settings()
        settings.setdict(dict(fleet.settings) | {"FRONTIER_ENABLED": True}, priority="cmdline")
        complete(settings)
        async with observing(settings) as observer:
            await observer.begin()
            self._push(fleet)
            seconds = await self._work(fleet, observer)
            self._show_run(fleet)
            replace(self._state, crawled=True).save(self._home)
            result = Result(await observer.documents(), await observer.price_changes(began), self._request_log())
            score = self._job.judge(self._state, result, self._console)
            rejected = await observer.rejections()
        for line in report.problems(score, rejected, [worker.log for worker in fleet.workers]):
            self._say(line)
        self._say(f"The crawl took {seconds:.1f} s.")
        self._say(score.line())
        return 0 if score.perfect() else 1

    def _open_shop(self, family: Family) -> None:
        arguments = ["--port", str(self._state.port), "--urls", str(self._urls), *self._job.serve(self._state)]
        self._urls.unlink(missing_ok=True)
        shop = family.start("shop", "demo.shop", *arguments)
        deadline = time.monotonic() + START_SECONDS
        while not self._urls.exists():
            if shop.status is not None or time.monotonic() > deadline:
                raise DemoError(f"the shop did not start:\n{shop.tail()}")
            time.sleep(0.05)
        self._say(f"Shop: {self._job.what} on port {self._state.port}, day {self._state.day}")

    def _push(self, fleet: Fleet) -> None:
        """A new day is a new run, to which all links are new; one that was interrupted goes on."""
        ways = [["--run", self._state.run]] if self._state.run else []
        ways.append(["--recrawl"] if self._state.day > 1 else [])
        for way in ways:
            push = fleet.family.start("push", *fleet.scrapy("push", SPIDER, str(self._urls), *way))
            if push.wait(START_SECONDS) == 0:
                break
        else:
            raise DemoError(f"the start URLs could not be pushed:\n{push.tail()}")
        self._say(" ".join(["$ scrapy push", SPIDER, str(self._urls), *way]))
        self._say(push.tail(1))
        if found := RUN_NAMED.search(push.tail(1)):
            self._state = replace(self._state, run=found[1])
            self._state.save(self._home)

    def _show_run(self, fleet: Fleet) -> None:
        """What became of it, and what is different from the day before."""
        day, before = self._state.run, self._state.before
        for words in (["wait", day], ["diff", before, day]) if before else (["wait", day],):
            command = fleet.family.start("runs", *fleet.scrapy("runs", *words))
            status = command.wait(START_SECONDS)
            self._say(f"$ scrapy runs {' '.join(words)}")
            self._say(command.tail(1))
            if day not in command.tail(1) or (words[0] == "diff" and status):
                raise DemoError(f"`scrapy runs {words[0]}` says nothing of the run:\n{command.tail()}")

    async def _work(self, fleet: Fleet, observer: Observer) -> float:
        for _ in range(self._options.workers):
            fleet.add()
        self._say(f"$ scrapy crawl {SPIDER}  ({self._options.workers} workers)")
        kill_after = self._job.expected // 3 if self._options.kill else None
        with display(self._console) as screen:
            return await fleet.crawl(observer, screen, kill_after=kill_after, limit=self._options.limit)

    def _request_log(self) -> list[Entry]:
        """The shop's request log, also kept as `requests.json`."""
        url = f"http://{ADMIN_HOST}:{self._state.port}/log"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                text = answer.read()
        except OSError as error:
            raise DemoError(f"the shop does not answer at {url} ({error})") from None
        (self._home / "logs" / "requests.json").write_bytes(text)
        return from_json(json.loads(text))

    @property
    def _urls(self) -> Path:
        return self._home / "urls.txt"

    def _say(self, text: str) -> None:
        self._console.print(text, highlight=False, soft_wrap=True, markup=False)
