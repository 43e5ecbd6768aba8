"""`scrapy services`, as a person runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.embedded.users import User, server
from tests.servers import ScrapyRunner

Use = Callable[..., User]


@pytest.fixture
def scrapy(scrapy_run: ScrapyRunner, data_dir: Path) -> ScrapyRunner:
    """`scrapy` commands on the data directory of the test."""
    scrapy_run.env["EMBEDDED_DATA_DIR"] = str(data_dir)
    return scrapy_run


def _status(scrapy: ScrapyRunner) -> dict[str, dict[str, Any]]:
    result = scrapy.run("services", "status", "--json")
    assert result.returncode == 0
    found: dict[str, dict[str, Any]] = json.loads(result.stdout)
    return found


def test_status_starts_nothing(scrapy: ScrapyRunner, data_dir: Path) -> None:
    assert {name: found["state"] for name, found in _status(scrapy).items()} == {
        "redis": "stopped",
        "mongodb": "stopped",
    }
    assert list(data_dir.iterdir()) == []


def test_status_shows_urls_processes_and_users(scrapy: ScrapyRunner, use: Use, data_dir: Path) -> None:
    user = use()
    url = user.url()
    found = _status(scrapy)["redis"]
    assert found["url"] == url
    assert found["pid"] == server(data_dir).pid
    assert found["users"] == [user.process.pid]
    assert found["memory_bytes"] > 1_000_000
    assert found["data_dir"] == str(data_dir / "redis")
    text = scrapy.run("services", "status").stdout
    assert f"redis    ready  {url}" in text
    assert f"users     1 (process {user.process.pid})" in text


def test_status_says_when_a_setting_names_another_server(scrapy: ScrapyRunner) -> None:
    text = scrapy.run("services", "status", env={"REDIS_URL": "redis://elsewhere:6379"}).stdout
    assert "not used  REDIS_URL names another server" in text


def test_stop_refuses_while_someone_uses_it_and_obeys_force(scrapy: ScrapyRunner, use: Use, data_dir: Path) -> None:
    user = use()
    user.url()
    running = server(data_dir)
    refused = scrapy.run("services", "stop")
    assert refused.returncode == 2
    assert f"in use: redis by process {user.process.pid}" in refused.stderr
    assert "--force" in refused.stderr
    assert running.alive
    forced = scrapy.run("services", "stop", "--force")
    assert (forced.returncode, forced.stdout.strip()) == (0, "stopped: redis")
    assert not running.alive


def test_stop_with_nothing_running_says_so(scrapy: ScrapyRunner) -> None:
    result = scrapy.run("services", "stop")
    assert (result.returncode, result.stdout.strip()) == (0, "nothing runs")


@pytest.mark.parametrize("args", [(), ("restart",), ("status", "stop")])
def test_a_bad_verb_is_a_usage_error(scrapy: ScrapyRunner, args: tuple[str, ...]) -> None:
    result = scrapy.run("services", *args)
    assert result.returncode == 2
    assert "expected one of status, stop, got: " in result.stderr
