"""Reads proxy pools from tables: PROXY_POOLS, or the TOML file PROXY_POOLS_FILE.

Errors never show credentials: an invalid proxy URL is named by its place in the list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

from crawler.errors import ConfigError
from crawler.policy import toml_text
from crawler.policy.proxies.pools import COUNTRY, SESSION, Endpoint, ProxyPool
from crawler.policy.toml_values import BadValueError, Reader, number
from crawler.urls import SCHEMES

Pools = Mapping[str, ProxyPool]

_NAME: Final = re.compile(r"(?!count$)[a-z][a-z0-9_-]{0,62}")  # "count": Scrapy's name for a total in stats
_COUNTRY: Final = re.compile(r"[a-z]{2}")
_BRACED: Final = re.compile(r"\{[^}]*\}?|\}")
_URL: Final = "http://[user:password@]host:port, or https://..."


def parse_pools(tables: Mapping[str, Any], source: str) -> dict[str, ProxyPool]:
    """The pools of *tables*; raises ConfigError naming *source*."""
    return {name: _pool(name, table, source) for name, table in tables.items()}


def parse_pools_text(text: str, source: str) -> dict[str, ProxyPool]:
    """The pools of a TOML file's text; raises ConfigError. The line itself is not shown: it may hold a password."""
    try:
        tables = toml_text.tables(text)
    except toml_text.TomlTextError as error:
        raise ConfigError(source, f"line {error.line}", "valid TOML (docs/proxies.md)") from None
    return parse_pools(tables, source)


def country(raw: Any) -> str:
    """A reader for two-letter country codes (ISO 3166)."""
    if not isinstance(raw, str) or not _COUNTRY.fullmatch(raw.lower()):
        raise BadValueError(raw, "a two-letter country code such as de")
    return raw.lower()


def pool_name(raw: Any) -> str:
    """A reader for pool names; "" means no pool."""
    if not isinstance(raw, str) or (raw and not _NAME.fullmatch(raw)):
        raise BadValueError(raw, "a pool name (a-z, 0-9, - and _), or an empty string for none")
    return raw


_READERS: Final[Mapping[str, Reader]] = {
    "country": country,
    "session_seconds": number(0, 86_400),
    "cost_per_gb": number(0, 1e6),
    "cost_per_request": number(0, 1e6),
}


def _pool(name: str, table: Any, source: str) -> ProxyPool:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(f"{source}: pool", name, "a name of a-z, 0-9, - and _ that is not `count`")
    if not isinstance(table, Mapping):
        raise ConfigError(f"{source}: pool", name, "a table with a key `proxies`")
    values: dict[str, Any] = {}
    for key, raw in table.items():
        if key != "proxies" and key not in _READERS:
            raise ConfigError(f"{source}: [{name}] key", key, "one of proxies, " + ", ".join(_READERS))
        if key != "proxies":
            try:
                values[key] = _READERS[key](raw)
            except BadValueError as error:
                raise ConfigError(f"{source}: [{name}] {key}", error.value, error.expected) from None
    return ProxyPool(name, _endpoints(table.get("proxies"), f"{source}: [{name}] proxies", values), **values)


def _endpoints(raw: Any, where: str, values: Mapping[str, Any]) -> tuple[Endpoint, ...]:
    if not isinstance(raw, list) or not raw:
        raise ConfigError(where, type(raw).__name__ if raw else raw, f"a list of {_URL}")
    read = [_endpoint(one, f"{where}, number {place}") for place, one in enumerate(raw, 1)]
    if "country" not in values and any(one.takes(COUNTRY) for one in read):
        raise ConfigError(where, COUNTRY, "a `country` for the pool too, used by requests that ask for none")
    addresses = Counter(one.name for one in read)
    named = tuple(_distinguished(one) if addresses[one.name] > 1 else one for one in read)
    if len({one.name for one in named}) < len(named):
        twice = Counter(one.name for one in named).most_common(1)[0][0]
        raise ConfigError(where, twice, "each proxy only once")
    return named


def _endpoint(raw: Any, where: str) -> Endpoint:
    table = raw if isinstance(raw, Mapping) else {"url": raw}
    if not isinstance(table.get("url"), str) or table.keys() - {"url", "country"}:
        raise ConfigError(where, type(raw).__name__, f'{_URL}; or {{ url = "...", country = "de" }}')
    try:
        parts = urlsplit(table["url"])
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ConfigError(where, "...", _URL) from None
    if parts.scheme not in SCHEMES or not host or not port or parts.path.strip("/") or parts.query or parts.fragment:
        raise ConfigError(where, f"{parts.scheme}://..." if parts.scheme else "...", _URL)
    try:
        place = country(table["country"]) if "country" in table else ""
    except BadValueError as error:
        raise ConfigError(f"{where} country", error.value, error.expected) from None
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    username, password = _credentials(parts, where)
    return Endpoint(address, f"{parts.scheme}://{address}", username, password, place)


def _credentials(parts: SplitResult, where: str) -> tuple[str, str]:
    username, password = unquote(parts.username or ""), unquote(parts.password or "")
    for found in _BRACED.findall(username + password):
        if found not in {SESSION, COUNTRY}:
            raise ConfigError(where, "{...}", f"no braces but {SESSION} and {COUNTRY}")
    return username, password


def _distinguished(endpoint: Endpoint) -> Endpoint:
    """Tells several accounts at one address apart by a hash of the user name."""
    mark = blake2b(endpoint.username.encode(), digest_size=4).hexdigest()
    return Endpoint(f"{endpoint.name}#{mark}", endpoint.url, endpoint.username, endpoint.password, endpoint.country)
