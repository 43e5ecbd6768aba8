"""`python -m benchmarks.waiting_site`: hosts on loopback whose pages take as long to answer as their path says.

`/0.5/17` answers after half a second; `/0/17/on` at once, with a link to the next page of an endless chain;
`/0.5/17/sick` after half a second, with 429 and `Retry-After: 5`; `/0/17/once` closes the connection. On 127.0.0.1,
`/counts` tells how many requests each host got and answered, `/asked` which, `/early` how many came while the host had
asked to be left alone, `/spans` when the first and the last came and how close two were.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, cast

import uvloop

from demo.server import waited_seconds

ADMIN_HOST: Final = "127.0.0.1"
STEP: Final = 1_000_000  # from one page of a chain to the next
RETRY_AFTER: Final = 5
ONCE: Final = "200 OK\r\nConnection: close"


class Record:
    """What has been asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.counts: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.early: Counter[str] = Counter()
        self.spans: dict[str, tuple[int, float, float, float]] = {}  # requests, first, last, closest
        self._quiet_until: dict[str, float] = {}

    def request(self, host: str, path: str, waited: float = 0.0) -> None:
        """One came in, *waited* seconds ago: this process may have had other things to do."""
        now = time.monotonic() - waited
        self.asked.append(f"{host}{path}")
        self.counts[host] += 1
        self.early[host] += now < self._quiet_until.get(host, 0)
        count, first, last, closest = self.spans.get(host, (0, now, -math.inf, 1e9))
        self.spans[host] = count + 1, first, now, min(closest, now - last)

    def refuse(self, host: str) -> None:
        """429 goes out."""
        self._quiet_until[host] = time.monotonic() + RETRY_AFTER

    def page(self, path: str) -> bytes:
        """One of the site's own pages."""
        if path == "/asked":
            return json.dumps(self.asked).encode()
        if path == "/early":
            return json.dumps(self.early).encode()
        if path == "/spans":
            return json.dumps(self.spans).encode()
        return json.dumps({host: (count, self.answered[host]) for host, count in self.counts.items()}).encode()


class Connection(asyncio.Protocol):
    """GET, one after the other, kept alive."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._host: str = transport.get_extra_info("sockname")[0]

    def data_received(self, data: bytes) -> None:
        self._received += data
        if not self._received.endswith(b"\r\n\r\n"):
            return
        path, self._received = self._received.split(b" ", 2)[1].decode(), b""
        if self._host == ADMIN_HOST:
            self._send(self._record.page(path))
            return
        self._record.request(self._host, path, waited_seconds(self._transport.get_extra_info("socket")))
        _, seconds, number, *kind = path.split("/")
        link = f'<a href="/{seconds}/{int(number) + STEP}/on">on</a>' if kind == ["on"] else ""
        answer = self._refuse if kind == ["sick"] else partial(self._answer, link, once=kind == ["once"])
        asyncio.get_running_loop().call_later(float(seconds), answer)

    def _answer(self, link: str, *, once: bool) -> None:
        if not self._transport.is_closing():
            self._record.answered[self._host] += 1
            self._send(f"<html><title>A page</title>{link}</html>".encode(), ONCE if once else "200 OK")
        if once:
            self._transport.close()

    def _refuse(self) -> None:
        self._record.refuse(self._host)
        self._send(b"Too many requests", f"429 Too Many Requests\r\nRetry-After: {RETRY_AFTER}")

    def _send(self, body: bytes, status: str = "200 OK") -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode() + body)


async def serve(hosts: list[str], port: int, ready: Callable[[], object]) -> None:
    """Until SIGTERM; *ready* is called once all hosts listen."""
    loop, record, stop = asyncio.get_running_loop(), Record(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    for host in [ADMIN_HOST, *hosts]:
        await loop.create_server(lambda: Connection(record), host, port, backlog=512)
    ready()
    await stop.wait()


def main() -> int:
    """Serve."""
    parser = argparse.ArgumentParser(prog="benchmarks.waiting_site")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--ready", type=Path, required=True)
    parser.add_argument("hosts", nargs="+")
    given = parser.parse_args()
    uvloop.run(serve(given.hosts, given.port, lambda: given.ready.write_text("ready")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
