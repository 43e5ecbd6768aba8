"""Which addresses stand for one machine, so that all hosts there are crawled as one (POLITENESS_GROUP = "ip"). Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from ipaddress import IPv4Address, ip_address, ip_network
from typing import Any, Final, Self

from crawler.policy.address_guard import Address, Network, networks

SETTING: Final = "POLITENESS_CDN_NETWORKS"


@dataclass(frozen=True, slots=True)
class SharedAddresses:
    """Tells machines from content delivery networks, whose addresses are those of thousands of unrelated sites.

    Known weakness: a machine behind a CDN that is not in *apart* is taken for one machine.
    """

    apart: tuple[Network, ...] = ()

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """cdn_networks.toml and POLITENESS_CDN_NETWORKS; raises ConfigError."""
        return cls(_published() + networks(settings, SETTING))

    def of(self, found: Iterable[str]) -> tuple[str, ...]:
        """The addresses of *found* that the host may be known by, IPv4 first, always in the same order; none if one of
        them belongs to a CDN."""
        addresses = sorted({_plain(text) for text in found}, key=lambda one: (one.version, int(one)))
        if any(address in network for address in addresses for network in self.apart):
            return ()
        return tuple(str(address) for address in addresses)


def _plain(text: str) -> Address:
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv4Address) or address.ipv4_mapped is None:
        return address
    return address.ipv4_mapped


@cache
def _published() -> tuple[Network, ...]:
    tables = tomllib.loads((files("crawler.policy") / "cdn_networks.toml").read_text())
    return tuple(ip_network(network) for table in tables.values() for network in table["networks"].split())
