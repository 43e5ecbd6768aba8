"""A worker whose machine has nothing left for another connection harms no page: others fetch what it gives back."""

from __future__ import annotations

import resource
import threading

import pytest

from tests.crawling import Fleet, ended, said
from tests.sites import Page, Site

PAGES = 12


@pytest.mark.parametrize("obeys", [False, True], ids=["pages", "robots.txt"])
async def test_without_free_files_pages_go_back_uncharged_and_none_is_a_dead_letter(fleet: Fleet, obeys: bool) -> None:
    """Nor does the fleet hear that a robots.txt is unreachable, where it is this worker that reaches none."""
    hold = threading.Event()
    pages = {f"/{number}": Page() for number in range(1, PAGES + 1)}
    with Site(pages, host="127.0.0.3") as other, Site({"/0": Page("", hold=hold)}) as site:
        site.pages["/0"] = Page("".join(f"<a href={other.url(path)}>.</a>" for path in pages), hold=hold)
        await fleet.push(site.url("/0"))
        worker = fleet.start(ROBOTSTXT_OBEY=obeys)
        await site.asked(1 + obeys)
        files = resource.prlimit(worker.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, (3, files[1]))  # those that are open stay so
        hold.set()
        await said(worker, "Leasing is paused: this process may open no more files (`ulimit -n`)")
        resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, files)
        worker.terminate()
        status, log = await ended(worker)
        left = await fleet.left()
    assert (status, left.reasons) == (0, [])
    assert left.states.keys() <= {"queued", "delayed", "done"}
    assert sum(left.states.values()) == PAGES + 1
    assert not [words for words in ("became a dead letter", "Gave up retrying", "is unreachable") if words in log]
