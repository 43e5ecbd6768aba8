"""Web-hooks about runs: signed, at least once, from whichever worker lives."""

from __future__ import annotations

import json
from typing import Any

from crawler.policy import webhooks
from tests.crawling import Fleet, ended
from tests.sites import Page, Site

SECRET = "hook-s3cret"


def told(hook: Site) -> list[dict[str, Any]]:
    """What the receiver has accepted, each delivery once."""
    found: dict[str, dict[str, Any]] = {}
    for one in hook.received:
        sent = int(one.headers["X-Shoal-Timestamp"])
        assert one.headers["X-Shoal-Signature"] == f"sha256={webhooks.signature(SECRET, sent, one.body.encode())}"
        found[one.headers["X-Shoal-Delivery"]] = json.loads(one.body)
    return list(found.values())


async def test_start_failing_and_end_are_told_until_somebody_listens(fleet: Fleet) -> None:
    pages = {f"/{n}": Page(f"<title>{n}</title>") for n in range(4)}
    pages |= {f"/bad/{n}": Page(status=500) for n in range(36)}
    with Site(pages) as site, Site({"/hook": Page(status=503)}) as hook:
        settings: dict[str, Any] = {
            "RUN_WEBHOOK_URL": hook.url("/hook"),
            "RUN_WEBHOOK_SECRET": SECRET,
            "RUN_FAILURE_SHARE": 0.5,
            "RETRY_ENABLED": False,
            "FRONTIER_BREAKER_FAULTS": 0,
            "MAX_IDLE_TIME_BEFORE_CLOSE": 4,
            "DOWNLOAD_DELAY": 0.15,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        }
        worker = fleet.start(**settings)
        await fleet.workers(1)
        pushed = fleet.runner.run("push", "walk", "--name", "n", *map(site.url, pages), *fleet.options(**settings))
        assert pushed.returncode == 0, pushed.stderr
        await hook.asked(1)
        hook.pages["/hook"] = Page()
        status, log = await ended(worker)
        events = {one["event"]: one["run"] for one in told(hook)}
    assert status == 0
    assert set(events) == {"run.started", "run.finished", "run.failing"}
    assert (events["run.finished"]["counts"]["done"], events["run.finished"]["counts"]["dead"]) == (4, 36)
    assert events["run.finished"]["name"] == "n"
    assert SECRET not in log
    assert log.count("failed: status 503; try 1") == 1


async def test_a_wrong_address_is_refused_at_the_start(fleet: Fleet) -> None:
    status, log = await ended(fleet.start(RUN_WEBHOOK_URL="ftp://me:pw@hooks.example/"))
    assert status != 0
    assert "RUN_WEBHOOK_URL" in log
    assert "me:pw" not in log
