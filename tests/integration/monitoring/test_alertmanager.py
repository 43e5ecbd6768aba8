"""Alerts through a real Alertmanager with the shipped routes: who is told, in how many messages, and of what."""

from __future__ import annotations

import json
import queue
import re
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from demo.state import any_port
from tests.integration.monitoring.rules import alerts
from tests.integration.monitoring.test_alerts import ALERTMANAGER
from tests.prometheus import program

Message = dict[str, Any]


class Receivers(ThreadingHTTPServer):
    """Two webhooks, /pages and /tickets."""

    def __init__(self) -> None:
        self.messages: queue.Queue[tuple[str, Message]] = queue.Queue()
        super().__init__(("127.0.0.1", 0), _Hook)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def next(self) -> tuple[str, Message]:
        return self.messages.get(timeout=30)


class _Hook(BaseHTTPRequestHandler):
    server: Receivers

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.messages.put((self.path.strip("/"), json.loads(body)))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class' name
        pass


@pytest.fixture
def receivers() -> Iterator[Receivers]:
    with Receivers() as served:
        yield served
        served.shutdown()


@pytest.fixture
def alertmanager(tmp_path: Path, receivers: Receivers) -> Iterator[str]:
    """Its address. It waits a second for others of a group, not half a minute."""
    text = ALERTMANAGER.read_text().replace("group_wait: 30s", "group_wait: 1s")
    for name in ("pager", "tickets"):
        text = re.sub(rf"http://{name}\.example/shoal", f"{receivers.url}/{name.replace('pager', 'pages')}", text)
    config = tmp_path / "alertmanager.yml"
    config.write_text(text)
    address = f"127.0.0.1:{any_port()}"
    command = [program("alertmanager"), f"--config.file={config}", f"--storage.path={tmp_path / 'data'}"]
    command += [f"--web.listen-address={address}", "--cluster.listen-address=", "--log.level=error"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _until_ready(f"http://{address}", process)
            yield f"http://{address}"
        finally:
            process.kill()


def _until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            with urllib.request.urlopen(f"{url}/-/ready", timeout=5):
                return
        except OSError:
            assert process.poll() is None, "it ended"
            assert time.monotonic() < deadline
            time.sleep(0.05)


def _fire(url: str, *fired: dict[str, str]) -> None:
    # In a moment: a group with one that began longer ago than `group_wait` is sent at once, whoever is still to come.
    soon = (datetime.now(UTC) + timedelta(seconds=30)).isoformat()
    body = [
        {
            "labels": {**labels, "severity": alerts()[labels["alertname"]]["labels"]["severity"]},
            "annotations": alerts()[labels["alertname"]]["annotations"],
            "startsAt": soon,
        }
        for labels in fired
    ]
    request = urllib.request.Request(f"{url}/api/v2/alerts", json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 200


def test_alerts_are_grouped_routed_and_told_without_what_follows_from_them(
    alertmanager: str, receivers: Receivers
) -> None:
    _fire(alertmanager, {"alertname": "ShoalRedisAway"})
    assert _told(receivers) == ("pages", "ShoalRedisAway", 1)
    domains = [{"alertname": "ShoalDomainFailing", "domain": f"{n}.example"} for n in range(40)]
    follows = [{"alertname": "ShoalStalled"}, {"alertname": "ShoalMetricsAbsent"}, {"alertname": "ShoalWorkersMissing"}]
    _fire(alertmanager, *domains, *follows, {"alertname": "ShoalRedisMemory"})
    told = sorted([_told(receivers), _told(receivers)])
    assert told == [("pages", "ShoalRedisMemory", 1), ("tickets", "ShoalDomainFailing", 40)]
    _fire(alertmanager, {"alertname": "ShoalEventLoopStuck", "instance": "w-0"})
    assert _told(receivers) == ("tickets", "ShoalEventLoopStuck", 1), "what Redis explains came in no message before"


def _told(receivers: Receivers) -> tuple[str, str, int]:
    """Who is told of which alert, and how many of it are in the message."""
    receiver, message = receivers.next()
    names = {alert["labels"]["alertname"] for alert in message["alerts"]}
    assert len(names) == 1
    assert all(alert["annotations"]["runbook_url"].startswith("docs/runbook.md#") for alert in message["alerts"])
    return receiver, names.pop(), len(message["alerts"])
