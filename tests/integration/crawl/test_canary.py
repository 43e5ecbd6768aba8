"""Credentials are planted wherever a fleet is given any, and looked for wherever it writes: log at DEBUG, metrics,
probes, traces, web-hooks, dead letters, Redis, documents, archive and what each command shows."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import signal
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import redis
from pymongo.asynchronous.database import AsyncDatabase

from tests.crawling import Fleet, ended, options, said
from tests.integration.crawl.test_credentials import stored
from tests.otlp import Receiver
from tests.sites import Page, Site

MARK = "canary-"
WORD = {name: f"{MARK}of-{name}-x7" for name in ("redis", "proxy", "api", "hook", "traces", "header", "cookie", "url")}
WORD |= {name: f"{MARK}of-{name}-x7" for name in ("aws", "webhook", "signature", "raised")}
SHOWN = (
    ["status", "--json"],
    ["runs", "--json"],
    ["attempts"],
    ["dead", "list", "canary", "--json"],
)


def _settings(hook: Site, receiver: Receiver, archive: Path) -> dict[str, Any]:
    pool = {"proxies": [f"http://me:{WORD['proxy']}@127.0.0.1:1"]}
    return {
        "LOG_LEVEL": "DEBUG",
        "LOG_JSON": True,
        "API_KEYS": {"ACME": WORD["api"]},
        "AWS_SECRET_ACCESS_KEY": WORD["aws"],
        "PROXY_POOLS": {"homes": pool},
        "PROXY_FAILURES": 1,
        "PROXY_RETRY_TIMES": 0,
        "RETRY_TIMES": 1,
        "RUN_WEBHOOK_URL": hook.url("/hook").replace("://", f"://me:{WORD['webhook']}@"),
        "RUN_WEBHOOK_SECRET": WORD["hook"],
        "TRACES_RATIO": 1,
        "TRACES_URL": receiver.url.replace("://", f"://me:{WORD['traces']}@"),
        "ARCHIVE_PAGES": "all",
        "ARCHIVE_DIR": str(archive),
        "METRICS_PORT": 0,
        "MAX_IDLE_TIME_BEFORE_CLOSE": 2,
    }


def _pushed(site: Site) -> Iterator[str]:
    headers = {"Authorization": f"Bearer {WORD['header']}", "Cookie": f"session={WORD['cookie']}"}
    for path in ("/good", "/broken", "/raises"):
        yield json.dumps({"url": site.url(path), "headers": headers})
    yield json.dumps({"url": site.url("/proxied"), "headers": headers, "meta": {"proxy_pool": "homes"}})
    yield site.url("/login").replace("://", f"://me:{WORD['url']}@")


def _unpacked(directory: Path) -> Iterator[str]:
    for path in directory.rglob("*.warc.gz*"):
        yield gzip.decompress(path.read_bytes()).decode("latin-1")


def _let_in(fleet: Fleet, password: str) -> None:
    """The user of the fleet, with *password*; who is connected has to log in again."""
    with redis.Redis.from_url(fleet.redis_url) as client:
        client.acl_deluser("canary")
        client.acl_setuser("canary", enabled=True, passwords=[password], keys=["*"], commands=["+@all"])


async def _served(fleet: Fleet, given: list[str]) -> dict[str, str]:
    """What `scrapy serve` answers, what is wrong included, and its log; at last its password is none any more."""
    told, quick = {}, options({"SERVE_PORT": 0, "METRICS_QUEUE_SECONDS": 0.1, "SERVE_LEASE_SECONDS": 1})
    served = fleet.runner.fork("serve", *given, *quick)
    await said(served, "This replica leads")
    address = re.search(r"http://[0-9.]+:[0-9]+", served.log)
    assert address
    word = WORD["url"]
    wrong = [f"/nowhere/{word}?key={word}", f"/scaling?spider={word}&tier={word}", f"/scaling?{word}={word}"]
    for method, path in (*(("GET", path) for path in ("/metrics", "/readyz?verbose", *wrong)), ("POST", "/metrics")):
        asked = HTTPConnection(urlsplit(address[0]).netloc)
        asked.request(method, path, headers={"Cookie": word, "Authorization": word})
        answer = asked.getresponse()
        told[f"{method} {path}"] = f"{answer.status} {answer.headers} {answer.read().decode()}"
        asked.close()
    _let_in(fleet, "+another")
    await said(served, "invalid username-password pair")
    served.send_signal(signal.SIGTERM)
    _, told["log of serve"] = await ended(served)
    _let_in(fleet, f"+{WORD['redis']}")
    return told


async def test_planted_credentials_are_found_nowhere(
    fleet: Fleet, mongo_database: AsyncDatabase[dict[str, Any]], tmp_path: Path
) -> None:
    where = urlsplit(fleet.redis_url)
    _let_in(fleet, f"+{WORD['redis']}")
    fleet.runner.env["REDIS_URL"] = f"redis://canary:{WORD['redis']}@{where.hostname}:{where.port}/0"
    pages = {path: Page(f"<title>{path}</title>") for path in ("/good", "/raises", "/proxied", "/login")}
    told: dict[str, str] = {}
    pages["/broken"] = Page(status=500)
    with Receiver() as receiver, Site(pages) as site, Site({"/hook": Page(status=500)}) as hook:
        settings = _settings(hook, receiver, tmp_path)
        push = ["push", "canary", "--name", "n", "--rejects", str(tmp_path / "rejects"), *_pushed(site)]
        given = fleet.options(**settings, SPIDER_MODULES="tests.integration.crawl.canary")
        done = await asyncio.to_thread(fleet.runner.run, *push, *given)
        told["push"] = done.stdout + done.stderr
        assert "5 pushed" in done.stdout, told["push"]
        worker = fleet.runner.fork("crawl", "canary", *given)
        await hook.asked(1)
        hook.pages["/hook"] = Page()
        await site.asked(4)
        address = re.search(r"http://[0-9.]+:[0-9]+(?=/metrics)", worker.log)
        assert address
        for path in ("/metrics", "/readyz?verbose"):
            told[path] = urlopen(address[0] + path).read().decode()  # noqa: ASYNC210  # the worker is another process
        for words in ("is quarantined", "became a dead letter: spider_error", "became a dead letter: http_500"):
            await said(worker, words)
        worker.send_signal(signal.SIGTERM)
        status, told["log"] = await ended(worker)
        told["hooks"] = "".join(f"{one.body}{dict(one.headers)}" for one in hook.received)
        told["traces"] = "".join(map(str, receiver.spans))
    assert status == 0
    letters = (await fleet.left("canary")).letters
    assert sorted(letter.reason for letter in letters) == ["http_500", "spider_error"]
    told["details"] = "".join(str(letter.detail) for letter in letters)
    shown = [*SHOWN, *(["dead", "show", letter.id] for letter in letters), ["find", site.url("/good"), "--json"]]
    shown += [["runs", "show", told["push"].partition("run ")[2][:10]], ["find", site.url("/broken")]]
    for command in shown:
        done = await asyncio.to_thread(fleet.runner.run, *command, *given)
        told[" ".join(command)] = done.stdout + done.stderr
    told |= await _served(fleet, given)
    told["documents"] = await stored(mongo_database)
    told["archive"] = "".join(_unpacked(tmp_path))
    assert all(len(text) > 20 for text in told.values()), {name: text for name, text in told.items() if len(text) <= 20}
    assert WORD["header"] in site.last("/good").headers["Authorization"]  # which is first is not said
    found = {name: text[max(0, text.index(MARK) - 150) :][:230] for name, text in told.items() if MARK in text}
    assert found == {}
