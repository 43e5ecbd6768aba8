"""Whole workers on stores as production runs them: Sentinel, TLS, users with least rights, a replica set."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.crawling import SHORT_LEASE, Fleet, ended
from tests.integration.test_acl import documented_role, documented_rules
from tests.proxies import RealProxy, tinyproxy
from tests.sites import Page, Site
from tests.stores import PASSWORD, ReplicaSet, Secured, Watched

PAGES = 20
CANARIES = {name: f"canary-of-{name}-7f3a" for name in ("proxy", "api", "header", "cookie")}
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
def proxy(tmp_path: Path) -> Iterator[RealProxy]:
    with tinyproxy(tmp_path, "canary", CANARIES["proxy"]) as running:
        yield running


@pytest.fixture
def replica_set(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaSet]:
    server = ReplicaSet(tmp_path_factory.mktemp("set"), documented_role("shoalWorker"))
    yield server
    server.kill()


@pytest.mark.parametrize("fail_over", [Watched.fail_over, Watched.switch], ids=["killed", "replaced"])
async def test_a_failover_that_a_sentinel_makes_is_followed(
    fleet: Fleet, watched: Watched, fail_over: Callable[[Watched], None]
) -> None:
    fleet.runner.env["REDIS_URL"] = watched.url
    with site() as pages:
        pushed = await asyncio.to_thread(fleet.runner.run, "push", "walk", pages.url("/"), *fleet.options())
        assert pushed.returncode == 0, pushed.stderr
        worker = fleet.start(DOWNLOAD_DELAY=0.1, **PATIENT, **SHORT_LEASE)
        await pages.asked(8)
        await asyncio.to_thread(fail_over, watched)
        status, log = await ended(worker)
    assert status == 0
    assert log.count("Redis does not answer") <= 2
    assert "Leasing is paused: Redis has failed over" in log
    assert "Leasing resumes" in log
    assert set(pages.requested) == {"/", *(f"/{n}" for n in range(PAGES))}
    fleet.redis_url = watched.replica.url
    left = await fleet.left()
    assert set(left.states) == {"done"}
    assert left.leases == 0


async def test_tls_users_a_step_down_and_no_secret_in_sight(
    fleet: Fleet, secured: Secured, replica_set: ReplicaSet, proxy: RealProxy, tmp_path: Path
) -> None:
    fleet.runner.env |= {"REDIS_URL": secured.url, "MONGODB_URI": replica_set.uri, "MONGODB_DATABASE": "shoal"}
    fleet.key = "fleet"
    pool = {"proxies": [proxy.with_user("canary", CANARIES["proxy"])]}
    settings: dict[str, Any] = {"PROXY_POOLS": {"homes": pool}, "PROXY_POOL": "homes", "LOG_LEVEL": "DEBUG"}
    settings |= {"LOG_JSON": True, "API_KEYS": {"ACME": CANARIES["api"]}, "RETRY_TIMES": 1, "ARCHIVE_PAGES": "all"}
    settings |= {"ARCHIVE_DIR": str(tmp_path / "archive"), "SPOOL_DIR": "", "METRICS_PORT": 0}
    headers = {"Authorization": f"Bearer {CANARIES['header']}", "Cookie": f"session={CANARIES['cookie']}"}
    told = []
    with site() as pages:
        pages.pages["/broken"] = Page("broken", status=500)
        lines = [pages.url("/"), json.dumps({"url": pages.url("/broken"), "headers": headers})]
        for command in (["migrate"], ["push", "walk", *lines]):
            done = await asyncio.to_thread(fleet.runner.run, *command, *fleet.options())
            assert done.returncode == 0, done.stderr
        worker = fleet.start(DOWNLOAD_DELAY=0.05, **settings, **PATIENT)
        await pages.asked(8)
        await asyncio.to_thread(replica_set.step_down)
        where = re.search(r"http://[0-9.]+:[0-9]+/metrics", worker.log)
        told.append(urlopen(where[0]).read().decode() if where else "")  # noqa: ASYNC210  # the worker is another process
        status, log = await ended(worker)
        seen_headers = [one.headers for one in pages.received if one.path == "/broken"]
    assert status == 0, log
    assert "shoal_" in told[0]
    assert {one.get("Authorization") for one in seen_headers} == {headers["Authorization"]}
    assert replica_set.count("pages") == PAGES + 1
    assert len([path for path in pages.requested if path != "/broken"]) == PAGES + 1, "none is fetched twice"
    for command in (["dead", "list", "walk", "--json"], ["dead", "show", "0:2"], ["status", "--json"], ["attempts"]):
        done = await asyncio.to_thread(fleet.runner.run, *command, *fleet.options(PROXY_POOLS=settings["PROXY_POOLS"]))
        told.append(done.stdout + done.stderr)
    assert "http_500" in told[1]
    told += [log, replica_set.everything(), *map(str, unpacked(tmp_path / "archive"))]
    assert log.count("https://") + log.count("http://") > PAGES
    for name, secret in {**CANARIES, "store": PASSWORD}.items():
        for text in told:
            assert secret not in text, f"{name}: ...{text[max(0, text.index(secret) - 200) : text.index(secret) + 99]}"
    for line in map(json.loads, log.splitlines()):
        assert {"ts", "level", "event", "logger"} <= set(line)
    crawled = [line for line in map(json.loads, log.splitlines()) if line["event"].startswith("Crawled (")]
    assert {"spider", "worker", "run_id", "request_id", "host", "url", "attempt", "tier"} <= set(crawled[0])
    assert not re.search(r"Traceback|Unhandled", log)


def unpacked(directory: Path) -> list[bytes]:
    found = [gzip.decompress(path.read_bytes()) for path in directory.iterdir()]
    assert found
    return found


async def test_a_certificate_that_nobody_vouches_for_is_refused_in_one_line(fleet: Fleet, secured: Secured) -> None:
    fleet.runner.env["REDIS_URL"] = secured.untrusted_url
    worker = fleet.start()
    status, log = await ended(worker)
    assert status == 2
    assert "shows a certificate that is not trusted (self-signed certificate): name its authority" in log
    assert "Traceback" not in log
    assert PASSWORD not in log
