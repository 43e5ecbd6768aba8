"""Stores as production runs them: Redis behind a Sentinel or TLS, MongoDB as a replica set with TLS and users."""

from __future__ import annotations

import datetime as dt
import ipaddress
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

import redis
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pymongo import MongoClient
from pymongo.errors import PyMongoError

from crawler.embedded.service import MONGOD, VALKEY, Service
from crawler.errors import ServiceError
from demo.state import any_port
from tests.servers import Server, missing

SERVICE: Final = "shoal"  # what the Sentinel calls it
SECONDS: Final = 60.0
PASSWORD: Final = "s3cret-word"


def certificate(directory: Path) -> Path:
    """Key and certificate for 127.0.0.1 in one file, which is its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "stores")])
    now = dt.datetime.now(dt.UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = directory / "stores.pem"
    path.write_bytes(pem)
    return path


class Watched:
    """A primary and its replica, which a Sentinel watches: it fails over half a second after the primary's end."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self.primary = Server(VALKEY, _made(data / "primary"))
        following = replace(
            VALKEY,
            arguments=lambda at, port: [
                *VALKEY.arguments(at, port),
                *("--replicaof", f"127.0.0.1 {self.primary.port}", "--repl-diskless-sync-delay", "0"),
            ],
        )
        self.replica = Server(following, _made(data / "replica"))
        until(lambda: self._info(self.replica)["master_link_status"] == "up")
        self.sentinel = Server(replace(VALKEY, arguments=self._watching, launcher=list), _made(data / "sentinel"))
        self.url = f"redis+sentinel://127.0.0.1:{self.sentinel.port}/{SERVICE}/0"
        with redis.Redis(port=self.sentinel.port, decode_responses=True) as client:
            until(lambda: client.sentinel_master(SERVICE)["num-slaves"] == 1)

    def fail_over(self, lag: float = 0.0) -> None:
        """Kill the primary, whose last *lag* seconds the replica does not have; return when that takes writes."""
        if lag:
            self._lag(lag)
        self.primary.kill()
        until(lambda: self._info(self.replica)["role"] == "master")

    def switch(self) -> None:
        """As an operator does before a restart: return when the Sentinel names the replica. The old primary, which runs
        on, learns of it some ten seconds later, and takes writes meanwhile."""
        until(self._begins_to_switch)
        with redis.Redis(port=self.sentinel.port, decode_responses=True) as client:
            until(lambda: client.sentinel_master(SERVICE)["port"] == self.replica.port)

    def _begins_to_switch(self) -> bool:
        with redis.Redis(port=self.sentinel.port) as client:
            try:
                return bool(client.sentinel_failover(SERVICE))
            except redis.ResponseError:  # it has not heard of the replica yet
                return False

    def _lag(self, seconds: float) -> None:
        """Let all that the primary sends travel for so long; what is on its way at its end never arrives. The Sentinel
        would set the replica right, but not for eight seconds."""
        where = self._data / "proxy-port"
        command = ["-m", "benchmarks.delaying_proxy", "--to", str(self.primary.port), "--seconds", str(seconds)]
        with subprocess.Popen([sys.executable, *command, "--port-file", str(where)]) as proxy:
            until(lambda: where.exists() and bool(where.read_text()))
            with redis.Redis(port=self.replica.port) as client:
                client.replicaof("127.0.0.1", where.read_text())
                until(lambda: self._info(self.replica)["master_link_status"] == "up")
            proxy.send_signal(signal.SIGUSR1)
            time.sleep(2 * seconds)
            proxy.kill()

    def kill(self) -> None:
        for server in (self.sentinel, self.replica, self.primary):
            server.kill()

    def _watching(self, data: Path, port: int) -> list[str]:
        config = data / "sentinel.conf"
        config.write_text(
            f"port {port}\nbind 127.0.0.1\ndir {data}\n"
            f"sentinel monitor {SERVICE} 127.0.0.1 {self.primary.port} 1\n"
            f"sentinel down-after-milliseconds {SERVICE} 500\nsentinel failover-timeout {SERVICE} 3000\n"
        )
        return [str(config), "--sentinel"]

    @staticmethod
    def _info(server: Server) -> dict[str, Any]:
        with redis.Redis(port=server.port) as client:
            return dict(client.info("replication"))


class _WithTls(Service):
    """Debian's Redis: the bundled Valkey is built without TLS."""

    def find_program(self) -> Path:
        """Fails where CI is set and skips elsewhere when it is not installed."""
        if (found := shutil.which("redis-server")) is None:
            missing(ServiceError("there is no redis-server with TLS (Debian: apt-get install redis-server)"))
        return Path(found)


def _plain(data: Path, port: int) -> list[str]:
    return ["--bind", "127.0.0.1", "--port", str(port), "--dir", str(data), "--save", "", "--appendonly", "yes"]


class Secured:
    """A Redis that wants TLS and a user with the *rights* given; `url` has both."""

    def __init__(self, data: Path, rights: list[str]) -> None:
        pem, port = certificate(data), any_port()
        arguments = ("--tls-port", str(port), "--tls-cert-file", str(pem), "--tls-key-file", str(pem))
        files = ("--tls-ca-cert-file", str(pem), "--tls-auth-clients", "no")
        service = _WithTls(**{one.name: getattr(VALKEY, one.name) for one in fields(VALKEY)})
        service = replace(service, arguments=lambda at, plain: [*_plain(at, plain), *arguments, *files], launcher=list)
        self._server = Server(service, data)
        with redis.Redis(port=self._server.port) as client:
            client.execute_command("ACL", "SETUSER", "shoal", "reset", "on", f">{PASSWORD}", *rights)
        self.url = f"rediss://shoal:{PASSWORD}@127.0.0.1:{port}/0?ssl_ca_certs={pem}"
        self.untrusted_url = f"rediss://shoal:{PASSWORD}@127.0.0.1:{port}/0"

    def kill(self) -> None:
        self._server.kill()


class ReplicaSet:
    """A MongoDB of one member or more with TLS and users; `step_down` leaves it without a primary for a moment."""

    def __init__(self, data: Path, role: dict[str, Any], members: int = 1) -> None:
        self._pem, key = certificate(data), data / "keyfile"
        key.write_text("c2hvYWw=" * 4)
        os.chmod(key, 0o400)  # noqa: PTH101  # mongod refuses one that others may read
        extra = ["--replSet", "rs", "--keyFile", str(key), "--tlsMode", "preferTLS"]
        extra += ["--tlsCertificateKeyFile", str(self._pem), "--tlsCAFile", str(self._pem)]
        extra += ["--tlsAllowConnectionsWithoutCertificates"]
        service = replace(MONGOD, arguments=lambda at, port: [*MONGOD.arguments(at, port), *extra])
        self._servers = [Server(service, _made(data / f"data-{number}")) for number in range(members)]
        self._initiate()
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in self._servers)
        options = f"replicaSet=rs&tls=true&tlsCAFile={self._pem}"
        self.root_uri = f"mongodb://root:{PASSWORD}@{hosts}/?{options}"
        self.uri = f"mongodb://worker:{PASSWORD}@{hosts}/shoal?{options}"
        with MongoClient[dict[str, Any]](self.root_uri) as client:
            given = dict(role)
            client.shoal.command("createRole", given.pop("role"), **given)
            client.shoal.command("createUser", "worker", pwd=PASSWORD, roles=[role["role"]])

    def _initiate(self) -> None:
        hosts = [f"127.0.0.1:{server.port}" for server in self._servers]
        with MongoClient[dict[str, Any]](f"mongodb://{hosts[0]}/?directConnection=true") as client:
            members = [{"_id": number, "host": host} for number, host in enumerate(hosts)]
            for other in members[1:]:
                other["priority"] = 0.5  # the first is the first primary: its users may be made without a password
            client.admin.command("replSetInitiate", {"_id": "rs", "members": members})
            until(lambda: client.admin.command("hello")["isWritablePrimary"])
            client.admin.command("createUser", "root", pwd=PASSWORD, roles=["root"])

    def step_down(self) -> None:
        """Without a primary for a second or more; one of its members is elected."""
        with MongoClient[dict[str, Any]](self.root_uri) as client:
            try:
                client.admin.command("replSetStepDown", 1, force=len(self._servers) == 1)
            except PyMongoError:  # it closes every connection
                return

    def kill_primary(self) -> None:
        """kill -9; the others elect another one."""
        with MongoClient[dict[str, Any]](self.root_uri) as client:
            until(lambda: client.primary is not None)
            port = client.primary[1] if client.primary else 0
        next(server for server in self._servers if server.port == port).kill()

    def everything(self) -> str:
        """All documents, as text."""
        with MongoClient[dict[str, Any]](self.root_uri) as client:
            names = client.shoal.list_collection_names(filter={"name": {"$not": {"$regex": "^system"}}})
            return "\n".join(str(list(client.shoal[name].find())) for name in names)

    def count(self, collection: str) -> int:
        with MongoClient[dict[str, Any]](self.root_uri) as client:
            return client.shoal[collection].count_documents({})

    def kill(self) -> None:
        for server in self._servers:
            server.kill()


def until(condition: Callable[[], bool]) -> None:
    """Return once *condition* holds."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.02)


def _made(directory: Path) -> Path:
    directory.mkdir()
    return directory
