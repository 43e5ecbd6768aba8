"""`scrapy crawl --workers`: several processes, one command."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from pathlib import Path

import pytest

from tests.crawling import SHORT_LEASE, ended, open_frontier, said
from tests.integration.crawl.quotes import Crawls, listing
from tests.integration.extensions.visiting import get, logged, samples, until
from tests.sites import Page

ADDRESS = re.compile(r"Metrics and probes of all 2 workers: (http://127\.0\.0\.1:\d+)/metrics")


def feeds(directory: Path) -> list[Path]:
    """What the workers wrote, a file each."""
    return [*directory.glob("*.jsonl")]


def workers_of(supervisor: int) -> list[int]:
    """Their process ids."""
    return [int(pid) for pid in Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()]


async def test_two_workers_are_one_command(crawls: Crawls, tmp_path: Path) -> None:
    hold = threading.Event()
    crawls.site.pages["/page/3/"] = Page(listing(3), hold=hold)
    log = tmp_path / "crawl.log"
    options = ("--workers", "2", "-O", str(tmp_path / "%(worker)s.jsonl"), "--logfile", str(log))
    command = crawls.start("many", *options, METRICS_PORT=0, LOG_LEVEL="INFO", **SHORT_LEASE)
    address = logged(command, ADDRESS)[1]
    await crawls.fleet.workers(2)
    until(f"{address}/readyz", 200)

    killed = workers_of(command.pid)[0]
    os.kill(killed, signal.SIGKILL)
    await said(command, "was killed by SIGKILL: restarting in 0.5 s")
    assert "worker 1: starting" in until(f"{address}/readyz", 503)
    until(f"{address}/readyz", 200)
    told = json.loads(until(f"{address}/readyz?verbose", 200))
    assert {worker: one["ready"] for worker, one in told["workers"].items()} == {"1": True, "2": True}
    assert get(f"{address}/healthz") == (200, "ok\n")
    found = samples(address)
    assert found["shoal_items_scraped_total", ("1",)] == 0  # of the process that runs now
    assert ("shoal_items_scraped_total", ("2",)) in found
    assert {key[1] for key in found if key[0] == "process_resident_memory_bytes"} == {("1",), ("2",)}
    assert {key[1] for key in found if key[0] == "shoal_worker_leases"} == {("1",), ("2",)}
    assert not [key for key in found if key[0].startswith("shoal_fleet")], "each would say the same of the whole fleet"
    assert found["shoal_worker_restarts_total", ("1",)] == 1
    hold.set()

    status, shown = await ended(command)
    assert status == 0
    assert "2 workers ended (finished): " in shown.splitlines()[-1]
    assert all(len(line) < 80 for line in shown.splitlines() if " workers " in line and " s  " in line)
    assert f'"{crawls.site.url("/page/3/")}"' in "".join(one.read_text() for one in feeds(tmp_path))
    text = log.read_text()
    assert "[worker 1] Crawl 1 of many begins" in text
    assert "[worker 2] Crawl 1 of many is under way" in text
    assert "Crawl 2 of many" not in text


async def test_a_worker_that_comes_late_does_not_begin_a_second_crawl(crawls: Crawls) -> None:
    """The first has opened its spider before the second begins, and may have finished."""
    status, shown = await ended(crawls.start("quotes", "--workers", "2", LOG_LEVEL="INFO"))
    assert status == 0
    assert shown.count("begins") == 1
    assert "[worker 2] Crawl 1 of quotes is under way" in shown
    assert crawls.site.requested.count("/page/1/") == 1
    async with open_frontier(crawls.fleet.redis_url, crawls.fleet.key) as frontier:
        assert len(await frontier.runs.find()) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--workers", "0"), "--workers = '0' is invalid: expected an integer from 1 to 64, or 'auto'"),
        (
            ("--workers", "2", "-o", "items.jsonl"),
            "FEEDS (-o, -O) = 'items.jsonl' is invalid: expected a URI of its own",
        ),
        (("--workers", "2", "-s", "FRONTIER_ENABLED=False"), "each would crawl everything"),
        (("--workers", "2", "--pdb"), "--pdb works in one process only: leave --workers out"),
    ],
)
async def test_what_several_cannot_do_is_one_line(crawls: Crawls, options: tuple[str, ...], words: str) -> None:
    status, shown = await ended(crawls.start("many", *options, LOG_LEVEL="INFO"))
    assert status == 2
    (line,) = shown.splitlines()
    assert words in line
