"""What each alert fires on and what it lets pass, as series that `promtool test rules` plays, one sample a minute.

A value is written as promtool has it: `1+2x30` begins at 1 and adds 2 thirty times. Limits and `for` have cases on both
sides, or the mutants of rules.py live.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Labels = Mapping[str, str]


@dataclass(frozen=True)
class Case:
    """At *at* minutes *alert* fires with these sets of labels, and no other."""

    alert: str
    words: str
    at: int
    series: Mapping[str, str]
    fires: tuple[Labels, ...] = ()
    severity: str = field(default="ticket")

    def group(self) -> dict[str, Any]:
        """As a test group of promtool."""
        named = [
            {"alertname": self.alert, "severity": self.severity, "alertstate": "firing", **one} for one in self.fires
        ]
        expected = [{"labels": _selector(labels), "value": 1} for labels in named]
        expression = f'ALERTS{{alertname="{self.alert}",alertstate="firing"}}'
        return {
            "interval": "1m",
            "name": f"{self.alert}: {self.words}",
            "input_series": [{"series": series, "values": values} for series, values in self.series.items()],
            "promql_expr_test": [{"expr": expression, "eval_time": f"{self.at}m", "exp_samples": expected}],
        }


def _selector(labels: Labels) -> str:
    return "ALERTS{" + ",".join(f'{name}="{value}"' for name, value in sorted(labels.items())) + "}"


def _fleet(name: str, labels: str = "") -> str:
    return f'{name}{{instance="serve-0"{"," if labels else ""}{labels}}}'


def _frontier(queued: str, done: str, accepted: str = "0x200") -> dict[str, str]:
    return {
        _fleet("shoal_fleet_requests", 'spider="s",state="queued"'): queued,
        _fleet("shoal_fleet_requests", 'spider="s",state="delayed"'): "0x200",
        _fleet("shoal_fleet_requests", 'spider="s",state="leased"'): "0+100000x200",
        _fleet("shoal_fleet_done_total", 'spider="s"'): done,
        _fleet("shoal_fleet_dropped_total", 'spider="s"'): "0x200",
    }


def _stalled(late: str, done: str) -> dict[str, str]:
    return {_fleet("shoal_fleet_oldest_waiting_seconds", 'spider="s"'): late, **_frontier("0x200", done)}


_DAMAGED = 'shoal_storage_spool_damaged_files_total{instance="w-0"}'


def _webhooks(failed: str, delivered: str) -> dict[str, str]:
    return {
        'shoal_webhooks_failed_total{instance="w-0"}': failed,
        'shoal_webhooks_delivered_total{instance="w-0"}': delivered,
    }


def _born(values: str, shard: int = 0, replica: int = 0) -> dict[str, str]:
    return {f'shoal_fleet_born_timestamp_seconds{{instance="serve-{replica}",shard="{shard}"}}': values}


def _domain(ok: str, blocked: str) -> dict[str, str]:
    of = 'domain="a.example",outcome='
    return {
        _fleet("shoal_domain_responses_total", of + '"ok"'): ok,
        _fleet("shoal_domain_responses_total", of + '"blocked"'): blocked,
    }


def _workers(alive: str | None, expected: str) -> dict[str, str]:
    told = {_fleet("shoal_fleet_workers", 'spider="s"'): alive} if alive else {}
    return {**told, _fleet("shoal_fleet_workers_expected"): expected}


def _scraped(*leases: str) -> dict[str, str]:
    return {f'shoal_worker_leases{{instance="w-{n}"}}': values for n, values in enumerate(leases)}


def _errors(reason: str, failures: str, requests: str) -> dict[str, str]:
    return {
        f'shoal_failures_total{{instance="w-0",reason="{reason}"}}': failures,
        'shoal_requests_total{instance="w-0",outcome="200"}': requests,
    }


def _exceptions(raised: str, pages: str) -> dict[str, str]:
    return {
        'shoal_spider_exceptions_total{instance="w-0",exception="KeyError"}': raised,
        'shoal_parse_seconds_count{instance="w-0"}': pages,
    }


def _dead(letters: str, done: str) -> dict[str, str]:
    return {_fleet("shoal_fleet_dead_letters"): letters, **_frontier("0x200", done)}


def _spool(used: str) -> dict[str, str]:
    return {
        'shoal_storage_spool_bytes{instance="w-0"}': used,
        'shoal_storage_spool_limit_bytes{instance="w-0"}': "1000x100",
    }


def _coverage(newest: str, before: str) -> dict[str, str]:
    of = 'spider="s",name="nightly",field="price",place='
    return {
        _fleet("shoal_run_field_coverage_ratio", of + '"newest"'): newest,
        _fleet("shoal_run_field_coverage_ratio", of + '"before"'): before,
    }


def _budget(spent: str, day: str) -> dict[str, str]:
    return {
        _fleet("shoal_budget_spent_ratio", 'budget="tier api",what="cost"'): spent,
        _fleet("shoal_budget_day_ratio", 'budget="tier api"'): day,
    }


_QUIET = _fleet("shoal_run_quiet_seconds", 'run="20261122-1",spider="s",name="nightly"')
IDLE = {"run": "20261122-1", "spider": "s", "name": "nightly"}
S, A = {"spider": "s"}, {"domain": "a.example"}
TIER = {"budget": "tier api", "what": "cost"}
RUN = {"spider": "s", "name": "nightly", "field": "price"}

BACKLOG = (
    Case("ShoalBacklogGrows", "20 a second come, 10 end", 100, _frontier("20000+1200x100", "0+600x100"), (S,)),
    Case("ShoalBacklogGrows", "9 a second come, 10 end", 100, _frontier("20000+540x100", "0+600x100")),
    Case("ShoalBacklogGrows", "a small backlog may grow", 100, _frontier("0+90x100", "0+30x100")),
    Case("ShoalBacklogGrows", "just large enough", 100, _frontier("8000+90x100", "0+30x100"), (S,)),
    Case("ShoalBacklogGrows", "a burst", 40, _frontier("20000x20 20000+12000x20", "0+600x100")),
    Case("ShoalBacklogGrows", "not for half an hour yet", 30, _frontier("20000+1200x100", "0+600x100")),
    Case("ShoalBacklogGrows", "for half an hour", 33, _frontier("20000+1200x100", "0+600x100"), (S,)),
    Case("ShoalBacklogGrows", "drained is not grown", 100, _frontier("200000-1200x100", "0+600x100")),
)
STALLED = (
    Case("ShoalStalled", "due for six minutes", 21, _stalled("0x9 0+60x30", "100x40"), (S,), "page"),
    Case("ShoalStalled", "due for not as long", 20, _stalled("0x9 0+60x30", "100x40"), severity="page"),
    Case("ShoalStalled", "always just short of it", 60, _stalled("290x80", "100x80"), severity="page"),
    Case("ShoalStalled", "just beyond it", 60, _stalled("310x80", "100x80"), (S,), "page"),
    Case(
        "ShoalStalled",
        "start URLs of a spider that has never crawled",
        60,
        {_fleet("shoal_fleet_oldest_waiting_seconds", 'spider="s"'): "310x80"},
        (S,),
        "page",
    ),
    Case("ShoalStalled", "one host is starved, others go on", 60, _stalled("900x80", "0+1x80"), severity="page"),
    Case(
        "ShoalStalled",
        "another spider goes on",
        60,
        {
            **_stalled("310x80", "100x80"),
            _fleet("shoal_fleet_oldest_waiting_seconds", 'spider="t"'): "0x80",
            _fleet("shoal_fleet_done_total", 'spider="t"'): "0+100x80",
            _fleet("shoal_fleet_dropped_total", 'spider="t"'): "0x80",
        },
        (S,),
        "page",
    ),
)
_LOST = _born("1000x20 _ 5000x90")
BORN = (
    Case("ShoalFrontierLost", "its data began anew", 22, _LOST, ({"shard": "0"},), "page"),
    Case("ShoalFrontierLost", "before", 20, _LOST, severity="page"),
    Case("ShoalFrontierLost", "told for an hour", 80, _LOST, ({"shard": "0"},), "page"),
    Case("ShoalFrontierLost", "and no longer", 82, _LOST, severity="page"),
    Case("ShoalFrontierLost", "a new fleet", 60, _born("_x10 5000x80"), severity="page"),
    Case("ShoalFrontierLost", "another leads", 60, _born("5000x20") | _born("_x22 5000x80", 0, 1), severity="page"),
    Case("ShoalFrontierLost", "a shard is used first", 60, _born("5000x80") | _born("_x9 9x80", 1), severity="page"),
)
DOMAIN = (
    Case("ShoalDomainFailing", "blocked after hours", 160, _domain("0+10x100 1000x60", "0x100 0+10x60"), (A,)),
    Case("ShoalDomainFailing", "blocked half the time", 160, _domain("0+10x100 1000+5x60", "0x100 0+5x60")),
    Case("ShoalDomainFailing", "a third of it left", 160, _domain("0+12x100 1200+4x60", "0x100 0+8x60"), (A,)),
    Case("ShoalDomainFailing", "it was always like that", 90, _domain("0+2x160", "0+8x160")),
    Case("ShoalDomainFailing", "too few answers", 160, _domain("0+1x100 100x60", "0x100 0+1x60")),
    Case("ShoalDomainFailing", "just enough", 160, _domain("0+2x100 200x60", "0x100 0+2x60"), (A,)),
    Case("ShoalDomainFailing", "for a moment only", 125, _domain("0+10x100 1000x60", "0x100 0+10x60")),
    Case("ShoalDomainFailing", "never a good one", 90, _domain("0x160", "0+10x160")),
)
WORKERS = (
    Case("ShoalWorkersMissing", "one of three", 20, _workers("3x9 2x30", "3x40"), ({},), "page"),
    Case("ShoalWorkersMissing", "not for long", 19, _workers("3x9 2x30", "3x40"), severity="page"),
    Case("ShoalWorkersMissing", "none is left", 20, _workers(None, "3x40"), ({},), "page"),
    Case("ShoalWorkersMissing", "as many as expected", 40, _workers("3x60", "3x60"), severity="page"),
    Case("ShoalWorkersMissing", "nobody says how many", 40, _workers("0x60", "0x60"), severity="page"),
    Case(
        "ShoalWorkersMissing",
        "of two spiders",
        40,
        _workers("1x60", "2x60") | {_fleet("shoal_fleet_workers", 'spider="t"'): "1x60"},
        severity="page",
    ),
)
ABSENT = (
    Case("ShoalMetricsAbsent", "no leader", 5, {_fleet("shoal_fleet_leader"): "0x20"}, ({},), "page"),
    Case("ShoalMetricsAbsent", "nothing at all", 5, {}, ({},), "page"),
    Case("ShoalMetricsAbsent", "not for long", 4, {}, severity="page"),
    Case(
        "ShoalMetricsAbsent",
        "one leads",
        15,
        {_fleet("shoal_fleet_leader"): "1x20", 'shoal_fleet_leader{instance="serve-1"}': "0x20"},
        severity="page",
    ),
    Case("ShoalWorkersNotScraped", "one of two", 15, _workers("2x40", "0x40") | _scraped("0x40"), ({},)),
    Case("ShoalWorkersNotScraped", "none", 15, _workers("1x40", "0x40"), ({},)),
    Case("ShoalWorkersNotScraped", "not for long", 14, _workers("1x40", "0x40")),
    Case("ShoalWorkersNotScraped", "all", 40, _workers("2x60", "0x60") | _scraped("0x60", "3x60")),
    Case("ShoalWorkersNotScraped", "one leaves", 40, _workers("1x60", "0x60") | _scraped("0x60", "3x60")),
)
ERRORS = (
    Case("ShoalErrors", "one in eight", 30, _errors("host_fault", "0+12x60", "0+96x60"), ({"reason": "host_fault"},)),
    Case("ShoalErrors", "one in twelve", 60, _errors("host_fault", "0+8x80", "0+96x80")),
    Case("ShoalErrors", "too few to tell", 60, _errors("host_fault", "0+6x80", "0+6x80")),
    Case("ShoalErrors", "just enough", 60, _errors("host_fault", "0+8x80", "0+8x80"), ({"reason": "host_fault"},)),
    Case("ShoalErrors", "pages that are not there", 60, _errors("permanent", "0+50x80", "0+96x80")),
    Case("ShoalErrors", "not for long", 15, _errors("blocked", "0+50x80", "0+96x80")),
    Case("ShoalSpiderErrors", "six of a hundred", 30, _exceptions("0+6x60", "0+100x60"), ({"exception": "KeyError"},)),
    Case("ShoalSpiderErrors", "four of a hundred", 60, _exceptions("0+4x80", "0+100x80")),
    Case("ShoalSpiderErrors", "too few pages", 60, _exceptions("0+6x80", "0+6x80")),
    Case("ShoalSpiderErrors", "just enough", 60, _exceptions("0+8x80", "0+8x80"), ({"exception": "KeyError"},)),
    Case("ShoalSpiderErrors", "not for long", 10, _exceptions("0+6x60", "0+100x60")),
)
DEAD = (
    Case("ShoalDeadLettersGrow", "many at once", 90, _dead("0x60 0+20x60", "0+20x200"), ({},)),
    Case("ShoalDeadLettersGrow", "a few of many pages", 120, _dead("0+3x160", "0+200x200")),
    Case("ShoalDeadLettersGrow", "some more of them", 120, _dead("0+5x160", "0+200x200"), ({},)),
    Case("ShoalDeadLettersGrow", "few in all", 120, _dead("0+1x160", "0+1x200")),
    Case("ShoalDeadLettersGrow", "just enough", 120, _dead("0+2x160", "0+1x200"), ({},)),
    Case("ShoalDeadLettersGrow", "they are retried", 120, _dead("90000-100x160", "0+20x200")),
    Case("ShoalDeadLettersGrow", "not for long", 68, _dead("0x60 0+200x60", "0+20x200")),
    Case(
        "ShoalDeadLettersLost",
        "one is evicted",
        60,
        {_fleet("shoal_fleet_dead_letters_evicted_total"): "5x30 6x40"},
        ({},),
    ),
    Case("ShoalDeadLettersLost", "long ago", 120, {_fleet("shoal_fleet_dead_letters_evicted_total"): "5x30 6x100"}),
)
STORES = (
    Case("ShoalSpoolFilling", "almost half", 20, _spool("100x14 450x30"), ({"instance": "w-0"},), "page"),
    Case("ShoalSpoolFilling", "a third", 30, _spool("350x60"), severity="page"),
    Case("ShoalSpoolFilling", "for a moment", 19, _spool("100x14 450x30"), severity="page"),
    Case("ShoalSpoolDamaged", "a file", 10, {_DAMAGED: "0x4 1x10"}, ({"instance": "w-0"},)),
    Case("ShoalSpoolDamaged", "none", 10, {_DAMAGED: "0x20"}),
    Case("ShoalWebhooksFail", "a first try and later ones", 60, _webhooks("0x10 1x9 2x19 3x60", "5x100"), ({},)),
    Case("ShoalWebhooksFail", "none", 60, _webhooks("3x100", "5x100")),
    Case("ShoalWebhooksFail", "a later try gets through", 60, _webhooks("0x10 1x100", "5x30 6x80")),
    Case("ShoalWebhooksFail", "not for long", 35, _webhooks("0x10 1x100", "5x100")),
    Case("ShoalWebhooksFail", "long ago", 140, _webhooks("0x10 1x200", "5x200")),
    Case(
        "ShoalRedisMemory",
        "beyond the high water",
        20,
        {_fleet("shoal_fleet_redis_memory_ratio"): "0.5x14 0.82x30"},
        ({},),
        "page",
    ),
    Case("ShoalRedisMemory", "below it", 30, {_fleet("shoal_fleet_redis_memory_ratio"): "0.78x60"}, severity="page"),
    Case(
        "ShoalRedisMemory",
        "for a moment",
        19,
        {_fleet("shoal_fleet_redis_memory_ratio"): "0.5x14 0.82x30"},
        severity="page",
    ),
    Case(
        "ShoalRedisAway",
        "of one worker",
        12,
        {'shoal_frontier_away{instance="w-0"}': "0x9 1x30", 'shoal_frontier_away{instance="w-1"}': "0x40"},
        ({},),
        "page",
    ),
    Case("ShoalRedisAway", "for a minute", 11, {'shoal_frontier_away{instance="w-0"}': "0x9 1x30"}, severity="page"),
    Case("ShoalRedisAway", "never", 30, {'shoal_frontier_away{instance="w-0"}': "0x40"}, severity="page"),
    Case(
        "ShoalMongoAway",
        "of one worker",
        12,
        {'shoal_storage_away{instance="w-0"}': "0x9 1x30", 'shoal_storage_away{instance="w-1"}': "0x40"},
        ({},),
        "page",
    ),
    Case("ShoalMongoAway", "for a minute", 11, {'shoal_storage_away{instance="w-0"}': "0x9 1x30"}, severity="page"),
    Case("ShoalMongoAway", "never", 30, {'shoal_storage_away{instance="w-0"}': "0x40"}, severity="page"),
    Case(
        "ShoalEventLoopStuck",
        "for a while",
        11,
        {'shoal_event_loop_lag_seconds{instance="w-0"}': "1x9 35+60x30"},
        ({"instance": "w-0"},),
    ),
    Case(
        "ShoalEventLoopStuck", "not long enough", 10, {'shoal_event_loop_lag_seconds{instance="w-0"}': "1x9 35+60x30"}
    ),
    Case(
        "ShoalEventLoopStuck",
        "one long page after the other",
        30,
        {'shoal_event_loop_lag_seconds{instance="w-0"}': "25x60"},
    ),
)
RUNS = (
    Case("ShoalFieldCoverageDrops", "by a quarter", 20, _coverage("0.6x60", "0.8x60"), (RUN,)),
    Case("ShoalFieldCoverageDrops", "by a tenth", 30, _coverage("0.72x60", "0.8x60")),
    Case("ShoalFieldCoverageDrops", "it was rare before", 30, _coverage("0.05x60", "0.28x60")),
    Case("ShoalFieldCoverageDrops", "it was not that rare", 30, _coverage("0.05x60", "0.35x60"), (RUN,)),
    Case("ShoalFieldCoverageDrops", "as the run begins", 14, _coverage("0.6x60", "0.8x60")),
    Case("ShoalFieldCoverageDrops", "just for long enough", 15, _coverage("0.6x60", "0.8x60"), (RUN,)),
    Case("ShoalRunStandsStill", "for more than a day", 20, {_QUIET: "0x4 110000+60x30"}, (IDLE,)),
    Case("ShoalRunStandsStill", "just for long enough", 35, {_QUIET: "0x19 108001+60x30"}, (IDLE,)),
    Case("ShoalRunStandsStill", "for a day", 60, {_QUIET: "87000+60x60"}),
    Case("ShoalRunStandsStill", "not for long enough", 34, {_QUIET: "0x19 108001+60x30"}),
    Case(
        "ShoalScheduleOverdue",
        "by 16 minutes",
        20,
        {_fleet("shoal_schedule_late_seconds", 'schedule="nightly"'): "0x14 960x30"},
        ({"schedule": "nightly"},),
        "page",
    ),
    Case(
        "ShoalScheduleOverdue",
        "for a moment",
        19,
        {_fleet("shoal_schedule_late_seconds", 'schedule="nightly"'): "0x14 960x30"},
        severity="page",
    ),
    Case(
        "ShoalScheduleOverdue",
        "by 14 minutes",
        40,
        {_fleet("shoal_schedule_late_seconds", 'schedule="nightly"'): "840x60"},
        severity="page",
    ),
    Case("ShoalBudgetSpentEarly", "60 % at a third of the day", 30, _budget("0.6x60", "0.34x60"), (TIER,)),
    Case("ShoalBudgetSpentEarly", "60 % at almost half of it", 30, _budget("0.6x60", "0.42x60")),
    Case("ShoalBudgetSpentEarly", "45 % at once", 30, _budget("0.45x60", "0.01x60")),
    Case("ShoalBudgetSpentEarly", "all of it at the end", 30, _budget("1.02x60", "0.9x60")),
    Case("ShoalBudgetSpentEarly", "for a moment", 24, _budget("0.1x14 0.6x60", "0.1x80")),
    Case("ShoalBudgetSpentEarly", "for long enough", 25, _budget("0.1x14 0.6x60", "0.1x80"), (TIER,)),
)
CASES = (*BACKLOG, *STALLED, *BORN, *DOMAIN, *WORKERS, *ABSENT, *ERRORS, *DEAD, *STORES, *RUNS)


def of(alert: str) -> list[Case]:
    """The cases of one alert."""
    return [case for case in CASES if case.alert == alert]
