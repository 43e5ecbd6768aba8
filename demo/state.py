"""The demo's state between runs: its shops' port, and the day."""

from __future__ import annotations

import hashlib
import json
import secrets
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

FIRST_PORT: Final = 8100
PORTS: Final = range(20_000, 32_000)  # below those of outgoing connections


@dataclass(frozen=True, slots=True)
class State:
    """The state of one demo. It includes the port, which is part of every stored URL."""

    port: int
    day: int = 1
    crawled: bool = False  # the crawl of that day finished
    run: str = ""  # of that day, once it was pushed
    before: str = ""  # of the day before

    @classmethod
    def load(cls, directory: Path) -> Self | None:
        """The state of the last run in *directory*; None if there was none."""
        file = directory / "state.json"
        return cls(**json.loads(file.read_text())) if file.exists() else None

    def save(self, directory: Path) -> None:
        """Store it atomically for the next run."""
        directory.mkdir(parents=True, exist_ok=True)
        fresh = directory / "state.json.new"
        fresh.write_text(json.dumps(asdict(self)))
        fresh.replace(directory / "state.json")

    def next_run(self) -> State:
        """The next day; or the same day again, if its crawl was interrupted."""
        return State(self.port, self.day + 1, before=self.run) if self.crawled else self


def directory_of(root: Path, what: Any) -> Path:
    """The directory of a demo of *what* (JSON-serialisable): different shops never share data."""
    digest = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()
    return root / digest[:12]


def free_port(first: int = FIRST_PORT) -> int:
    """The first port from *first* on that is free on all of loopback."""
    return next(port for port in range(first, first + 1000) if is_free(port))


def any_port() -> int:
    """A free port of loopback, outside the system's range for outgoing connections. Nobody else is given it by this
    function while this process lives, so that there is time to start who listens there."""
    while not (_is_ours(port := secrets.choice(PORTS)) and is_free(port)):
        pass
    return port


def _is_ours(port: int) -> bool:
    """Take the UDP port of that number, which nothing here uses, as the sign that *port* is taken; kept to the end."""
    sign = socket.socket(type=socket.SOCK_DGRAM)
    try:
        sign.bind(("127.0.0.1", port))
    except OSError:  # somebody else's
        sign.close()
        return False
    sign.detach()
    return True


def is_free(port: int) -> bool:
    """Whether *port* is free on every address."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))
        except OSError:
            return False
    return True
