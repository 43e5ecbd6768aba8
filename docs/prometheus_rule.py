"""Writes k8s/components/monitoring/prometheus-rule.yaml from shoal.rules.yml beside it: `make docs`."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent.parent / "k8s/components/monitoring"
HEAD = """\
# Written by `make docs` from shoal.rules.yml: change that.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: shoal
  labels: {app.kubernetes.io/name: monitoring}
spec:
"""


def prometheus_rule() -> str:
    """The rules as the Prometheus operator takes them."""
    rules = (HERE / "shoal.rules.yml").read_text()
    lines = rules[rules.index("groups:") :].splitlines()
    return HEAD + "".join(f"  {line}\n" if line else "\n" for line in lines)


if __name__ == "__main__":
    (HERE / "prometheus-rule.yaml").write_text(prometheus_rule())
