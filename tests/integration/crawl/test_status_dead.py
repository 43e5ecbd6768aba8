"""`scrapy status` and `scrapy dead` on a real frontier."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import signal
import time
from contextlib import suppress
from dataclasses import replace

import pytest
from redis.asyncio import Redis

from crawler.commands.views.dead_view import dropped, retried
from crawler.frontier.messages import Message
from crawler.frontier.state.tiers import Tiers
from crawler.policy.tiers import LearnedTier
from tests.crawling import Fleet, ended, open_frontier
from tests.effort import PATIENCE

pytestmark = pytest.mark.usefixtures("letters")


def message(number: int, host: str = "shop.example") -> Message:
    return Message(host=host, stream="products", spider="products", body=b"x", fingerprint=number, cap=10)


@pytest.fixture
async def letters(fleet: Fleet) -> None:
    """Two dead letters of different reasons and hosts, one request still queued, one worker."""
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        await frontier.push([message(1), message(2, "other.example")])
        for lease in (await frontier.lease(["products"], 2, worker="w1")).leases:
            reason = "spider_error" if lease.host == "shop.example" else "http_503"
            detail = {"url": f"https://{lease.host}/1", "error": "KeyError: 'a'"}
            assert await frontier.bury(lease.id, lease.token, reason=reason, detail=detail)
        await frontier.push([message(3)])
        await frontier.workers.heartbeat("w1", {"spider": "products", "leases": 0, "buffered": 0, "outbox": 0})


def scrapy(fleet: Fleet, *args: str) -> tuple[int, str, str]:
    result = fleet.runner.run(*args, "-s", f"FRONTIER_KEY={fleet.key}")
    assert "Traceback" not in result.stderr
    return result.returncode, result.stdout, result.stderr


def test_status_shows_counters_hosts_and_workers(fleet: Fleet) -> None:
    status, shown, _ = scrapy(fleet, "status", "products")
    assert status == 0
    assert [words for words in ("shop.example", "bytes per queued URL", "w1") if words not in shown] == []


async def test_status_tells_tiers_apart(fleet: Fleet) -> None:
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        await frontier.push(
            [
                Message(
                    host="shop.example", stream="products:browser", spider="products", body=b"x", fingerprint=number
                )
                for number in (9, 10)
            ]
        )
        tiers = Tiers(frontier.shards, keep_ms=1_000)
        await tiers.learn("shop.example", lambda _: LearnedTier("browser"))
        await tiers.spend({"browser": 1_234}, {"api": 2.5})
    shown = scrapy(fleet, "status", "products")[1]
    assert [words for words in ("Tiers", "1,234 requests", "cost 2.5") if words not in shown] == []
    seen = json.loads(scrapy(fleet, "status", "products", "--json")[1])
    assert {tier: counters["queued"] for tier, counters in seen["tiers"]["products"].items()} == {
        "http": 1,
        "browser": 2,
    }
    assert seen["spent"]["browser"] == {"requests": 1_234, "cost": 0}
    assert [host["tier"] for host in seen["hosts"]] == ["browser"]


def test_status_is_json_for_scripts(fleet: Fleet) -> None:
    seen = json.loads(scrapy(fleet, "status", "products", "--json")[1])
    assert {name: seen["spiders"]["products"][name] for name in ("queued", "dead", "seen")} == {
        "queued": 1, "dead": 2, "seen": 3,
    }  # fmt: skip
    assert [host["host"] for host in seen["hosts"]] == ["shop.example"]
    assert (seen["tiers"], seen["spent"]) == ({}, {})
    assert [worker["name"] for worker in seen["workers"]] == ["w1"]
    assert seen["bytes_per_queued"] > 0
    assert seen["dead_letters"] == 2


async def test_what_is_wrong_with_the_servers_configuration_is_told_by_status_and_workers(
    fleet: Fleet, redis_client: Redis
) -> None:
    await redis_client.config_set("maxmemory", "1gb", "maxmemory-policy", "allkeys-lru")
    try:
        shown = scrapy(fleet, "status")[1]
        _, log = await ended(fleet.start())
    finally:
        await redis_client.config_set("maxmemory", 0, "maxmemory-policy", "noeviction")
    for words in (shown, log):
        assert "maxmemory-policy is not noeviction" in words


def test_status_of_a_spider_that_nobody_pushed_to_says_so(fleet: Fleet) -> None:
    assert "Nothing is queued yet (`scrapy push`)." in scrapy(fleet, "status", "pages")[1]


def test_dead_letters_are_listed_by_host_and_reason(fleet: Fleet) -> None:
    listed = [json.loads(line) for line in scrapy(fleet, "dead", "list", "products", "--json")[1].splitlines()]
    assert {letter["reason"]: letter["host"] for letter in listed} == {
        "spider_error": "shop.example",
        "http_503": "other.example",
    }
    by_reason = scrapy(fleet, "dead", "list", "--reason", "http_503", "--json")[1]
    by_host = scrapy(fleet, "dead", "list", "--host", "other.example", "--json")[1]
    assert by_reason == by_host
    assert len(by_reason.splitlines()) == 1
    assert "2 shown of 2 kept; 0 evicted" in scrapy(fleet, "dead", "list")[1]


def test_one_letter_is_shown_with_its_error(fleet: Fleet) -> None:
    first = json.loads(scrapy(fleet, "dead", "list", "--json", "--limit", "1")[1])
    assert json.loads(scrapy(fleet, "dead", "show", first["id"])[1])["detail"]["error"] == "KeyError: 'a'"
    missing = fleet.runner.run("dead", "show", "0:999999", "--page", "-s", f"FRONTIER_KEY={fleet.key}")  # > page.html
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr.endswith("there is no dead letter 0:999999: `scrapy dead list` shows them\n")
    assert scrapy(fleet, "dead", "show", "99:1")[0] == 1


def test_a_letter_without_a_page_says_why(fleet: Fleet) -> None:
    first = json.loads(scrapy(fleet, "dead", "list", "--json", "--limit", "1")[1])
    status, _, log = scrapy(fleet, "dead", "show", first["id"], "--page")
    assert status != 0
    assert f"dead letter {first['id']} has no page: none was archived: ARCHIVE_PAGES says which are" in log


def test_retry_queues_and_drop_forgets(fleet: Fleet) -> None:
    retried = scrapy(fleet, "dead", "retry", "products", "--reason", "spider_error")[1]
    assert re.fullmatch(r"1 queued again\nrun \d{8}-1 of products: retry of crawl 0\n", retried)
    assert scrapy(fleet, "dead", "drop", "products", "--yes")[1] == "1 dropped\n"
    counters = json.loads(scrapy(fleet, "status", "products", "--json")[1])["spiders"]["products"]
    assert (counters["queued"], counters["dead"], counters["dropped"]) == (2, 0, 1)


async def test_letters_of_the_other_kind_are_pointed_to(fleet: Fleet) -> None:
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        [lease] = (await frontier.lease(["products"], 1, worker="w1")).leases
        await frontier.end_gone(lease.id, lease.token, reason="http_404", detail={})
    status, shown, log = scrapy(fleet, "dead", "retry", "--reason", "http_404")
    assert (status, shown) == (0, "0 queued again\n")
    assert log.endswith("letters of kind 'gone' match: add --kind gone\n")
    assert "--kind dead" in scrapy(fleet, "dead", "list", "--kind", "gone", "--reason", "http_503")[2]
    assert "--kind" not in scrapy(fleet, "dead", "list", "--host", "none.example")[2]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["dead"], "name one of list, show, retry, drop"),
        (["dead", "bury"], "name one of"),
        (["dead", "show"], "name one of"),
        (["dead", "show", "x"], "id = 'x' is invalid"),
        (["dead", "list", "--limit", "0"], "--limit = '0' is invalid: expected an integer from 1 to 1000000"),
        (["dead", "list", "prodcts"], "there is no spider 'prodcts'"),
        (["dead", "list", "--host", "http://a.example/"], "--host = 'http://a.example/' is invalid"),
        (["dead", "list", "--reason", "nope"], "--reason = 'nope' is invalid: expected one of bad_seed, blocked, "),
        (["dead", "retry", "products", "--reason", "spider_eror"], "spider_error"),
        (
            ["dead", "drop", "products"],
            "Throw 2 dead letters of products away for good? There is no terminal to ask on: add --yes",
        ),
        (["dead", "retry", "products", "--json"], "--json is for list and show"),
        (["dead", "list", "--page"], "--page is for show"),
        (["dead", "list", "--reson", "x"], "there is no option --reson"),
        (["status", "prodcts"], "there is no spider 'prodcts'"),
        (["status", "a", "b"], "at most one spider"),
        (["status", "--json", "--watch"], "either --json or --watch"),
    ],
)
def test_a_wrong_call_is_one_line_and_status_2(fleet: Fleet, args: list[str], words: str) -> None:
    status, _, complaint = scrapy(fleet, *args)
    assert status == 2
    assert words in complaint
    assert len(complaint.splitlines()) == 1


async def test_letters_of_a_deleted_spider_are_listed_and_dropped(fleet: Fleet) -> None:
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        await frontier.push(
            [Message(host="shop.example", stream="gone", spider="gone", body=b"x", fingerprint=9, cap=10)]
        )
        [lease] = (await frontier.lease(["gone"], 1, worker="w1")).leases
        assert await frontier.bury(lease.id, lease.token, reason="of_another_release")
    assert scrapy(fleet, "dead", "list", "gone", "--host", "other.example")[:2] == (
        0, "No dead letters match.\n0 shown of 3 kept; 0 evicted for want of room (FRONTIER_DEAD_LIMIT)\n",
    )  # fmt: skip
    assert scrapy(fleet, "dead", "list", "--reason", "of_another_release", "--host", "other.example")[0] == 0
    assert len(scrapy(fleet, "dead", "list", "gone", "--json")[1].splitlines()) == 1
    assert scrapy(fleet, "dead", "drop", "gone", "--yes")[1] == "1 dropped\n"


async def test_what_a_deleted_spider_has_left_is_found_after_its_letters_are_gone(fleet: Fleet) -> None:
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        pushed = [Message(host="shop.example", stream="gone", spider="gone", body=b"x", fingerprint=9, cap=10)]
        await frontier.push(pushed)
        [lease] = (await frontier.lease(["gone"], 1, worker="w1")).leases
        assert await frontier.bury(lease.id, lease.token, reason="http_500")
    status, told, hint = scrapy(fleet, "dead", "retry", "gone")
    assert (status, told.splitlines()[0]) == (0, "1 queued again")
    assert "there is no spider 'gone' here: what is queued waits for a worker of it" in hint
    assert scrapy(fleet, "dead", "drop", "gone", "--yes")[:2] == (0, "0 dropped\n")
    assert scrapy(fleet, "control", "purge", "--spider", "gone", "--yes")[:2] == (0, "1 request dropped\n")


async def test_what_another_operator_has_dropped_meanwhile_is_no_broken_start_url(fleet: Fleet) -> None:
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        letters = await frontier.dead.find("products")
    assert [*dropped(letters, 1, 100)] == ["1 dropped", "1 were not dropped: somebody else was faster"]
    assert [*retried([*letters, replace(letters[0], host="")], 1, 100)] == [
        "1 queued again",
        "1 left as they are: a start URL that could not be read can only be dropped",
        "1 were not queued: somebody else was faster, or their run is cancelled",
    ]


def test_nothing_is_dropped_unless_somebody_agrees(fleet: Fleet) -> None:
    given = ["dead", "drop", "products", "-s", f"FRONTIER_KEY={fleet.key}"]
    for answer, said in (("n", "nothing is dropped"), ("", "nothing is dropped"), ("y", "2 dropped")):
        assert said in _at_a_terminal(fleet, given, answer)
    assert scrapy(fleet, "dead", "list", "--json")[1] == ""


def _at_a_terminal(fleet: Fleet, arguments: list[str], answer: str) -> str:
    """A command's output at a terminal where *answer* is typed."""
    ours, theirs = pty.openpty()
    process = fleet.runner.fork(*arguments, terminal=theirs)
    os.close(theirs)
    os.write(ours, f"{answer}\n".encode())
    process.wait(60)
    shown = b""
    with suppress(OSError):  # which is how a terminal's end is told: all of it need not come at once
        while True:
            shown += os.read(ours, 65_536)
    os.close(ours)
    return shown.decode()


async def test_watching_into_a_pipe_shows_a_block_at_a_time(fleet: Fleet) -> None:
    watching = fleet.runner.fork("status", "products", "--watch", "-s", f"FRONTIER_KEY={fleet.key}")
    deadline = time.monotonic() + PATIENCE
    while watching.output.count(" UTC\n") < 2:
        assert time.monotonic() < deadline, watching.output
        await asyncio.sleep(0.05)
    watching.send_signal(signal.SIGINT)
    await ended(watching)
    blocks = watching.output.split(" UTC\n")[1:]
    assert "shop.example" in blocks[0]
    assert "shop.example" in blocks[1]
    assert "\x1b" not in watching.output
