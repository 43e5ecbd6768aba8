"""The service: heartbeat, lease, the leader's work and HTTP, from start to SIGTERM."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from crawler.frontier.errors import FrontierError
from crawler.frontier.frontier import Frontier
from crawler.frontier.state.leader import Leader
from crawler.serve.config import ServeConfig
from crawler.serve.health import ServiceHealth
from crawler.serve.leadership import Leadership, LeaderTask
from crawler.serve.web import Routes, WebServer
from crawler.utils import tasks

BEAT_SECONDS: Final = 0.25  # well below the least HEALTH_MAX_LAG_SECONDS, 1
RESIGN_SECONDS: Final = 2.0  # a Redis that is away does not delay the exit

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReplicaTask:
    """A task of each replica, run every *seconds*."""

    name: str
    seconds: float
    call: Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the service: its routes, and periodic tasks of the leader or each replica."""

    routes: Routes = field(default_factory=dict)
    tasks: Sequence[LeaderTask] = ()
    everywhere: Sequence[ReplicaTask] = ()


class FleetService:
    """One replica, named by host and process."""

    def __init__(self, frontier: Frontier, config: ServeConfig, parts: Sequence[Part]) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"
        self._config = config
        leader = Leader(frontier.shards, self.name, int(config.lease_seconds * 1000))
        work = [task for part in parts for task in part.tasks]
        self._everywhere = [task for part in parts for task in part.everywhere]
        self.leadership = Leadership(leader, config.lease_seconds, work)
        self.health = ServiceHealth(self.leadership, config.max_lag_seconds, config.lease_seconds)
        own: Routes = {"/healthz": self.health.healthz, "/readyz": self.health.readyz}
        self._routes = {
            path: endpoint for routes in (own, *(part.routes for part in parts)) for path, endpoint in routes.items()
        }

    async def run(self) -> None:
        """Run until SIGTERM or Ctrl-C. Raises ConfigError if it cannot listen, ServiceError if Redis is unusable."""
        stopped = asyncio.create_task(_stopped())
        web = WebServer(self._config.host, self._config.port, self._routes)
        logger.info("%s serves %s on %s", self.name, ", ".join(sorted(self._routes)), web.url)
        beating = asyncio.create_task(self._beat())
        leading = asyncio.create_task(self.leadership.run())
        own = [asyncio.create_task(_again(task), name=task.name) for task in self._everywhere]
        try:
            await asyncio.wait({stopped, leading, beating}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.health.is_closing = True
            await tasks.end(leading, beating, stopped, *own)
            await self._resign()
            await asyncio.to_thread(web.close)
            logger.info("%s has ended", self.name)
        if not leading.cancelled():
            leading.result()

    async def _beat(self) -> None:
        while True:
            self.health.beat()
            await asyncio.sleep(BEAT_SECONDS)

    async def _resign(self) -> None:
        try:
            await asyncio.wait_for(self.leadership.resign(), RESIGN_SECONDS)
        except (FrontierError, TimeoutError) as error:
            words = "The lease could not be released (%s): another replica leads when it expires"
            logger.warning(words, str(error) or type(error).__name__)


async def _again(task: ReplicaTask) -> None:
    while True:
        try:
            await task.call()
        except Exception:
            logger.exception("%s failed; retrying", task.name)
        await asyncio.sleep(task.seconds)


async def _stopped() -> None:
    """Return when a signal asks this process to end; a second signal ends it at once."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        await stop.wait()
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
