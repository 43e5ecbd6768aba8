"""Log lines: each line about a request carries its `request_id`, no line shows a password or an API key, and in
production each is one JSON object.

The id is the lease's (`request.meta["request_id"]`), or a short random one for a request without a lease. A line has it
if a request or response is among its arguments, as in Scrapy's own lines, if it is given with the line (`about`), or if
the line is written while the request is downloaded, its page parsed or its items stored (`current_request.py`).
"""

from __future__ import annotations

import json
import logging
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Self
from urllib.parse import urlsplit

from scrapy import Request, exceptions, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.logformatter import DOWNLOADERRORMSG_LONG, DOWNLOADERRORMSG_SHORT
from scrapy.settings import BaseSettings
from scrapy.utils import log as scrapy_log

from crawler import config, current_request
from crawler.current_request import current
from crawler.errors import AddressRefusedError, ConfigError
from crawler.extensions.log_file import LogFile
from crawler.meta import PARENT_ID, RUN_ID, TIER, TRACEPARENT
from crawler.utils.masking import mask, secrets_of

# At DEBUG, Scrapy's default, PyMongo writes dozens of lines for each page and redis-py one for each connection.
_CHATTY: Final = ("pymongo", "redis")
# What a host or the network did, said in the message: a traceback through the client adds nothing.
_EXPLAINED: Final = (
    AddressRefusedError,
    exceptions.CannotResolveHostError,
    exceptions.DownloadCancelledError,
    exceptions.DownloadConnectionRefusedError,
    exceptions.DownloadFailedError,
    exceptions.DownloadTimeoutError,
    exceptions.ResponseDataLossError,
    exceptions.UnsupportedURLSchemeError,
)
_DOWNLOAD_ERRORS: Final = frozenset({DOWNLOADERRORMSG_LONG, DOWNLOADERRORMSG_SHORT})
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


@dataclass(slots=True)
class _Process:
    """What each line of this process has in common, once its spider is open; several crawls in one have nothing."""

    crawls: int = 0
    spider: str | None = None
    worker: str | None = None

    def opened(self, crawler: Crawler) -> None:
        """Another crawl has begun here."""
        self.crawls += 1
        from crawler.worker.lookup import worker_if_any  # with all of a worker, which `push` and others need not load

        worker = worker_if_any(crawler)
        self.spider, self.worker = (
            (crawler.spider.name, worker.name if worker else None)
            if self.crawls == 1 and crawler.spider
            else (None,) * 2
        )


_process = _Process()


class LogAddon:
    """Makes Scrapy's log handler use our formatters from the first line on.

    Scrapy 2.19 has no setting for a handler's formatter and builds a new handler for each crawl: hence the one private
    function replaced here, which a contract test guards.
    """

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:  # noqa: ARG003  # Scrapy's interface
        """Scrapy calls this before it installs its handler."""
        scrapy_log._get_formatter = formatter


class RequestIdMiddleware:
    """Spider middleware: log lines written while a page is parsed and its items are stored carry the page's id."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Refuses an invalid LOG_JSON; the handler is built too early to refuse it and writes text."""
        config.boolean(crawler.settings, "LOG_JSON")
        middleware = cls(crawler)
        crawler.signals.connect(middleware.spider_opened, signal=signals.spider_opened)
        return middleware

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    def spider_opened(self) -> None:
        """From here on each line names the spider and the worker."""
        _process.opened(self._crawler)

    def process_spider_input(self, response: Response) -> None:
        """Runs in the task that then calls the spider, so what it notes holds there and in its item tasks."""
        current_request.note(response.request)


def request_id(request: Request) -> str:
    """The id of *request*, which gets one if it has none; retries and redirects keep it."""
    if "request_id" not in request.meta:
        request.meta["request_id"] = secrets.token_hex(4)
    return str(request.meta["request_id"])


def formatter(handler: logging.Handler, settings: BaseSettings) -> logging.Formatter:
    """The formatter that LOG_JSON asks for.

    When Scrapy calls this it has enabled all levels on its loggers and the root. They are set to LOG_LEVEL: otherwise
    each page makes several lines that no handler writes (Scrapy's own, and PyMongo's for each command).
    """
    for name in ("", "scrapy"):
        logging.getLogger(name).setLevel(settings.get("LOG_LEVEL"))
    _quiet_libraries()
    if isinstance(handler, logging.FileHandler):
        LogFile(handler)
    try:
        as_json = config.boolean(settings, "LOG_JSON")
    except ConfigError:  # refused in one line when the crawl starts
        as_json = False
    keys, worker = secrets_of(settings), _worker(settings)
    if as_json:
        return JsonFormatter(secrets=keys, worker=worker)
    return TextFormatter(settings["LOG_FORMAT"], settings["LOG_DATEFORMAT"], secrets=keys, worker=worker)


def _quiet_libraries() -> None:
    """Those whose level nobody has set: LOG_LEVEL = DEBUG is about the crawl."""
    for library in map(logging.getLogger, _CHATTY):
        if library.level == logging.NOTSET and library.getEffectiveLevel() < logging.INFO:
            library.setLevel(logging.INFO)


def _worker(settings: BaseSettings) -> str:
    """The worker's number under its supervisor (`scrapy crawl --workers`); empty without one."""
    try:
        return str(config.mapping(settings, "WORKER_PROCESS").get("number", ""))
    except ConfigError:  # refused when the crawl starts
        return ""


class _MaskingFormatter(logging.Formatter):
    def __init__(self, *how: Any, secrets: Sequence[str] = (), worker: str = "") -> None:
        super().__init__(*how)
        self._secrets = secrets
        self._worker = worker

    def format(self, record: logging.LogRecord) -> str:
        """The line, without what is nested too deep to be shown: logging would raise that where the line is written,
        and an item that is refused would not be kept."""
        try:
            return self._line(record)
        except RecursionError:
            record.args = _shallow(record.args)
            return self._line(record)

    def _line(self, record: logging.LogRecord) -> str:
        return super().format(record)

    def _mask(self, text: str) -> str:
        return mask(text, self._secrets)

    def _traceback(self, record: logging.LogRecord) -> str | None:
        """What follows a line that was logged with an exception."""
        if not record.exc_info:
            return None
        error = record.exc_info[1]
        if record.msg in _DOWNLOAD_ERRORS and isinstance(error, _EXPLAINED):
            return f"{type(error).__name__}: {error}"
        return self.formatException(record.exc_info)


class TextFormatter(_MaskingFormatter):
    """LOG_FORMAT, with `[request_id]` before the message, and before that the number of a supervised worker."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # logging's name
        """One line of LOG_FORMAT."""
        about = _about(record)
        request = _request_of(record) or (None if about else current())
        if told := about.get("request_id") if request is None else request_id(request):
            record.message = f"[{told}] {record.message}"
        if self._worker:
            record.message = f"[worker {self._worker}] {record.message}"
        return super().formatMessage(record)

    def _line(self, record: logging.LogRecord) -> str:
        record.exc_text = record.exc_text or self._traceback(record)
        return self._mask(super()._line(record))


class JsonFormatter(_MaskingFormatter):
    """One object on one line, in the schema of docs/operations.md: ts (UTC), level, event, logger; spider and worker
    once the crawl is open; on lines about a request also run_id, request_id, parent_id, host, url, attempt and tier."""

    def _line(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            "ts": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "event": self._mask(record.getMessage()),
            "logger": record.name,
            "spider": getattr(getattr(record, "spider", None), "name", _process.spider),
            "worker": _process.worker,
            "process": self._worker or None,
            **self._of_the_request(record),
            "exception": self._mask(self._traceback(record) or "") or None,
        }
        told = {name: value for name, value in fields.items() if value is not None}
        return json.dumps(told, default=repr)  # a spider may keep objects under our keys of meta

    def _of_the_request(self, record: logging.LogRecord) -> dict[str, Any]:
        request = _request_of(record) or (None if _about(record) else current())
        if request is None:
            return {name: self._mask(v) if isinstance(v, str) else v for name, v in _about(record).items()}
        retries = request.meta.get("retry_times")
        return _lineage(request) | {
            "host": _host(request.url),
            "url": self._mask(request.url),
            "attempt": retries + 1 if isinstance(retries, int) else 1,
            "tier": request.meta.get(TIER),
        }


def _lineage(request: Request) -> dict[str, Any]:
    """Which run, which request, and whose callback made it. One that has no lease yet is a find of the page that is
    being parsed."""
    finder = current() if "request_id" not in request.meta else None
    of = request if finder is None else finder
    parent = request.meta.get(PARENT_ID) if finder is None else request_id(finder)
    ids = {"run_id": of.meta.get(RUN_ID), "request_id": request_id(request), "parent_id": parent}
    traced = _TRACEPARENT.fullmatch(str(request.meta.get(TRACEPARENT, "")))
    return ids | ({"trace_id": traced[1]} if traced else {})


def _about(record: logging.LogRecord) -> Mapping[str, Any]:
    """The fields that a line was given with `extra={"about": ...}`, as there is no Request."""
    about = getattr(record, "about", None)
    return about if isinstance(about, Mapping) else {}


def _shallow(args: Any) -> Any:
    """A line's arguments, without those that are nested too deep."""
    if isinstance(args, Mapping):
        return {name: _shown(one) for name, one in args.items()}
    return tuple(map(_shown, args or ()))


def _shown(argument: object) -> object:
    try:
        repr(argument)
    except RecursionError:
        return "(nested too deep to be shown)"
    return argument


def _host(url: str) -> str | None:
    """The host of *url*; None where it is so broken that it has none."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _request_of(record: logging.LogRecord) -> Request | None:
    """The request among a line's arguments, or that of the response among them."""
    arguments = record.args.values() if isinstance(record.args, Mapping) else record.args or ()
    for argument in arguments:
        if isinstance(argument, Request):
            return argument
        if isinstance(argument, Response) and argument.request is not None:
            return argument.request
    return None
