"""The site of the chaos run on paper: which pages there are, how they are found, and what goes wrong at them.

A pure function of its seed. Most pages are linked from one page only, so that a lost request is a missing page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import Final

NEAR: Final = 25  # a page is linked from one of this many before it: the site is deep, and wide enough
MOST_LATENCY: Final = 0.25  # seconds a page takes to answer, evenly from 0
SLOW_SECONDS: Final = 2.5
HOSTS_MOST: Final = 200
# Pages that must end as dead letters, and why.
REASONS: Final = {
    "/poison": "spider_error",
    "/broken": "http_500",
    "/closed": "download_error",
    "/fatal": "deliveries",  # it kills its worker, each time
}
_FAILURES: Final = ("/poison", "/broken", "/closed")


class Fault(StrEnum):
    """What goes wrong."""

    BUSY = "503"
    BROKEN = "500"
    DROPPED = "dropped"  # the connection closes without an answer
    CUT = "cut short"  # half of the body
    SLOW = "slow"


@dataclass(slots=True)
class Page:
    """What an address answers."""

    links: list[str] = field(default_factory=list)
    location: str = ""  # not empty: a redirect
    status: int = 200
    latency: float = 0.0
    fault: Fault | None = None
    times: int = 0  # so often it fails, whoever asks, and then never again; -1: always


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole site, and what a crawl of it must leave behind."""

    pages: dict[tuple[str, str], Page]  # (host, path)
    start_urls: list[str]
    expected: frozenset[str]  # URLs of the pages that must be stored
    dead: dict[str, str]  # URL -> why its request must end as a dead letter


def build(seed: int, *, port: int, hosts: int, pages: int, fatal: int = 0) -> Plan:
    """*pages* on each of *hosts* hosts (127.0.0.2 and on), redirects and what is meant to fail beside them.

    *fatal*: how many hosts have a page that kills its worker.
    """
    if not (2 <= hosts <= HOSTS_MOST and pages >= 2):
        raise ValueError(f"{hosts} hosts must be 2 to {HOSTS_MOST}, and {pages} pages per host at least 2")
    names = [f"127.0.0.{2 + number}" for number in range(hosts)]
    builders = [_Builder(Random(f"{seed}/{name}"), name, port, names, pages) for name in names]
    found: dict[tuple[str, str], Page] = {}
    for number, builder in enumerate(builders):
        builder.build(found, ["/fatal"] if number < fatal else [])
    return Plan(
        pages=found,
        start_urls=[builder.url("/") for builder in builders],
        expected=frozenset(url for builder in builders for url in builder.expected),
        dead={url: reason for builder in builders for url, reason in builder.dead.items()},
    )


class _Builder:
    """One host."""

    def __init__(self, rng: Random, host: str, port: int, hosts: list[str], pages: int) -> None:
        self._rng = rng
        self._host = host
        self._port = port
        self._others = [name for name in hosts if name != host]
        self._count = pages
        self._pages: list[Page] = []
        self._plain: list[int] = []  # pages that are linked by their own address: linking them again adds no way there
        self.expected: list[str] = []
        self.dead: dict[str, str] = {}

    def url(self, path: str, host: str = "") -> str:
        return f"http://{host or self._host}:{self._port}{path}"

    def build(self, into: dict[tuple[str, str], Page], extra: list[str]) -> None:
        for number in range(self._count):
            page = Page(latency=self._rng.uniform(0, MOST_LATENCY))
            if number:
                page.fault, page.times = self._mishap()
                self._link(number, into)
            self._pages.append(page)
            page.links += [_path(known) for known in self._again(number)]
            into[self._host, _path(number)] = page
            self.expected.append(self.url(_path(number)))
        into[self._host, "/robots.txt"] = Page()
        self._add_failures(into, extra)

    def _mishap(self) -> tuple[Fault | None, int]:
        if self._rng.random() >= 0.08:
            return None, 0
        return self._rng.choice(list(Fault)), self._rng.choice((1, 1, 2))

    def _link(self, number: int, into: dict[tuple[str, str], Page]) -> None:
        """From a page nearby: by its address, by a redirect or two, or by way of another host."""
        parent = self._pages[self._rng.randrange(max(0, number - NEAR), number)]
        kind = self._rng.choices(("plain", "moved", "moved twice", "elsewhere"), (84, 8, 3, 5))[0]
        if kind == "plain":
            self._plain.append(number)
            parent.links.append(_path(number))
            return
        target, status = self.url(_path(number)), self._rng.choice((301, 302, 307))
        if kind == "elsewhere":
            other, door = self._rng.choice(self._others), f"/to/{self._host}/{number}"
            into[other, door] = Page(location=target, status=status)
            parent.links.append(self.url(door, other))
            return
        parent.links.append(f"/moved/{number}")
        if kind == "moved twice":
            into[self._host, f"/moved/{number}"] = Page(location=f"/again/{number}", status=302)
            into[self._host, f"/again/{number}"] = Page(location=_path(number), status=status)
        else:
            into[self._host, f"/moved/{number}"] = Page(location=_path(number), status=status)

    def _again(self, number: int) -> Iterator[int]:
        """Pages that are known by then, for the deduplication."""
        known = [page for page in self._plain if page < number]
        yield from self._rng.sample(known, min(2, len(known)))

    def _add_failures(self, into: dict[tuple[str, str], Page], extra: list[str]) -> None:
        """A missing page on each host, one of the ways to become a dead letter in turn, and *extra* ones."""
        self._pages[0].links.append("/missing")
        into[self._host, "/missing"] = Page(status=404)
        for path in [_FAILURES[int(self._host.rpartition(".")[2]) % len(_FAILURES)], *extra]:
            self._pages[self._count // 2].links.append(path)
            self.dead[self.url(path)] = REASONS[path]
            fault = {"/broken": Fault.BROKEN, "/closed": Fault.DROPPED}.get(path)
            into[self._host, path] = Page(fault=fault, times=-1 if fault else 0)


def _path(number: int) -> str:
    return f"/p/{number}" if number else "/"
