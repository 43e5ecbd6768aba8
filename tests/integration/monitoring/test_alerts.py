"""The shipped alerts, in promtool and a real Alertmanager; `make alert-mutants` plants every fault in them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from crawler import defaults
from docs.prometheus_rule import prometheus_rule
from tests.integration.monitoring import rules
from tests.integration.monitoring.cases import CASES, of
from tests.integration.monitoring.exported import names
from tests.prometheus import program
from tests.zygote import PROJECT_DIR

MONITORING = PROJECT_DIR / "k8s/components/monitoring"
ALERTMANAGER = MONITORING / "alertmanager.yml"
RUNBOOK = (PROJECT_DIR / "docs/runbook.md").read_text()
ALERTS = rules.alerts()
EVERY = 40  # a sample of the mutants: the long form plants them all


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_fires_when_it_should_and_not_before(tmp_path: Path, alert: str) -> None:
    cases = of(alert)
    assert {bool(case.fires) for case in cases} == {True, False}, "it has cases of both kinds"
    assert rules.failures(tmp_path, alert, cases) == ""


def test_every_case_is_of_an_alert_that_is_there() -> None:
    assert {case.alert for case in CASES} == set(ALERTS)


def test_faults_in_the_rules_are_found(tmp_path: Path) -> None:
    sample = list(rules.mutants())[::EVERY]
    assert len(sample) > 4
    living = [mutant for mutant in sample if not rules.failures(tmp_path, mutant.alert, of(mutant.alert), mutant.rule)]
    assert len(living) <= len(sample) // 10, living


def test_the_rules_read_nothing_that_nobody_exports() -> None:
    document = yaml.safe_load(rules.RULES.read_text())
    expressions = [rule["expr"] for group in document["groups"] for rule in group["rules"]]
    read = {name for text in expressions for name in re.findall(r"\bshoal_[a-z_0-9]+", text)}
    assert read <= names()
    recorded = {rule["record"] for group in document["groups"] for rule in group["rules"] if "record" in rule}
    assert {name for text in expressions for name in re.findall(r"\bshoal:[a-z_:0-9]+", text)} == recorded


def test_promtool_and_amtool_have_nothing_to_say() -> None:
    for command in (("promtool", "check", "rules", rules.RULES), ("amtool", "check-config", ALERTMANAGER)):
        done = subprocess.run([program(command[0]), *command[1:]], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_operators_rule_says_the_same() -> None:
    text = (MONITORING / "prometheus-rule.yaml").read_text()
    assert text == prometheus_rule(), "run `make docs`"
    assert yaml.safe_load(text)["spec"] == yaml.safe_load(rules.RULES.read_text())


def test_alerts_come_at_the_marks_of_the_settings_or_at_half_of_them() -> None:
    marks = {
        "ShoalRedisMemory": defaults.FRONTIER_MEMORY_HIGH_WATER,
        "ShoalSpoolFilling": defaults.SPOOL_HIGH_WATER / 2,
        "ShoalEventLoopStuck": defaults.HEALTH_MAX_LAG_SECONDS / 2,
    }
    assert {alert: float(ALERTS[alert]["expr"].rpartition(" > ")[2]) for alert in marks} == marks
    limit = f"from {defaults.FRONTIER_MEMORY_LIMIT * 100:.0f} % on workers lease one request at a time"
    assert limit in ALERTS["ShoalRedisMemory"]["annotations"]["description"]
    assert limit in " ".join(RUNBOOK.split())


# --- the runbook


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_links_to_a_paragraph_that_says_what_to_look_at_and_what_to_type(alert: str) -> None:
    annotations = ALERTS[alert]["annotations"]
    assert annotations["runbook_url"] == f"docs/runbook.md#{alert.lower()}"
    assert annotations["summary"]
    assert annotations["description"]
    paragraph = RUNBOOK.partition(f"\n## {alert}\n")[2].partition("\n## ")[0]
    assert len(paragraph.split()) > 30
    assert re.search(r"`(scrapy|kubectl|redis-cli)\s", paragraph) or "see [" in paragraph, "what to type"


def test_the_runbook_has_no_paragraph_of_nobody() -> None:
    assert re.findall(r"^## (\w+)$", RUNBOOK, re.MULTILINE) == list(ALERTS)


# --- the way of an alert


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_is_routed_by_its_severity(alert: str) -> None:
    severity = ALERTS[alert]["labels"]["severity"]
    command = [program("amtool"), "config", "routes", "test", "--config.file", str(ALERTMANAGER)]
    done = subprocess.run(
        [*command, f"alertname={alert}", f"severity={severity}", "spider=s"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, {"page": "pages", "ticket": "tickets"}[severity])


def test_inhibitions_name_alerts_that_are_there() -> None:
    for rule in yaml.safe_load(ALERTMANAGER.read_text())["inhibit_rules"]:
        matchers = " ".join(rule["source_matchers"] + rule["target_matchers"])
        assert set(re.findall(r"Shoal\w+", matchers)) <= set(ALERTS)
