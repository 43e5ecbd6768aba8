"""The settings of the robots.txt middleware, whose middleware it is, and what waits for a file and how."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import AsyncMock

import pytest
from pydispatch import dispatcher
from scrapy import Request
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware as ScrapyRobotsTxtMiddleware
from scrapy.exceptions import CannotResolveHostError, IgnoreRequest, NotConfigured, NotSupported
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager
from scrapy.signals import robots_parsed

from crawler.errors import ConfigError
from crawler.frontier.server.losses import DataLossListeners
from crawler.frontier.state.robots import CachedRobots, FetchTask
from crawler.middlewares.downloader.robots import Files, Parsed, RobotsTxtMiddleware
from crawler.policy.robots.responses import RobotsVerdict
from crawler.routing.host_rules import HostRule
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.robots_fetcher import Fetched, RobotsConfig, RobotsFetcher
from crawler.worker.turns.turn import TooLateError
from crawler.worker.turns.unsent import UnsentRequests
from tests.clock import Clock
from tests.shipped import shipped
from tests.unit.frontier.fakes import Outage, Stats, held

ALONE = {"FRONTIER_ENABLED": False, "ROBOTSTXT_OBEY": True}


def crawler(**changed: object) -> Any:
    return SimpleNamespace(settings=Settings(project(**changed)), stats=None, spider=None, signals=SignalManager())


def project(**changed: object) -> dict[str, Any]:
    settings = shipped(**changed)
    return dict(settings.copy_to_dict())


def test_the_defaults() -> None:
    settings = Settings(project())
    assert RobotsConfig.from_settings(settings) == RobotsConfig()


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("ROBOTSTXT_UNREACHABLE_DAYS", 30, "replaced by ROBOTSTXT_UNREACHABLE_SECONDS = 86400"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(name: str, value: object, allowed: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} = .* {allowed}"):
        RobotsConfig.from_settings(Settings(project(**{name: value})))


def test_a_crawl_without_the_frontier_gets_scrapys_own() -> None:
    alone = RobotsTxtMiddleware.from_crawler(crawler(**ALONE))
    assert type(alone) is ScrapyRobotsTxtMiddleware
    ours = RobotsTxtMiddleware.from_crawler(crawler())
    assert type(ours) is RobotsTxtMiddleware


@pytest.mark.parametrize("where", [{}, ALONE])
def test_off_where_robots_txt_is_not_obeyed(where: dict[str, object]) -> None:
    with pytest.raises(NotConfigured):
        RobotsTxtMiddleware.from_crawler(crawler(**where | {"ROBOTSTXT_OBEY": False}))


class Site:
    """The middleware, with a fleet around it that answers *found*, one after the other, the last for ever."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, *found: CachedRobots | FetchTask | None, **changed: object
    ) -> None:
        self.clock, self.stats, self.book, self.found, self.asked = Clock(), Stats(), LeaseBook(), list(found), 0
        signals = SimpleNamespace(send_catch_log_async=self._signalled)
        made: Any = SimpleNamespace(
            settings=Settings(project(**changed)), stats=self.stats, spider=None, signals=signals
        )
        self.middleware = RobotsTxtMiddleware(made, self.clock, lambda low, high: low)
        self.parsed: list[Any] = []
        self.origins: set[str] = set()
        outage = Outage()
        rules = SimpleNamespace(of=lambda request: HostRule("a.example", 0, 1))
        self.losses = DataLossListeners()
        worker = SimpleNamespace(
            name="w",
            losses=self.losses,
            book=self.book,
            outage=outage,
            pacer=SimpleNamespace(unsent=UnsentRequests()),
            frontier=SimpleNamespace(robots=SimpleNamespace(claim=self._claim)),
            queue=SimpleNamespace(encoder=SimpleNamespace(rules=rules)),
        )
        monkeypatch.setattr(RobotsTxtMiddleware, "_worker", worker)
        monkeypatch.setattr("asyncio.sleep", self._sleep)
        self.listener = lambda: None
        dispatcher.connect(self.listener, robots_parsed, sender=made)

    async def _claim(self, host: str, origin: str, worker: str) -> CachedRobots | FetchTask | None:
        self.asked += 1
        self.origins.add(origin)
        return self.found.pop(0) if len(self.found) > 1 else self.found[0]

    async def _signalled(self, **arguments: Any) -> None:
        self.parsed.append(arguments)

    async def _sleep(self, seconds: float) -> None:
        self.clock.now += seconds


RULES = CachedRobots(RobotsVerdict.RULES, 200, 3_600_000, "User-agent: *\nDisallow: /private\n")
LATER = CachedRobots(RobotsVerdict.LATER, 503, 60_000)
URL = "http://a.example/page"


async def test_a_known_file_is_parsed_once_and_looked_for_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(monkeypatch, RULES)
    for _ in range(5):
        await site.middleware.process_request(Request(URL))
        with pytest.raises(IgnoreRequest, match="Forbidden"):
            await site.middleware.process_request(Request("http://a.example/private"))
    assert (site.asked, len(site.parsed)) == (1, 1)
    assert site.parsed[0]["request"].url == URL
    assert site.stats.counts == {"robotstxt/forbidden": 5, "robots/shared": 1}
    site.clock.now += 301
    await site.middleware.process_request(Request(URL))
    assert site.asked == 2


async def test_a_file_is_not_announced_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(monkeypatch, RULES)
    site.listener = lambda: None  # the one before is gone
    await site.middleware.process_request(Request(URL))
    assert (site.asked, site.parsed) == (1, [])


async def test_a_file_is_forgotten_when_redis_may_have_lost_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis lost the host's Crawl-delay with it, which is stored again with the file."""
    site = Site(monkeypatch, RULES)
    site.middleware._opened()
    for asked in (1, 2):
        await site.middleware.robot_parser(Request(URL))
        assert site.asked == asked
        site.losses.forget()


async def test_whoever_asks_the_file_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(monkeypatch, RULES)
    for authority in ("a.example", "me:secret@a.example", "you@a.example", "a.example:80"):
        await site.middleware.process_request(Request(f"http://{authority}/page"))
    assert (site.asked, site.origins) == (1, {"http://a.example"})


async def test_a_page_goes_back_for_as_long_as_its_file_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(monkeypatch, LATER)
    site.book.hold(page := Request(URL), held())
    for waits_ms in (60_100, 50_100):
        with pytest.raises(TooLateError) as late:
            await site.middleware.process_request(page)
        assert late.value.wait_ms == waits_ms
        site.clock.now += 10
    assert (site.asked, site.stats.counts["robots/postponed"]) == (1, 2)


async def test_a_name_that_does_not_resolve_allows_nothing_and_is_told_to_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The fleet took it for a host without a file for a minute: workers whose name server did answer fetched all."""
    site = Site(monkeypatch, FetchTask(0))

    async def unresolved(request: Request) -> None:
        raise CannotResolveHostError("a.example: Temporary failure in name resolution")

    site.middleware.crawler.engine = SimpleNamespace(download_async=unresolved)  # type: ignore[assignment]
    site.book.hold(page := Request(URL), lease := held())
    await site.middleware.process_request(page)
    assert lease.unresolved.startswith("a.example: "), "with which it fails in its turn"
    with pytest.raises(CannotResolveHostError):
        await site.middleware.process_request(Request(URL))
    assert site.asked == 2, "nor does this worker keep it: there is no `keep` here"
    site.found = [RULES]
    site.book.hold(mirror := Request("http://b.example/page"), lease)
    await site.middleware.process_request(mirror)
    assert not lease.unresolved, "nor is what a middleware sends in its place"


@pytest.mark.parametrize(
    ("said", "proxy", "found"),
    [
        ("a.example.net: not known", "", RobotsVerdict.ALLOW),
        ("a.example.net has no address", "", RobotsVerdict.ALLOW),
        ("a.example has no address", "", None),
        ("proxy.example: not known", "http://proxy.example", RobotsVerdict.LATER),
    ],
    ids=["redirected", "redirected to a name without an address", "its own", "of the proxy"],
)
async def test_whose_name_it_is_that_does_not_resolve(said: str, proxy: str, found: RobotsVerdict | None) -> None:
    """Of a redirect's, nothing is known but that there is no file; a proxy's says nothing about one."""

    async def unresolved(request: Request) -> None:
        request.meta["proxy"] = proxy  # as the middlewares do
        raise CannotResolveHostError(said)

    engine = SimpleNamespace(download_async=unresolved)
    crawler: Any = SimpleNamespace(engine=engine, stats=Stats())
    fetcher, worker = RobotsFetcher(crawler, RobotsConfig(), "bot"), cast("Any", None)
    if found is None:
        with pytest.raises(CannotResolveHostError):
            await fetcher._answer(worker, "a.example", "http://a.example")
    else:
        answer = await fetcher._answer(worker, "a.example", "http://a.example")
        assert answer is not None
        assert answer.verdict is found


async def test_what_has_no_lease_is_refused_then(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(monkeypatch, LATER)
    with pytest.raises(IgnoreRequest, match="cannot be reached"):
        await site.middleware.process_request(Request(URL))


async def test_of_a_scheme_that_is_off_pages_fail_instead_of_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """They waited a day for a file that nobody could fetch."""
    site = Site(monkeypatch, LATER, DOWNLOAD_HANDLERS={"http": None})
    with pytest.raises(NotSupported, match=r"^http://a\.example/robots\.txt cannot be fetched: DOWNLOAD_HANDLERS"):
        await site.middleware.process_request(Request(URL))
    assert site.asked == 0


async def test_a_page_waits_two_seconds_for_another_worker_and_then_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(monkeypatch, None)
    site.book.hold(page := Request(URL), held())
    with pytest.raises(TooLateError) as late:
        await site.middleware.process_request(page)
    assert site.clock.now == pytest.approx(1_002, abs=0.2)
    assert late.value.wait_ms == pytest.approx(2_100, abs=1)


async def test_what_has_no_lease_waits_for_another_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(monkeypatch, *[None] * 60, RULES)
    await site.middleware.process_request(Request(URL))
    assert site.asked == 61


NEW = replace(RULES, fresh_ms=86_400_000)


async def test_a_page_leased_before_the_file_was_known_goes_back_once(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(monkeypatch, NEW)
    site.clock.now += 1
    early, late = held(1), held(2)
    late.leased_at += 2
    site.book.hold(page := Request(URL), early)
    site.book.hold(other := Request(URL), late)
    with pytest.raises(TooLateError) as back:
        await site.middleware.process_request(page)
    assert (back.value.wait_ms, early.slot.reported, early.slot.started_at) == (0, False, site.clock.now)
    await site.middleware.process_request(other)
    assert not late.slot.lent
    early.slot.lent, early.slot.started_at = False, None
    await site.middleware.process_request(page)
    assert early.slot.lent, "a file that is forgotten at once must not keep it for ever: it takes another turn"


@pytest.mark.parametrize(
    ("paced", "address", "goes_back"), [(True, "", True), (False, "", False), (False, "ip:127.0.0.1", True)]
)
async def test_a_page_whose_host_has_no_delay_need_not_go_back(
    monkeypatch: pytest.MonkeyPatch, paced: bool, address: str, goes_back: bool
) -> None:
    site = Site(monkeypatch, FetchTask(0))
    fetched = Fetched(CachedRobots(RobotsVerdict.ALLOW, 404, 86_400_000), paced=paced)
    monkeypatch.setattr(site.middleware._fetcher, "fetch", AsyncMock(return_value=fetched))
    site.book.hold(page := Request(URL), lease := held(1))
    lease.address = address
    site.clock.now += 1
    if goes_back:
        with pytest.raises(TooLateError):
            await site.middleware.process_request(page)
    else:
        await site.middleware.process_request(page)
    assert (lease.slot.lent, lease.slot.needs_turn) == (True, goes_back)


@pytest.mark.parametrize("state", [{"reported": True}, {"downloads": 2}])
async def test_what_cannot_go_back_takes_another_turn(monkeypatch: pytest.MonkeyPatch, state: dict[str, Any]) -> None:
    site = Site(monkeypatch, NEW)
    site.clock.now += 1
    lease = held(1)
    for name, value in state.items():
        setattr(lease.slot if hasattr(lease.slot, name) else lease, name, value)
    site.book.hold(page := Request(URL), lease)
    await site.middleware.process_request(page)
    assert lease.slot.lent


async def test_a_page_goes_in_its_turn_where_the_file_was_known_when_it_was_leased(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site = Site(monkeypatch, RULES)  # for 23 hours now
    site.clock.now += 1
    site.book.hold(page := Request(URL), lease := held(1))
    await site.middleware.process_request(page)
    assert not lease.slot.lent


def test_files_are_remembered_within_their_number_and_their_memory() -> None:
    files = Files(3, 100)
    for number in range(5):
        files.keep(f"http://{number}.example", Parsed(None, 0, number), 10)
    assert [files.get(f"http://{number}.example") is not None for number in range(5)] == [
        False,
        False,
        True,
        True,
        True,
    ]
    files.keep("http://3.example", Parsed(None, 0, 99), 70)
    files.keep("http://6.example", Parsed(None, 0, 6), 30)
    assert files.get("http://2.example") is None
    assert (files.get("http://3.example") or Parsed(None, 0, 0)).expires == 99
    files.keep("http://7.example", Parsed(None, 0, 7), 1_000)
    assert files.get("http://7.example") is not None, "the last one is needed now"
    assert files.get("http://3.example") is None
    files.clear()
    files.keep("http://8.example", Parsed(None, 0, 8), 100)
    assert files.get("http://8.example") is not None


@pytest.mark.parametrize("parser", ["scrapy.robotstxt.PythonRobotParser", "scrapy.robotstxt.ProtegoRobotParser"])
async def test_the_parser_may_be_another(monkeypatch: pytest.MonkeyPatch, parser: str) -> None:
    site = Site(monkeypatch, NEW, ROBOTSTXT_PARSER=parser)
    with pytest.raises(IgnoreRequest, match="Forbidden"):
        await site.middleware.process_request(Request("http://a.example/private"))
    assert site.parsed[0]["robotparser"].crawl_delay("shoal") is None
    assert site.parsed[0]["robotparser"].allowed(b"http://a.example/", b"shoal")
