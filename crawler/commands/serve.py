"""`scrapy serve`: the service beside the workers, which runs schedules."""

from __future__ import annotations

import argparse
import logging
from typing import Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.utils.log import install_scrapy_root_handler
from scrapy_redis.spiders import RedisMixin

from crawler.commands import early_settings, spider_stores
from crawler.commands.base import FleetCommand
from crawler.commands.encoding import encoder_of
from crawler.commands.stopping import hang_up_asks
from crawler.commands.terminal import answering
from crawler.config import boolean
from crawler.errors import clipped
from crawler.extensions.logs import LogAddon
from crawler.frontier.command_session import session
from crawler.producers.ticks import TickRunner
from crawler.routing.encoder import Encoder
from crawler.serve.config import ServeConfig
from crawler.serve.figures import FleetFiguresPart
from crawler.serve.parts import parts
from crawler.serve.service import FleetService
from crawler.spiders.base import key_of_start_urls
from crawler.startup.announcement import QUEUES
from crawler.tracing.opening import tracing_pushes
from crawler.utils import tasks

logger = logging.getLogger(__name__)


class Command(FleetCommand, ScrapyCommand):
    """Runs until SIGTERM or Ctrl-C; any number of replicas may run, one of them leads."""

    default_settings: ClassVar[dict[str, Any]] = {"FRONTIER_ENABLED": True}

    def syntax(self) -> str:
        return "[-s SERVE_PORT=9411]"

    def short_desc(self) -> str:
        return "Run the service beside workers: schedules, metrics, scaling"

    def long_desc(self) -> str:
        return (
            "Run the service beside the workers: it runs schedules (`scrapy schedule`), answers /healthz and /readyz, "
            "and gives the figures of the fleet at /metrics and /scaling, on SERVE_HOST and SERVE_PORT. Of any number "
            "of replicas one leads. SIGTERM ends it."
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2 if a setting is invalid, or Redis is unusable at the start."""
        with answering(args):
            if args:
                raise UsageError(f"expected no argument, got {clipped(' '.join(args))}")
            config = ServeConfig.from_settings(self.settings)
            if self.settings.getbool("LOG_ENABLED"):
                LogAddon.update_pre_crawler_settings(self.settings)
                install_scrapy_root_handler(self.settings)
                logging.captureWarnings(capture=True)
            hang_up_asks()
            for hint in spider_stores.hints(self.settings, QUEUES):
                logger.warning("Not seen here: %s", hint)
            tasks.run(self._serve(config))

    async def _serve(self, config: ServeConfig) -> None:
        with tracing_pushes(self.settings) as traced:
            async with session(self.settings) as frontier:
                runner = TickRunner(frontier, lambda spider: traced(self._encoder(spider)), self.settings)
                figures = FleetFiguresPart(frontier, self.settings, self._start_keys())
                await FleetService(frontier, config, parts(frontier, runner, figures)).run()

    def _start_keys(self) -> dict[str, str]:
        """The Redis key of each spider's start URLs; "" for spiders without one, and outside the fleet."""
        loader = early_settings.spiders(self.settings)
        keys: dict[str, str] = {}
        for name in loader.list():
            spider = loader.load(name)
            own = {"FRONTIER_ENABLED": True} | dict(spider.custom_settings or {})
            is_fed = issubclass(spider, RedisMixin) and boolean(own, "FRONTIER_ENABLED")
            keys[name] = key_of_start_urls(name, getattr(spider, "redis_key", None), self.settings) if is_fed else ""
        return keys

    def _encoder(self, spider: str) -> Encoder:
        """Built for each tick: a schedule may name a spider that does not exist yet."""
        return encoder_of(self.scheduled_crawler(spider))
