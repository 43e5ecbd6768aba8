"""The politeness group of a request, and the rule that the settings give it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from scrapy import Request
from scrapy.settings import BaseSettings

from crawler import config, urls
from crawler.errors import ConfigError
from crawler.policy.pace import Pace
from crawler.policy.rules.domains import DomainRules, Rules, load_rules
from crawler.policy.tiers import TIERS, Tier

REMEMBERED: Final = 4_096  # hosts whose rule is cached, of up to 253 characters each


@dataclass(frozen=True, slots=True)
class HostRule:
    """The rule of one group, before the site's robots.txt raises the delay."""

    group: str
    delay_ms: int  # least time between two requests on the wire
    cap: int  # most requests in flight
    tier: Tier = TIERS[0]  # the least tier for its pages
    max_tier: Tier = TIERS[-1]
    burst: int = 1  # most requests that may skip the delay after a rest

    @property
    def pace(self) -> Pace:
        """The part that the fleet has to agree on."""
        return Pace(self.delay_ms, self.cap, self.burst)


@dataclass(frozen=True, slots=True)
class HostRules:
    """DOWNLOAD_DELAY, CONCURRENT_REQUESTS_PER_DOMAIN and DOWNLOAD_SLOTS, applied fleet-wide.

    A slot named by `meta["download_slot"]` is its own group, as in Scrapy. No jitter: the delay is a minimum, not an
    average.
    """

    delay_ms: int
    cap: int
    slots: Mapping[str, Mapping[str, float]]
    grouping: urls.Grouping
    domains: Rules
    burst: int = 1
    by_address: bool = False  # hosts with the same address are crawled as one, whatever they are called
    _made: dict[tuple[int, str], HostRule] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> HostRules:
        """Reads the settings and DOMAINS_FILE; raises ConfigError for a value out of range."""
        grouping = config.choice(settings, "POLITENESS_GROUP", ("hostname", "domain", "ip"))
        if grouping == "ip" and config.integer(settings, "FRONTIER_SHARDS") > 1:
            allowed = "hostname or domain with FRONTIER_SHARDS above 1: hosts of one address lie on different shards"
            raise ConfigError("POLITENESS_GROUP", grouping, allowed)
        return cls(
            delay_ms=round(config.number(settings, "DOWNLOAD_DELAY") * 1000),
            cap=config.integer(settings, "CONCURRENT_REQUESTS_PER_DOMAIN"),
            slots=_slots(settings),
            grouping="domain" if grouping == "domain" else "hostname",
            domains=load_rules(settings["DOMAINS_FILE"]),
            burst=config.integer(settings, "POLITENESS_BURST"),
            by_address=grouping == "ip",
        )

    def of(self, request: Request) -> HostRule:
        """The rule of *request*'s group: from domains.toml, else DOWNLOAD_SLOTS, else the general settings."""
        site = self.domains.for_url(request.url)
        by = self.grouping if site.group_by_domain is None else self._grouping(site)
        group = request.meta.get("download_slot") or site.politeness_group or urls.group(request.url, by)
        made = self._made.get((id(site), group))  # asked a dozen times per page; `site` objects live as long as this
        return made if made is not None else self._make(site, group)

    def group_of(self, host: str) -> str:
        """The group of a *host* that a person names: itself, if it is the name of a group."""
        if host in self.slots or self._is_shared(host):
            return host
        try:
            return self.of(Request(f"http://[{host}]/" if ":" in host else f"http://{host}/")).group
        except ValueError:  # a slot can have any name
            return host

    def is_alone(self, host: str, site: DomainRules) -> bool:
        """Whether *host* is a group by itself, with the same pace as all such hosts of *site*."""
        return host not in self.slots and not site.politeness_group and self._grouping(site) == "hostname"

    def _make(self, site: DomainRules, group: str) -> HostRule:
        pace = self._pace(site, group)
        tiers = (site.tier or TIERS[0], site.max_tier or TIERS[-1])
        made = HostRule(group, pace.delay_ms, pace.cap, *tiers, burst=pace.burst)
        if len(self._made) >= REMEMBERED:
            self._made.clear()
        self._made[id(site), group] = made
        return made

    def is_named_group(self, group: str) -> bool:
        """Whether a group is more than the host of that name: settings named it, so its addresses do not matter."""
        if self._is_shared(group):
            return True
        try:
            site = self.domains.for_url(f"http://{group}/")
        except ValueError:  # a slot can have any name
            return True
        return self._grouping(site) == "domain"

    def _is_shared(self, group: str) -> bool:
        return any(site.politeness_group == group for site in (self.domains.default, *self.domains.by_host.values()))

    def by_name(self) -> tuple[Pace, dict[str, Pace]]:
        """The usual pace and the exceptions, for `pace_of`. Of hosts that share a group the strictest counts.

        Rules of a URL's domain in a group named by `meta["download_slot"]` are not included: see Statement.note.
        """
        usual, exceptions = self._pace(self.domains.default, ""), dict[str, Pace]()
        for name, site in self.domains.by_host.items():
            exceptions[name] = self._pace(site, "")
            if site.politeness_group or self._grouping(site) == "domain":
                group = site.politeness_group or urls.registrable(name)
                own = self._pace(site, group)
                others = own if site.politeness_group else self._pace_of_host(group)
                exceptions[f"={group}"] = own.strictest(exceptions.get(f"={group}", others))
        for group in self.slots:
            own = self._pace_of_host(group)
            exceptions[f"={group}"] = own.strictest(exceptions.get(f"={group}", own))
        return usual, exceptions

    def _pace_of_host(self, host: str) -> Pace:
        try:
            return self._pace(self.domains.for_url(f"http://{host}/"), host)
        except ValueError:  # a slot can have any name
            return self._pace(self.domains.default, host)

    def _grouping(self, site: DomainRules) -> urls.Grouping:
        if site.group_by_domain is None:
            return self.grouping
        return "domain" if site.group_by_domain else "hostname"

    def _pace(self, site: DomainRules, group: str) -> Pace:
        slot = self.slots.get(group, {})
        delay_ms = round(slot["delay"] * 1000) if "delay" in slot else self.delay_ms
        if site.delay_seconds is not None:
            delay_ms = round(site.delay_seconds * 1000)
        cap = int(slot.get("concurrency", self.cap))
        return Pace(delay_ms, site.concurrency or cap, site.burst or self.burst)


_SLOT_KEYS: Final = ("delay", "concurrency", "jitter", "randomize_delay", "throttle")  # the last three are Scrapy's
_DELAYS, _CAPS = config.bounds("DOWNLOAD_DELAY"), config.bounds("CONCURRENT_REQUESTS_PER_DOMAIN")


def _slots(settings: BaseSettings) -> dict[str, dict[str, float]]:
    return {name: _slot(name, slot) for name, slot in config.mapping(settings, "DOWNLOAD_SLOTS").items()}


def _slot(name: str, slot: Any) -> dict[str, float]:
    read: dict[str, float] = {}
    try:
        if "delay" in slot:
            read["delay"] = config.number(slot, "delay", *_DELAYS)
        if "concurrency" in slot:
            read["concurrency"] = config.integer(slot, "concurrency", *_CAPS)
        unknown = [key for key in slot if key not in _SLOT_KEYS]
    except (ConfigError, TypeError, AttributeError):
        delays, caps = ("{} to {}".format(*bounds) for bounds in (_DELAYS, _CAPS))
        allowed = f"a dict with delay ({delays} seconds), concurrency ({caps}), or both"
        raise ConfigError(f"DOWNLOAD_SLOTS[{name!r}]", slot, allowed) from None
    if unknown:  # a delay that is misspelt would not be kept
        raise ConfigError(f"DOWNLOAD_SLOTS[{name!r}]", slot, f"delay, concurrency, or both, and no {unknown[0]!r}")
    return read
