"""What a worker tells its supervisor, also while a callback blocks its event loop."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from crawler.extensions import reports
from crawler.extensions.metrics import MetricsConfig
from crawler.extensions.reports import ReportsExtension


class Crawling:
    """A crawler that has counted nothing and has no endpoint."""

    @property
    def stats(self) -> Crawling:
        return self

    def get_value(self, name: str, default: int) -> int:
        return default

    def get_extension(self, kind: type) -> None:
        return None


async def test_a_stuck_loop_is_told_by_a_thread_and_a_spider_that_closes_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reports, "EVERY_SECONDS", 0.01)
    monkeypatch.setattr("crawler.extensions.health.WorkerHealth.stuck", lambda self: "parse blocks the loop")
    pipe, end = os.pipe()
    with os.fdopen(pipe) as told:
        made: Any = ReportsExtension
        extension = made(Crawling(), end, MetricsConfig("", -1, max_lag_seconds=60, callback_seconds=900))
        extension._opened()
        assert json.loads(told.readline()) == {"stuck": "parse blocks the loop"}, "no task has run yet"
        await extension._closed(None, "finished")
        os.close(end)
        lines = [json.loads(line) for line in told]
    [last] = [line for line in lines if "counts" in line]
    assert (last["reason"], last["silence"]) == ("finished", 900.05)
