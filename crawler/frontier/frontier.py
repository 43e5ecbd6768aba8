"""The frontier's typed interface: one method per script, any number of shards behind it.

A failed call raises FrontierError. Its outcome is then unknown, and it may be repeated: a stale token changes nothing,
and a repeated push is a duplicate (with dedupe=False a second copy).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from crawler.frontier.config import FrontierConfig
from crawler.frontier.errors import FrontierError, ShardAwayError
from crawler.frontier.inspection.finding import UrlFinder
from crawler.frontier.inspection.inspection import Inspection
from crawler.frontier.lease_calls import LeaseCalls
from crawler.frontier.messages import Batch, Handle, Message, PushOutcome, Slot
from crawler.frontier.pushing import Row, push_rows
from crawler.frontier.runs.control import Control
from crawler.frontier.runs.coverage import Coverage
from crawler.frontier.runs.generations import Generations
from crawler.frontier.runs.run_totals import RunTotals
from crawler.frontier.runs.runs import Runs
from crawler.frontier.runs.scopes import RunScopes
from crawler.frontier.runs.sitemaps import Sitemaps
from crawler.frontier.runs.spent_runs import SpentRuns
from crawler.frontier.server import keys, server_check
from crawler.frontier.server.data_marks import DataMarks
from crawler.frontier.server.drops import same_server
from crawler.frontier.server.scripts import Client
from crawler.frontier.server.shards import Shards
from crawler.frontier.server.wire_format import flag, handle_row, pairs, push_row, read_lease, text_of
from crawler.frontier.state.addresses import Addresses
from crawler.frontier.state.backpressure import Backpressure
from crawler.frontier.state.breakers import HostBreakers
from crawler.frontier.state.budgets import Budgets
from crawler.frontier.state.damage import Damage
from crawler.frontier.state.dead_letters import DeadLetters
from crawler.frontier.state.domains import Domains
from crawler.frontier.state.robots import Robots
from crawler.frontier.state.schedules import Schedules
from crawler.frontier.state.shares import Shares
from crawler.frontier.state.stated_rules import StatedRules
from crawler.frontier.state.workers import Workers

LEASE_MOST: Final = 500  # per call, which blocks Redis


class Frontier(LeaseCalls):
    """Leased, host-fair, polite scheduling for a fleet of workers. All state is in Redis.

    This class is the queue; `LeaseCalls` has what becomes of a lease. What the fleet shares beside it has a part each:

    - `inspection` counts and lists, `finding` looks for a URL, `workers` says who is alive
    - `control` is what operators have paused or cancelled; `dead` keeps dead letters, `gone` missing pages
    - `runs` opens and ends runs, of which `totals` sums the stats, `coverage` the fields of items, `scopes` says what
      they may fetch and what was cut, `generations` forgets what they know
    - `budgets` says what may be spent, dealt as `shares`, `spent` ends runs without any; `schedules` says when to crawl
    - `robots` and `sitemaps` are files of sites; `addresses` tells which hosts share one, `domains` what busy ones
      answer, `breakers` which are down
    - `rules` tells by which its worker crawls, `damage` names what was set aside, `gauge` whether Redis is full
    """

    def __init__(
        self,
        client: Client,
        config: FrontierConfig,
        *,
        rng: Callable[[], float] = random.random,
        replaced: Mapping[str, str] | None = None,
    ) -> None:
        self.client = client
        self.config = config
        super().__init__(Shards(client, config, replaced), rng)
        self.inspection = Inspection(self.shards)
        self.workers = Workers(self.shards)
        self.control = Control(self.shards)
        self.finding = UrlFinder(self.shards, self.inspection)
        self.dead = DeadLetters(self.shards)
        self.gone = DeadLetters(self.shards, "gone")
        self.generations = Generations(self.shards)
        self.runs = Runs(self.shards)
        self.spent = SpentRuns(self.shards, self.runs)
        self.totals = RunTotals(self.shards)
        self.shares = Shares(self.shards, rng)
        self.breakers = HostBreakers(self.shards)
        self.robots = Robots(self.shards)
        self.sitemaps = Sitemaps(self.shards)
        self.scopes = RunScopes(self.shards)
        self.budgets = Budgets(self.shards)
        self.addresses = Addresses(self.shards)
        self.domains = Domains(self.shards)
        self.schedules = Schedules(self.shards)
        self.coverage = Coverage(self.shards)
        self.damage = Damage(self.shards)
        self.gauge = Backpressure(client, self.shards)
        self.rules = StatedRules(self.shards, self.budgets, self.damage)
        self.advice: tuple[str, ...] = ()  # advice for the operator, once it is open
        self._marks = DataMarks(self.shards, lambda: self.on_other_data())  # noqa: PLW0108 - it is replaced
        self.on_other_data: Callable[[], None] = lambda: None  # called before the leases that show it are returned

    async def open(self) -> None:
        """Check and set up the server; raises ServiceError, which says what to do."""
        self.advice = await server_check.prepare(self.client, self.shards)

    async def push(self, messages: Sequence[Message], *, forced: bool = False) -> list[PushOutcome]:
        """Store new messages. *forced*: children of leased work, never refused for fullness (except at maxmemory)."""
        await self.rules.note(messages)
        return await self.push_rows([(message.host, push_row(message)) for message in messages], forced=forced)

    async def push_rows(self, rows: Sequence[Row], *, forced: bool = False) -> list[PushOutcome]:
        """`push` of messages that are packed already; for what states no rules."""
        full = set() if forced else await self.gauge.full()
        return await push_rows(self.shards, rows, forced=forced, full=full)

    async def why_full(self) -> str:
        """Why seeds and other new work should wait; "" if they need not."""
        if self.shards.away:
            return "a node of the Cluster is away"
        return await self.gauge.why_full((await self.inspection.stats()).total.backlog)

    async def lease(
        self,
        streams: Sequence[str],
        limit: int,
        *,
        worker: str,
        suspects_ok: bool = False,
        exclude_hosts: Collection[str] = (),
        held: Callable[[], Collection[int]] = tuple,
    ) -> Batch:
        """Up to *limit* requests, LEASE_MOST per shard, whose hosts may be crawled now; a suspect comes alone and only
        with *suspects_ok*. A full shard gives one, and none while it is among the *held*, of which this worker has
        some; nobody asks for these while there is room."""
        with same_server(self.client):  # one that has started since is told first (lua/hosts/rules.lua)
            full = await self.gauge.full()
            ours = held() if full else ()
            most = {shard: int(shard not in ours) for shard in full}
            await self.rules.state_news()
            return await self._lease_some(streams, limit, worker, exclude_hosts, most, suspects_ok=suspects_ok)

    async def _lease_some(
        self,
        streams: Sequence[str],
        limit: int,
        worker: str,
        exclude_hosts: Collection[str],
        most: Mapping[int, int],
        *,
        suspects_ok: bool,
    ) -> Batch:
        shards, leased = [shard for shard in self.shards.there if most.get(shard, 1)], 0
        first = int(self._rng() * len(shards))
        parts: list[Batch] = []
        for shard in shards[first:] + shards[:first]:
            asked = (min(limit - leased, most.get(shard, LEASE_MOST)), worker, flag(suspects_ok and not leased))
            try:
                part = self._read(shard, await self._lease(shard, asked, streams, exclude_hosts))
            except ShardAwayError:
                continue
            except FrontierError:
                if not leased:
                    raise
                break  # leases of other shards are ours already; the next call meets the error
            parts.append(part)
            leased += len(part.leases)
            if leased >= limit or any(lease.is_suspect for lease in part.leases):
                break
        return Batch.merged(parts)

    def _read(self, shard: int, answer: Sequence[Any]) -> Batch:
        """What one shard answered."""
        born, seq, now, wait, backlog, suspects, rows, unknown, found = answer
        within, step = self.config.start_within_ms, self.config.priority_step_ms
        return Batch(
            [read_lease(shard, now, *row, within, step) for row in zip(rows[::3], rows[1::3], rows[2::3], strict=True)],
            wait if wait >= 0 else None,
            backlog,
            suspects,
            self._marks.is_other(shard, born, seq),
            [text_of(host) for host in unknown],
            {text_of(host): text_of(name) for host, name in pairs(found)},
        )

    async def _lease(
        self, shard: int, asked: tuple[int, str, str], streams: Sequence[str], excluded: Collection[str]
    ) -> list[Any]:
        """Lease from one shard, after overdue leases are queued again and our rules are stated there."""
        reaped, stated = "0", self.rules.statement.text if self.rules.statement else ""
        while True:
            answer: list[Any] = await self.shards.run(
                "lease", shard, *asked, reaped, stated, len(streams), *streams, *excluded
            )
            if len(answer) > 1:
                return answer
            if answer:
                await self.rules.state_at(shard)
            else:
                await self.shards.run("reap", shard)
                reaped = "1"

    async def seek(self) -> None:
        """Look for shards that are away, and tell those that are back our rules. Raises the error of one that is
        not."""
        if await self.shards.seek():
            self.rules.anew()

    async def back_off(self, host: str, elapsed_ms: int, *, status: int = 403, again: bool = False) -> int:
        """*host* answered with a block page, *elapsed_ms* after the wire start, with a *status* that is reported
        already: a complaint like a 429. *again*: this request met a complaint before. Returns for how many ms the host
        is paused, negative if that opened its breaker."""
        row = (host, max(0, elapsed_ms), status, flag(again), self._rng())
        return int(await self.shards.run("back_off", self.shards.of_host(host), *row))

    async def reserve_slot(
        self,
        host: str,
        *,
        delay_ms: int = 0,
        cap: int = 1,
        burst: int = 1,
        worker: str = "",
        lease: Handle | None = None,
    ) -> Slot:
        """A paced slot for a request that bypasses the queue; report it under the token of the answer.

        With *lease* it belongs to that lease: it uses the lease's slot while there is one (robots.txt before the page:
        report the first with keep=True, then reserve again for the page), else the lease gets a slot again (a redirect
        hop).
        """
        shard, spider = self.shards.of_host(host), self.rules.statement.spider if self.rules.statement else ""
        under: tuple[bytes, ...] = ()
        if lease is not None:
            shard, under = keys.shard_of_id(lease[0]), (handle_row(lease),)
        with same_server(self.client):  # as in `lease`
            await self.rules.state_news()
            wait, number, token = await self.shards.run(
                "reserve_slot", shard, host, delay_ms, cap, burst, worker, spider, *under
            )
        if wait:
            return Slot(max(0, wait), lost=wait < 0)
        return Slot(0, self.config.start_within_ms, (f"{shard}:{int(number)}", token))
