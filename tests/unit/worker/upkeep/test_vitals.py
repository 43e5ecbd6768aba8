"""Rates are of the last minute."""

from __future__ import annotations

from typing import Any

import pytest

from crawler import stats as names
from crawler.worker.upkeep.vitals import WINDOW_SECONDS, Vitals


class Stats:
    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def get_value(self, key: str, default: Any = None) -> Any:
        return self.values.get(key, default)


def test_rates_are_of_the_last_minute_and_fall_to_nothing() -> None:
    now, stats = [100.0], Stats()
    vitals = Vitals(stats, lambda: now[0])
    told = {}
    for step in range(60):
        now[0] += 5
        if step < 30:
            stats.values = {names.ACKED: 10 * (step + 1), "item_scraped_count": 5 * (step + 1)}
        told[step] = vitals.told()
    assert told[0]["pages_per_s"] == told[20]["pages_per_s"] == 2.0
    assert told[20]["items_per_s"] == 1.0
    assert told[59]["pages_per_s"] == 0
    assert told[59]["age_s"] == 300
    assert told[59]["memory_mb"] >= 0
    assert told[30 + round(WINDOW_SECONDS / 5)]["pages_per_s"] <= 0.2


def test_a_first_call_at_once_does_not_divide_by_nothing() -> None:
    stats = Stats()
    stats.values = {names.ACKED: 3}
    assert Vitals(stats, lambda: 1.0).told()["pages_per_s"] == 3.0


@pytest.mark.parametrize("value", ["many", None, [1], float("nan")])
def test_what_a_spider_has_made_of_a_count_ends_no_heartbeat(value: object) -> None:
    stats = Stats()
    stats.values = {"item_scraped_count": value, names.ACKED: value, names.STORE_AWAY: 1, names.SPOOL_BYTES: value}
    told = Vitals(stats, lambda: 1.0).told()
    assert (told["pages_per_s"], told["items_per_s"], told["spool_bytes"]) == (0, 0, 0)
