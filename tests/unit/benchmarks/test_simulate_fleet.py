"""The simulated fleet: its policy is that of the shipped scripts, and what it says of a crawl adds up."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks import simulate_fleet
from benchmarks.document import table
from benchmarks.fleet_crawl import DAY_MS, TICK_MS, Fleet, World, simulate
from benchmarks.fleet_policy import Kind, Shard
from benchmarks.fleet_redis import measure
from crawler.frontier.messages import Lease
from docs.capacity import Measured
from tests.integration.frontier.making import START_MS, Timed, answer, handles, message, sent, timed

KINDS = (Kind(1_000, 500), Kind(500, 1_000), Kind(20_000, 1_000), Kind(40_000, 3_000))
STEP_MS = 500
STEPS = 130
NAMES = [f"host-{number:02d}" for number in range(40)]


class Shipped:
    """The scripts, and workers that send at once what they lease."""

    def __init__(self, world: Timed, of: list[int]) -> None:
        self._world = world
        self._of = of
        self._on_the_wire: list[tuple[int, Kind, Lease]] = []

    async def lease(self, limit: int) -> list[list[str]]:
        """Hosts of each kind, after the answers that are in by now."""
        world, over = self._world, [one for one in self._on_the_wire if one[0] <= self._world.now]
        self._on_the_wire = [one for one in self._on_the_wire if one[0] > world.now]
        reports = [answer((lease.id, lease.token), elapsed_ms=kind.latency_ms) for _, kind, lease in over]
        await world.frontier.settle((), reports, handles([lease for _, _, lease in over]))
        leased = await world.lease(limit)
        await sent(world.frontier, handles(leased))
        found: list[list[str]] = [[] for _ in KINDS]
        for lease in leased:
            number = self._of[NAMES.index(lease.host)]
            found[number].append(lease.host)
            self._on_the_wire.append((world.now + KINDS[number].latency_ms, KINDS[number], lease))
        return found


@pytest.mark.parametrize("limit", [3, 60])
async def test_the_shipped_scripts_lease_the_same_hosts_in_the_same_order(redis_client: Any, limit: int) -> None:
    """With too few slots for all that are due, and with more than enough."""
    random = Random(limit)
    pages, of = [random.randrange(1, 9) for _ in NAMES], [random.randrange(len(KINDS)) for _ in NAMES]
    world = await timed(redis_client, throttle=False)
    urls = [(NAMES[host], KINDS[of[host]].delay_ms) for host in range(len(NAMES)) for _ in range(pages[host])]
    await world.frontier.push([message(number, host, delay_ms=delay) for number, (host, delay) in enumerate(urls)])
    shipped, model = Shipped(world, of), Shard(list(pages), of, KINDS, range(len(NAMES)))
    for step in range(STEPS):
        expected = [[NAMES[host] for host in hosts] for hosts in model.lease(world.now - START_MS, limit)]
        assert await shipped.lease(limit) == expected, f"after {step * STEP_MS} ms"
        await world.pass_ms(STEP_MS)
    assert sum(model.pages) < sum(pages) / 2


POLITE = World(400, 8_000, ((Kind(1_000, 250), 0.5), (Kind(5_000, 1_000), 0.5)))


@pytest.mark.parametrize(
    ("fleet", "limit"),
    [
        (Fleet(1, 128, 2, worker_pages=5, shard_pages=1_000), "workers' CPU"),
        (Fleet(1, 4, 2, worker_pages=1_000, shard_pages=1_000), "slots"),
        (Fleet(10, 128, 2, worker_pages=1_000, shard_pages=4), "Redis"),
        (Fleet(10, 128, 2, worker_pages=1_000, shard_pages=1_000), "hosts"),
    ],
)
def test_a_crawl_takes_what_its_scarcest_part_allows(fleet: Fleet, limit: str) -> None:
    crawl = simulate(POLITE, fleet)
    pages, of = POLITE.made()
    longest = max((left - 1) * POLITE.kinds[of[host]][0].gap_ms for host, left in enumerate(pages) if left)
    assert sum(pages) == crawl.urls == crawl.done == sum(crawl.limited.values())
    assert (crawl.hosts_left, crawl.limit) == (0, limit)
    assert crawl.rate <= fleet.pages * 1.01
    assert DAY_MS > crawl.all_ms >= longest
    if limit == "hosts":
        assert crawl.all_ms <= longest + 2 * TICK_MS + 10_000, "no host waits for anything but its turn"


async def test_a_short_form_measures_a_server_and_writes_it_all_down(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulate_fleet, "DOCUMENT", tmp_path / "fleet.md")
    paid = await measure(redis_url, 1_024)  # with fewer their memory is less than what the server happens to free
    assert paid.bytes_of_one > 0
    assert paid.alone_us > 0
    found = simulate_fleet.crawls(POLITE, Measured.read(), paid, [(1, 8, 1), (2, 64, 2)])
    simulate_fleet.publish(POLITE, Measured.read(), paid, found)
    assert [row[:3] for row in table("fleet", tmp_path / "fleet.md")] == [["1", "8", "1"], ["2", "64", "2"]]
    assert table("redis", tmp_path / "fleet.md")[0][0] == "1,024"


def test_a_delay_between_two_ticks_is_refused() -> None:
    with pytest.raises(ValueError, match="multiples of 250 ms"):
        World(10, 100, ((Kind(1_000, 300), 1.0),)).made()
