"""Limits that are no settings are told as the code has them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from crawler import urls
from crawler.commands import schedule as schedule_command
from crawler.commands import workers
from crawler.frontier.inspection import eligible
from crawler.frontier.runs import coverage, pushed_run
from crawler.frontier.state import cookie_jars, domains, schedules, tiers
from crawler.frontier.state.workers import SILENT_MS
from crawler.handlers.api import calls
from crawler.metrics import fleet_collector
from crawler.middlewares.downloader import decompression
from crawler.policy import api_providers, webhooks
from crawler.policy import schedules as ticks
from crawler.policy.robots import responses as robots
from crawler.producers import schedule, sitemap_reader
from crawler.routing import codec, push_schema
from crawler.serve import schedules as leader
from crawler.storage.archive import archive
from crawler.storage.items import refused_changes, values
from crawler.storage.spool import fallback
from crawler.supervision import local_fleet
from crawler.worker import pauses, robots_fetcher
from crawler.worker.leases.requeue import PASS_ON_SECONDS
from crawler.worker.maintenance import MaintenanceConfig
from tests.shipped import shipped
from tests.zygote import PROJECT_DIR

DAY_S = 86_400
API: dict[str, Any] = {field.name: field.default for field in fields(api_providers.Provider)}
TOLD = {
    "README.md": (
        f"at most {urls.MAX_URL_LENGTH} characters",
        f"at most {push_schema.MAX_BODY // 1024} KiB",
    ),
    "docs/archive.md": (f"up to {archive.CLOSE_SECONDS:.0f} s for its last upload",),
    "docs/browser.md": (
        f"({calls.REST_SECONDS:.0f} s to {calls.REST_MAX_SECONDS / 60:.0f} min",
        "| {concurrency}, {per_second:.0f} |".format(**API),
        "| {timeout_seconds:.0f}, {poll_seconds:.0f}, {job_seconds:.0f} |".format(**API),
        "| {batch_size}, {batch_seconds:.0f} |".format(**API),
    ),
    "docs/download.md": (f"gzip ...`): {decompression.MOST_CODINGS} |",),
    "docs/hooks.md": (
        f"after {webhooks.FIRST_WAIT_MS // 1000} s, then after twice as long",
        f"{webhooks.MOST_TRIES} times",
    ),
    "docs/metrics.md": (
        f"the {domains.TOP} domains that answered most",
        f"the newest {fleet_collector.MOST_RUNS} runs",
        f"from {coverage.LEAST_ITEMS} items on",
        f"within {eligible.SOON_MS // 1000} s",
        f"Beyond {eligible.SAMPLED} hosts",
    ),
    "docs/operations.md": (
        f"has said nothing for {SILENT_MS // 1000} s",
        f"at most {workers.WORKERS_MAX})",
        f"restarted after {local_fleet.BACKOFF_SECONDS} s",
        f"none after {local_fleet.STEADY_SECONDS:.0f} s of work or {local_fleet.STEADY_PAGES} pages",
        "after {}, {}, {}, {} and {} s".format(*PASS_ON_SECONDS),
        f"until {pauses.MACHINE_SECONDS:.0f} s after the last failure",
        f"(at most {codec.MAX_BYTES // 1024} KB)",
        f"lease nothing for {pauses.FAILOVER_SECONDS:.0f} s",
    ),
    "docs/politeness.md": (
        f"the first {robots.MAX_BYTES // 1024} KiB",
        f"more than {robots_fetcher.DECLARED_MAX // 2**20} MiB",
    ),
    "docs/push.md": (
        f"at most {push_schema.MAX_LINE:,} characters",
        f"{sitemap_reader.MOST_PAGES:,} pages in a sitemap",
        f"within {pushed_run.CONTINUED_MS // 3_600_000} hours",
    ),
    "docs/runs.md": (f"to Redis every {MaintenanceConfig.from_settings(shipped()).stats:.0f} s",),
    "docs/schedules.md": (
        f"up to {schedule.MAX_URLS} URLs",
        f"1 s to {ticks.LONGEST_S // DAY_S} days",
        f"more than {ticks.LATE_S} s late",
        f"the first {schedule_command.CHECKED:,} lines",
        f"more than {leader.AHEAD_S // DAY_S} days ahead",
        f"after {leader.RETRY_SECONDS:.0f} s, then twice as long up to {leader.RETRY_MOST_SECONDS / 60:.0f} minutes",
        f"{schedules.MOST:,} schedules, the most there may be",
    ),
    "docs/spiders.md": (f"A jar takes {cookie_jars.MAX_COOKIES} cookies",),
    "docs/storage.md": (
        f"up to {refused_changes.WAITING_BYTES // 1024} KB of a product",
        f"for up to {fallback.CLOSE_SECONDS:.0f} s",
        f"more than {values.MAX_DEPTH} levels",
    ),
    "docs/tiers.md": (f"holds {tiers.MOST_HOSTS:,} hosts",),
}


@pytest.mark.parametrize("page", TOLD)
def test_a_limit_is_told_as_it_is(page: str) -> None:
    text = " ".join((PROJECT_DIR / page).read_text("utf-8").split())
    assert [words for words in TOLD[page] if words not in text] == []
