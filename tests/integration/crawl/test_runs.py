"""Runs as real workers and commands make them: each has an end, told once, however it began."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from pathlib import Path

import pytest
import redis

from crawler.frontier.run_record import Run
from tests.crawling import Fleet, ended, open_frontier, options, said
from tests.integration.frontier.making import message
from tests.sites import Page, Site


async def runs_of(fleet: Fleet) -> list[Run]:
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        return await frontier.runs.find()


async def test_start_urls_in_their_key_are_a_run(fleet: Fleet) -> None:
    with (
        Site({"/": Page("<a href=/child>.</a>"), "/child": Page()}) as site,
        redis.Redis.from_url(fleet.redis_url) as client,
    ):
        key = f"{fleet.key}:urls"
        client.lpush(key, site.url("/"), "no URL")
        waiting = {"DOWNLOAD_DELAY": 0, "REDIS_START_URLS_KEY": key, "MAX_IDLE_TIME_BEFORE_CLOSE": 0}
        worker = fleet.start("walk", RUN_IDLE_SECONDS=1, **waiting)
        await said(worker, "finished: 2 done, 1 dead (walk start)")
        client.lpush(key, site.url("/"))
        await said(worker, "finished: 1 done (walk start)")
        worker.send_signal(signal.SIGTERM)
        assert (await ended(worker))[0] == 0
    second, first = await runs_of(fleet)
    assert (first.counts.accepted, first.counts.dead_by) == (3, {"bad_seed": 1})
    assert (second.state, second.counts.accepted) == ("finished", 1)
    common = options({"FRONTIER_KEY": fleet.key})
    listed = fleet.runner.run("runs", "diff", first.id, second.id, *common).stdout.splitlines()
    assert listed[-1] == f"{first.id} -> {second.id}: 0 new, 0 changed, 1 gone, 1 unchanged"


async def test_a_push_that_was_killed_goes_on_where_it_was(fleet: Fleet, tmp_path: Path) -> None:
    urls = [f"http://a.example/{number}\n" for number in range(600)]
    os.mkfifo(pipe := tmp_path / "urls")
    common = options({"FRONTIER_KEY": fleet.key})
    killed = fleet.runner.fork("push", "products", str(pipe), *common)
    with pipe.open("w") as lines:
        lines.writelines(urls[:550])
        lines.flush()
        await fleet.until(lambda left: left.counters.accepted >= 500, spider="products")
        os.kill(killed.pid, signal.SIGKILL)
        await ended(killed)
    [run] = await runs_of(fleet)
    assert (run.state, run.counts.queued) == ("open", run.counts.accepted)
    whole = tmp_path / "whole"
    whole.write_text("".join(urls))
    again = fleet.runner.run("push", "products", str(whole), "--run", run.id, *common)
    assert re.fullmatch(rf"(\d+) pushed to products, (\d+) known already .*\(run {run.id}\)\n", again.stdout)
    [run] = await runs_of(fleet)
    assert (run.state, run.counts.accepted) == ("sealed", 600)


async def test_the_commands(fleet: Fleet) -> None:
    def scrapy(*args: str) -> tuple[int, str, str]:
        done = fleet.runner.run("runs", *args, *options({"FRONTIER_KEY": fleet.key}))
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout, done.stderr

    assert scrapy() == scrapy("list") == scrapy("list", "products") == (0, "There has been no run yet.\n", "")
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        nightly = await frontier.runs.open("products", name="nightly", fresh=True)
        urls = [message(number, f"h{number}.example", "products", generation=nightly.generation) for number in (1, 2)]
        await frontier.push(urls)
        status, shown, _ = scrapy("show", nightly.id)
        assert status == 0
        assert shown.startswith(f"Run {nightly.id} of products, nightly: open\n")
        assert " accepted            2\n" in shown
        assert "It is open: more may be pushed." in shown
        assert "No worker of products is running." in shown
        status, sealed, _ = scrapy("seal", nightly.id, "--json")
        row = json.loads(sealed)
        assert (status, row["state"], row["counts"]["queued"], row["seconds_to_go"]) == (0, "sealed", 2, None)
        assert row["stats"] == {}, "nobody has worked on it"
        waiting = fleet.runner.fork("runs", "wait", nightly.id, *options({"FRONTIER_KEY": fleet.key}))
        [*leases] = (await frontier.lease(["products"], 2, worker="w")).leases
        await frontier.settle(acks=[(leases[0].id, leases[0].token)])
        assert waiting.poll() is None
        await frontier.bury(leases[1].id, leases[1].token, reason="http_500")
        assert await asyncio.to_thread(waiting.wait, 30) == 1, "it has dead letters"
        clean = await frontier.runs.open("pages")
        await frontier.runs.seal(clean.id)
        stopped = await frontier.runs.open("pages")
        await frontier.runs.cancel(stopped.id)
        assert scrapy("wait", clean.id)[:2] == (0, f"run {clean.id} finished: 0 done (pages)\n")
        assert scrapy("wait", stopped.id)[0] == 3
        assert scrapy("diff", nightly.id, clean.id)[2].endswith("of pages: compare runs of one spider\n")
    status, shown, _ = scrapy("show", nightly.id)
    assert "     dead            1   http_500 1\n" in shown
    assert "ended 20" in shown
    assert (
        "Its documents are not counted: MongoDB at 127.0.0.1:1 does not serve us"
        in scrapy("show", nightly.id, "-s", "MONGODB_URI=mongodb://127.0.0.1:1", "-s", "STORAGE_CONNECT_SECONDS=0.2")[1]
    )
    status, listed, _ = scrapy("products")
    rows = [line.split()[:4] for line in listed.splitlines()[2:] if line.strip()]
    assert rows == [[nightly.id, "products", "nightly", "finished"]]
    assert len(scrapy("--json")[1].splitlines()) == 3
    assert max(map(len, listed.splitlines())) <= 80


async def test_what_a_recrawl_changed(fleet: Fleet) -> None:
    """Pages that answer 304 are part of the recrawl."""
    pages = {
        "/": Page("<a href=/same>.</a><a href=/other>.</a><a href=/old>.</a>"),
        "/same": Page("<title>same</title>", headers={"ETag": '"1"'}),
        "/other": Page("<title>before</title>"),
        "/old": Page("<title>old</title>"),
    }
    common = options({"FRONTIER_KEY": fleet.key, "SPIDER_MODULES": "tests.integration.crawl.spiders"})
    with Site(pages) as site:
        ids = []
        for again in ([], ["--recrawl"]):
            pushed = fleet.runner.run("push", "walk", site.url("/"), *again, *common).stdout
            ids.append(re.findall(r"run (\d{8}-\d+)", pushed)[0])
            assert (await ended(fleet.start("walk", DOWNLOAD_DELAY=0)))[0] == 0
            site.pages["/"] = Page("<a href=/same>.</a><a href=/other>.</a><a href=/new>.</a>")
            site.pages["/other"] = Page("<title>after</title>")
            site.pages["/new"] = Page("<title>new</title>")
        listed = fleet.runner.run("runs", "diff", *ids, *common).stdout.splitlines()
        shown = fleet.runner.run("runs", "show", ids[1], *common).stdout
        base = site.url("")
    assert listed[-1] == f"{ids[0]} -> {ids[1]}: 1 new, 1 changed, 1 gone, 2 unchanged"
    assert sorted(line.replace(base, "") for line in listed[:-1]) == [
        "+ pages /new",
        "- pages /old",
        "~ pages /other (version 1 -> 2)",
    ]
    assert "documents:   pages 4\n" in shown
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        empty = await frontier.runs.open("walk", name="empty", fresh=True)
        await frontier.runs.seal(empty.id)
        await frontier.runs.settle()
    newest = fleet.runner.run("runs", "--limit", "2", *common).stdout.splitlines()
    assert newest[-1] == "There are older ones: --limit 4 shows more."
    assert [ids[0] in line for line in newest] == [False] * len(newest)
    assert "older" not in fleet.runner.run("runs", "--limit", "3", *common).stdout
    compared = fleet.runner.run("runs", "diff", ids[1], empty.id, *common)
    assert compared.stdout.splitlines()[-1].endswith(": 0 new, 0 changed, 4 gone, 0 unchanged")
    assert compared.stderr == f"no document is known of run {empty.id}: 0 pages done, 0 dead\n"


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (("show", "7"), "'7' is not a run: expected an id like 20261122-1, `scrapy runs` shows them"),
        (("wait", "20261122-77"), "there is no run 20261122-77: `scrapy runs` shows them"),
        (("diff", "20261122-1"), "scrapy runs [list] [SPIDER] | show ID"),
        (("nonsense",), "there is no spider 'nonsense'"),
        (("--limit", "0"), "--limit = '0' is invalid: expected an integer from 1"),
    ],
)
def test_a_wrong_word_is_one_line(fleet: Fleet, args: tuple[str, ...], complaint: str) -> None:
    done = fleet.runner.run("runs", *args, *options({"FRONTIER_KEY": fleet.key}))
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    assert complaint in done.stderr
