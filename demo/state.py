"""What the demo keeps between two runs: where its shops were, and which day it was."""

from __future__ import annotations

import hashlib
import json
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

FIRST_PORT: Final = 8100


@dataclass(frozen=True, slots=True)
class State:
    """One demo's past. The port belongs to it, because it is part of every stored URL."""

    port: int
    day: int = 1
    crawled: bool = False  # the crawl of that day came to its end

    @classmethod
    def load(cls, directory: Path) -> Self | None:
        """The state of the last run in *directory*; None when there was none."""
        file = directory / "state.json"
        return cls(**json.loads(file.read_text())) if file.exists() else None

    def save(self, directory: Path) -> None:
        """Keep it for the next run; readable at any instant."""
        directory.mkdir(parents=True, exist_ok=True)
        fresh = directory / "state.json.new"
        fresh.write_text(json.dumps(asdict(self)))
        fresh.replace(directory / "state.json")

    def next_run(self) -> State:
        """The next day, unless the crawl of this one was cut short: then the same day again."""
        return State(self.port, self.day + 1) if self.crawled else self


def directory_of(root: Path, what: Any) -> Path:
    """The directory of a demo of *what* (anything JSON can write): another shop never meets its data."""
    digest = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()
    return root / digest[:12]


def free_port(first: int = FIRST_PORT) -> int:
    """The first port from *first* on that all of loopback has free."""
    return next(port for port in range(first, first + 1000) if is_free(port))


def is_free(port: int) -> bool:
    """Whether a server could listen on *port* of every address."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))
        except OSError:
            return False
    return True
