"""Which addresses may be dialled: the public internet, and networks that an operator allows.

A crawler fetches URLs from untrusted pages. Without this, a link to 169.254.169.254, or to a name that resolves to
127.0.0.1, would read the cloud's credentials or a service beside the worker. The decision is made on the address that
is dialled, never on how a host is spelled; `literal` only normalises the spellings of an address.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Final, Self

from crawler.errors import ConfigError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

ALLOWED_SETTING: Final = "GUARD_ALLOWED_NETWORKS"

# The IANA registries of special-purpose addresses, and the clouds' metadata services. The first match names the reason.
_REFUSED_4: Final = {
    "cloud metadata": "169.254.169.254/32 169.254.170.0/24 100.100.100.200/32 168.63.129.16/32 192.0.0.192/32",
    "loopback": "127.0.0.0/8",
    "private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16",
    "link-local": "169.254.0.0/16",
    "carrier-grade NAT": "100.64.0.0/10",
    "unspecified": "0.0.0.0/8",
    "benchmarking": "198.18.0.0/15",
    "documentation": "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24",
    "6to4 relay": "192.88.99.0/24",
    "multicast": "224.0.0.0/4",
    "broadcast": "255.255.255.255/32",
    "reserved": "192.0.0.0/24 240.0.0.0/4",
}
_REFUSED_6: Final = {
    "cloud metadata": "fd00:ec2::254/128 fd20:ce::254/128",
    "loopback": "::1/128",
    "unspecified": "::/128",
    "private": "fc00::/7",
    "link-local": "fe80::/10",
    "site-local": "fec0::/10",
    "IPv4-compatible": "::/96",
    "IPv4-translated": "::ffff:0:0:0/96",
    "local NAT64": "64:ff9b:1::/48",
    "Teredo": "2001::/32",
    "6to4": "2002::/16",
    "benchmarking": "2001:2::/48",
    "documentation": "2001:db8::/32 3fff::/20",
    "multicast": "ff00::/8",
    "reserved": "2001::/23 5f00::/16",
}
_GLOBAL_6: Final = IPv6Network("2000::/3")  # everything that IANA has allocated
_NAT64: Final = IPv6Network("64:ff9b::/96")  # by which an IPv6-only network reaches the IPv4 internet
_ISATAP: Final = frozenset({0x00005EFE, 0x02005EFE})
_NUMBER: Final = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
_FULL_STOPS: Final = {0x3002: "."}


def _table(refused: Mapping[str, str]) -> list[tuple[Network, str]]:
    return [(ip_network(text), reason) for reason, texts in refused.items() for text in texts.split()]


_TABLES: Final = {4: _table(_REFUSED_4), 6: _table(_REFUSED_6)}


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """Decides by address; *allowed* networks override every refusal."""

    allowed: tuple[Network, ...] = ()

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Reads GUARD_ALLOWED_NETWORKS; raises ConfigError."""
        return cls(networks(settings, ALLOWED_SETTING))

    def refusal(self, ip: Address) -> str | None:
        """Why *ip* may not be dialled ("loopback", "cloud metadata" ...); None if it may.

        An IPv4 address inside an IPv6 one (mapped, NAT64) is judged as IPv4.
        """
        address = _unwrapped(ip)
        if any(address in network for network in self.allowed):
            return None
        for network, reason in _TABLES[address.version]:
            if address in network:
                return reason
        return _odd(address) if isinstance(address, IPv6Address) else None


def networks(settings: Mapping[str, Any], name: str) -> tuple[Network, ...]:
    """Those of the setting *name*: a list, or a text separated by commas; raises ConfigError."""
    value, why = settings.get(name), ""
    parts = value.split(",") if isinstance(value, str) else value or ()
    if isinstance(parts, Iterable):
        try:
            return tuple(ip_network(text) for part in parts if (text := str(part).strip()))
        except ValueError as error:
            why = f" ({error})"
    raise ConfigError(name, value, f"networks such as 10.1.0.0/16 or ::1/128, as a list or separated by commas{why}")


def literal(host: str) -> Address | None:
    """The address that *host* spells; None if it is a name.

    Understands the forms that resolvers and browsers do: `127.0.0.1`, `127.1`, `2130706433`, `0x7f.1`, `0177.0.0.1`,
    full-width and circled digits, `[::1]`, and a trailing dot. Raises ValueError if it ends in a number and is not an
    address.
    """
    host = unicodedata.normalize("NFKC", host).translate(_FULL_STOPS).removesuffix(".")
    if ":" in host:
        return ip_address(host.strip("[]").partition("%")[0])
    parts = host.split(".")
    if not _NUMBER.fullmatch(parts[-1]):
        return None
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        raise ValueError(f"{host!r} is not an address")
    *heads, last = map(_number, parts)
    value = sum(head << 8 * (3 - place) for place, head in enumerate(heads))
    if any(head > 0xFF for head in heads) or last >= 1 << 8 * (4 - len(heads)):
        raise ValueError(f"{host!r} is not an address")
    return IPv4Address(value + last)


def _number(text: str) -> int:
    if text[:2] in {"0x", "0X"}:
        return int(text[2:] or "0", 16)
    return int(text, 8 if text[0] == "0" else 10)


def _unwrapped(address: Address) -> Address:
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return IPv4Address(int(address) & 0xFFFF_FFFF) if address in _NAT64 else address


def _odd(address: IPv6Address) -> str | None:
    if address not in _GLOBAL_6:
        return "reserved"
    return "ISATAP" if int(address) >> 32 & 0xFFFF_FFFF in _ISATAP else None
