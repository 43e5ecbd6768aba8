"""`scrapy crawl --workers`: how many, what they cannot share, their supervisor."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rich.console import Console
from scrapy import Spider
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from crawler import config
from crawler.errors import shown
from crawler.extensions.fleet_metrics import FleetEndpoint
from crawler.extensions.metrics import MetricsConfig
from crawler.supervision.cores import usable_cores
from crawler.supervision.display import Display
from crawler.supervision.local_fleet import LocalFleet
from crawler.worker import feeds

WORKERS_MAX: Final = 64


def number_of_workers(value: str) -> int:
    """For an option's `type`: an integer, or `auto` for one per usable core."""
    if value == "auto":
        return min(usable_cores(), WORKERS_MAX)
    if not (value.isascii() and value.isdecimal() and 1 <= int(value[:9]) <= WORKERS_MAX):
        raise argparse.ArgumentTypeError(
            f"{shown(value)} is invalid: expected an integer from 1 to {WORKERS_MAX}, or 'auto'"
        )
    return int(value)


def check_shareable(settings: BaseSettings, spider: type[Spider], opts: argparse.Namespace, *, in_use: bool) -> None:
    """Raise UsageError or ConfigError for what several processes cannot do; *settings* are the spider's."""
    if not in_use:
        words = f"{spider.name} does not use the frontier (FRONTIER_ENABLED, SCHEDULER): each would crawl everything"
        raise UsageError(f"--workers: {words}")
    for option in ("pdb", "profile"):
        if getattr(opts, option):
            raise UsageError(f"--{option} works in one process only: leave --workers out")
    if opts.workers > 1:
        feeds.check_apart(settings)


def supervise(settings: BaseSettings, spider: str, opts: argparse.Namespace, after: str) -> int:
    """Run the workers until they have ended; returns the exit status. *after*: see `join`'s *only_after*."""
    log_file = settings.get("LOG_FILE")
    if log_file and not settings.getbool("LOG_FILE_APPEND"):
        Path(log_file).write_bytes(b"")  # once, and not by each worker
    display = Display(sys.stderr.buffer, _how(settings), log_is_here=settings.getbool("LOG_ENABLED") and not log_file)
    metrics = MetricsConfig.from_settings(settings)
    arguments = ["crawl", spider, *_options(opts, has_port=metrics.port >= 0)]
    fleet = LocalFleet(arguments, opts.workers, {"after": after}, display)
    if metrics.port < 0:
        return fleet.run()
    endpoint = metrics.serve(FleetEndpoint(fleet.endpoints, fleet.restarts).routes)
    display.note(
        logging.INFO, f"Metrics and probes of all {opts.workers} workers: {endpoint.url}/metrics, /healthz, /readyz"
    )
    try:
        return fleet.run()
    finally:
        endpoint.close()


def _how(settings: BaseSettings) -> str:
    """How progress is shown."""
    if Console(stderr=True).is_terminal:
        return "live"
    if not settings.getbool("LOG_ENABLED"):
        return ""
    return "log" if config.boolean(settings, "LOG_JSON") and not settings.get("LOG_FILE") else "plain"


def _options(opts: argparse.Namespace, *, has_port: bool) -> Iterator[str]:
    """The command-line options passed on to the workers: all but the supervisor's own."""
    yield from (part for name, value in opts.spargs.items() for part in ("-a", f"{name}={value}"))
    yield from (part for given in opts.set for part in ("-s", given))
    yield from (part for uri in opts.output or () for part in ("-o", uri))
    yield from (part for uri in opts.overwrite_output or () for part in ("-O", uri))
    yield from ("--logfile", opts.logfile) if opts.logfile else ()
    yield from ("--loglevel", opts.loglevel) if opts.loglevel else ()
    yield from ("--nolog",) if opts.nolog else ()
    yield from ("-s", "LOG_FILE_APPEND=True")
    if has_port:
        yield from ("-s", "METRICS_HOST=127.0.0.1", "-s", "METRICS_PORT=0")
