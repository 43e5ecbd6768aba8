"""Rules per domain: where fields are, which links to follow, what a page must have, how polite to be.

`settings/domains.toml` describes the format. Everything is checked when a crawl starts: a mistake is a ConfigError that
names file, line, key and the expected value, never a silent miss on some later page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from crawler import config, urls
from crawler.errors import ConfigError
from crawler.policy import toml_text
from crawler.policy.budgets import Budget, read_budget
from crawler.policy.headers import PROFILES
from crawler.policy.proxies.tables import country, pool_name
from crawler.policy.rules import domain_values as read
from crawler.policy.rules import scope_values
from crawler.policy.rules.domain_values import Element, FieldRule, LinkRule
from crawler.policy.rules.patterns import Pattern
from crawler.policy.tiers import TIERS, Tier, rank
from crawler.policy.toml_values import BadValueError, boolean, choice, integer, number

DEFAULT: Final = "default"
ProxySession = Literal["request", "host", "session"]

_HOST = re.compile(r"(?=.{1,253}$)(?:localhost|[\w-]+(?:\.[\w-]+)+)")


@dataclass(frozen=True, slots=True)
class DomainRules:
    """The rules of one domain. Politeness keys that are None leave it to the settings."""

    fields: Mapping[str, tuple[FieldRule, ...]] = field(default_factory=lambda: MappingProxyType({}))
    product: tuple[LinkRule, ...] = ()
    pagination: tuple[LinkRule, ...] = ()
    follow: tuple[LinkRule, ...] = ()
    exclude: tuple[Pattern, ...] = ()  # URLs that are never followed
    scope: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))  # see policy/rules/scope.py
    required: tuple[str | Element, ...] = ()  # names of fields, or elements of the page
    budget: Budget | None = None  # of a day
    obey_nofollow: bool = True
    delay_seconds: float | None = None
    concurrency: int | None = None
    burst: int | None = None
    group_by_domain: bool | None = None
    politeness_group: str | None = None  # a name that hosts of several domains share
    tier: Tier | None = None
    max_tier: Tier | None = None
    headers: str | None = None  # a profile of policy/headers.py
    tls_profile: str | None = None  # whose TLS handshake to use
    cookies: Literal["none", "host", "session"] | None = None  # which requests share a jar
    proxy_pool: str | None = None  # "": no pool
    proxy_country: str | None = None
    proxy_session: ProxySession | None = None  # which requests share a proxy

    def is_product(self, url: str) -> bool:
        """Whether a `product` pattern matches *url*."""
        return any(rule.pattern is not None and rule.pattern.search(url) for rule in self.product)

    def names_products(self) -> bool:
        """Whether there is a `product` pattern, so that other pages are known to be no products."""
        return any(rule.pattern is not None for rule in self.product)

    def names_elements(self) -> bool:
        """Whether there is an `xml` rule, so that feeds are read."""
        return any(rule.xml is not None for choices in self.fields.values() for rule in choices)


NO_RULES: Final = DomainRules()  # what most domains have, and to make one for each page costs as much as a search


_READERS: Final = MappingProxyType(
    {
        "fields": read.field_rules,
        "product": read.links,
        "pagination": read.links,
        "follow": read.links,
        "exclude": scope_values.patterns,
        "scope": scope_values.of_domain,
        "budget": read_budget,
        "required": read.required,
        "obey_nofollow": boolean,
        "delay_seconds": number(*config.bounds("DOWNLOAD_DELAY")),
        "concurrency": integer(*config.bounds("CONCURRENT_REQUESTS_PER_DOMAIN")),
        "burst": integer(*config.bounds("POLITENESS_BURST")),
        "group_by_domain": boolean,
        "politeness_group": read.name,
        "tier": choice(*TIERS),
        "max_tier": choice(*TIERS),
        "headers": choice("none", *PROFILES),
        "tls_profile": choice("none", *PROFILES),
        "cookies": choice("none", "host", "session"),
        "proxy_pool": pool_name,
        "proxy_country": country,
        "proxy_session": choice("request", "host", "session"),
    }
)


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules of a file."""

    default: DomainRules = field(default_factory=DomainRules)
    by_host: Mapping[str, DomainRules] = field(default_factory=lambda: MappingProxyType({}))

    def for_url(self, url: str) -> DomainRules:
        """The rules of the host, else of the nearest parent domain with rules, else the default ones."""
        return self.for_host(urls.group(url)) if self.by_host else self.default

    def for_host(self, host: str) -> DomainRules:
        """The same for a host's name."""
        name = host
        while name not in self.by_host:
            if not (name := name.partition(".")[2]):
                return self.default  # most hosts: nobody asks what is registrable
        return next((self.by_host[name] for name in _domains(host) if name in self.by_host), self.default)

    def around(self, host: str) -> DomainRules:
        """The rules that those of *host* complete: of the nearest domain around it, else the default ones."""
        return next((self.by_host[name] for name in _domains(host)[1:] if name in self.by_host), self.default)


def load_rules(path: str | Path) -> Rules:
    """The rules of a file, none for an empty *path*; raises ConfigError if it is unreadable or invalid."""
    if not path:
        return parse_rules("")
    return parse_rules(config.text_file("DOMAINS_FILE", path), str(path))


@lru_cache(maxsize=1)  # eight components of a worker ask for them
def parse_rules(text: str, source: str = "domains.toml") -> Rules:
    """The rules in *text*; *source* names the file in errors."""
    try:
        tables = toml_text.tables(text)
    except toml_text.TomlTextError as error:
        raise ConfigError(f"{source}, line {error.line}", error.text, f"valid TOML: {error}") from None
    written = _hosts(tables, text, source)
    own = {host: _table(name, tables[name], text, source) for host, name in written.items()}
    default = own.pop(DEFAULT, {})
    by_host: dict[str, DomainRules] = {}
    for host in own:
        merged = default
        for name in reversed(_domains(host)):
            merged = _merged(merged, own.get(name, {}))
        by_host[host] = _rules(written[host], merged, text, source)
    return Rules(_rules(DEFAULT, default, text, source), MappingProxyType(by_host))


def _hosts(tables: Mapping[str, Any], text: str, source: str) -> dict[str, str]:
    """The names of *tables* by host as URLs have it: `xn--bcher-kva.example` for `bücher.example`."""
    written: dict[str, str] = {}
    for name, table in tables.items():
        allowed = f'a table named {DEFAULT} or a host name in lower case and quotes, as in ["shop.example.com"]'
        host = name if name == DEFAULT and isinstance(table, dict) else _ascii(name, table)
        if host in written:
            allowed = f"one table for each host: {written[host]!r} is the same host"
        if not host or host in written:
            raise ConfigError(f"{source}, line {toml_text.line_of(text, (name,))}: table", name, allowed)
        written[host] = name
    return written


def _ascii(name: str, table: Any) -> str:
    """The host *name* in ASCII; "" if it is none."""
    if not _HOST.fullmatch(name) or name != name.lower() or not isinstance(table, dict):
        return ""
    with suppress(UnicodeError):  # a part of it is too long, or no name in any script
        return name.encode("idna").decode("ascii")
    return ""


def _domains(host: str) -> list[str]:
    """`www.shop.example.co.uk` -> itself, `shop.example.co.uk`, `example.co.uk`."""
    names = [host]
    while host != urls.registrable(host):
        host = host.partition(".")[2]
        names.append(host)
    return names


def _table(name: str, table: Mapping[str, Any], text: str, source: str) -> dict[str, Any]:
    """The values of one table, checked."""
    values: dict[str, Any] = {}
    for key, raw in table.items():
        reader = _READERS.get(key)
        if reader is None:
            line = toml_text.line_of(text, (name, key))
            raise ConfigError(f"{source}, line {line}: [{name}] key", key, "one of " + ", ".join(_READERS))
        try:
            values[key] = reader(raw)
        except BadValueError as error:
            line = toml_text.line_of(text, (name, key, *error.path))
            shown = ".".join((key, *error.path))
            raise ConfigError(f"{source}, line {line}: [{name}] {shown}", error.value, error.expected) from None
    return values


def _rules(name: str, values: Mapping[str, Any], text: str, source: str) -> DomainRules:
    """The rules of a table and its parents; raises ConfigError if two contradict each other."""
    rules = DomainRules(**values)
    if rules.tier and rules.max_tier and rank(rules.tier) > rank(rules.max_tier):
        where = f"{source}, line {toml_text.line_of(text, (name, 'tier'))}: [{name}] tier"
        raise ConfigError(where, rules.tier, f"at most max_tier, which is {rules.max_tier}")
    return rules


def _merged(outer: Mapping[str, Any], inner: Mapping[str, Any]) -> dict[str, Any]:
    """*inner*'s values, else *outer*'s; `fields` and `scope` are merged key by key."""
    both = {**outer, **inner}
    for table in ("fields", "scope"):
        if table in outer and table in inner:
            both[table] = MappingProxyType({**outer[table], **inner[table]})
    return both
