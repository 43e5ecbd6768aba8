"""One worker's share of the frontier: its parts, built in their order, and told of each other."""

from __future__ import annotations

import asyncio
import os
import random
import socket
from functools import partial

from scrapy.crawler import Crawler

from crawler import config, scrapy_hooks
from crawler import stats as names
from crawler.counting.tallies import tallies_of
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Message
from crawler.frontier.server import blocking, connection, sentinel
from crawler.frontier.server.blocking import BlockingScripts
from crawler.frontier.server.losses import DataLossListeners
from crawler.frontier.server.outage import STEADY_SECONDS, RedisOutage
from crawler.frontier.state.statement import Statement
from crawler.policy.shared_addresses import SharedAddresses
from crawler.worker.background import BackgroundTasks
from crawler.worker.dupefilter import FrontierDupeFilter
from crawler.worker.feeds import FeedClaim
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
from crawler.worker.turns.addresses import AddressBook
from crawler.worker.turns.answers import AnswerReporter
from crawler.worker.turns.pacing import Pacer
from crawler.worker.turns.slots import Slots
from crawler.worker.upkeep.budgets import WorkerBudgets
from crawler.worker.upkeep.damage_watch import DamageWatch
from crawler.worker.upkeep.generation import CurrentGeneration
from crawler.worker.upkeep.heartbeat import Heartbeat
from crawler.worker.upkeep.idleness import Idleness
from crawler.worker.upkeep.lease_renewal import LeaseRenewal
from crawler.worker.upkeep.run_stats import RunStats, read_table
from crawler.worker.upkeep.runs import WorkerRuns
from crawler.worker.upkeep.seed_reader import SeedReader
from crawler.worker.upkeep.tally_sender import TallySender
from crawler.worker.upkeep.tier_tracker import TierConfig, TierTracker
from crawler.worker.upkeep.watchdog import InHand, Watchdog


class Worker:
    """Everything between Scrapy's scheduler interface and the Frontier. `Lifecycle` opens, runs and ends it."""

    def __init__(self, crawler: Crawler, frontier: Frontier, queue: FrontierQueue) -> None:
        self.name = f"{socket.gethostname()}-{os.getpid()}-{random.getrandbits(16):04x}"
        self.has_left = False  # closed: it sends nothing any more
        self.close_seconds = config.number(crawler.settings, "FRONTIER_CLOSE_SECONDS")
        self.frontier = frontier
        self.queue = queue
        frontier.rules.statement = _statement(crawler, queue)
        self._build_leases(crawler)
        self._build_turns(crawler)
        self._build_upkeep(crawler)
        self._listen()

    def _build_leases(self, crawler: Crawler) -> None:
        """What is held, how it ends, and what keeps from leasing more."""
        frontier, queue, stats = self.frontier, self.queue, crawler.stats
        self.losses = DataLossListeners()
        steady = STEADY_SECONDS if frontier.shards.on_cluster else 0.0
        self.outage = RedisOutage(stats, self.losses.forget, steady_seconds=steady, away=frontier.shards.away)
        self.pauses = Pauses()
        self.room = RedisRoom(frontier, self.pauses)
        self.dupefilter = FrontierDupeFilter.from_spider(queue.spider)
        self.book = LeaseBook(queue.buffer)
        self.outbox = Outbox(frontier, stats, self.outage, self._confirmed, self._wake, self.room)
        self.tasks = BackgroundTasks(crawler, self.outbox.give_up)
        self.cuts = ScopeCuts(stats, partial(self.outbox.counts.cut, queue.spider.name))
        self.requeue = Requeue(crawler, self.outbox)
        self.tracker = RequestTracker(crawler, self.book, self.outbox, self.requeue, frontier.config.max_deliveries)

    def _build_turns(self, crawler: Crawler) -> None:
        """What leases, and what paces it."""
        frontier, queue, rules = self.frontier, self.queue, self.queue.encoder.rules
        book, outbox, outage = self.book, self.outbox, self.outage
        self.watchdog = self._watchdog(crawler)
        self.answers = AnswerReporter(frontier, rules, book, outbox, outage, self.watchdog.since)
        shared, ended = SharedAddresses.from_settings(crawler.settings), self.tasks.ended
        seconds = config.number(crawler.settings, "POLITENESS_ADDRESS_SECONDS")
        self.addresses = AddressBook(frontier.addresses, rules, outage, shared, self._wake, ended, seconds)
        gives_up, patience = partial(scrapy_hooks.gives_up, crawler), frontier.config.start_within_ms / 1000
        slots = Slots(self.name, frontier, rules, book, outbox, outage, self.addresses, gives_up)
        self.pacer = Pacer(rules, book, outbox, slots, self.answers, self.addresses, patience)
        self.plain_runs = PlainRunIds(frontier.runs.plain, book, queue.spider.name, frontier.config.lease_ms)
        self.prefetcher = Prefetcher(
            crawler, self.name, frontier, queue, book, outbox, outage, self.pauses, self.addresses, self.plain_runs
        )

    def _watchdog(self, crawler: Crawler) -> Watchdog:
        frontier, loop, stats = self.frontier, asyncio.get_running_loop(), crawler.stats
        scripts = BlockingScripts(frontier.shards, partial(blocking.connect, crawler.settings))

        def stood_still() -> None:
            loop.call_soon_threadsafe(stats.inc_value, names.STANDSTILLS)

        return Watchdog(
            frontier.config, scripts, self.queue.buffer, self._in_hand, stood_still, frontier.rules.statement
        )

    def _build_upkeep(self, crawler: Crawler) -> None:
        """What is done beside the pages; `Maintenance` says how often."""
        frontier, queue, book, outbox, name = self.frontier, self.queue, self.book, self.outbox, self.name
        settings, stats, spider, encoder = crawler.settings, crawler.stats, queue.spider.name, queue.encoder
        self.budgets = WorkerBudgets(crawler, frontier, book, outbox, encoder)
        tiers = TierConfig.from_settings(settings)
        self.tiers = TierTracker(frontier.shards, queue.tier_routing, encoder.rules, tiers, stats, spider, self.outage)
        self.generation = CurrentGeneration(frontier.generations, spider)
        self.seeds = SeedReader(crawler, frontier, encoder, self.generation, self.cuts, self._wake)
        self.runs = WorkerRuns(crawler, frontier.runs, frontier.spent, self.seeds.queue)
        self.run_stats = RunStats(stats, frontier.totals, name, read_table(settings))
        self.feeds = FeedClaim(frontier.shards, settings, spider, name)
        self.tallies = TallySender(tallies_of(crawler), frontier.domains, frontier.coverage, spider)
        self.damage = DamageWatch(frontier.inspection, stats, spider)
        self.renewal = LeaseRenewal(frontier, book, outbox, self.pauses)
        self.heartbeat = Heartbeat(crawler, frontier.workers, name, queue, book, outbox, self.pauses)
        self.idleness = Idleness(crawler, frontier.inspection, queue, book, outbox, self.seeds, self.heartbeat)

    def _listen(self) -> None:
        for forget in (
            *(self.dupefilter.clear, self.tiers.forget, self.generation.forget, self.frontier.rules.anew),
            *(self.queue.encoder.scopes.forget, self.plain_runs.forget, self.frontier.runs.forget),
        ):
            self.losses.listen(forget)
        self.losses.listen_to_losses(self.outbox.lose)
        self.frontier.on_other_data = self.frontier.gauge.on_eviction = self.losses.lose
        connection.listen(self.frontier.client, on_drop=self.losses.forget, on_other_server=self._other_server)

    def _other_server(self) -> None:
        self.losses.lose()
        if sentinel.is_watched(self.frontier.client):  # the primary that they have replaced may run on
            self.pauses.failed_over()

    def _in_hand(self) -> InHand:
        return InHand(self.book.all(), self.outbox.ending(), suspended=bool(self.pauses.reason))

    def _wake(self) -> None:
        self.prefetcher.wake()

    def _confirmed(self, message: Message) -> None:
        if message.dedupe:
            self.dupefilter.confirm((message.stream, message.generation, message.fingerprint))


def _statement(crawler: Crawler, queue: FrontierQueue) -> Statement:
    rules, obeys = queue.encoder.rules, crawler.settings.getbool("ROBOTSTXT_OBEY")
    return Statement(queue.spider.name, *rules.by_name(), obeys_robots=obeys, by_address=rules.by_address)
