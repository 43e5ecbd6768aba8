"""The fleet's figures: `/metrics` from the leader only, `/scaling` from each replica."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from scrapy.settings import BaseSettings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from crawler.errors import ConfigError
from crawler.frontier.errors import FrontierError, FrontierRefusedError
from crawler.frontier.frontier import Frontier
from crawler.frontier.inspection import eligible
from crawler.frontier.inspection.eligible import Eligible, Queue
from crawler.frontier.state.leader import Lead
from crawler.frontier.state.seeds import Seeds
from crawler.frontier.state.tiers import Tiers
from crawler.metrics.fleet import ScheduleFigures
from crawler.metrics.fleet_collector import FigureSources, FleetCollector, FleetConfig
from crawler.policy.scaling import Demand
from crawler.policy.tiers import TIERS
from crawler.serve.lateness import Lateness
from crawler.serve.scaling import Scaling, ScalingConfig

logger = logging.getLogger(__name__)


class FleetFiguresPart:
    """Collects the service's figures and serves them."""

    def __init__(self, frontier: Frontier, settings: BaseSettings, start_keys: Mapping[str, str]) -> None:
        self._frontier = frontier
        keys = {name: key for name, key in start_keys.items() if key}
        self._seeds = {name: Seeds.from_settings(frontier.client, key, settings) for name, key in keys.items()}
        self._config = FleetConfig.from_settings(settings)
        self.collector = FleetCollector(
            frontier, self._config, FigureSources(self._schedules, self._start_urls, self._wanted)
        )
        self._lateness = Lateness()
        self._spiders = set(start_keys)
        self.scaling = Scaling(ScalingConfig.from_settings(settings))

    async def look(self, lead: Lead) -> None:
        """On the leader: collect the whole fleet's figures."""
        await self.collector.refresh(lead.holds)

    async def look_for_scaling(self) -> None:
        """On each replica: how many workers there is work for; unknown while Redis is away."""
        try:
            self.scaling.take(await self._demand())
        except FrontierError as error:
            self.scaling.take(None)
            logger.debug("The scaling signal is unknown: %s", error)

    def metrics(self, request: Request) -> Response:
        """For Prometheus."""
        body, content_type = self.collector.text(request.headers.get("accept", ""))
        return Response(body, media_type=content_type)

    def scale(self, request: Request) -> Response:
        """For KEDA's metrics-api: `workers`, of all or of one `spider` and `tier`. 503 while it is unknown: a fleet
        must not be scaled to 0 by mistake. 400 for an unknown tier or spider."""
        spider, tier = request.query_params.get("spider"), request.query_params.get("tier")
        if tier not in {None, *TIERS}:  # what was asked may hold anything, and is not repeated
            return JSONResponse({"error": f"tier: expected one of {', '.join(TIERS)}"}, 400)
        if spider is not None and spider not in self._spiders:
            return JSONResponse({"error": "spider: expected one of those that `scrapy list` shows"}, 400)
        answer = self.scaling.answer(spider, tier)
        return JSONResponse(answer or {"error": "not known now"}, 200 if answer else 503)

    def _wanted(self) -> dict[str, float]:
        answers = {tier: self.scaling.answer(tier=tier) for tier in TIERS}
        return {tier: answer["workers"] for tier, answer in answers.items() if answer is not None}

    async def _demand(self) -> dict[Queue, Demand]:
        stats = await self._frontier.inspection.stats()
        spent = await Tiers(self._frontier.shards, keep_ms=0).spent(stats.now_ms)
        ready = await eligible.by_queue(self._frontier.shards, self._config.budgets.spent(*spent))
        leased = {queue: one.leased for queue, one in stats.tiers.items()}
        waiting = {(spider, TIERS[0]): count for spider, count in (await self._start_urls()).items()}
        self._spiders |= {spider for spider, _ in {*ready, *leased}}
        return {
            queue: Demand(one.requests, one.slots, leased.get(queue, 0), one.delayed + waiting.get(queue, 0))
            for queue in {*ready, *leased, *waiting}
            for one in [ready.get(queue, Eligible())]
        }

    async def _start_urls(self) -> dict[str, int]:
        waiting: dict[str, int] = {}
        for spider, seeds in self._seeds.items():
            try:
                waiting[spider] = await seeds.pending()
            except (
                ConfigError,
                FrontierRefusedError,
            ) as error:  # wrong type, or not readable: workers report it
                logger.debug("%s", error)
        return waiting

    async def _schedules(self) -> Sequence[ScheduleFigures]:
        _, runs = await self._frontier.runs.unfinished()
        return self._lateness.of(await self._frontier.schedules.look(), {(run.spider, run.name) for run in runs})
