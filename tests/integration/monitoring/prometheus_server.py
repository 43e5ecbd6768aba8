"""A real Prometheus that scrapes what it is given, with the shipped rules."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from demo.state import any_port
from tests.integration.monitoring.rules import RULES
from tests.prometheus import program

Series = dict[str, list[tuple[float, float]]]  # labels as text -> time and value


class Prometheus:
    """Scrapes *targets* (job -> host:port) every *seconds*, and records and alerts as often."""

    def __init__(self, directory: Path, targets: Mapping[str, str], seconds: float) -> None:
        config = {
            "global": {"scrape_interval": f"{seconds:g}s", "evaluation_interval": f"{seconds:g}s"},
            "rule_files": [str(RULES)],
            "scrape_configs": [
                {"job_name": job, "scrape_timeout": f"{seconds:g}s", "static_configs": [{"targets": [target]}]}
                for job, target in targets.items()
            ],
        }
        for scrape in config["scrape_configs"]:
            assert isinstance(scrape, dict)
        path = directory / "prometheus.yml"
        path.write_text(yaml.safe_dump(config).replace("0.5s", "500ms"))
        address = f"127.0.0.1:{any_port()}"
        self.url = f"http://{address}"
        command = [program("prometheus"), f"--config.file={path}", f"--storage.tsdb.path={directory / 'data'}"]
        command += [f"--web.listen-address={address}", "--log.level=error", "--enable-feature=exemplar-storage"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._until_ready()

    def ask(self, path: str, **parameters: str) -> Any:
        """The data of an answer of its API; raises AssertionError with its words for a wrong expression."""
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=60) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from None

    def series(self, expression: str, begin: float, end: float, step: float) -> Series:
        """What a panel shows of *expression*."""
        asked = {"start": f"{begin}", "end": f"{end}", "step": f"{step}"}
        found = self.ask("query_range", query=expression, **asked)["result"]
        return {
            json.dumps(one["metric"], sort_keys=True): [(at, float(value)) for at, value in one["values"]]
            for one in found
        }

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()

    def _until_ready(self) -> None:
        deadline = time.monotonic() + 30
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/-/ready", timeout=5):
                    return
            except OSError:
                assert self._process.poll() is None, "it ended"
                assert time.monotonic() < deadline
                time.sleep(0.05)


@contextmanager
def running(directory: Path, targets: Mapping[str, str], seconds: float) -> Iterator[Prometheus]:
    """One for a while."""
    prometheus = Prometheus(directory, targets, seconds)
    try:
        yield prometheus
    finally:
        prometheus.close()


def filled(expression: str, values: Mapping[str, str], rate_interval: str) -> str:
    """*expression* as Grafana sends it: with its variables filled in."""
    for name, value in {**values, "__rate_interval": rate_interval}.items():
        expression = expression.replace(f"${name}", value)
    return expression
