"""What the whole fleet counts in Redis: answers of domains, fields of items, links out of scope, the cost of tiers."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.frontier.messages import PushOutcome
from crawler.frontier.runs.coverage import LEAST_ITEMS
from tests.integration.frontier.making import message, timed

HALF_LIFE_MS = 600_000 * 0.693


async def test_answers_add_up_by_domain_and_outcome(redis_client: Any) -> None:
    domains = (await timed(redis_client)).frontier.domains
    await domains.add({("a.example", "ok"): 3, ("a.example", "blocked"): 1, ("b.example", "ok"): 1})
    await domains.add({("a.example", "ok"): 2})
    assert await domains.top() == {"a.example": {"ok": 5, "blocked": 1}, "b.example": {"ok": 1}}


async def test_the_busiest_of_late_come_first(redis_client: Any) -> None:
    world = await timed(redis_client)
    domains = world.frontier.domains
    await domains.add({("was.example", "ok"): 100})
    await domains.add({("is.example", "ok"): 60})
    await domains.add({("is.example", "ok"): 60})
    assert list(await domains.top()) == ["is.example", "was.example"], "answers add up"
    await world.pass_ms(round(4 * HALF_LIFE_MS))
    await domains.add({("new.example", "ok"): 10})
    assert list(await domains.top(2)) == ["new.example", "is.example"], "120 weigh 7.5 after four half-lives"


async def test_no_more_domains_are_kept_than_are_told(redis_client: Any) -> None:
    world = await timed(redis_client)
    for at in range(11):
        await world.frontier.domains.add({(f"{at}-{n}.example", "ok"): 1 + at for n in range(100)})
    for key in ("domains", "domains:busy"):
        name = world.frontier.shards.key(0, key)
        kept = await (redis_client.hlen(name) if key == "domains" else redis_client.zcard(name))
        assert kept == 1_000
    assert not any(name.startswith("0-") for name in await world.frontier.domains.top(1_000))


async def test_fields_of_a_run_add_up_and_are_kept_for_a_while(redis_client: Any) -> None:
    world = await timed(redis_client)
    run = await world.frontier.runs.open("s", fresh=True)
    few = {
        (run.generation, "present", "name"): LEAST_ITEMS // 2,
        (run.generation, "missing", "price"): LEAST_ITEMS // 2,
    }
    await world.frontier.coverage.add("s", few)
    assert await world.frontier.coverage.of(run) == {}, "too few to tell"
    await world.frontier.coverage.add("s", {**few, (run.generation, "present", "price"): LEAST_ITEMS // 2})
    assert await world.frontier.coverage.of(run) == pytest.approx({"name": 1.0, "price": 1 / 3})
    key = world.frontier.shards.key(0, f"fields:s:{run.generation}")
    assert await redis_client.pttl(key) > 0
    for at in range(4):
        await world.frontier.coverage.add("s", {(run.generation, "present", f"field {at}-{n}"): 1 for n in range(100)})
    assert await redis_client.hlen(key) == 300, "a spider that makes up names fills no memory"
    await world.frontier.coverage.add("s", {(run.generation, "present", "name"): 1})
    assert await redis_client.hget(key, "present:name") == str(LEAST_ITEMS + 1).encode()


async def test_links_out_of_scope_add_up_by_rule(redis_client: Any) -> None:
    world = await timed(redis_client)
    assert await world.frontier.push([message(1)]) == [PushOutcome.ACCEPTED]
    await world.frontier.scopes.count_cuts({("s", "0", "depth"): 2, ("s", "0", "trap"): 1})
    await world.frontier.scopes.count_cuts({("s", "0", "depth"): 3})
    assert (await world.frontier.inspection.stats("s")).cut["s", "0"] == {"depth": 5, "trap": 1}
