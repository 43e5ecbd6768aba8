"""Metrics of the whole fleet, exported once, by the leader of `scrapy serve`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from prometheus_client.metrics_core import Metric

from crawler.counting.tallies import OK, UNKNOWN, UNREACHED
from crawler.frontier.inspection.eligible import Eligible, Queue, waiting_ms
from crawler.frontier.inspection.inspection import FrontierStats
from crawler.frontier.messages import HostState, WorkerState
from crawler.frontier.state.budgets import Share
from crawler.frontier.state.tiers import Spent
from crawler.metrics import text
from crawler.policy.endings.failures import FailureClass
from crawler.policy.tiers import TierBudgets

STATES = ("queued", "leased", "delayed", "dead")
RUN_STATES = ("queued", "leased", "delayed", "done", "gone", "dead", "dropped")
OUTCOMES = (OK, *FailureClass, UNREACHED, UNKNOWN)  # all start at 0, so that a first count shows as a rise
PLACES = ("newest", "before")
MOST_FIELDS = 40  # of a run
MOST_BUDGETS = 100
MOST_REASONS = 40  # of dead letters: sites choose the status in http_NNN
COUNTED = ("accepted", "done", "dropped", "duplicates", "refused", "nacked", "reaped")


@dataclass(frozen=True, slots=True)
class RunFigures:
    """One run, unfinished or recently finished. Times in Unix seconds, 0 if not yet."""

    id: str
    spider: str
    name: str
    opened_at: float
    ended_at: float
    counts: Mapping[str, int]  # by RUN_STATES
    quiet_seconds: float = 0  # since something was pushed to it or done; 0 once it is over
    coverage: Mapping[str, float] = field(default_factory=dict)  # share of its items with the field
    place: str = ""  # one of PLACES, among the runs of its spider and name whose coverage is known


@dataclass(frozen=True, slots=True)
class ScheduleFigures:
    """One schedule, and how many seconds its last due tick is late."""

    name: str
    late_seconds: float


@dataclass(frozen=True, slots=True)
class FleetFigures:
    """A snapshot of the fleet; its counters never decrease within one process."""

    at: float  # Unix seconds
    stats: FrontierStats
    counts: Mapping[tuple[str, str], float]  # spider and one of COUNTED
    queues: Mapping[Queue, Eligible]
    domains: Mapping[str, Mapping[str, int]]  # domain -> outcome -> answers
    paces: Mapping[str, HostState]  # of these domains
    workers: Sequence[WorkerState]
    expected_workers: int
    dead_letters: int
    waiting_for_room: int
    memory: float  # share of maxmemory
    spent: Spent
    budgets: TierBudgets  # of the day; tiers without a limit are left out
    shares: Sequence[Share] = ()  # of all budgets, most spent first
    start_urls: Mapping[str, int] = field(default_factory=dict)  # waiting in their keys, by spider
    start_urls_wait: Mapping[str, float] = field(default_factory=dict)  # for so many seconds none was taken in
    runs: Sequence[RunFigures] = ()
    schedules: Sequence[ScheduleFigures] = ()
    wanted: Mapping[str, float] = field(default_factory=dict)  # workers that there is work for, by tier

    @property
    def eligible(self) -> Eligible:
        """Of all queues."""
        return sum(self.queues.values(), Eligible())


def render(fleet: FleetFigures | None, accept: str = "") -> tuple[bytes, str]:
    """The text of a scrape and its type; a replica that does not lead only says that."""
    return text.render(families(fleet), accept)


def families(fleet: FleetFigures | None) -> Iterator[Metric]:
    """All families; without figures only that there are none."""
    yield text.gauge("fleet_leader", "1 where this process exports the fleet", fleet is not None)
    if fleet is None:
        return
    yield text.gauge("fleet_look_timestamp_seconds", "When the snapshot was taken", fleet.at)
    yield from _frontier(fleet)
    yield from _workers(fleet)
    yield from _dead_letters(fleet)
    yield from _budgets(fleet)
    yield from _domains(fleet)
    yield from _runs(fleet)


def _frontier(fleet: FleetFigures) -> Iterator[Metric]:
    stats, ready = fleet.stats, fleet.eligible
    requests = {(name, state): getattr(one, state) for name, one in stats.spiders.items() for state in STATES}
    yield text.gauges("fleet_requests", "Requests in the frontier", ("spider", "state"), requests)
    queued = {queue: one.backlog + one.leased for queue, one in stats.tiers.items()}
    yield text.gauges("fleet_tier_requests", "Unfinished requests, by tier", ("spider", "tier"), queued)
    for what in COUNTED:
        counts = {spider: count for (spider, counted), count in fleet.counts.items() if counted == what}
        yield text.counters(f"fleet_{what}", f"Requests {what}", "spider", counts)
    hosts = {"eligible": stats.eligible_hosts, "waiting": stats.waiting_hosts, "suspect": stats.suspects}
    yield text.gauges("fleet_hosts", "Hosts with queued requests, by whether they are due", "state", hosts)
    yield text.gauge("fleet_eligible_hosts", "Hosts that may be sent a request within half a minute", ready.hosts)
    yield text.gauge("fleet_eligible_requests", "Requests that wait at these hosts", ready.requests)
    yield text.gauge("fleet_eligible_slots", "Requests that these hosts take at the same time", ready.slots)
    late = {spider: ms / 1000 for spider, ms in waiting_ms(fleet.queues).items()}
    late |= {spider: max(seconds, late.get(spider, 0)) for spider, seconds in fleet.start_urls_wait.items()}
    words = "How long the first due host, or the start URLs, have waited for a worker"
    yield text.gauges("fleet_oldest_waiting_seconds", words, "spider", late)
    born = {str(shard): ms / 1000 for shard, ms in enumerate(stats.born_ms) if ms}
    yield text.gauges(
        "fleet_born_timestamp_seconds", "When a shard's data began; it changes if Redis loses them", "shard", born
    )
    waiting = "Start URLs that no worker has read yet"
    yield text.gauges("fleet_start_urls", waiting, "spider", fleet.start_urls)
    yield text.gauge("fleet_waiting_for_room", "Pages that wait for room in Redis", fleet.waiting_for_room)
    yield text.gauge("fleet_redis_memory_ratio", "Share of Redis' maxmemory in use; 0 without a limit", fleet.memory)


def _workers(fleet: FleetFigures) -> Iterator[Metric]:
    alive: dict[str, float] = {}
    for worker in fleet.workers:
        spider = str(worker.info.get("spider", ""))
        alive[spider] = alive.get(spider, 0) + 1
    yield text.gauges("fleet_workers", "Workers alive", "spider", alive)
    words = "Workers that should be alive (FLEET_WORKERS); 0: not configured"
    yield text.gauge("fleet_workers_expected", words, fleet.expected_workers)
    words = "Workers that there is work for, as /scaling says"
    yield text.gauges("fleet_workers_wanted", words, "tier", fleet.wanted)


def _dead_letters(fleet: FleetFigures) -> Iterator[Metric]:
    yield text.gauge("fleet_dead_letters", "Dead letters of all spiders", fleet.dead_letters)
    by = dict(Counter(fleet.stats.dead_by).most_common(MOST_REASONS))
    by |= {"other": max(0, fleet.dead_letters - sum(by.values()))}
    yield text.gauges("fleet_dead_letters_by", "Dead letters by reason", "reason", by)
    evicted = "Dead letters evicted for want of room (FRONTIER_DEAD_LIMIT)"
    yield text.counter("fleet_dead_letters_evicted", evicted, fleet.stats.evicted)


def _budgets(fleet: FleetFigures) -> Iterator[Metric]:
    for name, words, by in (("spent", "spent today (UTC)", fleet.spent), ("budget", "allowed a day", fleet.budgets)):
        requests = {tier: float(count) for tier, count in by.requests.items()}
        cost = {tier: float(count) for tier, count in by.cost.items()}
        yield text.gauges(f"fleet_tier_{name}_requests", f"Requests {words}", "tier", requests)
        yield text.gauges(f"fleet_tier_{name}_cost", f"Cost {words}, in the unit of the tier's fetcher", "tier", cost)

    told = fleet.shares[:MOST_BUDGETS]
    words = "Spent share of a budget: of a domain, a spider, a run, or a tier of the whole fleet"
    yield text.gauges("budget_spent_ratio", words, ("budget", "what"), {one[:2]: one.spent for one in told})
    words = "Elapsed share of the budget's day"
    yield text.gauges("budget_day_ratio", words, "budget", {one.name: one.day for one in told})


def _domains(fleet: FleetFigures) -> Iterator[Metric]:
    answers = {(name, outcome): of.get(outcome, 0) for name, of in fleet.domains.items() for outcome in OUTCOMES}
    words = "Responses of the busiest domains, by outcome"
    yield text.counters("domain_responses", words, ("domain", "outcome"), answers)
    paces = fleet.paces
    delays = {name: one.delay_ms / 1000 for name, one in paces.items()}
    yield text.gauges("domain_delay_seconds", "Current minimum time between two requests", "domain", delays)
    latencies = {name: one.latency_ms / 1000 for name, one in paces.items()}
    yield text.gauges("domain_latency_seconds", "Running mean of the time to first byte", "domain", latencies)
    openings = {name: one.openings for name, one in paces.items()}
    yield text.gauges(
        "domain_breaker_openings", "Openings in a row of the circuit breaker; 0: closed", "domain", openings
    )
    flying = {name: one.in_flight for name, one in paces.items()}
    yield text.gauges("domain_in_flight", "Requests in flight at the domain", "domain", flying)


def _runs(fleet: FleetFigures) -> Iterator[Metric]:
    by = {run.id: (run.id, run.spider, run.name) for run in fleet.runs}
    labels = ("run", "spider", "name")
    counts = {(*by[run.id], state): n for run in fleet.runs for state, n in run.counts.items()}
    yield text.gauges("run_requests", "Requests of a run", (*labels, "state"), counts)
    opened = {by[run.id]: run.opened_at for run in fleet.runs}
    yield text.gauges("run_opened_timestamp_seconds", "When the run was opened", labels, opened)
    ended = {by[run.id]: run.ended_at for run in fleet.runs}
    yield text.gauges("run_ended_timestamp_seconds", "When the run ended; 0: not yet", labels, ended)
    quiet = {by[run.id]: run.quiet_seconds for run in fleet.runs}
    words = "How long nothing was pushed to the run or done; 0 once it is over"
    yield text.gauges("run_quiet_seconds", words, labels, quiet)
    fields = {
        (run.spider, run.name, run.place, name): share
        for run in fleet.runs
        for name, share in list(run.coverage.items())[:MOST_FIELDS]
    }
    words = "Share of a run's items with the field: of the newest run of a name, and the one before"
    yield text.gauges("run_field_coverage_ratio", words, ("spider", "name", "place", "field"), fields)
    late = {one.name: one.late_seconds for one in fleet.schedules}
    yield text.gauges("schedule_late_seconds", "Seconds by which a schedule is overdue; 0: it is not", "schedule", late)
