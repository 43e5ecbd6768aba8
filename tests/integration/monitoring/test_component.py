"""The kustomize component: what the Prometheus operator is given fits what is deployed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.dashboards import DASHBOARDS
from tests.unit.test_deployment import KUBECTL
from tests.zygote import PROJECT_DIR

SCRAPED = ("overlays/production", "components/browser-workers", "components/api-workers", "components/monitoring")


def test_the_component_scrapes_a_port_that_is_there(tmp_path: Path) -> None:
    documents = _built(tmp_path)
    (monitor,) = (one for one in documents if one["kind"] == "PodMonitor")
    (rule,) = (one for one in documents if one["kind"] == "PrometheusRule")
    assert {monitor["metadata"]["namespace"], rule["metadata"]["namespace"]} == {"shoal"}
    (expression,) = monitor["spec"]["selector"]["matchExpressions"]
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    pods = [one["spec"]["template"] for one in documents if one["kind"] in {"StatefulSet", "Deployment"}]
    crawling = [pod for pod in pods if pod["metadata"]["labels"][expression["key"]].endswith(("worker", "serve"))]
    assert crawling
    for pod in crawling:
        assert pod["metadata"]["labels"][expression["key"]] in expression["values"]
        ports = {port["name"] for container in pod["spec"]["containers"] for port in container["ports"]}
        assert endpoint["port"] in ports


@pytest.mark.parametrize(
    ("resource", "components"),
    [("base", []), ("overlays/local", []), ("overlays/production", []), ("overlays/production", ["components/keda"])],
)
def test_as_many_workers_are_expected_as_are_deployed(tmp_path: Path, resource: str, components: list[str]) -> None:
    documents = _built(tmp_path, resource, *components)
    workers = next(one for one in documents if (one["kind"], one["metadata"]["name"]) == ("StatefulSet", "workers"))
    serve = next(one for one in documents if (one["kind"], one["metadata"]["name"]) == ("Deployment", "serve"))
    environment = {one["name"]: one.get("value") for one in serve["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert int(environment["FLEET_WORKERS"] or "") == workers["spec"].get("replicas", 0), "0: KEDA says how many"


def test_grafanas_sidecar_finds_the_dashboards(tmp_path: Path) -> None:
    (boards,) = (one for one in _built(tmp_path) if one["metadata"]["name"] == "shoal-dashboards")
    assert boards["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert {json.loads(text)["uid"] for text in boards["data"].values()} == {f"shoal-{one.name}" for one in DASHBOARDS}


def _built(directory: Path, *paths: str) -> list[dict[str, Any]]:
    """A directory of a user's own on these, or on production with all that is scraped."""
    overlay, *parts = (os.path.relpath(PROJECT_DIR / "k8s" / path, directory) for path in paths or SCRAPED)
    kustomization = {"resources": [overlay], "components": parts, "namespace": "shoal"}
    (directory / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    done = subprocess.run(
        [KUBECTL, "kustomize", str(directory)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]
