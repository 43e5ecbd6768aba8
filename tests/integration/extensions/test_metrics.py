"""Metrics and probes of a real crawl, read over HTTP."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from crawler.embedded.service import VALKEY
from tests.integration.extensions.visiting import Samples, arguments, crawl, eventually, get, samples, start, until
from tests.prometheus import check_metrics
from tests.servers import ScrapyRunner, Server
from tests.sites import Page, Site

LABELS = {
    *("exception", "field", "how", "issue", "le", "level", "outcome", "pool", "provider", "reason", "result", "state"),
    *("tier", "type", "vendor"),
}
REFUSED = ("shoal_requests_total", ("DownloadConnectionRefusedError",))


def test_a_crawl_is_counted(scrapy_run: ScrapyRunner) -> None:
    hold = threading.Event()
    pages = {"/1": Page(), "/2": Page(), "/break": Page(), "/slow": Page(hold=hold)}
    with Site(pages) as site, socket.socket() as refusing:
        refusing.bind(("127.0.0.1", 0))
        refused = f"http://127.0.0.1:{refusing.getsockname()[1]}/"
        before = time.time()
        urls = [*map(site.url, pages), site.url("/missing"), refused]
        address = start(scrapy_run, urls, "RETRY_TIMES=1")
        found = eventually(address, _all_but_the_slow_one_done)
        assert found["shoal_requests_total", ("200",)] == 3
        assert found["shoal_requests_total", ("404",)] == 1
        assert list(_named(found, "shoal_retries_total").values()) == [1]
        assert found["shoal_first_byte_seconds_count", ()] == 4
        assert found["shoal_first_byte_seconds_bucket", ("+Inf",)] == 4
        assert 0 < found["shoal_first_byte_seconds_sum", ()] < 4 * 20
        assert before < found["shoal_last_progress_timestamp_seconds", ()] <= time.time()
        assert found["shoal_received_bytes_total", ()] > 400
        assert found["shoal_frontier_pushed_total", ()] == 6
        assert found["process_resident_memory_bytes", ()] > 20e6
        hold.set()


def _all_but_the_slow_one_done(found: Samples) -> bool:
    return (
        found["shoal_items_scraped_total", ()] == 3
        and found.get(("shoal_spider_exceptions_total", ("ValueError",))) == 1
        and found.get(REFUSED) == 2
        and found["shoal_worker_requests", ("downloading",)] == 1
    )


def _named(found: Samples, name: str) -> Samples:
    return {key: value for key, value in found.items() if key[0] == name}


def test_no_label_and_no_name_breaks_the_conventions(scrapy_run: ScrapyRunner) -> None:
    hold = threading.Event()
    with Site({"/": Page(hold=hold)}) as site:
        address = start(scrapy_run, [site.url()])
        eventually(address, _of_the_page)
        _, text = get(f"{address}/metrics")
        hold.set()
    check_metrics(text)
    ours = [family for family in text_string_to_metric_families(text) if family.name.startswith("shoal_")]
    assert len(ours) > 20
    for family in ours:
        assert re.fullmatch(r"[a-z][a-z0-9_]+", family.name)
        assert family.type in {"counter", "gauge", "histogram"}
        assert {label for sample in family.samples for label in sample.labels} <= LABELS
    assert "127.0.0.1" not in text
    assert "shoal_fleet" not in text, "the leader of `scrapy serve` says that, once"


def _of_the_page(found: Samples) -> bool:
    return (
        found["shoal_worker_requests", ("downloading",)] == 1
        and found.get(("shoal_tiers_requests_total", ("http",))) == 1
    )


def test_a_stuck_event_loop_is_reported_while_metrics_still_come(scrapy_run: ScrapyRunner) -> None:
    hold, release = threading.Event(), threading.Event()
    with Site({"/stick": Page(), "/release": Page(hold=release), "/": Page(hold=hold)}) as site:
        lags = ("HEALTH_MAX_LAG_SECONDS=1", "FRONTIER_HARD_CAP_SECONDS=3")
        address = start(scrapy_run, [site.url("/stick"), site.url()], *lags)
        words = r"VisitSpider\.parse \(spiders\.py:\d+\) has blocked the event loop for (\d+) s \(limit 3 s\)\n"
        assert until(f"{address}/readyz", 503, words), "it leases nothing"
        reason = re.fullmatch(words, until(f"{address}/healthz", 503, words))
        assert reason is not None
        assert int(reason[1]) >= 3, "alive until then"
        told = json.loads(until(f"{address}/readyz?verbose", 503))
        assert told["checks"]["event_loop"]["held_up_by"] == told["reason"] != ""
        assert samples(address)["shoal_event_loop_lag_seconds", ()] > 2
        release.set()
        assert until(f"{address}/healthz", 200) == "ok\n"
        assert until(f"{address}/readyz", 200) == "ok\n"
        hold.set()


def test_other_paths_name_the_right_ones(scrapy_run: ScrapyRunner) -> None:
    hold = threading.Event()
    with Site({"/": Page(hold=hold)}) as site:
        address = start(scrapy_run, [site.url()])
        assert get(f"{address}/") == (404, "try /metrics, /healthz, /readyz\n")
        hold.set()


def test_a_taken_port_stops_the_start_with_one_line(scrapy_run: ScrapyRunner) -> None:
    with socket.socket() as owner:
        owner.bind(("127.0.0.1", 0))
        owner.listen()
        port = owner.getsockname()[1]
        result = crawl(scrapy_run, ["http://127.0.0.1:1/"], f"METRICS_PORT={port}")
    assert result.returncode == 2
    assert f"METRICS_PORT = {port} is invalid: expected a free port" in result.stderr
    assert "Traceback" not in result.stderr


def test_it_can_be_switched_off_and_is_off_in_other_commands(scrapy_run: ScrapyRunner) -> None:
    with Site({"/": Page()}) as site:
        off = scrapy_run.run(*arguments([site.url()], "METRICS_PORT=-1"))
        fetch = scrapy_run.run("fetch", site.url())
    assert (off.returncode, fetch.returncode) == (0, 0)
    assert "'item_scraped_count': 1" in off.stderr
    assert "Metrics and probes" not in off.stderr + fetch.stderr


def test_a_worker_of_the_fleet_shows_its_leases_and_whether_redis_answers(
    scrapy_run: ScrapyRunner, tmp_path: Path
) -> None:
    server, hold = Server(VALKEY, tmp_path), threading.Event()
    scrapy_run.env["REDIS_URL"] = server.url
    with Site({"/": Page(hold=hold)}) as site:
        urls = [site.url("/"), *(site.url(f"/{number}") for number in range(20))]
        slow = ("DOWNLOAD_DELAY=30", "CONCURRENT_REQUESTS_PER_DOMAIN=1")
        address = start(scrapy_run, urls, *slow, spider="fleet")
        found = eventually(address, _all_queued_and_one_leased)
        assert found["shoal_frontier_away", ()] == 0
        assert get(f"{address}/readyz") == (200, "ok\n")
        status, body = get(f"{address}/readyz?verbose")
        told = json.loads(body)
        assert (status, told["ready"], told["reason"], told["spider"]) == (200, True, "", "fleet")
        assert told["worker"]
        assert [check["ok"] for check in told["checks"].values()] == [True] * 5
        assert set(told["holds"]) == {"leases", "buffered", "outbox"}
        server.kill()
        assert until(f"{address}/readyz", 503) == "Redis does not answer\n"
        told = json.loads(get(f"{address}/readyz?verbose")[1])
        assert (told["reason"], told["checks"]["redis"]) == ("Redis does not answer", {"ok": False})
        assert get(f"{address}/healthz") == (200, "ok\n")
        eventually(address, lambda found: found["shoal_frontier_away", ()] == 1)
        hold.set()


def _all_queued_and_one_leased(found: Samples) -> bool:
    return found["shoal_frontier_pushed_total", ()] == 21 and found.get(("shoal_worker_leases", ())) == 1
