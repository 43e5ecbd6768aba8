"""Whole workers on stores as production runs them: Sentinel, TLS, users with least rights, a replica set."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crawling import SHORT_LEASE, Fleet, ended
from tests.integration.test_acl import documented_role, documented_rules
from tests.sites import Page, Site
from tests.stores import PASSWORD, ReplicaSet, Secured, Watched

PAGES = 20
PATIENT: dict[str, Any] = {"MAX_IDLE_TIME_BEFORE_CLOSE": 3}


def site() -> Site:
    links = "".join(f"<a href=/{n}>.</a>" for n in range(PAGES))
    return Site({"/": Page(links), **{f"/{n}": Page(f"<title>{n}</title>") for n in range(PAGES)}})


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    servers = Watched(tmp_path)
    yield servers
    servers.kill()


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[Secured]:
    rules = [rule for rule in documented_rules() if rule not in {"on", ">secret"}]
    rules = [rule.replace("shoal:*", "fleet:*").replace("products:", "walk:") for rule in rules]
    server = Secured(tmp_path, rules)
    yield server
    server.kill()


@pytest.fixture
def replica_set(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaSet]:
    server = ReplicaSet(tmp_path_factory.mktemp("set"), documented_role("shoalWorker"))
    yield server
    server.kill()


async def test_a_failover_that_a_sentinel_makes_is_followed(fleet: Fleet, watched: Watched) -> None:
    fleet.runner.env["REDIS_URL"] = watched.url
    with site() as pages:
        pushed = await asyncio.to_thread(fleet.runner.run, "push", "walk", pages.url("/"), *fleet.options())
        assert pushed.returncode == 0, pushed.stderr
        worker = fleet.start(DOWNLOAD_DELAY=0.1, **PATIENT, **SHORT_LEASE)
        await pages.asked(8)
        await asyncio.to_thread(watched.fail_over)
        status, log = await ended(worker)
    assert status == 0
    assert log.count("Redis does not answer") <= 2
    assert set(pages.requested) == {"/", *(f"/{n}" for n in range(PAGES))}
    fleet.redis_url = watched.replica.url
    left = await fleet.left()
    assert set(left.states) == {"done"}
    assert left.leases == 0


async def test_tls_users_and_a_step_down(fleet: Fleet, secured: Secured, replica_set: ReplicaSet) -> None:
    fleet.runner.env |= {"REDIS_URL": secured.url, "MONGODB_URI": replica_set.uri, "MONGODB_DATABASE": "shoal"}
    fleet.key = "fleet"
    with site() as pages:
        for command in (["migrate"], ["push", "walk", pages.url("/")]):
            done = await asyncio.to_thread(fleet.runner.run, *command, *fleet.options())
            assert done.returncode == 0, done.stderr
        worker = fleet.start(DOWNLOAD_DELAY=0.05, SPOOL_DIR="", **PATIENT)
        await pages.asked(8)
        await asyncio.to_thread(replica_set.step_down)
        status, log = await ended(worker)
    assert status == 0
    assert replica_set.count("pages") == PAGES + 1
    assert len(pages.requested) == PAGES + 1, "none is fetched twice"
    assert PASSWORD not in log
    assert not re.search(r"Traceback|Unhandled", log)


async def test_a_certificate_that_nobody_vouches_for_is_refused_in_one_line(fleet: Fleet, secured: Secured) -> None:
    fleet.runner.env["REDIS_URL"] = secured.untrusted_url
    worker = fleet.start()
    status, log = await ended(worker)
    assert status == 2
    assert "shows a certificate that is not trusted (self-signed certificate): name its authority" in log
    assert "Traceback" not in log
    assert PASSWORD not in log
