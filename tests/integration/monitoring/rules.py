"""Runs the cases through `promtool test rules`, on the shipped rules or with a fault planted in them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tests.integration.monitoring.cases import Case
from tests.prometheus import program
from tests.zygote import PROJECT_DIR

RULES: Final = PROJECT_DIR / "k8s/components/monitoring/shoal.rules.yml"


def alerts() -> dict[str, dict[str, Any]]:
    """The shipped alerts by name."""
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"] if "alert" in rule}


def failures(directory: Path, alert: str, cases: Sequence[Case], rule: dict[str, Any] | None = None) -> str:
    """What promtool has to say of *cases* of *alert*, shipped or replaced by *rule*; empty when all hold.

    The other alerts are left out: all of them at each minute of each case would take most of the time.
    """
    (directory / "rules.yml").write_text(_only(alert, rule))
    tests = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": "1m",
        "tests": [case.group() for case in cases],
    }
    path = directory / "tests.yml"
    path.write_text(yaml.safe_dump(tests, sort_keys=False))
    done = subprocess.run(
        [program("promtool"), "test", "rules", str(path)], capture_output=True, text=True, check=False, timeout=280
    )
    return done.stdout + done.stderr if done.returncode else ""


def _only(alert: str, replaced: dict[str, Any] | None) -> str:
    """The rules with this alert alone, and the records that it reads."""
    rule = replaced or alerts()[alert]
    records: list[dict[str, Any]] = []
    wanted = rule["expr"]
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        for one in reversed(group["rules"]):
            if "record" in one and one["record"] in wanted:
                records.insert(0, one)
                wanted += one["expr"]
    return yaml.safe_dump({"groups": [{"name": "all", "rules": [*records, rule]}]}, sort_keys=False, width=200)


@dataclass(frozen=True)
class Mutant:
    """One fault in an alert."""

    alert: str
    fault: str
    rule: dict[str, Any]


# Faults of an expression: what they are called, what is found, and what stands there then.
_NUMBER = r"(?<![\w.\[:])((?!0\b(?!\.))\d+(?:\.\d+)?)(?![\w.\]%])"  # but for 0, twice which is 0
FAULTS: Final = (
    ("a limit is twice as high", _NUMBER, lambda m: str(float(m[1]) * 2)),
    ("a limit is half as high", _NUMBER, lambda m: str(float(m[1]) / 2)),
    ("a comparison is turned round", r" (<|>) ", lambda m: " > " if m[1] == "<" else " < "),
    ("a condition is dropped", r"\s+and on \([^)]*\).*$", lambda m: ""),
    ("a condition is turned round", r" and on ", lambda m: " unless on "),
    ("another metric is read", r"\bshoal[:_][a-z_0-9:]+", lambda m: m[0] + "_x"),
    ("a matcher is turned round", r'(\w+)(=|!=)(")', lambda m: f"{m[1]}{'!=' if m[2] == '=' else '='}{m[3]}"),
    ("labels are lost", r"\bby \([^)]*\)", lambda m: "by (nothing)"),
)


def mutants() -> Iterator[Mutant]:
    """Each fault at each place of each alert; faults that change nothing are left out."""
    for name, rule in alerts().items():
        expression = " ".join(rule["expr"].split())
        for fault, pattern, new in FAULTS:
            for found in re.finditer(pattern, expression):
                changed = expression[: found.start()] + new(found) + expression[found.end() :]
                if changed != expression:
                    yield Mutant(name, f"{fault}: {changed}", rule | {"expr": changed})
        if "for" in rule:
            yield Mutant(name, "it fires at once", {key: value for key, value in rule.items() if key != "for"})
            yield Mutant(name, "it fires late", rule | {"for": "6h"})
        other = "page" if rule["labels"]["severity"] == "ticket" else "ticket"
        yield Mutant(name, "its severity is another", rule | {"labels": {"severity": other}})
