"""From Scrapy stats to counts."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from crawler import stats as names
from crawler.metrics.stat_families import FAMILIES, MOST_FIELDS, MOST_VALUES, OTHER, Family, read


def _read(stats: Mapping[str, object]) -> dict[str, Family]:
    return {family.metric: family for family in read(stats)}


def test_every_stat_of_ours_is_exported_under_its_own_name() -> None:
    exported = {family.metric: (family.stats, family.label) for family in FAMILIES}
    assert exported["shoal_frontier_pushed"] == ((names.PUSHED,), "")
    assert exported["shoal_frontier_dead"] == ((names.BURIED,), "reason")
    assert exported["shoal_items"] == ((names.ITEMS,), "result")
    ours = {value for name, value in vars(names).items() if name.isupper()}
    assert ours < {stat for family in FAMILIES for stat in family.stats}


def test_metric_names_are_unique() -> None:
    assert len({family.metric for family in FAMILIES}) == len(FAMILIES)
    assert all(re.fullmatch(r"shoal(_[a-z]+)+", family.metric) for family in FAMILIES)


def test_what_was_never_counted_is_zero() -> None:
    families = _read({})
    assert families["shoal_frontier_pushed"].counts == {"": 0}
    assert families["shoal_requests"].counts == {}


def test_patterns_become_labels_and_parts_of_other_patterns_do_not() -> None:
    stats = {"items/new": 3, "items/issues/missing_title": 2, "items/rejected": 1}
    families = _read(stats)
    assert families["shoal_items"].counts == {"new": 3, "rejected": 1}
    assert families["shoal_items_issues"].counts == {"missing_title": 2}


def test_a_family_has_a_bounded_number_of_values() -> None:
    reasons = {f"frontier/dead/made_up_{number}": 2 for number in range(MOST_VALUES + 3)}
    fields = {f"items/present/field_{number}": 2 for number in range(MOST_FIELDS + 3)}
    families = _read(reasons | fields)
    for metric, most in (("shoal_frontier_dead", MOST_VALUES), ("shoal_items_present", MOST_FIELDS)):
        counts = families[metric].counts
        assert (len(counts), counts[OTHER]) == (most + 1, 6)


def test_what_proxies_do_is_counted_by_pool() -> None:
    families = _read({"proxy/requests/homes": 3, "proxy/cost/homes": 0.75})
    assert (families["shoal_proxy_requests"].label, families["shoal_proxy_requests"].counts) == ("pool", {"homes": 3})
    assert families["shoal_proxy_cost"].counts == {"homes": 0.75}


def test_statuses_and_errors_are_one_metric_by_outcome() -> None:
    stats = {
        "downloader/response_status_count/200": 5,
        "downloader/exception_type_count/scrapy.exceptions.DownloadTimeoutError": 2,
        "downloader/exception_type_count/builtins.TimeoutError": 1,
    }
    assert _read(stats)["shoal_requests"].counts == {"200": 5, "DownloadTimeoutError": 2, "TimeoutError": 1}


def test_statuses_that_sites_make_up_are_counted_by_their_class() -> None:
    stats = {f"downloader/response_status_count/{status}": 1 for status in (200, 520, 521, 999)}
    stats |= {"retry/reason_count/520 Unknown Status": 2, "retry/reason_count/503 Service Unavailable": 1}
    families = _read({**stats, "proxy/requests/600": 1})
    assert families["shoal_requests"].counts == {"200": 1, "5xx": 2, "9xx": 1}
    assert families["shoal_retries"].counts == {"5xx": 2, "503 Service Unavailable": 1}
    assert families["shoal_proxy_requests"].counts == {"600": 1}


def test_totals_that_scrapy_keeps_beside_their_parts_are_left_out() -> None:
    stats = {"spider_exceptions/count": 3, "spider_exceptions/KeyError": 3, "retry/reason_count/503 Busy": 1}
    families = _read(stats)
    assert families["shoal_spider_exceptions"].counts == {"KeyError": 3}
    assert families["shoal_retries"].counts == {"503 Busy": 1}


def test_only_what_may_go_down_is_a_gauge() -> None:
    assert [family.metric for family in FAMILIES if family.is_gauge] == [
        "shoal_storage_away",
        "shoal_storage_spool_bytes",
        "shoal_storage_spool_limit_bytes",
        "shoal_storage_spool_oldest_timestamp_seconds",
        "shoal_browser_memory_bytes",
        "shoal_archive_away",
    ]


@given(st.dictionaries(st.text(max_size=60), st.integers(min_value=0)))
def test_any_stats_can_be_read(stats: dict[str, object]) -> None:
    assert len(read(stats)) == len(FAMILIES)


def test_long_values_that_begin_alike_are_counted_apart() -> None:
    long = "p" * 120
    stats = {f"item_dropped_reasons_count/{long}{end}": count for end, count in (("", 1), ("a", 2), ("b", 3))}
    (family,) = [one for one in read(stats) if one.metric == "shoal_items_dropped"]
    assert sorted(family.counts.values()) == [1, 2, 3]
    assert family.counts[long] == 1
