"""Runs as real workers and commands make them: each has an end, told once, however it began."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import redis

from crawler.frontier.state.runs import Run
from tests.crawling import Fleet, ended, open_frontier, options, said
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
        client.lpush(key, site.url("/child"))
        status, log = await ended(fleet.start("walk", **waiting | {"MAX_IDLE_TIME_BEFORE_CLOSE": 0.2}))
        assert (status, log.count("finished: 1 done (walk start)")) == (0, 1), "the last worker that reads the key left"
    _, second, first = await runs_of(fleet)
    assert (first.counts.accepted, first.counts.dead_by) == (3, {"bad_seed": 1})
    assert (second.state, second.counts.accepted) == ("finished", 1)


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
