"""The politeness rules a worker announces: for each host the strictest announced by a live worker apply."""

from __future__ import annotations

import logging
import struct
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Final

from crawler.policy.pace import Pace, pace_of

_PACE: Final = struct.Struct("<IHH")  # the twin of rule_of in lua/lib/hosts/rules.lua
SENT_AT_ONCE: Final = 500  # exceptions
MOST_NOTED: Final = 1_000

logger = logging.getLogger(__name__)


class Statement:
    """The rules of all hosts in a few bytes: the common ones, and the exceptions by name.

    Workers with equal rules share one statement. It applies from the moment a shard has it until no
    worker has repeated it for some seconds.
    """

    def __init__(
        self,
        spider: str,
        usual: Pace,
        exceptions: Mapping[str, Pace],
        *,
        obeys_robots: bool = True,
        by_address: bool = False,
    ) -> None:
        """*exceptions*: by `=<host>`, or by `<domain>` for all hosts in it without nearer ones. *by_address*: hosts
        with the same address are crawled as one."""
        self.spider = spider
        self.usual = usual
        self.exceptions = dict(exceptions)
        self.is_news = False  # noted, and not stated yet
        self._noted: dict[str, Pace] = {}
        self._obeys = obeys_robots
        self._by_address = by_address
        whole = repr((usual, sorted(exceptions.items())))
        self.digest = sha256(whole.encode()).hexdigest()[:16]

    @property
    def text(self) -> str:
        """As lua/lib/hosts/rules.lua reads it."""
        flags = f"{int(self._obeys)}:{int(bool(self.exceptions))}"
        by = ("ip",) if self._by_address else ()
        return ":".join((self.spider, self.digest, *map(str, self.usual), flags, *by))

    @property
    def row(self) -> tuple[str, str, int]:
        """What lua/hosts/rules.lua takes before the exceptions."""
        return self.text, self.digest, len(self.exceptions)

    def of_host(self, host: str) -> Pace:
        """What is stated of *host*."""
        return pace_of(host, self.usual, self.exceptions)

    def note(self, host: str, pace: Pace) -> bool:
        """*pace* is the rule of a request of *host*; True when it is stricter than what was stated so far.

        The group that a request names in `meta["download_slot"]` is known by no rule beforehand.
        """
        stated = self.of_host(host)
        stricter = pace.strictest(stated)
        if stricter == stated or len(self._noted) >= MOST_NOTED:
            return False
        self._noted[f"={host}"] = self.exceptions[f"={host}"] = stricter
        if len(self._noted) == MOST_NOTED:
            logger.warning(
                "Requests name %d groups of hosts of their own (meta['download_slot']) whose URLs have a rule in "
                "domains.toml: of further ones only DOWNLOAD_SLOTS and the defaults count",
                MOST_NOTED,
            )
        self.is_news = True
        return True

    def rows(self) -> Iterator[list[str | bytes]]:
        """The exceptions as lua/hosts/rules.lua takes them, some at a time."""
        flat = [part for name, pace in self.exceptions.items() for part in (name, _PACE.pack(*pace))]
        for at in range(0, len(flat), 2 * SENT_AT_ONCE):
            yield flat[at : at + 2 * SENT_AT_ONCE]
