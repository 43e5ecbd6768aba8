"""What a generation remembers of its URLs, in each mode."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

import pytest

from crawler.frontier.messages import Message, PushOutcome
from crawler.frontier.server.scripts import source
from tests.integration.frontier.harness import all_keys
from tests.integration.frontier.making import Timed, acked, handles, message, open_generation, timed
from tests.integration.frontier.observation import DUMP, observe

ACCEPTED, DUPLICATE = PushOutcome.ACCEPTED, PushOutcome.DUPLICATE
MODES = ("compact", "exact", "window", "bloom")


def urls(count: int, seed: int = 1) -> list[Message]:
    made = random.Random(seed)
    digests = [made.randbytes(20) for _ in range(count)]
    return [message(int.from_bytes(digest[:8], "big") >> 1, digest=digest, body=b"0", cap=100) for digest in digests]


async def outcomes(world: Timed, messages: Sequence[Message]) -> set[PushOutcome]:
    return set(await world.frontier.push(messages))


@pytest.mark.parametrize("mode", MODES)
async def test_a_url_is_taken_once(redis_client: Any, mode: str) -> None:
    world = await timed(redis_client, dedupe=mode)
    many = urls(3_000)
    assert await outcomes(world, many) == {ACCEPTED}
    assert await outcomes(world, many) == {DUPLICATE}
    assert (await world.frontier.inspection.stats()).total.seen == 3_000


async def test_buckets_grow_and_stay_small_and_compact(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push(urls(6_000))
    seen = observe([row for row in await redis_client.eval(DUMP, 1, "{shoal:0}") if not row[0].endswith(b":clock")])
    assert len(seen.seen["s", "0"]) == 6_000
    buckets = await all_keys(redis_client, "*:seen:*")
    assert len(buckets) == seen.counters["s", "0"]["buckets"] == 6_000 // 192 + 1
    assert {await redis_client.object("ENCODING", key) for key in buckets} == {b"intset"}
    assert max([await redis_client.scard(key) for key in buckets]) < 512


async def test_the_bucket_of_a_long_number_is_exact(redis_client: Any) -> None:
    found = re.search(r"local function modulo.*?\nend", source("lib/seen"), re.DOTALL)
    assert found
    script = f"{found[0]} local answer = {{}} for i = 1, #ARGV do answer[i] = modulo(ARGV[i], span) end return answer"
    made = random.Random(1)
    edges = (0, 1, 2**53, 2**53 + 1, 10**15 - 1, 10**15, 2**63 - 1)
    numbers = [*edges, *(made.getrandbits(63) for _ in range(500))]
    for exponent in range(23):
        expected = [number % 2**exponent for number in numbers]
        assert await redis_client.eval(f"local span = {2**exponent} {script}", 0, *numbers) == expected


async def test_exact_compares_whole_fingerprints(redis_client: Any) -> None:
    world = await timed(redis_client, dedupe="exact")
    twins = [message(5, digest=b"a" * 20), message(5, digest=b"b" * 20)]
    assert await world.frontier.push(twins) == [ACCEPTED, ACCEPTED]


@pytest.mark.one_server("scripts are the same on a Cluster")
async def test_exact_takes_digests_of_any_length(redis_client: Any) -> None:
    """A project's own fingerprinter may make them: the whole call failed, and what was before them in it was lost."""
    world = await timed(redis_client, dedupe="exact")
    made = [(1, b"x" * 20), (2, b""), (3, b"abc"), (4, b"abcd"), *((n, b"%05d" % n) for n in range(5, 200))]
    many = [message(number, digest=digest, cap=100) for number, digest in made]
    assert await outcomes(world, many) == {ACCEPTED}
    assert int(await redis_client.hget(world.frontier.shards.key(0, "gen:s:0"), "buckets")) > 1, "it has grown"
    assert await outcomes(world, many) == {DUPLICATE}


async def test_a_window_starts_when_the_url_is_done(redis_client: Any) -> None:
    world = await timed(redis_client, dedupe="window", window_s=100)
    await world.frontier.push([message(1)])
    leased = handles(await world.lease())
    for _ in range(8):
        await world.pass_ms(20_000)
        await world.frontier.renew(leased)
        assert await world.frontier.push([message(1)]) == [DUPLICATE], "leased counts as seen"
    await acked(world.frontier, leased)
    await world.pass_ms(99_000)
    assert await world.frontier.push([message(1)]) == [DUPLICATE]
    await world.pass_ms(1_000)
    assert await world.frontier.push([message(1)]) == [ACCEPTED]


async def test_a_short_window_is_not_shorter_than_it_says(redis_client: Any) -> None:
    """It began with the second in which the page was done: one of a second could be over after a millisecond."""
    world = await timed(redis_client, dedupe="window", window_s=1)
    await world.pass_ms(1_999 - world.now % 1_000)
    await world.frontier.push([message(1)])
    await world.fetch()
    await world.pass_ms(999)
    assert await world.frontier.push([message(1)]) == [DUPLICATE]
    await world.pass_ms(1_002)
    assert await world.frontier.push([message(1)]) == [ACCEPTED]


async def test_a_window_waits_for_the_last_live_copy(redis_client: Any) -> None:
    world = await timed(redis_client, dedupe="window", window_s=10)
    await world.frontier.push([message(1), message(1, dedupe=False)])
    await world.fetch()
    await world.pass_ms(20_000)
    assert await world.frontier.push([message(1)]) == [DUPLICATE]
    await world.fetch()
    await world.pass_ms(10_000)
    assert await world.frontier.push([message(1)]) == [ACCEPTED]


async def test_a_window_forgets_what_it_no_longer_needs(redis_client: Any) -> None:
    world = await timed(redis_client, dedupe="window", window_s=10)
    for generation in range(4):
        await world.frontier.push(urls(400, seed=generation))
        while await world.fetch():
            pass
        await world.pass_ms(11_000)
    assert (await world.frontier.inspection.stats()).total.seen < 1_600


async def test_a_bloom_filter_is_as_small_and_as_wrong_as_it_says(redis_client: Any) -> None:
    world = await timed(redis_client, dedupe="bloom", bloom_capacity=4_000, bloom_error=0.01)
    await world.frontier.push(urls(4_000))
    size = sum([await redis_client.strlen(key) for key in await all_keys(redis_client, "*:seen:*")])
    assert size <= 2 * 4_096, "9.6 bits a URL"
    answers = await world.frontier.push(urls(4_000, seed=2))
    assert 0 < answers.count(DUPLICATE) < 80, "1 % of new URLs are taken for known"


@pytest.mark.parametrize("mode", MODES)
async def test_a_refused_url_does_not_count_as_seen(redis_client: Any, mode: str) -> None:
    world = await timed(redis_client, dedupe=mode, queue_limit=1)
    assert await world.frontier.push([message(1), message(2)]) == [ACCEPTED, PushOutcome.REFUSED_FULL]
    await world.fetch()
    assert await world.frontier.push([message(2)]) == [ACCEPTED]


@pytest.mark.parametrize("mode", MODES)
async def test_a_dropped_dead_letter_is_forgotten_as_far_as_the_mode_can(redis_client: Any, mode: str) -> None:
    world = await timed(redis_client, dedupe=mode)
    await world.frontier.push([message(2**63 - 1)])
    [lease] = await world.lease()
    await world.frontier.bury(lease.id, lease.token, reason="test")
    assert await world.frontier.push([message(2**63 - 1)]) == [PushOutcome.DUPLICATE_DEAD]
    assert await world.frontier.dead.drop([lease.id]) == [True]
    expected = DUPLICATE if mode == "bloom" else ACCEPTED
    assert await world.frontier.push([message(2**63 - 1)]) == [expected]


async def test_a_generation_keeps_the_mode_it_was_opened_with(redis_client: Any) -> None:
    world = await timed(redis_client, dedupe="compact")
    await world.frontier.push([message(1)])
    other = await timed(redis_client, dedupe="exact")
    assert await other.frontier.push([message(1, digest=b"x" * 20)]) == [DUPLICATE]


@pytest.mark.one_server("each shard forgets its own")
async def test_a_finished_generation_is_forgotten_after_its_retention_in_small_steps(redis_client: Any) -> None:
    world = await timed(redis_client, retention_ms=600_000)
    generations = world.frontier.generations
    await world.frontier.push(urls(30_000))
    await open_generation(world.frontier, "s")
    await world.frontier.push([message(1, generation="1")])
    for key in await all_keys(redis_client, "*:gen:s:0"):
        await redis_client.hset(key, mapping={"queued": 0, "done": 30_000})  # as if all were done by now
    await world.pass_ms(599_000)
    assert await generations.sweep() == 0
    await world.pass_ms(1_000)
    left = [await generations.sweep(), await generations.sweep()]
    assert left == [157 - 128, 0]
    assert len(await all_keys(redis_client, "*:seen:*")) == 1, "the current generation stays"
    stats = await world.frontier.inspection.stats()
    assert stats.generations["s", ""].done == 30_000, "its counters stay"
    assert await world.frontier.push([message(1, generation="1")]) == [DUPLICATE]


async def test_a_generation_with_work_is_not_forgotten(redis_client: Any) -> None:
    world = await timed(redis_client, retention_ms=600_000)
    await world.frontier.push([message(1, not_before_ms=world.now + 900_000)])
    await open_generation(world.frontier, "s")
    await world.pass_ms(700_000)
    await world.frontier.generations.sweep()
    assert await world.frontier.push([message(1)]) == [DUPLICATE]


async def test_what_a_window_has_outlived_is_forgotten(redis_client: Any) -> None:
    """Even when nothing new arrives: memory is that of one window's URLs."""
    world = await timed(redis_client, dedupe="window", window_s=20)
    for _ in range(3):
        await world.frontier.push([message(number) for number in range(100)])
        await world.frontier.push([message(number, "queued.example") for number in range(1_000, 1_010)])
        while await world.fetch(exclude_hosts=["queued.example"]):
            pass
        await world.pass_ms(20_000)
        await world.frontier.generations.tidy()
        assert (await world.frontier.inspection.stats("s")).total.seen == 10, "those that are queued"
    assert await world.frontier.push([message(1_000, "queued.example")]) == [PushOutcome.DUPLICATE]
