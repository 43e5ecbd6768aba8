"""What stops a fleet crawl before it begins."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from crawler import components
from crawler.errors import ConfigError
from crawler.handlers import guard_check
from tests.shipped import shipped

HANDLERS: dict[str, str | None] = components.DOWNLOAD_HANDLERS


def settings(**changed: Any) -> Settings:
    return shipped(**changed)


def test_the_projects_settings_are_guarded() -> None:
    guard_check.check(settings())
    used = {load_object(path) for path in HANDLERS.values() if path}
    assert {handler.guards_addresses for handler in used} == {True}


def test_a_scheme_that_is_off_needs_no_guard_and_the_others_do() -> None:
    guard_check.check(settings(DOWNLOAD_HANDLERS=HANDLERS | {"http": None}))
    unguarded = "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"
    with pytest.raises(ConfigError, match=r"DOWNLOAD_HANDLERS\['https'\]"):
        guard_check.check(settings(DOWNLOAD_HANDLERS=HANDLERS | {"http": None, "https": unguarded}))


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    "handler",
    [
        "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler",
        "scrapy.core.downloader.handlers._aiohttp.AiohttpDownloadHandler",
        "scrapy_download_handlers_incubator.CurlCffiDownloadHandler",
    ],
)
def test_a_handler_without_the_guard_is_refused_by_name(scheme: str, handler: str) -> None:
    with pytest.raises(ConfigError) as raised:
        guard_check.check(settings(DOWNLOAD_HANDLERS=HANDLERS | {scheme: handler}))
    advice = "without this line ours is used" if handler.startswith("scrapy.") else "docs/download.md"
    assert f"DOWNLOAD_HANDLERS['{scheme}'] = '{handler}'" in str(raised.value)
    assert f"guards_addresses = True` ({advice})" in str(raised.value)


def test_a_handler_given_as_a_class_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"HTTP11DownloadHandler.*without this line ours is used"):
        guard_check.check(settings(DOWNLOAD_HANDLERS=HANDLERS | {"http": HTTP11DownloadHandler}))


def test_a_handler_that_cannot_be_loaded_says_why() -> None:
    with pytest.raises(ConfigError, match=r"DOWNLOAD_HANDLERS.*No module named 'nowhere'"):
        guard_check.check(settings(DOWNLOAD_HANDLERS=HANDLERS | {"http": "nowhere.Handler"}))
    with pytest.raises(ConfigError, match=r"DOWNLOAD_HANDLERS\['http'\] = 5"):
        guard_check.check(settings(DOWNLOAD_HANDLERS=HANDLERS | {"http": 5}))


@pytest.mark.parametrize(
    "name", ["DOWNLOADER_CLIENT_TLS_CIPHERS", "DOWNLOAD_TLS_MAX_VERSION", "DOWNLOAD_TLS_MIN_VERSION"]
)
@pytest.mark.parametrize("value", ["nope", 5])
def test_what_openssl_does_not_have_is_named(name: str, value: object) -> None:
    with pytest.raises(
        ConfigError, match=rf"^{name} = .{value!r}. is invalid: expected TLSv1.2 or TLSv1.3, and OpenSSL"
    ):
        guard_check.check(settings(**{name: value}))


@pytest.mark.parametrize("scheme", ["file", "data", "ftp", "s3"])
def test_other_schemes_are_off(scheme: str) -> None:
    assert settings().getwithbase("DOWNLOAD_HANDLERS")[scheme] is None


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("GUARD_ALLOWED_NETWORKS", "localhost", "10.1.0.0/16"),
        ("GUARD_RESOLVE_PROXIED", "perhaps", "True or False"),
        ("DNSCACHE_SECONDS", -1, "0 to 86400"),
        ("DOWNLOAD_TIMEOUT", 0, "0.1 to 86400"),
        ("CONNECT_TIMEOUT_SECONDS", 0, "0.1 to 600"),
        ("DOWNLOAD_MAXSIZE", "big", "from 0"),
        ("DOWNLOAD_HEADERS_MAXSIZE", 10, "1024 to 16777216"),
        ("DOWNLOAD_HEADERS_MAXCOUNT", 0, "16 to 65536"),
        ("CONNECTION_IDLE_SECONDS", 0, "0.1 to 3600"),
        ("CONNECTION_IDLE_LIMIT", -1, "0 to 100000"),
        ("CONNECTION_IDLE_MB", 0, "1 to 100000"),
    ],
)
def test_a_setting_out_of_range_is_refused_by_name(name: str, value: object, allowed: str) -> None:
    with pytest.raises(ConfigError) as raised:
        guard_check.check(settings(**{name: value}))
    assert name in str(raised.value)
    assert allowed in str(raised.value)
