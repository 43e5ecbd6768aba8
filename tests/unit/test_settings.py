"""The settings: documented, in range, and read where defaults.py says they are."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from scrapy.settings import Settings, default_settings

from crawler import config, defaults, urls
from crawler.errors import ConfigError
from crawler.frontier import messages
from crawler.policy.rules import scope_values
from crawler.startup.settings_check import check_settings
from tests.shipped import shipped

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def base(**changed: object) -> Settings:
    return shipped(**changed)


def test_the_settings_page_says_what_the_defaults_say() -> None:
    table = module(ROOT / "docs" / "settings_table.py")
    assert table.TARGET.read_text(encoding="utf-8") == table.page(), "make docs"


def test_the_linter_knows_each_setting() -> None:
    known = module(ROOT / "docs" / "known_settings.py")
    written = known.TARGET.read_text(encoding="utf-8")
    ours = {name for name in vars(defaults) if name.isupper() and not hasattr(default_settings, name)}
    assert written == known.page(), "make docs"
    assert ours - set(tomllib.loads(written)["tool"]["scrapy-lint"]["known-settings"]) == set()


def test_each_row_of_the_settings_page_is_complete_in_itself() -> None:
    rows = [line.split(" | ") for line in PAGE.splitlines() if "| `" in line]
    meanings = {row[0].strip("| `"): row[-1].strip(" |") for row in rows}
    assert len(meanings) > 100
    assert [name for name, meaning in meanings.items() if len(meaning.split()) < 4 or "as above" in meaning] == []


def test_each_row_names_files_that_read_the_setting() -> None:
    wrong: list[str] = []
    for row in PAGE.splitlines():
        if match := re.match(r"\| `(\w+)` \|.*Readers?: ([^|]+) \|$", row):
            name, readers = match[1], match[2].split(", ")
            wrong += [f"{name}: {one}" for one in readers if one != "Scrapy" and name not in source(one.strip())]
    assert wrong == []


def source(place: str) -> str:
    """The file, or all files of the room, that a row names."""
    path = ROOT / "crawler" / place
    return "".join(one.read_text(encoding="utf-8") for one in (path.rglob("*.py") if path.is_dir() else [path]))


def test_the_defaults_are_in_range() -> None:
    check_settings(base())
    assert base().getbool("ROBOTSTXT_OBEY")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("DOWNLOAD_SLOTS", {"a": {"concurrency": 0}}, "concurrency (1 to 1000)"),
        ("DOWNLOAD_SLOTS", {"a": {"delay": -1}}, "delay (0 to 86400 seconds)"),
        ("DOWNLOAD_SLOTS", {"a": 5}, "a dict"),
        ("DOWNLOAD_SLOTS", {"a": {"delays": 30}}, "no 'delays'"),
        ("FRONTIER_BREAKER_SECONDS", 3_600, "at most FRONTIER_BREAKER_MAX_SECONDS"),
        ("ROBOTSTXT_OBEY", None, "True or False: None switches it off"),
        ("DOWNLOAD_VERIFY_CERTIFICATES", None, "True or False: None switches it off"),
        ("SHOAL_STORE", None, "True or False: None switches it off"),
        ("REDIS_START_URLS_AS_SET", "maybe", "True or False"),
        ("BUDGET", {"requests": -1}, "0 to 1000000000000"),
        ("BUDGET", {"hours": "8-17"}, "22:00-06:00"),
        ("BUDGET", {"time_zone": "Mars"}, "Europe/Berlin"),
        ("SCOPE", {"depth": -1}, "0 to 100000"),
        ("SCOPE", {"include": "("}, "RE2"),
        ("TIER", "", "http, browser, api"),
        ("TIER", "http,ftp", "http, browser, api"),
        ("TIERS_SERVED", "all", "http, browser, api"),
        ("TIER_TERM_SECONDS", 700_000, "at most TIER_TERM_MAX_SECONDS"),
        ("TIER_DAILY_REQUESTS", {"http": 5}, "browser or api"),
        ("TIER_DAILY_REQUESTS", {"browser": -1}, "browser or api"),
        ("TIER_DAILY_COST", {"api": "much"}, "browser or api"),
        ("POLITENESS_GROUP", "continent", "one of hostname, domain, ip"),
        ("POLITENESS_CDN_NETWORKS", "198.51.100.7/24", "networks such as"),
        ("GUARD_ALLOWED_NETWORKS", "127.0.0.1/8", "separated by commas (127.0.0.1/8 has host bits set)"),
        ("DOMAINS_FILE", "/nowhere/domains.toml", ""),
        ("ARCHIVE_PAGES", "some", "one of all, changed, failed, none"),
        ("ARCHIVE_URI", "ftp://a", "s3://bucket/prefix"),
        ("RUN_WEBHOOK_URL", "mailto:me@shop.example", "an http or https URL"),
        ("ITEM_FATAL_ISSUES", "no_such", "only names of"),
        ("LOG_JSON", "maybe", "True or False"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(name: str, value: object, allowed: str) -> None:
    with pytest.raises(ConfigError) as error:
        check_settings(base(**{name: value}))
    assert name in str(error.value)
    assert allowed in str(error.value)


@pytest.mark.parametrize("name", config.NUMBERS)
def test_a_number_is_refused_outside_the_range_that_its_row_states(name: str) -> None:
    kind, low, high = config.NUMBERS[name]
    stated = f"from {low} to {high}"
    assert [value for value in (low, high) if refusal(name, value).endswith(stated)] == []
    assert [value for value in (low - 1, high + 1, "soon") if not refusal(name, value).endswith(stated)] == []
    assert refusal(name, low + 0.5).endswith(f"an integer {stated}") is (kind is int)
    assert re.search(rf"^\| `{name}` \| `.+` \({low:,} to {high:,}\) \| ", PAGE, re.MULTILINE)


def refusal(name: str, value: object) -> str:
    """What a start of `crawl` expects of that setting instead; empty if that value will do."""
    try:
        check_settings(base(**{name: value}))
    except ConfigError as error:
        return error.expected
    return ""


def test_every_number_has_a_range() -> None:
    numbers = {name for name, value in vars(defaults).items() if name.isupper() and type(value) in {int, float}}
    assert numbers == set(config.NUMBERS)


def test_limits_that_two_places_have_are_the_same() -> None:
    assert defaults.URLLENGTH_LIMIT == urls.MAX_URL_LENGTH
    assert messages.MAX_PAGES == scope_values.MOST_PAGES


def test_each_number_is_read_as_what_it_is() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "crawler").rglob("*.py"))
    kinds = {"integer": int, "number": float, "_ms": float}
    read = {(name, kinds[how]) for how, name in re.findall(r"\b(integer|number|_ms)\([\w.]+, \"(\w+)\"\)", code)}
    elsewhere = {"RETRY_BASE_SECONDS", "RETRY_CAP_SECONDS"}  # by RetryPolicy
    elsewhere |= {"CONCURRENT_ITEMS", "RETRY_PRIORITY_ADJUST", "URLLENGTH_LIMIT"}  # by Scrapy
    assert read == {(name, kind) for name, (kind, *_) in config.NUMBERS.items() if name not in elsewhere}


def test_what_stores_nothing_reads_no_settings_of_a_store() -> None:
    check_settings(base(ARCHIVE_PAGES="some", SHOAL_STORE=False))


def test_a_silent_name_server_is_told_from_a_silent_host() -> None:
    """A robots.txt that does not arrive in time is unreachable for the whole fleet; a name is so for one worker."""
    assert 0 < defaults.DNS_TIMEOUT < defaults.ROBOTSTXT_TIMEOUT_SECONDS


def test_a_pod_never_starts_servers_of_its_own() -> None:
    settings = shipped("settings.production")
    assert settings["EMBEDDED_DATA_DIR"] == ""
