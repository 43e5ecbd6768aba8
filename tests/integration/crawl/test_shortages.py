"""A worker whose machine has nothing left for another connection harms no page: others fetch what it gives back."""

from __future__ import annotations

import resource
import threading

from tests.crawling import Fleet, ended, said
from tests.sites import Page, Site

PAGES = 12


async def test_without_free_files_pages_go_back_uncharged_and_none_is_a_dead_letter(fleet: Fleet) -> None:
    hold = threading.Event()
    links = "".join(f"<a href=/{number}>.</a>" for number in range(1, PAGES + 1))
    pages = {f"/{number}": Page() for number in range(1, PAGES + 1)}
    with Site({"/0": Page(links, hold=hold)} | pages) as site:
        await fleet.push(site.url("/0"))
        worker = fleet.start()
        await site.asked(1)
        files = resource.prlimit(worker.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, (3, files[1]))  # those that are open stay so
        hold.set()
        await said(worker, "Leasing is paused: this process may open no more files (`ulimit -n`)")
        resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, files)
        worker.terminate()
        status, log = await ended(worker)
        left = await fleet.left()
    assert (status, left.reasons) == (0, [])
    assert left.states.keys() <= {"queued", "done"}
    assert sum(left.states.values()) == PAGES + 1
    assert log.count("became a dead letter") == log.count("Gave up retrying") == 0
