"""The pools of PROXY_POOLS and PROXY_POOLS_FILE; the file is reloaded when it changes."""

from __future__ import annotations

import asyncio
import codecs
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any, Self

from scrapy.settings import BaseSettings

from crawler import config
from crawler.errors import ConfigError
from crawler.policy.proxies.health import HealthPolicy
from crawler.policy.proxies.pools import ProxyPool, basic_auth
from crawler.policy.proxies.tables import Pools, parse_pools, parse_pools_text, pool_name
from crawler.policy.rules.domains import Rules
from crawler.policy.toml_values import BadValueError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProxyConfig:
    """The settings of the proxy layer."""

    pools: Mapping[str, Any]
    file: str
    default: str
    reload_seconds: float
    retry_times: int
    health: HealthPolicy
    auth_encoding: str | None

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Raises ConfigError when a value is out of range."""
        try:
            default = pool_name(settings["PROXY_POOL"])
        except BadValueError as error:
            raise ConfigError("PROXY_POOL", error.value, error.expected) from None
        return cls(
            pools=config.mapping(settings, "PROXY_POOLS"),
            file=config.text(settings, "PROXY_POOLS_FILE"),
            default=default,
            reload_seconds=config.number(settings, "PROXY_RELOAD_SECONDS"),
            retry_times=config.integer(settings, "PROXY_RETRY_TIMES"),
            health=_health(settings),
            auth_encoding=_auth_encoding(settings),
        )


def _auth_encoding(settings: BaseSettings) -> str | None:
    """What credentials are encoded with; None: UTF-8, as in Scrapy."""
    name = "HTTPPROXY_AUTH_ENCODING"
    encoding = config.text(settings, name) or None
    try:
        codecs.lookup(encoding or "utf-8")
    except LookupError:
        raise ConfigError(name, encoding, "the name of an encoding such as latin-1 or utf-8") from None
    return encoding


def _health(settings: BaseSettings) -> HealthPolicy:
    first = config.number(settings, "PROXY_QUARANTINE_SECONDS")
    longest = config.number(settings, "PROXY_QUARANTINE_MAX_SECONDS")
    if longest < first:
        raise ConfigError("PROXY_QUARANTINE_MAX_SECONDS", longest, "at least PROXY_QUARANTINE_SECONDS")
    return HealthPolicy(
        failures=config.integer(settings, "PROXY_FAILURES"),
        quarantine_ms=round(first * 1000),
        quarantine_max_ms=round(longest * 1000),
        trial_ms=round(2_000 * config.number(settings, "DOWNLOAD_TIMEOUT")),
    )


class PoolSource:
    """The current pools. An invalid new version of the file is rejected and the old one stays in use."""

    def __init__(self, settings: ProxyConfig, rules: Rules) -> None:
        """Reads the file once; raises ConfigError if it is invalid, or lacks a pool that domains.toml names."""
        self._settings = settings
        self._wanted = _wanted(settings, rules)
        self._version = self._seen = self._look()
        self._pools = self._read()

    def __bool__(self) -> bool:
        return bool(self._pools)

    def get(self, name: str) -> ProxyPool:
        """The pool *name*; raises ConfigError if there is none."""
        if name not in self._pools:
            raise ConfigError("proxy_pool", name, _names(self._pools))
        return self._pools[name]

    async def keep_loaded(self) -> None:
        """Watch the file for changes until cancelled."""
        while self._settings.file:
            await asyncio.sleep(self._settings.reload_seconds)
            await self.refresh()

    async def refresh(self) -> None:
        """Reload the file if it has changed and is no longer being written."""
        await asyncio.to_thread(self._refresh)

    def _refresh(self) -> None:
        """A file may be seen empty or half written: a version counts if two checks around the read agree."""
        before, self._seen = self._seen, self._look()
        if self._seen != before or self._seen == self._version:
            return
        found = self._try_read()
        if self._look() != self._seen:
            return
        self._version = self._seen
        if isinstance(found, ConfigError):
            logger.error("Rejected the changed proxy pools and kept the previous ones: %s", found)
        else:
            self._pools = found
            logger.info("Proxy pools reloaded: %s", ", ".join(found) or "none")

    def _try_read(self) -> Pools | ConfigError:
        path = Path(self._settings.file)
        if path.exists() and not path.is_file():  # to open it might take for ever
            return ConfigError("PROXY_POOLS_FILE", str(path), "a file: a pipe is read at the start only")
        try:
            return self._read()
        except ConfigError as error:
            return error

    def _look(self) -> tuple[int, int, int] | None:
        """What identifies a version of the file; None if it is none, or not accessible."""
        if not self._settings.file:
            return None
        try:
            seen = Path(self._settings.file).stat()
        except OSError:
            return None
        if not S_ISREG(seen.st_mode):
            return None
        return seen.st_mtime_ns, seen.st_size, seen.st_ino

    def _read(self) -> Pools:
        pools = parse_pools(self._settings.pools, "PROXY_POOLS")
        if file := self._settings.file:
            more = parse_pools_text(config.text_file("PROXY_POOLS_FILE", file), file)
            if both := sorted(pools.keys() & more.keys()):
                raise ConfigError(f"{file}: pool", both[0], "a name that is not in PROXY_POOLS as well")
            pools |= more
        _check_credentials(pools, self._settings.auth_encoding)
        for where, name in self._wanted.items():
            if name not in pools:
                raise ConfigError(where, name, _names(pools))
        return pools


def _check_credentials(pools: Pools, encoding: str | None) -> None:
    """Raise ConfigError for credentials that cannot be sent, by their place."""
    for pool in pools.values():
        for place, one in enumerate(pool.endpoints, 1):
            try:
                basic_auth(one.username, one.password, encoding)
            except UnicodeEncodeError:
                allowed = f"credentials in {encoding or 'utf-8'} (HTTPPROXY_AUTH_ENCODING)"
                raise ConfigError(f"[{pool.name}] proxies, number {place}", "...", allowed) from None


def _wanted(settings: ProxyConfig, rules: Rules) -> dict[str, str]:
    """The required pools, by the place that names them."""
    wanted = {"PROXY_POOL": settings.default, "DOMAINS_FILE: [default] proxy_pool": rules.default.proxy_pool}
    wanted |= {f"DOMAINS_FILE: [{host}] proxy_pool": rule.proxy_pool for host, rule in rules.by_host.items()}
    return {where: name for where, name in wanted.items() if name}


def _names(pools: Pools) -> str:
    return "one of the pools " + ", ".join(pools) if pools else "no pool: none is configured (PROXY_POOLS_FILE)"
