"""Metrics and probes of all workers on a machine behind one port: `scrapy crawl --workers`."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final
from urllib.parse import urlsplit

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from crawler.extensions.endpoint import ProbeAnswer, Routes
from crawler.metrics.text import render

ANSWER_SECONDS: Final = 3.0
# What each says of the spool on the disk that they share, as it last looked.
WHOLE_DISK: Final = frozenset(
    {
        "shoal_storage_spool_bytes",
        "shoal_storage_spool_limit_bytes",
        "shoal_storage_spool_oldest_timestamp_seconds",
    }
)

Endpoints = Callable[[], Mapping[str, str]]  # worker -> URL, empty if it has none now


class FleetEndpoint:
    """Asks the workers on each scrape; one that does not answer within ANSWER_SECONDS counts as stuck.

    Figures of a worker have its number in the label `worker`; what each says of the disk that they share is given once,
    without it.
    """

    def __init__(self, endpoints: Endpoints, restarts: Callable[[], Mapping[str, int]]) -> None:
        self._endpoints = endpoints
        self._restarts = restarts
        routes = {"/metrics": self._metrics, "/healthz": self._alive, "/readyz": self._ready}
        self.routes: Routes = {**routes, "/readyz?verbose": self._told}

    def _metrics(self, accept: str) -> ProbeAnswer:
        texts = {worker: text for worker, (status, text) in self._ask("/metrics").items() if status == 200}
        return ProbeAnswer(200, *render([*merged(texts), *self._own(texts)], accept))

    def _own(self, answered: Mapping[str, str]) -> Iterable[Metric]:
        up = GaugeMetricFamily("shoal_worker_up", "Whether this worker gave its figures", labels=["worker"])
        for worker in self._endpoints():
            up.add_metric([worker], worker in answered)
        words = "Times that the supervisor restarted this worker"
        restarts = CounterMetricFamily("shoal_worker_restarts", words, labels=["worker"])
        for worker, count in self._restarts().items():
            restarts.add_metric([worker], count)
        return [up, restarts]

    def _alive(self, accept: str) -> ProbeAnswer:
        """Unhealthy if any worker is stuck; one that is starting or restarting is left to the supervisor."""
        asked = {worker: url for worker, url in self._endpoints().items() if url}
        return _probe(_ask_all(asked, "/healthz"))

    def _ready(self, accept: str) -> ProbeAnswer:
        return _probe(self._ask("/readyz"))

    def _told(self, accept: str) -> ProbeAnswer:
        answers = self._ask("/readyz?verbose")
        told = {worker: _read(text) for worker, (_, text) in answers.items()}
        return ProbeAnswer.of({"ready": all(one["ready"] for one in told.values()), "workers": told})

    def _ask(self, path: str) -> dict[str, tuple[int, str]]:
        return _ask_all(self._endpoints(), path)


def merged(texts: Mapping[str, str]) -> list[Metric]:
    """The metrics of all workers (number -> what it exports) by family."""
    families: dict[str, Metric] = {}
    for worker, text in texts.items():
        for family in text_string_to_metric_families(text):
            known = families.get(family.name)
            if known is not None and family.name in WHOLE_DISK:
                known.samples = [max(known.samples[0], family.samples[0], key=lambda sample: sample.value)]
                continue
            metric = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
            own = {} if family.name in WHOLE_DISK else {"worker": worker}
            for sample in family.samples:
                metric.add_sample(sample.name, sample.labels | own, sample.value)
    return list(families.values())


def _probe(answers: Mapping[str, tuple[int, str]]) -> ProbeAnswer:
    reasons = [f"worker {worker}: {text.strip()}" for worker, (status, text) in answers.items() if status != 200]
    return ProbeAnswer.unless("\n".join(reasons))


def _read(text: str) -> dict[str, Any]:
    """What a worker tells; plain text is why it does not."""
    try:
        return dict(json.loads(text))
    except ValueError:
        return {"ready": False, "reason": text.strip()}


def _ask_all(endpoints: Mapping[str, str], path: str) -> dict[str, tuple[int, str]]:
    """Status and text of each worker, 503 for one that does not answer."""
    if not endpoints:
        return {}
    with ThreadPoolExecutor(len(endpoints)) as threads:
        answers = threads.map(lambda url: _get(url, path), endpoints.values())
        return dict(zip(endpoints, answers, strict=True))


def _get(url: str, path: str) -> tuple[int, str]:
    if not url:
        return 503, "starting"
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except (OSError, http.client.HTTPException) as error:
        return 503, f"it does not answer ({error})"
    finally:
        connection.close()
