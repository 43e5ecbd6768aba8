"""The one order that loses nothing: children are stored before the page they are from is acknowledged."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler import stats as names
from crawler.frontier.errors import FrontierUnavailableError, ShardAwayError
from crawler.frontier.messages import Message, PushOutcome, Report
from crawler.frontier.server.shards import BATCH, pack
from crawler.worker.outbox.lease_endings import Bury, Gone, Move, Nack, Unsent
from crawler.worker.outbox.outbox import Outbox
from tests.clock import Clock
from tests.unit.frontier.fakes import Frontier, Outage, Room, Stats, message

PARENT = ("0:1", 1)


class Desk:
    """An outbox and what is around it."""

    def __init__(self, frontier: Frontier) -> None:
        self.frontier = frontier
        self.stats = Stats()
        self.outage = Outage()
        self.confirmed: list[Message] = []
        made: Any = Outbox
        self.woken: list[str] = []  # the last call before each wake
        confirmed, wake = self.confirmed.append, lambda: self.woken.append(frontier.names[-1])
        self.room = Room()
        self.outbox: Outbox = made(frontier, self.stats, self.outage, confirmed, wake, self.room)


@pytest.fixture
def desk() -> Desk:
    return Desk(Frontier())


async def test_a_flush_frees_hosts_first_then_stores_then_ends(desk: Desk) -> None:
    outbox = desk.outbox
    outbox.give_back(("0:9", 9))
    outbox.end(PARENT)
    outbox.push(message(1), PARENT)
    outbox.offer(message(2))
    outbox.report(Report(*PARENT, 1, 1, 200))
    started = outbox.start(PARENT, on_wire=True)
    suspect = outbox.start(("0:2", 2))
    assert len(outbox) == 7
    await outbox.flush()
    calls = ["start", "start on wire", "report", "forced push", "push", "ack", "give_back"]
    assert desk.frontier.names == calls
    assert (started.result(), suspect.result(), len(outbox)) == (True, True, 0)


async def test_a_flush_of_many_requests_is_not_stuck_while_redis_answers(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that ends would give up in the middle of a page with 300,000 links."""
    clock, push, stuck = Clock(), desk.frontier.push, []

    async def slow(messages: Sequence[Message], *, forced: bool = False) -> list[PushOutcome]:
        stuck.append(desk.outbox.stuck_for(0.0))
        clock.now += 15
        return await push(messages, forced=forced)

    monkeypatch.setattr("crawler.worker.outbox.outbox.monotonic", clock)
    monkeypatch.setattr(desk.frontier, "push", slow)
    for number in range(2 * BATCH + 1):
        desk.outbox.push(message(number), PARENT)
    await desk.outbox.flush()
    assert stuck == [0, 0, 0]


async def test_what_arrives_during_a_flush_waits_for_the_children_that_arrived_with_it(desk: Desk) -> None:
    def during(name: str) -> None:
        if name == "report":  # the flush has counted its endings; its pushes are still to come
            desk.outbox.push(message(2), ("0:2", 2))
            desk.outbox.end(("0:2", 2))

    desk.frontier.before = during
    desk.outbox.report(Report(*PARENT, 1, 1, 200))
    desk.outbox.push(message(1), PARENT)
    desk.outbox.end(PARENT)
    await desk.outbox.flush()
    assert desk.frontier.told[1:] == [("forced push", [b"1", b"2"]), ("ack", [PARENT])]
    await desk.outbox.flush()
    assert desk.frontier.told[-1] == ("ack", [("0:2", 2)])


async def test_hosts_are_freed_while_children_are_stored_and_their_page_ends_after_both() -> None:
    """A far Redis costs one round trip for the two."""
    stored, freed, frontier = asyncio.Event(), asyncio.Event(), Frontier()
    report, push = frontier.report, frontier.push

    async def slow_report(reports: Any) -> Any:
        freed.set()
        await stored.wait()
        return await report(reports)

    async def slow_push(messages: Any, *, forced: bool) -> Any:
        stored.set()
        await freed.wait()
        return await push(messages, forced=forced)

    frontier.report, frontier.push = slow_report, slow_push  # type: ignore[assignment, method-assign]
    outbox = Desk(frontier).outbox
    outbox.report(Report(*PARENT, 1, 1, 200))
    outbox.push(message(1), PARENT)
    outbox.end(PARENT)
    async with asyncio.timeout(60):
        await outbox.flush()
    assert sorted(frontier.names[:2]) == ["forced push", "report"]
    assert frontier.names[2:] == ["ack"]


async def test_one_that_fails_lets_the_other_end_before_both_are_tried_again(desk: Desk) -> None:
    fails = iter([True])

    def fail(name: str) -> None:
        if name == "report" and next(fails, False):
            raise FrontierUnavailableError

    desk.frontier.before = fail
    desk.outbox.report(Report(*PARENT, 1, 1, 200))
    desk.outbox.push(message(1), PARENT)
    desk.outbox.end(PARENT)
    await desk.outbox.flush()
    assert (desk.frontier.names, desk.outage.waited) == (["forced push", "report", "ack"], 1)


async def test_leasing_is_tried_again_as_soon_as_there_may_be_more(desk: Desk) -> None:
    desk.outbox.push(message(1), PARENT)
    desk.outbox.offer(message(2))
    await desk.outbox.flush()
    desk.outbox.report(Report(*PARENT, 1, 1, 200))
    await desk.outbox.flush()
    assert desk.woken == ["forced push", "push", "report"]
    started = desk.outbox.start(PARENT, on_wire=True)
    desk.outbox.end(PARENT)
    await desk.outbox.flush()
    assert await started
    assert len(desk.woken) == 3, "neither frees a host"


async def test_a_move_is_an_ending_like_any_other(desk: Desk) -> None:
    desk.outbox.end(Move(PARENT, "s:browser"))
    desk.outbox.push(message(1), PARENT)
    await desk.outbox.flush()
    assert desk.frontier.told == [("forced push", [b"1"]), ("move", (PARENT, "s:browser"))]
    assert desk.stats.counts[names.TIER_MOVES.format("browser")] == 1
    desk.frontier.ours = False
    desk.outbox.end(Move(PARENT, "s"))
    await desk.outbox.flush()
    assert (desk.stats.counts[names.TIER_MOVES.format("http")], desk.stats.counts[names.STALE]) == (0, 1)


Event = tuple[str, int]


@given(
    children=st.lists(st.integers(0, 3), min_size=1, max_size=8),
    order=st.randoms(use_true_random=False),
    arrivals=st.lists(st.integers(0, 4), max_size=60),
    failures=st.lists(st.booleans(), max_size=60),
    refusals=st.lists(st.booleans(), max_size=60),
)
def test_no_page_is_acknowledged_before_its_children_are_stored(
    children: list[int], order: Any, arrivals: list[int], failures: list[bool], refusals: list[bool]
) -> None:
    """Whatever arrives while a flush runs, whichever calls fail, and whichever children find no room."""
    desk, waiting = Desk(Frontier()), events(children, order)
    arriving, failing, refusing = iter(arrivals), iter(failures), iter(refusals)
    stored: list[bytes] = []

    def during(name: str) -> None:
        post(desk, waiting, next(arriving, 0))
        if next(failing, False):
            raise FrontierUnavailableError

    def outcome(message: Message) -> PushOutcome:
        if next(refusing, False):
            return PushOutcome.REFUSED_MEMORY
        stored.append(message.body)
        desk.frontier.told.append(("stored", [message.body]))
        return PushOutcome.ACCEPTED

    desk.frontier.before, desk.frontier.outcomes = during, outcome

    async def work() -> None:
        while waiting or len(desk.outbox):
            post(desk, waiting, 1)
            desk.outbox.new.children.try_now()
            await desk.outbox.flush()

    asyncio.run(work())
    log = [one for name, batch in desk.frontier.told if name in {"stored", "ack"} for one in batch]
    for parent, number in enumerate(children):
        bodies = [b"%d" % (100 * parent + child) for child in range(number)]
        assert all(log.index(body) < log.index(("0:1", parent)) for body in bodies)
    assert len(log) == len(set(log)) == len(children) + sum(children)  # a failed call is repeated as a whole


def events(children: list[int], order: Any) -> list[Event]:
    """Pages in any order side by side, each with its children before its end."""
    left = {parent: [*range(number), None] for parent, number in enumerate(children)}
    made: list[Event] = []
    while left:
        parent = order.choice(sorted(left))
        child = left[parent].pop(0)
        made.append(("end", parent) if child is None else ("push", 100 * parent + child))
        if not left[parent]:
            del left[parent]
    return made


def post(desk: Desk, waiting: list[Event], number: int) -> None:
    """Hand over the next *number* events."""
    for what, one in [waiting.pop(0) for _ in range(min(number, len(waiting)))]:
        if what == "push":
            desk.outbox.push(message(one), ("0:1", one // 100))
        else:
            desk.outbox.end(("0:1", one))


async def test_a_batch_that_failed_stays_in_front(desk: Desk) -> None:
    failures = iter([True, True])

    def fail(name: str) -> None:
        if next(failures, False):
            raise FrontierUnavailableError

    desk.frontier.before = fail
    desk.outbox.push(message(1), PARENT)
    desk.outbox.end(PARENT)
    await desk.outbox.flush()
    assert desk.frontier.names == ["forced push", "ack"]
    assert desk.outage.waited == 2


async def test_every_ending_is_told_and_counted(desk: Desk) -> None:
    desk.outbox.end(PARENT)
    desk.outbox.end(Nack(("0:2", 2), 50, "retry", b"body"))
    desk.outbox.end(Bury(("0:3", 3), "http_503", {}))
    desk.outbox.give_back(("0:4", 4))
    await desk.outbox.flush()
    assert desk.frontier.names == ["ack", "nack", "bury", "give_back"]
    assert desk.stats.counts == {
        names.ACKED: 1,
        names.NACKED: 1,
        names.NACKED_FOR.format("retry"): 1,
        names.BURIED.format("http_503"): 1,
        names.GIVEN_BACK: 1,
    }


async def test_what_frees_hosts_goes_before_children_and_children_before_their_parents_ack(desk: Desk) -> None:
    desk.outbox.end(PARENT)
    desk.outbox.push(message(1), PARENT)
    desk.outbox.report(Report(*PARENT, 1, 1, 200))
    started = desk.outbox.start(("0:7", 7), on_wire=True)
    await desk.outbox.flush()
    assert desk.frontier.names == ["start on wire", "report", "forced push", "ack"]
    assert await started


async def test_stale_tokens_are_counted_and_change_nothing_else(desk: Desk) -> None:
    desk.frontier.ours = False
    desk.outbox.report(Report(*PARENT, 1, 1, 200))
    desk.outbox.end(PARENT)
    desk.outbox.end(Nack(PARENT, 0, "retry"))
    desk.outbox.end(Bury(PARENT, "x", {}))
    desk.outbox.end(Gone(PARENT, "http_404", {}))
    desk.outbox.end(Unsent(PARENT))
    desk.outbox._returns.put_off.append(PARENT)
    lost = desk.outbox.start(PARENT)
    await desk.outbox.flush()
    assert lost.result() is False
    assert {name: count for name, count in desk.stats.counts.items() if count} == {names.STALE: 7}


@pytest.mark.parametrize("outcome", [PushOutcome.REFUSED_FULL, PushOutcome.REFUSED_MEMORY])
async def test_a_start_url_that_finds_no_room_waits_and_is_offered_again(desk: Desk, outcome: PushOutcome) -> None:
    desk.frontier.outcomes = lambda message: outcome
    desk.outbox.offer(message(1))
    await desk.outbox.flush()
    assert len(desk.outbox) == 1  # this worker still has something to do
    desk.frontier.outcomes = lambda message: PushOutcome.ACCEPTED
    desk.outbox.offer_again()
    await desk.outbox.flush()
    assert len(desk.outbox) == 0
    assert desk.stats.counts == {names.REFUSED: 1, names.PUSHED: 1}


async def test_only_what_the_frontier_has_is_confirmed(desk: Desk) -> None:
    outcomes = iter([PushOutcome.ACCEPTED, PushOutcome.DUPLICATE, PushOutcome.DUPLICATE_DEAD, PushOutcome.REFUSED_FULL])
    desk.frontier.outcomes = lambda message: next(outcomes)
    for number in range(4):
        desk.outbox.offer(message(number))
    await desk.outbox.flush()
    assert [one.body for one in desk.confirmed] == [b"0", b"1", b"2"]
    assert desk.stats.counts == {names.PUSHED: 1, names.DUPLICATES: 2, names.REFUSED: 1}


@pytest.mark.parametrize("on_wire", [False, True])
async def test_giving_up_lets_go_of_who_waits(desk: Desk, on_wire: bool) -> None:
    before = desk.outbox.start(PARENT, on_wire=on_wire)
    desk.outbox.end(PARENT)
    desk.outbox.give_up()
    assert await before is False
    assert await desk.outbox.start(PARENT, on_wire=on_wire) is False
    assert len(desk.outbox) == 0
    await desk.outbox.flush()
    assert desk.frontier.told == []


@pytest.mark.parametrize(
    "tell",
    [
        lambda outbox: outbox.push(message(1), PARENT),
        lambda outbox: outbox.offer(message(1)),
        lambda outbox: outbox.end(PARENT),
        lambda outbox: outbox.give_back(PARENT),
        lambda outbox: outbox.report(Report(*PARENT, 1, 1, 200)),
        lambda outbox: outbox.start(PARENT),
    ],
)
async def test_whatever_it_is_told_it_sends_at_once(desk: Desk, tell: Any) -> None:
    sent = asyncio.Event()
    desk.frontier.before = lambda name: sent.set()
    running = asyncio.create_task(desk.outbox.run())
    await asyncio.sleep(0.01)
    tell(desk.outbox)
    await asyncio.wait([asyncio.create_task(sent.wait())], timeout=60)
    running.cancel()
    assert sent.is_set()


async def test_it_sends_by_itself_while_it_runs(desk: Desk) -> None:
    running = asyncio.create_task(desk.outbox.run())
    assert await desk.outbox.start(PARENT)
    assert await desk.outbox.start(PARENT)
    running.cancel()
    assert desk.frontier.names == ["start", "start"]


@pytest.mark.parametrize(
    ("answer", "stat", "words"),
    [
        (30_000, "frontier/breaker_opened", "Circuit breaker opened for a.example: paused 30 s, then one probe"),
        (-1, "frontier/breaker_closed", "Circuit breaker closed for a.example: it answers again"),
    ],
)
async def test_what_becomes_of_a_hosts_breaker_is_counted_and_logged_once(
    desk: Desk, caplog: pytest.LogCaptureFixture, answer: int, stat: str, words: str
) -> None:
    desk.frontier.breaker = answer
    desk.outbox.report(Report(*PARENT, 1, 1, 0, fault=True, host="a.example"))
    with caplog.at_level("INFO"):
        await desk.outbox.flush()
    assert desk.stats.counts == {stat: 1}
    assert [words in message for message in caplog.messages] == [True]


async def test_a_breaker_that_opens_while_its_closing_is_told_is_judged_too(desk: Desk) -> None:
    """By a block page, which waits for no flush."""
    breakers, told = desk.outbox.breakers, []

    class Server:
        async def host_up(self, host: str) -> None:
            told.append(f"up {host}")
            breakers.opened(host, 30_000, "http:81")

        async def probe_other(self, host: str, origin: str) -> None:
            told.append(f"{host} because of {origin}")

        async def host_down(self, host: str) -> tuple[int, int]:
            told.append(f"down {host}")
            return 0, 0

    breakers._frontier = SimpleNamespace(breakers=Server(), shards=desk.frontier.shards)  # type: ignore[assignment]
    breakers.closed("a.example")
    await breakers.judge()
    assert told == ["up a.example", "a.example because of http:81", "down a.example"]


ELSEWHERE = ("1:1", 1)


@pytest.fixture
async def away(desk: Desk) -> Desk:
    """With all kinds of entries about each of two shards, one of which is away."""
    desk.frontier.away.add(1)
    for parent in (PARENT, ELSEWHERE):
        shard = parent[0][0]
        desk.outbox.start((f"{shard}:2", 2))
        desk.outbox.start(parent, on_wire=True)
        desk.outbox.report(Report(*parent, 1, 1, 200))
        desk.outbox.give_back((f"{shard}:9", 9))
        desk.outbox.end(parent)
        desk.outbox.offer(message(int(shard), host=f"s{shard}.example"))
    return desk


async def test_entries_of_a_shard_that_is_away_wait_and_hold_up_no_other(away: Desk) -> None:
    await away.outbox.flush()
    first, away.frontier.told = away.frontier.told, []
    assert [name for name, _ in first] == ["start", "start on wire", "report", "push", "ack", "give_back"]
    assert "1:" not in str(first)
    assert len(away.outbox) == 6
    away.frontier.away.clear()
    away.outbox.offer_again()
    await away.outbox.flush()
    assert [name for name, _ in away.frontier.told] == [name for name, _ in first]
    assert "0:" not in str(away.frontier.told)
    assert not len(away.outbox)


async def test_a_shard_that_goes_in_the_middle_of_a_flush_holds_up_no_other(desk: Desk) -> None:
    def goes(name: str) -> None:
        if name == "report" and not desk.frontier.away:
            desk.frontier.away.add(1)
            raise ShardAwayError

    desk.frontier.before = goes
    for handle in (PARENT, ELSEWHERE):
        desk.outbox.report(Report(*handle, 1, 1, 200))
    await desk.outbox.flush()
    assert desk.frontier.told == [("report", [Report(*PARENT, 1, 1, 200)])]
    assert not desk.outage.waited


async def test_a_page_waits_for_links_to_a_shard_that_is_away(desk: Desk) -> None:
    """And is not slowed: there is room."""
    desk.frontier.away.add(1)
    desk.outbox.push(message(1, host="s1.example"), PARENT)
    desk.outbox.push(message(2), PARENT)
    desk.outbox.end(PARENT)
    desk.outbox.end(("0:2", 2))
    await desk.outbox.flush()
    assert desk.frontier.told == [("forced push", [b"2"]), ("ack", [("0:2", 2)])]
    assert (desk.outbox.waiting, desk.outbox.new.children.refused, desk.room.full) == ([PARENT], False, False)
    desk.frontier.away.clear()
    desk.outbox.new.children.try_now()
    for _ in range(2):
        await desk.outbox.flush()
    assert desk.frontier.told[2:] == [("forced push", [b"1"]), ("ack", [PARENT])]


@pytest.mark.parametrize(
    ("pages", "hosts", "slows"),
    [(["1:1"], ["s1"], False), (["1:1"], ["s0"], True), (["1:1", "0:1"], ["s1", "s1"], True), (["0:1"], ["s1"], True)],
    ids=["of its own", "of another", "some of another", "of another alone"],
)
async def test_a_full_shard_slows_leasing_of_others_only_once_their_pages_wait_for_it(
    desk: Desk, pages: list[str], hosts: list[str], slows: bool
) -> None:
    desk.frontier.outcomes = full
    for number, (page, host) in enumerate(zip(pages, hosts, strict=True)):
        desk.outbox.push(message(number, host=f"{host}.example"), (page, 1))
    await desk.outbox.flush()
    assert (desk.outbox.new.children.refused, desk.outbox.new.slows, desk.room.full) == (True, slows, slows)


async def test_pages_whose_links_are_on_their_way_do_not_wait(desk: Desk) -> None:
    """Though a shard is full."""

    def during(name: str) -> None:
        if name == "forced push" and not desk.outbox.new.children.refused:
            desk.outbox.push(message(2), PARENT)

    desk.frontier.before, desk.frontier.outcomes = during, full
    desk.outbox.push(message(1, host="s1.example"), ELSEWHERE)
    await desk.outbox.flush()
    assert (desk.outbox.new.children.refused, desk.outbox.new.slows, desk.room.full) == (True, False, False)
    desk.frontier.before, desk.frontier.outcomes = lambda _: None, lambda _: PushOutcome.ACCEPTED
    desk.outbox.new.children.try_now()
    await desk.outbox.flush()
    assert not desk.outbox.new.children._held


async def test_no_shard_with_room_slows_leasing(desk: Desk) -> None:
    desk.frontier.outcomes = full
    for number in range(2):
        desk.outbox.push(message(number, host=f"s{number}.example"), (f"{number}:1", 1))
    await desk.outbox.flush()
    assert desk.room.full


async def test_a_worker_that_ends_waits_for_a_shard_that_is_away_as_for_all_of_redis(
    away: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.worker.outbox.outbox.AGAIN_SECONDS", 0.01)
    closing = asyncio.create_task(away.outbox.close())
    await asyncio.sleep(0.1)
    assert not closing.done()
    assert away.outbox.stuck_for(0.0) > 0
    suspect = away.outbox.start(("1:3", 3))
    away.outbox.give_up()
    assert suspect.result() is False
    await asyncio.wait_for(closing, 60)


async def test_a_worker_that_ends_has_time_left_for_a_shard_that_has_been_away_for_long(
    away: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or what others have to be told would be given up at once."""
    clock = Clock()
    monkeypatch.setattr("crawler.worker.outbox.outbox.monotonic", clock)
    monkeypatch.setattr("crawler.worker.outbox.entries_away.monotonic", clock)
    await away.outbox.flush()
    clock.now += 3_600
    assert away.outbox.stuck_for(clock.now - 1) == 1


@pytest.mark.parametrize("kind", ["start request", "cost"])
async def test_a_worker_that_ends_waits_for_a_shard_with_what_nobody_else_knows(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    charged: list[Any] = []

    async def charge(spent: Any) -> None:
        charged.append(spent)

    desk.frontier.budgets = SimpleNamespace(charge=charge)
    monkeypatch.setattr("crawler.worker.outbox.outbox.AGAIN_SECONDS", 0.01)
    desk.frontier.away.add(1)
    if kind == "cost":
        desk.outbox.counts.charge(("s1.example", "s", "0"), 5, 0.0, 0.0)
    else:
        desk.outbox.offer(message(1, host="s1.example"))
    closing = asyncio.create_task(desk.outbox.close())
    await asyncio.sleep(0.1)
    assert not closing.done()
    desk.frontier.away.clear()
    await asyncio.wait_for(closing, 60)
    assert (len(charged) + len(desk.frontier.told), desk.outbox.new.offers.left) == (1, [])


async def test_start_requests_for_a_shard_that_is_away_hold_up_no_other(desk: Desk) -> None:
    desk.frontier.away.add(1)
    for number in range(3 * BATCH):
        desk.outbox.offer(message(number, host="s1.example"))
    desk.outbox.offer(message(999))
    await desk.outbox.flush()
    assert desk.frontier.told == [("push", [b"999"])]


async def test_what_answers_cost_is_charged_once_by_shard(desk: Desk) -> None:
    charged: list[Any] = []

    async def charge(spent: Any) -> None:
        charged.append(spent)
        if "s1.example" in str(spent) and len(charged) < 3:
            desk.frontier.away.add(1)
            raise ShardAwayError

    desk.frontier.budgets = SimpleNamespace(charge=charge)
    for host in ("a.example", "s1.example"):
        desk.outbox.counts.charge((host, "s", "0"), 5, 0.0, 0.0)
    await desk.outbox.flush()
    desk.frontier.away.clear()
    await desk.outbox.flush()
    assert sum("a.example" in str(one) for one in charged) == 1
    assert charged[-1] == {("s1.example", "s", "0"): (5, 0.0, 0.0)}


def full(message: Message) -> PushOutcome:
    return PushOutcome.REFUSED_MEMORY


OTHER = ("0:2", 2)


async def test_children_without_room_hold_up_their_own_page_and_no_other(desk: Desk) -> None:
    desk.frontier.outcomes = lambda one: full(one) if one.body == b"1" else PushOutcome.ACCEPTED
    desk.outbox.push(message(1), PARENT)
    desk.outbox.end(PARENT)
    desk.outbox.push(message(2), OTHER)
    desk.outbox.end(OTHER)
    desk.outbox.end(Nack(("0:3", 3), 0, "retry"))
    await desk.outbox.flush()
    assert desk.frontier.names == ["forced push", "renew for room", "ack", "nack"]
    assert desk.frontier.told[1:3] == [("renew for room", [PARENT]), ("ack", [OTHER])]
    assert (desk.outbox.waiting, desk.outbox.new.children.refused, len(desk.outbox)) == ([PARENT], True, 2)
    await desk.outbox.flush()
    assert len(desk.frontier.told) == 4, "a full server is asked again after a second"
    desk.frontier.outcomes = lambda one: PushOutcome.DUPLICATE  # stored by an earlier try of the page: as good
    desk.outbox.new.children.try_now()
    await desk.outbox.flush()
    await desk.outbox.flush()
    assert desk.frontier.told[4:] == [("forced push", [b"1"]), ("ack", [PARENT])]
    assert (len(desk.outbox), desk.stats.counts[names.WAITED_FOR_ROOM]) == (0, 1)


async def test_a_full_shard_holds_up_no_child_of_another(desk: Desk) -> None:
    desk.frontier.outcomes = lambda one: full(one) if one.host == "s1.example" else PushOutcome.ACCEPTED
    desk.outbox.push(message(1, host="s1.example"), PARENT)
    await desk.outbox.flush()
    for number in range(2, 5):
        desk.outbox.push(message(number, host=f"s{number % 2}.example"), OTHER)
    await desk.outbox.flush()
    assert desk.frontier.told == [("forced push", [b"1"]), ("forced push", [b"2", b"4"])]
    assert len(desk.outbox) == 2


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        (PARENT, ("put_off", [PARENT])),
        (Bury(PARENT, "spider_error", {}), ("put_off", [PARENT])),
        (Nack(PARENT, 5, "item_error", b"body"), ("nack", PARENT)),
        (Move(PARENT, "s:browser"), ("move", (PARENT, "s:browser"))),
    ],
)
async def test_a_page_that_waits_for_longer_than_a_lease_goes_back_and_its_children_are_forgotten(
    desk: Desk, ending: Any, told: Any
) -> None:
    clock = Clock()
    desk.outbox._waiting._clock = clock
    desk.frontier.outcomes = full
    desk.outbox.push(message(1), PARENT)
    desk.outbox.end(ending)
    await desk.outbox.flush()
    clock.now += desk.frontier.config.lease_ms / 1000 - 1
    await desk.outbox.flush()
    assert desk.outbox.waiting == [PARENT]
    clock.now += 2
    await desk.outbox.flush()
    assert desk.frontier.told[-1] == told
    assert (desk.outbox.waiting, desk.outbox.new.children.refused, len(desk.outbox)) == ([], False, 0)


async def test_the_page_that_needs_most_room_is_named_also_while_it_is_put_off(desk: Desk) -> None:
    """Until it is stored, or there is room."""
    clock = Clock()
    desk.outbox._waiting._clock = clock
    desk.frontier.outcomes = full
    album, small = pack({"u": "http://a.example/album"}), pack({"u": "http://a.example/small"})
    for number in range(3):
        desk.outbox.push(message(number), PARENT, album)
    desk.outbox.end(PARENT)
    await desk.outbox.flush()
    named = desk.outbox.new.largest_waiting()
    clock.now += desk.frontier.config.lease_ms / 1000 + 1
    await desk.outbox.flush()
    assert desk.outbox.waiting == []
    desk.outbox.push(message(9), OTHER, small)
    desk.outbox.end(OTHER)
    await desk.outbox.flush()
    assert desk.outbox.waiting == [OTHER]
    assert desk.outbox.new.largest_waiting() == named
    assert named is not None
    assert named[0] == "http://a.example/album"
    desk.frontier.outcomes = lambda one: PushOutcome.ACCEPTED
    desk.room.full = False
    desk.outbox.new.children.try_now()
    await desk.outbox.flush()
    assert desk.outbox.new.largest_waiting() is None


async def test_of_too_many_children_those_that_wait_longest_go_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.worker.outbox.waiting_endings.MOST_KEPT", 4_500)
    desk.frontier.outcomes = full
    for number in range(4):
        desk.outbox.push(message(number), ("0:1", number))
        desk.outbox.end(("0:1", number))
    await desk.outbox.flush()
    assert len(desk.outbox.waiting) == 4
    desk.outbox.push(message(4), ("0:1", 4))
    desk.outbox._waiting._look_at = 0.0
    await desk.outbox.flush()
    desk.outbox._waiting._look_at = 0.0
    await desk.outbox.flush()
    assert desk.frontier.told[-1] == ("put_off", [("0:1", 0), ("0:1", 1)])


async def test_who_closes_tries_once_more_and_gives_back_what_finds_no_room(desk: Desk) -> None:
    desk.frontier.outcomes = full
    desk.outbox.push(message(1), PARENT)
    desk.outbox.end(PARENT)
    desk.outbox.offer(message(2))
    await desk.outbox.flush()
    told = len(desk.frontier.told)
    await desk.outbox.close()
    assert desk.frontier.told[told:] == [("forced push", [b"1"]), ("push", [b"2"]), ("put_off", [PARENT])]
    assert [one.body for one in desk.outbox.new.offers.left] == [b"2"]


async def test_a_page_whose_lease_is_lost_waits_no_longer(desk: Desk) -> None:
    desk.frontier.outcomes = full
    desk.outbox.push(message(1), PARENT)
    desk.outbox.end(PARENT)
    await desk.outbox.flush()
    desk.outbox.abandon(PARENT)
    await desk.outbox.flush()
    assert len(desk.outbox) == 0
    assert desk.frontier.names == ["forced push", "renew for room"]
