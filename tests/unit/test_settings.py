"""The settings: documented, in range, and read where defaults.py says they are."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from scrapy.settings import Settings, default_settings

from crawler import defaults
from crawler.errors import ConfigError
from crawler.startup import scrapy_settings
from crawler.startup.settings_check import check_settings
from tests.shipped import shipped

ROOT = Path(__file__).resolve().parents[2]


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
    rows = [line.split(" | ") for line in (ROOT / "docs" / "settings.md").read_text().splitlines() if "| `" in line]
    meanings = {row[0].strip("| `"): row[-1].strip(" |") for row in rows}
    assert len(meanings) > 100
    assert [name for name, meaning in meanings.items() if len(meaning.split()) < 4 or "as above" in meaning] == []


def test_each_row_names_files_that_read_the_setting() -> None:
    wrong: list[str] = []
    for row in (ROOT / "docs" / "settings.md").read_text(encoding="utf-8").splitlines():
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
        ("CONCURRENT_REQUESTS", 0, "1 to 10000"),
        ("CONCURRENT_REQUESTS_PER_DOMAIN", 0, "1 to 1000"),
        ("DOWNLOAD_DELAY", -1, "0 to 86400"),
        ("DOWNLOAD_DELAY", "soon", "0 to 86400"),
        ("DOWNLOAD_SLOTS", {"a": {"concurrency": 0}}, "concurrency (1 to 1000)"),
        ("DOWNLOAD_SLOTS", {"a": {"delay": -1}}, "delay (0 to 86400 seconds)"),
        ("DOWNLOAD_SLOTS", {"a": 5}, "a dict"),
        ("DOWNLOAD_SLOTS", {"a": {"delays": 30}}, "no 'delays'"),
        ("FRONTIER_BREAKER_FAULTS", -1, "0 to 1000"),
        ("FRONTIER_BREAKER_SECONDS", 0, "0.1 to 86400"),
        ("FRONTIER_BREAKER_SECONDS", 3_600, "at most FRONTIER_BREAKER_MAX_SECONDS"),
        ("FRONTIER_BREAKER_MAX_SECONDS", 1e6, "0.1 to 86400"),
        ("FRONTIER_CLOSE_SECONDS", 0, "1 to 3600"),
        ("FRONTIER_LEASE_SECONDS", 0, "1 to 86400"),
        ("FRONTIER_POLL_SECONDS", 0, "0.01 to 60"),
        ("FRONTIER_SLOW_HOST_SECONDS", 0, "0.1 to 3600"),
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
        ("TIER_FAILURES", 0, "1 to 500"),
        ("TIER_FAILURE_SHARE", 1.1, "0 to 1"),
        ("TIER_TRIAL_PAGES", 0, "1 to 1000"),
        ("TIER_TERM_SECONDS", 0, "0.1 to 2592000"),
        ("TIER_TERM_SECONDS", 700_000, "at most TIER_TERM_MAX_SECONDS"),
        ("TIER_TERM_MAX_SECONDS", 0, "0.1 to 31536000"),
        ("TIER_REFRESH_SECONDS", 0, "0.05 to 300"),
        ("TIER_DAILY_REQUESTS", {"http": 5}, "browser or api"),
        ("TIER_DAILY_REQUESTS", {"browser": -1}, "browser or api"),
        ("TIER_DAILY_COST", {"api": "much"}, "browser or api"),
        ("POLITENESS_BURST", 0, "1 to 1000"),
        ("POLITENESS_GROUP", "continent", "one of hostname, domain, ip"),
        ("POLITENESS_ADDRESS_SECONDS", 9, "10 to 86400"),
        ("POLITENESS_CDN_NETWORKS", "198.51.100.7/24", "networks such as"),
        ("GUARD_ALLOWED_NETWORKS", "127.0.0.1/8", "separated by commas (127.0.0.1/8 has host bits set)"),
        ("RETRY_BASE_SECONDS", -1, "0 to 3600"),
        ("RETRY_CAP_SECONDS", 1e9, "0 to 86400"),
        ("DOMAINS_FILE", "/nowhere/domains.toml", ""),
        ("ARCHIVE_PAGES", "some", "one of all, changed, failed, none"),
        ("ARCHIVE_URI", "ftp://a", "s3://bucket/prefix"),
        ("ATTEMPTS_DAYS", -1, "0 to "),
        ("STORAGE_BATCH_SIZE", 0, "1 to "),
        ("CONNECTION_IDLE_SECONDS", 0, "0.1 to 3600"),
        ("DNS_TIMEOUT", 0, "0.1 to 600"),
        ("DOWNLOAD_HEADERS_MAXSIZE", 1, "1024 to 16777216"),
        ("METRICS_PORT", 70_000, "-1 to 65535"),
        ("PARSE_MAX_MB", 1, "256 to 1000000"),
        ("PROXY_FAILURES", 0, "1 to 100"),
        ("ROBOTSTXT_TIMEOUT_SECONDS", 0, "1 to 600"),
        ("RUN_WEBHOOK_URL", "mailto:me@shop.example", "an http or https URL"),
        ("TRACES_RATIO", 2, "0 to 1"),
        ("ITEM_FATAL_ISSUES", "no_such", "only names of"),
        ("LOG_JSON", "maybe", "True or False"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(name: str, value: object, allowed: str) -> None:
    with pytest.raises(ConfigError) as error:
        check_settings(base(**{name: value}))
    assert name in str(error.value)
    assert allowed in str(error.value)


# Numbers that a start of `crawl` does not look at, by the beginning of their names.
LATER = (
    "BROWSER_",  # by the browser's handler: a Chromium may be missing where none is wanted
    *("FLEET_WORKERS", "METRICS_QUEUE_SECONDS", "SCALING_", "SERVE_"),  # by `scrapy serve`
    *("STORAGE_CONNECT_SECONDS", "STORAGE_REPLY_SECONDS"),  # by whoever asks MongoDB, right after this
    "RETRY_PRIORITY_ADJUST",  # Scrapy's, and has no range
)


NUMBERS = [name for name, value in vars(defaults).items() if type(value) in {int, float} and name.isupper()]


def refusal(name: str) -> ConfigError | None:
    """What a start of `crawl` says of that setting if it is far below all that may be."""
    settings = base(**{name: -1e300})
    try:
        check_settings(settings)
        scrapy_settings.check(settings)
    except ConfigError as error:
        return error
    return None


def test_every_number_that_a_worker_reads_is_looked_at_before_it_starts() -> None:
    assert len(NUMBERS) > 70
    assert [name for name in NUMBERS if refusal(name) is None and not name.startswith(LATER)] == []


def test_each_row_states_the_range_that_is_enforced() -> None:
    """Or names the setting that bounds it, or that there is no limit."""
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*)$", page, re.MULTILINE))
    found = {name: re.search(r"from (\S+) to (\S+)$", error.expected) for name in NUMBERS if (error := refusal(name))}
    ranges = {name: [*map(float, match.groups())] for name, match in found.items() if match}
    assert len(ranges) > 60
    bounded = re.compile(r"\b(?:[A-Z]+_[A-Z_]+ to|to [A-Z]+_[A-Z_]+)\b|= (?:no limit|never)")
    assert [name for name in ranges if not bounded.search(rows[name]) and {*ranges[name]} - numbers(rows[name])] == []


def numbers(row: str) -> set[float]:
    return {float(one.replace(",", "").rstrip(".")) for one in re.findall(r"-?\d[\d,.]*(?:e-?\d+)?", row)}


def test_what_stores_nothing_reads_no_settings_of_a_store() -> None:
    check_settings(base(ARCHIVE_PAGES="some", SHOAL_STORE=False))


def test_a_silent_name_server_is_told_from_a_silent_host() -> None:
    """A robots.txt that does not arrive in time is unreachable for the whole fleet; a name is so for one worker."""
    assert 0 < defaults.DNS_TIMEOUT < defaults.ROBOTSTXT_TIMEOUT_SECONDS


def test_a_pod_never_starts_servers_of_its_own() -> None:
    settings = shipped("settings.production")
    assert settings["EMBEDDED_DATA_DIR"] == ""
