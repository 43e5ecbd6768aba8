"""How the stats of a run's workers add up."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from crawler.policy.run_stats import Row, Table, described


@pytest.mark.parametrize(
    ("name", "counted", "how"),
    [
        ("item_scraped_count", "sum", "sum"),
        ("request_depth_max", "max", "max"),
        ("mine/threshold", "last", "last"),
        ("memusage/max", "last", "max"),
        ("finish_reason", "last", ""),
        ("storage/spool/bytes", "last", ""),
        ("storage/spool/entries", "sum", "sum"),
        ("webhooks/delivered", "sum", ""),
        ("peak/today", "sum", "max"),
        ("noise/any", "sum", ""),
        ("x" * 201, "sum", ""),
    ],
)
def test_the_table_says_how_and_else_the_way_in_which_it_was_counted(name: str, counted: str, how: str) -> None:
    assert Table({"peak/*": "max", "noise/*": ""}).how(name, counted) == how  # type: ignore[arg-type]


def test_what_a_project_says_goes_first() -> None:
    assert Table({"memusage/max": "last", "webhooks/*": "sum"}).how("memusage/max", "max") == "last"
    assert Table({"webhooks/*": "sum"}).how("webhooks/failed", "sum") == "sum"


def test_rows_leave_out_what_says_nothing() -> None:
    taken: Any = {("a", "sum"): 2, ("b", "sum"): 0, ("c", "max"): 0, ("finish_reason", "sum"): 1, ("on", "sum"): True}
    kept = [Row("1", "a", "sum", 2), Row("1", "c", "max", 0), Row("1", "on", "sum", 1)]
    strange = (math.nan, math.inf, -math.inf, 10**400, "text", timedelta(1), Decimal(1), None, 1j)
    taken |= {(f"strange {value}"[:90], "last"): value for value in strange}
    taken |= {(name, "sum"): 1 for name in ("\ud800", "two\nlines", 7, ("a", "b"), None)}
    assert Table({}).rows("1", taken) == kept
    assert [repr(row.value) for row in kept] == ["2", "0", "1"]


def test_a_run_is_described_in_scrapys_words() -> None:
    said = described("finished", 0, 120_000, {"item_scraped_count": 6, "mine": 1})
    assert (said["finish_reason"], said["elapsed_time_seconds"], said["mine"]) == ("finished", 120.0, 1)
    assert said["finish_time"] == datetime(1970, 1, 1, 0, 2, tzinfo=UTC)
    assert (said["items_per_minute"], said["responses_per_minute"]) == (3.0, 0.0)
    assert described("cancelled", 5, 5, {})["items_per_minute"] is None
