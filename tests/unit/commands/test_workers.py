"""`scrapy crawl --workers`: how many, and which metrics they have in common."""

from __future__ import annotations

import argparse

import pytest
from scrapy.settings import Settings

from crawler.commands import workers
from crawler.commands.workers import WORKERS_MAX, number_of_workers
from crawler.errors import ConfigError
from crawler.extensions.fleet_metrics import merged
from crawler.worker.feeds import check_apart


def test_a_number_or_auto(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "usable_cores", lambda: 6)
    assert [number_of_workers(value) for value in ("1", "64", "auto")] == [1, 64, 6]
    monkeypatch.setattr(workers, "usable_cores", lambda: 256)
    assert number_of_workers("auto") == WORKERS_MAX


@pytest.mark.parametrize("value", ["0", "-1", "65", "1.5", "", " 2", "two", "٣", "1e1", "9" * 30, "AUTO"])
def test_anything_else_is_refused_by_name(value: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is invalid: expected an integer from 1 to 64, or 'auto'"):
        number_of_workers(value)


@pytest.mark.parametrize("uri", ["a.json", "-", "stdout:", "s3://bucket/%(time)s.json", "%(name)s-%(batch_id)d.csv"])
def test_a_feed_that_workers_share_is_refused(uri: str) -> None:
    check_apart(Settings({"FEEDS": {"%(worker)s.json": {"format": "json"}}}))
    with pytest.raises(ConfigError, match=r"%\(worker\)s in it"):
        check_apart(Settings({"FEEDS": {uri: {"format": "json"}}}))


TEXT = """# HELP shoal_requests_total Requests
# TYPE shoal_requests_total counter
shoal_requests_total{{outcome="200"}} {pages}
# HELP shoal_storage_spool_bytes Bytes
# TYPE shoal_storage_spool_bytes gauge
shoal_storage_spool_bytes {pages}
# HELP shoal_first_byte_seconds Latency
# TYPE shoal_first_byte_seconds histogram
shoal_first_byte_seconds_bucket{{le="+Inf"}} {pages}
shoal_first_byte_seconds_count {pages}
shoal_first_byte_seconds_sum 1.5
"""


def test_figures_of_workers_are_labelled_and_those_of_their_disk_are_given_once() -> None:
    families = merged({"1": TEXT.format(pages=3), "2": TEXT.format(pages=4)})
    found = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }
    assert len(families) == 3
    assert found["shoal_storage_spool_bytes", ()] == 4
    assert found["shoal_requests_total", (("outcome", "200"), ("worker", "1"))] == 3
    assert found["shoal_requests_total", (("outcome", "200"), ("worker", "2"))] == 4
    assert found["shoal_first_byte_seconds_count", (("worker", "2"),)] == 4
    assert len(found) == 9
