"""What a log line says and what it hides."""

from __future__ import annotations

import json
import logging
import re
import string
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Response
from scrapy.logformatter import DOWNLOADERRORMSG_SHORT, SPIDERERRORMSG
from scrapy.settings import Settings
from scrapy.utils import log as scrapy_log

from crawler import current_request
from crawler.errors import AddressRefusedError
from crawler.extensions import logs
from crawler.extensions.logs import JsonFormatter, TextFormatter, request_id
from crawler.utils.masking import mask

REQUEST = Request("http://shop.example/p/1", meta={"request_id": "0:17"})


def _record(message: str, *args: Any, **more: Any) -> logging.LogRecord:
    record = logging.LogRecord("scrapy.core.engine", logging.INFO, __file__, 1, message, args, None)
    record.__dict__.update(more)
    return record


def _json(record: logging.LogRecord) -> dict[str, Any]:
    line = JsonFormatter().format(record)
    assert "\n" not in line
    fields: dict[str, Any] = json.loads(line)
    return fields


@pytest.mark.parametrize(
    "args",
    [
        (REQUEST,),
        ("GET", REQUEST),
        ({"request": REQUEST},),
        (Response(REQUEST.url, request=REQUEST),),
        ({"src": Response(REQUEST.url, request=REQUEST)},),
    ],
)
def test_a_line_about_a_request_carries_its_id(args: tuple[Any, ...]) -> None:
    message = "about it" if isinstance(args[0], dict) else "about %s" + " %s" * (len(args) - 1)
    fields = _json(_record(message, *args))
    assert fields["request_id"] == "0:17"
    assert fields["url"] == REQUEST.url
    assert TextFormatter("%(message)s").format(_record(message, *args)).startswith("[0:17] about")


def test_other_lines_carry_none() -> None:
    record = _record("Spider opened")
    assert set(_json(record)) == {"ts", "level", "logger", "event"}
    assert TextFormatter("%(levelname)s: %(message)s").format(record) == "INFO: Spider opened"


def test_a_request_without_an_id_gets_one_for_good() -> None:
    request = Request("http://shop.example/")
    first = request_id(request)
    assert re.fullmatch(r"[0-9a-f]{8}", first)
    assert request_id(request) == first
    assert request_id(request.replace(url="http://shop.example/moved")) == first
    assert request_id(Request("http://shop.example/")) != first


async def test_a_request_that_a_page_has_just_made_names_that_page() -> None:
    page = REQUEST.replace(meta={"request_id": "0:17", "run_id": "20260101-1"})
    current_request.note(page)
    fields = _json(_record("Filtered %s", Request("http://elsewhere.example/")))
    assert (fields["parent_id"], fields["run_id"]) == ("0:17", "20260101-1")
    assert fields["request_id"] != "0:17"
    fields = _json(_record("Retrying %s", Request("http://elsewhere.example/", meta={"request_id": "0:9"})))
    assert fields["request_id"] == "0:9"
    assert "parent_id" not in fields


async def test_what_is_given_with_a_line_goes_before_what_its_task_is_about() -> None:
    current_request.note(REQUEST)
    about = {"request_id": "1:3", "url": "http://me:pass@shop.example/"}
    fields = _json(_record("put back", about=about))
    assert (fields["request_id"], fields["url"], "host" in fields) == ("1:3", "http://***@shop.example/", False)
    assert TextFormatter("%(message)s").format(_record("put back", about={"request_id": "1:3"})) == "[1:3] put back"


@pytest.mark.parametrize("key", ["retry_times", "tier", "run_id", "shoal_parent_id", "request_id"])
def test_a_line_is_written_whatever_a_spider_keeps_under_our_keys(key: str) -> None:
    fields = _json(_record("about %s", Request("http://shop.example/", meta={key: object()})))
    assert fields["url"] == "http://shop.example/"
    assert fields["attempt"] == 1


def test_what_is_nested_too_deep_to_be_shown_ends_nobody_who_logs_it() -> None:
    """logging raises a RecursionError where the line is written: an item that was refused would not be kept."""
    item: list[Any] = []
    for _ in range(sys.getrecursionlimit()):
        item = [item]
    for formatter in (TextFormatter("%(message)s"), JsonFormatter()):
        for args in ((REQUEST, item), ({"on": REQUEST, "item": item},)):
            text = "refused: %(on)s %(item)s" if len(args) == 1 else "refused: %s %s"
            line = formatter.format(_record(text, *args))
            assert f"refused: {REQUEST} (nested too deep to be shown)" in line
            assert "0:17" in line


def test_a_json_line_has_its_traceback_inside() -> None:
    try:
        raise ValueError("no price")
    except ValueError:
        record = _record("Spider error processing %(request)s", {"request": REQUEST}, exc_info=sys.exc_info())
    fields = _json(record)
    assert fields["exception"].endswith("ValueError: no price")
    assert fields["ts"].endswith("+00:00")


@given(st.text())
def test_any_message_is_one_json_line(message: str) -> None:
    assert _json(_record("%s", message))["event"] == mask(message)


SECRET = st.text(string.ascii_letters + string.digits + "!$&()*+,;=:@-._~%", min_size=6)


@given(user=st.text(string.ascii_letters, max_size=5), password=SECRET)
def test_no_password_of_a_url_passes(user: str, password: str) -> None:
    line = f"connecting to redis://{user}:{password}@cache:6379/0, then http://shop.example/a@b"
    assert mask(line) == "connecting to redis://***@cache:6379/0, then http://shop.example/a@b"


@pytest.mark.parametrize(
    "text",
    [
        "mail shop@example.com about http://shop.example/",
        '{"url": "http://shop.example", "mail": "shop@example.com"}',
        "http://shop.example/@user and http://shop.example/?q=a@b",
        "GET http://shop.example/",
    ],
)
def test_what_is_no_password_stays(text: str) -> None:
    assert mask(text) == text


def test_a_token_without_a_user_is_hidden_too() -> None:
    assert mask("https://s3cr3t@host/ and 'mongodb://u:p@ss@db/'") == "https://***@host/ and 'mongodb://***@db/'"


def test_secrets_in_messages_tracebacks_and_urls_are_hidden() -> None:
    request = Request("http://me:pass@shop.example/")
    try:
        raise ValueError("cannot reach redis://:pass@cache")
    except ValueError:
        record = _record("Failed %s", request, exc_info=sys.exc_info())
    assert "pass@" not in JsonFormatter().format(record)
    assert "pass@" not in TextFormatter("%(message)s").format(record)


@pytest.mark.parametrize("as_json", [True, False])
def test_the_key_of_a_scraping_api_is_hidden_wherever_it_stands(as_json: bool) -> None:
    settings = Settings({"LOG_JSON": as_json, "API_KEYS": {"ACME": "a+secret/key", "NONE": "", "TINY": "e"}})
    made = logs.formatter(logging.NullHandler(), settings)
    request = Request("https://api.example/?key=a%2Bsecret%2Fkey&url=x")
    line = made.format(_record("%s is larger than expected, X-Key: %s", request, "a+secret/key"))
    assert "secret" not in line
    assert "https://api.example/?key=***&url=x" in line


def test_lines_below_the_level_are_not_even_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrapy_log, "_get_formatter", logs.formatter)
    for level, made in (("INFO", False), ("DEBUG", True)):
        scrapy_log.configure_logging({"LOG_LEVEL": level, "LOG_ENABLED": False})
        for name in ("scrapy.core.engine", "scrapy.core.scraper", "myproject.spiders"):
            assert logging.getLogger(name).isEnabledFor(logging.DEBUG) is made
            assert logging.getLogger(name).isEnabledFor(logging.INFO)
    scrapy_log._uninstall_scrapy_root_handler()


def test_scrapy_still_builds_its_handlers_formatter_where_we_replace_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrapy_log, "_get_formatter", scrapy_log._get_formatter)
    logs.LogAddon.update_pre_crawler_settings(Settings())
    for value, kind in (("True", JsonFormatter), ("False", TextFormatter), ("maybe", TextFormatter)):
        handler = scrapy_log._get_handler(Settings({"LOG_JSON": value}))
        assert type(handler.formatter) is kind


def test_debug_is_about_the_crawl_not_about_its_libraries() -> None:
    logging.getLogger("pymongo").setLevel(logging.NOTSET)
    logging.getLogger("redis").setLevel(logging.DEBUG)  # somebody wants to see it
    logs.formatter(logging.NullHandler(), Settings({"LOG_LEVEL": "DEBUG"}))
    command, connection = map(logging.getLogger, ("pymongo.command", "redis.asyncio.connection"))
    assert not command.isEnabledFor(logging.DEBUG)
    assert command.isEnabledFor(logging.INFO)
    assert connection.isEnabledFor(logging.DEBUG)
    assert logging.getLogger("scrapy.core.engine").isEnabledFor(logging.DEBUG)


def test_libraries_are_never_louder_than_the_crawl() -> None:
    logging.getLogger("pymongo").setLevel(logging.NOTSET)
    logs.formatter(logging.NullHandler(), Settings({"LOG_LEVEL": "ERROR"}))
    assert not logging.getLogger("pymongo.command").isEnabledFor(logging.WARNING)


def _failed(error: Exception, message: str) -> logging.LogRecord:
    try:
        raise error
    except type(error):
        record = _record(message, {"request": REQUEST})
        record.exc_info = sys.exc_info()
    return record


@pytest.mark.parametrize("error", [AddressRefusedError("it is private"), DownloadTimeoutError("it is private")])
def test_what_a_host_did_is_told_without_a_traceback(error: Exception) -> None:
    text = TextFormatter("%(message)s").format(_failed(error, DOWNLOADERRORMSG_SHORT))
    assert text == f"[0:17] Error downloading {REQUEST}\n{type(error).__name__}: it is private"
    told = _json(_failed(error, DOWNLOADERRORMSG_SHORT))
    assert told["exception"] == f"{type(error).__name__}: it is private"


@pytest.mark.parametrize(
    ("error", "message"),
    [(ValueError("a bug"), DOWNLOADERRORMSG_SHORT), (DownloadTimeoutError("in a callback"), SPIDERERRORMSG)],
)
def test_any_other_error_keeps_its_traceback(error: Exception, message: str) -> None:
    record = _failed(error, message.replace(" (referer: %(referer)s)", ""))
    assert "Traceback" in TextFormatter("%(message)s").format(record)
    assert "Traceback" in _json(record)["exception"]
