"""Serves sites on loopback, one address per host, and logs every request; fast enough for any crawl."""

from __future__ import annotations

import asyncio
import signal
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import uvloop
from aiohttp import web

from demo.log import Entry, to_json
from demo.site import Fault, Reply

ADMIN_HOST = "127.0.0.1"
SLOW_SECONDS = 1.5
_LAST_DATA_RECEIVED = 52  # offset of tcpi_last_data_recv (ms) in Linux' struct tcp_info


class Serves(Protocol):
    """A host, as the server sees it."""

    def reply(self, path: str, query: Mapping[str, str]) -> Reply:
        """The answer for one address."""

    def fault(self, path: str) -> Fault | None:
        """The fault of the first requests there, if any."""


class Shop:
    """The hosts, their request log, and the admin pages `/log` and `/truth` on 127.0.0.1."""

    def __init__(
        self,
        sites: Mapping[str, Serves],
        truth: Mapping[str, Any],
        *,
        clock: Callable[[], float],
        waited: Callable[[web.BaseRequest], float] | None = None,
    ) -> None:
        """*waited*: how many seconds ago a request arrived, from the kernel."""
        self.log: list[Entry] = []
        self._sites = sites
        self._truth = truth
        self._clock = clock
        self._waited = waited or _waited_seconds
        self._asked: Counter[tuple[str, str]] = Counter()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request, after the faults planted at its path."""
        at = self._clock() - self._waited(request)
        host = request.host.partition(":")[0]
        if host == ADMIN_HOST:
            return self._admin(request.path)
        fault = self._fault(host, request.path)
        reply = self._sites[host].reply(request.path, request.query) if host in self._sites else Reply(421)
        status = {"busy": 503, "drop": 0}.get(fault, reply.status)
        self.log.append(Entry(at, host, request.path_qs, status, request.headers.get("User-Agent", "")))
        return await _answer(request, reply, fault)

    def _fault(self, host: str, path: str) -> str:
        fault = self._sites[host].fault(path) if host in self._sites else None
        if fault is None:
            return ""
        self._asked[host, path] += 1
        return fault.kind if self._asked[host, path] <= fault.times else ""

    def _admin(self, path: str) -> web.Response:
        match path:
            case "/log":
                return web.json_response(to_json(self.log))
            case "/truth":
                return web.json_response(self._truth)
            case _:
                return web.Response(status=404, text="The shop's own pages are /log and /truth.\n")


def _waited_seconds(request: web.BaseRequest) -> float:
    """How long ago the request arrived, from the kernel: this process may have been busy."""
    return waited_seconds(request.transport.get_extra_info("socket") if request.transport is not None else None)


def waited_seconds(sock: Any) -> float:
    """How long ago *sock* received its last data, from the kernel; 0 if unavailable."""
    if sock is None or sys.platform != "linux":
        return 0.0
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_DATA_RECEIVED + 4)
    milliseconds: int = struct.unpack_from("I", info, _LAST_DATA_RECEIVED)[0]
    return milliseconds / 1000


async def _answer(request: web.BaseRequest, reply: Reply, fault: str) -> web.StreamResponse:
    match fault:
        case "busy":
            return web.Response(status=503, headers={"Retry-After": "1"}, text="Back in a second.\n")
        case "drop" if request.transport is not None:
            request.transport.abort()
        case "slow":
            await asyncio.sleep(SLOW_SECONDS)
    headers = {"Content-Type": reply.content_type}
    if reply.location:
        headers["Location"] = reply.location
    return web.Response(status=reply.status, body=reply.body, headers=headers)


async def _serve(shop: Shop, hosts: list[str], port: int, ready: Callable[[], None]) -> None:
    runner = web.ServerRunner(web.Server(shop.handle))
    await runner.setup()
    try:
        for host in [ADMIN_HOST, *hosts]:
            await web.TCPSite(runner, host, port).start()
        ready()
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await stop.wait()
    finally:
        await runner.cleanup()


def serve(
    sites: Mapping[str, Serves],
    truth: Mapping[str, Any],
    port: int,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve *sites* by their hosts until SIGINT or SIGTERM; *ready* is called once all of them listen.

    Raises OSError if an address is taken or does not exist (only Linux has all of 127.0.0.0/8).
    """
    shop = Shop(sites, truth, clock=time.monotonic)
    uvloop.run(_serve(shop, list(sites), port, ready))
