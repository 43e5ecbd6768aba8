"""Settings of Scrapy's of another kind than Scrapy reads are named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import scrapy
from scrapy.settings import Settings, default_settings

from crawler import config
from crawler.errors import ConfigError
from crawler.startup import scrapy_settings


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("AUTOTHROTTLE_DEBUG", ["x", [], {}, "", "yes", float("inf")], "True or False"),
        ("TELNETCONSOLE_ENABLED", ["x"], "True or False"),
        ("CLOSESPIDER_ITEMCOUNT", ["x", "", [], {"x": "y"}, "1.5", float("inf")], "an integer"),
        ("CLOSESPIDER_TIMEOUT", ["x", [], "nan", float("inf")], "a number"),
        ("LOGSTATS_INTERVAL", [-1, "x"], "a number from 0"),
        ("SCRAPER_SLOT_MAX_ACTIVE_SIZE", [-1], "an integer from 1"),
        ("DEPTH_LIMIT", [-1], "an integer from 0"),
        ("CLOSESPIDER_TIMEOUT", [-1], "a number from 0"),
        ("MEMUSAGE_LIMIT_MB", [-1], "an integer from 0"),
        ("RETRY_GIVE_UP_LOG_LEVEL", ["loud", None, [], 1.5], "a level such as WARNING"),  # it was retried for ever
        ("DEFAULT_DROPITEM_LOG_LEVEL", ["loud", None, [], 1.5], "a level such as WARNING"),
        ("ROBOTSTXT_USER_AGENT", [5, ["x"], "a\nb"], "a text of one line"),
        ("METAREFRESH_IGNORE_TAGS", [5, {"a": 1}], "a list"),
        ("JOBDIR", [5, {"a": 1}, ["x"]], "text"),
        ("RETRY_EXCEPTIONS", [5], "a list"),
        ("HTTPERROR_ALLOWED_CODES", ["x", 404, ["404", "x"]], "(a list|integers)"),
    ],
)
def test_another_kind_is_named(name: str, values: list[object], words: str) -> None:
    for value in values:
        with pytest.raises(ConfigError, match=f"^{name} = .* is invalid: expected {words}"):
            scrapy_settings.check(Settings({name: value}))


def build(**given: object) -> None:
    scrapy_settings.check_components(Settings(given))


@pytest.mark.parametrize("policy", ["x", 5, "scrapy.nope"])
def test_a_policy_for_referrers_that_there_is_not_is_named(policy: object) -> None:
    with pytest.raises(ConfigError, match=r"^REFERRER_POLICY = .* is invalid: expected a policy such as same-origin"):
        build(REFERRER_POLICY=policy)


@pytest.mark.parametrize(
    "name", ["LOG_FORMATTER", "REQUEST_FINGERPRINTER_CLASS", "ROBOTSTXT_PARSER", "RETRY_EXCEPTIONS"]
)
@pytest.mark.parametrize("value", ["x", "scrapy.nope", "nope.Nope", [5], {"a": 1}, ["x"]])
def test_a_class_that_there_is_not_is_named(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"^{name} = .* is invalid: expected a class, or its path"):
        build(**{name: value})


@pytest.mark.parametrize("name", ["FEED_EXPORTERS", "FEED_STORAGES"])
def test_what_writes_feeds_is_named_if_it_cannot_be_imported(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{name}\['x'\] = 'no.such.Class' is invalid: expected a class"):
        build(**{name: {"x": "no.such.Class"}, "FEEDS": {"items.csv": {"format": "csv"}}})
    build(**{name: {"x": "no.such.Class"}})  # which nobody loads


@pytest.mark.parametrize("name", ["LOG_FORMATTER", "REQUEST_FINGERPRINTER_CLASS", "ROBOTSTXT_PARSER", "STATS_CLASS"])
def test_a_class_that_scrapy_cannot_do_without_is_named(name: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name} = None is invalid: expected a class, or its path"):
        build(**{name: None})


@pytest.mark.parametrize("address", [5, {"a": 1}, "192.0.2.1", ("127.0.0.1",), ("127.0.0.1", "x"), "\0"])
def test_an_address_from_which_nothing_can_be_sent_is_named(address: object) -> None:
    with pytest.raises(ConfigError, match=r"^DOWNLOAD_BIND_ADDRESS = .* expected an address of this machine"):
        build(DOWNLOAD_BIND_ADDRESS=address)


def test_addresses_of_this_machine_pass() -> None:
    for address in (None, "", "127.0.0.1", ("127.0.0.2", 0)):
        given = Settings({"DOWNLOAD_BIND_ADDRESS": address})
        scrapy_settings.check_components(given)
        assert given["DOWNLOAD_BIND_ADDRESS"] == address


def test_credentials_need_a_domain() -> None:
    with pytest.raises(ConfigError, match=r"^HTTPAUTH_DOMAIN = .* expected the domain that HTTPAUTH_USER"):
        build(HTTPAUTH_USER="anna")
    build(HTTPAUTH_USER="anna", HTTPAUTH_DOMAIN=None)
    build(REFERRER_POLICY="same-origin")


def test_what_scrapy_reads_passes() -> None:
    scrapy_settings.check(Settings())
    given = {
        "AUTOTHROTTLE_DEBUG": "1",
        "CLOSESPIDER_ITEMCOUNT": "5",
        "CLOSESPIDER_TIMEOUT": "1.5",
        "DNS_TIMEOUT": "0.5",
        "DOWNLOAD_DELAY": 0.25,
        "FEED_EXPORT_INDENT": None,
        "HTTPERROR_ALLOWED_CODES": "404,410",
        "RETRY_GIVE_UP_LOG_LEVEL": "INFO",
        "DEFAULT_DROPITEM_LOG_LEVEL": 20,
        "ROBOTSTXT_USER_AGENT": None,
        "DEFAULT_REQUEST_HEADERS": '{"Accept": "text/html"}',
        "EXTENSIONS": {},
    }
    settings = Settings(given)
    scrapy_settings.check(settings)
    assert (settings.getint("CLOSESPIDER_ITEMCOUNT"), settings.getfloat("DNS_TIMEOUT")) == (5, 0.5)
    assert settings.getlist("HTTPERROR_ALLOWED_CODES") == ["404", "410"]


def test_what_scrapy_reads_as_a_number_may_have_a_fraction() -> None:
    """Of those whose default is an integer, though Scrapy reads a float, none is left to the kind of its default."""
    sources = [path.read_text("utf-8") for path in sorted(Path(scrapy.__file__).parent.rglob("*.py"))]
    read = {name for source in sources for name in re.findall(r'getfloat\(\s*"([A-Z_]+)"', source)}
    integers = {name for name, default in vars(default_settings).items() if type(default) is int}
    assert read & integers
    assert read & integers <= set(config.NUMBERS)


@pytest.mark.parametrize("value", ["a\nb", "a\r", "\0", 5])
def test_a_user_agent_that_cannot_be_sent_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match=r"^USER_AGENT = .*: expected a text of one line"):
        scrapy_settings.check(Settings({"USER_AGENT": value}))
    scrapy_settings.check(Settings({"USER_AGENT": "myshop/1.0 (+https://example.com/bot)"}))
