"""A tick is run to its end by whoever leads: nothing of its source is missing, nothing is in twice."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
import redis.asyncio
from scrapy.settings import BaseSettings

from crawler.errors import ServiceError, ShoalError
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.run_record import Overlap, Run
from crawler.frontier.server import connection
from crawler.frontier.state.leader import Lead
from crawler.frontier.state.schedules import Tick
from crawler.policy.schedules import Interval
from crawler.producers.schedule import Schedule, ScheduleSource
from crawler.routing import codec
from crawler.routing.sitemap_requests import shoal_sitemap
from crawler.serve.schedules import TRIES
from crawler.spiders.products import ProductsSpider
from crawler.storage.recrawl.recrawl_turn import RecrawlTurn
from crawler.utils import tasks
from tests.integration.frontier.harness import all_keys
from tests.integration.frontier.making import START_MS, Timed, acked, answer, handles, reported, timed
from tests.integration.serve.replicas import Replica
from tests.shipped import shipped

START = START_MS // 1_000
LINES = 1_003


class World:
    """One schedule, and replicas as they are needed."""

    def __init__(self, time: Timed, settings: BaseSettings) -> None:
        self.time = time
        self.settings = settings
        self.made = 0

    def replica(self) -> Replica:
        self.made += 1
        return Replica(self.time.client, f"r{self.made}", self.settings, self.time.frontier.config)

    async def add(self, source: ScheduleSource, **fields: Any) -> Schedule:
        made = Schedule("s", "products", source, Interval(3_600, START), **fields)
        assert await self.time.frontier.schedules.put("s", "", made.text(), cursor=START)
        return made

    async def die_at(self, calls: int) -> bool:
        """A replica goes on with the tick and is killed at that call of its; whether it had ended before."""
        victim = self.replica()
        victim.gate.close_after(calls)
        await victim.go()
        ended = not victim.gate.is_waiting
        await victim.kill()
        return ended

    async def deaths(self, step: int) -> AsyncIterator[int]:
        """One replica after the other is killed, each *step* calls later than the one before, until one ends the tick;
        at which call."""
        calls, ended = 0, False
        while not ended:
            calls += step
            ended = await self.die_at(calls)
            yield calls
            await self.pass_seconds(16)

    async def die_midway(self) -> None:
        """Replicas are killed, each a call later, until one has queued a part of the lines: which call that is depends
        on the version of Python."""
        async for _ in self.deaths(1):
            if any(accepted for _, accepted in await self.counts()):
                break

    async def pass_seconds(self, seconds: int) -> None:
        await self.time.pass_ms(seconds * 1_000)

    async def crawl(self) -> None:
        """All that may be fetched now is done."""
        leases = handles(await self.time.lease(streams=["products"]))
        await reported(self.time.frontier, [answer(handle) for handle in leases])
        await acked(self.time.frontier, leases)

    async def runs(self) -> list[Run]:
        return await self.time.frontier.runs.find(limit=1_000)

    async def counts(self) -> list[tuple[str, int]]:
        return [(run.state, run.counts.accepted) for run in await self.runs()]

    async def waiting(self) -> list[str]:
        return [tick.epoch for tick in (await self.time.frontier.schedules.look()).ticks]

    async def last(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads((await self.time.frontier.schedules.look()).last["s"])
        return told


@pytest.fixture
async def world(redis_client: redis.asyncio.Redis) -> World:
    return World(await timed(redis_client), shipped("settings.test"))


@pytest.fixture
def urls(tmp_path: Path) -> Path:
    path = tmp_path / "urls.txt"
    lines = [f"https://{number % 7}.example/{number}" for number in range(LINES - 1)]
    lines.insert(600, json.dumps({"url": "https://a.example/again", "dont_filter": True}))
    path.write_text("\n".join(lines))
    return path


def file(path: Path) -> ScheduleSource:
    return ScheduleSource("file", (str(path),))


@pytest.mark.parametrize("kept", [True, False])
async def test_a_leader_that_dies_at_any_call_is_followed_by_one_that_goes_on(
    world: World, urls: Path, kept: bool
) -> None:
    await world.add(file(urls))
    await world.pass_seconds(3_600)
    calls = 0
    async for calls in world.deaths(5):
        if not kept:
            os.utime(urls, ns=(calls, calls))  # as if the file were another one now: read from its beginning
    assert calls > 20
    assert await world.counts() == [("sealed", LINES)]
    assert await world.waiting() == []
    last = await world.last()
    assert (last["run"], last["pushed"], last["refused"]) == ((await world.runs())[0].id, LINES, 0)


async def test_a_redis_that_restarts_midway_is_told_again_what_it_has_not_noted(
    redis_client: redis.asyncio.Redis, redis_url: str, urls: Path
) -> None:
    client: Any = connection.connect(BaseSettings({"REDIS_URL": redis_url, "REDIS_CLUSTER": False}))
    world = World(await timed(client), shipped("settings.test"))
    await world.add(file(urls))
    await world.pass_seconds(3_600)
    replica = world.replica()
    replica.gate.close_after(9)
    await replica.go()
    assert replica.gate.is_waiting
    client.drops._other()
    replica.gate.open()
    with pytest.raises(FrontierUnavailableError, match=r"^Redis has restarted or failed over, and may have lost"):
        await replica.go()
    await replica.go()  # as the dispatcher does, in a minute
    assert await world.counts() == [("sealed", LINES)]
    assert (await world.last())["pushed"] == LINES
    await client.aclose()


async def test_a_tick_whose_run_is_lost_ends_none_that_was_given_its_number(world: World) -> None:
    """Redis is emptied in front of any call, and a push has begun."""
    calls, runs = 0, world.time.frontier.runs
    while True:
        calls += 1
        await world.add(ScheduleSource("urls", ("https://a.example/",)))
        await world.pass_seconds(3_600)
        replica = world.replica()
        replica.gate.close_after(calls)
        await replica.go()
        if not replica.gate.is_waiting:
            break
        await world.time.client.flushall()
        await world.time.be_silent(5)
        other = await runs.open("products", producer="push")
        replica.gate.open()
        await replica.go()
        assert (await runs.known(other.id)).state == "open"
        await world.time.client.flushall()
        await world.time.be_silent(5)
    assert calls > 7


@pytest.mark.parametrize(("saved_at", "set_back_at"), [(3, 9), (5, 14), (5, 19), (9, 19)])
async def test_a_redis_that_is_set_back_in_place_midway_is_told_all_again(
    world: World, urls: Path, saved_at: int, set_back_at: int
) -> None:
    """No connection is lost, and the same server answers. What it goes back to is older than the chunk under way."""
    client = world.time.client
    await world.add(file(urls))
    await world.pass_seconds(3_600)
    replica = world.replica()
    replica.gate.close_after(saved_at)
    await replica.go()
    saved = {key: await client.dump(key) for key in await all_keys(client)}
    replica.gate.open()
    replica.gate.close_after(set_back_at - saved_at)
    await replica.go()
    assert replica.gate.is_waiting
    async with client.pipeline(transaction=True) as pipe:
        pipe.flushall()
        for key, value in saved.items():
            pipe.restore(key, 0, value)
        await pipe.execute()
    replica.gate.open()
    await replica.go()
    await replica.go()  # as the dispatcher does
    assert await world.counts() == [("sealed", LINES)]
    assert (await world.last())["run"] == (await world.runs())[0].id


async def test_two_that_lead_at_once_push_each_url_once(world: World, urls: Path) -> None:
    await world.add(file(urls))
    await world.pass_seconds(3_600)
    old, new = world.replica(), world.replica()
    old.gate.close_after(9)
    await old.go()
    assert old.gate.is_waiting
    await world.pass_seconds(16)
    old.gate.open()
    await asyncio.gather(old.go(), new.go())
    await new.go()
    assert await world.counts() == [("sealed", LINES)]


async def test_bad_lines_are_counted_and_the_others_pushed(world: World, tmp_path: Path) -> None:
    path = tmp_path / "urls.txt"
    path.write_bytes(b"https://a.example/1\nftp://x\n\n\xff\xfe\n" + b"x" * 300_000 + b"\nhttps://a.example/2")
    await world.add(file(path), priority=5, tier="browser")
    await world.pass_seconds(3_600)
    await world.replica().go()
    assert await world.counts() == [("sealed", 2)]
    assert (await world.last())["refused"] == 3
    leases = await world.time.lease(streams=["products:browser"])
    assert {lease.priority for lease in leases} == {5}


async def test_a_packed_csv_file_and_a_scope(world: World, tmp_path: Path) -> None:
    path = tmp_path / "urls.csv.gz"
    path.write_bytes(gzip.compress(b"id,url\n1,https://a.example/1\n2,https://a.example/cart\n3,x\n"))
    await world.add(ScheduleSource("file", (str(path),), "url"), scope='{"exclude": ["/cart"]}')
    await world.pass_seconds(3_600)
    await world.replica().go()
    assert await world.counts() == [("sealed", 1)]
    assert (await world.last())["refused"] == 2
    (run,) = await world.runs()
    assert await world.time.frontier.scopes.get("products", run.generation) == '{"exclude": ["/cart"]}'


@pytest.mark.parametrize(
    ("kind", "value", "url"),
    [
        ("sitemap", "https://a.example/sitemap.xml", "https://a.example/sitemap.xml"),
        ("robots", "https://a.example", "https://a.example/robots.txt"),
    ],
)
async def test_the_run_of_sitemaps_is_left_to_the_workers_that_read_them(
    world: World, kind: Any, value: str, url: str
) -> None:
    await world.add(ScheduleSource(kind, (value,), include=("/p/",)), overlap="allow")
    await world.pass_seconds(3_600)
    async for _ in world.deaths(2):
        pass
    assert await world.counts() == [("open", 1)]
    assert (await world.last())["pushed"] == 1
    (run,) = await world.runs()
    (lease,) = await world.time.lease(streams=["products"])
    spider = ProductsSpider()
    setattr(spider, shoal_sitemap.__name__, shoal_sitemap)
    request = codec.decode(lease.body, spider)
    assert request.url == url
    assert request.meta["shoal_sitemap"]["include"] == ["/p/"]
    assert await world.time.frontier.sitemaps.end("products", run.generation, url) == 0


@pytest.mark.parametrize("overlap", ["skip", "queue"])
async def test_a_sitemap_that_cannot_be_read_does_not_end_its_schedule(world: World, overlap: Overlap) -> None:
    await world.add(ScheduleSource("sitemap", ("https://a.example/s.xml",)), overlap=overlap)
    await world.pass_seconds(3_600)
    await world.replica().go()
    await world.pass_seconds(3_600)
    if overlap == "skip":  # it is still to be read: that is no reason
        await world.replica().go()
        assert (await world.last())["words"].startswith("skipped: run ")
        await world.pass_seconds(3_600)
    (lease,) = await world.time.lease(streams=["products"])
    assert await world.time.frontier.bury(lease.id, lease.token, reason="sitemap")
    await world.replica().go()
    await world.time.frontier.runs.settle()
    assert [run.state for run in await world.runs()] == ["open", "cancelled"]


@pytest.mark.parametrize(
    "state", ["[]", '{"pushed": "x"}', '{"run": 7, "position": 3}', '{"a": 1}', "\xff", '{"position": "x"}']
)
async def test_progress_that_is_damaged_begins_anew(world: World, urls: Path, state: str) -> None:
    await world.add(file(urls))
    key = world.time.frontier.shards.key(0, "ticks")
    await world.time.client.hset(key, f"s:{START + 3_600}", state)
    await world.replica().go()
    assert await world.counts() == [("sealed", LINES)]


async def test_a_run_that_is_cancelled_takes_no_more(world: World, urls: Path) -> None:
    await world.add(file(urls))
    await world.pass_seconds(3_600)
    await world.die_at(9)
    (run,) = await world.runs()
    await world.time.frontier.runs.cancel(run.id)
    await world.pass_seconds(16)
    await world.replica().go()
    assert (await world.last())["words"] == "its run was cancelled"
    assert await world.waiting() == []


async def test_a_run_that_is_cancelled_in_mid_push_tells_what_was_pushed(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "urls.txt").write_text("".join(f"http://{n % 9}.example/{n}\n" for n in range(12_000)))
    await world.add(file(tmp_path / "urls.txt"))
    await world.pass_seconds(3_600)
    replica = world.replica()
    save = replica.frontier.schedules.save

    async def saved(token: int, tick: Tick, state: str) -> Tick | None:
        done = await save(token, tick, state)
        if "pushed" in state:
            await replica.frontier.runs.cancel(json.loads(state)["run"])
        return done

    monkeypatch.setattr(replica.frontier.schedules, "save", saved)
    await replica.go()
    last = await world.last()
    assert last["words"] == "its run was cancelled"
    assert 0 < last["pushed"] < 12_000


async def test_an_empty_source_is_a_run_that_ends_at_once(world: World, tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_text("\n")
    await world.add(file(tmp_path / "urls.txt"))
    await world.pass_seconds(3_600)
    await world.replica().go()
    await world.time.frontier.runs.settle()
    assert await world.counts() == [("finished", 0)]


async def run_what_is_next(replica: Replica) -> None:
    """What the keeper does with the ticks that are to be run now, to its end."""
    lead = Lead((await replica.leader.ask()).token, lambda: True)
    seen = await replica.frontier.schedules.look()
    for tick in replica.dispatcher.next_ticks(seen):
        await replica.dispatcher._run(tick, seen, lead)


async def test_a_source_that_cannot_be_read_is_tried_again_and_says_why(world: World, tmp_path: Path) -> None:
    path = tmp_path / "urls.txt"
    await world.add(file(path))
    await world.pass_seconds(3_600)
    replica = world.replica()
    await replica.dispatcher.claim(
        await replica.frontier.schedules.look(), Lead((await replica.leader.ask()).token, lambda: True)
    )
    await run_what_is_next(replica)
    (tick,) = (await world.time.frontier.schedules.look()).ticks
    assert "a file that can be read (No such file" in json.loads(tick.state)["error"]
    assert await world.counts() == [("open", 0)]
    path.write_text("https://a.example/")
    await run_what_is_next(world.replica())  # another one, which did not see it fail
    await world.pass_seconds(16)
    await world.replica().go()
    assert await world.counts() == [("sealed", 1)]


async def test_a_pipe_that_takes_the_place_of_a_file_holds_nothing_up(world: World, tmp_path: Path) -> None:
    path = tmp_path / "urls.txt"
    os.mkfifo(path)
    await world.add(file(path))
    await world.pass_seconds(3_600)
    with pytest.raises(ShoalError, match="is not a file"):
        await world.replica().go()


async def test_a_tick_that_keeps_failing_makes_way_for_the_next(world: World, tmp_path: Path) -> None:
    await world.add(file(tmp_path / "none.txt"), missed="all", overlap="allow")
    await world.pass_seconds(7_200)
    moment = 0.0
    replica = world.replica()
    vars(replica.dispatcher)["_clock"] = lambda: moment
    lead = Lead((await replica.leader.ask()).token, lambda: True)
    await replica.dispatcher.claim(await replica.frontier.schedules.look(), lead)
    first, second = sorted(await world.waiting())
    for _ in range(TRIES):
        assert first in await world.waiting()
        moment += 1_000
        await run_what_is_next(replica)
    assert await world.waiting() == [second]
    last = await world.last()
    assert (last["epoch"], last["words"].partition(":")[0]) == (first, "given up")
    assert [state for state, _ in await world.counts()] == ["sealed"]


async def test_a_full_frontier_lets_a_tick_wait_and_go_on(redis_client: redis.asyncio.Redis, tmp_path: Path) -> None:
    path = tmp_path / "urls.txt"
    path.write_text("\n".join(f"https://{number}.example/" for number in range(700)))
    world = World(await timed(redis_client, queue_limit=600), shipped("settings.test"))
    await world.add(file(path))
    await world.pass_seconds(3_600)
    with pytest.raises(ShoalError, match="takes no more for now"):
        await world.replica().go()
    assert await world.counts() == [("open", 600)]
    await world.crawl()
    await world.pass_seconds(16)
    await world.replica().go()
    assert await world.counts() == [("sealed", 700)]
    assert (await world.last())["pushed"] == 700


@pytest.mark.parametrize(
    ("overlap", "states"),
    [
        ("skip", ["sealed"]),
        ("allow", ["sealed", "sealed"]),
        ("queue", ["sealed", "finished"]),
        ("replace", ["sealed", "cancelled"]),
    ],
)
async def test_a_tick_while_the_last_run_is_not_over(world: World, overlap: Overlap, states: list[str]) -> None:
    await world.add(ScheduleSource("urls", ("https://a.example/",)), overlap=overlap)
    await world.pass_seconds(3_600)
    replica = world.replica()
    await replica.go()
    await world.pass_seconds(3_600)
    going = asyncio.create_task(replica.round())
    if overlap == "queue":
        while not await world.waiting():
            pass
        assert [state for state, _ in await world.counts()] == ["sealed"]
        await world.crawl()
    await going
    await world.time.frontier.runs.settle()
    assert [state for state, _ in await world.counts()] == states
    assert (await world.last())["words"].startswith("skipped: run ") == (overlap == "skip")


async def test_a_schedule_goes_on_after_a_run_that_has_spent_its_budget(world: World) -> None:
    urls = ScheduleSource("urls", tuple(f"https://{number}.example/" for number in range(9)))
    await world.add(urls, overlap="skip", scope='{"budget": {"requests": 4}}')
    for _ in range(2):
        await world.pass_seconds(3_600)
        await world.replica().go()
        await world.crawl()
        assert [one.requests async for one in world.time.frontier.spent.drop()] == [5]
        await world.time.client.delete(world.time.frontier.shards.key(0, "spent:turn"))
    await world.time.frontier.runs.settle()
    done = [(run.state, run.counts.done, run.counts.dropped) for run in await world.runs()]
    assert done == [("finished", 4, 5)] * 2


async def test_the_run_of_a_schedule_that_is_removed_is_sealed(world: World, urls: Path) -> None:
    made = await world.add(file(urls))
    await world.pass_seconds(3_600)
    await world.die_midway()
    await world.time.frontier.schedules.put("s", made.text(), "")
    await world.pass_seconds(16)
    (tick,) = (await world.time.frontier.schedules.look()).ticks
    replica = world.replica()
    await replica.runner.run(tick, None, Lead((await replica.leader.ask()).token, lambda: True))
    assert await world.waiting() == []
    ((state, accepted),) = await world.counts()
    assert (state, 0 < accepted < LINES) == ("sealed", True)


async def test_a_tick_that_waits_goes_with_its_schedule(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.serve.schedules.LOOK_SECONDS", 0.02)
    source = ScheduleSource("urls", ("https://a.example/",))
    made = await world.add(source, overlap="queue")
    for _ in range(2):  # the second waits for the run of the first
        await world.time.frontier.schedules.run("s")
        await world.pass_seconds(1)
    replica = world.replica()
    begun: list[str] = []
    both = asyncio.Event()
    run_tick = replica.runner.run

    async def run_noted(tick: Tick, schedule: Schedule | None, lead: Lead) -> None:
        begun.append(tick.epoch)
        if len(begun) == 2:
            both.set()
        await run_tick(tick, schedule, lead)

    monkeypatch.setattr(replica.runner, "run", run_noted)
    keeping = asyncio.create_task(replica.dispatcher.keep(Lead((await replica.leader.ask()).token, lambda: True)))
    try:
        await both.wait()  # before, there would be nothing to end
        other = replace(made, overlap="allow", source=replace(source, values=("https://b.example/",)))
        assert await world.time.frontier.schedules.put("s", made.text(), "")
        assert await world.time.frontier.schedules.put("s", "", other.text(), cursor=START)
        await world.time.frontier.schedules.run("s")
        deadline = monotonic() + 30  # a client may swallow the one cancellation of `asyncio.timeout`
        while await world.waiting():
            assert monotonic() < deadline, "the new tick waits behind the old one"
    finally:
        await tasks.end(keeping)
    assert await world.counts() == [("sealed", 1), ("sealed", 1)]
    leased = await world.time.lease(streams=["products"])
    assert sorted(codec.decode(lease.body, ProductsSpider()).url for lease in leased) == [
        "https://a.example/",
        "https://b.example/",
    ]


async def test_one_that_was_frozen_until_its_run_was_forgotten_leaves_none_open(
    redis_client: redis.asyncio.Redis,
) -> None:
    world = World(await timed(redis_client, runs_kept=10), shipped("settings.test"))
    await world.add(ScheduleSource("urls", ("https://a.example/",)), overlap="allow")
    await world.pass_seconds(3_600)
    frozen = world.replica()
    frozen.gate.close_after(5)  # it has claimed the tick, and was about to open its run
    await frozen.go()
    assert (len(await world.waiting()), await world.runs()) == (1, [])
    await world.pass_seconds(16)
    for _ in range(15):
        await world.replica().go()
        await world.crawl()
        await world.time.frontier.runs.settle()
        await world.pass_seconds(3_600)
    frozen.gate.open()
    await frozen.go()
    assert {run.state for run in await world.runs()} == {"sealed", "finished"}
    assert len(await world.runs()) >= 10


@pytest.mark.parametrize("damage", ["", "x", str(START * 1_000)])
async def test_a_cursor_that_is_lost_starts_anew(world: World, damage: str) -> None:
    await world.add(ScheduleSource("urls", ("https://a.example/",)))
    key = world.time.frontier.shards.key(0, "schedules:cursor")
    await world.time.client.hset(key, "s", damage)
    await world.pass_seconds(10)
    await world.replica().round()
    await world.pass_seconds(3_590)
    await world.replica().round()
    assert await world.counts() == [("sealed", 1)]


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"version": 2}', '{"version": 1, "timing": 3}', "\xff"])
async def test_a_definition_that_cannot_be_read_costs_no_other(world: World, damage: str) -> None:
    made = await world.add(ScheduleSource("urls", ("https://a.example/",)))
    schedules = world.time.frontier.schedules
    await world.time.client.hset(world.time.frontier.shards.key(0, "schedules"), "damaged", damage)
    await world.time.client.hset(world.time.frontier.shards.key(0, "ticks"), "no tick", damage)
    await world.time.client.hset(world.time.frontier.shards.key(0, "ticks"), f"s:{START + 1}", damage)
    await world.pass_seconds(3_600)
    await world.replica().round()
    assert (await schedules.look()).definitions["s"] == made.text()
    assert sorted(await world.counts()) == [("sealed", 1)]


async def test_what_is_known_of_a_host_is_crawled_again(world: World, mongo_database: Any, mongodb_uri: str) -> None:
    def stored(url: str, spider: str = "products") -> dict[str, Any]:
        return {"_id": url, "url": url.partition("#")[0], "source": {"spider": spider}}

    ours = [f"https://a.example/{number}" for number in range(1_100)]
    ours += ["http://a.example/x", "https://a.example:8443/y", "https://a.example/z#2"]
    others = ["https://a.example.com/", "https://b.example/", "https://sub.a.example/", "https://a.example0/"]
    await mongo_database.products.insert_many([stored(url) for url in (*ours, *others)])
    await mongo_database.pages.insert_many([stored("https://a.example/page", "pages"), stored("https://a.example/p")])
    await mongo_database.product_changes.insert_one(stored("https://a.example/history"))
    world.settings.setdict({"MONGODB_URI": mongodb_uri, "MONGODB_DATABASE": mongo_database.name}, priority="cmdline")
    await world.add(ScheduleSource("known", ("a.example",)))
    await world.pass_seconds(3_600)
    await world.die_at(20)
    await world.pass_seconds(16)
    (tick,) = (await world.time.frontier.schedules.look()).ticks
    assert json.loads(json.loads(tick.state)["position"])[0] == "products"
    await world.replica().go()
    assert await world.counts() == [("sealed", len(ours) + 1)]


async def test_what_is_due_is_crawled_within_its_budget(world: World, mongo_database: Any, mongodb_uri: str) -> None:
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    times = {"last_seen_at": long_ago, "last_changed_at": long_ago, "version": 1, "source": {"spider": "products"}}
    urls = [f"https://a.example/{number}" for number in range(100)]
    await mongo_database.products.insert_many([{"_id": url, "url": url} | times for url in urls])
    world.settings.setdict({"MONGODB_URI": mongodb_uri, "MONGODB_DATABASE": mongo_database.name}, priority="cmdline")
    await world.add(ScheduleSource("due", ("960",)), overlap="allow")  # 40 an hour
    await world.pass_seconds(3_600)
    async with RecrawlTurn(mongo_database, "products"):
        with pytest.raises(ServiceError, match="another recrawl of products is under way"):
            await world.replica().go()
        assert await world.counts() == [("open", 0)]
    await world.pass_seconds(16)
    await world.replica().go()
    assert await world.counts() == [("sealed", 40)]
    for _ in range(2):
        await world.pass_seconds(3_600)
        await world.replica().go()
    assert sorted(await world.counts()) == [("sealed", 20), ("sealed", 40), ("sealed", 40)]
