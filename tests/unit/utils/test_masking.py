"""What is hidden from logs and errors, and what stays readable."""

from __future__ import annotations

import json

import pytest
from scrapy.settings import Settings

from crawler.frontier.server.shards import pack, unpack
from crawler.utils.masking import mask, secrets_of
from tests.effort import cpu_seconds
from tests.shipped import shipped


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer s3cret.word",
        "{b'Authorization': [b'Basic s3cret==']}",
        "headers={'Cookie': 'a=b; session=s3cret'}",
        "[(b'cookie', b'session=s3cret')]",
        "PROXY-AUTHORIZATION: Basic s3cret",
        "Set-Cookie: session=s3cret; Path=/",
        "x-api-key=s3cret",
        '{"X-Auth-Token": "s3cret"}',
        "https://s3cret@host/ and redis://me:s3cret@cache:6379/0",
        "status 302 leads to //me:s3cret@shop.example/a",
        "not an HTTP/1.x response: it begins with b'Basic dXNlcjpzs3cretQ'",  # a proxy that sends it back
        "<p>you sent: bearer eyJs3cretGci.eyJ-_9</p>",
    ],
)
def test_credentials_are_hidden_by_what_stands_around_them(text: str) -> None:
    hidden = mask(f"before {text}\nafter")
    assert "s3cret" not in hidden
    assert hidden.startswith("before ")
    assert hidden.endswith("\nafter")


@pytest.mark.parametrize(
    "text",
    [
        "Dropped 3 cookies of shop.example: too long or too many",
        "XPath error: Undefined namespace prefix in //media:content[@url] or //a:b[not(@c)]",
        "Sending cookies to <GET http://shop.example/>: session, cart",
        "no cookie was sent, nor an authorization header",
        "401: Basic Authentication is required, a bearer certificate will not do",
        "mail me@shop.example, see http://shop.example/a@b",
        "http://shop.example//@ann, http://shop.example//ann@b and http://shop.example:80/a//b",
        "Crawled (200) <GET http://shop.example/cookie-policy> (referer: None)",
    ],
)
def test_ordinary_lines_stay_as_they_are(text: str) -> None:
    assert mask(text) == text


def test_secrets_are_found_in_settings_wherever_they_stand() -> None:
    settings = {
        "API_KEYS": json.dumps({"ACME": "key-of-acme"}),
        "AWS_SECRET_ACCESS_KEY": "aws/s3cret+key",
        "AWS_ACCESS_KEY_ID": "AKIA-no-secret",
        "REDIS_PARAMS": {"password": "word-of-redis", "username": "shoal"},
        "MONGODB_URI": "mongodb://worker:p%40ss-word@db/shoal",
        "PROXY_POOLS": {"homes": {"proxies": ["http://me:of-a-proxy@127.0.0.1:1"]}},
        "ARCHIVE_OPTIONS": {"secret_access_key": "of-the-archive", "region": "eu-central-1"},
        "FRONTIER_KEY": "shoal-fleet",
        "REDIS_START_URLS_KEY": "%(name)s:start_urls",
        "MAIL_PASS": "tiny",
        "BROKEN": "{not json",
        "BOT_NAME": "shoal-fleet",
    }
    found = secrets_of(Settings(settings))
    named = {"key-of-acme", "word-of-redis", "of-a-proxy", "of-the-archive", "p%40ss-word", "p@ss-word"}
    assert set(found) >= named | {"aws/s3cret+key", "aws%2Fs3cret%2Bkey"}
    assert not {"AKIA-no-secret", "shoal-fleet", "shoal", "eu-central-1", "tiny"} & set(found)
    assert list(found) == sorted(found, key=len, reverse=True)
    assert mask("key-of-acme, aws/s3cret+key, p@ss-word", found) == "***, ***, ***"


def test_a_password_in_a_url_begins_at_the_first_colon_and_ends_at_the_last_at_sign() -> None:
    found = secrets_of(
        {"URLS": "redis://:of-redis@a:1, mongodb://me:its:long-word@b/, http://me:with@of-host@c/?a=b:c@d"}
    )
    assert set(found) == {"of-redis", "its:long-word", "its%3Along-word", "with@of-host", "with%40of-host"}


def test_no_setting_takes_long_to_look_through() -> None:
    values = ("://" + ":" * 40_000, "://a:" * 10_000, "[" * 40_000)
    assert cpu_seconds(lambda: secrets_of({value[:5]: value for value in values}), enough=0.5) < 0.5


def test_what_ships_has_no_secret() -> None:
    assert secrets_of(shipped("settings.production")) == ()


def test_lone_surrogates_become_escapes() -> None:
    """Redis, MongoDB and files take none: a page's error was the end of its worker."""
    assert mask("no price in \ud800 \u20ac") == "no price in \\ud800 \u20ac"
    assert unpack(pack({"error": "\ud800"})) == {b"error": b"\\ud800"}
