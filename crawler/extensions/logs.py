"""Log lines: each one about a request carries its `request_id`, none carries a password or the key of a scraping API,
and in production each is one JSON object on one line.

The id is the lease's, where the request was leased (`request.meta["request_id"]`), else a short random one. A line
has it when a request or a response is among its arguments, as in Scrapy's own lines, or when it is written while
a page is parsed and its items are stored. Known weakness: an errback's line has it only with the request among
its arguments, because Scrapy tells no middleware before it calls an errback.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, Self
from urllib.parse import quote

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils import log as scrapy_log

from crawler import config
from crawler.errors import ConfigError

# Everything between :// and the last @ before the host ends.
USER_INFORMATION = re.compile(r"(?<=://)[^\s/?#\"'<>\\]*@")

SHORTEST_KEY: Final = 6  # characters

# The id of the page that is being parsed, and the task that parses it: what this task's end leaves behind in the
# context of callbacks and timers it set up is not about this page any more.
_current: ContextVar[tuple[str, asyncio.Task[Any]] | None] = ContextVar("request_id", default=None)


class LogAddon:
    """Makes Scrapy's log handler use our formatters, from the first line on.

    Scrapy 2.19 has no setting for the formatter of a handler, and builds its handler anew for each crawl: hence the
    one private function replaced here, which a contract test guards.
    """

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:  # noqa: ARG003  # Scrapy's interface
        """Called before Scrapy installs its handler."""
        scrapy_log._get_formatter = formatter


class RequestIdMiddleware:
    """Spider middleware: lines written while a page is parsed and its items are stored carry the page's id."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Refuses a LOG_JSON that is neither True nor False; the handler, built too early to refuse, writes text."""
        config.boolean(crawler.settings, "LOG_JSON")
        return cls()

    def process_spider_input(self, response: Response) -> None:
        """Runs in the task that goes on to call the spider, so what this sets holds there and in its item tasks."""
        task = asyncio.current_task()
        if response.request is not None and task is not None:
            _current.set((request_id(response.request), task))


def request_id(request: Request) -> str:
    """The id of *request*, which gets one if it has none. Retries and redirects keep it."""
    if "request_id" not in request.meta:
        request.meta["request_id"] = secrets.token_hex(4)
    return str(request.meta["request_id"])


def mask(text: str, secrets: Sequence[str] = ()) -> str:
    """*text* without *secrets*, and without the user names, passwords and tokens that its URLs carry."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return USER_INFORMATION.sub("***@", text) if "@" in text else text


def api_keys(settings: BaseSettings) -> tuple[str, ...]:
    """API_KEYS as calls carry them; shorter than SHORTEST_KEY is none, and would hide what is no secret."""
    keys = [str(key) for key in settings.getdict("API_KEYS").values()]
    return tuple({form for key in keys if len(key) >= SHORTEST_KEY for form in (key, quote(key, safe=""))})


def formatter(handler: logging.Handler, settings: BaseSettings) -> logging.Formatter:  # noqa: ARG001  # Scrapy's
    """The formatter that LOG_JSON asks for.

    Scrapy has opened its loggers and the root's for every level when it calls this. They are put to LOG_LEVEL: a
    page would make several lines that no handler writes (Scrapy's own, and PyMongo's for each command).
    """
    for name in ("", "scrapy"):
        logging.getLogger(name).setLevel(settings.get("LOG_LEVEL"))
    try:
        as_json = config.boolean(settings, "LOG_JSON")
    except ConfigError:  # refused with one line when the crawl starts
        as_json = False
    keys, worker = api_keys(settings), _worker(settings)
    if as_json:
        return JsonFormatter(secrets=keys, worker=worker)
    return TextFormatter(settings["LOG_FORMAT"], settings["LOG_DATEFORMAT"], secrets=keys, worker=worker)


def _worker(settings: BaseSettings) -> str:
    """Its number among those of one supervisor (`scrapy crawl --workers`); empty without one."""
    try:
        return str(config.mapping(settings, "WORKER_PROCESS").get("number", ""))
    except ConfigError:  # refused when the crawl starts
        return ""


class _MaskingFormatter(logging.Formatter):
    def __init__(self, *how: Any, secrets: Sequence[str] = (), worker: str = "") -> None:
        super().__init__(*how)
        self._secrets = secrets
        self._worker = worker

    def _mask(self, text: str) -> str:
        return mask(text, self._secrets)


class TextFormatter(_MaskingFormatter):
    """LOG_FORMAT, with the message headed by `[request_id]`, and before it by the number of a supervised worker."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # logging's name
        """One line of LOG_FORMAT."""
        if found := _id_of(_request_of(record)):
            record.message = f"[{found}] {record.message}"
        if self._worker:
            record.message = f"[worker {self._worker}] {record.message}"
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        """The line, and the traceback if there is one."""
        return self._mask(super().format(record))


class JsonFormatter(_MaskingFormatter):
    """One object on one line: time (UTC), level, logger, message; where known worker, request_id, url ..."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        request = _request_of(record)
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self._mask(record.getMessage()),
            "worker": self._worker or None,
            "request_id": _id_of(request),
            "url": self._mask(request.url) if request else None,
            "spider": getattr(getattr(record, "spider", None), "name", None),
            "exception": self._mask(self.formatException(record.exc_info)) if record.exc_info else None,
        }
        return json.dumps({name: value for name, value in fields.items() if value is not None})


def _request_of(record: logging.LogRecord) -> Request | None:
    """The request that a line names among its arguments, itself or by its response."""
    arguments = record.args.values() if isinstance(record.args, Mapping) else record.args or ()
    for argument in arguments:
        if isinstance(argument, Request):
            return argument
        if isinstance(argument, Response) and argument.request is not None:
            return argument.request
    return None


def _id_of(request: Request | None) -> str | None:
    if request is not None:
        return request_id(request)
    current = _current.get()
    return current[0] if current and not current[1].done() else None
