"""Which sitemaps of a run are left, and which have not changed; whatever is in Redis in their place."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.frontier.runs import sitemaps
from crawler.frontier.runs.sitemaps import UNKNOWN, Sitemaps, SitemapVerdict
from tests.integration.frontier.making import timed

READ, UNCHANGED, TOO_MANY = SitemapVerdict.READ, SitemapVerdict.UNCHANGED, SitemapVerdict.TOO_MANY
A, B, C = (f"https://a.example/{name}.xml" for name in "abc")
RUN, NEXT = "20261122000001", "20261122000002"


async def known(redis_client: Any) -> Sitemaps:
    return (await timed(redis_client)).frontier.sitemaps


async def test_the_last_one_is_told(redis_client: Any) -> None:
    of = await known(redis_client)
    assert await of.add("s", RUN, [(A, ""), (A, "")]) == [READ, READ]
    assert await of.add("s", RUN, [(A, ""), (B, ""), (C, "")]) == [READ, READ, READ]
    assert [await of.end("s", RUN, one) for one in (A, A, B)] == [2, 2, 1]
    assert await of.add("s", RUN, [(A, ""), (B, "")]) == [READ, READ], "it is known in its run"
    assert await of.end("s", RUN, C) == 0, "what was read once is not left again"
    await of.add("s", NEXT, [(A, "")])
    assert await of.end("s", NEXT, A) == 0, "each run has its own"


async def test_one_of_a_run_that_is_lost_is_not_the_last_of_one_that_was_given_its_number(redis_client: Any) -> None:
    """Redis was emptied while a worker read it: the other run may have no sitemaps, and still be pushed to."""
    of = await known(redis_client)
    assert await of.end("s", RUN, A) == UNKNOWN
    await of.add("s", RUN, [(B, "")])
    assert [await of.end("s", RUN, one) for one in (A, B)] == [UNKNOWN, 0]


async def test_the_same_lastmod_is_no_change_for_those_who_ask(redis_client: Any) -> None:
    of = await known(redis_client)
    await of.add("s", RUN, [(A, "2026-11-22"), (B, "")], changed_only=True)
    named = [(A, "2026-11-22"), (B, "")]
    assert await of.add("s", NEXT, named, changed_only=True) == [READ, READ], "it was named, not read"
    await of.end("s", RUN, A, "2026-11-22")
    await of.end("s", RUN, B, "")
    assert await of.add("s", NEXT, named, changed_only=True) == [UNCHANGED, READ]
    assert await of.add("s", NEXT, [(A, "2026-11-23")], changed_only=True) == [READ]
    assert await of.add("s", NEXT, named) == [READ, READ]
    assert await of.add("other", NEXT, named, changed_only=True) == [READ, READ]


async def test_a_run_has_so_many_and_no_more(redis_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MOST", 2)
    of = await known(redis_client)
    assert await of.add("s", RUN, [(A, ""), (B, ""), (C, ""), (A, "")]) == [READ, READ, TOO_MANY, READ]


@pytest.mark.one_server("what is set aside lies beside it")
@pytest.mark.parametrize("name", ["sitemaps:s", f"sitemaps:s:{RUN}"])
async def test_a_value_of_another_type_is_set_aside(redis_client: Any, name: str) -> None:
    world = await timed(redis_client)
    of = world.frontier.sitemaps
    await redis_client.set(world.frontier.shards.key(0, name), b"noise")
    assert await of.add("s", RUN, [(A, "x"), (B, "")], changed_only=True) == [READ, READ]
    assert [await of.end("s", RUN, A, "x"), await of.end("s", RUN, B)] == [1, 0]
    assert await of.add("s", NEXT, [(A, "x")], changed_only=True) == [UNCHANGED]
