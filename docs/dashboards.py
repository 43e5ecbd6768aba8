"""Writes Grafana's dashboards, k8s/components/monitoring/dashboards/*.json: `make docs`.

A dashboard is a list of panels, each with its unit and what it shows. Change this file, never the JSON.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).resolve().parent.parent / "k8s/components/monitoring/dashboards"
RATE = "[$__rate_interval]"


@dataclass(frozen=True)
class Panel:
    """One chart: legend -> expression. *usual*: whether a plain crawl has anything to show there."""

    title: str
    unit: str
    lines: dict[str, str]
    words: str = ""
    usual: bool = True


@dataclass(frozen=True)
class Dashboard:
    """A page of panels; *variable* is chosen at its top, from the values of that label of *source*."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    variable: str = ""
    source: str = ""


def _quantiles(name: str, by: str = "") -> dict[str, str]:
    rate = f"sum by (le) (rate(shoal_{name}_bucket{by}{RATE}))"
    return {share: f"histogram_quantile({share}, {rate})" for share in ("0.5", "0.95", "0.99")}


FLEET = Dashboard(
    "fleet",
    "Shoal: fleet",
    (
        Panel(
            "Requests", "short", {"{{state}}": "sum by (state) (shoal_fleet_requests)"}, "In the frontier, by state."
        ),
        Panel(
            "Done", "reqps", {"{{spider}}": f"sum by (spider) (rate(shoal_fleet_done_total{RATE}))"}, "Pages a second."
        ),
        Panel(
            "Work that may be done now",
            "short",
            {
                "hosts": "max(shoal_fleet_eligible_hosts)",
                "requests": "max(shoal_fleet_eligible_requests)",
                "slots": "max(shoal_fleet_eligible_slots)",
            },
            "Hosts that may get a request within half a minute. More workers than slots find nothing to do.",
        ),
        Panel(
            "Waiting for a worker",
            "s",
            {"{{spider}}": "max by (spider) (shoal_fleet_oldest_waiting_seconds)"},
            "For how long the first due host, or the start URLs, have waited: it rises when there are too few workers.",
        ),
        Panel(
            "Workers",
            "short",
            {
                "alive {{spider}}": "sum by (spider) (shoal_fleet_workers)",
                "expected": "max(shoal_fleet_workers_expected)",
                "work for {{tier}}": "max by (tier) (shoal_fleet_workers_wanted)",
            },
            "Alive, configured, and as many as there is work for.",
        ),
        Panel(
            "Answers of the busiest domains",
            "reqps",
            {"{{outcome}}": f"sum by (outcome) (rate(shoal_domain_responses_total{RATE}))"},
        ),
        Panel(
            "Dead letters", "short", {"{{reason}}": "max by (reason) (shoal_fleet_dead_letters_by) > 0"}, usual=False
        ),
        Panel("Items", "reqps", {"{{result}}": f"sum by (result) (rate(shoal_items_total{RATE}))"}),
        Panel("Time to first byte", "s", _quantiles("first_byte_seconds")),
        Panel("Wait in the queue", "s", _quantiles("queue_wait_seconds")),
        Panel("Received", "Bps", {"bytes": f"sum(rate(shoal_received_bytes_total{RATE}))"}),
        Panel("Redis memory", "percentunit", {"of maxmemory": "max(shoal_fleet_redis_memory_ratio)"}),
        Panel(
            "Spent today",
            "short",
            {
                "{{tier}}": "max by (tier) (shoal_fleet_tier_spent_requests)",
                "{{tier}} budget": "max by (tier) (shoal_fleet_tier_budget_requests)",
            },
            "Requests of each tier since midnight (UTC), and what a day may cost.",
        ),
        Panel(
            "Schedules overdue", "s", {"{{schedule}}": "max by (schedule) (shoal_schedule_late_seconds)"}, usual=False
        ),
        Panel("Spool", "bytes", {"{{instance}}": "shoal_storage_spool_bytes"}, "Items that wait on disk for MongoDB."),
        Panel(
            "Stores away",
            "short",
            {"Redis": "sum(shoal_frontier_away)", "MongoDB": "sum(shoal_storage_away)"},
            "Workers that wait for a store.",
        ),
    ),
)
RUN = Dashboard(
    "run",
    "Shoal: run",
    (
        Panel("Requests", "short", {"{{state}}": 'max by (state) (shoal_run_requests{run="$run"})'}),
        Panel(
            "Progress",
            "percentunit",
            {
                "done": 'sum(max by (state) (shoal_run_requests{run="$run",state=~"done|dead|dropped"})) / '
                'sum(max by (state) (shoal_run_requests{run="$run",state!="gone"}))'
            },
            "Ended requests of all that are known by now.",
        ),
        Panel(
            "Pages",
            "reqps",
            {"done": f'sum(max by (run) (deriv(shoal_run_requests{{run="$run",state="done"}}{RATE})))'},
        ),
        Panel(
            "Time",
            "s",
            {
                "since it was opened": 'time() - max(shoal_run_opened_timestamp_seconds{run="$run"})',
                "since it ended": 'time() - (max(shoal_run_ended_timestamp_seconds{run="$run"}) > 0)',
            },
        ),
        Panel(
            "Fields of items",
            "percentunit",
            {"{{field}} {{place}} {{name}}": "max by (spider, name, field, place) (shoal_run_field_coverage_ratio)"},
            "Share of the items that have the field, of the newest run of a name and of the one before.",
            usual=False,
        ),
        Panel("Failures", "reqps", {"{{reason}}": f"sum by (reason) (rate(shoal_failures_total{RATE}))"}, usual=False),
        Panel(
            "Fields of all items",
            "percentunit",
            {
                "{{field}}": f"sum by (field) (rate(shoal_items_present_total{RATE})) / (sum by (field) "
                f"(rate(shoal_items_present_total{RATE})) + (sum by (field) (rate(shoal_items_missing_total{RATE})) "
                f"or 0 * sum by (field) (rate(shoal_items_present_total{RATE}))))"
            },
            usual=False,
        ),
        Panel("Duplicates", "reqps", {"{{spider}}": f"sum by (spider) (rate(shoal_fleet_duplicates_total{RATE}))"}),
    ),
    "run",
    "shoal_run_requests",
)
DOMAIN = Dashboard(
    "domain",
    "Shoal: domain",
    (
        Panel(
            "Busiest domains",
            "reqps",
            {"{{domain}}": f"topk(20, sum by (domain) (rate(shoal_domain_responses_total{RATE})))"},
        ),
        Panel(
            "Answers",
            "reqps",
            {"{{outcome}}": f'sum by (outcome) (rate(shoal_domain_responses_total{{domain="$domain"}}{RATE}))'},
        ),
        Panel(
            "Success",
            "percentunit",
            {
                "now": 'shoal:domain_success:ratio30m{domain="$domain"}',
                "its own average": 'avg_over_time(shoal:domain_success:ratio30m{domain="$domain"}[1d])',
            },
            "Under half of its own average is an alert.",
        ),
        Panel("Delay", "s", {"delay": 'max(shoal_domain_delay_seconds{domain="$domain"})'}, "As the pace has it now."),
        Panel("Latency", "s", {"mean": 'max(shoal_domain_latency_seconds{domain="$domain"})'}),
        Panel("In flight", "short", {"requests": 'max(shoal_domain_in_flight{domain="$domain"})'}),
        Panel("Circuit breaker", "short", {"openings": 'max(shoal_domain_breaker_openings{domain="$domain"})'}),
        Panel(
            "Worst domains",
            "percentunit",
            {"{{domain}}": "bottomk(10, shoal:domain_success:ratio30m)"},
            "Success over half an hour.",
        ),
    ),
    "domain",
    "shoal_domain_responses_total",
)
OF = '{instance="$instance"}'
WORKER = Dashboard(
    "worker",
    "Shoal: worker",
    (
        Panel("Attempts", "reqps", {"{{outcome}}": f"sum by (outcome) (rate(shoal_requests_total{OF}{RATE}))"}),
        Panel(
            "Requests in it", "short", {"{{state}}": f"shoal_worker_requests{OF}", "leases": f"shoal_worker_leases{OF}"}
        ),
        Panel("Outbox", "short", {"messages": f"shoal_worker_outbox{OF}"}, "What it has not told Redis yet."),
        Panel("Held up", "short", {"{{how}}": f"shoal_worker_held_up{OF}"}, "1 while it leases less than it could."),
        Panel("Event loop", "s", {"lag": f"shoal_event_loop_lag_seconds{OF}"}),
        Panel("Memory", "bytes", {"resident": f"process_resident_memory_bytes{OF}"}),
        Panel("CPU", "percentunit", {"of one core": f"rate(process_cpu_seconds_total{OF}{RATE})"}),
        Panel("Time to first byte", "s", _quantiles("first_byte_seconds", OF)),
        Panel("Body", "s", _quantiles("body_seconds", OF)),
        Panel("Parse", "s", _quantiles("parse_seconds", OF)),
        Panel("Store", "s", _quantiles("store_seconds", OF)),
        Panel("Items", "reqps", {"{{result}}": f"rate(shoal_items_total{OF}{RATE})"}),
        Panel("Retries", "reqps", {"{{reason}}": f"rate(shoal_retries_total{OF}{RATE})"}, usual=False),
        Panel("Exceptions", "reqps", {"{{exception}}": f"rate(shoal_spider_exceptions_total{OF}{RATE})"}, usual=False),
        Panel(
            "Spool",
            "bytes",
            {"used": f"shoal_storage_spool_bytes{OF}", "limit": f"shoal_storage_spool_limit_bytes{OF}"},
        ),
        Panel("Browser", "bytes", {"memory": f"shoal_browser_memory_bytes{OF}"}),
        Panel(
            "Cost",
            "short",
            {
                "proxies {{pool}}": f"increase(shoal_proxy_cost_total{OF}[1h])",
                "api {{provider}}": f"increase(shoal_api_cost_total{OF}[1h])",
            },
            "Of the last hour.",
            usual=False,
        ),
        Panel("Last answer", "s", {"ago": f"time() - shoal_last_progress_timestamp_seconds{OF}"}),
    ),
    "instance",
    "shoal_worker_leases",
)
DASHBOARDS = (FLEET, RUN, DOMAIN, WORKER)
WIDTH, HEIGHT = 8, 7  # of a panel, in Grafana's units: three in a row


def grafana(board: Dashboard) -> dict[str, Any]:
    """As Grafana imports it; the data source is chosen at its top."""
    return {
        "uid": f"shoal-{board.name}",
        "title": board.title,
        "tags": ["shoal"],
        "schemaVersion": 39,
        "editable": True,
        "time": {"from": "now-3h", "to": "now"},
        "refresh": "30s",
        "templating": {"list": _variables(board)},
        "links": [{"type": "dashboards", "tags": ["shoal"], "title": "Shoal", "asDropdown": True, "keepTime": True}],
        "panels": [_panel(number, panel) for number, panel in enumerate(board.panels)],
    }


def _variables(board: Dashboard) -> list[dict[str, Any]]:
    source: dict[str, Any] = {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
    if not board.variable:
        return [source]
    query = f"label_values({board.source}, {board.variable})"
    chosen = {
        "name": board.variable,
        "type": "query",
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "query": {"query": query, "refId": "values"},
        "refresh": 2,
        "sort": 2,
    }
    return [source, chosen]


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    place = {"x": number % 3 * WIDTH, "y": number // 3 * HEIGHT, "w": WIDTH, "h": HEIGHT}
    targets = [
        {"refId": chr(ord("A") + line), "expr": expr, "legendFormat": legend}
        for line, (legend, expr) in enumerate(panel.lines.items())
    ]
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": panel.title,
        "description": panel.words,
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "gridPos": place,
        "targets": targets,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
    }


def text(board: Dashboard) -> str:
    """The file's content."""
    return json.dumps(grafana(board), indent=1) + "\n"


if __name__ == "__main__":
    DIRECTORY.mkdir(exist_ok=True)
    for one in DASHBOARDS:
        (DIRECTORY / f"{one.name}.json").write_text(text(one))
