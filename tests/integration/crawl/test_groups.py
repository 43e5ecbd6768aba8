"""Hosts that share a group are one host to the fleet."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.crawling import Fleet, ended
from tests.sites import LATE, Page, Site

DELAY = 0.25


async def test_two_hosts_of_a_group_are_never_asked_closer_than_its_delay(fleet: Fleet, tmp_path: Path) -> None:
    domains = tmp_path / "domains.toml"
    terms = f'politeness_group = "platform"\ndelay_seconds = {DELAY}\n'
    tables = [f'["{host}"]\n{terms}' for host in ("127.0.0.1", "127.0.0.2")]
    domains.write_text("".join(tables))
    pages = {f"/{n}": Page() for n in range(2)}
    with Site(pages) as one, Site(pages, host="127.0.0.2") as other:
        settings: dict[str, Any] = {"DOMAINS_FILE": str(domains), "ROBOTSTXT_OBEY": True}
        addresses = [site.url(path) for path in pages for site in (one, other)]
        arguments = ("-a", f"urls={' '.join(addresses)}", *fleet.options(**settings))
        status, log = await ended(fleet.runner.fork("crawl", "starting", *arguments))
    assert status == 0, log
    at = sorted(request.at for site in (one, other) for request in site.received)
    assert len(at) == 6  # with a robots.txt each
    assert min(after - before for before, after in pairwise(at)) >= DELAY - LATE


async def test_names_of_one_address_are_one_host_and_other_addresses_are_not_slowed(fleet: Fleet) -> None:
    pages = {f"/{n}": Page() for n in range(2)}
    with Site(pages) as one, Site(pages, host="127.0.0.2") as other:
        names = [one.url(path).replace("127.0.0.1", name) for path in pages for name in ("127.0.0.1", "localhost")]
        addresses = [*names, *map(other.url, pages)]
        settings: dict[str, Any] = {"POLITENESS_GROUP": "ip", "DOWNLOAD_DELAY": DELAY, "ROBOTSTXT_OBEY": True}
        arguments = ("-a", f"urls={' '.join(addresses)}", *fleet.options(**settings))
        status, log = await ended(fleet.runner.fork("crawl", "starting", *arguments))
    assert status == 0, log
    assert len(one.received) == 6  # with a robots.txt of each name
    assert min(one.gaps) >= DELAY - LATE, one.gaps
    assert len(other.received) == 3
    assert other.received[-1].at < one.received[-1].at
