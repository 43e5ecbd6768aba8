"""Turns at a host: of a page in its time, and of what goes beside the queue or in a page's stead."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from crawler.errors import EndingError
from crawler.frontier.messages import Slot
from crawler.frontier.runs.control import ControlState
from crawler.routing.host_rules import HostRule
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.leases.lease_buffer import Buffer
from crawler.worker.outbox.outbox import Outbox
from crawler.worker.turns.answers import AnswerReporter
from crawler.worker.turns.pacing import Pacer
from crawler.worker.turns.reported_origins import ReportedOrigins
from crawler.worker.turns.slots import Slots
from crawler.worker.turns.turn import TooLateError, Turn
from crawler.worker.turns.unsent import MissedError
from tests.clock import Clock
from tests.unit.frontier.fakes import Frontier, Outage, Room, Stats, held

PAGE = Request("http://a.example/page")
ROBOTS = Request("http://a.example/robots.txt")
GRANTED = Slot(0, 20_000, ("0:7", 77))
REFUSED = Slot(250)


class Rules:
    def of(self, request: Request) -> HostRule:
        return HostRule("a.example", 0, 1)


class Addresses:
    """Each host alone."""

    def __init__(self) -> None:
        self.ensured: list[str] = []

    async def ensure(self, host: str) -> None:
        self.ensured.append(host)

    def is_moving(self, host: str, paced_by: str) -> bool:
        return False


class Site:
    """A pacer and what is around it."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.frontier = Frontier()
        self.buffer = Buffer()
        self.book = LeaseBook(self.buffer)
        made: Any = Outbox
        self.outbox: Outbox = made(self.frontier, Stats(), Outage(), lambda message: None, lambda: None, Room())
        shared = (Rules(), self.book, self.outbox)
        made = AnswerReporter
        self.answers = made(self.frontier, *shared, Outage(), self._held_up_since, self.clock)
        self.addresses: Any = Addresses()
        made = Slots
        slots = made("w", self.frontier, *shared, Outage(), self.addresses, self._gives_up, self.clock)
        made = Pacer
        self.pacer: Pacer = made(*shared, slots, self.answers, self.addresses, 20, self.clock)
        self.gives_up: Callable[[float], bool] = lambda _: False
        self.held_up_since: Callable[[float], float] = lambda _: 0.0

    def _gives_up(self, seconds: float) -> bool:
        return self.gives_up(seconds)

    def _held_up_since(self, moment: float) -> float:
        return self.held_up_since(moment)

    def holds(self, request: Request, number: int = 1) -> HeldLease:
        lease = held(number)
        self.book.hold(request, lease)
        return lease

    def taken(self) -> list[Any]:
        """Under which lease each turn was asked for."""
        return [what["lease"] for name, what in self.frontier.told if name == "take"]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Site:
    site = Site()

    async def sleep(seconds: float) -> None:
        site.clock.now += seconds

    monkeypatch.setattr("asyncio.sleep", sleep)
    return site


async def test_a_page_was_paced_when_it_was_handed_out(site: Site) -> None:
    lease = site.holds(PAGE)
    turn = await site.pacer.turn(PAGE)
    site.pacer.sent(turn)
    site.pacer.answered(turn, Response(PAGE.url))
    await site.outbox.flush()
    await site.pacer.confirm(turn)
    assert site.frontier.names == ["start on wire", "report"]
    assert (lease.slot.started_at, lease.slot.reported, lease.lost) == (1000.0, True, False)


async def test_who_tells_the_moment_later_charges_before_and_reports_the_moment(site: Site) -> None:
    site.holds(PAGE)
    turn = await site.pacer.turn(PAGE)
    site.pacer.leaving(turn)
    await site.outbox.flush()
    assert site.frontier.names == ["start"]  # and the next request to the host is not let go yet
    site.clock.now += 5
    site.pacer.sent(turn, 2)
    site.pacer.answered(turn, Response(PAGE.url))
    await site.outbox.flush()
    assert site.frontier.names == ["start", "report"]
    assert turn.sent_at == 1003.0


@pytest.mark.parametrize(
    ("leased", "meta", "led"), [(True, {}, ""), (True, {"led_here": "redirect"}, "redirect"), (False, {}, "beside")]
)
async def test_what_goes_beside_the_queue_is_told_apart(
    site: Site, leased: bool, meta: dict[str, str], led: str
) -> None:
    """Its fault is not its host's: any page may have asked for it, be it the robots.txt of a dead port."""
    request = PAGE.replace(meta=meta)
    if leased:
        site.holds(request)
    else:
        site.frontier.takes = [GRANTED]
    turn = await site.pacer.turn(request)
    site.pacer.answered(turn, None, fault=True, request=request)
    await site.outbox.flush()
    [report] = [report for name, reports in site.frontier.told if name == "report" for report in reports]
    assert report.led == led


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://a.example/", "http:80"),
        ("http://dead.a.example/", "http:dead.a.example:80"),
        ("https://a.example.:81/", "https:a.example.:81"),
    ],
)
async def test_faults_are_told_by_the_host_they_happened_at(site: Site, url: str, origin: str) -> None:
    """In a politeness group of several hosts, one that never answered says nothing of the others."""
    request = Request(url)
    site.holds(request)
    turn = await site.pacer.turn(request)
    site.pacer.answered(turn, None, fault=True, request=request)
    await site.outbox.flush()
    [report] = [report for name, reports in site.frontier.told if name == "report" for report in reports]
    assert report.origin == origin


def test_a_good_answer_of_one_port_is_no_news_of_another_one() -> None:
    origins = ReportedOrigins(lambda: 0.0)
    urls = ("http://a.example:8081", "http://a.example:8082", "http://a.example:8081/page", "http://a.example:8082")
    told = [origins.news("a.example", Request(url), good=True) for url in urls]
    assert told == ["http:8081", "http:8082", "", ""]


def test_a_good_answer_is_news_again_for_a_redis_that_has_forgotten_its_host() -> None:
    now = [0.0]
    origins, page = ReportedOrigins(lambda: now[0]), Request("http://a.example/")
    told = []
    for now[0] in (0.0, 59.0, 61.0, 62.0):
        told.append(origins.news("a.example", page, good=True))
    assert told == ["http:80", "", "http:80", ""]


async def test_a_page_past_its_time_is_not_sent(site: Site) -> None:
    site.holds(PAGE)
    site.clock.now += 20.1
    with pytest.raises(TooLateError):
        await site.pacer.turn(PAGE)
    assert site.frontier.names == []


async def test_a_page_that_is_always_late_takes_another_turn_here(site: Site) -> None:
    """A middleware waits for longer than a turn holds: given back each time, the page would never be sent."""
    site.frontier.takes = [REFUSED, GRANTED]
    with pytest.raises(TooLateError):
        await late(site)
    turn = await late(site)
    assert site.taken() == [("0:1", 1)] * 2
    assert (turn.handle, turn.start_by, turn.keep) == (("0:1", 1), site.clock.now + 20, False)


async def test_a_late_page_that_needs_another_turn_anyway_takes_it_here(site: Site) -> None:
    lease = site.holds(PAGE)
    lease.slot.lent = True
    site.clock.now = lease.slot.start_by + 0.1
    site.frontier.takes = [GRANTED]
    assert (await site.pacer.turn(PAGE)).handle == ("0:1", 1)


async def late(site: Site) -> Turn:
    """A turn for a page whose middlewares have taken too long."""
    site.book.release(PAGE)
    lease = site.holds(PAGE)
    site.clock.now = lease.slot.start_by + 0.1
    return await site.pacer.turn(PAGE)


async def test_a_page_that_may_kill_its_worker_is_charged_before_it_is_sent(site: Site) -> None:
    lease = held(deliveries=2)
    site.book.hold(PAGE, lease)
    waiting = asyncio.ensure_future(site.pacer.turn(PAGE))
    await asyncio.wait([waiting], timeout=0.01)
    assert not waiting.done()
    await site.outbox.flush()
    await waiting
    assert site.frontier.names == ["start"]


async def test_a_page_whose_lease_was_lost_reaches_no_callback(site: Site) -> None:
    lease = site.holds(PAGE)
    site.frontier.ours = False
    turn = await site.pacer.turn(PAGE)
    site.pacer.answered(turn, None)
    await site.outbox.flush()
    with pytest.raises(TooLateError):
        await site.pacer.confirm(turn)
    assert lease.lost


async def test_a_page_lends_its_turn_to_the_robots_txt_it_waits_for(site: Site) -> None:
    """With one slot at the host each would else wait for the other."""
    lease = site.holds(PAGE)
    site.frontier.takes = [GRANTED]
    robots = await site.pacer.turn(ROBOTS)
    assert (site.taken(), robots.keep, lease.slot.lent) == ([], True, True), "nobody has to be asked"
    assert (robots.handle, robots.start_by) == (lease.handle, lease.slot.start_by)
    site.pacer.answered(robots, Response(ROBOTS.url))
    page = await site.pacer.turn(PAGE)  # asks for a turn of its own, after the report
    assert site.frontier.names == ["report", "take"]
    assert site.taken() == [("0:1", 1)]
    assert (page.held, page.keep) == (lease, False)


async def test_a_turn_that_is_not_fresh_is_asked_for_before_it_is_lent(site: Site) -> None:
    site.holds(PAGE)
    site.clock.now += 1.1
    site.frontier.takes = [GRANTED]
    assert (await site.pacer.turn(ROBOTS)).keep
    assert site.taken() == [("0:1", 1)]


async def test_a_turn_is_not_lent_past_its_time(site: Site) -> None:
    site.holds(PAGE).slot.start_by = site.clock.now + 0.1
    site.clock.now += 0.2
    site.frontier.takes = [GRANTED]
    assert (await site.pacer.turn(ROBOTS)).keep
    assert site.taken() == [("0:1", 1)]


async def test_no_turn_is_lent_that_is_older_than_a_complaint(site: Site) -> None:
    first = Request("http://a.example/1")
    site.holds(first, 1)
    site.pacer.answered(await site.pacer.turn(first), Response(first.url, 429))
    site.holds(PAGE, 2)
    site.frontier.takes = [GRANTED]
    assert (await site.pacer.turn(ROBOTS)).keep
    assert site.taken() == [("0:2", 2)]


async def test_a_page_lends_its_turn_to_one_at_a_time_and_goes_itself_only_then(site: Site) -> None:
    """Under one lease the frontier would grant all of them the same turn at once."""
    site.holds(PAGE)
    site.frontier.takes = [GRANTED, GRANTED, GRANTED]
    first = await site.pacer.turn(ROBOTS)
    second = asyncio.ensure_future(site.pacer.turn(Request("http://a.example/file")))
    await asyncio.wait([second], timeout=0.01)
    page = asyncio.ensure_future(site.pacer.turn(PAGE))
    await asyncio.wait([page], timeout=0.01)
    assert (second.done(), page.done(), len(site.taken())) == (False, False, 0)
    site.pacer.answered(first, Response(ROBOTS.url))
    site.pacer.answered(await second, Response("http://a.example/file"))
    assert not (await page).keep
    assert site.frontier.names == ["report", "take", "report", "take"]


async def test_where_there_is_no_delay_a_page_follows_what_went_in_its_turn(site: Site) -> None:
    lease = site.holds(PAGE)
    robots = await site.pacer.turn(ROBOTS)
    lease.slot.free_at = site.clock.now
    waiting = asyncio.ensure_future(site.pacer.turn(PAGE))
    await asyncio.wait([waiting], timeout=0.01)
    assert not waiting.done(), "one slot, one request"
    site.pacer.answered(robots, Response(ROBOTS.url))
    assert ((await waiting).held, site.taken()) == (lease, [])


async def test_a_page_that_needs_no_other_turn_asks_once_it_is_not_fresh(site: Site) -> None:
    lease = site.holds(PAGE)
    lease.slot.lent, lease.slot.free_at = True, site.clock.now
    site.clock.now += 0.2
    site.frontier.ours = False
    waiting = asyncio.ensure_future(site.pacer.turn(PAGE))
    await asyncio.wait([waiting], timeout=0.01)
    await site.outbox.flush()
    with pytest.raises(TooLateError):
        await waiting


async def test_what_is_only_buffered_gives_its_slot_to_who_waits_beside_the_queue(site: Site) -> None:
    """All downloads of the worker may wait for a robots.txt, which waits for a slot that a buffered page holds."""
    there, other = held(1), held(2, "b.example")
    site.buffer.append(there)
    site.buffer.append(other)
    site.frontier.takes = [REFUSED, GRANTED]
    assert not (await site.pacer.turn(ROBOTS)).keep
    await site.outbox.flush()
    assert "give_back" in site.frontier.names
    assert list(site.buffer) == [other]


async def test_a_borrowed_turn_that_was_missed_is_free_for_the_next(site: Site) -> None:
    site.holds(PAGE)
    site.frontier.takes = [GRANTED, GRANTED]
    site.pacer.missed(await site.pacer.turn(ROBOTS))
    assert (await site.pacer.turn(ROBOTS)).keep


async def test_a_page_on_the_wire_has_nothing_to_lend(site: Site) -> None:
    site.holds(PAGE).slot.started_at = site.clock.now
    site.frontier.takes = [GRANTED]
    assert not (await site.pacer.turn(ROBOTS)).keep
    assert site.taken() == [None]


async def test_when_the_lenders_lease_is_lost_robots_txt_goes_alone(site: Site) -> None:
    site.holds(PAGE).slot.lent = True
    site.frontier.takes = [Slot(0, lost=True), REFUSED, GRANTED]
    assert not (await site.pacer.turn(ROBOTS)).keep
    assert site.taken() == [("0:1", 1), None, None]


async def test_what_goes_beside_the_queue_waits_and_asks_again(site: Site) -> None:
    site.frontier.takes = [REFUSED, Slot(60_000), GRANTED]
    turn = await site.pacer.turn(ROBOTS)
    assert (turn.handle, site.addresses.ensured) == (("0:7", 77), ["a.example"])
    assert site.clock.now == 1000.75  # 250 ms, then no longer than POLL_SECONDS: a report may call it sooner


async def test_a_redirect_hop_takes_a_turn_without_its_lease_and_goes_back_when_that_takes_long(site: Site) -> None:
    site.holds(PAGE).slot.reported = True
    site.frontier.takes = [Slot(3_600_000)] * 60
    with pytest.raises(TooLateError) as late:
        await site.pacer.turn(PAGE)
    assert late.value.wait_ms == 3_600_000
    assert site.clock.now == 1020.0
    assert set(site.taken()) == {None}


@pytest.mark.parametrize("is_hop", [False, True])
async def test_a_request_that_is_sent_was_not_replaced_for_nothing(site: Site, is_hop: bool) -> None:
    lease = site.holds(PAGE)
    lease.slot.reported, lease.unsent_hops = is_hop, 5
    site.frontier.takes = [GRANTED]
    turn = await site.pacer.turn(PAGE)
    assert lease.unsent_hops == 5
    site.pacer.sent(turn)
    assert lease.unsent_hops == 0


async def test_a_redirect_is_not_followed_once_operators_say_so(site: Site) -> None:
    lease = site.holds(PAGE)
    lease.slot.reported = True
    site.frontier.takes = [GRANTED]
    turn = await site.pacer.turn(PAGE)
    assert site.pacer.allowed(turn)
    site.book.obey(ControlState(frozenset({f"pause host {lease.lease.host}"})))
    assert not site.pacer.allowed(turn), "it was paused while the connection was made"
    site.pacer.missed(turn)
    await site.outbox.flush()
    assert ("give_back", [GRANTED.token]) in site.frontier.told
    with pytest.raises(TooLateError):
        await site.pacer.turn(PAGE)
    assert len(site.taken()) == 1


async def test_a_turn_that_came_too_late_is_given_back(site: Site) -> None:
    site.frontier.takes = [GRANTED, Slot(0, 20_000, ("0:8", 88))]
    delays = iter([25.0])
    site.frontier.before = lambda name: setattr(site.clock, "now", site.clock.now + next(delays, 0))
    turn = await site.pacer.turn(ROBOTS)
    await site.outbox.flush()
    assert turn.handle == ("0:8", 88)
    assert ("give_back", [("0:7", 77)]) in site.frontier.told


async def test_a_turn_granted_to_a_request_that_was_cancelled_meanwhile_is_given_back(site: Site) -> None:
    """`asyncio.wait_for(engine.download_async(...))`, say: the slot would keep its host busy until it expires."""
    asked, answered, reserve_slot = asyncio.Event(), asyncio.Event(), site.frontier.reserve_slot

    async def slow(host: str, **how: Any) -> Slot:
        asked.set()
        await answered.wait()
        return await reserve_slot(host, **how)

    site.frontier.reserve_slot = slow  # type: ignore[method-assign]
    site.frontier.takes = [GRANTED]
    turn = asyncio.ensure_future(site.pacer.turn(ROBOTS))
    await asked.wait()
    turn.cancel()
    answered.set()
    await asyncio.wait([turn])
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)
    await site.outbox.flush()
    assert turn.cancelled()
    assert site.frontier.told[-1] == ("give_back", [GRANTED.token])


async def test_a_request_that_is_cancelled_cuts_off_no_report(site: Site) -> None:
    """Half sent they would wait for the next thing to be sent; without one the crawl would never end."""
    asked, answered, settle = asyncio.Event(), asyncio.Event(), site.frontier.settle

    async def slow(*what: Any) -> Any:
        asked.set()
        await answered.wait()
        return await settle(*what)

    site.frontier.settle = slow  # type: ignore[method-assign, assignment]
    site.outbox.end(("0:9", 9))
    turn = asyncio.ensure_future(site.pacer.turn(ROBOTS))
    await asked.wait()
    turn.cancel()
    await asyncio.wait([turn])
    answered.set()
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)
    assert (len(site.outbox), site.outbox.stuck_for(0.0), site.frontier.names) == (0, 0.0, ["ack"])


@pytest.mark.parametrize(
    ("status", "header", "retry_after_ms"), [(429, b"7", 7000), (503, b"x", 0), (503, None, 0), (200, b"7", 0)]
)
async def test_the_report_carries_what_the_host_asked_for(
    site: Site, status: int, header: bytes | None, retry_after_ms: int
) -> None:
    site.holds(PAGE)
    turn = await site.pacer.turn(PAGE)
    site.pacer.sent(turn)
    site.clock.now += 0.25
    site.pacer.answered(turn, Response(PAGE.url, status, headers={"Retry-After": header} if header else None))
    await site.outbox.flush()
    (report,) = next(what for name, what in site.frontier.told if name == "report")
    assert (report.elapsed_ms, report.latency_ms, report.status) == (250, 250, status)
    assert report.retry_after_ms == retry_after_ms


async def test_a_report_tells_whether_its_request_met_a_complaint_before(site: Site) -> None:
    request = Request("http://a.example/again")
    for number, status in enumerate((429, 200, 429)):
        site.clock.now += 2
        site.holds(request, number).leased_at = site.clock.now
        turn = await site.pacer.turn(request)
        site.pacer.answered(turn, Response(request.url, status), request=request)
    await site.outbox.flush()
    told = [report.again for name, what in site.frontier.told if name == "report" for report in what]
    assert told == [False, True, True]


async def test_a_block_page_counts_once_however_often_its_request_is_tried(site: Site) -> None:
    request = Request("http://a.example/blocked")
    for _ in range(3):
        await site.answers.back_off(request)
    assert [what for name, what in site.frontier.told if name == "back_off"] == [False, True, True]


async def test_a_proxys_fault_frees_the_slot_and_is_not_the_hosts(site: Site) -> None:
    site.holds(PAGE)
    site.pacer.answered(await site.pacer.turn(PAGE), None, excused=True)
    await site.outbox.flush()
    (report,) = next(what for name, what in site.frontier.told if name == "report")
    assert (report.status, report.excused, report.keep) == (0, True, False)


async def test_what_was_leased_before_its_host_pushed_back_is_not_sent(site: Site) -> None:
    first, second, other = Request("http://a.example/1"), Request("http://a.example/2"), Request("http://b.example/")
    for request, number in ((first, 1), (second, 2)):
        site.holds(request, number)
    site.book.hold(other, held(3, host="b.example"))
    answer = Response(first.url, 429, headers={"Retry-After": "5"})
    site.pacer.answered(await site.pacer.turn(first), answer)
    await site.pacer.turn(other)
    site.clock.now += 4.9
    with pytest.raises(TooLateError):
        await site.pacer.turn(second)
    site.clock.now += 0.2
    site.holds(second, 2).leased_at = site.clock.now
    assert (await site.pacer.turn(second)).host == "a.example"


async def test_a_lease_that_is_not_fresh_asks_before_it_goes_whether_its_host_has_pushed_back(site: Site) -> None:
    site.holds(PAGE)
    site.clock.now += 0.2
    waiting = asyncio.ensure_future(site.pacer.turn(PAGE))
    await asyncio.wait([waiting], timeout=0.01)
    assert not waiting.done()
    await site.outbox.flush()
    assert (await waiting).host == "a.example"
    assert site.frontier.names == ["start"]


async def test_hosts_that_pushed_back_long_ago_are_forgotten(site: Site) -> None:
    for number in range(3_000):
        page = Request(f"http://{number}.example/")
        site.book.hold(page, lease := held(number, host=f"{number}.example"))
        lease.leased_at = site.clock.now
        site.pacer.answered(await site.pacer.turn(page), Response(page.url, 503))
        site.clock.now += 0.002
    assert len(site.answers._resting) <= 1_001


async def test_time_for_which_the_loop_was_held_up_is_no_latency_of_the_host(site: Site) -> None:
    site.held_up_since = lambda moment: 3.0 if moment == 1000.0 else 0.0
    site.holds(PAGE)
    turn = await site.pacer.turn(PAGE)
    site.pacer.sent(turn)
    site.clock.now += 3.25
    site.pacer.answered(turn, Response(PAGE.url))
    await site.outbox.flush()
    [report] = site.frontier.told[-1][1]
    assert (report.elapsed_ms, report.latency_ms) == (3250, 250)


async def test_what_goes_beside_the_queue_waits_no_longer_than_its_worker_may(site: Site) -> None:
    """A host that asks for an hour kept a worker from ending; the page that asked for it is given back."""
    page = site.holds(PAGE)
    page.slot.started_at = 1.0  # its own turn is used: there is none to borrow
    media = Request("http://a.example/picture")
    site.book.found(media, page)
    site.frontier.takes = [REFUSED] * 100
    asked: list[float] = []

    def gives_up(seconds: float) -> bool:
        asked.append(seconds)
        return seconds > 2

    site.gives_up = gives_up
    with pytest.raises(EndingError):
        await site.pacer.turn(media)
    assert asked[-1] > 2 >= asked[-2]
    assert page.evidence.unstored


async def test_a_closing_worker_waits_for_no_connection_of_a_page_or_of_its_robots_txt(site: Site) -> None:
    site.holds(PAGE)
    site.frontier.takes = [GRANTED]
    robots = await site.pacer.turn(ROBOTS)
    asked = asyncio.ensure_future(site.pacer.connecting(robots, asyncio.Event().wait()))
    await asyncio.wait([asked], timeout=0)
    site.pacer.unsent.end()
    with pytest.raises(MissedError):
        await asked
    with pytest.raises(EndingError):
        site.pacer.missed(robots)
    page = await site.pacer.turn(PAGE)
    with pytest.raises(MissedError):
        await site.pacer.connecting(page, asyncio.Event().wait())
    with pytest.raises(TooLateError):
        site.pacer.missed(page)
    assert site.frontier.names.count("start") == 0  # uncharged


async def test_a_closing_worker_waits_for_what_a_page_asks_for_beside_the_queue(site: Site) -> None:
    page = Request("http://b.example/page")
    held_page = site.holds(page)
    media = Request("http://a.example/picture")
    site.book.found(media, held_page)
    held_page.slot.started_at = 1.0
    site.frontier.takes = [GRANTED]
    turn = await site.pacer.turn(media)
    site.pacer.unsent.end()
    connected = asyncio.Event()
    connected.set()
    assert await site.pacer.connecting(turn, connected.wait())
