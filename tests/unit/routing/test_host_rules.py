"""Which group a request belongs to, and how that is to be treated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.settings import Settings

from crawler.errors import ConfigError
from crawler.policy.pace import pace_of
from crawler.routing.host_rules import HostRule, HostRules

URL = "https://www.shop.example.co.uk:8443/p/1"
SLOT = "a dict with delay (0 to 86400 seconds), concurrency (1 to 1000), or both"
DOMAINS = """
["example.co.uk"]
delay_seconds = 2.5
concurrency = 3
group_by_domain = true

["fast.example.co.uk"]
delay_seconds = 0
"""


@pytest.fixture
def domains(tmp_path: Path) -> Path:
    path = tmp_path / "domains.toml"
    path.touch()
    return path


def rule(domains: Path, url: str = URL, meta: dict[str, Any] | None = None, **settings: Any) -> HostRule:
    given = {"DOWNLOAD_DELAY": 0.5, "CONCURRENT_REQUESTS_PER_DOMAIN": 2, "POLITENESS_GROUP": "hostname"}
    given |= {"POLITENESS_BURST": 1, "DOMAINS_FILE": str(domains)}
    rules = HostRules.from_settings(Settings(given | settings))
    return rules.of(Request(url, meta=meta))


def test_a_host_is_its_name_without_port_and_case(domains: Path) -> None:
    assert rule(domains) == HostRule("www.shop.example.co.uk", 500, 2)
    assert rule(domains, "http://WWW.SHOP.example.co.uk./").group == "www.shop.example.co.uk"


def test_hosts_may_be_grouped_by_their_registrable_domain(domains: Path) -> None:
    assert rule(domains, POLITENESS_GROUP="domain").group == "example.co.uk"
    assert rule(domains, "http://127.0.0.2:8000/", POLITENESS_GROUP="domain").group == "127.0.0.2"


def test_download_slots_keep_their_meaning(domains: Path) -> None:
    slots = {"www.shop.example.co.uk": {"delay": 4, "concurrency": 7}, "mine": {"delay": 0}}
    assert rule(domains, DOWNLOAD_SLOTS=slots) == HostRule("www.shop.example.co.uk", 4000, 7)
    assert rule(domains, meta={"download_slot": "mine"}, DOWNLOAD_SLOTS=slots) == HostRule("mine", 0, 2)
    assert rule(domains, meta={"download_slot": "other"}, DOWNLOAD_SLOTS=slots) == HostRule("other", 500, 2)


def test_a_burst_is_of_a_site_or_of_all(domains: Path) -> None:
    domains.write_text('["shop.example.co.uk"]\nburst = 5\n')
    assert (rule(domains).burst, rule(domains, "http://other.example/").burst) == (5, 1)
    assert rule(domains, "http://other.example/", POLITENESS_BURST=3).burst == 3


def test_domains_toml_has_the_last_word(domains: Path) -> None:
    domains.write_text(DOMAINS)
    slots = {"example.co.uk": {"delay": 9, "concurrency": 9}}
    assert rule(domains, DOWNLOAD_SLOTS=slots) == HostRule("example.co.uk", 2500, 3)
    assert rule(domains, "http://fast.example.co.uk/") == HostRule("example.co.uk", 0, 3)
    assert rule(domains, "http://other.example/") == HostRule("other.example", 500, 2)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"DOWNLOAD_DELAY": -1}, "DOWNLOAD_DELAY = -1 is invalid: expected a number from 0 to 86400"),
        ({"DOWNLOAD_DELAY": 86_401}, "DOWNLOAD_DELAY = 86401 is invalid"),
        (
            {"CONCURRENT_REQUESTS_PER_DOMAIN": 0},
            "CONCURRENT_REQUESTS_PER_DOMAIN = 0 is invalid: expected a",
        ),
        (
            {"POLITENESS_GROUP": "planet"},
            "POLITENESS_GROUP = 'planet' is invalid: expected one of hostname, domain, ip",
        ),
        ({"POLITENESS_GROUP": "ip", "FRONTIER_SHARDS": 2}, "is invalid: expected hostname or domain with FRONTIER_"),
        ({"DOWNLOAD_SLOTS": {"a": {"delay": -1}}}, SLOT),
        ({"DOWNLOAD_SLOTS": {"a": {"concurrency": 0}}}, SLOT),
        ({"DOWNLOAD_SLOTS": {"a": {"delay": "slow"}}}, SLOT),
        ({"DOWNLOAD_SLOTS": {"a": {"concurrency": 1.5}}}, SLOT),
        ({"DOWNLOAD_SLOTS": {"a": 3}}, SLOT),
        ({"DOWNLOAD_SLOTS": {"a": "delay"}}, SLOT),
    ],
)
def test_a_bad_setting_is_named(domains: Path, settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError) as refused:
        rule(domains, **settings)
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        URL,
        "http://fast.example.co.uk/",
        "http://deep.fast.example.co.uk/",
        "http://other.example/",
        "http://slot.example/",
        "http://10.0.0.1:8080/",
        "http://[2001:db8::1]/",
        "http://localhost/",
    ],
)
@pytest.mark.parametrize("grouping", ["hostname", "domain"])
@pytest.mark.parametrize(
    "text", ["", DOMAINS, DOMAINS.replace("group_by_domain = true", ""), "[default]\ndelay_seconds = 7"]
)
def test_by_its_name_a_host_is_known_no_less_strictly_than_by_a_url(
    domains: Path, url: str, grouping: str, text: str
) -> None:
    domains.write_text(text)
    given = {"DOWNLOAD_DELAY": 0.5, "CONCURRENT_REQUESTS_PER_DOMAIN": 2, "POLITENESS_BURST": 3}
    slots = {"slot.example": {"delay": 4}, "example.co.uk": {"concurrency": 1}, "no host at all": {"delay": 1}}
    rules = HostRules.from_settings(
        Settings(given | {"POLITENESS_GROUP": grouping, "DOMAINS_FILE": str(domains), "DOWNLOAD_SLOTS": slots})
    )
    rule, named = rules.of(Request(url)), rules.by_name()
    pace = pace_of(rule.group, *named)
    assert pace.strictest(rule.pace) == pace
    if grouping == "hostname" and "group_by_domain" not in text:
        assert pace == rule.pace, "and no more"
    assert pace_of("no host at all", *named).delay_ms >= 1_000


PLATFORM = """
["a-shop.com"]
politeness_group = "platform"
delay_seconds = 2
["b.example.org"]
politeness_group = "platform"
delay_seconds = 5
concurrency = 1
["www.a-shop.com"]
delay_seconds = 3
"""


def test_hosts_of_several_domains_may_share_a_group_of_a_name(domains: Path) -> None:
    domains.write_text(PLATFORM)
    hosts = ("a-shop.com", "b.example.org", "x.b.example.org")
    assert {rule(domains, f"https://{host}/").group for host in hosts} == {"platform"}
    assert rule(domains, "https://www.a-shop.com/").group == "platform", "as the tables around it"
    assert rule(domains, "https://c.example/").group == "c.example"
    assert rule(domains, "https://a-shop.com/", meta={"download_slot": "mine"}).group == "mine"
    settings = {"DOWNLOAD_DELAY": 0.5, "CONCURRENT_REQUESTS_PER_DOMAIN": 2, "POLITENESS_GROUP": "hostname"}
    made = HostRules.from_settings(Settings(settings | {"POLITENESS_BURST": 1, "DOMAINS_FILE": str(domains)}))
    assert pace_of("platform", *made.by_name()) == (5_000, 1, 1)


@pytest.mark.parametrize(
    ("host", "group"),
    [
        ("b.example.org", "platform"),
        ("www.c.com", "c.com"),
        ("c.example", "c.example"),
        ("0x7f.1", "127.0.0.1"),
        ("::1", "::1"),
        ("platform", "platform"),
        ("slot.of.mine", "slot.of.mine"),
        ("no host", "no host"),
    ],
)
def test_the_group_of_a_host_that_a_person_names(domains: Path, host: str, group: str) -> None:
    domains.write_text(PLATFORM)
    given = {"DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 1, "POLITENESS_GROUP": "domain"}
    given |= {"POLITENESS_BURST": 1, "DOMAINS_FILE": str(domains), "DOWNLOAD_SLOTS": {"slot.of.mine": {"delay": 1}}}
    assert HostRules.from_settings(Settings(given)).group_of(host) == group


@pytest.mark.parametrize("name", ["Platform", "a-shop.com", "localhost", "", "x" * 64, 5])
def test_a_group_has_a_name_that_no_host_has(domains: Path, name: object) -> None:
    domains.write_text(f'["a-shop.com"]\npoliteness_group = {name!r}')
    with pytest.raises(ConfigError, match=r"line 2: \[a-shop.com\] politeness_group = .* without dots"):
        rule(domains)
