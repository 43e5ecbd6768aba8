"""The parts of a worker: built in their order, and told of each other."""

from __future__ import annotations

import asyncio
import os
import random
import socket
from collections.abc import Callable
from functools import partial

from scrapy.crawler import Crawler

from crawler import scrapy_hooks
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Message
from crawler.frontier.server.losses import DataLossListeners
from crawler.frontier.server.outage import STEADY_SECONDS, RedisOutage
from crawler.frontier.state.statement import Statement
from crawler.policy.shared_addresses import SharedAddresses
from crawler.worker.config import WorkerConfig
from crawler.worker.context import WorkerContext
from crawler.worker.dupefilter import FrontierDupeFilter
from crawler.worker.lease_queue import FrontierQueue
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.leases.plain_run_ids import PlainRunIds
from crawler.worker.leases.request_tracker import RequestTracker
from crawler.worker.leases.requeue import Requeue
from crawler.worker.outbox.outbox import Outbox
from crawler.worker.outbox.redis_room import RedisRoom
from crawler.worker.pauses import Pauses
from crawler.worker.prefetch import Prefetcher
from crawler.worker.scope_cuts import ScopeCuts
from crawler.worker.shortages import Shortages
from crawler.worker.turns.addresses import AddressBook
from crawler.worker.turns.answers import AnswerReporter
from crawler.worker.turns.pacing import Pacer
from crawler.worker.upkeep.budgets import WorkerBudgets
from crawler.worker.upkeep.failover_rest import FailoverRest
from crawler.worker.upkeep.generation import CurrentGeneration
from crawler.worker.upkeep.tier_tracker import TierConfig, TierTracker


class WorkerParts:
    """What leases, fetches in turn and reports, and what these share; `Worker` starts, keeps and ends them."""

    def __init__(
        self, crawler: Crawler, frontier: Frontier, queue: FrontierQueue, ended: Callable[[asyncio.Task[None]], None]
    ) -> None:
        """*ended* is called with each background task of theirs that has ended."""
        assert crawler.spider is not None
        frontier.statement = _statement(crawler, queue)
        self.name = f"{socket.gethostname()}-{os.getpid()}-{random.getrandbits(16):04x}"
        self.frontier = frontier
        self.queue = queue
        self.generation = CurrentGeneration(frontier.generations, crawler.spider.name)
        self.config = WorkerConfig.from_settings(crawler.settings)
        self.book = LeaseBook(queue.buffer)
        self.dupefilter = FrontierDupeFilter.from_spider(crawler.spider)
        self.losses = DataLossListeners()
        steady = STEADY_SECONDS if frontier.on_cluster else 0.0
        self.outage = RedisOutage(crawler.stats, self.losses.forget, steady_seconds=steady, away=frontier.shards.away)
        self.pauses = Pauses()
        self.shortages = Shortages(self.pauses)
        self.rest = FailoverRest(self.pauses)
        self.room = RedisRoom(frontier, self.pauses)
        self.outbox = Outbox(frontier, crawler.stats, self.outage, self._confirmed, self._wake, self.room)
        self.budgets = WorkerBudgets(crawler, frontier, self.book, self.outbox, queue.encoder)
        self.cuts = ScopeCuts(crawler.stats, partial(self.outbox.counts.cut, crawler.spider.name))
        self.requeue = Requeue(crawler, self.outbox)
        self.tracker = RequestTracker(crawler, self.book, self.outbox, self.requeue, frontier.config.max_deliveries)
        self._build_leasing(crawler, ended)

    def _build_leasing(self, crawler: Crawler, ended: Callable[[asyncio.Task[None]], None]) -> None:
        """What leases, what paces it, and what learns the tiers of hosts."""
        frontier, queue = self.frontier, self.queue
        rules = queue.encoder.rules
        context = WorkerContext(self.name, frontier, rules, self.book, self.outbox, self.outage)
        self.answers = AnswerReporter(context)
        shared = SharedAddresses.from_settings(crawler.settings)
        self.addresses = AddressBook(context, shared, self._wake, ended, self.config.address_seconds)
        self.pacer = Pacer(context, self.answers, self.addresses, partial(scrapy_hooks.gives_up, crawler))
        self.plain_runs = PlainRunIds(frontier.runs.plain, self.book, queue.spider.name, frontier.config.lease_ms)
        self.prefetcher = Prefetcher(context, crawler, queue, self.pauses, self.addresses, self.plain_runs)
        tiers = TierConfig.from_settings(crawler.settings)
        self.tiers = TierTracker(
            frontier.shards, queue.tier_routing, rules, tiers, crawler.stats, queue.spider.name, self.outage
        )

    def _wake(self) -> None:
        self.prefetcher.wake()

    def _confirmed(self, message: Message) -> None:
        if message.dedupe:
            self.dupefilter.confirm((message.stream, message.generation, message.fingerprint))


def _statement(crawler: Crawler, queue: FrontierQueue) -> Statement:
    rules, obeys = queue.encoder.rules, crawler.settings.getbool("ROBOTSTXT_OBEY")
    return Statement(queue.spider.name, *rules.by_name(), obeys_robots=obeys, by_address=rules.by_address)
