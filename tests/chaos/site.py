"""`python -m tests.chaos.site`: serves the plan, and notes when each request reached this machine.

The time is the kernel's: it stamps a request's bytes as they arrive, so that a gap between two requests is what was
on the wire however busy this process is.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import socket
import struct
import sys
import time
from collections import Counter
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any, Final, TextIO

from demo.log import Entry
from tests.chaos.plan import SLOW_SECONDS, Fault, Page, Plan, build

_TIMESPEC: Final = struct.Struct("@qq")  # seconds and nanoseconds, since the epoch
_SO_TIMESTAMPNS: Final = 35  # Linux; not in the socket module
_STATUSES: Final = {Fault.BUSY: 503, Fault.BROKEN: 500, Fault.DROPPED: 0, Fault.CUT: 0}
_HEAD_END: Final = b"\r\n\r\n"


class Site:
    """All hosts. One JSON line per request goes to *log*; `times` counts them by address."""

    def __init__(self, plan: Plan, log: TextIO) -> None:
        self._plan = plan
        self._log = log
        self._asked: Counter[tuple[str, str]] = Counter()

    def asked(self, host: str, path: str, agent: str, at: float) -> tuple[Page, Fault | None]:
        """Note the request; what it is answered with, and what goes wrong this time."""
        page = self._plan.pages.get((host, path)) or Page(status=404)
        self._asked[host, path] += 1
        failing = page.times < 0 or self._asked[host, path] <= page.times
        fault = page.fault if failing else None
        status = _STATUSES.get(fault, page.status) if fault else page.status
        print(json.dumps(asdict(Entry(at, host, path, status, agent))), file=self._log)
        return page, fault


class Connection:
    """One kept-alive connection; GET only, and no request before the last one is answered."""

    def __init__(self, site: Site, sock: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
        self._site = site
        self._socket = sock
        self._loop = loop
        self._received = b""
        loop.add_reader(sock, self._read)

    def _read(self) -> None:
        try:
            data, ancillary, _, _ = self._socket.recvmsg(65_536, 256)
        except OSError:  # reset, by a killed worker
            data = b""
        if not data:
            self._close()
            return
        self._received += data
        if self._received.endswith(_HEAD_END):
            head, self._received = self._received.decode("latin-1"), b""
            self._answer(head, _stamp(ancillary))

    def _answer(self, head: str, at: float) -> None:
        start, *lines = head.splitlines()
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        host, path = headers["host"].partition(":")[0], start.split()[1]
        page, fault = self._site.asked(host, path, headers.get("user-agent", ""), at)
        seconds = SLOW_SECONDS if fault is Fault.SLOW else page.latency
        self._loop.call_later(seconds, self._send, _response(page, path, fault), fault in {Fault.DROPPED, Fault.CUT})

    def _send(self, data: bytes, close: bool) -> None:
        try:
            self._socket.send(data)
        except OSError:  # the worker was killed meanwhile
            close = True
        if close:
            self._close()

    def _close(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket)
            self._socket.close()


def _stamp(ancillary: list[tuple[int, int, bytes]]) -> float:
    """Seconds since the epoch. The kernel may miss the very first one, while it switches its stamps on."""
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS):
            seconds, nanoseconds = _TIMESPEC.unpack(data)
            return float(seconds + nanoseconds / 1e9)
    return time.time()


def _response(page: Page, path: str, fault: Fault | None) -> bytes:
    match fault:
        case Fault.DROPPED:
            return b""
        case Fault.BUSY:
            return _message(503, b"busy", {"Retry-After": "1"})
        case Fault.BROKEN:
            return _message(500, b"broken")
    if path == "/robots.txt":
        return _message(200, b"User-agent: *\nDisallow:\n", {"Content-Type": "text/plain"})
    if page.location:
        return _message(page.status, b"", {"Location": page.location})
    whole = _message(page.status, _html(page, path))
    return whole[:-40] if fault is Fault.CUT else whole


def _message(status: int, body: bytes, headers: dict[str, str] | None = None) -> bytes:
    lines = {"Content-Type": "text/html", "Content-Length": str(len(body)), **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} -\r\n{head}\r\n".encode() + body


def _html(page: Page, path: str) -> bytes:
    links = "".join(f'<p><a href="{escape(link)}">more</a></p>' for link in page.links)
    return f"<html><head><title>{escape(path)}</title></head><body>{links}</body></html>".encode()


async def _accept(site: Site, server: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    while True:
        sock, _ = await loop.sock_accept(server)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        Connection(site, sock, loop)


def _listen(host: str, port: int) -> socket.socket:
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)  # its connections inherit it
    server.bind((host, port))
    server.listen(512)
    server.setblocking(False)
    return server


async def serve(plan: Plan, port: int, log: Path) -> None:
    """Until SIGTERM; *log* exists from the moment the site can be reached."""
    hosts = sorted({host for host, _ in plan.pages})
    servers = [_listen(host, port) for host in hosts]
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    with log.open("w") as file:
        site = Site(plan, file)
        tasks: list[asyncio.Task[Any]] = [asyncio.create_task(_accept(site, server)) for server in servers]
        await stop.wait()
    for task in tasks:
        task.cancel()


def main() -> int:
    """Serve."""
    parser = argparse.ArgumentParser(prog="tests.chaos.site")
    for name in ("seed", "port", "hosts", "pages", "fatal"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--log", type=Path, required=True)
    given = parser.parse_args()
    plan = build(given.seed, port=given.port, hosts=given.hosts, pages=given.pages, fatal=given.fatal)
    asyncio.run(serve(plan, given.port, given.log))
    return 0


if __name__ == "__main__":
    sys.exit(main())
