"""Proxy pools, and which proxy of a pool a request goes through.

Pure: health, randomness and time are arguments. Sticky sessions use rendezvous hashing, so that all workers agree
without communication, and a pool that loses a proxy moves only that proxy's sessions.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from crawler.policy.proxies.health import State

SESSION: Final = "{session}"
COUNTRY: Final = "{country}"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One proxy. *name* has no credentials: logs, metrics and Redis use it."""

    name: str
    url: str  # http://host:port
    username: str = field(default="", repr=False)  # may contain {session} and {country}, as the password may
    password: str = field(default="", repr=False)
    country: str = ""  # where the proxy is, unless its credentials choose that

    def takes(self, placeholder: str) -> bool:
        """Whether the credentials contain *placeholder*."""
        return placeholder in self.username + self.password

    def serves(self, country: str) -> bool:
        """Whether it is available in *country*; "" is any."""
        return not country or self.country == country or self.takes(COUNTRY)

    def credentials(self, session: str, country: str) -> tuple[str, str]:
        """User name and password with the placeholders filled."""

        def filled(text: str) -> str:
            return text.replace(SESSION, session).replace(COUNTRY, country)

        return filled(self.username), filled(self.password)


def basic_auth(username: str, password: str, encoding: str | None) -> bytes:
    """Both for a Proxy-Authorization of the scheme Basic, as they are; raises UnicodeEncodeError."""
    return b64encode(f"{username}:{password}".encode(encoding or "utf-8"))


@dataclass(frozen=True, slots=True, eq=False)
class ProxyPool:
    """Interchangeable proxies, with their cost in the provider's currency."""

    name: str
    endpoints: tuple[Endpoint, ...]
    country: str = ""  # for requests that ask for none
    session_seconds: float = 0  # how long a sticky session keeps its id; 0: for ever
    cost_per_gb: float = 0  # per 10^9 bytes, both directions
    cost_per_request: float = 0

    def serving(self, country: str) -> tuple[Endpoint, ...]:
        """The proxies available in *country*."""
        return tuple(one for one in self.endpoints if one.serves(country)) if country else self.endpoints

    def cost(self, requests: int, size: int) -> float:
        """What this many requests and bytes cost."""
        return requests * self.cost_per_request + size / 1e9 * self.cost_per_gb


@dataclass(frozen=True, slots=True)
class ProxyNeeds:
    """What a request asks of a pool."""

    country: str = ""
    session: str = ""  # requests of one session share a proxy; "": each takes the next one
    tried: Collection[str] = ()  # names of proxies that have failed this request
    salt: int = 0  # another salt makes another session of the same requests


@dataclass(frozen=True, slots=True)
class Choice:
    """A proxy for one request. *probe*: it is due for its trial after a quarantine, which has to be claimed first."""

    endpoint: Endpoint
    probe: bool


def choose(pool: ProxyPool, sick: Mapping[str, State], needs: ProxyNeeds, turn: int) -> Choice | None:
    """The proxy for a request; None if none that serves its country is usable now.

    *sick* names the proxies that are quarantined or due for a trial. Without a session proxies take turns, counted by
    *turn*; one that is due goes first. Proxies that have failed the request come last. O(proxies) for a session or a
    country, else O(sick).
    """
    serving = pool.serving(needs.country)
    if not needs.session:
        due = [one for one in serving if sick.get(one.name) is State.DUE] if State.DUE in sick.values() else []
        order = (*due, *_from(serving, turn))
    else:
        order = tuple(sorted(serving, key=lambda one: _digest(f"{one.name}\n{needs.session}"), reverse=True))
    again: Endpoint | None = None
    for one in order:
        if sick.get(one.name) is State.QUARANTINED:
            continue
        if one.name not in needs.tried:
            return Choice(one, sick.get(one.name) is State.DUE)
        again = again or one
    return Choice(again, sick.get(again.name) is State.DUE) if again is not None else None


def session_id(pool: ProxyPool, needs: ProxyNeeds, now: float) -> str:
    """The same 12 characters for all workers and requests of a session; *now* in Unix seconds.

    It changes after `session_seconds`; workers with different clocks change it at slightly different moments.
    """
    window = int(now / pool.session_seconds) if pool.session_seconds else 0
    return _digest(f"{pool.name}\n{needs.session}\n{needs.country}\n{window}\n{needs.salt}")


def _from(endpoints: tuple[Endpoint, ...], turn: int) -> tuple[Endpoint, ...]:
    start = turn % len(endpoints) if endpoints else 0
    return endpoints[start:] + endpoints[:start]


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=6).hexdigest()
