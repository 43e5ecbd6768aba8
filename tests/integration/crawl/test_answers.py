"""What hosts answered is counted for the figures of the fleet, one attempt at a time, by what became of it."""

from __future__ import annotations

import socket

from tests.crawling import Fleet, ended, open_frontier
from tests.sites import Page, Site

BLOCKED = "<html><title>Just a moment...</title><script>window._cf_chl_opt={}</script></html>"


async def test_attempts_are_counted_by_host_and_outcome(fleet: Fleet) -> None:
    hosts = {name: f"127.0.0.{number}" for number, name in enumerate(("good", "busy", "walled", "missing", "dead"), 2)}
    pages = {
        "good": {"/1": Page(), "/2": Page(), "/from": Page("", 302, {"Location": "/2"})},
        "busy": {"/": Page("later", 503)},
        "walled": {"/": Page(BLOCKED)},
        "missing": {},
    }
    retries = {"rate_limited": {"times": 1}, "blocked": {"times": 0}, "host_fault": {"times": 0}}
    with (
        Site(pages["good"], hosts["good"]) as good,
        Site(pages["busy"], hosts["busy"]) as busy,
        Site(pages["walled"], hosts["walled"]) as walled,
        Site(pages["missing"], hosts["missing"]) as missing,
        socket.socket() as refusing,
    ):
        refusing.bind((hosts["dead"], 0))
        refused = f"http://{hosts['dead']}:{refusing.getsockname()[1]}/"
        urls = [good.url("/1"), good.url("/2"), good.url("/from"), busy.url("/"), walled.url("/")]
        await fleet.push(*urls, missing.url("/nothing"), refused)
        status, log = await ended(fleet.start(RETRY_CLASSES=retries, AUTOTHROTTLE_MAX_DELAY=0.1))
    assert status == 0, log
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        top = await frontier.domains.top()
    assert {name: top.get(address) for name, address in hosts.items()} == {
        "good": {"ok": 4},  # a redirect is an answer, and so is the page that it leads to
        "busy": {"rate_limited": 2},  # tried again once
        "walled": {"blocked": 1},
        "missing": {"permanent": 1},
        "dead": {"host_fault": 1},
    }
