"""A scraping API on a loopback address, with the three shapes users meet: a call per page, jobs, and batches."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.serving import Handler, Served, Server

KEY = "the-secret-of-the-account"


class FakeProvider(Served):
    """Answers for any URL with a page that names it. *faults*: statuses of the next answers. *polls*: how often a job
    is asked after before it is done."""

    def __init__(self, polls: int = 1) -> None:
        self.faults: list[int] = []
        self.polls = polls
        self.calls: list[tuple[str, str]] = []  # method and path
        self.jobs: dict[str, list[str]] = {}
        self.asked: dict[str, int] = {}
        self.lock = threading.Lock()
        super().__init__(_Server(self))

    @property
    def base(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def settings(self, shape: str, **more: Any) -> dict[str, Any]:
        """An entry of API_PROVIDERS for it."""
        auth = {"Authorization": "Bearer {key}"}
        one: dict[str, Any] = {"shape": shape, "per_second": 100, "poll_seconds": 0.2, "batch_seconds": 0.3}
        paths = {"status": "page.status", "headers": "page.headers", "body": "page.body", "encoding": "base64"}
        if shape == "sync":
            call = {"url": self.base + "/sync?url={url}", "headers": auth}
            one |= {"call": call, "status_header": "X-Page-Status", "header_prefix": "X-Page-", "cost_header": "X-Cost"}
        elif shape == "job":
            one["call"] = {"url": self.base + "/jobs", "method": "POST", "headers": auth, "json": {"url": "{url}"}}
            one |= {"poll": {"url": self.base + "/jobs/{job}", "headers": auth}, "page": paths, "cost_path": "credits"}
        else:
            one["call"] = {"url": self.base + "/jobs", "method": "POST", "headers": auth, "json": {"urls": "{urls}"}}
            one |= {"poll": {"url": self.base + "/jobs/{job}", "headers": auth}, "page": paths, "cost": 2}
        if shape != "sync":
            one |= {"done": ["state", "done"], "failed": ["state", "failed"]}
        return one | more


class _Server(Server):
    def __init__(self, provider: FakeProvider) -> None:
        self.provider = provider
        super().__init__(("127.0.0.1", 0), _Handler)


def _page(url: str) -> str:
    return f"<html><title>{url}</title></html>"


def _told(url: str) -> dict[str, Any]:
    body = base64.b64encode(_page(url).encode()).decode()
    headers = {"Content-Type": "text/html; charset=utf-8", "X-Own": ["a", "b"]}
    return {"url": url, "page": {"status": 200, "headers": headers, "body": body}}


class _Handler(Handler):
    server: _Server

    def do_GET(self) -> None:
        provider, parts = self.server.provider, urlsplit(self.path)
        sent = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
        with provider.lock:
            provider.calls.append((self.command, parts.path))
            if self.headers.get("Authorization") != f"Bearer {KEY}":
                return self._answer(401, b"")
            if provider.faults:
                return self._answer(provider.faults.pop(0), b"", {"Retry-After": "1"})
            if parts.path == "/sync":
                url = parse_qs(parts.query)["url"][0]
                told = {
                    "X-Page-Status": "203",
                    "X-Page-X-Own": "yes",
                    "X-Page-Content-Type": "text/html",
                    "X-Cost": "5",
                }
                return self._answer(200, _page(url).encode(), told)
            if self.command == "POST":
                job = f"job-{len(provider.jobs) + 1}"
                provider.jobs[job] = sent.get("urls") or [sent["url"]]
                return self._json({"id": job})
            return self._job(parts.path.rpartition("/")[2])

    do_POST = do_GET

    def _job(self, job: str) -> None:
        provider = self.server.provider
        if job not in provider.jobs:
            return self._answer(404, b"")
        provider.asked[job] = provider.asked.get(job, 0) + 1
        if provider.asked[job] <= provider.polls:
            return self._json({"state": "running"})
        pages = [_told(url) for url in provider.jobs[job]]
        return self._json({"state": "done", "credits": 3, "results": pages} | (pages[0] if len(pages) == 1 else {}))

    def _json(self, document: Mapping[str, Any]) -> None:
        self._answer(200, json.dumps(document).encode(), {"Content-Type": "application/json"})

    def _answer(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (dict(headers or {}) | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
