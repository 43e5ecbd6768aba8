"""The result of a chaos run in words: for the terminal, and for docs/chaos.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from benchmarks import document
from tests.chaos import rules, trouble, verdict
from tests.chaos.result import Result

MOST: Final = 10  # lines of a kind


def violations(result: Result) -> list[str]:
    """A line for each promise that was broken; none after a good run."""
    stored = verdict.stored(result.plan, result.documents)
    wire = verdict.wire(result.log, result.options.delay, result.freezes, _unpaced(result))
    found = [f"lost: {url}" for url in stored.lost]
    found += [f"duplicated: {url}" for url in stored.duplicated]
    found += [f"{result.changes} changes recorded of pages that never change"] if result.changes else []
    found += [_short(gap, result) for gap in wire.too_short]
    found += [f"dead: {line}" for line in verdict.unexpected_dead(result.plan, result.dead)]
    if result.left is None or str(result.left) != str(verdict.Left(0, 0, 0, 0, 0)):
        found.append(f"left in the frontier: {result.left}")
    if result.turned_away > (len(result.set_back) + len(result.restored) + result.mongo_kills) * result.options.workers:
        found.append(f"{result.turned_away} workers could not use their servers")
    return found + result.troubles + [line for part in parts(result).values() for line in part]


def parts(result: Result) -> dict[str, list[str]]:
    """What did not hold in each part of the run that was asked for."""
    given = result.options
    judges = {
        "memory full": (given.fills, _full),
        "Redis emptied, and filled again": (given.empties, _emptied),
        "Redis set back, and filled again": (given.olders, _restored),
        "an old and a new release": (given.old, _releases),
        "rules changed": (given.rules, _rules),
    }
    return {name: list(judge(result)) for name, (times, judge) in judges.items() if times}


def _full(result: Result) -> Iterator[str]:
    fillings = result.fillings
    if fillings.count < result.options.fills:
        yield f"Redis was full {fillings.count} times, not {result.options.fills}"
    if not fillings.waited:
        yield "no page waited for room while Redis was full"
    yield from fillings.troubles


def _emptied(result: Result) -> Iterator[str]:
    """What was known to Redis alone has to be found again, all of it."""
    if len(result.emptied) < result.options.empties:
        yield f"Redis was emptied {len(result.emptied)} times, not {result.options.empties}"
        return
    again = {(one.host, one.path) for one in result.log if one.status == 200 and one.at > result.emptied[-1][1]}
    for url in sorted(result.plan.expected):
        at = urlsplit(url)
        if (at.hostname, at.path) not in again:
            yield f"never asked for again after Redis was emptied: {url}"


def _restored(result: Result) -> Iterator[str]:
    """What was done since that state has to be done again."""
    if len(result.restored) < result.options.olders:
        yield f"Redis was set back {len(result.restored)} times, not {result.options.olders}"
    for killed, ended in result.restored:
        since = {(one.host, one.path) for one in result.log if killed - trouble.OLDER_SECONDS / 2 < one.at < killed}
        again = {(one.host, one.path) for one in result.log if one.at > ended}
        if not since & again:
            yield "nothing was asked for again after Redis was set back"


def _releases(result: Result) -> Iterator[str]:
    if not result.passed_on:
        yield "workers of the release before met nothing of the new one"


def _rules(result: Result) -> Iterator[str]:
    if len(result.stricter) < result.options.rules:
        yield f"a worker with stricter rules was at work {len(result.stricter)} times, not {result.options.rules}"
    for stricter in result.stricter:
        yield from rules.violations(result.log, stricter, result.freezes, _settled(result), _lost(result))


def _lost(result: Result) -> list[float]:
    return [began for began, _ in result.emptied]


def _settled(result: Result) -> float:
    """Seconds until requests leased under the earlier rules have been sent or given back."""
    return 0.3 * result.options.lease + rules.TIMES * result.options.delay + verdict.THAW_SECONDS


def _strict(result: Result) -> str:
    told = [rules.seen(result.log, one, result.freezes, _settled(result)) for one in result.stricter]
    return "; ".join(
        f"{one.wire.smallest:.4f} s of {stricter.delay:g} s, {_fell(one.fell, stricter, result)}"
        for one, stricter in zip(told, result.stricter, strict=True)
    )


def _fell(fell: float | None, stricter: rules.Stricter, result: Result) -> str:
    if fell is None:
        return "to the end"
    return f"{fell:.1f} s" + (" (Redis was emptied)" if rules.were_lost(stricter, fell, _lost(result)) else "")


def _unpaced(result: Result) -> list[tuple[float, float]]:
    """Times when earlier requests were unknown: Redis had lost them, and workers continued with what they had."""
    seconds = 0.3 * result.options.lease + result.options.delay + verdict.THAW_SECONDS
    return [(began, ended + seconds) for began, ended in result.emptied + result.set_back + result.restored]


def _short(gap: verdict.Gap, result: Result) -> str:
    first, second = gap.earlier, gap.later
    return (
        f"too close: {gap.seconds:.4f} s of {result.options.delay} s at {first.host} between {first.path} of "
        f"{first.agent} ({first.at:.3f}) and {second.path} of {second.agent}"
    )


def rows(result: Result) -> list[tuple[str, str]]:
    """What happened, and the outcome."""
    stored = verdict.stored(result.plan, result.documents)
    wire = verdict.wire(result.log, result.options.delay, result.freezes, _unpaced(result))
    reasons = Counter(result.dead.values())
    counters = result.counters
    return [
        ("requests in flight per host", str(result.options.cap)),
        ("pages that must be stored", str(len(result.plan.expected))),
        ("workers at a time, seconds", f"{result.options.workers}, {result.seconds:.0f}"),
        ("workers of the release before, callbacks left to others", f"{result.options.old}, {result.passed_on}"),
        ("workers killed with -9", str(result.kills)),
        ("workers killed by a page", str(result.fatal_kills)),
        ("workers frozen for longer than their leases", str(len(result.freezes))),
        ("Redis killed with -9, and its last second lost", str(len(result.set_back))),
        ("MongoDB killed with -9", str(result.mongo_kills)),
        ("times that Redis was full", str(result.fillings.count)),
        ("pages that waited for room then, at the most", str(result.fillings.waited)),
        ("pages done then", str(result.fillings.drained)),
        ("workers killed with -9 and stopped then", f"{result.fillings.killed}, {result.fillings.stopped}"),
        ("times that Redis was emptied, and filled again", str(len(result.emptied))),
        ("times that it went back to an older state, and was filled again", str(len(result.restored))),
        ("smallest gap under stricter rules, and how long they outlived their worker", _strict(result)),
        ("spool files at the most", str(result.spooled)),
        ("workers that came while a server was away, and were started again", str(result.turned_away)),
        ("leases taken back", str(counters.reaped)),
        ("pages delivered again", str(wire.redeliveries)),
        ("requests on the wire", str(wire.requests)),
        ("smallest gap at a host, delay", f"{wire.smallest:.4f} s, {result.options.delay} s"),
        ("gaps below the delay", str(len(wire.too_short))),
        ("gaps that a freeze between check and send cost", str(len(wire.by_freezes))),
        ("dead letters, all meant to be", ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))),
        ("left in the frontier", str(result.left)),
        ("pages stored", str(stored.pages)),
        ("lost", str(len(stored.lost))),
        ("duplicated", str(len(stored.duplicated) + result.changes)),
    ]


def lines(result: Result) -> list[str]:
    """For the terminal."""
    found = violations(result)
    shown = [f"  {name}: {value}" for name, value in rows(result)]
    shown += [f"  part {name}: {f'{len(part)} violations' if part else 'held'}" for name, part in parts(result).items()]
    return [*shown, *(f"VIOLATION {line}" for line in found[:MOST]), f"  violations: {len(found)}"]


_HEAD: Final = """# Chaos

Written by `make chaos`; no figure is typed in. Real workers crawl a local site (links, redirects within a host and
to another one, pages that fail once or twice, a few that always fail) while they are killed with -9 at random and
frozen for longer than their leases. MongoDB is killed over and over, while items wait in the spool, and Redis once;
each comes back from its journal. Redis is also full for a while, in which a worker is killed, another one stopped and
MongoDB killed; once it loses all it holds, and once it goes back to an older state, and the start URLs are pushed
again. Arrivals are stamped by the kernel.
The run fails unless nothing is lost, duplicated, left behind or sent too early. At first a worker of the release before
runs beside the others: it lacks a callback that half of the links go to, and leaves them to the others. For a while a
worker with six times the delay is at work: all keep it, until it is killed and some seconds more. Each of these parts
has a verdict of its own. A run takes two to five minutes on two cores, and is given up after seven.
"""


def write(file: Path, results: Sequence[Result]) -> None:
    """The page, whole."""
    columns = [dict(rows(result)) for result in results]
    body = [[name, *(column[name] for column in columns)] for name in columns[0]]
    judged = [parts(result) for result in results]
    body += [[f"{part}: violations", *(str(len(of_run[part])) for of_run in judged)] for part in judged[0]]
    body.append(["violations", *(str(len(violations(result))) for result in results)])
    head = ["", *(f"run {number + 1}" for number in range(len(results)))]
    where = f"Seed {results[0].options.seed}. {document.machine('scrapy', 'redis', 'pymongo')}."
    file.write_text(f"{_HEAD}\n{document.rows(head, body)}\n\n{where}\n")
