"""The frontier benchmark in its short form, and what misses a bar."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import redis
from rich.console import Console

from benchmarks import frontier, frontier_longest, frontier_operations, frontier_size, frontier_speed, frontier_urgent
from benchmarks.crawl import SHOAL, STOCK
from benchmarks.frontier_bed import Ours, Shape, Stock
from benchmarks.frontier_longest import Longest, Stops
from benchmarks.frontier_meter import Cost, Spent
from benchmarks.frontier_size import Size
from benchmarks.frontier_speed import Turn
from crawler.frontier.config import DEDUPE_MODES

SMALL = Shape.of(1_000)


@pytest.fixture(autouse=True)
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "frontier.md"
    for module in (frontier, frontier_longest, frontier_size, frontier_speed, frontier_urgent):
        monkeypatch.setattr(module, "DOCUMENT", file)
    monkeypatch.setattr(frontier_operations, "REAP_SECONDS", 200)  # a busy machine puts reaping off again and again
    return file


async def test_a_short_run_measures_everything_and_says_so(redis_url: str, written: Path) -> None:
    found = await frontier.run([redis_url, redis_url], SMALL, rounds=2, calls=4, console=Console(file=io.StringIO()))
    found.publish()

    assert (len(found.turns), found.sizes[0].who, found.sizes[1].who) == (2, SHOAL, STOCK)
    assert {one.dedupe for one in found.sizes if one.who == SHOAL} == set(DEDUPE_MODES)
    assert 0 < (found.sizes[0].seen or 0) < (found.sizes[1].seen or 0)
    assert found.longest is not None
    assert found.longest.fork_ms > 0
    operations = found.longest.operations
    assert {"push", "lease", "reap", "sweep", "stats", "loop"} <= {one.name for one in operations}
    assert all(0 < one.median <= one.most <= one.of_all <= min(one.cpu, one.clock) for one in operations)
    assert all(one.calls > 0 for one in operations)
    assert found.urgent is not None
    assert 0 < found.urgent.first < found.urgent.last
    assert 0 < found.urgent.backlog < SMALL.urls - found.urgent.left
    text = written.read_text()  # noqa: ASYNC240
    assert "1,000 URLs on 64 hosts" in text
    assert "appendonly yes" in text


async def test_all_that_is_queued_is_leased_acknowledged_and_popped(redis_client: Any, redis_url: str) -> None:
    client = redis.Redis.from_url(redis_url)
    ours, stock = Ours(redis_url, SMALL), Stock(client, SMALL)
    await ours.fill(0, 500)
    stock.fill(0, 500)

    assert await ours.cycle([ours.message(number) for number in range(400, 600)]) == 100, "half of them are known"
    assert stock.push([stock.shape.request(number) for number in range(400, 600)]) == 100
    assert await ours.lease_and_ack(500) == 500
    assert stock.pop(700) == 600
    total = (await ours.frontier.inspection.stats()).total
    assert (total.done, total.queued, total.leased, total.duplicates) == (600, 0, 0, 100)
    with pytest.raises(LookupError, match="nothing to lease"):
        await ours.lease_and_ack(1)
    await ours.client.aclose()
    client.close()


def test_neighbours_are_compared_and_the_bars_looked_at(written: Path) -> None:
    ours, stock = Cost(50, 30, 0.2, 500), Cost(40, 6, 3.0, 1000)
    good = [Turn(200, 100, ours, stock), Turn(20, 10, ours, stock), Turn(10, 100, ours, stock)]
    assert frontier_speed.publish(good, SMALL) == []
    assert "| Shoal / scrapy-redis | 2.00 | 0.07 | 0.50 | 5.00 | 1.25 |" in written.read_text()
    assert (
        "cost 11.3 us here beside its command. At 8.6 us both cost Redis the same; the frontier cost it more"
        in written.read_text()
    )

    assert len(frontier_speed.publish([Turn(199, 100, ours._replace(trips=0.4), stock)], SMALL)) == 2
    assert "| met | no | no |" in written.read_text()


def test_what_a_request_costs_is_told_apart_by_commands_and_round_trips(redis_url: str) -> None:
    client = redis.Redis.from_url(redis_url)
    before = Cost.so_far(client, ["sadd"])
    for number in range(50):
        client.sadd("some", number)
        client.zadd("more", {str(number): number})
    cost = Cost.so_far(client, ["sadd"]).per_request(before, 50)
    assert 2 <= cost.trips <= 2.2
    assert 0 < cost.commands < 1_000
    assert cost.traffic > 40
    client.close()


def test_one_operation_over_the_bar_is_named(written: Path) -> None:
    quick, slow = rounds("push", 4.9, 4.9, 4.9), rounds("sweep", 5.1, 1.0, 5.2)
    assert frontier_longest.publish(Stops([quick], 12.0), SMALL) == []
    assert frontier_longest.publish(Stops([quick, slow], 12.0), SMALL) == ["sweep took 5.10 ms, at most 5.0 are wanted"]


def test_a_machine_that_stood_still_once_is_told_and_not_held_against_the_bar(written: Path) -> None:
    loop = rounds("loop", 6.0, 7.0, 8.0)
    assert frontier_longest.publish(Stops([rounds("push", 1.0, 9.9, 2.0), loop], 12.0), SMALL) == []
    text = written.read_text()
    assert "the longest is `push` with 2.00 ms. Calls over 5 ms in any round: `push` 9.90 ms." in text
    assert "| (a loop without data) | 6 | 3.25 | 7.00 | 8.00 | 9.00 | 8.00 |" in text


def rounds(name: str, *longest: float) -> Longest:
    """One short call and the longest one in each round."""
    return Longest.of(name, [[Spent(0.6, 0.5), Spent(ms + 1, ms)] for ms in longest])


def test_bytes_are_held_against_the_bars_of_the_first_row(written: Path) -> None:
    small, other = Size(SHOAL, 1000, "tuned", "compact", 180.0, 10.0, 200.0), Size(STOCK, 1, "", "", 400.0, 90.0, 500.0)
    assert frontier_size.publish([small, other]) == []
    assert "| Shoal | 1,000 | tuned | compact | 180.0 | 10.0 | 200.0 |" in written.read_text()

    assert len(frontier_size.publish([other])) == 2
