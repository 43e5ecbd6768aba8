"""The readable output of `scrapy status`: fits 80 columns, and shows at a glance whether the crawl is finished."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rich.console import Group
from rich.table import Table

from crawler.commands.views import redis_view, status_tables
from crawler.commands.views.status_snapshot import Snapshot
from crawler.commands.views.tables import shortly
from crawler.frontier.inspection.waiting import WaitingHost
from crawler.policy.tiers import TIERS
from crawler.utils.durations import in_words
from crawler.utils.plural import several, wait

MOST_WAITING: Final = 5  # per list, so that all fits a screen; --json has more
LATE_MS: Final = 10_000


def render(seen: Snapshot) -> Group:
    """The whole output: whether the crawl is finished, when it will be, what delays it; then runs, hosts and
    workers."""
    parts: list[Table | str] = [verdict(seen), *map(_oldest, [seen] if seen.oldest_ms > LATE_MS else [])]
    parts.extend([*(f"{reason}." for reason in seen.held_up), *_silent(seen)])
    if seen.runs:
        parts.append(status_tables.runs(seen))
    if seen.more_runs:
        more = several(seen.more_runs, "older unfinished run")
        parts.append(f"Not shown: {more}. `scrapy runs --limit N` lists more.")
    if seen.spiders:
        parts.extend(["", status_tables.spiders(seen.spiders)] if seen.runs else [status_tables.spiders(seen.spiders)])
    if seen.tiers:
        parts.append(status_tables.tiers(seen.tiers))
    parts.extend(_remarks(seen))
    if seen.hosts:
        parts.append(status_tables.hosts(seen.hosts))
    if seen.workers:
        parts.append(status_tables.workers(seen.workers))
    parts.extend(f"Redis: {advice}." for advice in seen.advice)
    return Group(*parts)


def verdict(seen: Snapshot) -> str:
    """One line: finished, or speed and remaining time, or that it has stopped, or that nobody knows."""
    if seen.uncounted and not seen.pending:
        return "Unknown whether it is finished: counters in Redis were damaged, see below."
    if not seen.spiders and not seen.pending:
        nobody = "" if seen.workers else " No worker is running (`scrapy crawl`)."
        return f"Nothing is queued yet (`scrapy push`).{nobody}"
    if not seen.pending:
        waits = any(not run.is_over for run in seen.runs)
        more = " Runs below are not sealed: more may be pushed." if waits else ""
        return f"Finished: nothing is queued, leased or delayed.{more}"
    left = f"{several(seen.pending, 'request')} to go"
    if still := _standstill(seen):
        return f"{still}; {left}."
    speed = f"{seen.rate('pages_per_s'):,.1f} pages/s, {seen.rate('items_per_s'):,.1f} items/s"
    seconds = seen.seconds_to_go()
    ends = ", some of them held back, see below" if seconds is None else f": {in_words(seconds)}"
    return f"Crawling: {speed}, {several(len(seen.workers) - len(seen.silent), 'worker')}; {left}{ends}."


def _standstill(seen: Snapshot) -> str:
    """Why nothing is done; "" while something is."""
    if not seen.workers:
        return f"Stopped: no worker is running (`scrapy crawl {_waiting_spider(seen)}`)"
    if len(seen.silent) == len(seen.workers):
        return "Stopped: nothing is heard of any worker, see below"
    if seen.is_paused():
        return "Waiting: leasing is paused, see below"
    if seen.rate("pages_per_s") > 0:
        return ""
    if seen.waiting and not seen.eligible_hosts:
        return "Waiting: every host waits, see below"
    return (
        f"Waiting: {'requests are held back, see below' if seen.held_back else 'no page was done in the last minute'}"
    )


def _waiting_spider(seen: Snapshot) -> str:
    """The one that has something to do; `SPIDER` where there are several."""
    names = {name for name, one in seen.spiders.items() if one.queued + one.leased + one.delayed > 0}
    [name, *others] = sorted(names | {*seen.start_urls}) or ["SPIDER"]
    return "SPIDER" if others else name


def _silent(seen: Snapshot) -> Iterator[str]:
    if silent := seen.silent:
        which, longest = silent[0].name, max(one.seen_ms_ago for one in silent)
        who = which if len(silent) == 1 else f"{len(silent)} workers, such as {which},"
        yield (
            f"Nothing was heard of {who} for {shortly(longest)}: killed, stuck, or without Redis. "
            "What they hold is leased again as their leases expire."
        )


def _oldest(seen: Snapshot) -> str:
    return f"The oldest request that may go out has waited {in_words(seen.oldest_ms / 1000)} for a worker."


def _remarks(seen: Snapshot) -> Iterator[str]:
    if set(seen.spent) - {TIERS[0]}:
        told = [f"{tier} {sums['requests']:,.0f} requests, cost {sums['cost']:g}" for tier, sums in seen.spent.items()]
        yield "Today (UTC): " + "; ".join(told) + "."
    for spider, rules in sorted(seen.cut.items()):
        yield _cut(spider, rules)
    for spider, count in seen.start_urls.items():
        yield f"Start URLs of {spider} that no worker has taken in yet: {count:,}."
    yield ""
    if seen.spiders:
        yield f"Hosts ready now: {seen.eligible_hosts:,}; waiting for their next turn: {seen.waiting_hosts:,}."
    for why in seen.held_back[:MOST_WAITING]:
        yield f"Held back: {why}."
    for one in seen.waiting[:MOST_WAITING]:
        soon = f"in {shortly(one.until_ms)}" if one.until_ms > 0 else "now"
        yield f"{one.host}: {wait(one.pages, 'page')}, next try {soon}: {one.why}{_given_up(one)}."
    if (more := len(seen.waiting) - MOST_WAITING) > 0:
        yield f"{wait(more, 'more host')} (--json lists them)."
    if seen.dead_letters:
        yield f"Dead letters of all spiders: {seen.dead_letters:,} (see `scrapy dead list`)."
    yield from redis_view.remarks(seen, is_tended=bool(seen.workers))


def _cut(spider: str, rules: Mapping[str, int]) -> str:
    most_first = sorted(rules.items(), key=lambda one: (-one[1], one[0]))
    told = ", ".join(f"{rule} {count:,}" for rule, count in most_first)
    return f"Out of scope for {spider}, by rule: {told} (docs/scope.md)."


def _given_up(one: WaitingHost) -> str:
    if one.given_up_ms is None:
        return ""
    return f"; given up in {shortly(one.given_up_ms)}" if one.given_up_ms else "; given up when the next try fails"
